"""`.mar` archives of the old model server: a zip file with a manifest, a network and, mostly, a handler."""
import json
import os
import shutil
import tempfile
import zipfile

from .._files import limits
from ..base import MXNetError

MANIFEST = 'MAR-INF/MANIFEST.json'
MOST = 10_000           # files in an archive: empty ones cost an entry of a few bytes, and time when they are made


def unpack(path, trust):
    """The configuration of a model from an archive, which is unpacked into a new folder."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix='remx-mar-'))
    try:
        return _unpacked(path, trust, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _unpacked(path, trust, folder):
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST:
                raise MXNetError(f'{path}: there are {len(entries):,} files in it; {MOST:,} is the most')
            if MANIFEST not in archive.NameToInfo:
                raise MXNetError(f'{path} is not a model archive: there is no {MANIFEST} in it')
            # zipfile writes at most the length that an entry declares
            limits.check(sum(e.file_size for e in entries), os.path.getsize(path), path, 'what it unpacks to')
            for entry in entries:
                target = os.path.realpath(os.path.join(folder, entry.filename))
                if os.path.commonpath((target, folder)) != folder:
                    raise MXNetError(f'{path}: the name {entry.filename!r} leads out of the archive')
            for entry in entries:
                try:
                    archive.extract(entry, folder)
                except OSError as error:            # too long a name, or a file where another name has a folder
                    raise MXNetError(f'{path}: {entry.filename[:200]!r} cannot be unpacked: {error.strerror}') from None
        with open(os.path.join(folder, MANIFEST), encoding='utf-8') as file:
            model = json.load(file)['model']
        name, handler = model['modelName'], model.get('handler')
        if not isinstance(name, str) or not isinstance(handler, (str, type(None))):
            raise TypeError('modelName and handler of its manifest are not text')
    except MXNetError:
        raise
    except Exception as error:          # damaged archives make the libraries raise many things, of lzma and bz2 too
        raise MXNetError(f'{path} is not a model archive: {limits.broken(error)}') from None
    config = {'name': name, 'folder': folder, 'archive': path}
    if handler and trust:
        return {**config, 'handler': handler, 'source': folder}
    graphs = sorted(f for f in os.listdir(folder) if f.endswith('-symbol.json'))
    if not graphs:
        raise MXNetError(f'{path} has no -symbol.json; it can be served by its handler only, which is code: --trust '
                         'runs it')
    return {**config, 'source': os.path.join(folder, graphs[0].removesuffix('-symbol.json'))}
