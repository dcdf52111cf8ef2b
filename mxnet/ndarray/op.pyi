# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray
from ._cached_op import CachedOp as CachedOp

def Activation(data: NDArray, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: Any = None, name: str | None = None) -> NDArray:
    """An activation function without parameters; `softrelu` is `log(1 + exp(x))`, `softsign` is `x / (1 + |x|)`."""

def BatchNorm(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normalises each channel over the batch to mean 0 and variance 1, then times `gamma` plus `beta`."""

def BatchNorm_v1(data: NDArray, gamma: NDArray, beta: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """BatchNorm of old files, along axis 1; `output_mean_var` gives the variance itself, not its inverse root."""

def BilinearSampler(data: NDArray, grid: NDArray, cudnn_off: bool | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Reads images (batch, channels, height, width) at the places of `grid`, with bilinear interpolation."""

def BlockGrad(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy through which no gradient goes back."""

def CTCLoss(data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, out: Any = None, name: str | None = None) -> NDArray:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def Cast(data: NDArray, dtype: DType, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` in another dtype; floats become integers by dropping the fraction."""

def Concat(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """Arrays behind each other along axis `dim`; the other axes must agree."""

def Convolution(data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Convolution over the one, two or three axes that `kernel` has values for."""

def Convolution_v1(data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """The name that old models have for `Convolution`."""

def Correlation(data1: NDArray, data2: NDArray, kernel_size: int = 1, max_displacement: int = 1, stride1: int = 1, stride2: int = 1, pad_size: int = 0, is_multiply: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Compares patches of one image with displaced patches of another (FlowNet)."""

def Crop(*data: NDArray, num_args: int = ..., offset: int | Sequence[int] = (0, 0), h_w: int | Sequence[int] = (0, 0), center_crop: bool = False, out: Any = None, name: str | None = None) -> NDArray:
    """A window of images (n, c, h, w): as large as `h_w`, or as the second input where there are two."""

def Custom(*data: NDArray, op_type: str = ..., out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """Calls the custom operator that was registered under the name `op_type`."""

def Deconvolution(data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), adj: int | Sequence[int] = (), target_shape: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 512, no_bias: bool = True, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """The transpose of `Convolution` (its gradient with respect to the data); there is no bias by default."""

def Dropout(data: NDArray, p: float = 0.5, mode: Literal['always', 'training'] = 'training', axes: int | Sequence[int] = (), cudnn_off: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Sets a random fraction `p` of the values to 0 and multiplies the others by `1 / (1 - p)`."""

def ElementWiseSum(*data: NDArray, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
    """The sum of all inputs, which have one shape and one dtype."""

def Embedding(data: NDArray, weight: NDArray, input_dim: int, output_dim: int, dtype: DType = 'float32', sparse_grad: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`."""

def Flatten(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A matrix: all axes but the first in one."""

def FullyConnected(data: NDArray, weight: NDArray, bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """A linear layer: `data` times the transpose of `weight`, plus `bias`."""

def GridGenerator(data: NDArray, transform_type: Literal['affine', 'warp'], target_shape: int | Sequence[int] = (0, 0), *, out: Any = None, name: str | None = None) -> NDArray:
    """Makes a grid for `BilinearSampler`."""

def GroupNorm(data: NDArray, gamma: NDArray, beta: NDArray, num_groups: int = 1, eps: float = 1e-05, output_mean_var: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normalises each of `num_groups` groups of channels (axis 1) of each sample, then times `gamma` plus `beta`."""

def IdentityAttachKLSparseReg(data: NDArray, moving_avg: NDArray, sparseness_target: float = 0.1, penalty: float = 0.001, momentum: float = 0.9, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy that drives activations of a sigmoid, channel by channel, towards `sparseness_target`."""

def InstanceNorm(data: NDArray, gamma: NDArray, beta: NDArray, eps: float = 0.001, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normalises each channel (axis 1) of each sample to mean 0 and variance 1, then times `gamma` plus `beta`."""

def L2Normalization(data: NDArray, eps: float = 1e-10, mode: Literal['channel', 'instance', 'spatial'] = 'instance', *, out: Any = None, name: str | None = None) -> NDArray:
    """Divides by the Euclidean norm, sqrt(sum of squares + eps)."""

def LRN(data: NDArray, alpha: float = 0.0001, beta: float = 0.75, knorm: float = 2.0, nsize: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Local response normalisation: divides by (knorm + alpha / nsize * sum of squares) ** beta."""

def LayerNorm(data: NDArray, gamma: NDArray, beta: NDArray, axis: int = -1, eps: float = 1e-05, output_mean_var: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normalises along `axis` to mean 0 and variance 1, then times `gamma` plus `beta`, one value per position."""

def LeakyReLU(data: NDArray, gamma: NDArray | None = None, act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky', slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334, *, out: Any = None, name: str | None = None) -> NDArray:
    """Rectifiers that let something through below 0."""

def LinearRegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data`; its gradient is that of half the squared error: (data - label) * grad_scale / values per sample."""

def LogisticRegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Sigmoid; its gradient is that of the cross-entropy: (output - label) * grad_scale / values per sample."""

def MAERegressionOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data`; its gradient is that of the absolute error: sign(data - label) * grad_scale / values per sample."""

def MakeLoss(data: NDArray, grad_scale: float = 1.0, valid_thresh: float = 0.0, normalization: Literal['batch', 'null', 'valid'] = 'null', *, out: Any = None, name: str | None = None) -> NDArray:
    """`data`, made a loss: what goes back is the constant `grad_scale`, whatever comes in."""

def Pad(data: NDArray, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """A frame around the array: `pad_width` has the lengths before and after each axis, the first axis first."""

def Pooling(data: NDArray, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Maximum, average, sum or Lp norm of the windows of one to three spatial axes."""

def Pooling_v1(data: NDArray, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'max', 'sum'] = 'max', global_pool: bool = False, pooling_convention: Literal['full', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """The pooling of old models, which differs from `Pooling` at the borders."""

def RNN(data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray | None = None, sequence_length: NDArray | None = None, state_size: int = ..., num_layers: int = ..., bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """A stack of recurrent layers over sequences `data` of shape (steps, batch, features)."""

def ROIPooling(data: NDArray, rois: NDArray, pooled_size: int | Sequence[int], spatial_scale: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """The maximum in each of `pooled_size` (height, width) parts of each region: (regions, channels, height, width)."""

def Reshape(data: NDArray, shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The same elements in another shape."""

def SVMOutput(data: NDArray, label: NDArray, margin: float = 1.0, regularization_coefficient: float = 1.0, use_linear: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data`; its gradient is that of the squared (with `use_linear`: plain) hinge loss of each class against the rest."""

def SequenceLast(data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = False, axis: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """The last step of each sequence; the time axis is gone."""

def SequenceMask(data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = False, value: float = 0.0, axis: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` with `value` in all steps behind the end of each sequence."""

def SequenceReverse(data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = False, axis: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """The steps of each sequence in reverse order; those behind its end stay where they are."""

def SliceChannel(data: NDArray, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, *, out: Any = None, name: str | None = None) -> Any:
    """Splits an axis into `num_outputs` parts of the same length; `squeeze_axis` drops it where they have length 1."""

def Softmax(data: NDArray, label: NDArray, grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['batch', 'null', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Softmax; its gradient is that of the cross-entropy with `label`: probability minus label."""

def SoftmaxActivation(data: NDArray, mode: Literal['channel', 'instance'] = 'instance', *, out: Any = None, name: str | None = None) -> NDArray:
    """Softmax along the last axis, or in the mode `channel` along axis 1; `softmax` does both."""

def SoftmaxOutput(data: NDArray, label: NDArray, grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['batch', 'null', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Softmax; its gradient is that of the cross-entropy with `label`: probability minus label."""

def SpatialTransformer(data: NDArray, loc: NDArray, target_shape: int | Sequence[int] = (0, 0), transform_type: Literal['affine'] = ..., sampler_type: Literal['bilinear'] = ..., cudnn_off: bool | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Reads images through affine maps `loc` of shape (batch, 6): `GridGenerator`, then `BilinearSampler`."""

def SwapAxis(data: NDArray, dim1: int = 0, dim2: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Exchanges two axes."""

def UpSampling(*data: NDArray, scale: int = ..., num_filter: int = 0, sample_type: Literal['bilinear', 'nearest'] = ..., multi_input_mode: Literal['concat', 'sum'] = 'concat', num_args: int = ..., workspace: int = 512, out: Any = None, name: str | None = None) -> NDArray:
    """Makes images `scale` times as high and as wide."""

def WarpCTC(data: NDArray, label: NDArray, label_length: int = 0, input_length: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Softmax of the last axis; its gradient is that of the CTC loss of `data` with `label`."""

def abs(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The absolute value."""

def adam_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Adam: `weight - lr * mean / (sqrt(var) + epsilon)` with running averages of the gradient and its square."""

def add_n(*data: NDArray, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
    """The sum of all inputs, which have one shape and one dtype."""

def all_finite(data: NDArray, init_output: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 if no value is infinite or NaN, else 0; float32 of shape (1,)."""

def amp_cast(data: NDArray, dtype: DType, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` in another dtype if it is float32, float16 or bfloat16; all others stay as they are."""

def amp_multicast(*data: NDArray, num_outputs: int = ..., cast_narrow: bool = False, out: Any = None, name: str | None = None) -> Any:
    """All inputs of float32, float16 and bfloat16 in one dtype: the widest among them, or with `cast_narrow` the"""

def arccos(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

def arccosh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse hyperbolic cosine; NaN below 1."""

def arcsin(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

def arcsinh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse hyperbolic sine."""

def arctan(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse tangent, from -pi/2 to pi/2."""

def arctanh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def argmax(data: NDArray, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The number of the largest value along `axis`, the first of several, in the dtype of `data`."""

def argmax_channel(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`argmax` along axis 1: the class with the highest score."""

def argmin(data: NDArray, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The number of the smallest value along `axis`, the first of several, in the dtype of `data`."""

def argsort(data: NDArray, axis: int | None = -1, is_ascend: bool = True, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """The indices that would sort an axis, or (axis=None) all elements in a row."""

def batch_dot(lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Matrix products over the last two axes; all axes before them number the matrices and must agree."""

def batch_take(a: NDArray, indices: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """One element of each row of `a`: the one at `indices`, clipped to the row.  `pick` does the same and more."""

def broadcast_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def broadcast_axes(data: NDArray, axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Repeats axes of length 1: those in `axis` get the lengths in `size`."""

def broadcast_axis(data: NDArray, axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Repeats axes of length 1: those in `axis` get the lengths in `size`."""

def broadcast_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The quotient `lhs / rhs`; of integers without its fraction.  Shapes are broadcast."""

def broadcast_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs == rhs`, else 0.  Shapes are broadcast."""

def broadcast_greater(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs > rhs`, else 0.  Shapes are broadcast."""

def broadcast_greater_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs >= rhs`, else 0.  Shapes are broadcast."""

def broadcast_hypot(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sqrt(lhs^2 + rhs^2)`, without overflow on the way.  Shapes are broadcast."""

def broadcast_lesser(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs < rhs`, else 0.  Shapes are broadcast."""

def broadcast_lesser_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs <= rhs`, else 0.  Shapes are broadcast."""

def broadcast_like(lhs: NDArray, rhs: NDArray, lhs_axes: int | Sequence[int] | None = None, rhs_axes: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Repeats axes of length 1 of `lhs` to fit `rhs`: all, or those in `lhs_axes` to fit those in `rhs_axes`."""

def broadcast_logical_and(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where neither `lhs` nor `rhs` is 0, else 0.  Shapes are broadcast."""

def broadcast_logical_or(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs` or `rhs` is not 0, else 0.  Shapes are broadcast."""

def broadcast_logical_xor(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where exactly one of `lhs` and `rhs` is not 0, else 0.  Shapes are broadcast."""

def broadcast_maximum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The larger of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

def broadcast_minimum(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smaller of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

def broadcast_minus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def broadcast_mod(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0.  Shapes are broadcast."""

def broadcast_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product `lhs * rhs`.  Shapes are broadcast."""

def broadcast_not_equal(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where `lhs != rhs`, else 0.  Shapes are broadcast."""

def broadcast_plus(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`.  Shapes are broadcast."""

def broadcast_power(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs` to the power of `rhs`.  Shapes are broadcast."""

def broadcast_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`.  Shapes are broadcast."""

def broadcast_to(data: NDArray, shape: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Repeats axes of length 1 so that the array gets `shape`; 0 in it keeps an axis as it is."""

def cast(data: NDArray, dtype: DType, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` in another dtype; floats become integers by dropping the fraction."""

def cast_storage(data: NDArray, stype: Literal['csr', 'default', 'row_sparse'], *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy of an array in another storage type: 'default', 'row_sparse' or 'csr'."""

def cbrt(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The cube root, negative for negative values."""

def ceil(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smallest integer that is not below the value.  The gradient is zero."""

def choose_element_0index(data: NDArray, index: NDArray, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> NDArray:
    """One element along `axis` for each place of the other axes: the one that `index` says there."""

def clip(data: NDArray, a_min: float, a_max: float, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

def col2im(data: NDArray, output_size: int | Sequence[int], kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Columns of patches put back into an image of `output_size`, added up where they overlap."""

def concat(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """Arrays behind each other along axis `dim`; the other axes must agree."""

def cos(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The cosine of an angle in radians."""

def cosh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The hyperbolic cosine."""

def crop(data: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def ctc_loss(data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, out: Any = None, name: str | None = None) -> NDArray:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def cumsum(a: NDArray, axis: int | None = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """The running sum along `axis`; without it, of the flattened array."""

def degrees(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """An angle in radians, given in degrees."""

def depth_to_space(data: NDArray, block_size: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """Moves channels into blocks of space: (n, c, h, w) becomes (n, c / b**2, h * b, w * b)."""

def diag(data: NDArray, k: int = 0, axis1: int = 0, axis2: int = 1, *, out: Any = None, name: str | None = None) -> NDArray:
    """The k-th diagonal over two axes, as the last axis; of a vector, the matrix that has it as its k-th diagonal."""

def dot(lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Product over the last axis of `lhs` and the first of `rhs`: of matrices, the matrix product."""

def elemwise_add(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum `lhs + rhs`."""

def elemwise_div(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The quotient `lhs / rhs`; of integers without its fraction."""

def elemwise_mul(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product `lhs * rhs`."""

def elemwise_sub(lhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The difference `lhs - rhs`."""

def erf(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The Gauss error function."""

def erfinv(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse of the Gauss error function; infinite at -1 and 1."""

def exp(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The exponential function."""

def expand_dims(data: NDArray, axis: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """A new axis of length 1 before `axis`."""

def expm1(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`exp(x) - 1`, accurate near 0."""

def fill_element_0index(lhs: NDArray, mhs: NDArray, rhs: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The matrix `lhs` with one element per row replaced: row i has `mhs[i]` in column `rhs[i]`."""

def fix(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

def flatten(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A matrix: all axes but the first in one."""

def flip(data: NDArray, axis: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements in reverse order along the axes in `axis`."""

def floor(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The largest integer that is not above the value.  The gradient is zero."""

def ftml_update(weight: NDArray, grad: NDArray, d: NDArray, v: NDArray, z: NDArray, lr: float, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-08, t: int = ..., wd: float = 0.0, rescale_grad: float = 1.0, clip_grad: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Follow the moving leader: the weight is where a running sum of gradients and of distances is smallest."""

def ftrl_update(weight: NDArray, grad: NDArray, z: NDArray, n: NDArray, lr: float, lamda1: float = 0.01, beta: float = 1.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Follow the regularized leader: weights whose sum of gradients stays below `lamda1` are exactly zero."""

def gamma(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The gamma function; `gamma(n)` is `(n - 1)!`."""

def gammaln(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm of the absolute value of the gamma function."""

def gather_nd(data: NDArray, indices: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""

def hard_sigmoid(data: NDArray, alpha: float = 0.2, beta: float = 0.5, *, out: Any = None, name: str | None = None) -> NDArray:
    """`alpha * x + beta`, cut off at 0 and 1.  The gradient is zero where it is cut off, the corners included."""

def identity(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy."""

def im2col(data: NDArray, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """The patches that a convolution with this window would see: (n, channels * kernel size, number of patches)."""

def khatri_rao(*data: NDArray, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
    """The Kronecker products of the columns: column k of the result is that of column k of all matrices."""

def lamb_update_phase1(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, t: int = ..., bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """First half of LAMB: the direction of the step (Adam's with weight decay), not yet scaled."""

def lamb_update_phase2(weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Second half of LAMB: a step along `g`, scaled by the length of the weight `r1` over that of `g`, `r2`."""

def linalg_det(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Determinant of square matrices; of a single one with shape (1,), in np mode ()."""

def linalg_extractdiag(A: NDArray, offset: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Diagonal of square matrices; `offset` counts to the right of the main one (negative: below)."""

def linalg_extracttrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Triangle of square matrices as a vector, the lower one row by row, the upper one column by column."""

def linalg_gelqf(A: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Q and L of the LQ factorisation A = L Q: L is lower triangular, the rows of Q are orthonormal."""

def linalg_gemm(A: NDArray, B: NDArray, C: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A B + beta * C, with A or B transposed on demand."""

def linalg_gemm2(A: NDArray, B: NDArray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A B, with A or B transposed on demand."""

def linalg_inverse(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Inverse of square matrices."""

def linalg_makediag(A: NDArray, offset: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Square matrices with the last axis of `A` on a diagonal; `offset` counts to the right (negative: below)."""

def linalg_maketrian(A: NDArray, offset: int = 0, lower: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Square matrices, zero but for a triangle with the values of `A`'s last axis: the inverse of extracttrian."""

def linalg_potrf(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Cholesky factor L of symmetric positive definite matrices: A = L L^T."""

def linalg_potri(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Inverse of the matrices that `A` is the Cholesky factor of: (A A^T)^-1, or (A^T A)^-1 with `lower=False`."""

def linalg_slogdet(A: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Sign of the determinant of square matrices, and the logarithm of its absolute value."""

def linalg_sumlogdiag(A: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Sum of the logarithms of the diagonal; of a single matrix with shape (1,)."""

def linalg_syrk(A: NDArray, transpose: bool = False, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A A^T, or alpha * A^T A with `transpose`."""

def linalg_trmm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """alpha * A B for a triangular A; alpha * B A with `rightside`; A is transposed with `transpose`."""

def linalg_trsm(A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Solves A X = alpha * B for a triangular A; X A = alpha * B with `rightside`; A is transposed with `transpose`."""

def log(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The natural logarithm; NaN below 0."""

def log10(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm to the base 10."""

def log1p(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`log(1 + x)`, accurate near 0."""

def log2(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm to the base 2."""

def log_softmax(data: NDArray, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm of `softmax`, accurate where that is close to 0."""

def logical_not(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 where the value is 0, else 0, in the dtype of `data`.  The gradient is zero."""

def make_loss(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy that makes `data` a loss: its gradient is 1, whatever comes in from behind."""

def max(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The largest value along `axis`; if there are several, each gets the gradient."""

def max_axis(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The largest value along `axis`; if there are several, each gets the gradient."""

def mean(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The mean along `axis`; of integers without its fraction."""

def min(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smallest value along `axis`; if there are several, each gets the gradient."""

def min_axis(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The smallest value along `axis`; if there are several, each gets the gradient."""

def moments(data: NDArray, axes: int | Sequence[int] | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """The mean and the variance (the mean of squared deviations) along `axes`."""

def mp_lamb_update_phase1(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, t: int = ..., bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`lamb_update_phase1` for a weight of low precision; the direction is float32."""

def mp_lamb_update_phase2(weight: NDArray, g: NDArray, r1: NDArray, r2: NDArray, weight32: NDArray, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`lamb_update_phase2` from the float32 copy of a weight of low precision."""

def mp_nag_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`nag_mom_update` on the float32 copy of a weight of low precision; `mom` is float32, too."""

def mp_sgd_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, weight32: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sgd_mom_update` on the float32 copy of a weight of low precision; `mom` is float32, too."""

def mp_sgd_update(weight: NDArray, grad: NDArray, weight32: NDArray, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sgd_update` on the float32 copy of a weight of low precision."""

def multi_all_finite(*data: NDArray, num_arrays: int = 1, init_output: bool = True, out: Any = None, name: str | None = None) -> NDArray:
    """1 if no value of any array is infinite or NaN, else 0; float32 of shape (1,)."""

def multi_lars(lrs: NDArray, weights_sum_sq: NDArray, grads_sum_sq: NDArray, wds: NDArray, eta: float, eps: float, rescale_grad: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Learning rates of LARS, one per layer: `lrs` times `eta |w| / (rescale_grad |g| + wd |w| + eps)`."""

def multi_mp_sgd_mom_update(*data: NDArray, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`mp_sgd_mom_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

def multi_mp_sgd_update(*data: NDArray, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`mp_sgd_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

def multi_sgd_mom_update(*data: NDArray, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`sgd_mom_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

def multi_sgd_update(*data: NDArray, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`sgd_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

def multi_sum_sq(*data: NDArray, num_arrays: int = ..., out: Any = None, name: str | None = None) -> NDArray:
    """The sum of squares of each array; float32 of shape (num_arrays,)."""

def nag_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gradient descent with Nesterov's momentum: the step is taken from where the momentum will have led."""

def nanprod(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product along `axis`, NaN counted as 1."""

def nansum(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum along `axis`, NaN counted as 0."""

def negative(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value with the opposite sign."""

def norm(data: NDArray, ord: int = 2, axis: int | Sequence[int] | None = None, out_dtype: DType | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The square root of the sum of squares along `axis`, or with `ord=1` the sum of absolute values."""

def normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`."""

def one_hot(indices: NDArray, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere."""

def ones_like(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Ones with the shape, dtype and context of `data`."""

def pad(data: NDArray, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """A frame around the array: `pad_width` has the lengths before and after each axis, the first axis first."""

def pick(data: NDArray, index: NDArray, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> NDArray:
    """One element along `axis` for each place of the other axes: the one that `index` says there."""

def preloaded_multi_mp_sgd_mom_update(*data: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`multi_mp_sgd_mom_update` whose learning rates and decays are two arrays, the last inputs."""

def preloaded_multi_mp_sgd_update(*data: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`multi_mp_sgd_update` whose learning rates and decays are two arrays, the last inputs."""

def preloaded_multi_sgd_mom_update(*data: NDArray, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`multi_sgd_mom_update` whose learning rates and decays are two arrays, the last inputs."""

def preloaded_multi_sgd_update(*data: NDArray, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
    """`multi_sgd_update` whose learning rates and decays are two arrays, the last inputs."""

def prod(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The product along `axis`."""

def radians(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """An angle in degrees, given in radians."""

def random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Exponentially distributed numbers with rate `lam`: their mean is `1 / lam`."""

def random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gamma distributed numbers with shape parameter `alpha` and scale `beta`: their mean is `alpha * beta`."""

def random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Negative binomial counts with mean `mu` and dispersion `alpha`: their variance is `mu + alpha * mu**2`."""

def random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """How often something fails before it has succeeded `k` times, where it succeeds with probability `p`."""

def random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normally distributed numbers with mean `loc` and standard deviation `scale`."""

def random_pdf_dirichlet(sample: NDArray, alpha: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the Dirichlet distribution with concentrations `alpha` along the last axis, or its logarithm."""

def random_pdf_exponential(sample: NDArray, lam: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the exponential distribution with rate `lam`, or its logarithm."""

def random_pdf_gamma(sample: NDArray, alpha: NDArray, beta: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the gamma distribution with shape parameter `alpha` and rate `beta`, or its logarithm."""

def random_pdf_generalized_negative_binomial(sample: NDArray, mu: NDArray, alpha: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Probability of counts under the negative binomial with mean `mu` and dispersion `alpha`, or its logarithm."""

def random_pdf_negative_binomial(sample: NDArray, k: NDArray, p: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Probability of that many failures before the `k`-th success of probability `p`, or its logarithm."""

def random_pdf_normal(sample: NDArray, mu: NDArray, sigma: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the normal distribution with mean `mu` and deviation `sigma`, or its logarithm."""

def random_pdf_poisson(sample: NDArray, lam: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Probability of counts under the Poisson distribution with mean `lam`, or its logarithm."""

def random_pdf_uniform(sample: NDArray, low: NDArray, high: NDArray, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Density of the uniform distribution between `low` and `high`, or its logarithm."""

def random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Poisson distributed counts with mean `lam`, as floating point numbers."""

def random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Integers between `low` (included) and `high` (excluded), all equally likely; int32 unless `dtype` says int64."""

def random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def ravel_multi_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Turns positions in an array of `shape`, one per column of `data`, into numbers in the flattened array."""

def rcbrt(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """One over the cube root."""

def reciprocal(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """One over the value."""

def relu(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value where it is positive, else 0; the gradient at 0 is 0."""

def repeat(data: NDArray, repeats: int, axis: int | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Every element `repeats` times, one beside the other, along an axis or (axis=None) of all elements in a row."""

def reset_arrays(*data: NDArray, num_arrays: int = ..., out: Any = None, name: str | None = None) -> list[NDArray]:
    """Sets all given arrays to zero."""

def reshape(data: NDArray, shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The same elements in another shape."""

def reshape_like(lhs: NDArray, rhs: NDArray, lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient."""

def reverse(data: NDArray, axis: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements in reverse order along the axes in `axis`."""

def rint(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

def rmsprop_update(weight: NDArray, grad: NDArray, n: NDArray, lr: float, gamma1: float = 0.95, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Tieleman and Hinton's RMSProp: the gradient over the root of the running average of its square."""

def rmspropalex_update(weight: NDArray, grad: NDArray, n: NDArray, g: NDArray, delta: NDArray, lr: float, gamma1: float = 0.95, gamma2: float = 0.9, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Graves' RMSProp: divides by the running deviation of the gradient, `sqrt(n - g**2 + epsilon)`, with momentum."""

def round(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The nearest integer; of two equally near ones that further from 0.  The gradient is zero."""

def rsqrt(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """One over the square root."""

def sample_exponential(lam: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Exponential draws, `shape` of them for each rate `lam`."""

def sample_gamma(alpha: NDArray, beta: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gamma draws, `shape` of them for each shape parameter `alpha` and scale `beta`."""

def sample_generalized_negative_binomial(mu: NDArray, alpha: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Negative binomial counts, `shape` of them for each mean `mu` and dispersion `alpha`."""

def sample_multinomial(data: NDArray, shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DType = 'int32', *, out: Any = None, name: str | None = None) -> NDArray:
    """Draws positions along the last axis of `data`, whose values are their probabilities."""

def sample_negative_binomial(k: NDArray, p: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Counts of failures, `shape` of them for each number of successes `k` and probability of success `p`."""

def sample_normal(mu: NDArray, sigma: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Normal draws, `shape` of them for each mean `mu` and deviation `sigma`: the result has shape mu.shape + shape."""

def sample_poisson(lam: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Poisson counts, `shape` of them for each mean `lam`, as floating point numbers."""

def sample_uniform(low: NDArray, high: NDArray, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Uniform draws, `shape` of them for each pair of `low` and `high`: the result has shape low.shape + shape."""

def scatter_nd(data: NDArray, indices: NDArray, shape: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
    """Zeros of `shape` with `data` at coordinates: `indices[i]` has those along axis i."""

def sgd_mom_update(weight: NDArray, grad: NDArray, mom: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gradient descent with momentum: `mom = momentum * mom - lr * (grad + wd * weight)`, then `weight + mom`."""

def sgd_update(weight: NDArray, grad: NDArray, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Gradient descent: `weight * (1 - lr * wd) - lr * grad`."""

def shape_array(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The shape of `data` as an int64 array."""

def shuffle(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The rows of `data` (its parts along the first axis) in random order; what is inside a row stays in order."""

def sigmoid(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`1 / (1 + exp(-x))`."""

def sign(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """-1, 0 or 1.  The gradient is zero."""

def signsgd_update(weight: NDArray, grad: NDArray, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Moves every weight by `lr` against the sign of its gradient; how large the gradient is does not matter."""

def signum_update(weight: NDArray, grad: NDArray, mom: NDArray, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, wd_lh: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Moves every weight by `lr` along the sign of its momentum."""

def sin(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sine of an angle in radians."""

def sinh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The hyperbolic sine."""

def size_array(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The number of values in `data` as an int64 array of shape (1,)."""

def slice(data: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def slice_axis(data: NDArray, axis: int, begin: int, end: int | None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Elements from `begin` up to `end` (None: to the very end) of one axis; the range must not be empty."""

def slice_like(data: NDArray, shape_like: NDArray, axes: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """The first elements of `data` along `axes` (by default along all), as many as `shape_like` has there."""

def smooth_l1(data: NDArray, scalar: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """A square near 0 that goes over into a line: with s = `scalar` squared, `0.5 s x^2` where |x| < 1 / s, else"""

def softmax(data: NDArray, length: NDArray | None = None, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """`exp(x)` over its sum along `axis`, x divided by `temperature` first."""

def softmax_cross_entropy(data: NDArray, label: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The cross entropy between softmax of `data` (batch, classes) and class numbers `label` (batch,), summed up."""

def softmin(data: NDArray, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """`softmax` of the negated values."""

def softsign(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`x / (1 + |x|)`."""

def sort(data: NDArray, axis: int | None = -1, is_ascend: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements in order along an axis, or (axis=None) all of them in a row."""

def space_to_depth(data: NDArray, block_size: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """Moves blocks of space into channels: (n, c, h, w) becomes (n, c * b**2, h / b, w / b)."""

def split(data: NDArray, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, *, out: Any = None, name: str | None = None) -> Any:
    """Splits an axis into `num_outputs` parts of the same length; `squeeze_axis` drops it where they have length 1."""

def sqrt(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The square root; NaN below 0."""

def square(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value times itself."""

def squeeze(data: NDArray, axis: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Drops axes of length 1: those in `axis`, or all.  If none is left, the result has shape (1,)."""

def stack(*data: NDArray, axis: int = 0, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
    """Arrays of one shape behind each other along a new axis."""

def stop_gradient(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy through which no gradient goes back."""

def sum(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum along `axis`."""

def sum_axis(data: NDArray, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The sum along `axis`."""

def swapaxes(data: NDArray, dim1: int = 0, dim2: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """Exchanges two axes."""

def take(a: NDArray, indices: NDArray, axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements of an axis at `indices`, whose axes take its place in the result."""

def tan(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The tangent of an angle in radians."""

def tanh(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The hyperbolic tangent."""

def tile(data: NDArray, reps: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
    """The whole array repeated `reps` times along its axes; missing axes or numbers count as 1 on the left."""

def topk(data: NDArray, axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them."""

def transpose(data: NDArray, axes: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """The axes in the order `axes`, by default in reverse order."""

def trunc(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value without its fraction, as `fix`.  The gradient is zero."""

def uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

def unravel_index(data: NDArray, shape: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """Turns numbers in the flattened array into positions in an array of `shape`, one row per axis."""

def where(condition: NDArray, x: NDArray, y: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`x` where `condition` is not 0, else `y`.  A condition with one axis may choose whole rows."""

def zeros_like(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """Zeros with the shape, dtype and context of `data`."""
