"""`.mar` archives of the old model server: a zip file with a manifest, a network and, mostly, a handler."""
import json
import os
import tempfile
import zipfile

from ..base import MXNetError

LARGEST = 8 << 30           # bytes that an archive may unpack to


def unpack(path, trust, folder=None):
    """The configuration of a model from an archive, which is unpacked into a folder."""
    folder = folder or tempfile.mkdtemp(prefix='remx-mar-')
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(e.file_size for e in entries) > LARGEST:
                raise MXNetError(f'{path} would unpack to more than {LARGEST} bytes')
            for entry in entries:
                target = os.path.realpath(os.path.join(folder, entry.filename))
                if os.path.commonpath((target, os.path.realpath(folder))) != os.path.realpath(folder):
                    raise MXNetError(f'{path}: the name {entry.filename!r} leads out of the archive')
            archive.extractall(folder)
        with open(os.path.join(folder, 'MAR-INF', 'MANIFEST.json'), encoding='utf-8') as file:
            model = json.load(file)['model']
        name, handler = model['modelName'], model.get('handler')
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, FileNotFoundError) as error:
        raise MXNetError(f'{path} is no model archive: {error}') from None
    config = {'name': name, 'folder': folder, 'archive': path}
    if handler and trust:
        return {**config, 'handler': handler, 'source': folder}
    graphs = sorted(f for f in os.listdir(folder) if f.endswith('-symbol.json'))
    if not graphs:
        raise MXNetError(f'{path} has no -symbol.json; it can be served by its handler only, which is code: --trust '
                         'runs it')
    return {**config, 'source': os.path.join(folder, graphs[0].removesuffix('-symbol.json'))}
