"""Files of arrays by name, and what is said of names that do not fit."""
import contextlib
import difflib

from .. import ndarray
from ..base import FileError
from ..util import is_np_array
from .utils import brief_list


def save_arrays(filename, arrays):
    """Writes arrays by name, of NumPy's kind where that is on."""
    if is_np_array():
        from .. import numpy_extension
        numpy_extension.save(filename, arrays)
    else:
        ndarray.save(filename, arrays)


def load_arrays(filename):
    """Reads arrays, of NumPy's kind where that is on."""
    if is_np_array():
        from .. import numpy_extension
        return numpy_extension.load(filename)
    return ndarray.load(filename)


@contextlib.contextmanager
def names_file(filename):
    """Puts the name of a file before what is wrong with an array of it."""
    try:
        yield
    except FileError as error:
        raise FileError(f'{filename}: {error}' if filename else str(error)) from None


def mismatch(kind, names, where, others, option):
    """The error for names that are only on one side, with the closest of the other side."""
    lines = []
    for name in names[:8]:
        close = difflib.get_close_matches(name, list(others), 1)
        lines.append(f"  '{name}'" + (f"   (close: '{close[0]}')" if close else ''))
    if len(names) > 8:
        lines.append(f'  and {len(names) - 8} more')
    first = f"Parameter '{names[0]}' is " + ('missing in ' + where if kind == 'missing' else
                                               f'in {where}, but not in the network')
    return (f'{first}. {len(names)} such name(s):\n' + '\n'.join(lines)
            + f'\n{"The file" if kind == "missing" else "The network"} has {brief_list(others)}. '
            f'Pass {option}=True to leave such names alone.')
