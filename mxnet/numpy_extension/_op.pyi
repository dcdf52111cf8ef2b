# Made by `python -m mxnet._frontend.stubs` from the operator table: do not edit.
from collections.abc import Sequence
from typing import Any, Literal

from ._own import *
from ..numpy import ndarray as NDArray

def activation(data: NDArray, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """An activation function without parameters; `softrelu` is `log(1 + exp(x))`, `softsign` is `x / (1 + |x|)`."""

def arange_like(data: NDArray, start: float = ..., step: float = ..., repeat: int = ..., ctx: Any = ..., axis: int | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """start, start + step, ... in the shape and dtype of `data`, or as many as one axis of it has."""

def batch_dot(lhs: NDArray, rhs: NDArray | None = None, transpose_a: bool = ..., transpose_b: bool = ..., forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Matrix products over the last two axes; all axes before them number the matrices and must agree."""

def batch_flatten(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """A matrix: all axes but the first in one."""

def batch_norm(data: NDArray, gamma: NDArray | None = None, beta: NDArray | None = None, moving_mean: NDArray | None = None, moving_var: NDArray | None = None, eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., *, out: Any = None, name: str | None = None) -> Any:
    """Normalises each channel over the batch to mean 0 and variance 1, then times `gamma` plus `beta`."""

def cast(data: NDArray, dtype: Any = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` in another dtype; floats become integers by dropping the fraction."""

def convolution(data: NDArray, weight: NDArray | None = None, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int = ..., num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = ..., cudnn_off: bool = ..., layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Convolution over the one, two or three axes that `kernel` has values for."""

def deconvolution(data: NDArray, weight: NDArray | None = None, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., adj: int | Sequence[int] = ..., target_shape: int | Sequence[int] = ..., num_filter: int = ..., num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = ..., cudnn_off: bool = ..., layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The transpose of `Convolution` (its gradient with respect to the data); there is no bias by default."""

def dropout(data: NDArray, p: float = ..., mode: Literal['always', 'training'] = ..., axes: int | Sequence[int] = ..., cudnn_off: bool | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Sets a random fraction `p` of the values to 0 and multiplies the others by `1 / (1 - p)`."""

def embedding(data: NDArray, weight: NDArray | None = None, input_dim: int = ..., output_dim: int = ..., dtype: Any = ..., sparse_grad: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`."""

def erf(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The Gauss error function."""

def erfinv(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The inverse of the Gauss error function; infinite at -1 and 1."""

def fully_connected(data: NDArray, weight: NDArray | None = None, bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = ..., flatten: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """A linear layer: `data` times the transpose of `weight`, plus `bias`."""

def gamma(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The gamma function; `gamma(n)` is `(n - 1)!`."""

def gammaln(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm of the absolute value of the gamma function."""

def gather_nd(data: NDArray, indices: NDArray | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""

def layer_norm(data: NDArray, gamma: NDArray | None = None, beta: NDArray | None = None, axis: int = ..., eps: float = ..., output_mean_var: bool = ..., *, out: Any = None, name: str | None = None) -> Any:
    """Normalises along `axis` to mean 0 and variance 1, then times `gamma` plus `beta`, one value per position."""

def leaky_relu(data: NDArray, gamma: NDArray | None = None, act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = ..., slope: float = ..., lower_bound: float = ..., upper_bound: float = ..., *, out: Any = None, name: str | None = None) -> Any:
    """Rectifiers that let something through below 0."""

def log_softmax(data: NDArray, axis: int = ..., temperature: float | None = ..., dtype: Any | None = ..., use_length: bool | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The logarithm of `softmax`, accurate where that is close to 0."""

def multibox_detection(cls_prob: NDArray, loc_pred: NDArray | None = None, anchor: NDArray | None = None, clip: bool = ..., threshold: float = ..., background_id: int = ..., nms_threshold: float = ..., force_suppress: bool = ..., variances: float | Sequence[float] = ..., nms_topk: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Detections (batch, anchors, 6) with rows (class, score, xmin, ymin, xmax, ymax) from a detector's predictions."""

def multibox_prior(data: NDArray, sizes: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., clip: bool = ..., steps: float | Sequence[float] = ..., offsets: float | Sequence[float] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Anchor boxes (1, boxes, 4) around every pixel of a feature map, in units of the image: 0 ... 1."""

def multibox_target(anchor: NDArray, label: NDArray | None = None, cls_pred: NDArray | None = None, overlap_threshold: float = ..., ignore_label: float = ..., negative_mining_ratio: float = ..., negative_mining_thresh: float = ..., minimum_negative_samples: int = ..., variances: float | Sequence[float] = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """What anchors should predict, given the boxes in an image: (offsets, mask of the offsets, class)."""

def one_hot(indices: NDArray, depth: int = ..., on_value: float = ..., off_value: float = ..., dtype: Any = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere."""

def pick(data: NDArray, index: NDArray | None = None, axis: int | None = ..., keepdims: bool = ..., mode: Literal['clip', 'wrap'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """One element along `axis` for each place of the other axes: the one that `index` says there."""

def pooling(data: NDArray, kernel: int | Sequence[int] = ..., pool_type: Literal['avg', 'lp', 'max', 'sum'] = ..., global_pool: bool = ..., cudnn_off: bool = ..., pooling_convention: Literal['full', 'same', 'valid'] = ..., stride: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., p_value: int | None = ..., count_include_pad: bool | None = ..., layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Maximum, average, sum or Lp norm of the windows of one to three spatial axes."""

def relu(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The value where it is positive, else 0; the gradient at 0 is 0."""

def reshape_like(lhs: NDArray, rhs: NDArray | None = None, lhs_begin: int | None = ..., lhs_end: int | None = ..., rhs_begin: int | None = ..., rhs_end: int | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient."""

def rnn(data: NDArray, parameters: NDArray | None = None, state: NDArray | None = None, state_cell: NDArray | None = None, sequence_length: NDArray | None = None, state_size: int = ..., num_layers: int = ..., bidirectional: bool = ..., mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., *, out: Any = None, name: str | None = None) -> Any:
    """A stack of recurrent layers over sequences `data` of shape (steps, batch, features)."""

def roi_pooling(data: NDArray, rois: NDArray | None = None, pooled_size: int | Sequence[int] = ..., spatial_scale: float = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The maximum in each of `pooled_size` (height, width) parts of each region: (regions, channels, height, width)."""

def sequence_mask(data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = ..., value: float = ..., axis: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` with `value` in all steps behind the end of each sequence."""

def shape_array(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The shape of `data` as an int64 array."""

def sigmoid(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`1 / (1 + exp(-x))`."""

def slice(data: NDArray, begin: int | None | Sequence[int | None] = ..., end: int | None | Sequence[int | None] = ..., step: int | None | Sequence[int | None] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def smooth_l1(data: NDArray, scalar: float = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """A square near 0 that goes over into a line: with s = `scalar` squared, `0.5 s x^2` where |x| < 1 / s, else"""

def softmax(data: NDArray, length: NDArray | None = None, axis: int = ..., temperature: float | None = ..., dtype: Any | None = ..., use_length: bool | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`exp(x)` over its sum along `axis`, x divided by `temperature` first."""

def topk(data: NDArray, axis: int | None = ..., k: int = ..., ret_typ: Literal['both', 'indices', 'mask', 'value'] = ..., is_ascend: bool = ..., dtype: Any = ..., *, out: Any = None, name: str | None = None) -> Any:
    """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them."""
