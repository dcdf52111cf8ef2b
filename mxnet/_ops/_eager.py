"""Kernels for calls on arrays whose attributes are known: what is left to do when everything else has been decided.

A declaration's function decides in each call what its attributes mean.  For the operators that networks are written
with, a function here decides once and gives a kernel of tensors alone, which is kept with the attributes
(ndarray/_generated.py).  It computes the same bits as the declaration; a case that it does not know it leaves to it
(`general`, or None for the whole call).  An exception in a kernel makes the call run by the declaration, which
words it.

A row is `(kernel, fresh, differentiable)` or `(kernel, fresh, differentiable, late)`:
- fresh: the result is always new memory in row-major order, given row-major inputs;
- differentiable: its gradient is that of the declaration, so that it can run while recording, too;
- late: the number of the input that the gradient reads late (core/late_reads.py).
Kernels of variadic operators take one list of tensors.
"""
import torch
from torch.nn import functional as F

from .core.dtypes import INTEGERS, TORCH
from .core.table import NAMES, Operator
from .nn.activation import _ACTIVATIONS
from .nn.convolution import CONVOLVE
from .nn.pooling import AVERAGE, MAX
from .nn.spatial import is_channels_last, per_axis

_CAST = {torch.float32: torch.Tensor.float, torch.float64: torch.Tensor.double, torch.float16: torch.Tensor.half,
         torch.bfloat16: torch.Tensor.bfloat16, torch.int64: torch.Tensor.long, torch.int32: torch.Tensor.int,
         torch.uint8: torch.Tensor.byte, torch.int8: torch.Tensor.char, torch.bool: torch.Tensor.bool}
# twice as fast as `to`

SPECIAL: dict = {}              # operator -> function(operator, attributes, training, general)


def specialize(op: Operator, attributes, training: bool, general):
    """The row for an operator with complete attributes in a train mode, or None."""
    made = SPECIAL.get(op)
    return None if made is None else made(op, attributes, training, general)


def special(*names):
    def declare(function):
        for name in names:
            SPECIAL[NAMES[name]] = function
        return function
    return declare


# ---------------------------------------------------------------------- layers
@special('softmax', 'log_softmax')
def _softmax(op, a, training, general):
    if a['use_length'] or a['temperature'] not in (None, 1) or a['dtype'] is not None:
        return None
    axis = a['axis']
    function = torch.softmax if op.name == 'softmax' else torch.log_softmax
    if op.name == 'softmax':
        return lambda x, length: function(x, axis) if length is None else general(x, length), True, True
    return lambda x: function(x, axis), True, True


@special('Activation')
def _activation(op, a, training, general):
    function = _ACTIVATIONS[a['act_type']]
    return function, True, a['act_type'] not in ('sigmoid', 'tanh')      # of these, upstream's gradient reads the input


@special('LeakyReLU')
def _leaky_relu(op, a, training, general):
    slope = a['slope']
    if a['act_type'] not in ('leaky', 'elu'):
        return None
    function = F.leaky_relu if a['act_type'] == 'leaky' else F.elu
    return lambda x, gamma: function(x, slope) if gamma is None else general(x, gamma), True, True


@special('FullyConnected')
def _fully_connected(op, a, training, general):
    units, flatten, linear = a['num_hidden'], a['flatten'], F.linear
    if a['no_bias']:
        def kernel(x, weight, bias):
            if weight.shape[0] != units or flatten and x.dim() != 2 or bias is not None:
                return general(x, weight, bias)
            return linear(x, weight)
    else:
        def kernel(x, weight, bias):
            if weight.shape[0] != units or flatten and x.dim() != 2 or bias.dim() != 1:
                return general(x, weight, bias)
            return linear(x, weight, bias)
    return kernel, True, True


@special('Convolution')
def _convolution(op, a, training, general):
    size, groups, filters = a['kernel'], a['num_group'], a['num_filter']
    count = len(size)
    if not 1 <= count <= 3 or min(size) < 1 or groups < 1 or filters % groups or is_channels_last(a['layout']) \
            or a['layout'] is not None and len(a['layout']) != count + 2:
        return None
    stride, dilate, pad = [per_axis('Convolution', n, a[n], count, d) for n, d in
                           (('stride', 1), ('dilate', 1), ('pad', 0))]
    convolve = CONVOLVE[count]
    rank, no_bias = count + 2, a['no_bias']

    def kernel(x, weight, bias):
        channels = x.shape[1]
        if x.dim() != rank or channels % groups or weight.shape != (filters, channels // groups, *size):
            return general(x, weight, bias)
        return convolve(x, weight, None if no_bias else bias, stride, pad, dilate, groups)
    return kernel, False, True


def _one(values):
    """One number for equal ones, which torch reads faster."""
    return values[0] if len(set(values)) == 1 else values


@special('Pooling')
def _pooling(op, a, training, general):
    size = a['kernel']
    count = len(size)
    if a['global_pool'] or a['pooling_convention'] != 'valid' or a['pool_type'] not in ('max', 'avg') \
            or not 1 <= count <= 3 or min(size) < 1 or is_channels_last(a['layout']) \
            or a['layout'] is not None and len(a['layout']) != count + 2:
        return None
    stride, pad = per_axis('Pooling', 'stride', a['stride'], count, 1), per_axis('Pooling', 'pad', a['pad'], count, 0)
    if min(stride) < 1 or min(pad) < 0 or any(2 * p > k for p, k in zip(pad, size, strict=True)):
        return None
    rank, padded = count + 2, any(pad)
    size, stride, pad = map(_one, (size, stride, pad))
    if a['pool_type'] == 'max':
        function = MAX[count]

        def kernel(x):
            # larger ones on a CPU have a way of their own
            return function(x, size, stride, pad) if x.numel() < 1 << 13 and x.dim() == rank else general(x)
        return kernel, False, True
    average, counts = AVERAGE[count], a['count_include_pad'] is not False
    if not padded:
        def kernel(x):
            return average(x, size, stride) if x.dim() == rank else general(x)
    else:
        def kernel(x):
            if x.dim() != rank or padded and x.is_cuda:
                return general(x)
            return average(x, size, stride, pad, False, counts)
    return kernel, False, True


@special('BatchNorm')
def _batch_norm(op, a, training, general):
    eps, fixed, norm = a['eps'], a['fix_gamma'], torch.batch_norm
    if training and not a['use_global_stats'] or a['output_mean_var'] or a['axis'] != 1:
        return None

    def kernel(x, gamma, beta, mean, variance):
        channels = x.shape[1]
        # torch's kernels do not check these, and would read past their end
        if not gamma.numel() == beta.numel() == mean.numel() == variance.numel() == channels:
            return None
        if fixed:
            gamma.data.fill_(1)
        return norm(x, gamma, beta, mean, variance, False, 0.0, eps, False)
    return kernel, False, False


@special('LayerNorm')
def _layer_norm(op, a, training, general):
    eps, norm = a['eps'], torch.layer_norm
    if a['output_mean_var'] or a['axis'] != -1:
        return None
    return lambda x, gamma, beta: norm(x, x.shape[-1:], gamma, beta, eps), True, True


@special('Dropout')
def _dropout(op, a, training, general):
    if not 0 <= a['p'] <= 1 or a['p'] != 0 and (training or a['mode'] == 'always'):
        return None
    return torch.clone, True, True


# ---------------------------------------------------------------------- movement: copies, as upstream gives them
@special('Concat')
def _concat(op, a, training, general):
    axis, cat = a['dim'], torch.cat
    return lambda tensors: cat(tensors, axis), True, True


@special('stack')
def _stack(op, a, training, general):
    axis, stack = a['axis'], torch.stack
    return lambda tensors: stack(tensors, axis), True, True


@special('SliceChannel')
def _split(op, a, training, general):
    count, axis, split = a['num_outputs'], a['axis'], torch.split_copy
    if a['squeeze_axis'] or count < 2:
        return None

    def kernel(x):
        length = x.shape[axis]
        return general(x) if length % count or not length else split(x, length // count, axis)
    return kernel, False, False


@special('expand_dims')
def _expand_dims(op, a, training, general):
    axis, stack = a['axis'], torch.stack           # of one: the fastest copy with a new axis
    return lambda x: stack((x,), axis), True, False


@special('squeeze')
def _squeeze(op, a, training, general):
    axes, squeeze = a['axis'], torch.squeeze_copy
    if axes is None or len(axes) != 1:
        return None
    axis, = axes
    return lambda x: squeeze(x, axis) if x.dim() > 1 and x.shape[axis] == 1 else general(x), True, False


@special('Reshape')
def _reshape(op, a, training, general):
    shape, view = a['shape'], torch.view_copy
    if not shape or a['reverse'] or 0 in shape or min(shape) < -1:
        return None
    return lambda x: view(x, shape), True, False


@special('transpose')
def _transpose(op, a, training, general):
    axes, permute = a['axes'], torch.permute_copy
    return (lambda x: permute(x, axes), True, False) if axes else None


@special('slice_axis')
def _slice_axis(op, a, training, general):
    axis, begin, end = a['axis'], a['begin'], a['end']
    if begin < 0 or end is None or end <= begin:
        return None
    length, narrow = end - begin, torch.narrow_copy
    return lambda x: narrow(x, axis, begin, length), True, False


@special('Cast')
def _cast(op, a, training, general):
    dtype = TORCH[a['dtype']]
    convert = _CAST.get(dtype)
    if convert is None:
        return None
    if dtype in INTEGERS:
        return lambda x: x.clone() if x.dtype is dtype else general(x) if x.requires_grad else convert(x), True, True
    return lambda x: x.clone() if x.dtype is dtype else convert(x), True, True


# ---------------------------------------------------------------------- values
@special('clip')
def _clip(op, a, training, general):
    low, high, clamp = a['a_min'], a['a_max'], torch.clamp
    if low > high:
        return None
    return lambda x: clamp(x, low, high) if x.is_floating_point() else general(x), True, False


def _one_axis(a):
    """The one axis of a reduction, or None."""
    axis = a['axis']
    return axis[0] if axis is not None and len(axis) == 1 and not a.get('exclude', False) else None


def _all_but_first(a):
    """Whether a reduction is over all axes but the first, as that of a loss is."""
    return a['axis'] == (0,) and a['exclude'] and not a['keepdims']


@special('sum', 'mean')
def _sum(op, a, training, general):
    axis, keep = _one_axis(a), a['keepdims']
    function = torch.sum if op.name == 'sum' else torch.mean
    if axis is None:
        if _all_but_first(a):
            def of_rows(x):
                rank = x.dim()
                if rank == 1:
                    return x.clone()                # there are no others
                if rank != 2 or not x.is_floating_point():
                    return general(x)
                return function(x, 1) if x.shape[1] != 1 else x.squeeze(1)
            return of_rows, False, True
        if op.name != 'sum' or a['axis'] is not None or keep:
            return None
        # of a flat view with its one axis kept: the cheapest way to a sum of shape (1,)
        return lambda x: function(x.ravel(), 0, True) if x.is_floating_point() else general(x), True, True

    def kernel(x):
        if x.is_floating_point() and x.shape[axis] != 1 and (keep or x.dim() > 1):
            return function(x, axis, keep)
        return general(x)
    return kernel, False, True


@special('max', 'min')
def _extreme(op, a, training, general):
    axis, keep = _one_axis(a), a['keepdims']
    function = torch.amax if op.name == 'max' else torch.amin
    if axis is None:
        return None
    return lambda x: function(x, axis, keep) if keep or x.dim() > 1 else general(x), False, False


@special('argmax', 'argmin')
def _position(op, a, training, general):
    axis, keep = a['axis'], a['keepdims']
    function = torch.argmax if op.name == 'argmax' else torch.argmin
    if axis is None:
        return None
    return lambda x: _CAST[x.dtype](function(x, axis, keep)) if keep or x.dim() > 1 else general(x), False, False


@special('norm')
def _norm(op, a, training, general):
    axis, keep, norm, order = _one_axis(a), a['keepdims'], torch.linalg.vector_norm, a['ord']
    if order not in (1, 2) or a['out_dtype'] is not None or a['axis'] is not None and axis is None:
        return None
    if axis is None:
        if keep:
            return None
        return lambda x: norm(x, order).reshape(1) if x.is_floating_point() else general(x), True, False

    def kernel(x):
        return norm(x, order, axis, keep) if x.is_floating_point() and (keep or x.dim() > 1) else general(x)
    return kernel, False, False


@special('dot')
def _dot(op, a, training, general):
    mm = torch.mm
    if a['transpose_a'] or a['transpose_b']:
        return None
    return lambda x, y: mm(x, y) if x.dim() == 2 == y.dim() else general(x, y), True, True


@special('batch_dot')
def _batch_dot(op, a, training, general):
    left, right, bmm = a['transpose_a'], a['transpose_b'], torch.bmm

    def kernel(x, y):
        if x.dim() != 3 or y.dim() != 3:
            return general(x, y)
        return bmm(x.mT if left else x, y.mT if right else y)
    return kernel, False, True


@special('_np_dot', '_npi_matmul')
def _np_dot(op, a, training, general):
    mm = torch.mm
    # a product over more axes may be a transposed view of new memory
    return lambda x, y: mm(x, y) if x.dim() == 2 == y.dim() and x.dtype is y.dtype else general(x, y).contiguous(), \
        True, True


# ---------------------------------------------------------------------- the NumPy interface
@special('_np_transpose')
def _np_transpose(op, a, training, general):
    axes, permute = a['axes'], torch.permute_copy
    if not axes or {x % len(axes) for x in axes} != set(range(len(axes))) or min(axes) < -len(axes) \
            or max(axes) >= len(axes):
        return None
    return lambda x: permute(x, axes) if x.dim() == len(axes) else general(x), False, False


@special('_npi_argmax', '_npi_argmin')
def _np_position(op, a, training, general):
    axis, keep = a['axis'], a['keepdims']
    function = torch.argmax if op.name == '_npi_argmax' else torch.argmin
    if axis is None:
        return None
    return lambda x: function(x, axis, keep) if x.dtype is not torch.bool and x.numel() else general(x), False, False


@special('_npi_concatenate', '_npi_stack')
def _np_join(op, a, training, general):
    axis, join = a['axis'], torch.cat if op.name == '_npi_concatenate' else torch.stack
    if axis is None:
        return None

    def kernel(tensors):
        first = tensors[0].dtype
        for t in tensors:
            if t.dtype is not first:
                return general(*tensors)
        return join(tensors, axis)
    return kernel, False, True


@special('_npi_where')
def _np_where(op, a, training, general):
    where = torch.where

    def kernel(condition, x, y):
        if condition.dtype is torch.bool and x.dtype is y.dtype and condition.shape == x.shape == y.shape:
            return where(condition, x, y)
        return general(condition, x, y)
    return kernel, False, False


# ---------------------------------------------------------------------- by index
# on a CPU an index outside raises, and the call runs again by the declaration, which clips; on a GPU it would end the
# process
@special('take')
def _take(op, a, training, general):
    axis, mode = a['axis'], a['mode']
    if mode == 'wrap':
        return None

    def kernel(x, index):
        if index.dim() != 1 or not x.is_cpu:
            return general(x, index)
        return x.index_select(axis, index.long())
    return kernel, True, True, 1


@special('Embedding')
def _embedding(op, a, training, general):
    shape, embedding = (a['input_dim'], a['output_dim']), torch.embedding
    if a['sparse_grad']:
        return None

    def kernel(index, weight):
        if not weight.is_cpu or weight.shape != shape:
            return general(index, weight)
        return embedding(weight, index.long())
    return kernel, True, True, 0


@special('pick')
def _pick(op, a, training, general):
    axis, keep, gather = a['axis'], a['keepdims'], torch.gather
    if a['mode'] != 'clip' or axis not in (-2, -1, 0, 1):
        return None
    other, is_column = axis ^ 1, axis % 2 == 1      # the other axis: 0 for 1, -2 for -1, and the other way round

    def kernel(x, index):
        shape, count = x.shape, index.numel()
        # a smaller index would be taken for a part of the rows
        if len(shape) != 2 or index.dim() != 1 or count != shape[other] or not x.is_cpu:
            return general(x, index)
        at = index.long()
        if at is index:
            at = at.unsqueeze(axis)
        elif is_column:
            at.resize_(count, 1)            # new memory: quicker than a view; with a tuple it takes twice as long
        else:
            at.resize_(1, count)
        result = gather(x, axis, at)
        if keep:
            return result
        return result.squeeze(axis) if result.requires_grad else result.resize_(count)
    return kernel, True, True, 1


@special('where')
def _where(op, a, training, general):
    where = torch.where

    def kernel(condition, x, y):
        if not condition.shape == x.shape == y.shape:
            return general(condition, x, y)
        return where(condition.logical_not(), y, x)             # faster than a conversion to bool
    return kernel, True, True, 0


@special('one_hot')
def _one_hot(op, a, training, general):
    depth, dtype = a['depth'], TORCH[a['dtype']]
    if not 0 <= depth <= 4096 or a['on_value'] != 1 or a['off_value'] != 0:
        return None
    numbers, convert = torch.arange(depth), _CAST.get(dtype)
    if convert is None:
        return None

    def kernel(index):
        return convert(index.long().unsqueeze(-1) == numbers) if index.is_cpu else general(index)
    return kernel, True, False


@special('topk')
def _topk(op, a, training, general):
    axis, k, descending, convert = a['axis'], a['k'], not a['is_ascend'], _CAST.get(TORCH[a['dtype']])
    if convert is None or axis is None or k < 1 or a['ret_typ'] not in ('indices', 'value', 'both'):
        return None
    wanted, narrow, sort = a['ret_typ'], torch.narrow_copy, torch.Tensor.sort

    def of_indices(x):
        length = x.shape[axis]
        if length > 64 or k > length:
            return general(x).contiguous()
        return narrow(convert(sort(x, stable=True, dim=axis, descending=descending)[1]), axis, 0, k)

    def kernel(x):
        length = x.shape[axis]
        if length > 64 or k > length:
            return general(x)
        values, indices = sort(x, stable=True, dim=axis, descending=descending)
        values = narrow(values, axis, 0, k)
        return values if wanted == 'value' else (values, narrow(convert(indices), axis, 0, k))

    if wanted == 'indices':
        return of_indices, True, False
    return kernel, False, False
