"""`remx fetch`: data sets to where programs look for them."""

import os
import sys

from .._files import downloading
from .._files.published import DATASETS, REPOSITORY
from .._files.published import folder as folder_of
from ..base import MXNetError

EXPLAIN = '''\
Downloads a data set to the folder where programs look for it: below $MXNET_HOME/datasets (~/.mxnet/datasets), where
mx.gluon.data.vision reads it, or into --to DIR. Several servers are tried, checksums are verified, and an interrupted
download is resumed.'''

def add_arguments(parser):
    """Adds the arguments of the command."""
    parser.add_argument('datasets', nargs='*', metavar='NAME', help=f'one of {", ".join(DATASETS)}')
    parser.add_argument('--to', metavar='DIR', help='the folder for the files; default: below $MXNET_HOME/datasets')
    parser.add_argument(
        '--mirror',
        action='append',
        default=[],
        metavar='URL',
        help='a server to try first; it has the files of a data set below its name, or by themselves',
    )
    parser.add_argument(
        '--unpack', action='store_true', help='write .gz files unpacked as well, as MNISTIter reads them'
    )
    parser.add_argument('--list', action='store_true', help='list the data sets and their files')


def fetch(options):
    """Runs the command; returns the exit status."""
    if options.list:
        for name, (files, _) in DATASETS.items():
            print(f'{name:14} {" ".join(files)}')
        return 0
    unknown = [name for name in options.datasets if name not in DATASETS]
    if unknown or not options.datasets:
        print(
            f'remx fetch: {"unknown data set " + unknown[0] if unknown else "name a data set"}; there are '
            f'{", ".join(DATASETS)}',
            file=sys.stderr,
        )
        return 2
    for place in options.mirror:
        if not place.startswith(('http://', 'https://', 'file://')):
            known = 'http://, https:// or file://'
            print(f'remx fetch: --mirror {place} is no address; one begins with {known}', file=sys.stderr)
            return 2
    for name in options.datasets:
        folder = options.to or folder_of(name)
        try:
            for path in obtain(name, folder, options.mirror, Bar):
                print(path)
                if options.unpack and path.endswith('.gz') and not path.endswith('.tar.gz'):
                    print(_unpack(path))
        except (MXNetError, OSError) as error:
            print(f'remx fetch: {error}', file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print('remx fetch: interrupted; the same command continues with what is there', file=sys.stderr)
            return 130
    return 0


class Bar:
    """A bar on stderr: tqdm's where it is installed, else a line per file."""

    def __init__(self, name, total, done):
        self._bar = None
        try:
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, unit='B', unit_scale=True, desc=name)
        except ImportError:
            print(f'{name}: {total or "unknown number of"} bytes', file=sys.stderr)

    def add(self, count):
        """Counts bytes that have come."""
        if self._bar is not None:
            self._bar.update(count)

    def close(self):
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()


def obtain(name, folder, mirrors=(), bar=None):
    """Brings the files of a data set into a folder; returns their paths.  A file with the right sum stays."""
    files, servers = DATASETS[name]
    os.makedirs(folder, exist_ok=True)
    found = []
    for file, sha1 in files.items():
        path = os.path.join(folder, file)
        if not os.path.exists(path) or not downloading.check_sha1(path, sha1):
            urls = [place.rstrip('/') + part for place in mirrors for part in (f'/{name}/{file}', f'/{file}')]
            _obtain_file([*urls, *(server + file for server in servers), f'{REPOSITORY}{name}/{file}'], path, sha1, bar)
        found.append(path)
    return found


def _obtain_file(urls, path, sha1, bar):
    errors = []
    for url in urls:
        try:
            try:
                return _download(url, path, sha1, bar)
            except downloading.WrongContent as error:
                if not error.resumed:
                    raise
                return _download(url, path, sha1, bar)      # the earlier part was wrong: once more, from its beginning
        except OSError as error:
            status = getattr(error, 'code', None)
            reason = str(getattr(error, 'reason', None) or error).splitlines()[0]
            errors.append(f'\n  {url}: {reason if status is None else f"HTTP status {status}, {reason}"}')
    folder, name = os.path.split(path)
    text = f'{name} could not be fetched to {folder}:{"".join(errors)}\n'
    if os.path.exists(path + '.part'):
        text += f'{os.path.getsize(path + ".part")} bytes of it are there; the same command continues with them. '
    raise MXNetError(f'{text}Name a server that has it with --mirror URL, or copy it there by hand (SHA-1 {sha1})')


def _download(url, path, sha1, bar):
    downloading.fetch(url, path, sha1, files=url.startswith('file://'), timeout=30, bar=bar)


def _unpack(path):
    import gzip
    import shutil

    target = path.removesuffix('.gz')
    with gzip.open(path) as source, open(target + '.part', 'wb') as file:
        shutil.copyfileobj(source, file)
    os.replace(target + '.part', target)
    return target
