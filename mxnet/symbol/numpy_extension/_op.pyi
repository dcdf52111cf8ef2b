# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.symbol.numpy._symbol import _Symbol

def activation(data: _Symbol | None = None, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """An activation function without parameters; `softrelu` is `log(1 + exp(x))`, `softsign` is `x / (1 + |x|)`."""

def arange_like(data: _Symbol | None = None, start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: Any = '', axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """start, start + step, ... in the shape and dtype of `data`, or as many as one axis of it has."""

def batch_dot(lhs: _Symbol | None = None, rhs: _Symbol | None = None, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Matrix products over the last two axes; all axes before them number the matrices and must agree."""

def batch_flatten(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A matrix: all axes but the first in one."""

def batch_norm(data: _Symbol | None = None, gamma: _Symbol | None = None, beta: _Symbol | None = None, moving_mean: _Symbol | None = None, moving_var: _Symbol | None = None, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Normalises each channel over the batch to mean 0 and variance 1, then times `gamma` plus `beta`."""

def cast(data: _Symbol | None = None, dtype: DType = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` in another dtype; floats become integers by dropping the fraction."""

def convolution(data: _Symbol | None = None, weight: _Symbol | None = None, bias: _Symbol | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Convolution over the one, two or three axes that `kernel` has values for."""

def deconvolution(data: _Symbol | None = None, weight: _Symbol | None = None, bias: _Symbol | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), adj: int | Sequence[int] = (), target_shape: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 512, no_bias: bool = True, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The transpose of `Convolution` (its gradient with respect to the data); there is no bias by default."""

def dropout(data: _Symbol | None = None, p: float = 0.5, mode: Literal['always', 'training'] = 'training', axes: int | Sequence[int] = (), cudnn_off: bool | None = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Sets a random fraction `p` of the values to 0 and multiplies the others by `1 / (1 - p)`."""

def embedding(data: _Symbol | None = None, weight: _Symbol | None = None, input_dim: int = ..., output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`."""

def erf(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The Gauss error function."""

def erfinv(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The inverse of the Gauss error function; infinite at -1 and 1."""

def fully_connected(data: _Symbol | None = None, weight: _Symbol | None = None, bias: _Symbol | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A linear layer: `data` times the transpose of `weight`, plus `bias`."""

def gamma(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The gamma function; `gamma(n)` is `(n - 1)!`."""

def gammaln(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The logarithm of the absolute value of the gamma function."""

def gather_nd(data: _Symbol | None = None, indices: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""

def layer_norm(data: _Symbol | None = None, gamma: _Symbol | None = None, beta: _Symbol | None = None, axis: int = -1, eps: float = 1e-05, output_mean_var: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Normalises along `axis` to mean 0 and variance 1, then times `gamma` plus `beta`, one value per position."""

def leaky_relu(data: _Symbol | None = None, gamma: _Symbol | None = None, act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky', slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Rectifiers that let something through below 0."""

def log_softmax(data: _Symbol | None = None, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The logarithm of `softmax`, accurate where that is close to 0."""

def multibox_detection(cls_prob: _Symbol | None = None, loc_pred: _Symbol | None = None, anchor: _Symbol | None = None, clip: bool = True, threshold: float = 0.01, background_id: int = 0, nms_threshold: float = 0.5, force_suppress: bool = False, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Detections (batch, anchors, 6) with rows (class, score, xmin, ymin, xmax, ymax) from a detector's predictions."""

def multibox_prior(data: _Symbol | None = None, sizes: float | Sequence[float] = (1.0,), ratios: float | Sequence[float] = (1.0,), clip: bool = False, steps: float | Sequence[float] = (-1.0, -1.0), offsets: float | Sequence[float] = (0.5, 0.5), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Anchor boxes (1, boxes, 4) around every pixel of a feature map, in units of the image: 0 ... 1."""

def multibox_target(anchor: _Symbol | None = None, label: _Symbol | None = None, cls_pred: _Symbol | None = None, overlap_threshold: float = 0.5, ignore_label: float = -1.0, negative_mining_ratio: float = -1.0, negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """What anchors should predict, given the boxes in an image: (offsets, mask of the offsets, class)."""

def one_hot(indices: _Symbol | None = None, depth: int = ..., on_value: float = 1.0, off_value: float = 0.0, dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere."""

def pick(data: _Symbol | None = None, index: _Symbol | None = None, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """One element along `axis` for each place of the other axes: the one that `index` says there."""

def pooling(data: _Symbol | None = None, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Maximum, average, sum or Lp norm of the windows of one to three spatial axes."""

def relu(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The value where it is positive, else 0; the gradient at 0 is 0."""

def reshape_like(lhs: _Symbol | None = None, rhs: _Symbol | None = None, lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient."""

def rnn(data: _Symbol | None = None, parameters: _Symbol | None = None, state: _Symbol | None = None, state_cell: _Symbol | None = None, sequence_length: _Symbol | None = None, state_size: int = ..., num_layers: int = ..., bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A stack of recurrent layers over sequences `data` of shape (steps, batch, features)."""

def roi_pooling(data: _Symbol | None = None, rois: _Symbol | None = None, pooled_size: int | Sequence[int] = ..., spatial_scale: float = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The maximum in each of `pooled_size` (height, width) parts of each region: (regions, channels, height, width)."""

def sequence_mask(data: _Symbol | None = None, sequence_length: _Symbol | None = None, use_sequence_length: bool = False, value: float = 0.0, axis: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`data` with `value` in all steps behind the end of each sequence."""

def shape_array(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The shape of `data` as an int64 array."""

def sigmoid(data: _Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`1 / (1 + exp(-x))`."""

def slice(data: _Symbol | None = None, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def smooth_l1(data: _Symbol | None = None, scalar: float = 1.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """A square near 0 that goes over into a line: with s = `scalar` squared, `0.5 s x^2` where |x| < 1 / s, else"""

def softmax(data: _Symbol | None = None, length: _Symbol | None = None, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """`exp(x)` over its sum along `axis`, x divided by `temperature` first."""

def topk(data: _Symbol | None = None, axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False, dtype: DType = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> _Symbol:
    """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them."""
