# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray
from mxnet.numpy.multiarray import ndarray
from ._own import *

def activation(data: NDArray, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: Any = None, name: str | None = None) -> ndarray:
    """An activation function without parameters; `softrelu` is `log(1 + exp(x))`, `softsign` is `x / (1 + |x|)`."""

def arange_like(data: NDArray, start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: Any = '', axis: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """start, start + step, ... in the shape and dtype of `data`, or as many as one axis of it has."""

def batch_dot(lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Literal[None, 'csr', 'default', 'row_sparse'] = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Matrix products over the last two axes; all axes before them number the matrices and must agree."""

def batch_flatten(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """A matrix: all axes but the first in one."""

def batch_norm(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Normalises each channel over the batch to mean 0 and variance 1, then times `gamma` plus `beta`."""

def cast(data: NDArray, dtype: DType, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` in another dtype; floats become integers by dropping the fraction."""

def convolution(data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Convolution over the one, two or three axes that `kernel` has values for."""

def deconvolution(data: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), adj: int | Sequence[int] = (), target_shape: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 512, no_bias: bool = True, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """The transpose of `Convolution` (its gradient with respect to the data); there is no bias by default."""

def dropout(data: NDArray, p: float = 0.5, mode: Literal['always', 'training'] = 'training', axes: int | Sequence[int] = (), cudnn_off: bool | None = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """Sets a random fraction `p` of the values to 0 and multiplies the others by `1 / (1 - p)`."""

def embedding(data: NDArray, weight: NDArray, input_dim: int, output_dim: int, dtype: DType = 'float32', sparse_grad: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`."""

def erf(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The Gauss error function."""

def erfinv(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The inverse of the Gauss error function; infinite at -1 and 1."""

def fully_connected(data: NDArray, weight: NDArray, bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, out: Any = None, name: str | None = None) -> ndarray:
    """A linear layer: `data` times the transpose of `weight`, plus `bias`."""

def gamma(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The gamma function; `gamma(n)` is `(n - 1)!`."""

def gammaln(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The logarithm of the absolute value of the gamma function."""

def gather_nd(data: NDArray, indices: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The elements at coordinates: `indices[i]` has those along axis i of `data`; negative ones count from the end."""

def layer_norm(data: NDArray, gamma: NDArray, beta: NDArray, axis: int = -1, eps: float = 1e-05, output_mean_var: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """Normalises along `axis` to mean 0 and variance 1, then times `gamma` plus `beta`, one value per position."""

def leaky_relu(data: NDArray, gamma: NDArray | None = None, act_type: Literal['elu', 'gelu', 'leaky', 'prelu', 'rrelu', 'selu'] = 'leaky', slope: float = 0.25, lower_bound: float = 0.125, upper_bound: float = 0.334, *, out: Any = None, name: str | None = None) -> ndarray:
    """Rectifiers that let something through below 0."""

def log_softmax(data: NDArray, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """The logarithm of `softmax`, accurate where that is close to 0."""

def multibox_detection(cls_prob: NDArray, loc_pred: NDArray, anchor: NDArray, clip: bool = True, threshold: float = 0.01, background_id: int = 0, nms_threshold: float = 0.5, force_suppress: bool = False, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1, *, out: Any = None, name: str | None = None) -> ndarray:
    """Detections (batch, anchors, 6) with rows (class, score, xmin, ymin, xmax, ymax) from a detector's predictions."""

def multibox_prior(data: NDArray, sizes: float | Sequence[float] = (1.0,), ratios: float | Sequence[float] = (1.0,), clip: bool = False, steps: float | Sequence[float] = (-1.0, -1.0), offsets: float | Sequence[float] = (0.5, 0.5), *, out: Any = None, name: str | None = None) -> ndarray:
    """Anchor boxes (1, boxes, 4) around every pixel of a feature map, in units of the image: 0 ... 1."""

def multibox_target(anchor: NDArray, label: NDArray, cls_pred: NDArray, overlap_threshold: float = 0.5, ignore_label: float = -1.0, negative_mining_ratio: float = -1.0, negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), *, out: Any = None, name: str | None = None) -> list[ndarray]:
    """What anchors should predict, given the boxes in an image: (offsets, mask of the offsets, class)."""

def one_hot(indices: NDArray, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """A new last axis of length `depth` with `on_value` at the index and `off_value` elsewhere."""

def pick(data: NDArray, index: NDArray, axis: int | None = -1, keepdims: bool = False, mode: Literal['clip', 'wrap'] = 'clip', *, out: Any = None, name: str | None = None) -> ndarray:
    """One element along `axis` for each place of the other axes: the one that `index` says there."""

def pooling(data: NDArray, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """Maximum, average, sum or Lp norm of the windows of one to three spatial axes."""

def relu(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The value where it is positive, else 0; the gradient at 0 is 0."""

def reshape_like(lhs: NDArray, rhs: NDArray, lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None, rhs_end: int | None = None, *, out: Any = None, name: str | None = None) -> ndarray:
    """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient."""

def rnn(data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray | None = None, sequence_length: NDArray | None = None, state_size: int = ..., num_layers: int = ..., bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """A stack of recurrent layers over sequences `data` of shape (steps, batch, features)."""

def roi_pooling(data: NDArray, rois: NDArray, pooled_size: int | Sequence[int], spatial_scale: float, *, out: Any = None, name: str | None = None) -> ndarray:
    """The maximum in each of `pooled_size` (height, width) parts of each region: (regions, channels, height, width)."""

def sequence_mask(data: NDArray, sequence_length: NDArray | None = None, use_sequence_length: bool = False, value: float = 0.0, axis: int = 0, *, out: Any = None, name: str | None = None) -> ndarray:
    """`data` with `value` in all steps behind the end of each sequence."""

def shape_array(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """The shape of `data` as an int64 array."""

def sigmoid(data: NDArray, *, out: Any = None, name: str | None = None) -> ndarray:
    """`1 / (1 + exp(-x))`."""

def slice(data: NDArray, begin: int | None | Sequence[int | None], end: int | None | Sequence[int | None], step: int | None | Sequence[int | None] = (), *, out: Any = None, name: str | None = None) -> ndarray:
    """Elements from `begin` up to `end` in steps of `step`, for the first axes; None means from or to the very end."""

def smooth_l1(data: NDArray, scalar: float = 1.0, *, out: Any = None, name: str | None = None) -> ndarray:
    """A square near 0 that goes over into a line: with s = `scalar` squared, `0.5 s x^2` where |x| < 1 / s, else"""

def softmax(data: NDArray, length: NDArray | None = None, axis: int = -1, temperature: float | None = None, dtype: DType | None = None, use_length: bool | None = False, *, out: Any = None, name: str | None = None) -> ndarray:
    """`exp(x)` over its sum along `axis`, x divided by `temperature` first."""

def topk(data: NDArray, axis: int | None = -1, k: int = 1, ret_typ: Literal['both', 'indices', 'mask', 'value'] = 'indices', is_ascend: bool = False, dtype: DType = 'float32', *, out: Any = None, name: str | None = None) -> ndarray:
    """The `k` largest elements along an axis (the smallest with `is_ascend`), in order; k < 1 means all of them."""
