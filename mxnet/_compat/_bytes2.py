"""Bytes for programs in Python 2, in which they and texts were of one type.

What is read from binary files is of a subclass of `bytes` that meets texts as equals.  Lines of binary files are
texts: programs that iterate over lines read text.
"""

import codecs
import functools
import gzip
import io
import sys
from typing import Any

from ._report import report

_CODEC = {'encoding': 'utf-8', 'errors': 'surrogateescape'}


def text_of(value):
    """Bytes as a text, from which `bytes_of` makes the same bytes."""
    return value.decode(**_CODEC) if isinstance(value, (bytes, bytearray)) else value


def bytes_of(value):
    """A text as bytes: escapes such as '\\xff' are single bytes, as in the source of Python 2."""
    if not isinstance(value, str):
        return value
    try:
        return value.encode('latin-1')
    except UnicodeEncodeError:
        return value.encode(**_CODEC)


def _convert(value):
    if isinstance(value, str):
        return bytes_of(value)
    if isinstance(value, tuple):
        return tuple(_convert(v) for v in value)
    return value


def _again(value):
    """The same in our type."""
    if type(value) is bytes:
        return Bytes2(value)
    if type(value) is list:
        return [_again(v) for v in value]
    if type(value) is tuple:
        return tuple(_again(v) for v in value)
    return value


def _method(name):
    function = getattr(bytes, name)

    def call(self, *args, **kwargs):
        return _again(function(self, *map(_convert, args), **kwargs))

    call.__name__ = call.__qualname__ = name
    return call


class Bytes2(bytes):
    """Bytes that are equal to a text, take texts as arguments, and have bytes as elements."""

    __slots__ = ()
    __hash__ = bytes.__hash__       # which is that of an equal text, if it is ASCII

    def __eq__(self, other):
        return bytes.__eq__(self, _convert(other))

    def __ne__(self, other):
        return not self == other

    def __getitem__(self, key):
        return Bytes2(bytes.__getitem__(self, key if isinstance(key, slice) else slice(key, key + 1 or None)))

    def __iter__(self):
        return (Bytes2((number,)) for number in bytes.__iter__(self))

    def __contains__(self, part):
        return bytes.__contains__(self, _convert(part))

    def __add__(self, other):
        return Bytes2(bytes.__add__(self, _convert(other)))

    def __radd__(self, other):
        return Bytes2(_convert(other) + bytes(self))

    def __mul__(self, count):
        return Bytes2(bytes.__mul__(self, count))

    def __mod__(self, values):
        return text_of(self) % values

    def __str__(self):
        return text_of(self)

    def __format__(self, form):
        return format(text_of(self), form)

    def __repr__(self):
        return repr(text_of(self))

    def join(self, values):
        return Bytes2(bytes.join(self, map(_convert, values)))

    def encode(self, encoding='utf-8', errors='strict'):
        return encoded(self, encoding, errors)

    def __reduce__(self):
        return bytes, (bytes(self),)


for _name in (
    'capitalize center count endswith expandtabs find index isalnum isalpha isdigit islower isspace istitle isupper '
    'ljust lower lstrip partition replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith '
    'strip swapcase title upper zfill'
).split():
    setattr(Bytes2, _name, _method(_name))

_CODECS = {'hex': 'hex', 'base64': 'base64', 'zlib': 'zlib', 'bz2': 'bz2'}


def encoded(value: Any, encoding='utf-8', errors='strict'):
    """`value.encode(...)` of Python 2, which had codecs from text to text."""
    if encoding in _CODECS:
        report.note('python2-codecs', f'the codec {encoding} of texts')
        found = codecs.encode(bytes_of(value), _CODECS[encoding])
        return Bytes2(found) if encoding in ('zlib', 'bz2') else found.decode('ascii')
    if encoding in ('string_escape', 'string-escape'):
        return value.encode('unicode_escape').decode('ascii')
    plain: Any = value if isinstance(value, bytes) else str.encode(value, encoding, errors)
    return Bytes2(plain)


def decoded(value, encoding='utf-8', errors='strict'):
    """`value.decode(...)`."""
    if encoding in _CODECS:
        found: Any = codecs.decode(bytes_of(value), _CODECS[encoding])
        return Bytes2(found)
    if encoding in ('string_escape', 'string-escape'):
        return bytes_of(value).decode('unicode_escape')
    return value if isinstance(value, str) else bytes.decode(value, encoding, errors)


def by_python2(depth=2):
    """Whether a function is called by a module in Python 2."""
    return '__remx_python2__' in sys._getframe(depth).f_globals


class _Reading:
    """Methods of files that give bytes: plain ones to libraries that a program hands its file to."""

    def read(self, *args):
        found = super().read(*args)  # type: ignore[misc]  # of the file
        return _again(found) if by_python2() else found

    def readline(self, *args):
        found = super().readline(*args)  # type: ignore[misc]  # of the file
        return _again(found) if by_python2() else found

    def __next__(self):
        found = super().__next__()  # type: ignore[misc]  # of the file
        return text_of(found) if by_python2() else found

    next = __next__

    def readlines(self, *args):
        found = super().readlines(*args)  # type: ignore[misc]  # of the file
        return [text_of(line) for line in found] if by_python2() else found


class _Writing:
    def write(self, value):
        return super().write(bytes_of(value))  # type: ignore[misc]  # of the file

    def writelines(self, values):
        return super().writelines(map(bytes_of, values))  # type: ignore[misc]  # of the file


class BinaryReader(_Reading, io.BufferedReader):
    """A file opened with 'rb'."""


class BinaryWriter(_Writing, io.BufferedWriter):
    """A file opened with 'wb' or 'ab'."""


class BinaryFile(_Writing, _Reading, io.BufferedRandom):
    """A file opened for reading and writing."""


class GzipFile(_Writing, _Reading, gzip.GzipFile):
    """`gzip.open` and `gzip.GzipFile`."""


class BytesIO(_Writing, _Reading, io.BytesIO):
    """`cStringIO.StringIO` of bytes."""

    def getvalue(self):
        found = super().getvalue()
        return Bytes2(found) if by_python2() else found


def opened(path, mode, buffering=-1):
    """`open` in a binary mode."""
    raw = io.FileIO(path, mode.replace('b', '').replace('t', ''))
    if '+' in mode:
        return BinaryFile(raw)
    return BinaryReader(raw) if 'r' in mode else BinaryWriter(raw)


def joined(separator):
    """`separator.join`, of bytes as well."""
    if not isinstance(separator, str):
        return separator.join

    def join(values):
        values = list(values)
        try:
            return separator.join(values)
        except TypeError:
            if not any(isinstance(v, bytes) for v in values):
                raise
            return Bytes2(bytes_of(separator)).join(values)

    return join


def translated(value):
    """`value.translate`, with the characters to delete as its second argument, or None as its first."""
    if not isinstance(value, str):
        return value.translate

    def translate(table, deletechars=''):
        if isinstance(table, str):
            table = dict(enumerate(table))
        return value.translate({**(table or {}), **{ord(c): None for c in deletechars}})

    return translate


def takes_text(function):
    """A function that takes and gives bytes; modules in Python 2 call it with texts."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not by_python2():
            return function(*args, **kwargs)
        return _again(function(*map(bytes_of, args), **{key: bytes_of(value) for key, value in kwargs.items()}))

    return call


class _Digest:
    """A hash, whose `update` takes texts."""

    def __init__(self, found):
        self._found = found

    def update(self, value):
        self._found.update(bytes_of(value))

    def digest(self):
        return Bytes2(self._found.digest())

    def copy(self):
        return _Digest(self._found.copy())

    def __getattr__(self, name):
        return getattr(self._found, name)


def hashes(function, names=()):
    """A function that gives a hash; `names`: of arguments that are names of algorithms, not data."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if not by_python2():
            return function(*args, **kwargs)
        given = [value if at in names else bytes_of(value) for at, value in enumerate(args)]
        return _Digest(function(*given, **kwargs))

    return call


def gives_text(function):
    """A function of `subprocess` whose output is a text for modules in Python 2."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        found = function(*args, **kwargs)
        return text_of(found) if by_python2() else found

    return call


def takes_text_second(function):
    """`struct.unpack` and the like: the data, not the format, may be a text; parts of it are ours."""

    @functools.wraps(function)
    def call(form, data, *args, **kwargs):
        if not by_python2():
            return function(form, data, *args, **kwargs)
        return _again(function(form, bytes_of(data), *args, **kwargs))

    return call
