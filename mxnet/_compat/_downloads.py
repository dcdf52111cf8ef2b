"""Downloads whose server is gone: files of the same name that are on this machine, or data that is made up."""

import functools
import os
import re
import shlex
import shutil
import types

from . import _children
from ._report import report

settings = types.SimpleNamespace(folders=[], made_up=False)
_URL = re.compile(r'(?:https?|ftp)://[^\s\'"<>|;&]+')
NOT_FOUND = (
    '{url} could not be downloaded, and no file {name} is in {folders}. Put it there, or name its folder with '
    'remx run --data DIR{hint}'
)


def folders():
    """Where files are looked for: `--data`, then everything below the folder of mxnet's data."""
    from ..base import data_dir

    return [*settings.folders, data_dir()]


def find(name):
    """A file of this name below the folders; None where there is none."""
    for folder in folders():
        if os.path.isfile(os.path.join(folder, name)):
            return os.path.join(folder, name)
    for folder in folders():
        for where, _, files in os.walk(folder):
            if name in files:
                return os.path.join(where, name)
    return None


def replacement(url):
    """A file that stands for what an address named; None where there is none."""
    name = url.split('?')[0].rstrip('/').split('/')[-1]
    path = find(name)
    if path is not None:
        report.say(f'{url} could not be downloaded; {path} is used')
        report.note('download', f'a download that fails is found on this machine: {name}')
        return path
    from . import _made_up

    if not settings.made_up:
        return None
    path = _made_up.make(name, url)
    if path is not None:
        report.say(
            f'MADE-UP DATA: {url} could not be downloaded; random data of the same form is used. Results mean nothing.'
        )
        report.note('made-up-data', f'MADE-UP DATA in place of {name}: results mean nothing')
    return path


def missing(path):
    """A file to read instead of a missing local one: from the folders of `--data`, by name, or made up."""
    name = re.split(r'[/\\]', path)[-1]         # the program may have been written on Windows
    for folder in settings.folders:
        for where, _, files in os.walk(folder):
            if name in files:
                found = os.path.join(where, name)
                report.say(f'{path} does not exist; {found} is used')
                report.note('data-file', f'a file that does not exist is taken from --data: {name}')
                return found
    from . import _made_up, _project

    found = _project.file(path)
    if found is not None:
        report.say(f'{path} does not exist; {found} is used')
        report.note('project-file', f'a file that is elsewhere in the project: {name}')
        return found
    if not settings.made_up:
        return None
    made = _made_up.make(name)
    if made is not None:
        report.say(f'MADE-UP DATA: {path} does not exist; random data of the same form is used. Results mean nothing.')
        report.note('made-up-data', f'MADE-UP DATA in place of {name}: results mean nothing')
    return made


def existing(path):
    """A file's name; where there is none of that name, that of the one which `missing` finds."""
    if not isinstance(path, (str, os.PathLike)) or '://' in str(path) or os.path.exists(path):
        return path
    return missing(os.fspath(path)) or path


def reads(function):
    """A function that reads a file whose name or address is its first argument; a missing one is looked for."""

    @functools.wraps(function)
    def read(path, *args, **kwargs):
        if not isinstance(path, str) or not _URL.match(path):
            return function(existing(path), *args, **kwargs)
        try:
            return function(path, *args, **kwargs)
        except OSError as error:
            found = replacement(path)
            if found is None:
                raise _failed(path, error) from error
            return function(found, *args, **kwargs)

    return read


def hint(name):
    """What the message about a missing file says of data that can be made up, or fetched."""
    from . import _made_up

    return '; --made-up-data uses random data of the same form' if _made_up.knows(name) else ''


def _failed(url, error):
    name = url.split('?')[0].rstrip('/').split('/')[-1]
    return OSError(f'{NOT_FOUND.format(url=url, name=name, folders=", ".join(folders()), hint=hint(name))} ({error})')


# ---------------------------------------------------------------------- urllib
def urlretrieve(url, filename=None, reporthook=None, data=None, context=None):
    """`urllib.request.urlretrieve`; that of Python 2 took a `context` for encryption as well."""
    import urllib.request

    try:
        return urllib.request.urlretrieve(url, filename, reporthook, data)
    except OSError as error:
        path = replacement(url) if '://' in url else None
        if path is None:
            raise _failed(url, error) from error
        if filename is None:
            return path, {}
        shutil.copyfile(path, filename)
        return filename, {}


def urlopen(url, *args, **kwargs):
    """`urllib.request.urlopen`."""
    import urllib.request

    try:
        return urllib.request.urlopen(url, *args, **kwargs)
    except OSError as error:
        address = url if isinstance(url, str) else url.full_url
        path = replacement(address)
        if path is None:
            raise _failed(address, error) from error
        return open(path, 'rb')


def opener_class():
    """`urllib.URLopener`."""

    class URLopener:
        version = 'Python-urllib'

        def __init__(self, *args, **kwargs):
            self.addheaders = []

        def retrieve(self, url, filename=None, reporthook=None, data=None):
            return urlretrieve(url, filename, reporthook, data)

        def open(self, url, data=None):
            return urlopen(url, data)

    return URLopener


def requests_get(url, *args, **kwargs):
    """`requests.get`."""
    import requests

    try:
        answer = requests.get(url, *args, **kwargs)
        if answer.status_code == 200:
            return answer
        error: Exception = OSError(f'HTTP status {answer.status_code}')
    except requests.exceptions.ConnectionError as found:
        answer, error = None, found
    path = replacement(url)
    if path is not None:
        made = requests.Response()
        made.status_code, made.url, made.raw = 200, url, open(path, 'rb')
        made.headers['Content-Length'] = str(os.path.getsize(path))
        return made
    if answer is not None:
        return answer
    raise requests.exceptions.ConnectionError(str(_failed(url, error))) from error


# ---------------------------------------------------------------------- commands
def system(line):
    """`os.system`: a wget or curl in it that cannot reach its server is answered with a file of this machine."""
    return os.system(_children.command(_with_files(line), shell=True))


def command(function):
    """`subprocess.call` and the like, with the same of wget and curl."""

    def call(args, *rest, **kwargs):
        if isinstance(args, str) and kwargs.get('shell'):
            return function(_children.command(_with_files(args), shell=True), *rest, **kwargs)
        if isinstance(args, (list, tuple)) and args and os.path.basename(str(args[0])) in ('wget', 'curl'):
            line = ' '.join(shlex.quote(str(a)) for a in args)
            changed = _with_files(line)
            if changed != line:
                return function(changed, *rest, **{**kwargs, 'shell': True})
        return function(_children.command(args, bool(kwargs.get('shell'))), *rest, **kwargs)

    call.__name__ = function.__name__
    return call


def popen_class():
    """`subprocess.Popen`, with the same."""
    import subprocess

    from . import _bytes2

    class Popen(subprocess.Popen):
        def communicate(self, input=None, timeout=None):
            if not _bytes2.by_python2():
                return super().communicate(input, timeout)
            if not getattr(self, 'text_mode', False):
                input = _bytes2.bytes_of(input)
            return tuple(map(_bytes2.text_of, super().communicate(input, timeout)))

        def __init__(self, args, *rest, **kwargs):
            if isinstance(args, str) and kwargs.get('shell'):
                args = _with_files(args)
            super().__init__(_children.command(args, bool(kwargs.get('shell'))), *rest, **kwargs)

    return Popen


def _with_files(line):
    """A command line whose wget and curl are copies, for files that are on this machine."""
    parts = re.split(r'(\s*(?:&&|\|\||;|\n)\s*)', line)
    for i, part in enumerate(parts):
        if re.match(r'\s*(sudo\s+)?(wget|curl)\s', part):
            parts[i] = _copy_for(part)
    return ''.join(parts)


def _copy_for(part):
    urls = _URL.findall(part)
    if len(urls) != 1:
        return part
    try:
        words = shlex.split(part)
    except ValueError:
        return part
    name = urls[0].split('?')[0].rstrip('/').split('/')[-1]
    folder, target, curl = '.', name, 'curl' in words[0]
    for word, after in zip(words, words[1:]):
        if word in ('-P', '--directory-prefix'):
            folder = after
        elif word == ('-o' if curl else '-O') or word in ('--output-document', '--output'):
            target = after
    if curl and target == name and '-O' not in words:
        return part  # its output goes to stdout
    target = os.path.join(folder, target)
    path = replacement(urls[0])
    if path is None:
        return part
    return f'mkdir -p {shlex.quote(os.path.dirname(target) or ".")} && cp {shlex.quote(path)} {shlex.quote(target)}'


# ---------------------------------------------------------------------- scikit-learn
def mldata_mnist():
    """What `fetch_mldata('MNIST original')` gave."""
    import numpy

    from ..gluon.data.vision import MNIST

    parts = [MNIST(train=train) for train in (True, False)]
    pixels = numpy.concatenate([p._data.asnumpy().reshape(-1, 784) for p in parts])
    labels = numpy.concatenate([numpy.asarray(p._label) for p in parts]).astype(float)
    if len(pixels) != 70000:  # made-up data has fewer pictures; programs rely on the number of this data set
        pixels, labels = numpy.resize(pixels, (70000, 784)), numpy.resize(labels, 70000)
    order = numpy.argsort(labels[:60000], kind='stable')
    return types.SimpleNamespace(
        data=numpy.concatenate([pixels[order], pixels[60000:]]),
        target=numpy.concatenate([labels[order], labels[60000:]]),
    )
