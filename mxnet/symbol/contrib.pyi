# Made by `python -m mxnet._frontend.stubs`: do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mxnet._typing import DType
from mxnet.symbol.symbol import Symbol
from ._contrib import *

def AdaptiveAvgPooling2D(data: Symbol | None = None, output_size: int | Sequence[int] = (), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Averages of (batch, channels, height, width) to `output_size`: a height and a width, one number for both, or 1."""

def BatchNormWithReLU(data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None, moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """BatchNorm, then relu."""

def BilinearResize2D(data: Symbol | None = None, like: Symbol | None = None, height: int = 1, width: int = 1, scale_height: float | None = None, scale_width: float | None = None, mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] = 'size', align_corners: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Resizes images (batch, channels, height, width) with bilinear interpolation."""

def CTCLoss(data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None, label_lengths: Symbol | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def DeformableConvolution(data: Symbol | None = None, offset: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, num_deformable_group: int = 1, workspace: int = 1024, no_bias: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A 2-D convolution that reads each of its points at a place moved by `offset` (Dai and others, 2017)."""

def DeformablePSROIPooling(data: Symbol | None = None, rois: Symbol | None = None, trans: Symbol | None = None, spatial_scale: float = ..., output_dim: int = ..., group_size: int = ..., pooled_size: int = ..., part_size: int = 0, sample_per_part: int = 1, trans_std: float = 0.0, no_trans: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`PSROIPooling` of bilinear samples, whose parts are shifted by `trans` (regions, 2 * classes, parts, parts)."""

def ModulatedDeformableConvolution(data: Symbol | None = None, offset: Symbol | None = None, mask: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, num_deformable_group: int = 1, workspace: int = 1024, no_bias: bool = False, im2col_step: int = 64, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`DeformableConvolution` whose samples are also multiplied by `mask` (Zhu and others, 2018)."""

def MultiBoxDetection(cls_prob: Symbol | None = None, loc_pred: Symbol | None = None, anchor: Symbol | None = None, clip: bool = True, threshold: float = 0.01, background_id: int = 0, nms_threshold: float = 0.5, force_suppress: bool = False, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Detections (batch, anchors, 6) with rows (class, score, xmin, ymin, xmax, ymax) from a detector's predictions."""

def MultiBoxPrior(data: Symbol | None = None, sizes: float | Sequence[float] = (1.0,), ratios: float | Sequence[float] = (1.0,), clip: bool = False, steps: float | Sequence[float] = (-1.0, -1.0), offsets: float | Sequence[float] = (0.5, 0.5), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Anchor boxes (1, boxes, 4) around every pixel of a feature map, in units of the image: 0 ... 1."""

def MultiBoxTarget(anchor: Symbol | None = None, label: Symbol | None = None, cls_pred: Symbol | None = None, overlap_threshold: float = 0.5, ignore_label: float = -1.0, negative_mining_ratio: float = -1.0, negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0, variances: float | Sequence[float] = (0.1, 0.1, 0.2, 0.2), *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """What anchors should predict, given the boxes in an image: (offsets, mask of the offsets, class)."""

def MultiProposal(cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None, rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16, scales: float | Sequence[float] = (4.0, 8.0, 16.0, 32.0), ratios: float | Sequence[float] = (0.5, 1.0, 2.0), feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`Proposal` for several images: rows (image, xmin, ymin, xmax, ymax), rpn_post_nms_top_n for each image."""

def PSROIPooling(data: Symbol | None = None, rois: Symbol | None = None, spatial_scale: float = ..., output_dim: int = ..., pooled_size: int = ..., group_size: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The mean in each of `pooled_size` x `pooled_size` parts of each region, from channels that belong to the part."""

def Proposal(cls_prob: Symbol | None = None, bbox_pred: Symbol | None = None, im_info: Symbol | None = None, rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300, threshold: float = 0.7, rpn_min_size: int = 16, scales: float | Sequence[float] = (4.0, 8.0, 16.0, 32.0), ratios: float | Sequence[float] = (0.5, 1.0, 2.0), feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Regions (rpn_post_nms_top_n, 5) of one image with rows (0, xmin, ymin, xmax, ymax), best first."""

def ROIAlign(data: Symbol | None = None, rois: Symbol | None = None, pooled_size: int | Sequence[int] = ..., spatial_scale: float = ..., sample_ratio: int = -1, position_sensitive: bool = False, aligned: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The mean of bilinear samples in each of `pooled_size` (height, width) parts of each region."""

def RROIAlign(data: Symbol | None = None, rois: Symbol | None = None, pooled_size: int | Sequence[int] = ..., spatial_scale: float = ..., sampling_ratio: int = -1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`ROIAlign` of rotated regions: rows (image, centre x, centre y, width, height, angle in degrees)."""

def SparseEmbedding(data: Symbol | None = None, weight: Symbol | None = None, input_dim: int = ..., output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False, deterministic: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The old name of `Embedding` with a gradient that holds only the rows in use; it is deterministic anyway."""

def SyncBatchNorm(data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None, moving_mean: Symbol | None = None, moving_var: Symbol | None = None, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, ndev: int = 1, key: str = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """BatchNorm along axis 1 with the statistics of the batches of all processes."""

def allclose(a: Symbol | None = None, b: Symbol | None = None, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """1 if all elements of `a` and `b` are equal up to `atol + rtol * abs(b)`, else 0; a uint8 without axes."""

def arange_like(data: Symbol | None = None, start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: Any = '', axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """start, start + step, ... in the shape and dtype of `data`, or as many as one axis of it has."""

def bipartite_matching(data: Symbol | None = None, is_ascend: bool = False, threshold: float = ..., topk: int = -1, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Matches rows with columns of a matrix of scores, best score first, each at most once."""

def boolean_mask(data: Symbol | None = None, index: Symbol | None = None, axis: int = 0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The elements along `axis` where the vector `index` is not 0.  How many depends on the values."""

def box_decode(data: Symbol | None = None, anchors: Symbol | None = None, std0: float = 1.0, std1: float = 1.0, std2: float = 1.0, std3: float = 1.0, clip: float = -1.0, format: Literal['center', 'corner'] = 'center', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Boxes (xmin, ymin, xmax, ymax) from predicted offsets `data` (batch, boxes, 4) and `anchors` (1, boxes, 4)."""

def box_encode(samples: Symbol | None = None, matches: Symbol | None = None, anchors: Symbol | None = None, refs: Symbol | None = None, means: Symbol | None = None, stds: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Training targets of box regression: offsets of the matched `refs` from `anchors`, and a mask of what counts."""

def box_iou(lhs: Symbol | None = None, rhs: Symbol | None = None, format: Literal['center', 'corner'] = 'corner', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Intersection over union of every box of `lhs` (..., 4) with every one of `rhs`; it sends no gradient back."""

def box_nms(data: Symbol | None = None, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1, background_id: int = -1, force_suppress: bool = False, in_format: Literal['center', 'corner'] = 'corner', out_format: Literal['center', 'corner'] = 'corner', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Boxes by falling score without those that overlap a better one by more than `overlap_thresh`."""

def box_non_maximum_suppression(data: Symbol | None = None, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = -1, background_id: int = -1, force_suppress: bool = False, in_format: Literal['center', 'corner'] = 'corner', out_format: Literal['center', 'corner'] = 'corner', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Boxes by falling score without those that overlap a better one by more than `overlap_thresh`."""

def calibrate_entropy(hist: Symbol | None = None, hist_edges: Symbol | None = None, num_quantized_bins: int = 255, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The threshold of a range, found from a histogram: int8 values within it tell most about the floating point ones."""

def count_sketch(data: Symbol | None = None, h: Symbol | None = None, s: Symbol | None = None, out_dim: int = ..., processing_batch_size: int = 32, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The count sketch of the last axis: element i is added, times the sign `s[i]`, to element `h[i]` of the result."""

def ctc_loss(data: Symbol | None = None, label: Symbol | None = None, data_lengths: Symbol | None = None, label_lengths: Symbol | None = None, use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def dequantize(data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None, out_type: Literal['float32'] = 'float32', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The floating point values that int8, uint8 or int32 data with its range stands for."""

def dgl_adjacency(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The graph of a csr array with a float32 1 for every edge, whatever its number."""

def dgl_csr_neighbor_non_uniform_sample(*data: Symbol, num_args: int = ..., num_hops: int = 1, num_neighbor: int = 2, max_num_vertices: int = 100, name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """The same as `dgl_csr_neighbor_uniform_sample`, but neighbours are drawn in proportion to their `probability`."""

def dgl_csr_neighbor_uniform_sample(*data: Symbol, num_args: int = ..., num_hops: int = 1, num_neighbor: int = 2, max_num_vertices: int = 100, name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Walks from seed vertices into a graph, through at most `num_neighbor` edges of every vertex that it meets."""

def dgl_graph_compact(*data: Symbol, num_args: int = ..., return_mapping: bool = ..., graph_sizes: int | Sequence[int] = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """What the sampling operators drew as graphs of their own: without empty rows at the end, vertices numbered anew."""

def dgl_subgraph(*data: Symbol, num_args: int = ..., return_mapping: bool = ..., name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """The parts of a graph that lie between given vertices, which are numbered anew in this order."""

def div_sqrt_dim(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`data` over the square root of the length of its last axis, as attention scales its scores."""

def edge_id(data: Symbol | None = None, u: Symbol | None = None, v: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The numbers of the edges from u[i] to v[i] in a graph, a csr array; -1 where there is none."""

def fft(data: Symbol | None = None, compute_size: int = 128, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The Fourier transform of the last axis: real and imaginary parts in turns, so twice as long."""

def getnnz(data: Symbol | None = None, axis: int | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """How many values a csr array stores: altogether, in each column (axis=0) or in each row (axis=1)."""

def gradientmultiplier(data: Symbol | None = None, scalar: float = 1.0, is_int: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """A copy whose gradient is multiplied by `scalar`; a negative one reverses it, for adversarial training."""

def group_adagrad_update(weight: Symbol | None = None, grad: Symbol | None = None, history: Symbol | None = None, lr: float = ..., rescale_grad: float = 1.0, clip_gradient: float = -1.0, epsilon: float = 1e-05, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """AdaGrad with one rate for each row: `history += mean(grad ** 2, of a row); weight -= lr * grad / sqrt(history +"""

def hawkesll(lda: Symbol | None = None, alpha: Symbol | None = None, beta: Symbol | None = None, state: Symbol | None = None, lags: Symbol | None = None, marks: Symbol | None = None, valid_length: Symbol | None = None, max_time: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The log likelihood of marked points in time under independent, self-exciting (Hawkes) processes."""

def ifft(data: Symbol | None = None, compute_size: int = 128, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The real part of the inverse Fourier transform of what `fft` returns, not divided by its length."""

def index_array(data: Symbol | None = None, axes: int | Sequence[int] | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """The coordinates of every element of `data` as a new last axis (int64): all of them, or those along `axes`."""

def index_copy(old_tensor: Symbol | None = None, index_vector: Symbol | None = None, new_tensor: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`old_tensor` with rows replaced: row i of `new_tensor` goes to row `index_vector[i]`."""

def interleaved_matmul_encdec_qk(queries: Symbol | None = None, keys_values: Symbol | None = None, heads: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Scores of attention from one sequence to another: query times key over the square root of a head's features."""

def interleaved_matmul_encdec_valatt(keys_values: Symbol | None = None, attention: Symbol | None = None, heads: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Values of another sequence weighted by `attention` (batch * heads, query length, length)."""

def interleaved_matmul_selfatt_qk(queries_keys_values: Symbol | None = None, heads: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Scores of self-attention: query times key over the square root of a head's features."""

def interleaved_matmul_selfatt_valatt(queries_keys_values: Symbol | None = None, attention: Symbol | None = None, heads: int = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Values of self-attention weighted by `attention` (batch * heads, length, length)."""

def mrcnn_mask_target(rois: Symbol | None = None, gt_masks: Symbol | None = None, matches: Symbol | None = None, cls_targets: Symbol | None = None, num_rois: int = ..., num_classes: int = ..., mask_size: int | Sequence[int] = ..., sample_ratio: int = 2, aligned: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Targets of the masks of Mask R-CNN: the part of its object's mask in each region, and what counts in a loss."""

def quadratic(data: Symbol | None = None, a: float = 0.0, b: float = 0.0, c: float = 0.0, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`a x^2 + b x + c`."""

def quantize(data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None, out_type: Literal['int8', 'uint8'] = 'uint8', *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Floating point values between `min_range` and `max_range` as int8 or uint8, and the range that is mapped to them."""

def quantize_asym(data: Symbol | None = None, min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Floating point values as uint8 by a scale and a shift: `data * scale + shift`, rounded."""

def quantize_v2(data: Symbol | None = None, out_type: Literal['auto', 'int8', 'uint8'] = 'int8', min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Floating point values as int8 or uint8, with the calibrated range, or else that of the data."""

def quantized_act(data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'] = ..., *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """relu of int8 or uint8 data; the range stays."""

def quantized_batch_norm(data: Symbol | None = None, gamma: Symbol | None = None, beta: Symbol | None = None, moving_mean: Symbol | None = None, moving_var: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, eps: float = 0.001, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False, axis: int = 1, cudnn_off: bool = False, min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """BatchNorm of int8 or uint8 data with the moving statistics -> int8, whose range must be calibrated."""

def quantized_concat(*data: Symbol, num_args: int = ..., dim: int = 1, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Joins int8 and uint8 arrays along an axis, rescaled to a range that holds all of theirs."""

def quantized_conv(data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, min_weight: Symbol | None = None, max_weight: Symbol | None = None, min_bias: Symbol | None = None, max_bias: Symbol | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = (), dilate: int | Sequence[int] = (), pad: int | Sequence[int] = (), num_filter: int = ..., num_group: int = 1, workspace: int = 1024, no_bias: bool = False, cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = None, cudnn_off: bool = False, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Convolution of int8 or uint8 data with an int8 weight and bias -> int32 and its range; channels come second."""

def quantized_elemwise_add(lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None, lhs_max: Symbol | None = None, rhs_min: Symbol | None = None, rhs_max: Symbol | None = None, min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Sum of int8 or uint8 arrays: int32, or with a calibrated range what the arrays are (int8 if they differ)."""

def quantized_elemwise_mul(lhs: Symbol | None = None, rhs: Symbol | None = None, lhs_min: Symbol | None = None, lhs_max: Symbol | None = None, rhs_min: Symbol | None = None, rhs_max: Symbol | None = None, min_calib_range: float | None = None, max_calib_range: float | None = None, enable_float_output: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Any:
    """Product of int8 arrays: int32, int8 with a calibrated range, or floating point if that is asked for."""

def quantized_embedding(data: Symbol | None = None, weight: Symbol | None = None, min_weight: Symbol | None = None, max_weight: Symbol | None = None, input_dim: int = ..., output_dim: int = ..., dtype: DType = 'float32', sparse_grad: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Rows of an int8 weight at the indices in `data`; the range stays."""

def quantized_flatten(data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """All axes but the first as one; the range stays."""

def quantized_fully_connected(data: Symbol | None = None, weight: Symbol | None = None, bias: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, min_weight: Symbol | None = None, max_weight: Symbol | None = None, min_bias: Symbol | None = None, max_bias: Symbol | None = None, num_hidden: int = ..., no_bias: bool = False, flatten: bool = True, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """FullyConnected of int8 or uint8 data with an int8 weight and bias -> int32 and its range."""

def quantized_pooling(data: Symbol | None = None, min_data: Symbol | None = None, max_data: Symbol | None = None, kernel: int | Sequence[int] = (), pool_type: Literal['avg', 'lp', 'max', 'sum'] = 'max', global_pool: bool = False, cudnn_off: bool = False, pooling_convention: Literal['full', 'same', 'valid'] = 'valid', stride: int | Sequence[int] = (), pad: int | Sequence[int] = (), p_value: int | None = None, count_include_pad: bool | None = None, layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """Pooling of int8 or uint8 data, by maximum or average; the range stays."""

def quantized_rnn(data: Symbol | None = None, parameters: Symbol | None = None, state: Symbol | None = None, state_cell: Symbol | None = None, data_scale: Symbol | None = None, data_shift: Symbol | None = None, state_size: int = ..., num_layers: int = ..., bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None, lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None, lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """LSTM layers on uint8 data as `quantize_asym` gives it; states and parameters are floating point."""

def requantize(data: Symbol | None = None, min_range: Symbol | None = None, max_range: Symbol | None = None, out_type: Literal['auto', 'int8', 'uint8'] = 'int8', min_calib_range: float | None = None, max_calib_range: float | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """int32 data (the result of a quantized layer) as int8, with the calibrated range, or else that of the data."""

def round_ste(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`round`, with the gradient of a copy (a straight-through estimator)."""

def sign_ste(data: Symbol | None = None, *, name: str | None = None, attr: Mapping[str, str] | None = None) -> Symbol:
    """`sign`, with the gradient of a copy (a straight-through estimator)."""
