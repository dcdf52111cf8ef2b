"""Errors for arguments of a wrong kind: they name the function, the argument, what was given and what is accepted.

Functions do not check every argument. Without a check, Python itself complains somewhere inside, in terms of our code:
`'int' object has no attribute 'save'`. `explain_kinds` wraps functions, constructors and methods that programs call
seldom: when such a complaint comes out of a call, the arguments are compared with the annotations of the function, and
the error names the one that does not fit. Where an annotation accepts everything, the complaint itself tells what was
needed. A call that succeeds is not slowed down by checks.
"""
import functools
import re
import struct
import types
from typing import Any

__all__ = ['CAUGHT', 'check_kept', 'complaint', 'explain_kinds', 'explain_methods', 'explanation', 'kind_of', 'pair',
           'shown']


def kind_of(value):
    """How an error calls the kind of a value: 'None', 'a list', 'a numpy.ndarray of shape (2, 3)'.

    A value of another array library is called by the module that programs import, and its shape helps to find it.
    """
    if value is None:
        return 'None'
    if isinstance(value, type):
        return f'the class {value.__name__}'
    cls = type(value)
    module = cls.__module__.partition('.')[0]
    name = cls.__name__ if module in ('builtins', '__main__', 'mxnet') else f'{module}.{cls.__name__}'
    shape = getattr(value, 'shape', None)
    shown = f' of shape {tuple(shape)}' if module in ('numpy', 'torch') and isinstance(shape, tuple) else ''
    if isinstance(value, (str, int, float)):
        return f'the {name} {value!r}'
    spelt = name[:2].isupper() and name[0] in 'AEFHILMNORSX'        # an LSTM, an NDArray, but a GRU
    return f'{"an" if spelt or name[0] in "aeiouAEIOU" else "a"} {name}{shown}'


# What Python says when a value of a wrong kind reaches an operation. Messages of ours have other words.
_PYTHON = re.compile(
    r"object has no attribute|object cannot be interpreted as an integer|object is not iterable"
    r"|object is not subscriptable|object is not callable|unsupported operand type|bad operand type"
    r"|not supported between instances|has no len\(\)|must be real number"
    r"|invalid literal for int|could not convert string to float|can only concatenate|unhashable type"
    r"|expected str, bytes or os\.PathLike|path should be string|str expected, not|expected string or bytes-like"
    r"|values to unpack|indices must be integers|argument must be a string|not a (sequence|mapping)|can't multiply"
    r"|index out of range|int too (big|large) to convert|cannot fit 'int'|first argument must be string|can't mix str"
    r"|does not support item assignment|Can't mix strings", re.IGNORECASE)
# not StopIteration, which ends loops, and not warnings and errors of the system
CAUGHT = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError, MemoryError, RuntimeError, struct.error)

# What was needed, by what Python says of a value, where no annotation tells.
_NEEDED = (
    (re.compile(r"'([\w.]+)' object is not callable"), 'a function'),
    (re.compile(r"'([\w.]+)' object is not iterable"), 'a list or another iterable'),
    (re.compile(r"'([\w.]+)' object is not subscriptable"), 'a list or tuple'),
    (re.compile(r"object of type '([\w.]+)' has no len\(\)"), 'a list or tuple'),
    (re.compile(r"unhashable type: '([\w.]+)'"), 'a name or a number'),
    (re.compile(r"'([\w.]+)' object is not a mapping"), 'a dict'),
    (re.compile(r"'([\w.]+)' object cannot be interpreted as an integer"), 'an int'),
)
# ... by the attribute that was looked up
_ATTRIBUTES = {
    'items': 'a dict', 'values': 'a dict', 'keys': 'a dict', 'shape': 'an NDArray', 'dtype': 'an NDArray',
    'context': 'an NDArray', 'stype': 'an NDArray', 'copyto': 'an NDArray', 'reset': 'a DataIter', 'find': 'a str',
    'startswith': 'a str', 'endswith': 'a str', 'split': 'a str', 'update_dict': 'a metric of mx.metric',
    'save_checkpoint': 'a Module', 'device_typeid': 'a Context, such as mx.cpu() or mx.gpu(0)',
    'device_id': 'a Context, such as mx.cpu() or mx.gpu(0)', 'arg_dict': 'an Executor', 'data': 'a DataBatch',
}

_NUMBERS = (int, float)
_GENERATOR = 0x20               # of the flags of a code object


def _is_int(value):
    return hasattr(value, '__index__')


def _is_number(value):
    return isinstance(value, _NUMBERS) or hasattr(value, '__float__')


def _is_path(value):
    return isinstance(value, (str, bytes)) or hasattr(value, '__fspath__')


def _is_sequence(value):
    return hasattr(value, '__len__') and hasattr(value, '__getitem__') and not isinstance(value, (str, bytes, type))


def _is_listed(value):
    return hasattr(value, '__iter__') and not isinstance(value, (str, bytes, type))


def _is_mapping(value):
    return hasattr(value, 'keys') and hasattr(value, '__getitem__') and not isinstance(value, type)


def _is_shape(value):
    return _is_int(value) or _is_sequence(value) and all(map(_is_int, value))


def _derives(name):
    """A check for a class of ours, by its name: it is not imported for an error."""
    return lambda value: any(base.__name__ == name for base in type(value).__mro__)


# An annotation without its parameters -> (check, how an error says it). Others accept everything.
_ANNOTATIONS: dict[str, tuple[Any, str]] = {
    'int': (_is_int, 'an int'), 'float': (_is_number, 'a number'), 'bool': (_is_int, 'True or False'),
    'str': (lambda value: isinstance(value, str), 'a str'),
    'bytes': (lambda value: isinstance(value, (bytes, bytearray, memoryview)), 'bytes'),
    'Path': (_is_path, 'a file name (str or os.PathLike)'),
    'Shape': (_is_shape, 'an int or a tuple of ints'),
    'Sequence': (_is_sequence, 'a list or tuple'), 'list': (_is_sequence, 'a list'),
    'tuple': (_is_sequence, 'a tuple'), 'Iterable': (_is_listed, 'a list or another iterable'),
    'Mapping': (_is_mapping, 'a dict'), 'dict': (_is_mapping, 'a dict'),
    'Callable': (callable, 'a function'), 'Callback': (callable, 'a function'),
    'Callbacks': (lambda value: callable(value) or _is_sequence(value) and all(map(callable, value)),
                  'a function or a list of them'),
    'NDArray': (_derives('NDArrayBase'), 'an NDArray'), 'Symbol': (_derives('Symbol'), 'a Symbol'),
    'Arrays': (lambda value: _any_of(value, _derives('NDArrayBase')), 'an NDArray or a list of them'),
    'Context': (_derives('Context'), 'a Context, such as mx.cpu() or mx.gpu(0)'),
    'Contexts': (lambda value: _any_of(value, _derives('Context')),
                 'a Context, such as mx.cpu() or mx.gpu(0), or a list of them'),
    'Init': (lambda value: isinstance(value, str) or _derives('Initializer')(value),
             'an initializer of mx.init or the name of one'),
    'Metric': (lambda value: isinstance(value, str) or callable(value) or _is_sequence(value)
               or _derives('EvalMetric')(value), 'a metric of mx.metric, its name, a function or a list of these'),
    'Optimizer': (_derives('Optimizer'), 'an Optimizer, such as mx.optimizer.create("sgd")'),
    'BaseRNNCell': (_derives('BaseRNNCell'), 'a cell of mx.rnn, such as mx.rnn.LSTMCell(8)'),
    'Block': (_derives('Block'), 'a Block'), 'HybridBlock': (_derives('HybridBlock'), 'a HybridBlock'),
    'Initializer': (_derives('Initializer'), 'an initializer of mx.init'),
    'Domain': (_derives('Domain'), 'a profiler.Domain'),
    'ParameterDict': (_derives('ParameterDict'), 'a ParameterDict'),
    'EvalMetric': (_derives('EvalMetric'), 'a metric, such as mx.metric.Accuracy()'),
    'DataIter': (_derives('DataIter'), 'a DataIter, such as mx.io.NDArrayIter(x, y, batch_size)'),
    'DataBatch': (_derives('DataBatch'), 'a mx.io.DataBatch'),
    'Monitor': (_derives('Monitor'), 'a mx.mon.Monitor'), 'Executor': (_derives('Executor'), 'an Executor'),
}
_ELEMENTS = {'int': (_is_int, 'ints'), 'float': (_is_number, 'numbers'), 'str': (_ANNOTATIONS['str'][0], 'str'),
             'NDArray': (_derives('NDArrayBase'), 'NDArrays'), 'Symbol': (_derives('Symbol'), 'Symbols')}


def _any_of(value, check):
    return check(value) or _is_sequence(value) and len(value) > 0 and all(map(check, value))


@functools.lru_cache(512)
def _accepted(annotation):
    """[(check, words), ...] of an annotation as text; None if it accepts everything, or is not one of the known ones.

    Names are compared without their modules.  A union inside of brackets (`Sequence[int | str]`) is not known.
    """
    found: list[tuple[Any, str]] = []
    for part in _divided(annotation, ' | '):
        name, _, rest = part.partition('[')
        name = name.rpartition('.')[2]
        if part == 'None':
            found.append((lambda value: value is None, 'None'))
        elif name in _ANNOTATIONS:
            inner = _divided(rest[:-1], ', ') if rest else []
            found.append(_part(name, [i if i == '...' else i.rpartition('.')[2] for i in inner]))
        else:
            return None
    return found


def _divided(text, mark):
    """The parts of an annotation, divided at a mark that is not in brackets."""
    parts, depth = [''], 0
    for piece in re.split(f'({re.escape(mark)}|[][])', text):
        depth += (piece == '[') - (piece == ']')
        if piece == mark and not depth:
            parts.append('')
        else:
            parts[-1] += piece
    return parts


def _part(name, inner):
    check, words = _ANNOTATIONS[name]
    element = _ELEMENTS.get(inner[-1 if name in ('Mapping', 'dict') else 0]) if inner else None
    if element is None:
        return check, words
    if name == 'tuple' and '...' not in inner:
        # all elements of a tuple[int, int] are ints; those of a tuple[int, str] are not alike
        return (_of(check, element[0], len(inner)), f'{words} of {len(inner)} {element[1]}') if len(set(inner)) == 1 \
            else (check, words)
    if name in ('Sequence', 'list', 'tuple', 'Iterable'):
        return _of(check, element[0]), f'{words} of {element[1]}'
    if name in ('Mapping', 'dict') and inner[0] == 'str' and inner[-1] in ('NDArray', 'Symbol'):
        return (lambda value: check(value) and all(isinstance(k, str) and element[0](value[k]) for k in value.keys()),
                f'{words} of names and {element[1]}')
    return check, words


def _of(check, element, count=None):
    """A check of a container and its elements; what can be read only once, or has no end, is not read."""
    return lambda value: check(value) and (not _is_sequence(value) or
                                           (count is None or len(value) == count) and all(map(element, value)))


def complaint(function, what, args, kwargs, error):
    """The error for the first argument that does not have the kind of its annotation; None if all have.

    `what` is the name of the function for the message, `error` what came out of the call: None is returned for a text
    that is not Python's. An argument without annotation is wrong when the error is about an attribute that it does not
    have.
    """
    import inspect

    if not (_PYTHON.search(str(error)) or type(error) in (KeyError, IndexError)):
        return None
    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return None
    open_ones = []
    for name, value in given.items():
        parameter = signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name in ('self', 'cls') \
                or value is parameter.default:
            continue
        if _accepted(_text(parameter.annotation)) is None:
            open_ones.append((name, value, parameter.annotation is parameter.empty))
        elif (found := _misfit(what, name, value, parameter.annotation)) is not None:
            return found
    return _needed(what, open_ones, error)


def _text(annotation):
    """An annotation as text; modules that do not postpone them have types."""
    import inspect
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _misfit(what, name, value, annotation):
    """The error for a value that does not have the kind of an annotation; None if it has, or if that is unknown."""
    accepted = _accepted(_text(annotation))
    if accepted is None or any(check(value) for check, _ in accepted):
        return None
    *words, last = [words for _, words in accepted if words != 'None'] or ['None']
    wanted = f'{", ".join(words)} or {last}' if words else last
    return TypeError(f'{what}: {name} must be {wanted}, not {shown(value)}')


def _needed(what, given, error):
    """The error for the argument that Python complains of, of those without a known annotation; None if unknown."""
    if isinstance(error, AttributeError):
        for name, value, bare in given:
            if error.obj is value and (value is not None or [v for _, v, _ in given].count(None) == 1):
                hint = '; mx.np.array(x) converts it' if bare and isinstance(value, (int, float, list, tuple)) else ''
                wanted = 'an array' if bare else _ATTRIBUTES.get(error.name or '')
                return TypeError(f'{what}: {name} must be {wanted}, not {shown(value)}{hint}' if wanted else
                                 f'{what}: {name} cannot be {shown(value)}')
    for pattern, wanted in _NEEDED:
        found = pattern.match(str(error))
        fitting = [(name, value) for name, value, _ in given if type(value).__name__ == found[1].rpartition('.')[2]] \
            if found else []
        if len(fitting) == 1:
            return TypeError(f'{what}: {fitting[0][0]} must be {wanted}, not {shown(fitting[0][1])}')
    return None


def shown(value):
    """A value for an error: itself where it is short, else its kind."""
    text = kind_of(value)
    if isinstance(value, (list, tuple, dict)) and value and len(repr(value)) <= 40:
        text = repr(value)
    return text


def explanation(function, what, args, kwargs, error):
    """The error to raise instead of one that a function raised.

    It is that itself where it speaks of what the program gave, or where a function of the program failed.

    For functions that are too quick for a wrapper (`explained`), which catch `CAUGHT` themselves.
    """
    from . import _internal_errors

    found = complaint(function, what, args, kwargs, error)
    if found is None and _internal_errors.is_internal(error):
        found = _internal_errors.reworded(function, what, args, kwargs, error)
    return error if found is None else found


def explained(function, what):
    """The function, with errors that name an argument of a wrong kind.  `what` is its name; '' for a method."""
    def name_of(args):
        return what or (f'{type(args[0]).__name__}.{function.__name__}' if args else function.__qualname__)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except CAUGHT as error:
            found = explanation(function, name_of(args), args, kwargs, error)
            if found is error:
                raise
        raise found

    @functools.wraps(function)
    def generate(*args, **kwargs):
        try:
            yield from function(*args, **kwargs)
            return
        except CAUGHT as error:
            found = explanation(function, name_of(args), args, kwargs, error)
            if found is error:
                raise
        raise found

    return generate if function.__code__.co_flags & _GENERATOR else call


def explain_kinds(namespace, names):
    """Wraps functions, and the constructors of classes, of a module's namespace.

    Not for functions that run in every step of a training loop: the wrapper costs a call.
    """
    wrapped: dict = {}          # a function may have two names
    for name in names:
        found = namespace.get(name)
        if isinstance(found, types.FunctionType):
            wrapped[found] = namespace[name] = wrapped.get(found) or explained(found, name)
        elif isinstance(found, type) and not issubclass(found, (tuple, BaseException)) and '__init__' in vars(found) \
                and not hasattr(found.__init__, '_explains'):
            found.__init__ = explained(found.__init__, found.__name__)      # type: ignore[method-assign]


def explain_methods(cls, names):
    """Wraps the methods of a class that have these names.

    Methods that run in every step (`forward`, `update`, `push`) check their arguments themselves.
    """
    for name in names.split():
        found = vars(cls)[name]
        if isinstance(found, (staticmethod, classmethod)):
            setattr(cls, name, type(found)(explained(found.__func__, f'{cls.__name__}.{name}')))
        else:
            setattr(cls, name, explained(found, ''))


def check_kept(cls, names):
    """Arguments with these names, which the constructor of a class only keeps, are checked when it has run.

    Otherwise the error comes when they are used, in another place of the program.
    """
    import inspect

    init = cls.__init__
    signature = inspect.signature(init)
    kept = [(name, signature.parameters[name]) for name in names.split()]

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        init(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs).arguments
        for name, parameter in kept:
            if name in given and given[name] is not parameter.default:
                found = _misfit(type(self).__name__, name, given[name], parameter.annotation)
                if found is not None:
                    raise found

    __init__._explains = True           # type: ignore[attr-defined]  # looked up by name
    cls.__init__ = __init__


def pair(result, what, wanted):
    """Both parts of what a function of a program returned; `what` names the function."""
    try:
        first, second = result
    except (TypeError, ValueError):
        shown = f'{len(result)} values' if isinstance(result, (list, tuple)) else kind_of(result)
        raise ValueError(f'{what} must return {wanted}, but returned {shown}') from None
    return first, second
