"""Counting tokens."""
from __future__ import annotations

import collections
import re
from typing import Any

from ..._kinds import explain_kinds as _explain_kinds

__all__ = ['count_tokens_from_str']


def count_tokens_from_str(source_str: str, token_delim: str = ' ', seq_delim: str = '\n', to_lower: bool = False,
                          counter_to_update: Any = None) -> Any:
    r"""A Counter of the tokens of a text; those of `counter_to_update`, which is changed and returned, are kept.

    Both delimiters are regular expressions, so a special character needs a backslash.

    >>> sorted(count_tokens_from_str(' Life is great ! \n life is good . \n', to_lower=True).items())
    [('!', 1), ('.', 1), ('good', 1), ('great', 1), ('is', 2), ('life', 2)]
    >>> count_tokens_from_str('*a*b*\n*a*', r'\*')
    Counter({'a': 2, 'b': 1})
    """
    tokens = filter(None, re.split(f'{token_delim}|{seq_delim}', source_str))
    counter = collections.Counter() if counter_to_update is None else counter_to_update
    counter.update(map(str.lower, tokens) if to_lower else tokens)
    return counter


_explain_kinds(globals(), __all__)
