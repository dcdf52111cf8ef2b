"""`SymbolBlock`: a graph as a block."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import symbol
from .._kinds import explain_methods as _explain_methods
from .._names import kind_of, nearest
from ..base import MXNetError
from ..ndarray import NDArray
from ..symbol import Symbol
from ..symbol._predicting import label_names, without_labels
from ..util import is_np_array
from . import _structure as nested
from ._hybrid_block import HybridBlock
from ._parameter_files import load_arrays
from .parameter import ParameterDict

if TYPE_CHECKING:
    from .._typing import Contexts, DType, Path

__all__ = ['SymbolBlock']


class SymbolBlock(HybridBlock):
    """A block made from a symbol, such as that of a saved model.

    >>> x = mx.sym.var('x')
    >>> net = mx.gluon.SymbolBlock(mx.sym.relu(x), x)
    >>> net(mx.nd.array([-1, 2])).asnumpy().tolist()
    [0.0, 2.0]
    """

    @staticmethod
    def imports(symbol_file: Path, input_names: str | Sequence[str], param_file: Path | None = None,
                ctx: Contexts | None = None, allow_missing: bool = False, ignore_extra: bool = False) -> SymbolBlock:
        """A block from the files that `export`, or a Module's checkpoint, wrote.

        Labels that are not among `input_names`, and that the file of parameters has no values for, are dropped: a loss
        layer gives what it gives in prediction.
        """
        out = symbol.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else input_names
        known = out.list_inputs()
        for name in names:
            if name not in known and (meant := nearest(name, known)) is not None and meant not in names:
                raise MXNetError(f'{symbol_file}: input_names has {name!r}, but the network has no such input (did you '
                                 f'mean {meant!r}?)')
        out = _for_prediction(out, names, param_file, allow_missing)
        inputs = [symbol.var(n, dtype='float32') if param_file is None else symbol.var(n) for n in names]
        if is_np_array():
            out, inputs = out.as_np_ndarray(), [s.as_np_ndarray() for s in inputs]
        block = SymbolBlock(out, inputs)
        if param_file is not None:
            try:
                block.collect_params().load(param_file, ctx, allow_missing, ignore_extra, restore_prefix=block.prefix,
                                            cast_dtype=True, dtype_source='saved')
            except MXNetError as error:
                unknown = [n for n in names if n not in known]
                if unknown:         # the input that has another name was taken for a parameter
                    error.args = (f'{symbol_file}: input_names has {unknown[0]!r}, but the network has no such input. '
                                  f'{error}',)
                raise
        return block

    def __init__(self, outputs: Symbol | Sequence[Symbol], inputs: Symbol | Sequence[Symbol],
                 params: ParameterDict | None = None) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix = ''
        self._params = ParameterDict('', params)
        if not isinstance(inputs, (Symbol, list, tuple)):
            raise ValueError(f'SymbolBlock: inputs must be a symbol or a list of symbols, not {kind_of(inputs)}')
        inputs = [inputs] if isinstance(inputs, Symbol) else list(inputs)
        self._out_format: Any
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
        states = out.list_auxiliary_states()
        described = out.attr_dict()
        # upstream's order: files of a Trainer's states know parameters by their number
        for name in (*out.list_arguments(), *states):
            # a parameter that is given may have been changed since the symbol was made: it stays as it is
            if name not in names and self._params._find(self._params.prefix + name) is None:
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

    def __repr__(self) -> str:
        inputs, out = self._cached_graph
        shown = ', '.join(out.list_outputs())
        return f'{type(self).__name__}(\n{shown} : {", ".join(s.name for s in inputs)} -> {len(out)}\n)'

    @nested.takes_symbols
    def forward(self, x: Any, *args: Any) -> Any:
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

    def cast(self, dtype: DType) -> None:
        super().cast(dtype)

    def reset_ctx(self, ctx: Contexts | None) -> None:
        """Moves the parameters to other contexts."""
        for param in self.collect_params().values():
            param.reset_ctx(ctx)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError('a SymbolBlock runs its graph')


def _for_prediction(out, names, param_file, allow_missing):
    """The symbol without the labels of its loss layers, where it has no values for them."""
    labels = label_names(out)
    everything = set(out.list_inputs())
    if param_file is None or allow_missing:
        known = everything - labels
    else:
        known = {name.removeprefix('arg:').removeprefix('aux:') for name in load_arrays(param_file)} \
            if everything - set(names) and labels - set(names) else everything
    try:
        return without_labels(out, known | set(names))
    except MXNetError:          # a parameter is missing, which loading reports
        return out


def _declared(attrs):
    """What a symbol's attributes say of a parameter."""
    from .._ops.core.attributes import DataType, Shape, kind_of
    found = {}
    if '__shape__' in attrs:
        found['shape'] = kind_of(Shape).parse(attrs['__shape__'])
    if attrs.get('__dtype__', '-1') != '-1':
        from .._ops.core.dtypes import NUMPY
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


_explain_methods(SymbolBlock, 'imports')
