# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.symbol.symbol import Symbol

def _CachedOp(*data: Symbol, num_args: int = ..., num_outputs: int = 1, state_locs: int | Sequence[int] = (), subgraph: str = '', name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Runs a whole graph as one node; what `optimize_for` makes of the nodes that a backend chooses."""

def _CachedOpThreadSafe(*data: Symbol, num_args: int = ..., num_outputs: int = 1, state_locs: int | Sequence[int] = (), subgraph: str = '', name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Runs a whole graph as one node; what `optimize_for` makes of the nodes that a backend chooses."""

def _CrossDeviceCopy(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The same values on another device: what a graph has where an edge crosses from one to the other."""

def _CustomFunction(*data: Symbol, num_args: int = ..., num_outputs: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Stands in `autograd.get_symbol` for an `autograd.Function`, whose code no file can hold: it cannot be run."""

def _Div(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The quotient `lhs / rhs`; of integers without its fraction."""

def _DivScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data / scalar`; of integers without its fraction."""

def _Equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs == rhs`, else 0."""

def _EqualScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data == scalar`, else 0."""

def _Greater(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs > rhs`, else 0."""

def _GreaterEqualScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data >= scalar`, else 0."""

def _GreaterScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data > scalar`, else 0."""

def _Greater_Equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs >= rhs`, else 0."""

def _Hypot(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`sqrt(lhs^2 + rhs^2)`, without overflow on the way."""

def _HypotScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`sqrt(data^2 + scalar^2)`."""

def _Lesser(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs < rhs`, else 0."""

def _LesserEqualScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data <= scalar`, else 0."""

def _LesserScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data < scalar`, else 0."""

def _Lesser_Equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs <= rhs`, else 0."""

def _LogicalAndScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where neither `data` nor `scalar` is 0, else 0."""

def _LogicalOrScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data` or `scalar` is not 0, else 0."""

def _LogicalXorScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where exactly one of `data` and `scalar` is not 0, else 0."""

def _Logical_And(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where neither `lhs` nor `rhs` is 0, else 0."""

def _Logical_Or(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs` or `rhs` is not 0, else 0."""

def _Logical_Xor(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where exactly one of `lhs` and `rhs` is not 0, else 0."""

def _Maximum(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The larger of the two values; where they are equal, the gradient goes to `lhs`."""

def _MaximumScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The larger of `data` and `scalar`; where they are equal, the gradient passes."""

def _Minimum(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The smaller of the two values; where they are equal, the gradient goes to `lhs`."""

def _MinimumScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The smaller of `data` and `scalar`; where they are equal, the gradient passes."""

def _Minus(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The difference `lhs - rhs`."""

def _MinusScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data - scalar`."""

def _Mod(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0."""

def _ModScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The remainder of `data / scalar`, with the sign of `scalar`; 0 if `scalar` is 0."""

def _Mul(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The product `lhs * rhs`."""

def _MulScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data * scalar`."""

def _NoGradient(*, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Stands where a graph has no gradient: a zero."""

def _NotEqualScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data != scalar`, else 0."""

def _Not_Equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs != rhs`, else 0."""

def _Plus(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum `lhs + rhs`."""

def _PlusScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data + scalar`."""

def _Power(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`lhs` to the power of `rhs`."""

def _PowerScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data` to the power of `scalar`."""

def _RDivScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`scalar / data`; of integers without its fraction."""

def _RMinusScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`scalar - data`."""

def _RModScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The remainder of `scalar / data`, with the sign of `data`; 0 where `data` is 0."""

def _RPowerScalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`scalar` to the power of `data`."""

def _adamw_update(weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None, rescale_grad: Symbol | None = None, lr: float = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, eta: float = ..., clip_gradient: float = -1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Adam with weight decay of its own: `weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)`."""

def _add(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum `lhs + rhs`."""

def _arange(start: float = ..., stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Numbers from `start` up to `stop`, every one `repeat` times; with one limit alone, from 0 up to it."""

def _cond(*data: Symbol, num_args: int = ..., num_outputs: int = ..., cond_input_locs: int | Sequence[int] = ..., then_input_locs: int | Sequence[int] = ..., else_input_locs: int | Sequence[int] = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Runs one of two bodies, as a condition says."""

def _copy(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A copy."""

def _copyto(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The same values; with `out`, in the dtype and on the device of that."""

def _crop_assign(lhs: Symbol | None = None, rhs: Symbol | None = None, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`lhs` with a slice of it replaced by `rhs`, which must have the shape of that slice."""

def _crop_assign_scalar(data: Symbol | None = None, scalar: float = 0.0, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data` with a slice of it replaced by a number."""

def _div(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The quotient `lhs / rhs`; of integers without its fraction."""

def _div_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data / scalar`; of integers without its fraction."""

def _equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs == rhs`, else 0."""

def _equal_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data == scalar`, else 0."""

def _eye(N: int = ..., M: int = 0, k: int = 0, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Zeros of N rows and M columns (0: as many as rows) with ones on the k-th diagonal."""

def _foreach(*data: Symbol, num_args: int = ..., num_outputs: int = ..., num_out_data: int = ..., in_state_locs: int | Sequence[int] = ..., in_data_locs: int | Sequence[int] = ..., remain_locs: int | Sequence[int] = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Runs a body on each slice of the data along axis 0, with states carried on; the outputs are stacked."""

def _full(shape: int | Sequence[int] | None = None, ctx: Any = '', dtype: DType = 'float32', value: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """One number in a whole shape."""

def _grad_add(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum of two gradients of one array."""

def _greater(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs > rhs`, else 0."""

def _greater_equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs >= rhs`, else 0."""

def _greater_equal_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data >= scalar`, else 0."""

def _greater_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data > scalar`, else 0."""

def _histogram(data: Symbol | None = None, bins: Symbol | None = None, bin_cnt: int | None = None, range: float | Sequence[float] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Counts the values in each interval; returns the counts (int64) and the limits of the intervals."""

def _hypot(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`sqrt(lhs^2 + rhs^2)`, without overflow on the way."""

def _hypot_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`sqrt(data^2 + scalar^2)`."""

def _identity_with_attr_like_rhs(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A copy of `lhs`; `rhs` only lends its shape where that of `lhs` is not known yet."""

def _lesser(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs < rhs`, else 0."""

def _lesser_equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs <= rhs`, else 0."""

def _lesser_equal_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data <= scalar`, else 0."""

def _lesser_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data < scalar`, else 0."""

def _linspace(start: float = ..., stop: float = ..., num: int = ..., endpoint: bool = True, ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""

def _logical_and(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where neither `lhs` nor `rhs` is 0, else 0."""

def _logical_and_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where neither `data` nor `scalar` is 0, else 0."""

def _logical_or(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs` or `rhs` is not 0, else 0."""

def _logical_or_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data` or `scalar` is not 0, else 0."""

def _logical_xor(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where exactly one of `lhs` and `rhs` is not 0, else 0."""

def _logical_xor_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where exactly one of `data` and `scalar` is not 0, else 0."""

def _maximum(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The larger of the two values; where they are equal, the gradient goes to `lhs`."""

def _maximum_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The larger of `data` and `scalar`; where they are equal, the gradient passes."""

def _minimum(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The smaller of the two values; where they are equal, the gradient goes to `lhs`."""

def _minimum_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The smaller of `data` and `scalar`; where they are equal, the gradient passes."""

def _minus(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The difference `lhs - rhs`."""

def _minus_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data - scalar`."""

def _mod(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0."""

def _mod_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The remainder of `data / scalar`, with the sign of `scalar`; 0 if `scalar` is 0."""

def _mp_adamw_update(weight: Symbol | None = None, grad: Symbol | None = None, mean: Symbol | None = None, var: Symbol | None = None, weight32: Symbol | None = None, rescale_grad: Symbol | None = None, lr: float = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, eta: float = ..., clip_gradient: float = -1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`_adamw_update` on the float32 copy of a weight of low precision; its states are float32, too."""

def _mul(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The product `lhs * rhs`."""

def _mul_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data * scalar`."""

def _multi_adamw_update(*data: Symbol, lrs: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wds: float | Sequence[float] = ..., etas: float | Sequence[float] = ..., clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`_adamw_update` of several weights; the last input is the scale of the gradients, one for all."""

def _multi_lamb_update(*data: Symbol, learning_rates: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int] = ..., num_tensors: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """LAMB, both phases, for several weights; `step_count` has the number of updates of each, this one included."""

def _multi_mp_adamw_update(*data: Symbol, lrs: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wds: float | Sequence[float] = ..., etas: float | Sequence[float] = ..., clip_gradient: float = -1.0, num_weights: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`_mp_adamw_update` of several weights; the last input is the scale of the gradients, one for all."""

def _multi_mp_lamb_update(*data: Symbol, learning_rates: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int] = ..., num_tensors: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`_multi_lamb_update` on the float32 copies of weights of low precision."""

def _not_equal(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `lhs != rhs`, else 0."""

def _not_equal_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 where `data != scalar`, else 0."""

def _onehot_encode(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The indices `lhs` as rows of zeros with a one, in the shape and dtype of the matrix `rhs`."""

def _ones(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Ones of a shape."""

def _plus(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum `lhs + rhs`."""

def _plus_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data + scalar`."""

def _power(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`lhs` to the power of `rhs`."""

def _power_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data` to the power of `scalar`."""

def _random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Exponentially distributed numbers with rate `lam`: their mean is `1 / lam`."""

def _random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Gamma distributed numbers with shape parameter `alpha` and scale `beta`: their mean is `alpha * beta`."""

def _random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Negative binomial counts with mean `mu` and dispersion `alpha`: their variance is `mu + alpha * mu**2`."""

def _random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """How often something fails before it has succeeded `k` times, where it succeeds with probability `p`."""

def _random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`."""

def _random_pdf_dirichlet(sample: Symbol | None = None, alpha: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Density of the Dirichlet distribution with concentrations `alpha` along the last axis, or its logarithm."""

def _random_pdf_exponential(sample: Symbol | None = None, lam: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Density of the exponential distribution with rate `lam`, or its logarithm."""

def _random_pdf_gamma(sample: Symbol | None = None, alpha: Symbol | None = None, beta: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Density of the gamma distribution with shape parameter `alpha` and rate `beta`, or its logarithm."""

def _random_pdf_generalized_negative_binomial(sample: Symbol | None = None, mu: Symbol | None = None, alpha: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Probability of counts under the negative binomial with mean `mu` and dispersion `alpha`, or its logarithm."""

def _random_pdf_negative_binomial(sample: Symbol | None = None, k: Symbol | None = None, p: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Probability of that many failures before the `k`-th success of probability `p`, or its logarithm."""

def _random_pdf_normal(sample: Symbol | None = None, mu: Symbol | None = None, sigma: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Density of the normal distribution with mean `mu` and deviation `sigma`, or its logarithm."""

def _random_pdf_poisson(sample: Symbol | None = None, lam: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Probability of counts under the Poisson distribution with mean `lam`, or its logarithm."""

def _random_pdf_uniform(sample: Symbol | None = None, low: Symbol | None = None, high: Symbol | None = None, is_log: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Density of the uniform distribution between `low` and `high`, or its logarithm."""

def _random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Poisson distributed counts with mean `lam`, as floating point numbers."""

def _random_randint(low: int = ..., high: int = ..., shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Integers between `low` (included) and `high` (excluded), all equally likely; int32 unless `dtype` says int64."""

def _random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def _ravel_multi_index(data: Symbol | None = None, shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Turns positions in an array of `shape`, one per column of `data`, into numbers in the flattened array."""

def _rdiv_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`scalar / data`; of integers without its fraction."""

def _rminus_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`scalar - data`."""

def _rmod_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The remainder of `scalar / data`, with the sign of `data`; 0 where `data` is 0."""

def _rnn_param_concat(*data: Symbol, num_args: int = ..., dim: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Joins the parts of an `RNN`'s parameter vector: `Concat` under the name that recurrent layers use."""

def _rpower_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`scalar` to the power of `data`."""

def _sample_exponential(lam: Symbol | None = None, shape: int | Sequence[int] = (), dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Exponential draws, `shape` of them for each rate `lam`."""

def _sample_gamma(alpha: Symbol | None = None, beta: Symbol | None = None, shape: int | Sequence[int] = (), dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Gamma draws, `shape` of them for each shape parameter `alpha` and scale `beta`."""

def _sample_generalized_negative_binomial(mu: Symbol | None = None, alpha: Symbol | None = None, shape: int | Sequence[int] = (), dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Negative binomial counts, `shape` of them for each mean `mu` and dispersion `alpha`."""

def _sample_multinomial(data: Symbol | None = None, shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DType = 'int32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Draws positions along the last axis of `data`, whose values are their probabilities."""

def _sample_negative_binomial(k: Symbol | None = None, p: Symbol | None = None, shape: int | Sequence[int] = (), dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Counts of failures, `shape` of them for each number of successes `k` and probability of success `p`."""

def _sample_normal(mu: Symbol | None = None, sigma: Symbol | None = None, shape: int | Sequence[int] = (), dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Normal draws, `shape` of them for each mean `mu` and deviation `sigma`: the result has shape mu.shape + shape."""

def _sample_poisson(lam: Symbol | None = None, shape: int | Sequence[int] = (), dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Poisson counts, `shape` of them for each mean `lam`, as floating point numbers."""

def _sample_uniform(low: Symbol | None = None, high: Symbol | None = None, shape: int | Sequence[int] = (), dtype: DType | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Uniform draws, `shape` of them for each pair of `low` and `high`: the result has shape low.shape + shape."""

def _sample_unique_zipfian(range_max: int = ..., shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Draws different classes per row, class `c` with a probability that falls like log((c + 2) / (c + 1))."""

def _scatter_elemwise_div(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`lhs / rhs`, where only stored values of a sparse `lhs` count."""

def _scatter_minus_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data - scalar`, where only stored values of a sparse `data` count."""

def _scatter_plus_scalar(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data + scalar`, where only stored values of a sparse `data` count."""

def _scatter_set_nd(lhs: Symbol | None = None, rhs: Symbol | None = None, indices: Symbol | None = None, shape: int | Sequence[int] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`lhs`, which has `shape`, with `rhs` at coordinates: `indices[i]` has those along axis i."""

def _set_value(src: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A number without a shape of its own, to be written into all of `out`."""

def _shuffle(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The rows of `data` (its parts along the first axis) in random order; what is inside a row stays in order."""

def _slice_assign(lhs: Symbol | None = None, rhs: Symbol | None = None, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`lhs` with a slice of it replaced by `rhs`, which must have the shape of that slice."""

def _slice_assign_scalar(data: Symbol | None = None, scalar: float = 0.0, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data` with a slice of it replaced by a number."""

def _split_v2(data: Symbol | None = None, indices: int | Sequence[int] = ..., axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Splits an axis where `indices` say a part begins (so the first is 0), or into `sections` parts."""

def _square_sum(data: Symbol | None = None, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The sum of squares along `axis`."""

def _sub(lhs: Symbol | None = None, rhs: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The difference `lhs - rhs`."""

def _unravel_index(data: Symbol | None = None, shape: int | Sequence[int] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Turns numbers in the flattened array into positions in an array of `shape`, one row per axis."""

def _while_loop(*data: Symbol, num_args: int = ..., num_outputs: int = ..., num_out_data: int = ..., max_iterations: int = ..., cond_input_locs: int | Sequence[int] = ..., func_input_locs: int | Sequence[int] = ..., func_var_locs: int | Sequence[int] = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Runs a body while a condition holds; the outputs are stacked and filled up with zeros to `max_iterations`."""

def _zeros(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Zeros of a shape."""

def _zeros_without_dtype(shape: int | Sequence[int] | None = None, ctx: Any = '', dtype: int = -1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Zeros of a shape; `dtype` is a number of upstream's, -1 where it does not matter (then float32)."""
