"""Errors of names and kinds: suggestions for misspelt names, and words for values of a wrong kind.

Every public module imports this one, so it loads nothing large: `difflib` and `inspect` come with the first error.
"""
import functools
import sys
import types
from typing import TYPE_CHECKING, Any, TypeVar

from ._kinds import complaint, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ['call_hint', 'explain_arguments', 'explain_keywords', 'fill_dict_when_read', 'kind_of', 'label_hint', 'near',
           'nearest', 'no_attribute', 'not_an_array', 'on_a_class', 'own_dict', 'set_by_init', 'suggest_members',
           'suggest_names']

_Function = TypeVar('_Function', bound='Callable[..., Any]')

# What other libraries call it; a suggestion is made only where the second name is accepted.
_ELSEWHERE = {'lr': 'learning_rate', 'learning_rate': 'optimizer_params', 'weight_decay': 'wd', 'l2': 'wd',
              'betas': 'beta1', 'eps': 'epsilon', 'gamma': 'factor', 'step_size': 'step', 'milestones': 'step',
              'std': 'sigma', 'stddev': 'sigma', 'axis': 'dim', 'size': 'shape', 'shape': 'size',
              'out_features': 'units', 'in_features': 'in_units', 'out_channels': 'channels', 'epochs': 'num_epoch',
              'train': 'train_mode', 'linear': 'Dense', 'cuda': 'gpu', 'device': 'ctx',
              'crossentropyloss': 'SoftmaxCrossEntropyLoss', 'bceloss': 'SigmoidBinaryCrossEntropyLoss',
              'bcewithlogitsloss': 'SigmoidBinaryCrossEntropyLoss', 'mseloss': 'L2Loss',
              'smoothl1loss': 'HuberLoss', 'dim': 'axis', 'cat': 'concat', 'mm': 'dot', 'matmul': 'dot',
              'permute': 'transpose', 'unsqueeze': 'expand_dims', 'view': 'reshape', 'kaiming': 'MSRAPrelu',
              'he': 'MSRAPrelu', 'glorot': 'Xavier', 'randn': 'normal', 'nn': 'gluon', 'optim': 'optimizer',
              'opt': 'optimizer', 'from_numpy': 'array', 'manual_seed': 'seed', 'no_grad': 'pause',
              'relu': 'Activation', 'sigmoid': 'Activation', 'tanh': 'Activation', 'tensor': 'array',
              'module': 'Block', 'dataloader': 'data', 'dataset': 'data', 'layers': 'gluon'}


def nearest(name, known):
    """The known name that is most like `name`, or None.  Upper and lower case and underscores count little."""
    import difflib

    def folded(text):
        return text.replace('_', '').lower()

    names: dict[str, list[str]] = {}
    for text in map(str, known):
        names.setdefault(folded(text), []).append(text)
    name, key = str(name), folded(str(name))
    elsewhere = folded(_ELSEWHERE.get(name.lower(), ''))
    if key in names:
        close = [key]
    elif elsewhere in names:
        close = [elsewhere]
    else:
        close = difflib.get_close_matches(key, names, 1)
    if not close and len(key) >= 4:         # 'SoftmaxCrossEntropy' for 'SoftmaxCrossEntropyLoss'
        close = sorted((n for n in names if n.startswith(key)), key=lambda n: (len(n), n))[:1]
    if not close:
        return None
    # of names that differ in case only, the one that is written most like the given one
    return max(names[close[0]], key=lambda text: difflib.SequenceMatcher(None, name, text).ratio())


def near(name, known):
    """' (did you mean X?)' for a name that is close to one of the known ones, else ''."""
    found = nearest(name, known)
    return f' (did you mean {found}?)' if found is not None else ''


# ---------------------------------------------------------------------- names that a module does not have
def no_attribute(module, name):
    """The AttributeError for a name that a module does not have, with the name that may be meant."""
    # With `name` but no `obj`, Python adds no suggestion of its own when it prints the error.
    return AttributeError(_no_attribute(module, name), name=name)


@functools.lru_cache(256)
def _no_attribute(module, name):
    found = sys.modules[module]
    known = [n for n in dir(found) if not n.startswith('_') and not _foreign(own_dict(found).get(n))]
    meant = None if name.startswith('_') else nearest(name, known)
    return f'module {module!r} has no attribute {name!r}' + (f'. Did you mean: {meant!r}?' if meant else '')


def _foreign(value):
    return isinstance(value, types.ModuleType) and value.__name__.partition('.')[0] != 'mxnet'


def suggest_names(module_globals):
    """Gives a module a `__getattr__` that suggests a name for a misspelt one, and has what 1.9.1's module imports.

    It is set in the module's dict, where type checkers do not see it: they would accept every name otherwise.
    """
    module = module_globals['__name__']

    def __getattr__(name):
        from . import _imported_names

        try:
            return _imported_names.found(module, name)
        except AttributeError:
            raise no_attribute(module, name) from None

    module_globals.setdefault('__getattr__', __getattr__)


# ---------------------------------------------------------------------- names that a module loads late
# the dictionary of a module, as far as the module is loaded
own_dict: Any = vars(types.ModuleType)['__dict__'].__get__


class _LateNames(types.ModuleType):
    """A module whose parts are loaded when they are first touched: `vars(module)` touches all of them.

    Attributes are read and set as in every module, and `dir` loads nothing.
    """

    @property
    def __dict__(self):  # type: ignore[override]  # nothing sets it
        found = own_dict(self)
        for name in found['__dir__']():
            if name not in found:
                getattr(self, name)
        return found

    def __dir__(self):
        return own_dict(self)['__dir__']()


def fill_dict_when_read(module):
    """Lets `vars` of a module contain the names that the module's `__getattr__` and `__dir__` have."""
    sys.modules[module].__class__ = _LateNames


# ---------------------------------------------------------------------- members that a class does not have
class _Absent:
    """Stands on a class for a name that another library has, and says what it is called here."""

    def __init__(self, instead):
        self._instead = instead

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, instance, owner=None):
        # `name` without `obj`: Python adds no suggestion of its own
        kind = owner.__name__.lstrip('_')
        raise AttributeError(f'{kind!r} object has no attribute {self._name!r}. Use {self._instead} instead',
                             name=self._name)


def suggest_members(cls, names):
    """Errors for names that programs of other libraries use, {name: what to write instead}; `hasattr` stays False.

    They are set from outside of the class body, where type checkers do not see them. `dir` of an instance leaves them
    out.
    """
    for name, instead in names.items():
        member = _Absent(instead)
        member.__set_name__(cls, name)
        setattr(cls, name, member)

    def __dir__(self):
        return [name for name in object.__dir__(self) if name not in names or hasattr(self, name)]

    cls.__dir__ = __dir__


# ---------------------------------------------------------------------- classes that programs derive from
class _SetByInit:
    """Stands on a class for an attribute that its `__init__` sets, and is found only while no value is set."""

    def __set_name__(self, owner, name):
        self._owner = owner.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            raise AttributeError(f'{self._owner}.__init__ sets it', name='__init__')
        cls = type(instance).__name__
        # `name` keeps Python from adding a suggestion of its own
        raise AttributeError(f'{cls} is not initialized: {self._owner}.__init__ has not run. Call super().__init__() '
                             f'first in {cls}.__init__', name='__init__')


def set_by_init() -> Any:
    """The value of a class attribute that `__init__` sets: without `super().__init__()`, an error says to call it."""
    return _SetByInit()


def explain_arguments(cls):
    """Class decorator: a misspelt keyword argument of the constructor is an error with the name that may be meant.

    Python names the base class that got the argument at last, and (before 3.13) makes no suggestion.
    """
    init = vars(cls).get('__init__')
    if init is None or hasattr(init, '_explains'):
        return cls

    check = _kind_check(init) if cls.__module__.partition('.')[0] == 'mxnet' else None

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        try:
            init(self, *args, **kwargs)
        except (TypeError, AttributeError, ValueError) as error:
            if check is not None:       # numbers as text are wrong where the constructor computes with them
                check(self, args, kwargs, strict="'str'" in str(error))
            if cls.__module__.partition('.')[0] == 'mxnet':
                found = complaint(init, type(self).__name__, (self, *args), kwargs, error)
                if found is not None:
                    raise found from None
            if not isinstance(error, TypeError):
                raise
            raise _explained(error, kwargs, type(self).__name__, _names_of(type(self))) from None
        if check is not None:
            check(self, args, kwargs)

    __init__._explains = True           # type: ignore[attr-defined]  # looked up by name
    cls.__init__ = __init__
    return cls


# What an annotation accepts, and how an error says it.  Numbers are accepted as text ('1e-5' of a configuration file),
# as MXNet 1.9.1 accepts them.
_KINDS = {'int': 'an int', 'float': 'a number', 'str': 'a str'}


def _kind_check(init):
    """A function that checks the constructor's arguments that are annotated as int, float or str; None if none is."""
    count = init.__code__.co_argcount
    names = list(init.__code__.co_varnames[1:count + init.__code__.co_kwonlyargcount])
    checked = {}
    for name in names:
        base, _, rest = str(init.__annotations__.get(name, '')).partition(' | ')
        if base in _KINDS and rest in ('', 'None'):
            checked[name] = base
    if not checked:
        return None
    positions = [checked.get(name) for name in names[:count - 1]]

    def check(self, args, kwargs, strict=False):
        for value, kind, name in zip(args, positions, names, strict=False):
            if kind is not None and not _is_kind(value, kind, strict):
                raise _wrong_argument(self, name, kind, value) from None
        for name, value in kwargs.items():
            kind = checked.get(name)
            if kind is not None and not _is_kind(value, kind, strict):
                raise _wrong_argument(self, name, kind, value) from None

    return check


def _is_kind(value, kind, strict=False):
    if value is None or isinstance(value, (int, float)):
        return kind != 'str' or value is None
    if isinstance(value, str):
        return kind == 'str' or not strict and _is_number(value)
    if isinstance(value, type) or not hasattr(value, '__float__' if kind != 'str' else '__fspath__'):
        return False
    return getattr(value, 'size', 1) == 1           # an array of one number is one


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wrong_argument(instance, name, kind, value):
    what = type(instance).__name__
    hint = ''
    if name == 'prefix' and hasattr(value, 'collect_params'):
        hint = f'; layers are added after it is made: net = {what}(); net.add(layer, ...)'
    elif kind == 'str' and isinstance(value, type):
        hint = f'; the name will do: {value.__name__.lower()!r}'
    elif hasattr(instance, 'collect_params') and (hasattr(value, 'asnumpy') or hasattr(value, 'list_arguments')):
        hint = call_hint(what)
    shown = repr(value) if isinstance(value, (str, int, float)) else kind_of(value)
    return TypeError(f'{what}: {name} must be {_KINDS[kind]}, not {shown}{hint}')


def label_hint(name):
    """What to do if a parameter without a value is the label of a loss layer, which Module knows by `label_names`."""
    return f' If it is a label, tell Module: label_names=[{name!r}].' if name.endswith('label') else ''


def call_hint(name):
    """What to do if a class was called on an array: `loss = SoftmaxCrossEntropyLoss(out, label)`."""
    return f'; {name} is a class: create a block first, block = {name}(...), and call that: block(x)'


def on_a_class(method):
    """The error for a method of a block that is called on the class: `net = nn.HybridSequential`, without ()."""
    return TypeError(f'{method} was called on a class. Create a block first, with parentheses: '
                     'net = nn.HybridSequential()')


def explain_keywords(function: _Function) -> _Function:
    """The same for a function or method; it costs a call more, so it is for those that programs call seldom."""
    @functools.wraps(function)
    def explained(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if "missing 1 required positional argument: 'self'" in str(error):
                raise on_a_class(function.__name__) from None
            raise _explained(error, kwargs, function.__name__, _parameters(function)) from None

    return explained       # type: ignore[return-value]  # it has the signature of the function


def _explained(error, given, what, known):
    """A TypeError about arguments with a suggestion; any other error as it is."""
    text = str(error)
    _, unexpected, name = text.partition('got an unexpected keyword argument ')
    name = name.split("'")[1] if unexpected else ''
    if name in given and name not in known:
        pass
    elif ' missing ' in text and ' required ' in text and not set(given) <= known:
        name = min(set(given) - known)      # the missing argument may be given by a wrong name
    else:
        return error
    names = sorted(known - {'self', 'cls'})
    return TypeError(f'{what} has no argument {name!r}{near(name, names)}; it takes {", ".join(names) or "none"}')


def _names_of(cls):
    """Names of the arguments that constructors of a class and its bases take."""
    return set().union(*(_parameters(base.__init__) for base in cls.__mro__[:-1] if '__init__' in vars(base)))


def _parameters(function):
    import inspect
    return {name for name, p in inspect.signature(function).parameters.items()
            if p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL}


# ---------------------------------------------------------------------- values of a wrong kind
def not_an_array(what, value, function='mx.nd.array'):
    """The text of an error for a value that should be an array; `what` names the argument."""
    converts = isinstance(value, (list, tuple, int, float)) or hasattr(value, '__array__')
    hint = f'; {function}(x) converts it' if converts else ''
    return f'{what} must be an NDArray, not {kind_of(value)}{hint}'
