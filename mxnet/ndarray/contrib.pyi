# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.ndarray.ndarray import NDArray
from ._contrib import *
from ._contrib_optimizers import *

def AdaptiveAvgPooling2D(data: NDArray, output_size: int | Sequence[int] = (), *, out: Any = None, name: str | None = None) -> NDArray:
    """Averages of (batch, channels, height, width) to `output_size`: a height and a width, one number for both, or 1."""

def BatchNormWithReLU(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """BatchNorm, then relu."""

def BilinearResize2D(data: NDArray, like: NDArray | None = None, height: int = 1, width: int = 1, scale_height: float | None = None, scale_width: float | None = None, mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] = 'size', align_corners: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """Resizes images (batch, channels, height, width) with bilinear interpolation."""

def CTCLoss(data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, out: Any = None, name: str | None = None) -> NDArray:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def DeformableConvolution(data: NDArray, offset: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, num_deformable_group: int = 1, workspace: int = 1024, no_bias: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """A 2-D convolution that reads each of its points at a place moved by `offset` (Dai and others, 2017)."""

def DeformablePSROIPooling(data: NDArray, rois: NDArray, trans: NDArray | None = None, spatial_scale: float = ..., output_dim: int = ..., group_size: int = ..., pooled_size: int = ..., part_size: int = 0, sample_per_part: int = 1, trans_std: float = 0.0, no_trans: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """`PSROIPooling` of bilinear samples, whose parts are shifted by `trans` (regions, 2 * classes, parts, parts)."""

def ModulatedDeformableConvolution(data: NDArray, offset: NDArray, mask: NDArray, weight: NDArray, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, num_deformable_group: int = 1, workspace: int = 1024, no_bias: bool = False, im2col_step: int = 64, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """`DeformableConvolution` whose samples are also multiplied by `mask` (Zhu and others, 2018)."""

def MultiBoxDetection(cls_prob: NDArray, loc_pred: NDArray, anchor: NDArray, clip: bool = True, threshold: float = 0.01, background_id: int = 0, nms_threshold: float = 0.5, force_suppress: bool = False, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1, *, out: Any = None, name: str | None = None) -> NDArray:
    """Detections (batch, anchors, 6) with rows (class, score, xmin, ymin, xmax, ymax) from a detector's predictions."""

def MultiBoxPrior(data: NDArray, sizes: float | Sequence[float] = (1.0,), ratios: float | Sequence[float] = (1.0,), clip: bool = False, steps: float | Sequence[float] = (-1.0, -1.0), offsets: float | Sequence[float] = (0.5, 0.5), *, out: Any = None, name: str | None = None) -> NDArray:
    """Anchor boxes (1, boxes, 4) around every pixel of a feature map, in units of the image: 0 ... 1."""

def MultiBoxTarget(anchor: NDArray, label: NDArray, cls_pred: NDArray, overlap_threshold: float = 0.5, ignore_label: float = -1.0, negative_mining_ratio: float = -1.0, negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """What anchors should predict, given the boxes in an image: (offsets, mask of the offsets, class)."""

def MultiProposal(cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16, scales: float | Sequence[float] = (4.0, 8.0, 16.0, 32.0), ratios: float | Sequence[float] = (0.5, 1.0, 2.0), feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """`Proposal` for several images: rows (image, xmin, ymin, xmax, ymax), rpn_post_nms_top_n for each image."""

def PSROIPooling(data: NDArray, rois: NDArray, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """The mean in each of `pooled_size` x `pooled_size` parts of each region, from channels that belong to the part."""

def Proposal(cls_prob: NDArray, bbox_pred: NDArray, im_info: NDArray, rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16, scales: float | Sequence[float] = (4.0, 8.0, 16.0, 32.0), ratios: float | Sequence[float] = (0.5, 1.0, 2.0), feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """Regions (rpn_post_nms_top_n, 5) of one image with rows (0, xmin, ymin, xmax, ymax), best first."""

def ROIAlign(data: NDArray, rois: NDArray, pooled_size: int | Sequence[int], spatial_scale: float, sample_ratio: int = -1, position_sensitive: bool = False, aligned: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The mean of bilinear samples in each of `pooled_size` (height, width) parts of each region."""

def RROIAlign(data: NDArray, rois: NDArray, pooled_size: int | Sequence[int], spatial_scale: float, sampling_ratio: int = -1, *, out: Any = None, name: str | None = None) -> NDArray:
    """`ROIAlign` of rotated regions: rows (image, centre x, centre y, width, height, angle in degrees)."""

def SparseEmbedding(data: NDArray, weight: NDArray, input_dim: int, output_dim: int, dtype: DType = 'float32', sparse_grad: bool = False, deterministic: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """The old name of `Embedding` with a gradient that holds only the rows in use; it is deterministic anyway."""

def SyncBatchNorm(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, ndev: int = 1, key: str = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """BatchNorm along axis 1 with the statistics of the batches of all processes."""

def allclose(a: NDArray, b: NDArray, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """1 if all elements of `a` and `b` are equal up to `atol + rtol * abs(b)`, else 0; a uint8 without axes."""

def arange_like(data: NDArray, start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: Any = '', axis: int | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """start, start + step, ... in the shape and dtype of `data`, or as many as one axis of it has."""

def bipartite_matching(data: NDArray, is_ascend: bool = False, threshold: float = ..., topk: int = -1, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Matches rows with columns of a matrix of scores, best score first, each at most once."""

def boolean_mask(data: NDArray, index: NDArray, axis: int = 0, *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements along `axis` where the vector `index` is not 0.  How many depends on the values."""

def box_decode(data: NDArray, anchors: NDArray, std0: float = 1.0, std1: float = 1.0, std2: float = 1.0, std3: float = 1.0, clip: float = -1.0, format: Literal['center', 'corner'] = 'center', *, out: Any = None, name: str | None = None) -> NDArray:
    """Boxes (xmin, ymin, xmax, ymax) from predicted offsets `data` (batch, boxes, 4) and `anchors` (1, boxes, 4)."""

def box_encode(samples: NDArray, matches: NDArray, anchors: NDArray, refs: NDArray, means: NDArray, stds: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Training targets of box regression: offsets of the matched `refs` from `anchors`, and a mask of what counts."""

def box_iou(lhs: NDArray, rhs: NDArray, format: Literal['center', 'corner'] = 'corner', *, out: Any = None, name: str | None = None) -> NDArray:
    """Intersection over union of every box of `lhs` (..., 4) with every one of `rhs`; it sends no gradient back."""

def box_nms(data: NDArray, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1, background_id: int = -1, force_suppress: bool = False, in_format: Literal['center', 'corner'] = 'corner', out_format: Literal['center', 'corner'] = 'corner', *, out: Any = None, name: str | None = None) -> NDArray:
    """Boxes by falling score without those that overlap a better one by more than `overlap_thresh`."""

def box_non_maximum_suppression(data: NDArray, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1, background_id: int = -1, force_suppress: bool = False, in_format: Literal['center', 'corner'] = 'corner', out_format: Literal['center', 'corner'] = 'corner', *, out: Any = None, name: str | None = None) -> NDArray:
    """Boxes by falling score without those that overlap a better one by more than `overlap_thresh`."""

def calibrate_entropy(hist: NDArray, hist_edges: NDArray, num_quantized_bins: int = 255, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """The threshold of a range, found from a histogram: int8 values within it tell most about the floating point ones."""

def count_sketch(data: NDArray, h: NDArray, s: NDArray, out_dim: int, processing_batch_size: int = 32, *, out: Any = None, name: str | None = None) -> NDArray:
    """The count sketch of the last axis: element i is added, times the sign `s[i]`, to element `h[i]` of the result."""

def ctc_loss(data: NDArray, label: NDArray, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, out: Any = None, name: str | None = None) -> NDArray:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def dequantize(data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['float32'] = 'float32', *, out: Any = None, name: str | None = None) -> NDArray:
    """The floating point values that int8, uint8 or int32 data with its range stands for."""

def dgl_adjacency(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The graph of a csr array with a float32 1 for every edge, whatever its number."""

def dgl_csr_neighbor_non_uniform_sample(*data: NDArray, num_args: int = ..., num_hops: int = 1, num_neighbor: int = 2, max_num_vertices: int = 100, out: Any = None, name: str | None = None) -> Any:
    """The same as `dgl_csr_neighbor_uniform_sample`, but neighbours are drawn in proportion to their `probability`."""

def dgl_csr_neighbor_uniform_sample(*data: NDArray, num_args: int = ..., num_hops: int = 1, num_neighbor: int = 2, max_num_vertices: int = 100, out: Any = None, name: str | None = None) -> Any:
    """Walks from seed vertices into a graph, through at most `num_neighbor` edges of every vertex that it meets."""

def dgl_graph_compact(*data: NDArray, num_args: int = ..., return_mapping: bool = ..., graph_sizes: int | Sequence[int] = ..., out: Any = None, name: str | None = None) -> Any:
    """What the sampling operators drew as graphs of their own: without empty rows at the end, vertices numbered anew."""

def dgl_subgraph(*data: NDArray, num_args: int = ..., return_mapping: bool = ..., out: Any = None, name: str | None = None) -> Any:
    """The parts of a graph that lie between given vertices, which are numbered anew in this order."""

def div_sqrt_dim(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` over the square root of the length of its last axis, as attention scales its scores."""

def edge_id(data: NDArray, u: NDArray, v: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The numbers of the edges from u[i] to v[i] in a graph, a csr array; -1 where there is none."""

def fft(data: NDArray, compute_size: int = 128, *, out: Any = None, name: str | None = None) -> NDArray:
    """The Fourier transform of the last axis: real and imaginary parts in turns, so twice as long."""

def getnnz(data: NDArray, axis: int | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """How many values a csr array stores: altogether, in each column (axis=0) or in each row (axis=1)."""

def gradientmultiplier(data: NDArray, scalar: float = 1.0, is_int: bool = True, *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy whose gradient is multiplied by `scalar`; a negative one reverses it, for adversarial training."""

def group_adagrad_update(weight: NDArray, grad: NDArray, history: NDArray, lr: float, rescale_grad: float = 1.0, clip_gradient: float = -1.0, epsilon: float = 1e-05, *, out: Any = None, name: str | None = None) -> NDArray:
    """AdaGrad with one rate for each row: `history += mean(grad ** 2, of a row); weight -= lr * grad / sqrt(history +"""

def hawkesll(lda: NDArray, alpha: NDArray, beta: NDArray, state: NDArray, lags: NDArray, marks: NDArray, valid_length: NDArray, max_time: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """The log likelihood of marked points in time under independent, self-exciting (Hawkes) processes."""

def ifft(data: NDArray, compute_size: int = 128, *, out: Any = None, name: str | None = None) -> NDArray:
    """The real part of the inverse Fourier transform of what `fft` returns, not divided by its length."""

def index_array(data: NDArray, axes: int | Sequence[int] | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """The coordinates of every element of `data` as a new last axis (int64): all of them, or those along `axes`."""

def index_copy(old_tensor: NDArray, index_vector: NDArray, new_tensor: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`old_tensor` with rows replaced: row i of `new_tensor` goes to row `index_vector[i]`."""

def interleaved_matmul_encdec_qk(queries: NDArray, keys_values: NDArray, heads: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """Scores of attention from one sequence to another: query times key over the square root of a head's features."""

def interleaved_matmul_encdec_valatt(keys_values: NDArray, attention: NDArray, heads: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """Values of another sequence weighted by `attention` (batch * heads, query length, length)."""

def interleaved_matmul_selfatt_qk(queries_keys_values: NDArray, heads: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """Scores of self-attention: query times key over the square root of a head's features."""

def interleaved_matmul_selfatt_valatt(queries_keys_values: NDArray, attention: NDArray, heads: int, *, out: Any = None, name: str | None = None) -> NDArray:
    """Values of self-attention weighted by `attention` (batch * heads, length, length)."""

def mrcnn_mask_target(rois: NDArray, gt_masks: NDArray, matches: NDArray, cls_targets: NDArray, num_rois: int, num_classes: int, mask_size: int | Sequence[int], sample_ratio: int = 2, aligned: bool = False, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Targets of the masks of Mask R-CNN: the part of its object's mask in each region, and what counts in a loss."""

def quadratic(data: NDArray, a: float = 0.0, b: float = 0.0, c: float = 0.0, *, out: Any = None, name: str | None = None) -> NDArray:
    """`a x^2 + b x + c`."""

def quantize(data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['int8', 'uint8'] = 'uint8', *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Floating point values between `min_range` and `max_range` as int8 or uint8, and the range that is mapped to them."""

def quantize_asym(data: NDArray, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Floating point values as uint8 by a scale and a shift: `data * scale + shift`, rounded."""

def quantize_v2(data: NDArray, out_type: Literal['auto', 'int8', 'uint8'] = 'int8', min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Floating point values as int8 or uint8, with the calibrated range, or else that of the data."""

def quantized_act(data: NDArray, min_data: NDArray, max_data: NDArray, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'], *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """relu of int8 or uint8 data; the range stays."""

def quantized_batch_norm(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray, min_data: NDArray, max_data: NDArray, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """BatchNorm of int8 or uint8 data with the moving statistics -> int8, whose range must be calibrated."""

def quantized_concat(*data: NDArray, num_args: int = ..., dim: int = 1, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Joins int8 and uint8 arrays along an axis, rescaled to a range that holds all of theirs."""

def quantized_conv(data: NDArray, weight: NDArray, bias: NDArray | None = None, min_data: NDArray | None = None, max_data: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None, min_bias: NDArray | None = None, max_bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Convolution of int8 or uint8 data with an int8 weight and bias -> int32 and its range; channels come second."""

def quantized_elemwise_add(lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray, rhs_max: NDArray, min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Sum of int8 or uint8 arrays: int32, or with a calibrated range what the arrays are (int8 if they differ)."""

def quantized_elemwise_mul(lhs: NDArray, rhs: NDArray, lhs_min: NDArray, lhs_max: NDArray, rhs_min: NDArray, rhs_max: NDArray, min_calib_range: float | None = None, max_calib_range: float | None = None, enable_float_output: bool = False, *, out: Any = None, name: str | None = None) -> Any:
    """Product of int8 arrays: int32, int8 with a calibrated range, or floating point if that is asked for."""

def quantized_embedding(data: NDArray, weight: NDArray, min_weight: NDArray, max_weight: NDArray, input_dim: int, output_dim: int, dtype: DType = 'float32', sparse_grad: bool = False, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Rows of an int8 weight at the indices in `data`; the range stays."""

def quantized_flatten(data: NDArray, min_data: NDArray, max_data: NDArray, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """All axes but the first as one; the range stays."""

def quantized_fully_connected(data: NDArray, weight: NDArray, bias: NDArray | None = None, min_data: NDArray | None = None, max_data: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None, min_bias: NDArray | None = None, max_bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """FullyConnected of int8 or uint8 data with an int8 weight and bias -> int32 and its range."""

def quantized_pooling(data: NDArray, min_data: NDArray, max_data: NDArray, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Pooling of int8 or uint8 data, by maximum or average; the range stays."""

def quantized_rnn(data: NDArray, parameters: NDArray, state: NDArray, state_cell: NDArray, data_scale: NDArray, data_shift: NDArray, state_size: int, num_layers: int, bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, *, out: Any = None, name: str | None = None) -> NDArray:
    """LSTM layers on uint8 data as `quantize_asym` gives it; states and parameters are floating point."""

def requantize(data: NDArray, min_range: NDArray, max_range: NDArray, out_type: Literal['auto', 'int8', 'uint8'] = 'int8', min_calib_range: float | None = None, max_calib_range: float | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """int32 data (the result of a quantized layer) as int8, with the calibrated range, or else that of the data."""

def round_ste(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`round`, with the gradient of a copy (a straight-through estimator)."""

def sign_ste(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sign`, with the gradient of a copy (a straight-through estimator)."""
