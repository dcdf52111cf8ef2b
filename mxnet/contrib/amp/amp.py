"""Automatic mixed precision for training (`init`) and for models that are trained (`convert_*`)."""
from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import optimizer as _optimizer
from ..._dispatch import install, remove
from ..._names import kind_of
from ..._names import no_attribute as _no_attribute
from ..._ops.core.dtypes import NUMPY, dtype_name
from ...context import gpu
from ...gluon import HybridBlock, SymbolBlock
from ...gluon.trainer import Trainer
from ...module import BucketingModule
from ...symbol import Symbol
from ...symbol._compose import make
from . import lists
from ._graph import Pass
from ._rules import Rules, target_name
from ._switch import Casts
from .loss_scaler import LossScaler, NoScaling

if TYPE_CHECKING:
    from ..._typing import DType
    from ...context import Context
    from ...gluon.block import Block
    from ...ndarray import NDArray

__all__ = ['init', 'stop', 'init_trainer', 'scale_loss', 'unscale', 'convert_model', 'convert_hybrid_block',
           'convert_symbol', 'list_lp16_ops', 'list_fp32_ops', 'list_lp16_fp32_ops', 'list_conditional_fp32_ops',
           'list_widest_type_cast', 'list_loss_output_functions', 'list_lp16_use_fp32_params']

bfloat16 = NUMPY['bfloat16']

_switch = None                  # the `Casts` that are installed
_loss_scaler = None             # the scaler that losses such as SoftmaxOutput follow: that of the first trainer


def __getattr__(name):
    if name == '_amp_initialized':          # GluonNLP asks before it masks scores
        return _switch is not None
    raise _no_attribute(__name__, name)


# ---------------------------------------------------------------------- training
def init(target_dtype: DType = 'float16', target_precision_ops: list[str] | None = None,
         conditional_fp32_ops: Any = None, fp32_ops: Sequence[str] | None = None) -> None:
    """Switches mixed precision on, for arrays and for graphs made from now on; call it before the network is made.

    target_dtype: 'float16' (with `init_trainer` and `scale_loss`), or 'bfloat16', which needs no scaling of losses
    target_precision_ops, fp32_ops: operators for the target dtype and for float32, instead of the default lists
    conditional_fp32_ops: (operator, attribute, values of it with which it runs in float32), instead of the default list

    A second call changes nothing.
    """
    global _switch
    target = target_name(target_dtype)
    if _switch is None:
        logging.info('Using AMP')
        _switch = Casts(Rules(target, target_precision_ops, fp32_ops, conditional_fp32_ops), _scale)
        install(_switch)


def stop() -> None:
    """Switches mixed precision off; graphs made in the meantime keep their casts.  (MXNet 1.9.1 had no way back.)"""
    global _switch, _loss_scaler
    if _switch is not None:
        remove(_switch)
    _switch = _loss_scaler = None


def _scale():
    return None if _loss_scaler is None else _loss_scaler.loss_scale


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Makes a Trainer leave out steps whose gradients overflowed, and lets `scale_loss` work with it."""
    global _loss_scaler
    if _switch is None:
        raise AssertionError('mixed precision is off; call amp.init() before amp.init_trainer')
    trainer = _trainer(optimizer_or_trainer)
    if _switch.rules.target == 'bfloat16':
        scaler: Any = NoScaling()
    else:
        scaler = LossScaler()
        _update_here(trainer)
    if _loss_scaler is None:
        _loss_scaler = scaler
    trainer._amp_loss_scaler = scaler
    trainer._amp_original_scale = trainer._scale


def _update_here(trainer):
    """A KVStore that updates weights would do so before the gradients have been looked at."""
    if trainer._kvstore_params['update_on_kvstore'] or trainer._kv_initialized and trainer._update_on_kvstore:
        raise ValueError('float16 mixed precision leaves out steps that overflow, which a KVStore that updates the '
                         'parameters cannot: make the Trainer with update_on_kvstore=False, and call amp.init_trainer '
                         'before the first step')
    trainer._kvstore_params['update_on_kvstore'] = False


def _trainer(given):
    if isinstance(given, Trainer):
        return given
    if isinstance(given, _optimizer.Optimizer):
        raise TypeError('mixed precision works with a Gluon Trainer, not with an Optimizer alone')
    raise TypeError(f'mixed precision works with a Gluon Trainer, not with a {type(given).__name__}')


@contextlib.contextmanager
def scale_loss(loss: NDArray, optimizer_or_trainer: Any) -> Iterator[Any]:
    """`with amp.scale_loss(loss, trainer) as scaled: autograd.backward(scaled)`, inside `record()`.

    The loss, or each of a list, is multiplied so that small gradients do not vanish; the next step divides again.
    """
    trainer = optimizer_or_trainer
    scaler = getattr(trainer, '_amp_loss_scaler', None)
    if scaler is None:
        raise AssertionError('the trainer is not set up for mixed precision; call amp.init_trainer(trainer) first')
    trainer._scale = trainer._amp_original_scale / scaler.loss_scale
    if scaler.loss_scale == 1:
        yield loss                  # as it is, so that it can still be one plan with what comes before
    elif isinstance(loss, (list, tuple)):
        yield [part * scaler.loss_scale for part in loss]
    else:
        yield loss * scaler.loss_scale


def unscale(optimizer_or_trainer: Any) -> None:
    """Divides the gradients by the scale now, to look at them or to clip them before the step."""
    trainer = _trainer(optimizer_or_trainer)
    for param in trainer._params:
        if param.grad_req != 'null' and param._data is not None:
            for gradient in param.list_grad():
                gradient *= trainer._scale
    trainer._scale = 1.


# ---------------------------------------------------------------------- conversion
def convert_symbol(sym: Symbol, target_dtype: DType = 'float16', target_dtype_ops: Sequence[str] | None = None,
                   fp32_ops: Sequence[str] | None = None, conditional_fp32_ops: Any = None,
                   excluded_sym_names: Sequence[str] | None = None, data_names: Sequence[str] | None = None,
                   cast_optional_params: bool = False) -> Symbol:
    """A float32 graph with casts in it, for inference; its outputs are float32.

    target_dtype_ops, fp32_ops, conditional_fp32_ops: as for `init`
    excluded_sym_names: names of nodes that stay in float32
    data_names: variables that are inputs; all others are parameters, whose dtype the result declares
    cast_optional_params: declare parameters that are needed in the target dtype only in it, instead of casting them
    """
    if not isinstance(sym, Symbol):
        raise AssertionError(f'sym must be a Symbol, not {kind_of(sym)}')
    rules = Rules(target_name(target_dtype), target_dtype_ops, fp32_ops, conditional_fp32_ops)
    excluded = _names('excluded_sym_names', excluded_sym_names)
    if data_names is None:
        described = sym.attr_dict()
        data_names = [name for name in sym.list_inputs() if '__dtype__' not in described.get(name, {})]
    change = Pass(rules, data_names, excluded, cast_optional_params)
    return make(type(sym), change.run(sym._entries))


def _names(what, given):
    if given is not None and not isinstance(given, (list, tuple)):
        raise AssertionError(f'{what} must be a list of names, not {kind_of(given)}')
    return given or []


def convert_model(sym: Symbol, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                  target_dtype: DType = 'float16', target_dtype_ops: Sequence[str] | None = None,
                  fp32_ops: Sequence[str] | None = None, conditional_fp32_ops: Any = None,
                  excluded_sym_names: Sequence[str] | None = None, cast_optional_params: bool = False) -> Any:
    """(symbol, arguments, auxiliary states) of a float32 model in mixed precision; see `convert_symbol`."""
    for name, value in (('arg_params', arg_params), ('aux_params', aux_params)):
        if not isinstance(value, dict):
            raise AssertionError(f'{name} must be a dict of arrays by name, not {kind_of(value)}')
    if not isinstance(sym, Symbol):
        raise AssertionError(f'sym must be a Symbol, not {kind_of(sym)}')
    data = [name for name in sym.list_inputs() if name not in arg_params and name not in aux_params]
    converted = convert_symbol(sym, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names,
                               data, cast_optional_params)
    return converted, _declared(converted, arg_params), _declared(converted, aux_params)


def _declared(sym, arrays):
    """Arrays in the dtypes that a symbol declares for them."""
    from ..._ops.core.attributes import DataType
    described = sym.attr_dict()
    found = {}
    for name, value in arrays.items():
        flag = described.get(name, {}).get('__dtype__', '-1')
        wanted = None if flag == '-1' else DataType().parse(flag)
        found[name] = value if wanted is None or dtype_name(value.dtype) == wanted else value.astype(wanted)
    return found


def convert_hybrid_block(block: Block, target_dtype: DType = 'float16', target_dtype_ops: Sequence[str] | None = None,
                         fp32_ops: Sequence[str] | None = None, conditional_fp32_ops: Any = None,
                         excluded_sym_names: Sequence[str] | None = None, ctx: Context = gpu(0),  # noqa: B008 (upstream's default)
                         cast_optional_params: bool = False) -> Any:
    """A SymbolBlock on `ctx` that computes what a hybridized block does, in mixed precision; see `convert_symbol`.

    The block must have been hybridized and called once.
    """
    if not isinstance(block, HybridBlock):
        raise AssertionError(f'block must be a HybridBlock, not {kind_of(block)}')
    if not block._cached_graph:
        raise RuntimeError('there is no graph to convert yet: call hybridize() and run the block once first')
    inputs, sym = block._cached_graph
    converted = convert_symbol(sym, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names,
                               [s.name for s in inputs], cast_optional_params)
    used = set(converted.list_inputs())
    values = {name: param._reduce() for name, param in block.collect_params().items() if name in used}
    result = SymbolBlock(converted, inputs)
    result.collect_params().load_dict(_declared(converted, values), ctx=ctx)
    return result


def convert_bucketing_module(bucketing_mod: Any, target_dtype: DType = 'float16',
                             target_dtype_ops: Sequence[str] | None = None, fp32_ops: Sequence[str] | None = None,
                             conditional_fp32_ops: Any = None, excluded_sym_names: Sequence[str] | None = None,
                             cast_optional_params: bool = False) -> Any:
    """A BucketingModule whose graphs are in mixed precision; see `convert_symbol`."""
    if not isinstance(bucketing_mod, BucketingModule):
        raise AssertionError(f'a BucketingModule is needed, not {kind_of(bucketing_mod)}')
    if not bucketing_mod.params_initialized:
        raise AssertionError('the module has no parameters yet; bind it and call init_params')
    arguments, states = bucketing_mod.get_params()
    symbols = {}
    for key, module in bucketing_mod._buckets.items():
        symbols[key], new_arguments, new_states = convert_model(
            module.symbol, arguments, states, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops,
            excluded_sym_names, cast_optional_params)
    return BucketingModule.load_dict(symbols, bucketing_mod._sym_gen, bucketing_mod._default_bucket_key, new_arguments,
                                     new_states, **bucketing_mod._options)


# ---------------------------------------------------------------------- lists
def _listed(target_dtype, float16_name, bfloat16_name):
    if target_name(target_dtype) == 'float16':
        return getattr(lists.symbol_fp16, float16_name)
    return getattr(lists.symbol_bf16, bfloat16_name)


def list_lp16_ops(target_dtype: DType) -> list[str]:
    """Operators that run in the target dtype."""
    return _listed(target_dtype, 'FP16_FUNCS', 'BF16_FUNCS')


def list_fp32_ops(target_dtype: DType) -> list[str]:
    """Operators that run in float32."""
    return _listed(target_dtype, 'FP32_FUNCS', 'FP32_FUNCS')


def list_lp16_fp32_ops(target_dtype: DType) -> list[str]:
    """Operators that run in the dtype that they are given."""
    return _listed(target_dtype, 'FP16_FP32_FUNCS', 'BF16_FP32_FUNCS')


def list_conditional_fp32_ops(target_dtype: DType) -> Any:
    """(operator, attribute, values of it with which the operator runs in float32)."""
    return _listed(target_dtype, 'CONDITIONAL_FP32_FUNCS', 'CONDITIONAL_FP32_FUNCS')


def list_widest_type_cast(target_dtype: DType) -> list[str]:
    """Operators that run in the widest dtype among their inputs."""
    return _listed(target_dtype, 'WIDEST_TYPE_CASTS', 'WIDEST_TYPE_CASTS')


def list_loss_output_functions(target_dtype: DType) -> list[str]:
    """Losses whose gradient does not depend on what comes in from behind."""
    return _listed(target_dtype, 'LOSS_OUTPUT_FUNCTIONS', 'LOSS_OUTPUT_FUNCTIONS')


def list_lp16_use_fp32_params(target_dtype: DType) -> Any:
    """{operator: inputs that stay in float32 where it runs in the target dtype}; None for float16."""
    return None if target_name(target_dtype) == 'float16' else lists.symbol_bf16.BF16_USE_FP32_PARAMS
