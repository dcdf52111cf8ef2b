"""Which inputs and outputs upstream's backward pass reads and torch's does not, operator by operator.

Found by writing into every input and output of the recorded cases of MXNet 1.9.1 between recording and `backward`.
Operators that read indices, labels, lengths or conditions say so where they are declared (`reads_late`).
"""
from .core.late_reads import reads_late
from .core.table import NAMES


def _has_two_dtypes(tensors, attributes):
    """Whether one side is converted, so that torch saves a copy."""
    return tensors is None or tensors[0].dtype is not tensors[1].dtype


def _uses_global_statistics(tensors, attributes):
    return 'training' in attributes and (not attributes['training'] or attributes.get('use_global_stats', False))


def _has_other_axis(tensors, attributes):
    return attributes.get('axis', 1) != 1


def _saves_output(tensors, attributes):
    """Of `Activation`: torch saves the output, upstream reads the input."""
    return attributes['act_type'] in ('sigmoid', 'tanh')


def _is_lp_pooling(tensors, attributes):
    return attributes.get('pool_type') == 'lp'


def _has_length(tensors, attributes):
    return attributes.get('use_length', False)


# operator -> (inputs, '*' for all; outputs; when)
_READS = {
    'Activation': (('data',), (), _saves_output),
    'softmax': (('length',), (0,), _has_length),
    'softmax_cross_entropy': (('data',), (), None),
    'hard_sigmoid': (('data',), (), None),
    'L2Normalization': ((), (0,), None),
    'LayerNorm': ((), (1, 2), lambda tensors, attributes: attributes.get('output_mean_var', False)),
    'GroupNorm': (('gamma',), (), None),
    'Pooling': ((), (0,), _is_lp_pooling),
    'Pooling_v1': (('data',), (0,), None),
    'RNN': ((), (0, 1, 2), None),
    '_contrib_DeformableConvolution': (('offset',), (), None),
    '_contrib_ModulatedDeformableConvolution': (('offset', 'mask'), (), None),
    '_contrib_interleaved_matmul_encdec_qk': (('queries',), (), None),
    '_contrib_ROIAlign': (('rois',), (), None),
    'topk': ((), (1,), lambda tensors, attributes: attributes.get('ret_typ') == 'both'),
    # values
    **dict.fromkeys(('_maximum', '_minimum', 'broadcast_maximum', 'broadcast_minimum'), (('lhs', 'rhs'), (), None)),
    **dict.fromkeys(('expm1', 'gamma', 'reciprocal', 'rsqrt'), (('data',), (), None)),
    **dict.fromkeys(('_npi_expm1', '_npi_reciprocal'), (('x',), (), None)),
    'erfinv': ((), (0,), None),
    '_npi_copysign': (('rhs',), (), None),
    '_npi_ldexp': (('rhs',), (), None),
    '_npi_polyval': (('p',), (), None),
    **dict.fromkeys(('prod', 'nanprod'), (('data',), (0,), None)),
    '_np_prod': (('a',), (0,), None),
    'moments': ((), (0,), None),
    # linear algebra
    **dict.fromkeys(('_linalg_potrf', '_linalg_inverse', '_npi_cholesky', '_npi_solve'), ((), (0,), None)),
    '_linalg_syevd': ((), (0, 1), None),
    '_linalg_potri': (('A',), (0,), None),
    '_linalg_trmm': (('A',), (), None),
    '_linalg_trsm': ((), (0,), None),
    # densities
    '_random_pdf_uniform': (('low', 'high'), (0,), None),
    '_random_pdf_normal': (('sample', 'mu'), (), None),
    '_random_pdf_dirichlet': (('sample',), (), None),
    # operators of the NumPy interface convert dtypes
    **dict.fromkeys(('_npi_power', '_npi_mod', '_npi_multiply', '_npi_true_divide', '_npi_arctan2', '_npi_hypot'),
                    ('*', (), _has_two_dtypes)),
}


def _declare(name, inputs, outputs, when):
    op = NAMES[name]
    late = op.inputs if inputs == '*' else inputs
    op.function = reads_late(*late, outputs=outputs, inputs=op.inputs, when=when)(op.function)


for _name, _reads in _READS.items():
    _declare(_name, *_reads)
for _name in ('BatchNorm', '_contrib_BatchNormWithReLU', 'BatchNorm_v1', '_contrib_SyncBatchNorm'):
    _declare(_name, ('data',), (), _has_other_axis)
    _declare(_name, ('moving_mean', 'moving_var'), (), _uses_global_statistics)
