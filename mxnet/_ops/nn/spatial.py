"""What convolutions and poolings share: values per axis, layouts, and their error messages."""
from ...base import MXNetError


def per_axis(operator, name, value, count, default):
    """One value for each of `count` spatial axes; () stands for the default on every axis."""
    if not value:
        return (default,) * count
    if len(value) != count:
        raise MXNetError(f'operator {operator}: argument {name}={value} has {len(value)} values, '
                         f'but there are {count} spatial axes')
    if min(value) < default:            # strides and dilations begin at 1, paddings at 0
        what = 'be positive' if default else 'not be negative'
        raise MXNetError(f'operator {operator}: argument {name}={value} must {what}')
    return value


def check_kernel(operator, kernel, data, layout):
    """The number of spatial axes, after checking that kernel, data and layout agree on it."""
    count = len(kernel)
    if not 1 <= count <= 3:
        raise MXNetError(f'operator {operator}: argument kernel={kernel} must have 1, 2 or 3 values')
    if min(kernel) < 1:
        raise MXNetError(f'operator {operator}: argument kernel={kernel} must be positive')
    check_rank(operator, data, count, layout)
    return count


def check_rank(operator, data, count, layout):
    """Raises unless data (and the layout, if there is one) has `count` spatial axes."""
    if data.dim() != count + 2:
        raise MXNetError(f'operator {operator}: data has shape {tuple(data.shape)}, but with {count} spatial axes '
                         f'it must have {count + 2} dimensions')
    if layout is not None and len(layout) != count + 2:
        raise MXNetError(f'operator {operator}: argument layout={layout!r} does not describe data with '
                         f'{count + 2} dimensions')


def is_channels_last(layout):
    """Is the channel axis the last one (NWC, NHWC, NDHWC)?"""
    return layout is not None and layout[-1] == 'C'


def check_shape(operator, name, tensor, expected):
    if tensor.shape != expected:
        raise MXNetError(f'operator {operator}: {name} has shape {tuple(tensor.shape)}, but with these arguments '
                         f'it must have {tuple(expected)}')
