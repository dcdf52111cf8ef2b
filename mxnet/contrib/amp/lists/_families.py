"""Families of operators by the precision that they need, as declared names of the operator table.

An operator that is in no family takes what it is given: copies, movements, poolings, activations with small results,
and NumPy's elementwise functions and sums, which promote by themselves and take a dtype.
"""
from ...._ops.core.table import NAMES, TABLE

# Products of data with weights: that is where the time goes, and their results are as large as their inputs.
PRODUCTS = ['FullyConnected', 'Convolution', 'Deconvolution', 'RNN']

_GROWING = ['exp', 'expm1', 'square', 'reciprocal', 'rsqrt', 'rcbrt', 'cosh', 'sinh', 'tan', 'gamma', 'gammaln',
            'erfinv', 'broadcast_power', '_power', '_power_scalar', '_rpower_scalar', '_rdiv_scalar',
            'broadcast_hypot', '_hypot', '_hypot_scalar']
_STEEP = ['log', 'log10', 'log1p', 'log2', 'arccos', 'arcsin', 'arctanh']
_SUMS = ['sum', 'nansum', 'prod', 'nanprod', 'mean', 'moments', 'norm', '_square_sum']
_NORMALIZATIONS = ['softmax', 'softmin', 'log_softmax', 'SoftmaxActivation', 'InstanceNorm', 'LayerNorm', 'GroupNorm',
                   'L2Normalization', 'LRN', '_contrib_SyncBatchNorm']
_LOSSES = ['SoftmaxOutput', 'LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput', 'SVMOutput',
           'softmax_cross_entropy', 'smooth_l1', 'MakeLoss', 'make_loss', 'CTCLoss', 'IdentityAttachKLSparseReg']
# positions as numbers: bfloat16 counts to 256 only
_POSITIONS = ['argsort', 'topk', 'argmax', 'argmin', 'argmax_channel']
_EXACT = ['khatri_rao', 'Convolution_v1', 'Custom', '_contrib_MultiBoxDetection', '_contrib_MultiBoxPrior',
          '_contrib_MultiBoxTarget', '_contrib_DeformableConvolution', '_contrib_DeformablePSROIPooling',
          '_contrib_count_sketch', '_contrib_fft', '_contrib_hawkesll']
_ALGEBRA = [name for name in TABLE if name.startswith('_linalg_')]
_NUMPY_ALGEBRA = ['_npi_cholesky', '_npi_eigh', '_npi_eigvalsh', '_npi_eig', '_npi_eigvals', '_npi_svd',
                  '_npi_solve', '_npi_pinv', '_npi_pinv_scalar_rcond', '_npi_tensorinv', '_npi_tensorsolve']

# What overflows or loses its meaning with few bits.
FLOAT32 = [*_GROWING, *_STEEP, *_SUMS, *_NORMALIZATIONS, *_LOSSES, *_POSITIONS, *_EXACT, *_ALGEBRA, *_NUMPY_ALGEBRA]

# (operator, attribute, its values with which the operator needs float32)
CONDITIONAL = [('Activation', 'act_type', ['softrelu']), ('LeakyReLU', 'act_type', ['elu', 'selu'])]

# an assignment keeps the dtype of what is assigned to
_PAIRS = [op.name for op in TABLE.values()
          if op.inputs == ('lhs', 'rhs') and op.same_dtype and op.name != '_slice_assign']
_JOINTS = ['Concat', 'add_n', 'stack', 'where', 'batch_dot', 'dot', 'Correlation', '_npi_matmul', '_np_dot',
           '_npi_tensordot', '_npi_tensordot_int_axes', '_npi_einsum', '_npi_concatenate', '_npi_stack', '_npi_where',
           '_contrib_MultiProposal',
           '_contrib_PSROIPooling', '_contrib_Proposal', '_contrib_ROIAlign', '_contrib_box_iou', '_contrib_box_nms',
           *[name for name in TABLE if name.startswith(('_contrib_interleaved_matmul_', '_random_pdf_'))]]

# Several inputs that must agree: all of them in the widest type among them.
WIDEST = [name for name in dict.fromkeys([*_PAIRS, *_JOINTS]) if name not in FLOAT32]

# Losses whose gradient does not depend on what comes in from behind, so that a scaled loss would not reach them.
OUTPUTS = ['SoftmaxOutput', 'LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput']

_SPECIAL = {NAMES[name] for name in [*PRODUCTS, *FLOAT32, *WIDEST, *(name for name, _, _ in CONDITIONAL)]}
EITHER = [name for name, op in NAMES.items() if op not in _SPECIAL]

# Inputs that stay as they are where an operator runs in low precision, with '' in the places of the others: statistics
# need float32, lengths are no data.
FLOAT32_INPUTS = {
    'BatchNorm': ['', 'gamma', 'beta', 'moving_mean', 'moving_var'],
    '_contrib_BatchNormWithReLU': ['', 'gamma', 'beta', 'moving_mean', 'moving_var'],
    'RNN': ['', '', '', '', 'sequence_length'],
}
