"""Sentences as numbers, and batches of sentences of about the same length."""
from __future__ import annotations

import bisect
import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

from .. import ndarray
from .._kinds import explain_kinds as _explain_kinds
from ..io import DataBatch, DataDesc, DataIter
from ..io._base import check_state

if TYPE_CHECKING:
    from .._typing import DType

__all__ = ['BucketSentenceIter', 'encode_sentences']


def encode_sentences(sentences: Iterable[Any], vocab: Any = None, invalid_label: int = -1, invalid_key: str = '\n',
                     start_label: int = 0, unknown_token: str | None = None) -> Any:
    """(sentences as lists of ints, vocabulary) from lists of words.

    vocab: {word: int}; if given, words that are not in it become `unknown_token`, or are an error without one
    invalid_label, invalid_key: the number of the end of a sentence, and what stands for it in a new vocabulary
    start_label: the first number of a new vocabulary

    >>> mx.rnn.encode_sentences([['to', 'be'], ['be', 'to']])
    ([[0, 1], [1, 0]], {'\\n': -1, 'to': 0, 'be': 1})
    """
    new = vocab is None
    if new:
        vocab = {invalid_key: invalid_label}
    number = start_label
    encoded = []
    for sentence in sentences:
        words = []
        for word in sentence:
            if word not in vocab:
                if not new and not unknown_token:
                    raise AssertionError(f'the word {word!r} is not in the vocabulary, and there is no unknown_token')
                word = unknown_token or word
                if word not in vocab:
                    number += number == invalid_label
                    vocab[word] = number
                    number += 1
            words.append(vocab[word])
        encoded.append(words)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Batches of sentences for a language model: the label of each word is the next one.

    sentences: lists of ints; each goes to the smallest bucket that it fits in, filled up with `invalid_label`
    buckets: lengths; by default those that at least `batch_size` sentences have
    layout: 'NT' for (batch_size, length), 'TN' for (length, batch_size)

    Batches come in a new order after each `reset`, drawn from `random` and `numpy.random`; their `bucket_key` is the
    length.  Sentences longer than the largest bucket are left out.
    """

    data: Any
    provide_data: Any
    provide_label: Any
    idx: Any
    curr_idx: Any

    def __init__(self, sentences: Any, batch_size: int, buckets: list[int] | None = None, invalid_label: int = -1,
                 data_name: str = 'data', label_name: str = 'softmax_label', dtype: DType = 'float32',
                 layout: str = 'NT') -> None:
        super().__init__(batch_size)
        if 'N' not in layout or layout.find('N') > 1:
            raise ValueError(f"layout must be 'NT' or 'TN', not {layout!r}")
        if not buckets:
            counts = numpy.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts) if count >= batch_size]
        buckets = sorted(buckets)
        rows: Any = [[] for _ in buckets]
        too_long = 0
        for sentence in sentences:
            place = bisect.bisect_left(buckets, len(sentence))
            if place == len(buckets):
                too_long += 1
                continue
            row = numpy.full((buckets[place],), invalid_label, dtype=dtype)
            row[:len(sentence)] = sentence
            rows[place].append(row)
        # on stdout, and for 0 as well, as upstream: programs that read logs look for this line
        print(f'WARNING: discarded {too_long} sentences longer than the largest bucket.')
        self.buckets: list[int] = [length for length, found in zip(buckets, rows, strict=True) if found]
        if not self.buckets:
            raise ValueError(f'no sentence fits in the buckets {buckets}')
        self.data = [numpy.asarray(found, dtype=dtype) for found in rows if found]
        self.data_name: str
        self.label_name: str
        self.data_name, self.label_name = data_name, label_name
        self.dtype: Any
        self.layout: str
        self.major_axis: int
        self.dtype, self.layout, self.major_axis = dtype, layout, layout.find('N')
        self.invalid_label = invalid_label
        self.default_bucket_key: int = max(self.buckets)
        self.provide_data = [self._description(data_name, self.default_bucket_key)]
        self.provide_label = [self._description(label_name, self.default_bucket_key)]
        self.idx = [(i, start) for i, bucket in enumerate(self.data)
                    for start in range(0, len(bucket) - batch_size + 1, batch_size)]
        self.ndlabel: Any
        self.nddata: Any
        self.nddata, self.ndlabel = [], []
        self.curr_idx = 0
        self.reset()

    def _description(self, name, length):
        shape = (self.batch_size, length) if self.major_axis == 0 else (length, self.batch_size)
        return DataDesc(name, shape, layout=self.layout)

    def reset(self) -> None:
        """Back to the first batch, in a new order."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        for bucket in self.data:
            numpy.random.shuffle(bucket)
        self._to_arrays()

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator is, and its sentences in their order, for `load_state_dict`."""
        return {'buckets': list(self.buckets), 'batch_size': self.batch_size, 'curr_idx': self.curr_idx,
                'idx': list(self.idx), 'data': [bucket.copy() for bucket in self.data]}

    def load_state_dict(self, state: Any) -> None:
        """Goes on where `state_dict` was called."""
        check_state('BucketSentenceIter', state, buckets=list(self.buckets), batch_size=self.batch_size)
        if [a.shape for a in state['data']] != [a.shape for a in self.data]:
            raise ValueError('BucketSentenceIter: the state is one of other data: it has another number of sentences')
        self.curr_idx, self.idx = state['curr_idx'], [tuple(pair) for pair in state['idx']]
        self.data = [bucket.copy() for bucket in state['data']]
        self._to_arrays()

    def _to_arrays(self):
        self.nddata, self.ndlabel = [], []
        for bucket in self.data:
            following = numpy.full_like(bucket, self.invalid_label)
            following[:, :-1] = bucket[:, 1:]
            self.nddata.append(ndarray.array(bucket, dtype=self.dtype))
            self.ndlabel.append(ndarray.array(following, dtype=self.dtype))

    def next(self) -> DataBatch:
        """The next batch."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        i, start = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (arrays[i][start:start + self.batch_size] for arrays in (self.nddata, self.ndlabel))
        if self.major_axis == 1:
            data, label = data.T, label.T
        length = self.buckets[i]
        return DataBatch([data], [label], pad=0, bucket_key=length,
                         provide_data=[self._description(self.data_name, length)],
                         provide_label=[self._description(self.label_name, length)])


_explain_kinds(globals(), ('encode_sentences',))
