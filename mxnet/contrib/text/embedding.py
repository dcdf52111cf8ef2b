"""Embeddings: a vector for every token, read from text files.

Published vectors (GloVe, fastText) are looked for in `$MXNET_HOME/embeddings/<name>`, as files or as the archives they
came in; what is not there is downloaded.
"""
from __future__ import annotations

import array
import logging
import os
import tarfile
import warnings
import zipfile
from typing import Any

import numpy

from ... import base, registry
from ... import ndarray as nd
from ..._files import limits, paths
from ..._kinds import explain_kinds as _explain_kinds
from ..._names import kind_of
from ..._wording import plain
from ...base import FileError, MXNetError
from ...gluon.utils import check_sha1, download
from ...util import is_np_array
from . import _constants
from .vocab import Vocabulary

__all__ = ['CompositeEmbedding', 'CustomEmbedding', 'FastText', 'GloVe', 'create', 'get_pretrained_file_names',
           'register']

ROOT = os.path.join(base.data_dir(), 'embeddings')
ABSENT = ('{cls} needs {file} (SHA-1 {sha1}), which is not in {folder} and could not be downloaded ({error}). Put the '
          'file{or_archive} there, or name the folder above with embedding_root=.')
DIFFERENT = ('{path} is not the file that was published for {cls}: its SHA-1 sum is not {sha1}. Remove it to have it '
             'downloaded again, or read it with CustomEmbedding.')


def _array(values):
    if is_np_array():
        from ... import numpy as np
        return np.array(values, dtype=values.dtype)
    return nd.array(values, dtype=values.dtype)


def register(embedding_cls: Any) -> Any:
    """A class decorator: `create` then knows the embedding by its name in lower case."""
    return registry.get_register_func(_TokenEmbedding, 'token embedding')(embedding_cls)


def create(embedding_name: str, **kwargs: Any) -> Any:
    """An embedding by name, 'glove' or 'fasttext' or what was registered; keywords go to its class."""
    return registry.get_create_func(_TokenEmbedding, 'token embedding')(embedding_name, **kwargs)


def get_pretrained_file_names(embedding_name: str | None = None) -> Any:
    """The names of the files that were published for an embedding, or {embedding: names} of all.

    >>> get_pretrained_file_names('glove')[1]
    'glove.6B.50d.txt'
    """
    names = {name: list(getattr(cls, 'pretrained_file_name_sha1', ()))
             for name, cls in registry.get_registry(_TokenEmbedding).items()}
    if embedding_name is None:
        return names
    if embedding_name.lower() not in names:
        raise KeyError(f'there is no token embedding {embedding_name!r}; there are {", ".join(sorted(names))}')
    return names[embedding_name.lower()]


class _TokenEmbedding(Vocabulary):
    """A vocabulary with a vector for each token; row 0 is that of unknown tokens.

    A subclass for published files has `pretrained_file_name_sha1` ({file: sum}) and, if they come in archives,
    `pretrained_archive_name_sha1` and `_get_download_file_name`.
    """

    pretrained_file_name_sha1: dict[str, str]
    pretrained_archive_name_sha1: dict[str, str]
    _vec_len = 0
    _idx_to_vec: Any = None         # an array once there are vectors

    @property
    def vec_len(self) -> int:
        """The length of a vector."""
        return self._vec_len

    @property
    def idx_to_vec(self) -> Any:
        """The vectors, (number of tokens, length), in the order of the tokens' numbers."""
        return self._idx_to_vec

    def get_vecs_by_tokens(self, tokens: Any, lower_case_backup: bool = False) -> Any:
        """The vector of a token, or a matrix for a list; `lower_case_backup` tries lower case for those not found."""
        numbers = self._token_to_idx
        several = isinstance(tokens, list)
        rows = []
        for token in tokens if several else [tokens]:
            if lower_case_backup and token not in numbers:
                token = token.lower()
            rows.append(numbers.get(token, _constants.UNKNOWN_IDX))
        vectors = self._rows(rows)
        return vectors if several else vectors[0]

    def _rows(self, rows):
        rows = _array(numpy.array(rows, dtype=numpy.int64))
        if is_np_array():
            from ... import numpy_extension as npx
            return npx.embedding(rows, self._idx_to_vec, *self._idx_to_vec.shape)
        return nd.Embedding(rows, self._idx_to_vec, *self._idx_to_vec.shape)

    def update_token_vectors(self, tokens: Any, new_vectors: Any) -> None:
        """Sets the vectors of tokens.  The unknown token must be named as such: no other token stands for it here."""
        if self._idx_to_vec is None:
            raise AssertionError(f'update_token_vectors: this {type(self).__name__} has no vectors yet')
        tokens = tokens if isinstance(tokens, list) else [tokens]
        shape = (len(tokens), self._vec_len)
        if not isinstance(new_vectors, nd.NDArray):
            raise AssertionError('update_token_vectors: new_vectors must be an NDArray, not '
                                 f'{kind_of(new_vectors)}')
        if new_vectors.shape != shape and not (len(tokens) == 1 and new_vectors.shape == shape[1:]):
            raise AssertionError(f'update_token_vectors: new_vectors of {len(tokens)} tokens must have the shape '
                                 f'{shape}, not {new_vectors.shape}')
        unknown = [token for token in tokens if token not in self._token_to_idx]
        if unknown:
            raise ValueError(f'update_token_vectors: {unknown} are not in this embedding. To change the vector of all '
                             f'unknown tokens, name {self._unknown_token!r}')
        rows = numpy.array([self._token_to_idx[token] for token in tokens], dtype=numpy.int64)
        self._idx_to_vec[_array(rows)] = new_vectors.reshape(shape)

    # Published files

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        return pretrained_file_name

    @classmethod
    def _get_pretrained_file_url(cls, pretrained_file_name):
        server = os.environ.get('MXNET_GLUON_REPO', _constants.APACHE_REPO_URL).rstrip('/')
        return f'{server}/gluon/embeddings/{cls.__name__.lower()}/{cls._get_download_file_name(pretrained_file_name)}'

    @classmethod
    def _check_pretrained_file_names(cls, pretrained_file_name):
        if pretrained_file_name not in cls.pretrained_file_name_sha1:
            raise KeyError(f'{pretrained_file_name!r} is not a published file of {cls.__name__}; there are '
                           f'{", ".join(cls.pretrained_file_name_sha1)}')

    @classmethod
    def _get_pretrained_file(cls, embedding_root, pretrained_file_name):
        """The path of a published file, which is unpacked or downloaded if it must be."""
        folder = os.path.join(os.path.expanduser(embedding_root), cls.__name__.lower())
        path = os.path.join(folder, pretrained_file_name)
        sha1 = cls.pretrained_file_name_sha1[pretrained_file_name]
        if not os.path.exists(path):
            name = cls._get_download_file_name(pretrained_file_name)
            packed = name != pretrained_file_name
            archive_sha1 = cls.pretrained_archive_name_sha1[name] if packed else sha1
            archive = os.path.join(folder, name)
            try:
                download(cls._get_pretrained_file_url(pretrained_file_name), archive, sha1_hash=archive_sha1)
                if packed:
                    _unpack(archive, pretrained_file_name, path)
            except (MXNetError, OSError) as error:
                raise MXNetError(ABSENT.format(
                    cls=cls.__name__, file=pretrained_file_name, sha1=sha1, folder=folder, error=error,
                    or_archive=f', or {name} (SHA-1 {archive_sha1}) with it inside,' if packed else '')) from error
        if not check_sha1(path, sha1):
            raise MXNetError(DIFFERENT.format(path=path, cls=cls.__name__, sha1=sha1))
        return path

    # Reading

    def _load_embedding(self, pretrained_file_path, elem_delim, init_unknown_vec, encoding='utf8'):
        """Adds the tokens of a file; those that were here before it get its vectors, or that of unknown tokens."""
        path = os.path.expanduser(pretrained_file_path)
        if not os.path.isfile(path):
            raise FileError(f'there is no file of vectors {path}')
        logging.info('Loading pre-trained token embedding vectors from %s', path)
        first = {}                      # vectors of tokens that are here already: the unknown one, reserved ones
        values = array.array('f')       # all others, one after the other: millions of lists would not fit in memory
        seen: set[str] = set()
        length, before, size = None, len(self), os.path.getsize(path)
        with open(path, encoding=encoding) as file:
            for number, line in enumerate(_lines(file, path, encoding), 1):
                token, vector = _parse(line, elem_delim, f'{path}, line {number}')
                if number % 10000 == 0:
                    limits.check(240 * len(seen) + 8 * len(values), size, f'{path}, line {number}', 'the tokens so far')
                if token in seen:
                    warnings.warn(f'{path}, line {number}: the token {token!r} was there before; its first vector '
                                  'counts', stacklevel=3)
                    continue
                if len(vector) == 1 and token != self._unknown_token:
                    warnings.warn(f'{path}, line {number}: {line.strip()!r} has one number only; it is taken for a '
                                  'header and skipped', stacklevel=3)
                    continue
                if length is None:
                    length = len(vector)
                if len(vector) != length:
                    raise FileError(f'{path}, line {number}: the vector of {token!r} has {len(vector)} numbers, '
                                         f'those before it have {length}')
                seen.add(token)
                if token in self._token_to_idx:
                    first[token] = vector
                else:
                    values.extend(vector)
                    self._idx_to_token.append(token)
        if length is None:
            raise FileError(f'there are no vectors in {path}')
        self._vec_len = length
        self._token_to_idx = {token: index for index, token in enumerate(self._idx_to_token)}
        unknown = first.get(self._unknown_token)
        if unknown is None:
            unknown = init_unknown_vec(shape=length).asnumpy()
        head = numpy.array([first.get(token, unknown) for token in self._idx_to_token[:before]], dtype=numpy.float32)
        rest = numpy.frombuffer(values, dtype=numpy.float32).reshape(-1, length) if values else head[:0]
        self._idx_to_vec = _array(numpy.concatenate([head, rest]))

    def _set_idx_to_vec_by_embeddings(self, token_embeddings, tokens):
        """Takes the vectors of `tokens`, the first of which is the unknown one, from embeddings side by side."""
        parts = [embedding._rows([_constants.UNKNOWN_IDX, *embedding.to_indices(list(tokens[1:]))])
                 for embedding in token_embeddings]
        if is_np_array():
            from ... import numpy as np
            self._idx_to_vec = np.concatenate(parts, axis=1)
        else:
            self._idx_to_vec = nd.concat(*parts, dim=1)
        self._vec_len = self._idx_to_vec.shape[1]

    def _index_tokens_from_vocabulary(self, vocabulary):
        self._token_to_idx = dict(vocabulary.token_to_idx)
        self._idx_to_token = list(vocabulary.idx_to_token)
        self._unknown_token = vocabulary.unknown_token
        self._reserved_tokens = None if vocabulary.reserved_tokens is None else list(vocabulary.reserved_tokens)

    def _build_embedding_for_vocabulary(self, vocabulary):
        """Keeps the tokens of a vocabulary only (all of them, if it is None)."""
        if vocabulary is None:
            return
        _check_vocabulary(type(self).__name__, vocabulary)
        self._set_idx_to_vec_by_embeddings([self], vocabulary.idx_to_token)
        self._index_tokens_from_vocabulary(vocabulary)


def _check_vocabulary(name, vocabulary):
    if not isinstance(vocabulary, Vocabulary):
        raise AssertionError(f'vocabulary of {name} must be a mx.contrib.text.vocab.Vocabulary, not '
                             f'{kind_of(vocabulary)}')


def _lines(file, path, encoding):
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise FileError(f'{path} is not text in {encoding}: {error}') from error


def _parse(line, delimiter, where):
    """A line's token and its numbers."""
    token, *numbers = line.rstrip().split(delimiter)
    if not numbers:
        raise FileError(f'{where}: {line.strip()[:60]!r} is not a token and numbers with {delimiter!r} between '
                             'them')
    try:
        return token, [float(number) for number in numbers]
    except ValueError as error:
        raise FileError(f'{where}: the vector of {token!r} is not made of numbers: {plain(error)}') from None


def _unpack(archive, member, path):
    """Takes one file out of an archive; it appears whole or not at all, wherever in the archive it was."""
    opener: Any = zipfile.ZipFile if archive.endswith('.zip') else tarfile.open
    try:
        with opener(archive) as packed:
            names = packed.namelist() if archive.endswith('.zip') else packed.getnames()
            inside = {os.path.basename(name): name for name in names}
            if member not in inside:
                raise FileError(f'{archive}: there is no {member} in it; there is {", ".join(sorted(inside)[:10])}')
            source = packed.open(inside[member]) if archive.endswith('.zip') else packed.extractfile(inside[member])
            if source is None:
                raise FileError(f'{archive}: {member} in it is not a file')
            with source:
                paths.write_atomic(path, iter(lambda: source.read(1 << 20), b''))
    except MXNetError:
        raise
    except Exception as error:          # damaged archives make the libraries raise many things
        raise FileError(f'{archive} is damaged: {limits.broken(error)}') from error


@register
class GloVe(_TokenEmbedding):
    """The vectors of https://nlp.stanford.edu/projects/glove/ (Pennington, Socher and Manning, 2014).

    With a `vocabulary` only its tokens are kept; `init_unknown_vec(shape=n)` makes the vector of unknown tokens.
    """

    pretrained_archive_name_sha1 = _constants.GLOVE_PRETRAINED_FILE_SHA1
    pretrained_file_name_sha1 = _constants.GLOVE_PRETRAINED_ARCHIVE_SHA1

    def __init__(self, pretrained_file_name: str = 'glove.840B.300d.txt', embedding_root: str = ROOT,
                 init_unknown_vec: Any = nd.zeros, vocabulary: Any = None, **kwargs: Any) -> None:
        self._check_pretrained_file_names(pretrained_file_name)
        super().__init__(**kwargs)
        self._load_embedding(self._get_pretrained_file(embedding_root, pretrained_file_name), ' ', init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        # glove.6B.50d.txt and its like are in glove.6B.zip, glove.42B.300d.txt in glove.42B.300d.zip
        corpus = pretrained_file_name.split('.')[1]
        return next(name for name in cls.pretrained_archive_name_sha1 if name.split('.')[1] == corpus)


@register
class FastText(_TokenEmbedding):
    """The vectors of https://fasttext.cc/ (Bojanowski, Grave, Joulin and Mikolov, 2016), of 290 and more languages.

    With a `vocabulary` only its tokens are kept; `init_unknown_vec(shape=n)` makes the vector of unknown tokens.
    """

    pretrained_archive_name_sha1 = _constants.FAST_TEXT_ARCHIVE_SHA1
    pretrained_file_name_sha1 = _constants.FAST_TEXT_FILE_SHA1

    def __init__(self, pretrained_file_name: str = 'wiki.simple.vec', embedding_root: str = ROOT,
                 init_unknown_vec: Any = nd.zeros, vocabulary: Any = None, **kwargs: Any) -> None:
        self._check_pretrained_file_names(pretrained_file_name)
        super().__init__(**kwargs)
        self._load_embedding(self._get_pretrained_file(embedding_root, pretrained_file_name), ' ', init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        return os.path.splitext(pretrained_file_name)[0] + '.zip'


class CustomEmbedding(_TokenEmbedding):
    """Vectors of your own file: a line has a token and its numbers, with `elem_delim` between them.

    A vector of the unknown token in the file is the one for all unknown tokens; else `init_unknown_vec(shape=n)` makes
    it.  With a `vocabulary` only its tokens are kept.

    >>> with open('vectors.txt', 'w') as file:
    ...     _ = file.write('hello 1 2 3')
    >>> words = CustomEmbedding('vectors.txt')
    >>> words.get_vecs_by_tokens(['hello', 'world']).asnumpy().tolist()
    [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, pretrained_file_path: str, elem_delim: str = ' ', encoding: str = 'utf8',
                 init_unknown_vec: Any = nd.zeros, vocabulary: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._load_embedding(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._build_embedding_for_vocabulary(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """The tokens of a vocabulary with vectors from one embedding, or from several side by side."""

    def __init__(self, vocabulary: Any, token_embeddings: Any) -> None:
        _check_vocabulary('CompositeEmbedding', vocabulary)
        if not isinstance(token_embeddings, list):
            token_embeddings = [token_embeddings]
        for embedding in token_embeddings:
            if not isinstance(embedding, _TokenEmbedding):
                raise AssertionError('token_embeddings of CompositeEmbedding must be an embedding or a list of them; '
                                     f'there is a {type(embedding).__name__}')
        super().__init__()
        self._index_tokens_from_vocabulary(vocabulary)
        self._set_idx_to_vec_by_embeddings(token_embeddings, self._idx_to_token)


_explain_kinds(globals(), __all__)
