"""Vocabularies: a number for every token that is worth one."""
from __future__ import annotations

import collections
import numbers
from typing import Any

from ..._kinds import explain_kinds as _explain_kinds
from ..._kinds import explain_methods as _explain_methods
from ..._names import kind_of
from . import _constants

__all__ = ['Vocabulary']


class Vocabulary:
    """Tokens and their numbers: first the unknown token (0), then the reserved ones, then the counted, frequent first.

    Tokens that occur equally often are in their own order.  Of the counted ones at most `most_freq_count` are taken,
    and none that occurs less than `min_freq` times.  Any hashable, sortable values may be tokens.

    >>> from collections import Counter
    >>> words = Vocabulary(Counter('a b b c c c'.split()), min_freq=2, reserved_tokens=['<pad>'])
    >>> words.idx_to_token
    ['<unk>', '<pad>', 'c', 'b']
    >>> words.to_indices(['b', 'a']), words.to_tokens(2)
    ([3, 0], 'c')
    """

    def __init__(self, counter: Any = None, most_freq_count: int | None = None, min_freq: int = 1,
                 unknown_token: str = '<unk>', reserved_tokens: list[str] | None = None) -> None:
        if min_freq <= 0:
            raise AssertionError(f'min_freq of a Vocabulary must be positive, it is {min_freq}')
        if most_freq_count is not None and most_freq_count < 0:
            raise AssertionError(f'most_freq_count of a Vocabulary must not be negative, it is {most_freq_count}')
        if counter is not None and not isinstance(counter, collections.Counter):
            raise AssertionError('counter of a Vocabulary must be a collections.Counter, not '
                                 f'{kind_of(counter)}')
        special = [unknown_token, *(reserved_tokens or ())]
        twice = [token for token, count in collections.Counter(special).items() if count > 1]
        if twice:
            raise AssertionError('reserved_tokens of a Vocabulary must differ from each other and from the unknown '
                                 f'token {unknown_token!r}; there more than once: {twice}')
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self._idx_to_token = special
        if counter is not None:
            frequent = sorted(token for token, count in counter.items() if count >= min_freq)
            frequent.sort(key=counter.__getitem__, reverse=True)
            skipped = set(special)
            self._idx_to_token = special + [token for token in frequent if token not in skipped][:most_freq_count]
        self._token_to_idx = {token: index for index, token in enumerate(self._idx_to_token)}

    def __len__(self) -> int:
        return len(self._idx_to_token)

    @property
    def token_to_idx(self) -> Any:
        """{token: number}"""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> list[str]:
        """The tokens in the order of their numbers."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> str:
        """What stands for all tokens without a number."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> list[str] | None:
        """The tokens that are there without being counted, or None."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> int | list[int]:
        """The number of a token, or a list for a list; 0 for an unknown one."""
        if isinstance(tokens, list):
            return [self._token_to_idx.get(token, _constants.UNKNOWN_IDX) for token in tokens]
        return self._token_to_idx.get(tokens, _constants.UNKNOWN_IDX)

    def to_tokens(self, indices: Any) -> Any:
        """The token of a number, or a list for a list."""
        several = isinstance(indices, list)
        tokens = []
        for index in indices if several else [indices]:
            if not isinstance(index, numbers.Integral) or not -len(self) <= int(index) < len(self):
                raise ValueError(f'to_tokens: {index!r} is not the number of a token; they go from 0 to '
                                 f'{len(self) - 1}')
            tokens.append(self._idx_to_token[index])
        return tokens if several else tokens[0]


_explain_kinds(globals(), __all__)
_explain_methods(Vocabulary, 'to_indices to_tokens')
