"""`Block`, `HybridBlock` and `SymbolBlock`: parts of networks."""
import json
import re
import warnings
from collections import OrderedDict

from .. import ndarray, symbol
from ..base import MXNetError
from ..context import current_context
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import is_np_array
from . import _structure as nested
from ._scope import BlockScope
from ._summary import summarize
from .parameter import UNIFORM, DeferredInitializationError, Parameter, ParameterDict, _load, _save, mismatch
from .utils import HookHandle, indent

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

    def __init__(self, prefix=None, params=None):
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
    def prefix(self):
        """What the names of the block's parameters begin with."""
        return self._prefix

    @property
    def name(self):
        """The name of the block."""
        return self._name

    @property
    def params(self):
        """The block's own parameters, without those of its children."""
        return self._params

    def name_scope(self):
        """`with self.name_scope():` children made inside are named after this block."""
        return self._scope

    def __setattr__(self, name, value):
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

    def register_child(self, block, name=None):
        """Makes a block a child; assigning one to an attribute does this."""
        self._children[str(len(self._children)) if name is None else name] = block

    def __repr__(self):
        lines = [f'  ({key}): {indent(repr(block), 2)}' for key, block in self.__dict__.items()
                 if isinstance(block, Block)]
        return f'{type(self).__name__}(\n' + '\n'.join(lines) + '\n)'

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
                              stacklevel=4)

    def apply(self, fn):
        """Calls `fn(block)` for all children, then for this block."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------------ parameters
    def collect_params(self, select=None):
        """All parameters of the block and its children; with `select`, those whose names match.

        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix='fc_')
        >>> list(net.collect_params('.*weight'))
        ['fc_weight']
        """
        self._warn_of_lost_children()
        found = ParameterDict(self._params.prefix)
        pattern = re.compile(select) if select else None
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

    def initialize(self, init=UNIFORM, ctx=None, verbose=False, force_reinit=False):
        """Initializes all parameters, on one context or several."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def cast(self, dtype):
        """Converts all parameters to another dtype."""
        for child in self._children.values():
            child.cast(dtype)
        for param in self.params.values():
            param.cast(dtype)

    def zero_grad(self):
        """Sets all gradients to 0."""
        self.collect_params().zero_grad()

    def reset_ctx(self, ctx):
        """Moves all parameters to other contexts."""
        self.collect_params().reset_ctx(ctx)

    def setattr(self, name, value):
        """Sets an attribute of all parameters."""
        self.collect_params().setattr(name, value)

    # ------------------------------------------------------------------ files
    def save_parameters(self, filename, deduplicate=False):
        """Saves all parameters by their place in the structure.

        With `deduplicate`, a parameter that is used in several places is saved once.
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            params = {v: k for k, v in {p: k for k, p in params.items()}.items()}
        _save(filename, {key: param._reduce() for key, param in params.items()})

    def load_parameters(self, filename, ctx=None, allow_missing=False, ignore_extra=False, cast_dtype=False,
                        dtype_source='current'):
        """Loads parameters that `save_parameters` (or, by full names, `ParameterDict.save` and `export`) wrote."""
        loaded = _load(filename)
        params = self._collect_params_with_prefix()
        if not loaded and not params:
            return
        if not isinstance(loaded, dict):
            raise ValueError(f'{filename} holds arrays without names; parameters need names')
        if not any('.' in name for name in loaded):
            # names of the old kind: prefix and all
            self.collect_params().load(filename, ctx, allow_missing, ignore_extra, self.prefix, cast_dtype=cast_dtype,
                                       dtype_source=dtype_source)
            return
        if not allow_missing:
            places = {}
            for name, param in params.items():
                places.setdefault(id(param), []).append(name)
            missing = [n for n, p in params.items() if not any(place in loaded for place in places[id(p)])]
            if missing:
                raise AssertionError(mismatch('missing', missing, f'file {filename}', loaded, 'allow_missing'))
        extra = [n for n in loaded if n not in params]
        if extra and not ignore_extra:
            raise ValueError(mismatch('extra', extra, f'file {filename}', params, 'ignore_extra'))
        for name, value in loaded.items():
            if name in params:
                params[name]._load_init(value, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)

    def save_params(self, filename):
        """Saves parameters by name; `save_parameters` is its successor."""
        warnings.warn('save_params is deprecated; use save_parameters, or export for SymbolBlock', stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(self, filename, ctx=None, allow_missing=False, ignore_extra=False):
        """Loads parameters; `load_parameters` is its successor."""
        warnings.warn('load_params is deprecated; use load_parameters', stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix):
        """Writes `prefix-model.json`, the structure with the graphs of hybridized parts, and `prefix-model.params`."""
        from .._files import paths
        model = {}
        self._write_structure(model, [0])
        paths.write_atomic(f'{prefix}-model.json', [json.dumps(model).encode()])
        self.save_parameters(f'{prefix}-model.params')

    def _write_structure(self, model, number):
        record = model[f'{type(self).__name__.lower()}{number[0]}'] = {'orig_name': self.name}
        graph = getattr(self, '_cached_graph', None)
        if isinstance(self, HybridBlock):
            record['hybridized'] = bool(graph)
            if graph:
                inputs, out = graph
                record |= {'in_format': self._in_format, 'out_format': self._out_format,
                           'inputs': [s.tojson() for s in inputs], 'symbol': out.tojson()}
        record['children'] = {}
        for key, child in self._children.items():
            number[0] += 1
            record['children'][child.name] = key
            child._write_structure(record, number)

    def load(self, prefix):
        """Reads what `save` wrote into a block of the same structure."""
        from .._files import paths
        self._read_structure(json.loads(paths.read_bytes(f'{prefix}-model.json')), [0])
        self.load_parameters(f'{prefix}-model.params')

    def _read_structure(self, model, number):
        key = f'{type(self).__name__.lower()}{number[0]}'
        if key not in model:
            raise MXNetError(f'the saved structure has no {key}; it has {", ".join(model)}')
        record = model[key]
        self._name = record['orig_name']
        if isinstance(self, HybridBlock) and record['hybridized']:
            self._in_format, self._out_format = record['in_format'], record['out_format']
            self._cached_graph = [symbol.load_json(s) for s in record['inputs']], symbol.load_json(record['symbol'])
            self._active = True
        own = self.params._params
        for old in list(own):
            # the graphs know the parameters by the names that they had
            param = own.pop(old)
            param.name, param._var = f'{self.name}_{old[len(self.params._prefix):]}', None
            own[param.name] = param
        for child in self._children.values():
            number[0] += 1
            child._read_structure(record, number)
        keys = record['children']
        self._children = OrderedDict((keys.get(child.name, key), child) for key, child in self._children.items())

    # ------------------------------------------------------------------ running
    def __call__(self, *args):
        if self._forward_pre_hooks:
            for hook in self._forward_pre_hooks.values():
                hook(self, args)
        out = self.forward(*args)
        if self._forward_hooks:
            for hook in self._forward_hooks.values():
                hook(self, args, out)
        return out

    def forward(self, *args):
        """Computes the output; blocks define it."""
        raise NotImplementedError(f'{type(self).__name__} has no forward')

    def hybridize(self, active=True, **kwargs):
        """Hybridizes all children that can be."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def register_forward_pre_hook(self, hook):
        """Calls `hook(block, inputs)` before every `forward`."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook):
        """Calls `hook(block, inputs, output)` after every `forward`."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback, monitor_all=False):
        """Calls `callback(name, operator, array)` for the values inside hybridized children."""
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def summary(self, *inputs):
        """Prints a table of the layers: their output shapes and numbers of parameters."""
        summarize(self, inputs)


class HybridBlock(Block):
    """A block whose computation can also be described as a graph.

    It defines `hybrid_forward(self, F, x, *args, **params)`, where F is `mx.nd` or `mx.sym` (in np mode, `F.np` and
    `F.npx` have the functions) and `params` are its parameters by attribute name.  After `hybridize()`, it runs as one
    graph.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._cached_graph = ()
        self._cached_op = None
        self._cached_op_args = []
        self._in_format = self._out_format = None
        self._one_to_one = False               # one array in, one array out
        self._active = False
        self._flags = []
        self._backend, self._backend_opts = None, {}
        self._callback, self._monitor_all = None, False

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if isinstance(value, HybridBlock):
            self._clear_cached_op()

    def register_child(self, block, name=None):
        if not isinstance(block, HybridBlock):
            raise ValueError(f'children of a HybridBlock must be HybridBlocks, but {name or block} is a '
                             f'{type(block).__name__}; use HybridSequential instead of Sequential')
        super().register_child(block, name)
        self._clear_cached_op()

    def _clear_cached_op(self):
        self._cached_graph = ()
        self._cached_op = None
        self._cached_op_args = []

    def cast(self, dtype):
        self._clear_cached_op()
        super().cast(dtype)

    def hybridize(self, active=True, backend=None, clear=True, static_alloc=False, static_shape=False, inline_limit=2,
                  forward_bulk_size=None, backward_bulk_size=None, **kwargs):
        """Runs the block as one graph from now on.

        `backend` names a function that rewrites the graph first (`mxnet._graph.backends`).  `static_alloc`,
        `static_shape` and the bulk sizes are accepted, so that programs run; nothing depends on them yet.
        """
        if kwargs:
            self._backend_opts = kwargs
        self._backend = backend
        self._active = active
        self._flags = [('static_alloc', static_alloc), ('static_shape', static_shape), ('inline_limit', inline_limit)]
        if clear:
            self._clear_cached_op()
        if active and (self._forward_hooks or self._forward_pre_hooks):
            warnings.warn(f'{self.name} is hybridized while it has hooks; inside a hybridized block they do not run',
                          stacklevel=2)
        super().hybridize(active, static_alloc=static_alloc, static_shape=static_shape, inline_limit=inline_limit,
                          forward_bulk_size=forward_bulk_size, backward_bulk_size=backward_bulk_size)

    def register_op_hook(self, callback, monitor_all=False):
        self._callback, self._monitor_all = callback, monitor_all
        if self._cached_op is not None:
            self._cached_op._register_op_hook(callback, monitor_all)
        for child in self._children.values():
            child._callback, child._monitor_all = callback, monitor_all

    # ------------------------------------------------------------------ the graph
    def _get_graph(self, *args):
        """(input symbols, output symbol) of the block, made on first use."""
        if not self._cached_graph:
            flat, self._in_format = nested.flatten(args, 'an input')
            count = sum(x is not None for x in flat)
            inputs = [symbol.var(f'data{i}' if count > 1 else 'data') for i in range(count)]
            if is_np_array():
                inputs = [s.as_np_ndarray() for s in inputs]
            given = iter(inputs)
            grouped = nested.regroup([None if x is None else next(given) for x in flat], self._in_format)
            with self.name_scope():
                out = self._forward_symbol(*grouped)
            flat_out, self._out_format = nested.flatten(out, 'an output')
            self._cached_graph = inputs, symbol.Group(flat_out, type(flat_out[0]))
        return self._cached_graph

    def _forward_symbol(self, *args):
        params = {name: param.var() for name, param in self._reg_params.items()}
        with self.name_scope():
            return self.hybrid_forward(symbol, *args, **params)

    def _infer(self, what, *args):
        inputs, out = self._get_graph(*args)
        flat = [x for x in nested.flatten(args, 'an input')[0] if x is not None]
        known = {s.name: getattr(x, what) for s, x in zip(inputs, flat, strict=True)}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always')
            found, _, states = getattr(out, f'infer_{"type" if what == "dtype" else what}')(**known)
        if found is None:
            raise ValueError(str(said[0].message) if said else f'{what} cannot be inferred')
        values = dict(zip(out.list_arguments(), found, strict=True)) | \
            dict(zip(out.list_auxiliary_states(), states, strict=True))
        for param in self.collect_params().values():
            if param.name in values:
                setattr(param, what, values[param.name])

    def infer_shape(self, *args):
        """Finds the parameters' shapes from those of the inputs."""
        self._infer('shape', *args)

    def infer_type(self, *args):
        """Finds the parameters' dtypes from those of the inputs."""
        self._infer('dtype', *args)

    def _deferred_infer_shape(self, *args):
        try:
            self.infer_shape(*args)
        except Exception as error:
            raise ValueError(f'the shapes of the parameters of {self.name} cannot be found from the inputs: '
                             f'{error}') from error

    def _build_cache(self, *args):
        inputs, out = self._get_graph(*args)
        numbers = {s.name: i for i, s in enumerate(inputs)}
        names = out.list_inputs()
        params = {p.name: p for p in self.collect_params().values()}
        unknown = [n for n in names if n not in numbers and n not in params]
        if unknown:
            raise MXNetError(f'{self.name} uses {", ".join(unknown)}, which is neither an input nor a parameter of it')
        for what, unused in (('input', [n for n in numbers if n not in names]),
                             ('parameter', [n for n in params if n not in names])):
            if unused:
                warnings.warn(f'{what} {", ".join(unused)} of {self.name} is not used by its computation', stacklevel=4)
        try:
            for name in names:
                if name in params:
                    params[name].list_data()
        except DeferredInitializationError:
            self._deferred_infer_shape(*args)
            for name in names:
                if name in params:
                    params[name]._finish_deferred_init()
        if self._backend:
            out = out.optimize_for(self._backend, **self._backend_opts)
            self._cached_graph = inputs, out
        self._cached_op_args = [(True, numbers[n]) if n in numbers else (False, params[n]) for n in names]
        self._cached_op = ndarray.CachedOp(out, self._flags)
        self._one_to_one = self._in_format == [nested.LEAF] and self._out_format == nested.LEAF
        if self._callback:
            self._cached_op._register_op_hook(self._callback, self._monitor_all)

    def _call_cached_op(self, *args):
        if self._cached_op is None:
            self._build_cache(*args)
        if self._one_to_one and len(args) == 1 and isinstance(args[0], NDArray):
            x, = args
            ctx = x._ctx
            return self._cached_op(*[x if is_input else what.data(ctx) for is_input, what in self._cached_op_args])
        flat, form = nested.flatten(args, 'an input')
        if form != self._in_format and not nested.same_format(form, self._in_format):
            raise ValueError(f'{self.name} was hybridized for inputs nested like {self._in_format}, '
                             f'but is called with {form}')
        given = [x for x in flat if x is not None]
        ctx = given[0]._ctx
        out = self._cached_op(*[given[what] if is_input else what.data(ctx) for is_input, what in self._cached_op_args])
        return nested.regroup(out if isinstance(out, list) else [out], self._out_format)

    def optimize_for(self, x, *args, backend=None, clear=False, static_alloc=False, static_shape=False, inline_limit=2,
                     forward_bulk_size=None, backward_bulk_size=None, **kwargs):
        """Hybridizes for a backend and builds the graph at once."""
        if not backend:
            raise ValueError('optimize_for needs a backend')
        self.hybridize(True, backend, clear, static_alloc, static_shape, inline_limit, forward_bulk_size,
                       backward_bulk_size, **kwargs)
        if not any(True for _ in nested.leaves((x, *args))):
            raise ValueError('optimize_for needs at least one array or symbol as input')
        self._build_cache(x, *args)

    def export(self, path, epoch=0, remove_amp_cast=True):
        """Writes `path-symbol.json` and `path-0000.params`, for `SymbolBlock.imports` or `Module`."""
        if not self._cached_graph:
            raise RuntimeError('export needs a graph: call hybridize() and run the block once before')
        out = self._cached_graph[1]
        out.save(f'{path}-symbol.json', remove_amp_cast=remove_amp_cast)
        arguments, states = set(out.list_arguments()), set(out.list_auxiliary_states())
        arrays = {}
        for is_input, param in self._cached_op_args:
            if not is_input:
                kind = 'arg' if param.name in arguments else 'aux' if param.name in states else None
                if kind is None:
                    warnings.warn(f'parameter {param.name} is not in the graph', stacklevel=2)
                else:
                    arrays[f'{kind}:{param.name}'] = param._reduce()
        _save(f'{path}-{epoch:04d}.params', arrays)
        return f'{path}-symbol.json', f'{path}-{epoch:04d}.params'

    # ------------------------------------------------------------------ running
    def forward(self, x, *args):
        """Calls `hybrid_forward`, or the graph once hybridized."""
        if not args and isinstance(x, NDArray):
            ctx = x._ctx
        else:
            ctx = self._context_of_inputs((x, *args))
            if ctx is None:
                return self._forward_symbol(x, *args)
        if ctx is not current_context():
            with ctx:
                return HybridBlock.forward(self, x, *args)
        if self._active:
            return self._call_cached_op(x, *args)
        try:
            params = {name: param.data(ctx) for name, param in self._reg_params.items()}
        except DeferredInitializationError:
            self._deferred_infer_shape(x, *args)
            for param in self.params.values():
                param._finish_deferred_init()
            params = {name: param.data(ctx) for name, param in self._reg_params.items()}
        return self.hybrid_forward(ndarray, x, *args, **params)

    def _context_of_inputs(self, inputs):
        """The context of the first array; None if the inputs are symbols."""
        found = list(nested.leaves(inputs))
        arrays = [v for v in found if isinstance(v, NDArray)]
        if not found:
            raise ValueError(f'{self.name}: a HybridBlock needs at least one array or symbol as input')
        if arrays and len(arrays) != len(found):
            raise ValueError(f'{self.name}: arrays and symbols cannot be mixed as inputs')
        if not arrays:
            return None
        ctx = arrays[0]._ctx
        if self._active and any(a._ctx is not ctx for a in arrays):
            raise ValueError(f'{self.name}: the inputs of a hybridized block must be on one context; they are on '
                             f'{sorted({str(a._ctx) for a in arrays})}')
        return ctx

    def hybrid_forward(self, F, x, *args, **kwargs):
        """Computes the output with the functions of `F`; blocks define it."""
        raise NotImplementedError(f'{type(self).__name__} has no hybrid_forward')


class SymbolBlock(HybridBlock):
    """A block made from a symbol, such as that of a saved model.

    >>> x = mx.sym.var('x')
    >>> net = mx.gluon.SymbolBlock(mx.sym.relu(x), x)
    >>> net(mx.nd.array([-1, 2])).asnumpy().tolist()
    [0.0, 2.0]
    """

    @staticmethod
    def imports(symbol_file, input_names, param_file=None, ctx=None, allow_missing=False, ignore_extra=False):
        """A block from the files that `export` (or a Module's checkpoint) wrote."""
        out = symbol.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else input_names
        inputs = [symbol.var(n, dtype='float32') if param_file is None else symbol.var(n) for n in names]
        if is_np_array():
            out, inputs = out.as_np_ndarray(), [s.as_np_ndarray() for s in inputs]
        block = SymbolBlock(out, inputs)
        if param_file is not None:
            block.collect_params().load(param_file, ctx, allow_missing, ignore_extra, restore_prefix=block.prefix,
                                        cast_dtype=True, dtype_source='saved')
        return block

    def __init__(self, outputs, inputs, params=None):
        super().__init__(prefix=None, params=None)
        self._prefix = ''
        self._params = ParameterDict('', params)
        inputs = [inputs] if isinstance(inputs, Symbol) else list(inputs)
        flat, self._out_format = nested.flatten(outputs, 'an output')
        out = symbol.Group(flat, type(flat[0])) if len(flat) > 1 else flat[0]
        self._in_format = nested.flatten(inputs, 'an input')[1]
        for s in inputs:
            if len(s) != 1 or not s._entries[0][0].is_variable:
                raise AssertionError(f'inputs of a SymbolBlock must be variables, but {s.name} is not')
        names = {s.name for s in inputs}
        sparse = [n for n, attrs in out.attr_dict().items() if attrs.get('__storage_type__') == '1']
        if sparse:
            raise AssertionError(f"a SymbolBlock's parameters are dense, but {', '.join(sparse)} is row_sparse")
        if isinstance(outputs, Symbol) and len(outputs) > 1:
            self._out_format = len(outputs)
        states = set(out.list_auxiliary_states())
        described = out.attr_dict()
        for name in out.list_inputs():
            if name not in names:
                attrs = described.get(name, {})
                self._params.get(name, allow_deferred_init=True, grad_req='null' if name in states else 'write',
                                 **_declared(attrs))
        self._cached_graph = inputs, out
        self._active = True
        prefix = _common_prefix(list(self._params.keys()))
        self._reg_params = {name[len(prefix):]: param for name, param in self._params.items()}

    def _clear_cached_op(self):
        graph = getattr(self, '_cached_graph', ())
        super()._clear_cached_op()
        self._cached_graph = graph

    def __repr__(self):
        inputs, out = self._cached_graph
        shown = ', '.join(out.list_outputs())
        return f'{type(self).__name__}(\n{shown} : {", ".join(s.name for s in inputs)} -> {len(out)}\n)'

    def forward(self, x, *args):
        if isinstance(x, NDArray):
            with x._ctx:
                return self._call_cached_op(x, *args)
        if not isinstance(x, Symbol):
            raise ValueError(f'a SymbolBlock is called on arrays or symbols, not on a {type(x).__name__}')
        inputs, out = self._cached_graph
        given = nested.flatten((x, *args), 'an input')[0]
        copy = out(**{s.name: v for s, v in zip(inputs, given, strict=True)})
        return nested.regroup(list(copy), self._out_format)

    def _call_cached_op(self, *args):
        flat = nested.flatten(args, 'an input')[0]
        if len(flat) != len(self._cached_graph[0]):
            raise ValueError(f'{len(flat)} inputs given; the block takes '
                             f'{", ".join(s.name for s in self._cached_graph[0])}')
        self._in_format = nested.flatten(args, 'an input')[1]
        return super()._call_cached_op(*args)

    def cast(self, dtype):
        super().cast(dtype)

    def reset_ctx(self, ctx):
        """Moves the parameters to other contexts."""
        for param in self.collect_params().values():
            param.reset_ctx(ctx)

    def hybrid_forward(self, F, x, *args, **kwargs):
        raise NotImplementedError('a SymbolBlock runs its graph')


def _declared(attrs):
    """What a symbol's attributes say of a parameter."""
    from .._ops.attributes import DataType, Shape, kind_of
    found = {}
    if '__shape__' in attrs:
        found['shape'] = kind_of(Shape).parse(attrs['__shape__'])
    if attrs.get('__dtype__', '-1') != '-1':
        from .._ops.dtypes import NUMPY
        found['dtype'] = NUMPY[DataType().parse(attrs['__dtype__'])]
    for key in ('lr_mult', 'wd_mult'):
        if key in attrs:
            found[key] = float(attrs[key])
    return found


def _common_prefix(names):
    """What all names begin with, up to an underscore."""
    import os
    prefix = os.path.commonprefix(names)
    return prefix[:prefix.rfind('_') + 1]


