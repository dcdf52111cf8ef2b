# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray

def _CachedOp(*data: NDArray, num_args: int = ..., num_outputs: int = 1, state_locs: int | Sequence[int] = (), subgraph: str = '', out: Any = None, name: str | None = None) -> NDArray:
    """Runs a whole graph as one node; what `optimize_for` makes of the nodes that a backend chooses."""

def _CachedOpThreadSafe(*data: NDArray, num_args: int = ..., num_outputs: int = 1, state_locs: int | Sequence[int] = (), subgraph: str = '', out: Any = None, name: str | None = None) -> NDArray:
    """Runs a whole graph as one node; what `optimize_for` makes of the nodes that a backend chooses."""

def _CrossDeviceCopy(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The same values on another device: what a graph has where an edge crosses from one to the other."""

def _CustomFunction(*data: NDArray, num_args: int = ..., num_outputs: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """Stands in `autograd.get_symbol` for an `autograd.Function`, whose code no file can hold: it cannot be run."""

def _Div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The quotient `lhs / rhs`; of integers without its fraction."""

def _DivScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data / scalar`; of integers without its fraction."""

def _Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs == rhs`, else 0."""

def _EqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data == scalar`, else 0."""

def _Greater(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs > rhs`, else 0."""

def _GreaterEqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data >= scalar`, else 0."""

def _GreaterScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data > scalar`, else 0."""

def _Greater_Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs >= rhs`, else 0."""

def _Hypot(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sqrt(lhs^2 + rhs^2)`, without overflow on the way."""

def _HypotScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sqrt(data^2 + scalar^2)`."""

def _Lesser(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs < rhs`, else 0."""

def _LesserEqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data <= scalar`, else 0."""

def _LesserScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data < scalar`, else 0."""

def _Lesser_Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs <= rhs`, else 0."""

def _LogicalAndScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where neither `data` nor `scalar` is 0, else 0."""

def _LogicalOrScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data` or `scalar` is not 0, else 0."""

def _LogicalXorScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where exactly one of `data` and `scalar` is not 0, else 0."""

def _Logical_And(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where neither `lhs` nor `rhs` is 0, else 0."""

def _Logical_Or(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs` or `rhs` is not 0, else 0."""

def _Logical_Xor(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where exactly one of `lhs` and `rhs` is not 0, else 0."""

def _Maximum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The larger of the two values; where they are equal, the gradient goes to `lhs`."""

def _MaximumScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The larger of `data` and `scalar`; where they are equal, the gradient passes."""

def _Minimum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smaller of the two values; where they are equal, the gradient goes to `lhs`."""

def _MinimumScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smaller of `data` and `scalar`; where they are equal, the gradient passes."""

def _Minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`."""

def _MinusScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data - scalar`."""

def _Mod(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0."""

def _ModScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The remainder of `data / scalar`, with the sign of `scalar`; 0 if `scalar` is 0."""

def _Mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product `lhs * rhs`."""

def _MulScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data * scalar`."""

def _NoGradient(*, out: Any = None, name: str | None = None) -> NDArray:
    """Stands where a graph has no gradient: a zero."""

def _NotEqualScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data != scalar`, else 0."""

def _Not_Equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs != rhs`, else 0."""

def _Plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`."""

def _PlusScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data + scalar`."""

def _Power(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs` to the power of `rhs`."""

def _PowerScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` to the power of `scalar`."""

def _RDivScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`scalar / data`; of integers without its fraction."""

def _RMinusScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`scalar - data`."""

def _RModScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The remainder of `scalar / data`, with the sign of `data`; 0 where `data` is 0."""

def _RPowerScalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`scalar` to the power of `data`."""

def _adamw_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: NDArray, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, eta: float = ..., clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Adam with weight decay of its own: `weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)`."""

def _add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`."""

def _arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """Numbers from `start` up to `stop`, every one `repeat` times; with one limit alone, from 0 up to it."""

def _cond(*data: NDArray, num_args: int = ..., num_outputs: int = ..., cond_input_locs: int | Sequence[int] = ..., then_input_locs: int | Sequence[int] = ..., else_input_locs: int | Sequence[int] = ..., out: Any = None, name: str | None = None) -> Any:
    """Runs one of two bodies, as a condition says."""

def _copy(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy."""

def _copyto(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The same values; with `out`, in the dtype and on the device of that."""

def _crop_assign(lhs: NDArray, rhs: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs` with a slice of it replaced by `rhs`, which must have the shape of that slice."""

def _crop_assign_scalar(data: NDArray, scalar: float = 0.0, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` with a slice of it replaced by a number."""

def _div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The quotient `lhs / rhs`; of integers without its fraction."""

def _div_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data / scalar`; of integers without its fraction."""

def _equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs == rhs`, else 0."""

def _equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data == scalar`, else 0."""

def _eye(N: int, M: int = 0, k: int = 0, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """Zeros of N rows and M columns (0: as many as rows) with ones on the k-th diagonal."""

def _foreach(*data: NDArray, num_args: int = ..., num_outputs: int = ..., num_out_data: int = ..., in_state_locs: int | Sequence[int] = ..., in_data_locs: int | Sequence[int] = ..., remain_locs: int | Sequence[int] = ..., out: Any = None, name: str | None = None) -> Any:
    """Runs a body on each slice of the data along axis 0, with states carried on; the outputs are stacked."""

def _full(shape: int | Sequence[int] | None = None, ctx: Any = '', dtype: DType = 'float32', value: float = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """One number in a whole shape."""

def _grad_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum of two gradients of one array."""

def _greater(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs > rhs`, else 0."""

def _greater_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs >= rhs`, else 0."""

def _greater_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data >= scalar`, else 0."""

def _greater_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data > scalar`, else 0."""

def _histogram(data: NDArray, bins: NDArray | None = None, bin_cnt: int | None = None, range: float | Sequence[float] | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Counts the values in each interval; returns the counts (int64) and the limits of the intervals."""

def _hypot(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sqrt(lhs^2 + rhs^2)`, without overflow on the way."""

def _hypot_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sqrt(data^2 + scalar^2)`."""

def _identity_with_attr_like_rhs(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy of `lhs`; `rhs` only lends its shape where that of `lhs` is not known yet."""

def _lesser(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs < rhs`, else 0."""

def _lesser_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs <= rhs`, else 0."""

def _lesser_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data <= scalar`, else 0."""

def _lesser_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data < scalar`, else 0."""

def _linspace(start: float, stop: float, num: int, endpoint: bool = True, ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """`num` numbers at equal distances from `start` to `stop`, which is one of them only with `endpoint`."""

def _logical_and(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where neither `lhs` nor `rhs` is 0, else 0."""

def _logical_and_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where neither `data` nor `scalar` is 0, else 0."""

def _logical_or(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs` or `rhs` is not 0, else 0."""

def _logical_or_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data` or `scalar` is not 0, else 0."""

def _logical_xor(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where exactly one of `lhs` and `rhs` is not 0, else 0."""

def _logical_xor_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where exactly one of `data` and `scalar` is not 0, else 0."""

def _maximum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The larger of the two values; where they are equal, the gradient goes to `lhs`."""

def _maximum_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The larger of `data` and `scalar`; where they are equal, the gradient passes."""

def _minimum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smaller of the two values; where they are equal, the gradient goes to `lhs`."""

def _minimum_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smaller of `data` and `scalar`; where they are equal, the gradient passes."""

def _minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`."""

def _minus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data - scalar`."""

def _mod(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0."""

def _mod_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The remainder of `data / scalar`, with the sign of `scalar`; 0 if `scalar` is 0."""

def _mp_adamw_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: NDArray, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, eta: float = ..., clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`_adamw_update` on the float32 copy of a weight of low precision; its states are float32, too."""

def _mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product `lhs * rhs`."""

def _mul_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data * scalar`."""

def _multi_adamw_update(*data: NDArray, lrs: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wds: float | Sequence[float] = ..., etas: float | Sequence[float] = ..., clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`_adamw_update` of several weights; the last input is the scale of the gradients, one for all."""

def _multi_lamb_update(*data: NDArray, learning_rates: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int] = ..., num_tensors: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """LAMB, both phases, for several weights; `step_count` has the number of updates of each, this one included."""

def _multi_mp_adamw_update(*data: NDArray, lrs: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wds: float | Sequence[float] = ..., etas: float | Sequence[float] = ..., clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`_mp_adamw_update` of several weights; the last input is the scale of the gradients, one for all."""

def _multi_mp_lamb_update(*data: NDArray, learning_rates: float | Sequence[float] = ..., beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, lower_bound: float = -1.0, upper_bound: float = -1.0, clip_gradient: float = -1.0, bias_correction: bool = True, step_count: int | Sequence[int] = ..., num_tensors: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`_multi_lamb_update` on the float32 copies of weights of low precision."""

def _not_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs != rhs`, else 0."""

def _not_equal_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `data != scalar`, else 0."""

def _onehot_encode(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The indices `lhs` as rows of zeros with a one, in the shape and dtype of the matrix `rhs`."""

def _ones(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """Ones of a shape."""

def _plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`."""

def _plus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data + scalar`."""

def _power(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs` to the power of `rhs`."""

def _power_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` to the power of `scalar`."""

def _random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Exponentially distributed numbers with rate `lam`: their mean is `1 / lam`."""

def _random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gamma distributed numbers with shape parameter `alpha` and scale `beta`: their mean is `alpha * beta`."""

def _random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Negative binomial counts with mean `mu` and dispersion `alpha`: their variance is `mu + alpha * mu**2`."""

def _random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """How often something fails before it has succeeded `k` times, where it succeeds with probability `p`."""

def _random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`."""

def _random_pdf_dirichlet(sample: NDArray, alpha: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the Dirichlet distribution with concentrations `alpha` along the last axis, or its logarithm."""

def _random_pdf_exponential(sample: NDArray, lam: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the exponential distribution with rate `lam`, or its logarithm."""

def _random_pdf_gamma(sample: NDArray, alpha: NDArray, beta: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the gamma distribution with shape parameter `alpha` and rate `beta`, or its logarithm."""

def _random_pdf_generalized_negative_binomial(sample: NDArray, mu: NDArray, alpha: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Probability of counts under the negative binomial with mean `mu` and dispersion `alpha`, or its logarithm."""

def _random_pdf_negative_binomial(sample: NDArray, k: NDArray, p: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Probability of that many failures before the `k`-th success of probability `p`, or its logarithm."""

def _random_pdf_normal(sample: NDArray, mu: NDArray, sigma: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the normal distribution with mean `mu` and deviation `sigma`, or its logarithm."""

def _random_pdf_poisson(sample: NDArray, lam: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Probability of counts under the Poisson distribution with mean `lam`, or its logarithm."""

def _random_pdf_uniform(sample: NDArray, low: NDArray, high: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the uniform distribution between `low` and `high`, or its logarithm."""

def _random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Poisson distributed counts with mean `lam`, as floating point numbers."""

def _random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Integers between `low` (included) and `high` (excluded), all equally likely; int32 unless `dtype` says int64."""

def _random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def _ravel_multi_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Turns positions in an array of `shape`, one per column of `data`, into numbers in the flattened array."""

def _rdiv_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`scalar / data`; of integers without its fraction."""

def _rminus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`scalar - data`."""

def _rmod_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The remainder of `scalar / data`, with the sign of `data`; 0 where `data` is 0."""

def _rnn_param_concat(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """Joins the parts of an `RNN`'s parameter vector: `Concat` under the name that recurrent layers use."""

def _rpower_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`scalar` to the power of `data`."""

def _sample_exponential(lam: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Exponential draws, `shape` of them for each rate `lam`."""

def _sample_gamma(alpha: NDArray, beta: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gamma draws, `shape` of them for each shape parameter `alpha` and scale `beta`."""

def _sample_generalized_negative_binomial(mu: NDArray, alpha: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Negative binomial counts, `shape` of them for each mean `mu` and dispersion `alpha`."""

def _sample_multinomial(data: NDArray, shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DType = 'int32', *, out: Any = None, name: str | None = None) -> NDArray:
    """Draws positions along the last axis of `data`, whose values are their probabilities."""

def _sample_negative_binomial(k: NDArray, p: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Counts of failures, `shape` of them for each number of successes `k` and probability of success `p`."""

def _sample_normal(mu: NDArray, sigma: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normal draws, `shape` of them for each mean `mu` and deviation `sigma`: the result has shape mu.shape + shape."""

def _sample_poisson(lam: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Poisson counts, `shape` of them for each mean `lam`, as floating point numbers."""

def _sample_uniform(low: NDArray, high: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Uniform draws, `shape` of them for each pair of `low` and `high`: the result has shape low.shape + shape."""

def _sample_unique_zipfian(range_max: int, shape: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Draws different classes per row, class `c` with a probability that falls like log((c + 2) / (c + 1))."""

def _scatter_elemwise_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs / rhs`, where only stored values of a sparse `lhs` count."""

def _scatter_minus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data - scalar`, where only stored values of a sparse `data` count."""

def _scatter_plus_scalar(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data + scalar`, where only stored values of a sparse `data` count."""

def _scatter_set_nd(lhs: NDArray, rhs: NDArray, indices: NDArray, shape: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs`, which has `shape`, with `rhs` at coordinates: `indices[i]` has those along axis i."""

def _set_value(src: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """A number without a shape of its own, to be written into all of `out`."""

def _shuffle(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The rows of `data` (its parts along the first axis) in random order; what is inside a row stays in order."""

def _slice_assign(lhs: NDArray, rhs: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs` with a slice of it replaced by `rhs`, which must have the shape of that slice."""

def _slice_assign_scalar(data: NDArray, scalar: float = 0.0, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` with a slice of it replaced by a number."""

def _split_v2(data: NDArray, indices: int | Sequence[int], axis: int = 1, squeeze_axis: bool = False, sections: int = 0, *, out: Any = None, name: str | None = None) -> Any:
    """Splits an axis where `indices` say a part begins (so the first is 0), or into `sections` parts."""

def _square_sum(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum of squares along `axis`."""

def _sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`."""

def _unravel_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Turns numbers in the flattened array into positions in an array of `shape`, one row per axis."""

def _while_loop(*data: NDArray, num_args: int = ..., num_outputs: int = ..., num_out_data: int = ..., max_iterations: int = ..., cond_input_locs: int | Sequence[int] = ..., func_input_locs: int | Sequence[int] = ..., func_var_locs: int | Sequence[int] = ..., out: Any = None, name: str | None = None) -> Any:
    """Runs a body while a condition holds; the outputs are stacked and filled up with zeros to `max_iterations`."""

def _zeros(shape: int | Sequence[int] = (), ctx: Any = '', dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """Zeros of a shape."""

def _zeros_without_dtype(shape: int | Sequence[int] | None = None, ctx: Any = '', dtype: int = -1, *, out: Any = None, name: str | None = None) -> NDArray:
    """Zeros of a shape; `dtype` is a number of upstream's, -1 where it does not matter (then float32)."""
