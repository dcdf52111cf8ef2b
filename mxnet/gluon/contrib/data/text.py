"""Text for language models: WikiText-2 and WikiText-103."""
from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy

from .... import base, ndarray
from ...._files import limits, paths, published
from ...._names import suggest_names as _suggest_names
from ....base import FileError, MXNetError
from ...data import dataset
from ...utils import _get_repo_file_url, download

if TYPE_CHECKING:
    from ...._typing import Path
    from ....contrib.text.vocab import Vocabulary

__all__ = ['WikiText103', 'WikiText2']

END = '<eos>'


class _WikiText(dataset._DownloadedDataset):
    """Words as numbers in rows of `seq_len`: a sample is a row, and the row of the words that follow each.

    `segment` is 'train', 'validation' or 'test'.  The vocabulary (`mx.contrib.text.vocab.Vocabulary`) is made from the
    text if none is given.
    """

    _name, _archive = '', ('', '')
    _files = {'train': 'wiki.train.tokens', 'validation': 'wiki.valid.tokens', 'test': 'wiki.test.tokens'}

    def __init__(self, root: Path | None, segment: str, vocab: Vocabulary | None, seq_len: int) -> None:
        if segment not in self._files:
            raise ValueError(f"segment of {type(self).__name__} must be 'train', 'validation' or 'test', "
                             f'not {segment!r}')
        self._segment, self._seq_len = segment, seq_len
        self._vocab, self._counter = vocab, None
        super().__init__(os.path.join(base.data_dir(), 'datasets', self._name) if root is None else root, None)

    @property
    def vocabulary(self) -> Any:
        """The words and their numbers."""
        return self._vocab

    @property
    def frequencies(self) -> Any:
        """How often each word occurs."""
        return self._counter

    def _get_data(self):
        path = self._path()
        try:
            with open(path, encoding='utf-8') as file:
                lines = [words for words in map(str.split, file) if words]
        except UnicodeDecodeError as error:
            raise FileError(f'{path} is not text in UTF-8: {error}') from None
        if not lines:
            raise FileError(f'{path}: there are no words in it')
        numbers = numpy.array(self._numbers(lines), dtype=numpy.int32)
        rows = (len(numbers) - 1) // self._seq_len
        size = rows * self._seq_len

        def arranged(values):
            return ndarray.array(values[:size].reshape(rows, self._seq_len), dtype='int32')

        self._data, self._label = arranged(numbers[:-1]), arranged(numbers[1:])

    def _numbers(self, lines):
        from ....contrib import text
        if self._counter is None:
            self._counter = text.utils.count_tokens_from_str('\n'.join(map(' '.join, lines)))
        if self._vocab is None:
            self._vocab = text.vocab.Vocabulary(self._counter, reserved_tokens=[END])
        return self._vocab.to_indices([word for words in lines for word in (*words, END)])

    def _path(self):
        path = os.path.join(self._root, self._files[self._segment])
        if os.path.exists(path):
            return path
        name, sha1 = self._archive
        archive = os.path.join(self._root, name)
        try:
            if not os.path.exists(archive):
                download(_get_repo_file_url(f'gluon/dataset/{self._name}', name), path=archive, sha1_hash=sha1)
            with zipfile.ZipFile(archive) as packed:
                inside = {os.path.basename(n): n for n in packed.namelist()}
                if os.path.basename(path) not in inside:
                    raise MXNetError(f'{archive} has no {os.path.basename(path)} inside')
                with packed.open(inside[os.path.basename(path)]) as source:
                    content = limits.unpacked(source, os.path.getsize(archive), archive, os.path.basename(path))
        except Exception as error:          # damaged archives make the library raise many things
            raise MXNetError(f'{type(self).__name__} needs {os.path.basename(path)}, or {name} with it inside, in '
                             f'{self._root}: {error}. {published.hint(self._name, self._root)}') from error
        paths.write_atomic(path, [content])
        return path


class WikiText2(_WikiText):
    """Two million words of Wikipedia, collected by Salesforce Research (CC BY-SA).

    A sample is (row of words, row of the words that follow), both of length `seq_len` and int32.
    """

    _name = 'wikitext-2'
    _archive = published.files('wikitext-2')[0]

    def __init__(self, root: Path | None = None, segment: str = 'train', vocab: Vocabulary | None = None,
                 seq_len: int = 35) -> None:
        super().__init__(root, segment, vocab, seq_len)


class WikiText103(_WikiText):
    """A hundred million words of Wikipedia, otherwise as `WikiText2`."""

    _name = 'wikitext-103'
    _archive = published.files('wikitext-103')[0]

    def __init__(self, root: Path | None = None, segment: str = 'train', vocab: Vocabulary | None = None,
                 seq_len: int = 35) -> None:
        super().__init__(root, segment, vocab, seq_len)


_suggest_names(globals())
