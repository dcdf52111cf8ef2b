"""pandas for a program's modules: methods and behaviours of the versions before 1.0, 2.0 and 3.0.

Only modules that import pandas are rewritten for it.  A method of a table is looked at when it is asked for;
methods of the same name of other objects (`list.append`, `dict.values`) are what they are.
"""

import functools
import sys

from . import _standin
from ._report import report
from ._standin import Standin, positional


def _pandas():
    return sys.modules.get('pandas')


def is_table(value):
    """Whether a value is a DataFrame, a Series or an Index."""
    pandas = _pandas()
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index))


def attribute(value, name):
    """`value.name` of a module that imports pandas."""
    if not is_table(value):
        return getattr(value, name)
    if name in ('values', 'values_'):
        return _writable(value)
    make = _GONE.get(name)
    if make is not None and not hasattr(type(value), name):
        report.note(f'pandas-{name}', f'the attribute {name} of tables, removed from pandas')
        return make(value)
    found = getattr(value, name)
    if name == 'fillna' and callable(found):
        return _fillna(value, found)
    return positional(found) if callable(found) else found


def _writable(value):
    """`values`, which programs change: an array that pandas 3 protects is copied."""
    found = value.values
    flags = getattr(found, 'flags', None)
    if flags is not None and not flags.writeable:
        report.note('pandas-values', 'values of a table can be changed, as before pandas 3 (they are a copy)')
        return found.copy()
    return found


def _fillna(value, function):
    def fillna(*args, method=None, **kwargs):
        if method is None:
            return positional(function)(*args, **kwargs)
        report.note('pandas-fillna', 'fillna(method=...), which is ffill and bfill today')
        return getattr(value, 'ffill' if method in ('ffill', 'pad') else 'bfill')(**kwargs)

    return fillna


def _append(value):
    def append(other, ignore_index=False, verify_integrity=False, sort=False):
        pandas = _pandas()
        if isinstance(other, dict):
            other = pandas.Series(other)
        if isinstance(value, pandas.DataFrame) and isinstance(other, pandas.Series):
            other = other.to_frame().T.infer_objects()
        others = list(other) if isinstance(other, (list, tuple)) else [other]
        return pandas.concat([value, *others], ignore_index=ignore_index, verify_integrity=verify_integrity, sort=sort)

    return append


class _Ix:
    """`table.ix`: by labels, and by positions where the labels are no numbers."""

    def __init__(self, table):
        self.table = table

    def _is_by_position(self, axis, key):
        pandas = _pandas()
        labels = self.table.axes[axis]
        if pandas.api.types.is_numeric_dtype(labels):
            return False
        parts = (key.start, key.stop) if isinstance(key, slice) else key if isinstance(key, (list, tuple)) else (key,)
        return any(part is not None for part in parts) and all(part is None or _is_whole(part) for part in parts)

    def _places(self, key):
        """-> (an indexer, the index for it)."""
        parts = key if isinstance(key, tuple) and self.table.ndim == 2 else (key,)
        if not any(self._is_by_position(axis, part) for axis, part in enumerate(parts)):
            return self.table.loc, key
        whole = []
        for axis, part in enumerate(parts):
            labels = self.table.axes[axis]
            if self._is_by_position(axis, part) or isinstance(part, slice) and part == slice(None):
                whole.append(part)
            elif isinstance(part, slice):
                whole.append(labels.slice_indexer(part.start, part.stop, part.step))
            elif isinstance(part, (list, tuple)):
                whole.append([labels.get_loc(p) for p in part])
            else:
                whole.append(part if hasattr(part, 'dtype') and part.dtype.kind == 'b' else labels.get_loc(part))
        return self.table.iloc, tuple(whole) if len(parts) > 1 else whole[0]

    def __getitem__(self, key):
        indexer, index = self._places(key)
        return indexer[index]

    def __setitem__(self, key, value):
        indexer, index = self._places(key)
        indexer[index] = value


def _is_whole(value):
    import numbers

    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _sort(value):
    def sort(columns=None, axis=0, ascending=True, inplace=False, **kwargs):
        if columns is None:
            return value.sort_index(axis=axis, ascending=ascending, inplace=inplace)
        return value.sort_values(columns, axis=axis, ascending=ascending, inplace=inplace)

    return sort


def _set_value(value):
    def set_value(index, column, new):
        value.at[index, column] = new
        return value

    return set_value


# the attribute that is gone -> a function that makes it of a table
_GONE = {
    'as_matrix': lambda t: lambda columns=None: _writable(t if columns is None else t[columns]),
    'ix': _Ix,
    'append': _append,
    'sort': _sort,
    'order': lambda t: t.sort_values,
    'iteritems': lambda t: t.items,
    'get_value': lambda t: lambda index, column=None: t.at[index] if column is None else t.at[index, column],
    'set_value': _set_value,
    'get_values': lambda t: lambda: _writable(t),
    'applymap': lambda t: t.map,
    'irow': lambda t: lambda i: t.iloc[i],
    'icol': lambda t: lambda i: t.iloc[:, i],
    'convert_objects': lambda t: lambda *args, **kwargs: t.infer_objects(),
    'mad': lambda t: lambda axis=0: (t - t.mean(axis=axis)).abs().mean(axis=axis),
    'pad': lambda t: t.ffill,
    'backfill': lambda t: t.bfill,
    'reindex_axis': lambda t: lambda labels, axis=0: t.reindex(labels, axis=axis),
}
# names that the rewritten code asks for by `attribute`
NAMES = frozenset(_GONE) | {
    'values', 'drop', 'fillna', 'dropna', 'set_index', 'reset_index', 'sort_values', 'sort_index', 'drop_duplicates',
    'rename', 'to_csv', 'replace', 'clip', 'where', 'interpolate', 'groupby', 'pivot', 'reindex',
}


# ---------------------------------------------------------------------- functions of the module
def _get_dummies(function):
    @functools.wraps(function)
    def get_dummies(*args, **kwargs):
        import numpy

        if kwargs.get('dtype') is None and len(args) < 8:
            report.note('pandas-dummies', 'get_dummies gives numbers, as before pandas 2')
            kwargs['dtype'] = numpy.uint8
        return function(*args, **kwargs)

    return get_dummies


def _read(function):
    """`read_csv`, with options that are gone."""
    from ._downloads import reads

    @functools.wraps(function)
    def read(*args, error_bad_lines=None, warn_bad_lines=None, squeeze=False, **kwargs):
        if error_bad_lines is False:
            kwargs.setdefault('on_bad_lines', 'skip' if warn_bad_lines is False else 'warn')
        for gone in ('mangle_dupe_cols', 'prefix', 'tupleize_cols', 'as_recarray'):
            kwargs.pop(gone, None)
        found = (reads(positional(function)) if args else positional(function))(*args, **kwargs)
        return found.squeeze('columns') if squeeze else found

    return read


def _reader(pandas, name):
    from ._downloads import reads

    return reads(getattr(pandas, name))


def standin(name):
    """The module for programs; None where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        return None
    try:
        # texts are columns of objects, as before pandas 3; this holds for the whole process
        pandas.options.future.infer_string = False
    except (AttributeError, KeyError, ValueError):
        pass
    names = {
        'get_dummies': lambda: _get_dummies(pandas.get_dummies),
        'read_csv': lambda: _read(pandas.read_csv),
        'read_table': lambda: _read(pandas.read_table),
        **{name: functools.partial(_reader, pandas, name) for name in ('read_excel', 'read_json', 'read_pickle')},
        'concat': lambda: positional(pandas.concat),
        'merge': lambda: positional(pandas.merge),
    }
    if not hasattr(pandas, 'np'):
        names['np'] = lambda: _standin.find('numpy')
    if not hasattr(pandas, 'datetime'):
        import datetime

        names['datetime'] = lambda: datetime.datetime
    return Standin(name, pandas, names)
