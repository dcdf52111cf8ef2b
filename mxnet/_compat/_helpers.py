"""Functions that the rewritten code of a program calls; each does what Python or NumPy of that time did.

They try what is written first, so that code which needs nothing behaves as always.
"""

import functools
import numbers
import operator
import re
import sys
import types
from collections.abc import Mapping

from ._pandas import attribute as table_attribute
from ._pandas import is_table
from ._report import report


def _numpy():
    return sys.modules.get('numpy')


def one_number(value):
    """The number in a NumPy array of one element with axes; None for everything else."""
    numpy = _numpy()
    if numpy is not None and isinstance(value, numpy.ndarray) and value.size == 1 and value.ndim:
        return value.item()
    return None


def _scalar(kind):
    def convert(value):
        try:
            return kind(value)
        except TypeError:
            number = one_number(value)
            if number is None:
                raise
            report.note('numpy-scalar', 'an array with one element is a number, as before NumPy 2.4')
            return kind(number)

    convert.__name__ = convert.__qualname__ = kind.__name__
    return convert


to_float, to_int, to_complex = _scalar(float), _scalar(int), _scalar(complex)


def rounded(number, ndigits=None):
    """`round`, also of an array with one element."""
    found = one_number(number)
    return round(number if found is None else found, ndigits)


def formatted(text, values):
    """`text % values`, where arrays with one element are numbers."""
    try:
        return text % values
    except TypeError:
        if isinstance(values, tuple):
            plain = tuple(v if one_number(v) is None else one_number(v) for v in values)
            if all(a is b for a, b in zip(plain, values)):
                raise
        else:
            plain = one_number(values)
            if plain is None:
                raise
        report.note('numpy-scalar', 'an array with one element is a number, as before NumPy 2.4')
        return text % plain


def item(value, key):
    """`value[key]`, where floats are indices of a NumPy array."""
    try:
        return value[key]
    except (IndexError, TypeError):
        if isinstance(value, BaseException):
            report.note('python2-error-items', 'error[0] is error.args[0]')
            return value.args[key]
        plain = _whole_index(value, key)
        if plain is None:
            raise
        return value[plain]


# ---------------------------------------------------------------------- texts, orders and classes of Python 2
TEXTS = frozenset(('encode', 'join', 'translate'))


def of_text(value, name):
    """`value.encode`, `value.join` and `value.translate` of Python 2."""
    if not isinstance(value, (str, bytes)):
        return getattr(value, name)
    from . import _bytes2

    if name == 'encode':
        return functools.partial(_bytes2.encoded, value)
    return _bytes2.joined(value) if name == 'join' else _bytes2.translated(value)


def unicode_of(value, encoding='utf-8', errors='strict'):
    """`unicode(value, encoding)`; texts are Unicode already."""
    return value if isinstance(value, str) else str(value, encoding, errors)


def compared(name, left, right):
    """`left < right` and the like, which Python 2 had for all values: None first, then numbers, then by type."""
    try:
        return getattr(operator, name)(left, right)
    except TypeError:
        keys = [_order(value) for value in (left, right)]
        if None in keys or keys[0] == keys[1]:
            raise
        report.note('python2-order', 'values of different types have an order, as in Python 2')
        return getattr(operator, name)(*keys)


_PLAIN = (type(None), bool, int, float, str, bytes, list, tuple, dict, set)


def _order(value):
    """The place of a value's type among others; None for types that are not Python's own."""
    if type(value) not in _PLAIN:
        return None
    if value is None:
        return 0, ''
    return (1, '') if isinstance(value, (int, float)) else (2, type(value).__name__)


def order(left, right):
    """`cmp`."""
    return compared('gt', left, right) - compared('lt', left, right)


def ordered(kind):
    """A class with `__cmp__`, with the methods that Python calls today."""
    def method(name):
        def compare(self, other):
            return getattr(operator, name)(self.__cmp__(other), 0)

        return compare

    for name in ('lt', 'le', 'gt', 'ge', 'eq', 'ne'):
        if f'__{name}__' not in vars(kind):
            setattr(kind, f'__{name}__', method(name))
    if vars(kind).get('__hash__') is None:
        kind.__hash__ = object.__hash__
    return kind


def sliced(kind):
    """A class with `__getslice__`, which Python called for `value[a:b]`."""
    before = kind.__getitem__ if hasattr(kind, '__getitem__') else None

    def __getitem__(self, key):
        if isinstance(key, slice) and key.step is None:
            return self.__getslice__(0 if key.start is None else key.start,
                                     sys.maxsize if key.stop is None else key.stop)
        if before is None:
            raise TypeError(f'{type(self).__name__} takes slices only')
        return before(self, key)

    kind.__getitem__ = __getitem__
    return kind


def truth(value):
    """The truth of a value; an empty NumPy array is false."""
    try:
        return True if value else False
    except ValueError:
        numpy = _numpy()
        if numpy is None or not isinstance(value, numpy.ndarray) or value.size:
            raise
        report.note('numpy-empty', 'an empty array is false, as before NumPy 2.2')
        return False


def same(left, right):
    """`left == right` as a condition, where one is None, a text or an empty list; an array is none of these."""
    numpy = _numpy()
    for value, other in ((left, right), (right, left)):
        if numpy is not None and isinstance(value, numpy.ndarray):
            if other is None or not isinstance(other, numpy.ndarray) and value.dtype.kind not in 'OSU':
                report.note('numpy-comparison', 'an array is not equal to None, a text or an empty list, as before '
                                                'NumPy 1.13')
                return False
        elif isinstance(value, _ndarray()) and (other is None or isinstance(other, (str, list, tuple, dict))):
            report.note('ndarray-comparison', 'an NDArray is not equal to None, a text or an empty list, as before '
                                              'MXNet 0.9')
            return False
    return left == right


def _ndarray():
    from ..ndarray import NDArray

    return NDArray


def augment(target, key, name, value):
    """`target[key] += value` and the like."""
    store(getattr(operator, name)(item(target, key), value), target, key)


def _whole_index(array, key):
    """The index of a NumPy array with integers in the place of floats; None where there are none."""
    numpy = _numpy()
    if numpy is None or not isinstance(array, numpy.ndarray):
        return None
    if type(key) is list and any(isinstance(part, (slice, type(...))) for part in key):
        report.note('numpy-list-index', 'a list of slices is an index as a tuple of them, as before NumPy 1.23')
        return tuple(key)
    parts = key if isinstance(key, tuple) else (key,)
    whole = tuple(_whole_part(numpy, part) for part in parts)
    if all(a is b for a, b in zip(parts, whole)):
        return None
    report.note('numpy-float-index', 'floats are indices of arrays, without their fractions, as before NumPy 1.12')
    return whole if isinstance(key, tuple) else whole[0]


def _whole_part(numpy, part):
    if isinstance(part, (float, numpy.floating)):
        return int(part)
    if isinstance(part, numpy.ndarray) and part.dtype.kind == 'f':
        return part.astype(int)
    if isinstance(part, list) and any(isinstance(p, (float, numpy.floating)) for p in part):
        return numpy.asarray(part).astype(int)
    if isinstance(part, slice):
        bounds = part.start, part.stop, part.step
        whole = [_whole_part(numpy, bound) for bound in bounds]
        return part if all(a is b for a, b in zip(bounds, whole)) else slice(*whole)
    return part


def store(value, target, key):
    """`target[key] = value`."""
    try:
        target[key] = value
    except IndexError:
        plain = _whole_index(target, key)
        if plain is None:
            raise
        store(value, target, plain)
    except (TypeError, ValueError, OverflowError) as error:
        numpy = _numpy()
        if numpy is None or not isinstance(target, numpy.ndarray):
            raise
        plain = _whole_index(target, key) if isinstance(error, TypeError) else None
        if plain is not None:
            store(value, target, plain)
            return
        if isinstance(error, OverflowError):
            target[key] = numpy.asarray(value).astype(target.dtype)
            report.note('numpy-overflow', 'integers that do not fit wrap around, as before NumPy 2')
            return
        number = one_number(value)
        if number is None:
            raise
        target[key] = number
        report.note('numpy-scalar', 'an array with one element is a number, as before NumPy 2.4')


def narrowed(kind, value):
    """`numpy.uint8(value)` and the like of a number that does not fit."""
    try:
        return kind(value)
    except OverflowError:
        numpy = _numpy()
        if numpy is None or not (isinstance(kind, type) and issubclass(kind, numpy.integer)):
            raise
        found = numpy.asarray(value).astype(kind)
        report.note('numpy-overflow', 'integers that do not fit wrap around, as before NumPy 2')
        return found[()]


def with_integer(name, left, right):
    """`array + 300` and the like: an integer that the array's type does not hold makes it wider."""
    operation = getattr(operator, name)
    try:
        return operation(left, right)
    except OverflowError:
        numpy = _numpy()
        if numpy is None:
            raise
        wide = [_wide_enough(numpy, a, b) for a, b in ((left, right), (right, left))]
        if wide[0] is left and wide[1] is right:
            raise
        report.note('numpy-wider', 'an array and an integer that its type does not hold give a wider type, as before '
                                   'NumPy 2')
        return operation(*wide)


def _wide_enough(numpy, value, number):
    if not isinstance(number, int) or not isinstance(value, (numpy.ndarray, numpy.integer)):
        return value
    return value.astype(numpy.result_type(value.dtype, numpy.min_scalar_type(number)))


def negative(value):
    """`-value`, which inverted arrays of truth values before NumPy 1.13."""
    try:
        return -value
    except TypeError:
        numpy = _numpy()
        if numpy is None or not isinstance(value, (numpy.ndarray, numpy.bool_)) or value.dtype != bool:
            raise
        report.note('numpy-negative', '"-" of an array of truth values inverts it, as before NumPy 1.13')
        return ~value


def changed(name, value, other):
    """`value += other` and the like; before NumPy 1.10 an array of integers took the integer part of floats."""
    try:
        return getattr(operator, name)(value, other)
    except TypeError as error:
        numpy = _numpy()
        function = None if numpy is None else {'iadd': numpy.add, 'isub': numpy.subtract, 'imul': numpy.multiply}[name]
        if function is None or not isinstance(value, numpy.ndarray) or 'casting' not in str(error):
            raise
        report.note('numpy-casting', 'an array of integers is changed in place by floats, as before NumPy 1.10')
        return function(value, other, out=value, casting='unsafe')


def store_in_column(new, table, column, key):
    """`table[column][key] = new`, which has no effect on the table since pandas 3."""
    pandas = sys.modules.get('pandas')
    if pandas is not None and isinstance(table, pandas.DataFrame) and not isinstance(column, (list, slice)):
        found = table[column]
        if isinstance(found, pandas.Series):
            changed = found.copy()
            changed[key] = new
            table[column] = changed
            report.note('pandas-chained', 'table[column][rows] = values changes the table, as before pandas 3')
            return
    store(new, table[column], key)


def divided(left, right):
    """`left / right` of Python 2: integers give an integer, rounded down."""
    if isinstance(left, numbers.Integral) and isinstance(right, numbers.Integral):
        return left // right
    numpy = _numpy()
    if (
        numpy is not None
        and _is_whole(numpy, left)
        and _is_whole(numpy, right)
        and (isinstance(left, numpy.ndarray) or isinstance(right, numpy.ndarray))
    ):
        return left // right
    return left / right


def _is_whole(numpy, value):
    return isinstance(value, numbers.Integral) or isinstance(value, numpy.ndarray) and value.dtype.kind in 'biu'


def divided_in_place(left, right):
    """`left /= right` of Python 2."""
    if isinstance(left, numbers.Integral) and isinstance(right, numbers.Integral):
        return left // right
    numpy = _numpy()
    if numpy is not None and isinstance(left, numpy.ndarray) and left.dtype.kind in 'biu':
        if _is_whole(numpy, right):
            return operator.ifloordiv(left, right)
        left[...] = left / right
        return left
    return operator.itruediv(left, right)


# ---------------------------------------------------------------------- methods
def attribute(value, name):
    """`value.name`, where the name may be that of a method which is gone."""
    try:
        return getattr(value, name)
    except AttributeError:
        find = _GONE.get(name)
        found = None if find is None else find(value)
        if found is None:
            raise
        code, text, method = found
        report.note(code, text)
        return method


def new(value):
    """`value.__new__`, where that of `object` takes the arguments of `__init__`, as in Python 2."""
    found = value.__new__
    if found is not object.__new__:
        return found

    def make(kind, *args, **kwargs):
        if args or kwargs:
            report.note('python2-new', 'object.__new__ with the arguments of __init__')
        return object.__new__(kind)

    return make


def _dict_method(name, today):
    def find(value):
        if not isinstance(value, Mapping):
            return None
        text = f'dict.{name} is dict.{today}'
        if today == '__contains__':
            return f'python2-{name}', 'dict.has_key(k) is `k in d`', lambda key: key in value
        return (
            f'python2-{name}',
            text,
            (lambda: iter(getattr(value, today)())) if name.startswith('iter') else getattr(value, today),
        )

    return find


def _array_method(name, make):
    def find(value):
        numpy = _numpy()
        if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
            return None
        return f'numpy-{name}', f'the method {name} of arrays, removed in NumPy 2', make(numpy, value)

    return find


def _itemset(numpy, value):
    def itemset(*args):
        *index, new = args
        value[
            tuple(index[0])
            if len(index) == 1 and isinstance(index[0], tuple)
            else tuple(index)
            if len(index) > 1
            else numpy.unravel_index(index[0], value.shape)
            if index
            else (0,) * value.ndim
        ] = new

    return itemset


def _next(value):
    if not hasattr(value, '__next__'):
        return None
    return 'python2-next', 'iterator.next() is next(iterator)', value.__next__


def _decode(value):
    if value is not str and not isinstance(value, str):
        return None
    from . import _bytes2

    return ('python2-decode', 'str.decode: texts are Unicode already',
            _bytes2.decoded if value is str else functools.partial(_bytes2.decoded, value))


def _message(value):
    if not isinstance(value, BaseException):
        return None
    return 'python2-message', 'the attribute message of exceptions', str(value.args[0]) if len(value.args) == 1 else ''


def _of_function(today):
    def find(value):
        if today == '__func__' and isinstance(value, types.FunctionType):    # of a class, which had unbound methods
            return 'python2-__func__', 'the function of an unbound method', value
        if not hasattr(value, today):
            return None
        return (
            f'python2-{today}',
            f'attributes of functions under their names of Python 2 ({today})',
            getattr(value, today),
        )

    return find


def _thread_alive(value):
    if not hasattr(value, 'is_alive'):
        return None
    return 'python-isAlive', 'Thread.isAlive is Thread.is_alive', value.is_alive


def _lines(value):
    if not hasattr(value, 'readline'):
        return None
    return 'python2-xreadlines', 'xreadlines of files', lambda: iter(value)


def _children(value):
    if not hasattr(value, 'iter') or not hasattr(value, 'tag'):
        return None
    return 'python-getchildren', 'Element.getchildren and getiterator', lambda: list(value)


def _iterator(value):
    if not hasattr(value, 'iter'):
        return None
    return 'python-getchildren', 'Element.getchildren and getiterator', value.iter


def _to_bytes(numpy, value):
    return value.tobytes


def _tostring(value):
    found = _array_method('tostring', _to_bytes)(value)
    if found is None and hasattr(value, 'tobytes'):
        return 'python-tostring', 'tostring is tobytes', value.tobytes
    return found


def _fromstring(value):
    if not hasattr(value, 'frombytes'):
        return None
    return 'python-fromstring', 'array.fromstring is array.frombytes', value.frombytes


_GONE = {
    'iteritems': _dict_method('iteritems', 'items'),
    'iterkeys': _dict_method('iterkeys', 'keys'),
    'itervalues': _dict_method('itervalues', 'values'),
    'viewitems': _dict_method('viewitems', 'items'),
    'viewkeys': _dict_method('viewkeys', 'keys'),
    'viewvalues': _dict_method('viewvalues', 'values'),
    'has_key': _dict_method('has_key', '__contains__'),
    'next': _next,
    'decode': _decode,
    'message': _message,
    'isAlive': _thread_alive,
    'xreadlines': _lines,
    'getchildren': _children,
    'getiterator': _iterator,
    'func_name': _of_function('__name__'),
    'func_code': _of_function('__code__'),
    'func_defaults': _of_function('__defaults__'),
    'func_globals': _of_function('__globals__'),
    'im_func': _of_function('__func__'),
    'im_self': _of_function('__self__'),
    'tostring': _tostring,
    'fromstring': _fromstring,
    'itemset': _array_method('itemset', _itemset),
    'ptp': _array_method('ptp', lambda numpy, value: lambda *args, **kwargs: numpy.ptp(value, *args, **kwargs)),
    'newbyteorder': _array_method(
        'newbyteorder', lambda numpy, value: lambda order='S': value.view(value.dtype.newbyteorder(order))
    ),
}
METHODS = frozenset(_GONE)
LISTS = frozenset(('keys', 'values', 'items'))


def listed(value, name):
    """`value.keys`, `values` or `items` of Python 2: a method that gives a list."""
    method = getattr(value, name)
    if isinstance(value, Mapping):
        return lambda *args, **kwargs: list(method(*args, **kwargs))
    return table_attribute(value, name) if name == 'values' else method


def of_table(value, name, python2):
    """`value.name` in a module that imports pandas."""
    if not is_table(value):
        if python2 and name == 'sort':
            return sorting(value)
        return attribute(value, name) if name in METHODS else getattr(value, name)
    return table_attribute(value, name)


def sorting(value):
    """`value.sort` of Python 2, which takes a function that compares."""
    if not isinstance(value, list):
        return value.sort

    def sort(cmp=None, key=None, reverse=False):
        value[:] = in_order(value, cmp, key, reverse)

    return sort


def in_order(values, cmp, key, reverse):
    """`sorted` of Python 2."""
    values = list(values)
    try:
        return sorted(values, key=comparison(cmp, key), reverse=reverse)
    except TypeError:
        if cmp is not None:
            raise
        return sorted(values, key=comparison(order, key), reverse=reverse)


def comparison(cmp, key):
    """The key function for Python 2's `cmp` and `key`."""
    if cmp is None:
        return key
    made = functools.cmp_to_key(cmp)
    return made if key is None else lambda item: made(key(item))


NUMBERS = re.compile(r'%(\([^)]*\))?[-+ #0]*(\*|\d+)?(\.(\*|\d+))?[diouxXeEfFgG]')


def lenient_logging():
    """Log messages take arrays of one element as numbers: `logging.info('loss %f', array)`.

    The format and its arguments meet when a record is written, in the `logging` package, so the rewritten code of the
    program cannot do it.  `logging.setLogRecordFactory` is the hook for this.  Records that can be formatted
    as they are stay as they are, those of other libraries among them.
    """
    import logging

    before = logging.getLogRecordFactory()
    if getattr(before, '_remx', False):
        return

    def make_record(*args, **kwargs):
        record = before(*args, **kwargs)
        if isinstance(record.args, tuple) and any(one_number(a) is not None for a in record.args):
            try:
                record.getMessage()
            except TypeError:
                record.args = tuple(a if one_number(a) is None else one_number(a) for a in record.args)
        return record

    make_record._remx = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(make_record)
