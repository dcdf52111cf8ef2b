# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray

class Operators:
    """What `hybrid_forward` gets as `F`: the functions of `mx.nd`, or those of `mx.sym`."""

    from mxnet.ndarray import contrib as contrib
    from mxnet.ndarray import image as image
    from mxnet.ndarray import linalg as linalg
    from mxnet.ndarray import np as np
    from mxnet.ndarray import npx as npx
    from mxnet.ndarray import random as random
    from mxnet.ndarray import sparse as sparse

    @staticmethod
    def Activation(data: Any, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: Any = None, name: str | None = None) -> NDArray:
        """An activation function without parameters; `softrelu` is `log(1 + exp(x))`, `softsign` is `x / (1 + |x|)`."""

    @staticmethod
    def BatchNorm(data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Normalises each channel over the batch to mean 0 and variance 1, then times `gamma` plus `beta`."""

    @staticmethod
    def BatchNorm_v1(data: Any, gamma: Any, beta: Any, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """BatchNorm of old files, along axis 1; `output_mean_var` gives the variance itself, not its inverse root."""

    @staticmethod
    def BilinearSampler(data: Any, grid: Any, cudnn_off: bool | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Reads images (batch, channels, height, width) at the places of `grid`, with bilinear interpolation."""

    @staticmethod
    def BlockGrad(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """A copy through which no gradient goes back."""

    @staticmethod
    def CTCLoss(data: Any, label: Any, data_lengths: Any | None = None, label_lengths: Any | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, out: Any = None, name: str | None = None) -> NDArray:
        """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

    @staticmethod
    def Cast(data: Any, dtype: DType, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data` in another dtype; floats become integers by dropping the fraction."""

    @staticmethod
    def Concat(*data: Any, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """Arrays behind each other along axis `dim`; the other axes must agree."""

    @staticmethod
    def Convolution(data: Any, weight: Any, bias: Any | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Convolution over the one, two or three axes that `kernel` has values for."""

    @staticmethod
    def Convolution_v1(data: Any, weight: Any, bias: Any | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """The name that old models have for `Convolution`."""

    @staticmethod
    def Correlation(data1: Any, data2: Any, kernel_size: int = 1, max_displacement: int = 1, stride1: int = 1, stride2: int = 1, pad_size: int = 0, is_multiply: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """Compares patches of one image with displaced patches of another (FlowNet)."""

    @staticmethod
    def Crop(*data: Any, num_args: int = ..., offset: int | Sequence[int] = (0, 0), h_w: int | Sequence[int] = (0, 0), center_crop: bool = False, out: Any = None, name: str | None = None) -> NDArray:
        """A window of images (n, c, h, w): as large as `h_w`, or as the second input where there are two."""

    @staticmethod
    def Custom(*data: Any, op_type: str = ..., out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
        """Calls the custom operator that was registered under the name `op_type`."""

    @staticmethod
    def Deconvolution(data: Any, weight: Any, bias: Any | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), adj: int | Sequence[int] = (), target_shape: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 512, no_bias: bool = True, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """The transpose of `Convolution` (its gradient with respect to the data); there is no bias by default."""

    @staticmethod
    def Dropout(data: Any, p: float = 0.5, mode: Literal['always', 'training'] = 'training', axes: int | Sequence[int] = (), cudnn_off: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Sets a random fraction `p` of the values to 0 and multiplies the others by `1 / (1 - p)`."""

    @staticmethod
    def ElementWiseSum(*data: Any, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
        """The sum of all inputs, which have one shape and one dtype."""

    @staticmethod
    def Embedding(data: Any, weight: Any, input_dim: int, output_dim: int, dtype: DType = 'float32', sparse_grad: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`."""

    @staticmethod
    def Flatten(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """A matrix: all axes but the first in one."""

    @staticmethod
    def FullyConnected(data: Any, weight: Any, bias: Any | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """A linear layer: `data` times the transpose of `weight`, plus `bias`."""

    @staticmethod
    def GridGenerator(data: Any, transform_type: Literal['affine', 'warp'], target_shape: int | Sequence[int] = (0, 0), *, out: Any = None, name: str | None = None) -> NDArray:
        """Makes a grid for `BilinearSampler`."""

    @staticmethod
    def GroupNorm(data: Any, gamma: Any, beta: Any, num_groups: int = 1, eps: float = 1e-05, output_mean_var: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Normalises each of `num_groups` groups of channels (axis 1) of each sample, then times `gamma` plus `beta`."""

    @staticmethod
    def IdentityAttachKLSparseReg(data: Any, moving_avg: Any, sparseness_target: float = 0.1, penalty: float = 0.001, momentum: float = 0.9, *, out: Any = None, name: str | None = None) -> NDArray:
        """A copy that drives activations of a sigmoid, channel by channel, towards `sparseness_target`."""

    @staticmethod
    def InstanceNorm(data: Any, gamma: Any, beta: Any, eps: float = 0.001, *, out: Any = None, name: str | None = None) -> NDArray:
        """Normalises each channel (axis 1) of each sample to mean 0 and variance 1, then times `gamma` plus `beta`."""

    @staticmethod
    def L2Normalization(data: Any, eps: float = 1e-10, mode: Literal['channel', 'instance', 'spatial'] = 'instance', *, out: Any = None, name: str | None = None) -> NDArray:
        """Divides by the Euclidean norm, sqrt(sum of squares + eps)."""

    @staticmethod
    def LRN(data: Any, alpha: float = 0.0001, beta: float = 0.75, knorm: float = 2.0, nsize: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
        """Local response normalisation: divides by (knorm + alpha / nsize * sum of squares) ** beta."""

    @staticmethod
    def LayerNorm(data: Any, gamma: Any, beta: Any, axis: int = -1, eps: float = 1e-05, output_mean_var: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Normalises along `axis` to mean 0 and variance 1, then times `gamma` plus `beta`, one value per position."""

    @staticmethod
    def LeakyReLU(data: Any, gamma: Any | None = None, act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky', slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334, *, out: Any = None, name: str | None = None) -> NDArray:
        """Rectifiers that let something through below 0."""

    @staticmethod
    def LinearRegressionOutput(data: Any, label: Any, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data`; its gradient is that of half the squared error: (data - label) * grad_scale / values per sample."""

    @staticmethod
    def LogisticRegressionOutput(data: Any, label: Any, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Sigmoid; its gradient is that of the cross-entropy: (output - label) * grad_scale / values per sample."""

    @staticmethod
    def MAERegressionOutput(data: Any, label: Any, grad_scale: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data`; its gradient is that of the absolute error: sign(data - label) * grad_scale / values per sample."""

    @staticmethod
    def MakeLoss(data: Any, grad_scale: float = 1.0, valid_thresh: float = 0.0, normalization: Literal['batch', 'null', 'valid'] = 'null', *, out: Any = None, name: str | None = None) -> NDArray:
        """`data`, made a loss: what goes back is the constant `grad_scale`, whatever comes in."""

    @staticmethod
    def Pad(data: Any, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """A frame around the array: `pad_width` has the lengths before and after each axis, the first axis first."""

    @staticmethod
    def Pooling(data: Any, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Maximum, average, sum or Lp norm of the windows of one to three spatial axes."""

    @staticmethod
    def Pooling_v1(data: Any, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'max', 'sum'] = 'max', global_pool: bool = False, pooling_convention: Literal['full', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """The pooling of old models, which differs from `Pooling` at the borders."""

    @staticmethod
    def RNN(data: Any, parameters: Any, state: Any, state_cell: Any | None = None, sequence_length: Any | None = None, state_size: int = ..., num_layers: int = ..., bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """A stack of recurrent layers over sequences `data` of shape (steps, batch, features)."""

    @staticmethod
    def ROIPooling(data: Any, rois: Any, pooled_size: int | Sequence[int], spatial_scale: float, *, out: Any = None, name: str | None = None) -> NDArray:
        """The maximum in each of `pooled_size` (height, width) parts of each region: (regions, channels, height, width)."""

    @staticmethod
    def Reshape(data: Any, shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The same elements in another shape."""

    @staticmethod
    def SVMOutput(data: Any, label: Any, margin: float = 1.0, regularization_coefficient: float = 1.0, use_linear: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data`; its gradient is that of the squared (with `use_linear`: plain) hinge loss of each class against the rest."""

    @staticmethod
    def SequenceLast(data: Any, sequence_length: Any | None = None, use_sequence_length: bool = False, axis: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """The last step of each sequence; the time axis is gone."""

    @staticmethod
    def SequenceMask(data: Any, sequence_length: Any | None = None, use_sequence_length: bool = False, value: float = 0.0, axis: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data` with `value` in all steps behind the end of each sequence."""

    @staticmethod
    def SequenceReverse(data: Any, sequence_length: Any | None = None, use_sequence_length: bool = False, axis: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """The steps of each sequence in reverse order; those behind its end stay where they are."""

    @staticmethod
    def SliceChannel(data: Any, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, *, out: Any = None, name: str | None = None) -> Any:
        """Splits an axis into `num_outputs` parts of the same length; `squeeze_axis` drops it where they have length 1."""

    @staticmethod
    def Softmax(data: Any, label: Any, grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['batch', 'null', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Softmax; its gradient is that of the cross-entropy with `label`: probability minus label."""

    @staticmethod
    def SoftmaxActivation(data: Any, mode: Literal['channel', 'instance'] = 'instance', *, out: Any = None, name: str | None = None) -> NDArray:
        """Softmax along the last axis, or in the mode `channel` along axis 1; `softmax` does both."""

    @staticmethod
    def SoftmaxOutput(data: Any, label: Any, grad_scale: float = 1.0, ignore_label: float = -1.0, multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False, normalization: Literal['batch', 'null', 'valid'] = 'null', out_grad: bool = False, smooth_alpha: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Softmax; its gradient is that of the cross-entropy with `label`: probability minus label."""

    @staticmethod
    def SpatialTransformer(data: Any, loc: Any, target_shape: int | Sequence[int] = (0, 0), transform_type: Literal['affine'] = ..., sampler_type: Literal['bilinear'] = ..., cudnn_off: bool | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Reads images through affine maps `loc` of shape (batch, 6): `GridGenerator`, then `BilinearSampler`."""

    @staticmethod
    def SwapAxis(data: Any, dim1: int = 0, dim2: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Exchanges two axes."""

    @staticmethod
    def UpSampling(*data: Any, scale: int = ..., num_filter: int = 0, sample_type: Literal['bilinear', 'nearest'] = ..., multi_input_mode: Literal['concat', 'sum'] = 'concat', num_args: int = ..., workspace: int = 512, out: Any = None, name: str | None = None) -> NDArray:
        """Makes images `scale` times as high and as wide."""

    @staticmethod
    def WarpCTC(data: Any, label: Any, label_length: int = 0, input_length: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Softmax of the last axis; its gradient is that of the CTC loss of `data` with `label`."""

    @staticmethod
    def abs(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The absolute value."""

    @staticmethod
    def adam_update(weight: Any, grad: Any, mean: Any, var: Any, lr: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """Adam: `weight - lr * mean / (sqrt(var) + epsilon)` with running averages of the gradient and its square."""

    @staticmethod
    def add_n(*data: Any, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
        """The sum of all inputs, which have one shape and one dtype."""

    @staticmethod
    def all_finite(data: Any, init_output: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 if no value is infinite or NaN, else 0; float32 of shape (1,)."""

    @staticmethod
    def amp_cast(data: Any, dtype: DType, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data` in another dtype if it is float32, float16 or bfloat16; all others stay as they are."""

    @staticmethod
    def amp_multicast(*data: Any, num_outputs: int = ..., cast_narrow: bool = False, out: Any = None, name: str | None = None) -> Any:
        """All inputs of float32, float16 and bfloat16 in one dtype: the widest among them, or with `cast_narrow` the"""

    @staticmethod
    def arccos(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse cosine, from 0 to pi; NaN outside [-1, 1]."""

    @staticmethod
    def arccosh(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse hyperbolic cosine; NaN below 1."""

    @staticmethod
    def arcsin(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse sine, from -pi/2 to pi/2; NaN outside [-1, 1]."""

    @staticmethod
    def arcsinh(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse hyperbolic sine."""

    @staticmethod
    def arctan(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse tangent, from -pi/2 to pi/2."""

    @staticmethod
    def arctanh(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

    @staticmethod
    def argmax(data: Any, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The number of the largest value along `axis`, the first of several, in the dtype of `data`."""

    @staticmethod
    def argmax_channel(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`argmax` along axis 1: the class with the highest score."""

    @staticmethod
    def argmin(data: Any, axis: int | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The number of the smallest value along `axis`, the first of several, in the dtype of `data`."""

    @staticmethod
    def argsort(data: Any, axis: int | None = -1, is_ascend: bool = True, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
        """The indices that would sort an axis, or (axis=None) all elements in a row."""

    @staticmethod
    def batch_dot(lhs: Any, rhs: Any, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Matrix products over the last two axes; all axes before them number the matrices and must agree."""

    @staticmethod
    def batch_take(a: Any, indices: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """One element of each row of `a`: the one at `indices`, clipped to the row.  `pick` does the same and more."""

    @staticmethod
    def broadcast_add(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum `lhs + rhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_axes(data: Any, axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """Repeats axes of length 1: those in `axis` get the lengths in `size`."""

    @staticmethod
    def broadcast_axis(data: Any, axis: int | Sequence[int] = (), size: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """Repeats axes of length 1: those in `axis` get the lengths in `size`."""

    @staticmethod
    def broadcast_div(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The quotient `lhs / rhs`; of integers without its fraction.  Shapes are broadcast."""

    @staticmethod
    def broadcast_equal(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where `lhs == rhs`, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_greater(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where `lhs > rhs`, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_greater_equal(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where `lhs >= rhs`, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_hypot(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`sqrt(lhs^2 + rhs^2)`, without overflow on the way.  Shapes are broadcast."""

    @staticmethod
    def broadcast_lesser(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where `lhs < rhs`, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_lesser_equal(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where `lhs <= rhs`, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_like(lhs: Any, rhs: Any, lhs_axes: int | Sequence[int] | None = None, rhs_axes: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Repeats axes of length 1 of `lhs` to fit `rhs`: all, or those in `lhs_axes` to fit those in `rhs_axes`."""

    @staticmethod
    def broadcast_logical_and(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where neither `lhs` nor `rhs` is 0, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_logical_or(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where `lhs` or `rhs` is not 0, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_logical_xor(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where exactly one of `lhs` and `rhs` is not 0, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_maximum(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The larger of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_minimum(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The smaller of the two values; where they are equal, the gradient goes to `lhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_minus(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The difference `lhs - rhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_mod(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_mul(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The product `lhs * rhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_not_equal(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where `lhs != rhs`, else 0.  Shapes are broadcast."""

    @staticmethod
    def broadcast_plus(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum `lhs + rhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_power(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`lhs` to the power of `rhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_sub(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The difference `lhs - rhs`.  Shapes are broadcast."""

    @staticmethod
    def broadcast_to(data: Any, shape: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """Repeats axes of length 1 so that the array gets `shape`; 0 in it keeps an axis as it is."""

    @staticmethod
    def cast(data: Any, dtype: DType, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data` in another dtype; floats become integers by dropping the fraction."""

    @staticmethod
    def cast_storage(data: Any, stype: Literal['csr', 'default', 'row_sparse'], *, out: Any = None, name: str | None = None) -> NDArray:
        """A copy of an array in another storage type: 'default', 'row_sparse' or 'csr'."""

    @staticmethod
    def cbrt(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The cube root, negative for negative values."""

    @staticmethod
    def ceil(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The smallest integer that is not below the value.  The gradient is zero."""

    @staticmethod
    def choose_element_0index(data: Any, index: Any, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> NDArray:
        """One element along `axis` for each place of the other axes: the one that `index` says there."""

    @staticmethod
    def clip(data: Any, a_min: float, a_max: float, *, out: Any = None, name: str | None = None) -> NDArray:
        """`data` with values below `a_min` raised to it and values above `a_max` lowered to it."""

    @staticmethod
    def col2im(data: Any, output_size: int | Sequence[int], kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """Columns of patches put back into an image of `output_size`, added up where they overlap."""

    @staticmethod
    def concat(*data: Any, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """Arrays behind each other along axis `dim`; the other axes must agree."""

    @staticmethod
    def cos(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The cosine of an angle in radians."""

    @staticmethod
    def cosh(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The hyperbolic cosine."""

    @staticmethod
    def crop(data: Any, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

    @staticmethod
    def ctc_loss(data: Any, label: Any, data_lengths: Any | None = None, label_lengths: Any | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, out: Any = None, name: str | None = None) -> NDArray:
        """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

    @staticmethod
    def cumsum(a: Any, axis: int | None = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """The running sum along `axis`; without it, of the flattened array."""

    @staticmethod
    def degrees(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """An angle in radians, given in degrees."""

    @staticmethod
    def depth_to_space(data: Any, block_size: int, *, out: Any = None, name: str | None = None) -> NDArray:
        """Moves channels into blocks of space: (n, c, h, w) becomes (n, c / b**2, h * b, w * b)."""

    @staticmethod
    def diag(data: Any, k: int = 0, axis1: int = 0, axis2: int = 1, *, out: Any = None, name: str | None = None) -> NDArray:
        """The k-th diagonal over two axes, as the last axis; of a vector, the matrix that has it as its k-th diagonal."""

    @staticmethod
    def dot(lhs: Any, rhs: Any, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Product over the last axis of `lhs` and the first of `rhs`: of matrices, the matrix product."""

    @staticmethod
    def elemwise_add(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum `lhs + rhs`."""

    @staticmethod
    def elemwise_div(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The quotient `lhs / rhs`; of integers without its fraction."""

    @staticmethod
    def elemwise_mul(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The product `lhs * rhs`."""

    @staticmethod
    def elemwise_sub(lhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The difference `lhs - rhs`."""

    @staticmethod
    def erf(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The Gauss error function."""

    @staticmethod
    def erfinv(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The inverse of the Gauss error function; infinite at -1 and 1."""

    @staticmethod
    def exp(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The exponential function."""

    @staticmethod
    def expand_dims(data: Any, axis: int, *, out: Any = None, name: str | None = None) -> NDArray:
        """A new axis of length 1 before `axis`."""

    @staticmethod
    def expm1(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`exp(x) - 1`, accurate near 0."""

    @staticmethod
    def fill_element_0index(lhs: Any, mhs: Any, rhs: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The matrix `lhs` with one element per row replaced: row i has `mhs[i]` in column `rhs[i]`."""

    @staticmethod
    def fix(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value without its fraction: the nearest integer towards 0.  The gradient is zero."""

    @staticmethod
    def flatten(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """A matrix: all axes but the first in one."""

    @staticmethod
    def flip(data: Any, axis: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements in reverse order along the axes in `axis`."""

    @staticmethod
    def floor(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The largest integer that is not above the value.  The gradient is zero."""

    @staticmethod
    def ftml_update(weight: Any, grad: Any, d: Any, v: Any, z: Any, lr: float, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-08, t: int = ..., wd: float = 0.0, rescale_grad: float = 1.0, clip_grad: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Follow the moving leader: the weight is where a running sum of gradients and of distances is smallest."""

    @staticmethod
    def ftrl_update(weight: Any, grad: Any, z: Any, n: Any, lr: float, lamda1: float = 0.01, beta: float = 1.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Follow the regularized leader: weights whose sum of gradients stays below `lamda1` are exactly zero."""

    @staticmethod
    def gamma(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The gamma function; `gamma(n)` is `(n - 1)!`."""

    @staticmethod
    def gammaln(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The logarithm of the absolute value of the gamma function."""

    @staticmethod
    def gather_nd(data: Any, indices: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""

    @staticmethod
    def hard_sigmoid(data: Any, alpha: float = 0.2, beta: float = 0.5, *, out: Any = None, name: str | None = None) -> NDArray:
        """`alpha * x + beta`, cut off at 0 and 1.  The gradient is zero where it is cut off, the corners included."""

    @staticmethod
    def identity(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """A copy."""

    @staticmethod
    def im2col(data: Any, kernel: int | Sequence[int], stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """The patches that a convolution with this window would see: (n, channels * kernel size, number of patches)."""

    @staticmethod
    def khatri_rao(*data: Any, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
        """The Kronecker products of the columns: column k of the result is that of column k of all matrices."""

    @staticmethod
    def lamb_update_phase1(weight: Any, grad: Any, mean: Any, var: Any, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, t: int = ..., bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """First half of LAMB: the direction of the step (Adam's with weight decay), not yet scaled."""

    @staticmethod
    def lamb_update_phase2(weight: Any, g: Any, r1: Any, r2: Any, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Second half of LAMB: a step along `g`, scaled by the length of the weight `r1` over that of `g`, `r2`."""

    @staticmethod
    def linalg_det(A: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """Determinant of square matrices; of a single one with shape (1,), in np mode ()."""

    @staticmethod
    def linalg_extractdiag(A: Any, offset: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Diagonal of square matrices; `offset` counts to the right of the main one (negative: below)."""

    @staticmethod
    def linalg_extracttrian(A: Any, offset: int = 0, lower: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """Triangle of square matrices as a vector, the lower one row by row, the upper one column by column."""

    @staticmethod
    def linalg_gelqf(A: Any, *, out: Any = None, name: str | None = None) -> list[NDArray]:
        """Q and L of the LQ factorisation A = L Q: L is lower triangular, the rows of Q are orthonormal."""

    @staticmethod
    def linalg_gemm(A: Any, B: Any, C: Any, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0, axis: int = -2, *, out: Any = None, name: str | None = None) -> NDArray:
        """alpha * A B + beta * C, with A or B transposed on demand."""

    @staticmethod
    def linalg_gemm2(A: Any, B: Any, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, *, out: Any = None, name: str | None = None) -> NDArray:
        """alpha * A B, with A or B transposed on demand."""

    @staticmethod
    def linalg_inverse(A: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """Inverse of square matrices."""

    @staticmethod
    def linalg_makediag(A: Any, offset: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Square matrices with the last axis of `A` on a diagonal; `offset` counts to the right (negative: below)."""

    @staticmethod
    def linalg_maketrian(A: Any, offset: int = 0, lower: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """Square matrices, zero but for a triangle with the values of `A`'s last axis: the inverse of extracttrian."""

    @staticmethod
    def linalg_potrf(A: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """Cholesky factor L of symmetric positive definite matrices: A = L L^T."""

    @staticmethod
    def linalg_potri(A: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """Inverse of the matrices that `A` is the Cholesky factor of: (A A^T)^-1, or (A^T A)^-1 with `lower=False`."""

    @staticmethod
    def linalg_slogdet(A: Any, *, out: Any = None, name: str | None = None) -> list[NDArray]:
        """Sign of the determinant of square matrices, and the logarithm of its absolute value."""

    @staticmethod
    def linalg_sumlogdiag(A: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """Sum of the logarithms of the diagonal; of a single matrix with shape (1,)."""

    @staticmethod
    def linalg_syrk(A: Any, transpose: bool = False, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """alpha * A A^T, or alpha * A^T A with `transpose`."""

    @staticmethod
    def linalg_trmm(A: Any, B: Any, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """alpha * A B for a triangular A; alpha * B A with `rightside`; A is transposed with `transpose`."""

    @staticmethod
    def linalg_trsm(A: Any, B: Any, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Solves A X = alpha * B for a triangular A; X A = alpha * B with `rightside`; A is transposed with `transpose`."""

    @staticmethod
    def log(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The natural logarithm; NaN below 0."""

    @staticmethod
    def log10(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The logarithm to the base 10."""

    @staticmethod
    def log1p(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`log(1 + x)`, accurate near 0."""

    @staticmethod
    def log2(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The logarithm to the base 2."""

    @staticmethod
    def log_softmax(data: Any, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The logarithm of `softmax`, accurate where that is close to 0."""

    @staticmethod
    def logical_not(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """1 where the value is 0, else 0, in the dtype of `data`.  The gradient is zero."""

    @staticmethod
    def make_loss(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """A copy that makes `data` a loss: its gradient is 1, whatever comes in from behind."""

    @staticmethod
    def max(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The largest value along `axis`; if there are several, each gets the gradient."""

    @staticmethod
    def max_axis(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The largest value along `axis`; if there are several, each gets the gradient."""

    @staticmethod
    def mean(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The mean along `axis`; of integers without its fraction."""

    @staticmethod
    def min(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The smallest value along `axis`; if there are several, each gets the gradient."""

    @staticmethod
    def min_axis(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The smallest value along `axis`; if there are several, each gets the gradient."""

    @staticmethod
    def moments(data: Any, axes: int | Sequence[int] | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> list[NDArray]:
        """The mean and the variance (the mean of squared deviations) along `axes`."""

    @staticmethod
    def mp_lamb_update_phase1(weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-06, t: int = ..., bias_correction: bool = True, wd: float = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """`lamb_update_phase1` for a weight of low precision; the direction is float32."""

    @staticmethod
    def mp_lamb_update_phase2(weight: Any, g: Any, r1: Any, r2: Any, weight32: Any, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """`lamb_update_phase2` from the float32 copy of a weight of low precision."""

    @staticmethod
    def mp_nag_mom_update(weight: Any, grad: Any, mom: Any, weight32: Any, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """`nag_mom_update` on the float32 copy of a weight of low precision; `mom` is float32, too."""

    @staticmethod
    def mp_sgd_mom_update(weight: Any, grad: Any, mom: Any, weight32: Any, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """`sgd_mom_update` on the float32 copy of a weight of low precision; `mom` is float32, too."""

    @staticmethod
    def mp_sgd_update(weight: Any, grad: Any, weight32: Any, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """`sgd_update` on the float32 copy of a weight of low precision."""

    @staticmethod
    def multi_all_finite(*data: Any, num_arrays: int = 1, init_output: bool = True, out: Any = None, name: str | None = None) -> NDArray:
        """1 if no value of any array is infinite or NaN, else 0; float32 of shape (1,)."""

    @staticmethod
    def multi_lars(lrs: Any, weights_sum_sq: Any, grads_sum_sq: Any, wds: Any, eta: float, eps: float, rescale_grad: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Learning rates of LARS, one per layer: `lrs` times `eta |w| / (rescale_grad |g| + wd |w| + eps)`."""

    @staticmethod
    def multi_mp_sgd_mom_update(*data: Any, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`mp_sgd_mom_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

    @staticmethod
    def multi_mp_sgd_update(*data: Any, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`mp_sgd_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

    @staticmethod
    def multi_sgd_mom_update(*data: Any, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`sgd_mom_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

    @staticmethod
    def multi_sgd_update(*data: Any, lrs: float | Sequence[float] = ..., wds: float | Sequence[float] = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`sgd_update` of several weights, each with a learning rate of `lrs` and a decay of `wds`."""

    @staticmethod
    def multi_sum_sq(*data: Any, num_arrays: int = ..., out: Any = None, name: str | None = None) -> NDArray:
        """The sum of squares of each array; float32 of shape (num_arrays,)."""

    @staticmethod
    def nag_mom_update(weight: Any, grad: Any, mom: Any, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Gradient descent with Nesterov's momentum: the step is taken from where the momentum will have led."""

    @staticmethod
    def nanprod(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The product along `axis`, NaN counted as 1."""

    @staticmethod
    def nansum(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum along `axis`, NaN counted as 0."""

    @staticmethod
    def negative(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value with the opposite sign."""

    @staticmethod
    def norm(data: Any, ord: int = 2, axis: int | Sequence[int] | None = None, out_dtype: DType | None = None, keepdims: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The square root of the sum of squares along `axis`, or with `ord=1` the sum of absolute values."""

    @staticmethod
    def normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Normally distributed numbers with mean `loc` and standard deviation `scale`."""

    @staticmethod
    def one_hot(indices: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
        """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere."""

    @staticmethod
    def ones_like(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """Ones with the shape, dtype and context of `data`."""

    @staticmethod
    def pad(data: Any, mode: Literal['constant', 'edge', 'reflect'], pad_width: int | Sequence[int], constant_value: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """A frame around the array: `pad_width` has the lengths before and after each axis, the first axis first."""

    @staticmethod
    def pick(data: Any, index: Any, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> NDArray:
        """One element along `axis` for each place of the other axes: the one that `index` says there."""

    @staticmethod
    def preloaded_multi_mp_sgd_mom_update(*data: Any, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`multi_mp_sgd_mom_update` whose learning rates and decays are two arrays, the last inputs."""

    @staticmethod
    def preloaded_multi_mp_sgd_update(*data: Any, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`multi_mp_sgd_update` whose learning rates and decays are two arrays, the last inputs."""

    @staticmethod
    def preloaded_multi_sgd_mom_update(*data: Any, momentum: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`multi_sgd_mom_update` whose learning rates and decays are two arrays, the last inputs."""

    @staticmethod
    def preloaded_multi_sgd_update(*data: Any, rescale_grad: float = 1.0, clip_gradient: float = -1.0, num_weights: int = 1, out: Any = None, name: str | None = None) -> NDArray:
        """`multi_sgd_update` whose learning rates and decays are two arrays, the last inputs."""

    @staticmethod
    def prod(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The product along `axis`."""

    @staticmethod
    def radians(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """An angle in degrees, given in radians."""

    @staticmethod
    def random_exponential(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Exponentially distributed numbers with rate `lam`: their mean is `1 / lam`."""

    @staticmethod
    def random_gamma(alpha: float = 1.0, beta: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Gamma distributed numbers with shape parameter `alpha` and scale `beta`: their mean is `alpha * beta`."""

    @staticmethod
    def random_generalized_negative_binomial(mu: float = 1.0, alpha: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Negative binomial counts with mean `mu` and dispersion `alpha`: their variance is `mu + alpha * mu**2`."""

    @staticmethod
    def random_negative_binomial(k: int = 1, p: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """How often something fails before it has succeeded `k` times, where it succeeds with probability `p`."""

    @staticmethod
    def random_normal(loc: float = 0.0, scale: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Normally distributed numbers with mean `loc` and standard deviation `scale`."""

    @staticmethod
    def random_pdf_dirichlet(sample: Any, alpha: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Density of the Dirichlet distribution with concentrations `alpha` along the last axis, or its logarithm."""

    @staticmethod
    def random_pdf_exponential(sample: Any, lam: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Density of the exponential distribution with rate `lam`, or its logarithm."""

    @staticmethod
    def random_pdf_gamma(sample: Any, alpha: Any, beta: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Density of the gamma distribution with shape parameter `alpha` and rate `beta`, or its logarithm."""

    @staticmethod
    def random_pdf_generalized_negative_binomial(sample: Any, mu: Any, alpha: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Probability of counts under the negative binomial with mean `mu` and dispersion `alpha`, or its logarithm."""

    @staticmethod
    def random_pdf_negative_binomial(sample: Any, k: Any, p: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Probability of that many failures before the `k`-th success of probability `p`, or its logarithm."""

    @staticmethod
    def random_pdf_normal(sample: Any, mu: Any, sigma: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Density of the normal distribution with mean `mu` and deviation `sigma`, or its logarithm."""

    @staticmethod
    def random_pdf_poisson(sample: Any, lam: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Probability of counts under the Poisson distribution with mean `lam`, or its logarithm."""

    @staticmethod
    def random_pdf_uniform(sample: Any, low: Any, high: Any, is_log: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """Density of the uniform distribution between `low` and `high`, or its logarithm."""

    @staticmethod
    def random_poisson(lam: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Poisson distributed counts with mean `lam`, as floating point numbers."""

    @staticmethod
    def random_randint(low: int, high: int, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Integers between `low` (included) and `high` (excluded), all equally likely; int32 unless `dtype` says int64."""

    @staticmethod
    def random_uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

    @staticmethod
    def ravel_multi_index(data: Any, shape: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Turns positions in an array of `shape`, one per column of `data`, into numbers in the flattened array."""

    @staticmethod
    def rcbrt(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """One over the cube root."""

    @staticmethod
    def reciprocal(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """One over the value."""

    @staticmethod
    def relu(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value where it is positive, else 0; the gradient at 0 is 0."""

    @staticmethod
    def repeat(data: Any, repeats: int, axis: int | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Every element `repeats` times, one beside the other, along an axis or (axis=None) of all elements in a row."""

    @staticmethod
    def reset_arrays(*data: Any, num_arrays: int = ..., out: Any = None, name: str | None = None) -> list[NDArray]:
        """Sets all given arrays to zero."""

    @staticmethod
    def reshape(data: Any, shape: int | Sequence[int] = (), reverse: bool = False, target_shape: int | Sequence[int] = (), keep_highest: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The same elements in another shape."""

    @staticmethod
    def reshape_like(lhs: Any, rhs: Any, lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient."""

    @staticmethod
    def reverse(data: Any, axis: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements in reverse order along the axes in `axis`."""

    @staticmethod
    def rint(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The nearest integer; of two equally near ones the lower.  The gradient is zero."""

    @staticmethod
    def rmsprop_update(weight: Any, grad: Any, n: Any, lr: float, gamma1: float = 0.95, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Tieleman and Hinton's RMSProp: the gradient over the root of the running average of its square."""

    @staticmethod
    def rmspropalex_update(weight: Any, grad: Any, n: Any, g: Any, delta: Any, lr: float, gamma1: float = 0.95, gamma2: float = 0.9, epsilon: float = 1e-08, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, clip_weights: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Graves' RMSProp: divides by the running deviation of the gradient, `sqrt(n - g**2 + epsilon)`, with momentum."""

    @staticmethod
    def round(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The nearest integer; of two equally near ones that further from 0.  The gradient is zero."""

    @staticmethod
    def rsqrt(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """One over the square root."""

    @staticmethod
    def sample_exponential(lam: Any, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Exponential draws, `shape` of them for each rate `lam`."""

    @staticmethod
    def sample_gamma(alpha: Any, beta: Any, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Gamma draws, `shape` of them for each shape parameter `alpha` and scale `beta`."""

    @staticmethod
    def sample_generalized_negative_binomial(mu: Any, alpha: Any, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Negative binomial counts, `shape` of them for each mean `mu` and dispersion `alpha`."""

    @staticmethod
    def sample_multinomial(data: Any, shape: int | Sequence[int] = (), get_prob: bool = False, dtype: DType = 'int32', *, out: Any = None, name: str | None = None) -> NDArray:
        """Draws positions along the last axis of `data`, whose values are their probabilities."""

    @staticmethod
    def sample_negative_binomial(k: Any, p: Any, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Counts of failures, `shape` of them for each number of successes `k` and probability of success `p`."""

    @staticmethod
    def sample_normal(mu: Any, sigma: Any, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Normal draws, `shape` of them for each mean `mu` and deviation `sigma`: the result has shape mu.shape + shape."""

    @staticmethod
    def sample_poisson(lam: Any, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Poisson counts, `shape` of them for each mean `lam`, as floating point numbers."""

    @staticmethod
    def sample_uniform(low: Any, high: Any, shape: int | Sequence[int] = (), dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Uniform draws, `shape` of them for each pair of `low` and `high`: the result has shape low.shape + shape."""

    @staticmethod
    def scatter_nd(data: Any, indices: Any, shape: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
        """Zeros of `shape` with `data` at coordinates: `indices[i]` has those along axis i."""

    @staticmethod
    def sgd_mom_update(weight: Any, grad: Any, mom: Any, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """Gradient descent with momentum: `mom = momentum * mom - lr * (grad + wd * weight)`, then `weight + mom`."""

    @staticmethod
    def sgd_update(weight: Any, grad: Any, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, lazy_update: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """Gradient descent: `weight * (1 - lr * wd) - lr * grad`."""

    @staticmethod
    def shape_array(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The shape of `data` as an int64 array."""

    @staticmethod
    def shuffle(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The rows of `data` (its parts along the first axis) in random order; what is inside a row stays in order."""

    @staticmethod
    def sigmoid(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`1 / (1 + exp(-x))`."""

    @staticmethod
    def sign(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """-1, 0 or 1.  The gradient is zero."""

    @staticmethod
    def signsgd_update(weight: Any, grad: Any, lr: float, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Moves every weight by `lr` against the sign of its gradient; how large the gradient is does not matter."""

    @staticmethod
    def signum_update(weight: Any, grad: Any, mom: Any, lr: float, momentum: float = 0.0, wd: float = 0.0, rescale_grad: float = 1.0, clip_gradient: float = -1.0, wd_lh: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Moves every weight by `lr` along the sign of its momentum."""

    @staticmethod
    def sin(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sine of an angle in radians."""

    @staticmethod
    def sinh(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The hyperbolic sine."""

    @staticmethod
    def size_array(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The number of values in `data` as an int64 array of shape (1,)."""

    @staticmethod
    def slice(data: Any, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

    @staticmethod
    def slice_axis(data: Any, axis: int, begin: int, end: int | None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Elements from `begin` up to `end` (None: to the very end) of one axis; the range must not be empty."""

    @staticmethod
    def slice_like(data: Any, shape_like: Any, axes: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """The first elements of `data` along `axes` (by default along all), as many as `shape_like` has there."""

    @staticmethod
    def smooth_l1(data: Any, scalar: float = 1.0, *, out: Any = None, name: str | None = None) -> NDArray:
        """A square near 0 that goes over into a line: with s = `scalar` squared, `0.5 s x^2` where |x| < 1 / s, else"""

    @staticmethod
    def softmax(data: Any, length: Any | None = None, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """`exp(x)` over its sum along `axis`, x divided by `temperature` first."""

    @staticmethod
    def softmax_cross_entropy(data: Any, label: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The cross entropy between softmax of `data` (batch, classes) and class numbers `label` (batch,), summed up."""

    @staticmethod
    def softmin(data: Any, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """`softmax` of the negated values."""

    @staticmethod
    def softsign(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`x / (1 + |x|)`."""

    @staticmethod
    def sort(data: Any, axis: int | None = -1, is_ascend: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements in order along an axis, or (axis=None) all of them in a row."""

    @staticmethod
    def space_to_depth(data: Any, block_size: int, *, out: Any = None, name: str | None = None) -> NDArray:
        """Moves blocks of space into channels: (n, c, h, w) becomes (n, c * b**2, h / b, w / b)."""

    @staticmethod
    def split(data: Any, num_outputs: int, axis: int = 1, squeeze_axis: bool = False, *, out: Any = None, name: str | None = None) -> Any:
        """Splits an axis into `num_outputs` parts of the same length; `squeeze_axis` drops it where they have length 1."""

    @staticmethod
    def sqrt(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The square root; NaN below 0."""

    @staticmethod
    def square(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value times itself."""

    @staticmethod
    def squeeze(data: Any, axis: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Drops axes of length 1: those in `axis`, or all.  If none is left, the result has shape (1,)."""

    @staticmethod
    def stack(*data: Any, axis: int = 0, num_args: int = ..., out: Any = None, name: str | None = None) -> NDArray:
        """Arrays of one shape behind each other along a new axis."""

    @staticmethod
    def stop_gradient(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """A copy through which no gradient goes back."""

    @staticmethod
    def sum(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum along `axis`."""

    @staticmethod
    def sum_axis(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
        """The sum along `axis`."""

    @staticmethod
    def swapaxes(data: Any, dim1: int = 0, dim2: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
        """Exchanges two axes."""

    @staticmethod
    def take(a: Any, indices: Any, axis: int = 0, mode: Literal['clip', 'raise', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> NDArray:
        """The elements of an axis at `indices`, whose axes take its place in the result."""

    @staticmethod
    def tan(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The tangent of an angle in radians."""

    @staticmethod
    def tanh(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The hyperbolic tangent."""

    @staticmethod
    def tile(data: Any, reps: int | Sequence[int], *, out: Any = None, name: str | None = None) -> NDArray:
        """The whole array repeated `reps` times along its axes; missing axes or numbers count as 1 on the left."""

    @staticmethod
    def topk(data: Any, axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
        """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them."""

    @staticmethod
    def transpose(data: Any, axes: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
        """The axes in the order `axes`, by default in reverse order."""

    @staticmethod
    def trunc(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """The value without its fraction, as `fix`.  The gradient is zero."""

    @staticmethod
    def uniform(low: float = 0.0, high: float = 1.0, shape: int | Sequence[int] | None = None, ctx: Any = None, dtype: DType | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Uniformly distributed numbers between `low` (included) and `high` (excluded)."""

    @staticmethod
    def unravel_index(data: Any, shape: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
        """Turns numbers in the flattened array into positions in an array of `shape`, one row per axis."""

    @staticmethod
    def where(condition: Any, x: Any, y: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """`x` where `condition` is not 0, else `y`.  A condition with one axis may choose whole rows."""

    @staticmethod
    def zeros_like(data: Any, *, out: Any = None, name: str | None = None) -> NDArray:
        """Zeros with the shape, dtype and context of `data`."""

    @staticmethod
    def arange(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def eye(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def full(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def histogram(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def linspace(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def load(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def maximum(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def minimum(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def ones(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def power(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def split_v2(*args: Any, **kwargs: Any) -> NDArray: ...
    @staticmethod
    def zeros(*args: Any, **kwargs: Any) -> NDArray: ...
