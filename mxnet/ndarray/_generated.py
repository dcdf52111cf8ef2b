"""Functions and methods of operators, generated from one template.

A call whose arguments are plain arrays and plain attribute values goes from the program to the kernel with one look-up:
a generated function has the operator's own parameters, makes a key of its attributes and finds the bound call, which
holds the kernel with its attributes.  Everything else (`out=`, unknown arguments, lists as attributes, mistakes)
goes to `_invoke.call`, which binds and parses each time and words errors.  If anything raises on the short way, the
call is made again on the general one.

What a bound call depends on, all of it in the key:

- the values of the attributes and their types, since True == 1 == 1.0.  A tuple must be the very object of the call
  that was bound, as a literal in a loop is; for an equal one, the types of its elements are part of the key;
- which optional inputs there are;
- the train mode, where the operator asks for it.

The kernel looks at dtypes, devices and shapes itself; the context is that of the first input; interceptors, recording,
sparse and pending inputs are tested in each call.  Values that are equal but not the same have no bound call: floats of
value 0 (0.0 == -0.0), and types other than numbers, texts, dtypes, None and tuples of these.

The code of a function is compiled when it is first called: hundreds of functions would make `import mxnet` slower.  The
function stays the same object.
"""
import keyword
from functools import partial
from operator import is_
from types import FunctionType
from typing import Any
from weakref import ref

import numpy

from .._array import NDArrayBase, owned, owned_apart, wrap
from .._cache import Cache
from .._dispatch import interceptors
from .._frontend.binding import _Null, by_order, missing_inputs
from .._frontend.signature import docstring, signature
from .._ops._eager import specialize
from .._ops.core.gradients import depends, linked
from .._ops.core.late_reads import check_late
from .._ops.core.table import Operator
from .._provenance import record_results, source
from .._state import state
from ._invoke import call, run

LIMIT = 256                     # bound calls that are kept per operator

_new = object.__new__
_NUMBERS = (int, float, bool, str, type(None))


# ---------------------------------------------------------------------- bound calls
def _is_plain(value):
    """Whether a value of this type that compares equal is the same attribute."""
    kind = type(value)
    if kind is tuple:
        return all(type(v) is not tuple and _is_plain(v) for v in value)
    if kind is float:
        return value != 0
    return kind in _NUMBERS or kind is type or isinstance(value, numpy.dtype) \
        or isinstance(value, numpy.generic) and (value != 0 or isinstance(value, (numpy.integer, numpy.bool_)))


def _nothing(*tensors):
    """The kernel of calls that `run` makes."""
    return None


def bind_call(op: Operator, known: dict, key, inputs, attributes):
    """Makes the bound call of a key.

    -> (kernel, does it give new memory, both while recording, number of the input that the gradient reads late,
    parsed attributes, tuples among the attributes)
    """
    given = {name: value for name, value in attributes.items() if value is not _Null}
    if not all(map(_is_plain, given.values())):
        raise TypeError
    for x in inputs:
        if not isinstance(x, NDArrayBase) and (x is not None or op.variadic is not None):
            raise TypeError
    if op.variadic is not None:
        if not inputs:
            raise TypeError
        if op.variadic in op.attributes:
            given.setdefault(op.variadic, len(inputs))
    parsed = op.parse(given) if given or op.has_required else {}
    inputs = trimmed(inputs)
    if op.optional and not all(map(is_, by_order(op, list(inputs), parsed), inputs)):
        raise TypeError
    if (op.optional or len(inputs) < len(op.inputs)) and missing_inputs(op, list(inputs), parsed) is not None:
        raise TypeError
    entry = (*_kernels(op, parsed), parsed, tuple([attributes[n] for n in _tuple_names(op, attributes)]))
    known[key] = entry
    return entry


def _tuple_names(op, names):
    """The attributes that may be tuples."""
    return [n for n in names if op.attributes[n].kind.takes_tuples]


def retyped(op: Operator, known: dict, key, inputs, attributes):
    """The bound call for tuples that are equal to those of another call and not the same objects.

    Its key has the types of what is in them.
    """
    values = [attributes[n] for n in _tuple_names(op, attributes)]
    key = (key, *[tuple(map(type, v)) if type(v) is tuple else type(v) for v in values])
    return known.get(key) or bind_call(op, known, key, inputs, attributes)


def _kernels(op, parsed):
    extra = {'training': state.training} if op.wants_training else {}
    general: Any = partial(op.function, **parsed, **extra) if parsed or extra else op.function
    is_plain = not (op.mutates or op.wants_rng or op.wants_device or op.wants_subgraphs or op.wants_site
                    or op.extra is not None)
    found = specialize(op, op.complete(parsed), state.training, general)
    if op.variadic is not None:
        general = partial(_spread, general)
    kernel, fresh = (general, op.fresh) if is_plain else (_nothing, True)
    if found is None:
        return kernel, fresh, kernel, fresh, None
    special, special_fresh, differentiable, *late = found
    if differentiable:
        return special, special_fresh, special, special_fresh, late[0] if late else None
    return special, special_fresh, partial(_by_gradient, special, kernel), special_fresh and fresh, None


def _by_gradient(special, kernel, *tensors):
    """The kernel of recorded calls whose gradient is not that of `special`: it matters if an input has one."""
    for t in tensors:
        if t is not None and t.requires_grad:
            return kernel(*tensors)
    return special(*tensors)


def _spread(kernel, tensors):
    return kernel(*tensors)


def trimmed(inputs):
    """Inputs without those that are absent at the end."""
    count = len(inputs)
    while count and inputs[count - 1] is None:
        count -= 1
    return inputs[:count]


def slow(op: Operator, names, values, more, out, name, kwargs, cls):
    """The general call, from the parameters of a generated function."""
    if more:
        return call(op, (*values, out, name, *more), kwargs, cls)
    given = {n: v for n, v in zip(names, values, strict=True)
             if v is not _Null and (v is not None or n in op.attributes)}
    if out is not None:
        given['out'] = out
    return call(op, (), {**given, **kwargs}, cls)


def _slow_variadic(op, data, given, out, kwargs, cls):
    given = {n: v for n, v in given.items() if v is not _Null}
    if out is not None:
        given['out'] = out
    return call(op, data, {**given, **kwargs}, cls)


def several(op, inputs, tensors, results, given, recording, ctx, cls):
    """The arrays of a call with several results."""
    found = owned_apart(results, tensors)
    if recording and depends(tensors):
        found = [linked(r, tensors) for r in found]
    found = [wrap(r if recording or not r.requires_grad else r.detach(), ctx, cls) for r in found]
    if recording:
        record_results(op, given, inputs, found)
    return found if len(found) != 1 else found[0]


def sources(inputs):
    return tuple([x._variable or source(x) for x in inputs if x is not None])


def mixed_dtypes(tensors):
    """Whether tensors have several dtypes."""
    first = tensors[0].dtype
    for t in tensors:
        if t.dtype is not first:
            return True
    return False


# ---------------------------------------------------------------------- the template
_HEAD = '''\
def {name}({parameters}):
    if not _interceptors and out is None and not _kwargs{no_more}:
        try:
            {prepare}
            _kernel, _fresh, _recorded, _recorded_fresh, _late, _given, _same = \\
                _known.get(_key := ({key})) or _bind_call(_key, {inputs}, {attributes})
            {retype}
            {reads}
            _recording = _state.recording
            if {absent}:
                _result = None              # sparse or pending
            elif _recording:
                {leaves}
                _result = {mixed}_recorded({tensors})
                _fresh = _recorded_fresh
            else:
                _result = {mixed}_kernel({tensors})
        except Exception:
            pass                        # the general call raises the error with names and shapes
        else:
            if _result is None:
                return _run(_op, {present}, _given, None, {cls})
            if not _fresh:
                try:
                    if _result.__class__ is tuple or _result.__class__ is list:
                        return _several(_op, {present}, {listed}, _result, _given, _recording, {first}._ctx, {cls})
                    if _result._base is not None or _result is {first_tensor} or not _result.is_contiguous():
                        _result = _owned(_result, {listed})
                except (RuntimeError, MemoryError):         # a view that does not fit into memory as an array
                    return {slow}
            _differentiable = _result.requires_grad
            if _recording:
                if _differentiable:
                    if _late is not None:
                        _check_late(_result, ({tensors},)[_late])
                elif {dependent}:
                    _result, _differentiable = _linked(_result, {listed}), True
                if _differentiable:
                    _result._provenance = (_op, _given, {sources}, 0, (_ref(_result),), ())
            elif _differentiable:
                _result = _result.detach()
            _array = _new({cls})
            _array._storage = _result
            _array._ctx = {first}._ctx
            _array._variable = None
            _array._pending = None
            return _array
    return {slow}
'''


def _keys(names):
    """The part of the key that attributes have."""
    return [f'{name}, {name}.__class__' for name in names]


def _retype(op, names, inputs, attributes):
    """Looks again where an equal tuple is another object: what is in it may have other types."""
    tests = [f'{n} is not _same[{i}]' for i, n in enumerate(_tuple_names(op, names))]
    if not tests:
        return 'pass'
    return (f'if {" or ".join(tests)}: _kernel, _fresh, _recorded, _recorded_fresh, _late, _given, _same = '
            f'_retyped(_key, {inputs}, {attributes})')


def _source(op: Operator, name: str, is_method: bool):
    """The text of a function, and the names of its positional parameters."""
    cls = 'self._dense' if is_method else '_cls'
    if op.variadic is not None:
        return _variadic_source(op, name, cls), None
    names = list(op.positional)
    first = op.inputs[0]
    shown = {n: n for n in names}
    if is_method:
        names.remove(first)
        names.insert(0, first)
        shown[first] = 'self'
    inputs, attributes = [shown[n] for n in op.inputs], [n for n in names if n in op.attributes]
    optional = {shown[n] for n in op.inputs if n in op.optional}
    tensors = [f'_t{i}' for i in range(len(inputs))]

    checked = [t for n, t in zip(op.inputs, tensors, strict=True) if n in op.same_dtype or op.same_dtype == ('*',)]
    pairs = [(f'{b} is not None and ' if inputs[tensors.index(b)] in optional else '')
             + f'{checked[0]}.dtype is not {b}.dtype' for b in checked[1:]]
    key = [f'{x} is None' for x in inputs if x in optional] + _keys(attributes)
    given = '{' + ', '.join(f'{n!r}: {n}' for n in attributes) + '}'
    if op.wants_training:
        key.append('_state.training')
    listed = f'({", ".join(inputs)},)'
    both = list(zip(inputs, tensors, strict=True))
    found = '{x}._variable or getattr({t}, \'_provenance\', None) or (_source({x}) if {t}.requires_grad else _ref({x}))'
    noted = '(' + ''.join(found.format(x=x, t=t) + ', ' for x, t in both if x not in optional) + ')' + ''.join(
        f' + (() if {x} is None else ({found.format(x=x, t=t)},))' for x, t in both if x in optional)
    reads = [f'{t} = ' + (f'None if {x} is None else ' if x in optional else '') + f'{x}._storage' for x, t in both]
    leaves = ['if ' + (f'{x} is not None and ' if x in optional else '')
              + f'{x}._variable is not None: {t} = {x}._variable.leaf' for x, t in both]
    absent = [f'{t} is None' + (f' and {x} is not None' if x in optional else '') for x, t in both]
    parts = {
        'name': name, 'cls': cls, 'no_more': ' and not _more', 'prepare': 'pass',
        'parameters': ', '.join([*(shown[n] for n in names), 'out', 'name', '*_more', '**_kwargs']),
        'key': ', '.join(key) + (',' if key else ''), 'inputs': listed,
        'attributes': given, 'retype': _retype(op, attributes, listed, given),
        'absent': ' or '.join(absent), 'reads': '; '.join(reads), 'leaves': ('\n' + ' ' * 16).join(leaves),
        'dependent': f'_depends(({", ".join(tensors)},))',
        'mixed': f'None if {" or ".join(pairs)} else ' if pairs else '', 'tensors': ', '.join(tensors),
        'present': f'_trimmed({listed})' if optional else listed, 'listed': f'({", ".join(tensors)},)',
        'first': inputs[0], 'first_tensor': '_t0', 'sources': noted,
        'slow': f'_slow(_op, _names, ({", ".join(shown[n] for n in names)},), _more, out, name, _kwargs, {cls})',
    }
    return _HEAD.format(**parts), names


def _variadic_source(op, name, cls):
    attributes = list(op.attributes)
    key = ['len(_data)', *_keys(attributes)]
    given = '{' + ', '.join(f'{n!r}: {n}' for n in attributes) + '}'
    return _HEAD.format(
        name=name, cls=cls, no_more='',
        parameters=', '.join(['*_data', *attributes, 'out', 'name', '**_kwargs']),
        prepare='if len(_data) == 1 and (_data[0].__class__ is list or _data[0].__class__ is tuple): '
                '_data = tuple(_data[0])',
        key=', '.join(key), inputs='_data', attributes=given, retype=_retype(op, attributes, '_data', given),
        reads='_tensors = [x._storage for x in _data]', absent='True in [t is None for t in _tensors]',
        leaves='_tensors = [x._storage if x._variable is None else x._variable.leaf for x in _data]',
        dependent='_depends(_tensors)',
        mixed='None if _mixed_dtypes(_tensors) else ' if op.same_dtype else '', tensors='_tensors', present='_data',
        listed='_tensors', first='_data[0]', first_tensor='_tensors[0]', sources='_sources(_data)',
        slow=f'_slow_variadic(_op, _data, {given}, out, _kwargs, {cls})')


_FILE = __file__ + ' (generated)'
_RESERVED = {'out', 'name', 'self', 'getattr', 'len', 'tuple', 'map', 'type', 'list'}


def has_template(op):
    """Whether an operator's parameters fit into the template."""
    names = [*op.inputs, *op.attributes]
    if op.extra is not None or any(not n.isidentifier() or keyword.iskeyword(n) or n in _RESERVED for n in names):
        return False
    if op.variadic is not None:
        return not op.mutates
    return bool(op.inputs) and set(op.inputs) <= set(op.positional) and not callable(op.mutates)


_SHARED = {
    '__name__': 'mxnet.ndarray._invoke', '_interceptors': interceptors, '_state': state, '_run': run, '_slow': slow,
    '_slow_variadic': _slow_variadic, '_several': several, '_owned': owned, '_ref': ref, '_source': source,
    '_sources': sources, '_new': _new, '_trimmed': trimmed, '_mixed_dtypes': mixed_dtypes, '_check_late': check_late,
    '_linked': linked, '_depends': depends,
}



def _stub(*args, **kwargs):
    # a global of the generated function
    return _first_call(args, kwargs)            # type: ignore[name-defined]  # noqa: F821


def make(op: Operator, name: str, cls: type | None) -> Any:
    """The function of an operator on arrays of type `cls`; without it, the method of arrays."""
    if not has_template(op):
        if cls is None:
            return lambda self, *args, **kwargs: call(op, (self, *args), kwargs, self._dense)
        return lambda *args, **kwargs: call(op, args, kwargs, cls)
    known: Cache = Cache(LIMIT)
    scope = {**_SHARED, '_op': op, '_cls': cls, '_known': known, '_bind_call': partial(bind_call, op, known),
             '_retyped': partial(retyped, op, known)}
    function: Any = FunctionType(_stub.__code__, scope, name)
    if op.variadic is not None:
        function.__kwdefaults__ = {**dict.fromkeys(op.attributes, _Null), 'out': None, 'name': None}
    else:
        order = [n for n in op.positional if cls is not None or n != op.inputs[0]]
        function.__defaults__ = tuple(_Null if n in op.attributes else None for n in order) + (None, None)

    def first_call(args, kwargs):
        # the defaults of the compiled function are there already: to set its code is one step, seen by all threads
        text, scope['_names'] = _source(op, name if name.isidentifier() else 'function', cls is None)
        code = compile(text, _FILE, 'exec')
        function.__code__ = next(c for c in code.co_consts if hasattr(c, 'co_code'))
        return function(*args, **kwargs)

    scope['_first_call'] = first_call
    return function


def make_function(op: Operator, name: str, cls: type) -> Any:
    """The function of an operator on arrays of type `cls`."""
    function: Any = make(op, name, cls)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = docstring(op)
    function.__signature__ = signature(op, cls.__name__)
    function.derived_from = op, cls         # for the reference: _frontend/examples
    return function


def make_method(op: Operator, name: str) -> Any:
    """The method of arrays that calls an operator with the array as its first input."""
    method: Any = make(op, name, None)
    method.__name__ = name
    method.__qualname__ = f'NDArray.{name}'
    method.__doc__ = docstring(op)
    method.__signature__ = signature(op, 'NDArray', method=True)
    method.derived_from = op, None
    return method
