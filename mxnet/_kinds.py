"""Errors for arguments of a wrong kind: they name the function, the argument, what was given and what is accepted.

Functions do not check every argument. Without a check, Python itself complains somewhere inside, in terms of our code:
`'int' object has no attribute 'save'`. `explain_kinds` wraps functions that programs call seldom: when such a complaint
comes out of a call, the arguments are compared with the annotations of the function, and the error names the one that
does not fit. A call that succeeds is not slowed down by checks.
"""
import functools
import re
import types
from typing import Any

__all__ = ['complaint', 'explain_kinds', 'kind_of', 'pair']


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
    r"|values to unpack|indices must be integers|argument must be a string|not a (sequence|mapping)|can't multiply")
_CAUGHT = (TypeError, AttributeError, ValueError)

_NUMBERS = (int, float)


def _is_int(value):
    return hasattr(value, '__index__')


def _is_number(value):
    return isinstance(value, _NUMBERS) or hasattr(value, '__float__')


def _is_path(value):
    return isinstance(value, (str, bytes)) or hasattr(value, '__fspath__')


def _is_sequence(value):
    return hasattr(value, '__len__') and hasattr(value, '__getitem__') and not isinstance(value, (str, bytes))


def _is_listed(value):
    return hasattr(value, '__iter__') and not isinstance(value, (str, bytes))


def _is_mapping(value):
    return hasattr(value, 'keys') and hasattr(value, '__getitem__')


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
    'Callable': (callable, 'a function'),
    'NDArray': (_derives('NDArrayBase'), 'an NDArray'), 'Symbol': (_derives('Symbol'), 'a Symbol'),
    'Context': (_derives('Context'), 'a Context, such as mx.cpu() or mx.gpu(0)'),
    'Optimizer': (_derives('Optimizer'), 'an Optimizer, such as mx.optimizer.create("sgd")'),
    'BaseRNNCell': (_derives('BaseRNNCell'), 'a cell of mx.rnn, such as mx.rnn.LSTMCell(8)'),
    'Block': (_derives('Block'), 'a Block'), 'HybridBlock': (_derives('HybridBlock'), 'a HybridBlock'),
    'Initializer': (_derives('Initializer'), 'an initializer of mx.init'),
    'Domain': (_derives('Domain'), 'a profiler.Domain'),
    'ParameterDict': (_derives('ParameterDict'), 'a ParameterDict'),
}
_ELEMENTS = {'int': (_is_int, 'ints'), 'float': (_is_number, 'numbers'), 'str': (_ANNOTATIONS['str'][0], 'str')}


@functools.lru_cache(512)
def _accepted(annotation):
    """[(check, words), ...] of an annotation as text; None if it accepts everything, or is not one of the known ones.

    Names are compared without their modules.  A union inside of brackets (`Sequence[int | str]`) is not known.
    """
    found: list[tuple[Any, str]] = []
    for part in annotation.split(' | '):
        name, _, rest = part.partition('[')
        name = name.rpartition('.')[2]
        if part == 'None':
            found.append((lambda value: value is None, 'None'))
        elif name in _ANNOTATIONS and rest.count('[') == 0:
            check, words = _ANNOTATIONS[name]
            inside = rest.removesuffix(']')
            # all elements of a tuple[int, ...] are ints; those of a tuple[int, str] are not alike
            elements = _ELEMENTS.get(inside.removesuffix(', ...') if name == 'tuple' else inside)
            if elements is not None and name in ('Sequence', 'list', 'tuple', 'Iterable'):
                check, words = _of(check, elements[0]), f'{words} of {elements[1]}'
            found.append((check, words))
        else:
            return None
    return found


def _of(check, element):
    """A check of a container and its elements; what can be read only once, or has no end, is not read."""
    return lambda value: check(value) and (not _is_sequence(value) or all(map(element, value)))


def complaint(function, what, args, kwargs, error):
    """The error for the first argument that does not have the kind of its annotation; None if all have.

    `what` is the name of the function for the message, `error` what came out of the call: None is returned for a text
    that is not Python's. An argument without annotation is wrong when the error is about an attribute that it does not
    have.
    """
    import inspect

    if not _PYTHON.search(str(error)):
        return None
    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return None
    for name, value in given.items():
        parameter = signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name == 'self' \
                or value is parameter.default:
            continue
        annotation = parameter.annotation           # text, or a type in a module that does not postpone them
        accepted = _accepted(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))
        if accepted is not None and not any(check(value) for check, _ in accepted):
            *words, last = [words for _, words in accepted if words != 'None'] or ['None']
            wanted = f'{", ".join(words)} or {last}' if words else last
            return TypeError(f'{what}: {name} must be {wanted}, not {_shown(value)}')
        if parameter.annotation is parameter.empty and isinstance(error, AttributeError) and error.obj is value:
            hint = '; mx.np.array(x) converts it' if isinstance(value, (int, float, list, tuple)) else ''
            return TypeError(f'{what}: {name} must be an array, not {_shown(value)}{hint}')
    return None


def _shown(value):
    text = kind_of(value)
    if isinstance(value, (list, tuple, dict)) and value and len(repr(value)) <= 40:
        text = repr(value)
    return text


def explained(function, what=None):
    """The function, with errors that name an argument of a wrong kind."""
    what = what or function.__name__

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except _CAUGHT as error:
            found = complaint(function, what, args, kwargs, error)
            if found is None:
                raise
        raise found

    return call


def explain_kinds(namespace, names):
    """Wraps functions, and the constructors of classes, of a module's namespace.

    Not for functions that run in every step of a training loop: the wrapper costs a call.
    """
    for name in names:
        found = namespace.get(name)
        if isinstance(found, types.FunctionType):
            namespace[name] = explained(found)
        elif isinstance(found, type) and not issubclass(found, (tuple, BaseException)) and '__init__' in vars(found) \
                and not hasattr(found.__init__, '_explains'):
            found.__init__ = explained(found.__init__, found.__name__)      # type: ignore[method-assign]


def pair(result, what, wanted):
    """Both parts of what a function of a program returned; `what` names the function."""
    try:
        first, second = result
    except (TypeError, ValueError):
        shown = f'{len(result)} values' if isinstance(result, (list, tuple)) else kind_of(result)
        raise ValueError(f'{what} must return {wanted}, but returned {shown}') from None
    return first, second
