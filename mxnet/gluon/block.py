"""`Block`, a part of a network; `HybridBlock` and `SymbolBlock`, which have graphs, are re-exported here."""
from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, overload

from .._dispatch import entering, interceptors
from .._kinds import explain_methods as _explain_methods
from .._names import explain_arguments, explain_keywords, kind_of, set_by_init
from .._names import suggest_members as _suggest_members
from .._names import suggest_names as _suggest_names
from .._state import state
from .._typing import any_signature
from ..base import MXNetError
from ..numpy import ndarray
from . import _block_files as files
from ._call_errors import explain_call, not_a_child, pattern_of
from ._scope import BlockScope
from ._scope import BlockScope as _BlockScope  # noqa: F401 - programs that make layers of their own know it so
from ._structure import _regroup, check_outputs  # noqa: F401 - libraries on top of Gluon know the first and `_flatten`
from ._structure import flatten as _flatten  # noqa: F401
from ._summary import summarize
from .parameter import UNIFORM, Parameter, ParameterDict
from .utils import HookHandle, indent

if TYPE_CHECKING:
    from .._typing import Contexts, DType, Init, Path, Value
    from ..ndarray import NDArray

__all__ = ['Block', 'HybridBlock', 'SymbolBlock']


class Block:
    """A part of a network: parameters, children and a `forward`.

    >>> class Net(mx.gluon.Block):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.hidden = mx.gluon.nn.Dense(4, activation='relu')
    ...             self.output = mx.gluon.nn.Dense(2)
    ...     def forward(self, x):
    ...         return self.output(self.hidden(x))
    >>> net = Net()
    >>> net.initialize()
    >>> net(mx.nd.ones((3, 5))).shape
    (3, 2)
    """

    _by_arrays: Any         # of a HybridBlock

    _traced = False         # whether a call goes another way than `forward`: see HybridBlock
    # Found only where a subclass has not called `super().__init__()`.
    _prefix: Any
    _params: Any
    _name: Any
    _scope: Any
    _children: Any
    _reg_params: Any
    _forward_hooks: Any
    _forward_pre_hooks: Any
    _prefix = _params = _name = _scope = _children = _reg_params = _forward_hooks = _forward_pre_hooks = set_by_init()
    # what to do if the next call is like the last one, in training and in prediction: see _lazy/bound_calls.py
    _bound_call: Callable[..., Any] | None = None
    _bound_prediction: Callable[..., Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        explain_arguments(cls)

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._empty_prefix = prefix == ''
        self._prefix, self._params = BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix.removesuffix('_')
        self._scope = BlockScope(self)
        self._children = OrderedDict()
        self._reg_params = {}
        self._forward_hooks = OrderedDict()
        self._forward_pre_hooks = OrderedDict()

    def _alias(self):
        return type(self).__name__.lower()

    # ------------------------------------------------------------------ parts
    @property
    def prefix(self) -> str:
        """What the names of the block's parameters begin with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The name of the block."""
        return self._name

    @property
    def params(self) -> ParameterDict:
        """The block's own parameters, without those of its children."""
        return self._params

    def name_scope(self) -> BlockScope:
        """`with self.name_scope():` children made inside are named after this block."""
        return self._scope

    def __setattr__(self, name: str, value: Any) -> None:
        existing = self.__dict__.get(name)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, type(existing)):
            raise TypeError(f'{name} of {type(self).__name__} is a {type(existing).__name__}; '
                            f'it cannot become a {type(value).__name__}')
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            if name in self._reg_params and self._reg_params[name] is not value:
                raise AssertionError(f'{name} of {type(self).__name__} is a parameter already; to share parameters, '
                                     'pass params= when the block is made')
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Makes a block a child; assigning one to an attribute does this."""
        if not callable(block) or isinstance(block, type):          # Compose takes functions, too
            raise TypeError(not_a_child(self, block))
        self._children[str(len(self._children)) if name is None else name] = block

    def __repr__(self) -> str:
        lines = [f'  ({key}): {indent(repr(block), 2)}' for key, block in self.__dict__.items()
                 if isinstance(block, Block)]
        return f'{type(self).__name__}(\n' + '\n'.join(lines) + '\n)'

    def _repr_html_(self):
        """What a notebook shows: a tree that folds."""
        from ._html import describe
        return describe(self)

    def _warn_of_lost_children(self):
        """Blocks in plain lists are not children, so their parameters would be forgotten."""
        known = set(map(id, self._children.values()))

        def lost(value):
            if isinstance(value, Block):
                return id(value) not in known
            if isinstance(value, dict):
                return any(map(lost, value.values()))
            return isinstance(value, (list, tuple)) and any(map(lost, value))

        for key, value in self.__dict__.items():
            if isinstance(value, (list, tuple, dict)) and key != '_children' and key[:2] != '__' and lost(value):
                warnings.warn(f'{type(self).__name__}.{key} holds blocks that are not children of the block, so their '
                              'parameters are not collected; register them with register_child, or use nn.Sequential',
                              stacklevel=5)

    def apply(self, fn: Callable[[Block], Any]) -> Self:
        """Calls `fn(block)` for all children, then for this block."""
        if not callable(fn):
            raise TypeError(f'apply: fn must be a function of a block, not {kind_of(fn)}')
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------------ parameters
    def collect_params(self, select: str | None = None) -> ParameterDict:
        """All parameters of the block and its children; with `select`, those whose names match.

        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix='fc_')
        >>> list(net.collect_params('.*weight'))
        ['fc_weight']
        """
        self._warn_of_lost_children()
        found = ParameterDict(self._params.prefix)
        pattern = pattern_of(select) if select else None
        found.update({n: p for n, p in self.params.items() if pattern is None or pattern.match(n)})
        for child in self._children.values():
            found.update(child.collect_params(select=select))
        return found

    def _collect_params_with_prefix(self, prefix=''):
        """Parameters by their place in the structure ('0.weight'), not by their names."""
        dot = prefix + '.' if prefix else ''
        found = {dot + key: param for key, param in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(dot + name))
        return found

    @explain_keywords
    def initialize(self, init: Init = UNIFORM, ctx: Contexts | None = None, verbose: bool = False,
                   force_reinit: bool = False) -> None:
        """Initializes all parameters, on one context or several."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def cast(self, dtype: DType) -> None:
        """Converts all parameters to another dtype."""
        for child in self._children.values():
            child.cast(dtype)
        for param in self.params.values():
            param.cast(dtype)

    def zero_grad(self) -> None:
        """Sets all gradients to 0."""
        self.collect_params().zero_grad()

    def reset_ctx(self, ctx: Contexts | None) -> None:
        """Moves all parameters to other contexts."""
        self.collect_params().reset_ctx(ctx)

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all parameters."""
        self.collect_params().setattr(name, value)

    # ------------------------------------------------------------------ files
    @explain_keywords
    def save_parameters(self, filename: Path, deduplicate: bool = False) -> None:
        """Saves all parameters by their place in the structure.

        With `deduplicate`, a parameter that is used in several places is saved once.
        """
        files.save_parameters(self, filename, deduplicate)

    @explain_keywords
    def load_parameters(self, filename: Path, ctx: Contexts | None = None, allow_missing: bool = False,
                        ignore_extra: bool = False, cast_dtype: bool = False, dtype_source: str = 'current') -> None:
        """Loads parameters that `save_parameters` (or, by full names, `ParameterDict.save` and `export`) wrote."""
        files.load_parameters(self, filename, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)

    def save_params(self, filename: Path) -> None:
        """Saves parameters by name; `save_parameters` is its successor."""
        warnings.warn('save_params is deprecated; use save_parameters, or export for SymbolBlock', stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(self, filename: Path, ctx: Contexts | None = None, allow_missing: bool = False,
                    ignore_extra: bool = False) -> None:
        """Loads parameters; `load_parameters` is its successor."""
        warnings.warn('load_params is deprecated; use load_parameters', stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix: str) -> None:
        """Writes `prefix-model.json`, the structure with the graphs of hybridized parts, and `prefix-model.params`."""
        files.save(self, prefix)

    def load(self, prefix: str) -> None:
        """Reads what `save` wrote into a block of the same structure."""
        files.load(self, prefix)

    # ------------------------------------------------------------------ running
    @overload
    def __call__(self, x: Value, /, *args: Any) -> Value: ...

    @overload
    def __call__(self, *args: Any) -> NDArray: ...

    def __call__(self, *args: Any) -> Any:
        if interceptors and (scope := entering('Block.__call__', self, args)) is not None:
            with scope:
                return Block.__call__(self, *args)
        bound = self._bound_call if state.recording else self._bound_prediction
        if bound is not None:
            out = bound(args)
            if out is not None:
                return out
        if self._forward_pre_hooks:
            for hook in self._forward_pre_hooks.values():
                hook(self, args)
        try:
            out = self._by_arrays(*args) if self._traced else self.forward(*args)
        except MXNetError as error:
            self._sign(error)
            raise
        except (TypeError, AttributeError, ValueError, LookupError, ArithmeticError) as error:
            explained = explain_call(self, error, args)
            if explained is error:
                raise
            raise explained from explained.__cause__
        if self._forward_hooks:
            for hook in self._forward_hooks.values():
                hook(self, args, out)
        if state.np_array and not isinstance(out, ndarray):
            check_outputs(self, out)
        return out

    def _sign(self, error):
        """Puts the name of the innermost block into the text of an error."""
        if not getattr(error, 'signed', False) and len(error.args) == 1 and isinstance(error.args[0], str):
            error.signed = True
            if self.name not in error.args[0]:
                error.args = (f'{self.name} ({type(self).__name__}): {error.args[0]}',)

    @any_signature
    def forward(self, *args: Any) -> Any:
        """Computes the output; blocks define it."""
        raise NotImplementedError(f'{type(self).__name__} has no forward')

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridizes all children that can be."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Calls `hook(block, inputs)` before every `forward`."""
        self._bound_call = self._bound_prediction = None
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Calls `hook(block, inputs, output)` after every `forward`."""
        self._bound_call = self._bound_prediction = None
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Calls `callback(name, operator, array)` for the values inside hybridized children."""
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def summary(self, *inputs: Any) -> None:
        """Prints a table of the layers: their output shapes and numbers of parameters."""
        summarize(self, inputs)


from ._hybrid_block import HybridBlock  # noqa: E402
from ._symbol_block import SymbolBlock  # noqa: E402

_suggest_names(globals())
_suggest_members(Block, {
    'parameters': 'collect_params()', 'named_parameters': 'collect_params().items()',
    'to': 'reset_ctx(ctx) or cast(dtype)',
    'cuda': 'reset_ctx(mx.gpu())', 'state_dict': 'save_parameters(filename)',
    'load_state_dict': 'load_parameters(filename)', 'train': 'autograd.record() or autograd.train_mode()',
    'eval': 'a call outside of autograd.record()', 'fit': 'gluon.contrib.estimator.Estimator or a training loop'})


_explain_methods(Block, 'save_parameters load_parameters initialize collect_params cast apply register_child')
