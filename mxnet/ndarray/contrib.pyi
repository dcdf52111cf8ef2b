# Made by `python -m mxnet._frontend.stubs` from the operator table: do not edit.
from collections.abc import Sequence
from typing import Any, Literal

from ._contrib import *
from ._contrib_optimizers import *
from .ndarray import NDArray

def AdaptiveAvgPooling2D(data: NDArray, output_size: int | Sequence[int] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Averages of (batch, channels, height, width) to `output_size`: a height and a width, one number for both, or 1."""

def BatchNormWithReLU(data: NDArray, gamma: NDArray | None = None, beta: NDArray | None = None, moving_mean: NDArray | None = None, moving_var: NDArray | None = None, eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., *, out: Any = None, name: str | None = None) -> Any:
    """BatchNorm, then relu."""

def BilinearResize2D(data: NDArray, like: NDArray | None = None, height: int = ..., width: int = ..., scale_height: float | None = ..., scale_width: float | None = ..., mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'] = ..., align_corners: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Resizes images (batch, channels, height, width) with bilinear interpolation."""

def CTCLoss(data: NDArray, label: NDArray | None = None, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None, use_data_lengths: bool = ..., use_label_lengths: bool = ..., blank_label: Literal['first', 'last'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def DeformableConvolution(data: NDArray, offset: NDArray | None = None, weight: NDArray | None = None, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int = ..., num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """A 2-D convolution that reads each of its points at a place moved by `offset` (Dai and others, 2017)."""

def DeformablePSROIPooling(data: NDArray, rois: NDArray | None = None, trans: NDArray | None = None, spatial_scale: float = ..., output_dim: int = ..., group_size: int = ..., pooled_size: int = ..., part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`PSROIPooling` of bilinear samples, whose parts are shifted by `trans` (regions, 2 * classes, parts, parts)."""

def ModulatedDeformableConvolution(data: NDArray, offset: NDArray | None = None, mask: NDArray | None = None, weight: NDArray | None = None, bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int = ..., num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., im2col_step: int = ..., layout: Literal[None, 'NCDHW', 'NCHW', 'NCW'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`DeformableConvolution` whose samples are also multiplied by `mask` (Zhu and others, 2018)."""

def MultiBoxDetection(cls_prob: NDArray, loc_pred: NDArray | None = None, anchor: NDArray | None = None, clip: bool = ..., threshold: float = ..., background_id: int = ..., nms_threshold: float = ..., force_suppress: bool = ..., variances: float | Sequence[float] = ..., nms_topk: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Detections (batch, anchors, 6) with rows (class, score, xmin, ymin, xmax, ymax) from a detector's predictions."""

def MultiBoxPrior(data: NDArray, sizes: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., clip: bool = ..., steps: float | Sequence[float] = ..., offsets: float | Sequence[float] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Anchor boxes (1, boxes, 4) around every pixel of a feature map, in units of the image: 0 ... 1."""

def MultiBoxTarget(anchor: NDArray, label: NDArray | None = None, cls_pred: NDArray | None = None, overlap_threshold: float = ..., ignore_label: float = ..., negative_mining_ratio: float = ..., negative_mining_thresh: float = ..., minimum_negative_samples: int = ..., variances: float | Sequence[float] = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """What anchors should predict, given the boxes in an image: (offsets, mask of the offsets, class)."""

def MultiProposal(cls_prob: NDArray, bbox_pred: NDArray | None = None, im_info: NDArray | None = None, rpn_pre_nms_top_n: int = ..., rpn_post_nms_top_n: int = ..., threshold: float = ..., rpn_min_size: int = ..., scales: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., feature_stride: int = ..., output_score: bool = ..., iou_loss: bool = ..., *, out: Any = None, name: str | None = None) -> Any:
    """`Proposal` for several images: rows (image, xmin, ymin, xmax, ymax), rpn_post_nms_top_n for each image."""

def PSROIPooling(data: NDArray, rois: NDArray | None = None, spatial_scale: float = ..., output_dim: int = ..., pooled_size: int = ..., group_size: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The mean in each of `pooled_size` x `pooled_size` parts of each region, from channels that belong to the part."""

def Proposal(cls_prob: NDArray, bbox_pred: NDArray | None = None, im_info: NDArray | None = None, rpn_pre_nms_top_n: int = ..., rpn_post_nms_top_n: int = ..., threshold: float = ..., rpn_min_size: int = ..., scales: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., feature_stride: int = ..., output_score: bool = ..., iou_loss: bool = ..., *, out: Any = None, name: str | None = None) -> Any:
    """Regions (rpn_post_nms_top_n, 5) of one image with rows (0, xmin, ymin, xmax, ymax), best first."""

def ROIAlign(data: NDArray, rois: NDArray | None = None, pooled_size: int | Sequence[int] = ..., spatial_scale: float = ..., sample_ratio: int = ..., position_sensitive: bool = ..., aligned: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The mean of bilinear samples in each of `pooled_size` (height, width) parts of each region."""

def RROIAlign(data: NDArray, rois: NDArray | None = None, pooled_size: int | Sequence[int] = ..., spatial_scale: float = ..., sampling_ratio: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`ROIAlign` of rotated regions: rows (image, centre x, centre y, width, height, angle in degrees)."""

def SparseEmbedding(data: NDArray, weight: NDArray | None = None, input_dim: int = ..., output_dim: int = ..., dtype: Any = ..., sparse_grad: bool = ..., deterministic: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The old name of `Embedding` with a gradient that holds only the rows in use; it is deterministic anyway."""

def SyncBatchNorm(data: NDArray, gamma: NDArray | None = None, beta: NDArray | None = None, moving_mean: NDArray | None = None, moving_var: NDArray | None = None, eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., ndev: int = ..., key: str = ..., *, out: Any = None, name: str | None = None) -> Any:
    """BatchNorm along axis 1 with the statistics of the batches of all processes."""

def allclose(a: NDArray, b: NDArray | None = None, rtol: float = ..., atol: float = ..., equal_nan: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """1 if all elements of `a` and `b` are equal up to `atol + rtol * abs(b)`, else 0; a uint8 without axes."""

def arange_like(data: NDArray, start: float = ..., step: float = ..., repeat: int = ..., ctx: Any = ..., axis: int | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """start, start + step, ... in the shape and dtype of `data`, or as many as one axis of it has."""

def bipartite_matching(data: NDArray, is_ascend: bool = ..., threshold: float = ..., topk: int = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Matches rows with columns of a matrix of scores, best score first, each at most once."""

def boolean_mask(data: NDArray, index: NDArray | None = None, axis: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The elements along `axis` where the vector `index` is not 0.  How many depends on the values."""

def box_decode(data: NDArray, anchors: NDArray | None = None, std0: float = ..., std1: float = ..., std2: float = ..., std3: float = ..., clip: float = ..., format: Literal['center', 'corner'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Boxes (xmin, ymin, xmax, ymax) from predicted offsets `data` (batch, boxes, 4) and `anchors` (1, boxes, 4)."""

def box_encode(samples: NDArray, matches: NDArray | None = None, anchors: NDArray | None = None, refs: NDArray | None = None, means: NDArray | None = None, stds: NDArray | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Training targets of box regression: offsets of the matched `refs` from `anchors`, and a mask of what counts."""

def box_iou(lhs: NDArray, rhs: NDArray | None = None, format: Literal['center', 'corner'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Intersection over union of every box of `lhs` (..., 4) with every one of `rhs`; it sends no gradient back."""

def box_nms(data: NDArray, overlap_thresh: float = ..., valid_thresh: float = ..., topk: int = ..., coord_start: int = ..., score_index: int = ..., id_index: int = ..., background_id: int = ..., force_suppress: bool = ..., in_format: Literal['center', 'corner'] = ..., out_format: Literal['center', 'corner'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Boxes by falling score without those that overlap a better one by more than `overlap_thresh`."""

def box_non_maximum_suppression(data: NDArray, overlap_thresh: float = ..., valid_thresh: float = ..., topk: int = ..., coord_start: int = ..., score_index: int = ..., id_index: int = ..., background_id: int = ..., force_suppress: bool = ..., in_format: Literal['center', 'corner'] = ..., out_format: Literal['center', 'corner'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Boxes by falling score without those that overlap a better one by more than `overlap_thresh`."""

def calibrate_entropy(hist: NDArray, hist_edges: NDArray | None = None, num_quantized_bins: int = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """The threshold of a range, found from a histogram: int8 values within it tell most about the floating point ones."""

def count_sketch(data: NDArray, h: NDArray | None = None, s: NDArray | None = None, out_dim: int = ..., processing_batch_size: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The count sketch of the last axis: element i is added, times the sign `s[i]`, to element `h[i]` of the result."""

def ctc_loss(data: NDArray, label: NDArray | None = None, data_lengths: NDArray | None = None, label_lengths: NDArray | None = None, use_data_lengths: bool = ..., use_label_lengths: bool = ..., blank_label: Literal['first', 'last'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """CTC loss of each sequence: -log of the probability that `data` spells `label`."""

def dequantize(data: NDArray, min_range: NDArray | None = None, max_range: NDArray | None = None, out_type: Literal['float32'] = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The floating point values that int8, uint8 or int32 data with its range stands for."""

def dgl_adjacency(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """The graph of a csr array with a float32 1 for every edge, whatever its number."""

def dgl_csr_neighbor_non_uniform_sample(*data: NDArray, num_args: int = ..., num_hops: int = ..., num_neighbor: int = ..., max_num_vertices: int = ..., out: Any = None, name: str | None = None) -> Any:
    """The same as `dgl_csr_neighbor_uniform_sample`, but neighbours are drawn in proportion to their `probability`."""

def dgl_csr_neighbor_uniform_sample(*data: NDArray, num_args: int = ..., num_hops: int = ..., num_neighbor: int = ..., max_num_vertices: int = ..., out: Any = None, name: str | None = None) -> Any:
    """Walks from seed vertices into a graph, through at most `num_neighbor` edges of every vertex that it meets."""

def dgl_graph_compact(*data: NDArray, num_args: int = ..., return_mapping: bool = ..., graph_sizes: int | Sequence[int] = ..., out: Any = None, name: str | None = None) -> Any:
    """What the sampling operators drew as graphs of their own: without empty rows at the end, vertices numbered anew."""

def dgl_subgraph(*data: NDArray, num_args: int = ..., return_mapping: bool = ..., out: Any = None, name: str | None = None) -> Any:
    """The parts of a graph that lie between given vertices, which are numbered anew in this order."""

def div_sqrt_dim(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`data` over the square root of the length of its last axis, as attention scales its scores."""

def edge_id(data: NDArray, u: NDArray | None = None, v: NDArray | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """The numbers of the edges from u[i] to v[i] in a graph, a csr array; -1 where there is none."""

def fft(data: NDArray, compute_size: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The Fourier transform of the last axis: real and imaginary parts in turns, so twice as long."""

def getnnz(data: NDArray, axis: int | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """How many values a csr array stores: altogether, in each column (axis=0) or in each row (axis=1)."""

def gradientmultiplier(data: NDArray, scalar: float = ..., is_int: bool = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """A copy whose gradient is multiplied by `scalar`; a negative one reverses it, for adversarial training."""

def group_adagrad_update(weight: NDArray, grad: NDArray | None = None, history: NDArray | None = None, lr: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., epsilon: float = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """AdaGrad with one rate for each row: `history += mean(grad ** 2, of a row); weight -= lr * grad / sqrt(history +"""

def hawkesll(lda: NDArray, alpha: NDArray | None = None, beta: NDArray | None = None, state: NDArray | None = None, lags: NDArray | None = None, marks: NDArray | None = None, valid_length: NDArray | None = None, max_time: NDArray | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """The log likelihood of marked points in time under independent, self-exciting (Hawkes) processes."""

def ifft(data: NDArray, compute_size: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The real part of the inverse Fourier transform of what `fft` returns, not divided by its length."""

def index_array(data: NDArray, axes: int | Sequence[int] | None = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """The coordinates of every element of `data` as a new last axis (int64): all of them, or those along `axes`."""

def index_copy(old_tensor: NDArray, index_vector: NDArray | None = None, new_tensor: NDArray | None = None, *, out: Any = None, name: str | None = None) -> NDArray:
    """`old_tensor` with rows replaced: row i of `new_tensor` goes to row `index_vector[i]`."""

def interleaved_matmul_encdec_qk(queries: NDArray, keys_values: NDArray | None = None, heads: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Scores of attention from one sequence to another: query times key over the square root of a head's features."""

def interleaved_matmul_encdec_valatt(keys_values: NDArray, attention: NDArray | None = None, heads: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Values of another sequence weighted by `attention` (batch * heads, query length, length)."""

def interleaved_matmul_selfatt_qk(queries_keys_values: NDArray, heads: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Scores of self-attention: query times key over the square root of a head's features."""

def interleaved_matmul_selfatt_valatt(queries_keys_values: NDArray, attention: NDArray | None = None, heads: int = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """Values of self-attention weighted by `attention` (batch * heads, length, length)."""

def quadratic(data: NDArray, a: float = ..., b: float = ..., c: float = ..., *, out: Any = None, name: str | None = None) -> NDArray:
    """`a x^2 + b x + c`."""

def quantize(data: NDArray, min_range: NDArray | None = None, max_range: NDArray | None = None, out_type: Literal['int8', 'uint8'] = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Floating point values between `min_range` and `max_range` as int8 or uint8, and the range that is mapped to them."""

def quantize_asym(data: NDArray, min_calib_range: float | None = ..., max_calib_range: float | None = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Floating point values as uint8 by a scale and a shift: `data * scale + shift`, rounded."""

def quantize_v2(data: NDArray, out_type: Literal['auto', 'int8', 'uint8'] = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Floating point values as int8 or uint8, with the calibrated range, or else that of the data."""

def quantized_act(data: NDArray, min_data: NDArray | None = None, max_data: NDArray | None = None, act_type: Literal['relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'] = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """relu of int8 or uint8 data; the range stays."""

def quantized_batch_norm(data: NDArray, gamma: NDArray | None = None, beta: NDArray | None = None, moving_mean: NDArray | None = None, moving_var: NDArray | None = None, min_data: NDArray | None = None, max_data: NDArray | None = None, eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """BatchNorm of int8 or uint8 data with the moving statistics -> int8, whose range must be calibrated."""

def quantized_concat(*data: NDArray, num_args: int = ..., dim: int = ..., out: Any = None, name: str | None = None) -> list[NDArray]:
    """Joins int8 and uint8 arrays along an axis, rescaled to a range that holds all of theirs."""

def quantized_conv(data: NDArray, weight: NDArray | None = None, bias: NDArray | None = None, min_data: NDArray | None = None, max_data: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None, min_bias: NDArray | None = None, max_bias: NDArray | None = None, kernel: int | Sequence[int] = ..., stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int = ..., num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal[None, 'fastest', 'limited_workspace', 'off'] = ..., cudnn_off: bool = ..., layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC'] = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Convolution of int8 or uint8 data with an int8 weight and bias -> int32 and its range; channels come second."""

def quantized_elemwise_add(lhs: NDArray, rhs: NDArray | None = None, lhs_min: NDArray | None = None, lhs_max: NDArray | None = None, rhs_min: NDArray | None = None, rhs_max: NDArray | None = None, min_calib_range: float | None = ..., max_calib_range: float | None = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Sum of int8 or uint8 arrays: int32, or with a calibrated range what the arrays are (int8 if they differ)."""

def quantized_elemwise_mul(lhs: NDArray, rhs: NDArray | None = None, lhs_min: NDArray | None = None, lhs_max: NDArray | None = None, rhs_min: NDArray | None = None, rhs_max: NDArray | None = None, min_calib_range: float | None = ..., max_calib_range: float | None = ..., enable_float_output: bool = ..., *, out: Any = None, name: str | None = None) -> Any:
    """Product of int8 arrays: int32, int8 with a calibrated range, or floating point if that is asked for."""

def quantized_embedding(data: NDArray, weight: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None, input_dim: int = ..., output_dim: int = ..., dtype: Any = ..., sparse_grad: bool = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Rows of an int8 weight at the indices in `data`; the range stays."""

def quantized_flatten(data: NDArray, min_data: NDArray | None = None, max_data: NDArray | None = None, *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """All axes but the first as one; the range stays."""

def quantized_fully_connected(data: NDArray, weight: NDArray | None = None, bias: NDArray | None = None, min_data: NDArray | None = None, max_data: NDArray | None = None, min_weight: NDArray | None = None, max_weight: NDArray | None = None, min_bias: NDArray | None = None, max_bias: NDArray | None = None, num_hidden: int = ..., no_bias: bool = ..., flatten: bool = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """FullyConnected of int8 or uint8 data with an int8 weight and bias -> int32 and its range."""

def quantized_pooling(data: NDArray, min_data: NDArray | None = None, max_data: NDArray | None = None, kernel: int | Sequence[int] = ..., pool_type: Literal['avg', 'lp', 'max', 'sum'] = ..., global_pool: bool = ..., cudnn_off: bool = ..., pooling_convention: Literal['full', 'same', 'valid'] = ..., stride: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., p_value: int | None = ..., count_include_pad: bool | None = ..., layout: Literal[None, 'NCDHW', 'NCHW', 'NCW', 'NDHWC', 'NHWC', 'NWC'] = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """Pooling of int8 or uint8 data, by maximum or average; the range stays."""

def quantized_rnn(data: NDArray, parameters: NDArray | None = None, state: NDArray | None = None, state_cell: NDArray | None = None, data_scale: NDArray | None = None, data_shift: NDArray | None = None, state_size: int = ..., num_layers: int = ..., bidirectional: bool = ..., mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'] = ..., p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., *, out: Any = None, name: str | None = None) -> Any:
    """LSTM layers on uint8 data as `quantize_asym` gives it; states and parameters are floating point."""

def requantize(data: NDArray, min_range: NDArray | None = None, max_range: NDArray | None = None, out_type: Literal['auto', 'int8', 'uint8'] = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., *, out: Any = None, name: str | None = None) -> list[NDArray]:
    """int32 data (the result of a quantized layer) as int8, with the calibrated range, or else that of the data."""

def round_ste(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`round`, with the gradient of a copy (a straight-through estimator)."""

def sign_ste(data: NDArray, *, out: Any = None, name: str | None = None) -> NDArray:
    """`sign`, with the gradient of a copy (a straight-through estimator)."""
