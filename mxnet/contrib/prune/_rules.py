"""How channels pass through operators: a rule for each family, from the labels of the inputs to those of the outputs.

Labels of a value are an array with as many axes as the value, of length 1 along axes on which they do not vary.  They
vary along one axis at most: where an operator would make them vary along two, the labels of one axis are coupled.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..._ops.core.table import TABLE
from ._labels import collapsed, varying

RULES: dict[str, Callable] = {}
_NOT_ELEMENTWISE = {'log_softmax', 'softmin', 'SoftmaxActivation', '_contrib_div_sqrt_dim', '_npx_constraint_check'}


def rule(*names: str) -> Callable:
    """Registers the rule of operators."""
    def register(function):
        for name in names:
            RULES[name] = function
        return function
    return register


def rule_of(node: Any) -> Callable | None:
    """The rule of a node's operator; None of one that is not known here."""
    name = node.op.name
    if name in RULES:
        return RULES[name]
    return elementwise if TABLE[name].elementwise and name not in _NOT_ELEMENTWISE else None


# ---------------------------------------------------------------------- elements
_BINARY = ('add', 'sub', 'mul', 'div', 'mod', 'power', 'hypot', 'maximum', 'minimum', 'equal', 'not_equal', 'greater',
           'greater_equal', 'lesser', 'lesser_equal', 'logical_and', 'logical_or', 'logical_xor')
_NUMPY = ('add', 'subtract', 'multiply', 'true_divide', 'mod', 'power', 'copysign', 'hypot', 'arctan2', 'equal',
          'not_equal', 'greater', 'greater_equal', 'less', 'less_equal')
_SCALAR = ('true_divide', 'equal', 'not_equal', 'greater', 'greater_equal', 'less', 'less_equal')


@rule('where', '_npi_where', 'Dropout', *[f'broadcast_{n}' for n in _BINARY], *[f'_npi_{n}' for n in _NUMPY],
      *[f'_npi_{n}_scalar' for n in _SCALAR])
def elementwise(graph, node):
    """Values at one place belong together."""
    shape = graph.shape((node, 0))
    operands = []
    for entry in node.inputs:
        labels, own = graph.labels(entry), graph.shape(entry)
        missing = (1,) * (len(shape) - len(own))
        operands.append(((*missing, *own), labels.reshape(missing + labels.shape)))
    axes = {axis for _, labels in operands for axis in varying(labels)}
    result = np.zeros((1,) * len(shape), np.int64)
    first = True
    for own, labels in operands:
        # along an axis on which a value has one element, it is the same for all channels
        spread = {axis for axis in range(len(shape)) if own[axis] == 1 < shape[axis]}
        if axes & spread or set(own) == {1} != set(shape):
            graph.fix(labels, f'{graph.named(node)} takes them for all channels')
            continue
        if not first:
            graph.couple(result, labels, node)
        common = np.broadcast_shapes(result.shape, labels.shape)
        result = np.where(np.broadcast_to(result, common) == 0, labels, result)
        first = False
    return [graph.one_axis(result, node)] * node.output_count()


@rule('LeakyReLU')
def leaky_relu(graph, node):
    labels = graph.labels(node.inputs[0])
    if len(node.inputs) > 1:
        graph.along(node, labels, 1, node.inputs[1])
    return [labels] * node.output_count()


# ---------------------------------------------------------------------- layers with weights
def _channel_axis(node, ndim):
    layout = node.attributes.get('layout')
    return ndim - 1 if layout and layout.endswith('C') else 1


def _only_along(graph, node, labels, axis):
    """Labels along one axis; if they vary along another, all of them stay."""
    length = graph.shape(node.inputs[0])[axis]
    if any(other != axis for other in varying(labels)):
        graph.fix(labels, f'{graph.named(node)} does not see them as channels')
        return np.zeros(length, np.int64)
    return np.broadcast_to(labels.reshape(-1), (length,)).copy()


def _outputs(graph, node, along, axis):
    shape = [1] * len(graph.shape((node, 0)))
    shape[axis] = -1
    return [along.reshape(shape)] * node.output_count()


@rule('Convolution', 'Convolution_v1')
def convolution(graph, node):
    axis = _channel_axis(node, len(graph.shape(node.inputs[0])))
    channels = _only_along(graph, node, graph.labels(node.inputs[0]), axis)
    weight = graph.parameter(node, 1)
    if weight is None:
        graph.fix(channels, f'the weight of {graph.named(node)} is computed in the graph')
        return graph.nothing(node)
    groups, per_group = node.attributes['num_group'], len(weight[1 if axis == 1 else -1])
    made = weight[0]
    if groups == 1:
        graph.couple(weight[1 if axis == 1 else -1], channels, node)
        graph.produces(node, 0)
    elif per_group == 1:                # depthwise: a filter belongs to one channel
        graph.couple(made, channels.repeat(len(made) // groups), node)
        graph.edit(node, lambda kept: {'num_group': kept(channels).sum()})
        graph.produces(node, 0)
    else:                               # as many in each group
        rows = channels.reshape(groups, -1)
        graph.couple(rows, rows[:1], node)
        graph.couple(weight[1 if axis == 1 else -1], rows[0], node)
        rows = made.reshape(groups, -1)
        graph.couple(rows, rows[:1], node)
        graph.produces(node, 0)
    graph.edit(node, lambda kept: {'num_filter': kept(made).sum()})
    graph.vector(node, 2, made)
    return _outputs(graph, node, made, axis)


@rule('Deconvolution')
def deconvolution(graph, node):
    channels = _only_along(graph, node, graph.labels(node.inputs[0]), 1)
    weight = graph.parameter(node, 1)
    if weight is None:
        graph.fix(channels, f'the weight of {graph.named(node)} is computed in the graph')
        return graph.nothing(node)
    groups = node.attributes['num_group']
    graph.couple(weight[0], channels, node)
    if groups == 1:
        made = weight[1]
        graph.produces(node, 1)
    elif groups == len(channels):
        made = channels.repeat(len(weight[1]))
        graph.fix(weight[1], 'as many for each channel')
        graph.edit(node, lambda kept: {'num_group': kept(channels).sum()})
    else:
        rows = channels.reshape(groups, -1)
        graph.couple(rows, rows[:1], node)
        made = np.tile(weight[1], groups)
        graph.produces(node, 1)
    graph.edit(node, lambda kept: {'num_filter': kept(made).sum()})
    graph.vector(node, 2, made)
    return _outputs(graph, node, made, 1)


@rule('FullyConnected')
def fully_connected(graph, node):
    labels, shape = graph.labels(node.inputs[0]), graph.shape(node.inputs[0])
    weight = graph.parameter(node, 1)
    if weight is None:
        graph.fix(labels, f'the weight of {graph.named(node)} is computed in the graph')
        return graph.nothing(node)
    if 0 in varying(labels) or not node.attributes['flatten'] and varying(labels) not in ([], [len(shape) - 1]):
        graph.fix(labels, f'{graph.named(node)} does not see them as features')
        labels = np.zeros((1,) * len(shape), np.int64)
    if node.attributes['flatten']:
        features = np.broadcast_to(labels, (1, *shape[1:])).reshape(-1)
    else:
        features = np.broadcast_to(labels.reshape(-1), (shape[-1],))
    graph.couple(weight[1], features, node)
    made = weight[0]
    graph.produces(node, 0)
    graph.edit(node, lambda kept: {'num_hidden': kept(made).sum()})
    graph.vector(node, 2, made)
    return _outputs(graph, node, made, len(graph.shape((node, 0))) - 1)


@rule('Embedding', '_contrib_SparseEmbedding')
def embedding(graph, node):
    graph.fix(graph.labels(node.inputs[0]), f'{graph.named(node)} takes them as numbers of rows')
    weight = graph.parameter(node, 1)
    if weight is None:
        return graph.nothing(node)
    graph.fix(weight[0], 'rows of an embedding')
    made = weight[1]
    graph.produces(node, 1)
    graph.edit(node, lambda kept: {'output_dim': kept(made).sum()})
    return _outputs(graph, node, made, len(graph.shape((node, 0))) - 1)


@rule('BatchNorm', 'BatchNorm_v1', '_contrib_BatchNormWithReLU', '_contrib_SyncBatchNorm', 'InstanceNorm')
def normalization(graph, node):
    shape = graph.shape(node.inputs[0])
    axis = node.attributes.get('axis', 1) % len(shape)
    along = _only_along(graph, node, graph.labels(node.inputs[0]), axis)
    for position in range(1, len(node.inputs)):
        graph.vector(node, position, along)
    first = _outputs(graph, node, along, axis)[:1]
    return [*first, *[along] * (node.output_count() - 1)]


@rule('L2Normalization')
def l2_normalization(graph, node):
    labels = graph.labels(node.inputs[0])
    if node.attributes['mode'] != 'spatial' or varying(labels) not in ([], [1]):
        graph.fix(labels, f'{graph.named(node)} computes with all channels')
    return [labels] * node.output_count()


# ---------------------------------------------------------------------- positions
@rule('Pooling', 'Pooling_v1', '_contrib_AdaptiveAvgPooling2D', '_contrib_BilinearResize2D', 'Crop', 'ROIPooling',
      '_contrib_ROIAlign')
def spatial(graph, node):
    """What happens to each channel by itself.  A second input lends its size, or places."""
    axis = _channel_axis(node, len(graph.shape(node.inputs[0])))
    along = _only_along(graph, node, graph.labels(node.inputs[0]), axis)
    if node.op.name.endswith(('ROIPooling', 'ROIAlign')):
        graph.fix(graph.labels(node.inputs[1]), f'{graph.named(node)} takes them as places')
    return _outputs(graph, node, along, axis)


@rule('UpSampling')
def upsampling(graph, node):
    if node.attributes['sample_type'] != 'nearest' or len(node.inputs) > 1:
        return graph.unknown(node)
    return spatial(graph, node)


@rule('Pad', '_npi_pad')
def pad(graph, node):
    labels = graph.labels(node.inputs[0])
    widths = node.attributes['pad_width']
    flat = [n for pair in widths for n in (pair if isinstance(pair, (tuple, list)) else [pair])]
    if any(flat[2 * axis] or flat[2 * axis + 1] for axis in varying(labels)):
        graph.fix(labels, f'{graph.named(node)} adds channels')
        return graph.nothing(node)
    return [labels]


@rule('sum', 'mean', 'prod', 'nansum', 'nanprod', 'max', 'min', 'norm', '_np_sum', '_np_prod', '_npi_mean', '_npi_std',
      '_npi_var', '_np_max', '_np_min')
def reduction(graph, node):
    labels, ndim = graph.labels(node.inputs[0]), len(graph.shape(node.inputs[0]))
    given = node.attributes.get('axis')
    axes = list(range(ndim)) if given is None or given == () else \
        [n % ndim for n in (given if isinstance(given, (tuple, list)) else [given])]
    if node.attributes.get('exclude'):
        axes = [n for n in range(ndim) if n not in axes]
    if set(axes) & set(varying(labels)):
        graph.fix(labels, f'{graph.named(node)} computes with all channels')
        return graph.nothing(node)
    if not node.attributes['keepdims']:
        labels = labels.reshape([n for axis, n in enumerate(labels.shape) if axis not in axes] or [1])
    return [labels] * node.output_count()


# ---------------------------------------------------------------------- movement
@rule('Flatten', 'expand_dims', 'squeeze', 'transpose', 'SwapAxis', 'reverse', 'tile', 'repeat', 'depth_to_space',
      'space_to_depth', '_np_transpose', '_np_moveaxis', '_npi_flip', '_np_squeeze')
def moved(graph, node):
    """The operator itself moves the labels."""
    return graph.run(node)


@rule('Reshape', '_np_reshape', '_npx_reshape')
def reshape(graph, node):
    [result] = graph.run(node)
    axes = varying(result)
    if not axes:
        return [result]
    name = 'shape' if 'shape' in node.attributes else 'newshape'
    given = node.attributes[name]
    given = list(given) if isinstance(given, (tuple, list)) else [given]
    place = _item(given, axes[0], len(graph.shape(node.inputs[0])), node.op.name)
    if node.attributes.get('reverse') or place is None or node.attributes.get('target_shape'):
        graph.fix(result, f'{graph.named(node)} reshapes in a way that is not understood')
        return graph.nothing(node)
    if given[place] > 0:
        along = result.reshape(-1)

        def edit(kept):
            return {name: tuple(int(kept(along).sum()) if i == place else n for i, n in enumerate(given))}
        graph.edit(node, edit)
    return [result]


def _item(given, axis, inputs, operator):
    """Which item of a new shape tells the length of an axis of the result."""
    if operator == '_npx_reshape' and any(n < -1 for n in given):
        return None
    done = at = place = 0
    while place < len(given):
        code = given[place]
        if code == -4:
            if axis in (at, at + 1):
                return place + 1 + axis - at
            done, at, place = done + 1, at + 2, place + 3
            continue
        count = inputs - done if code == -2 else 1
        if at <= axis < at + count:
            return place
        done += {-3: 2, -2: count}.get(code, 1)
        at += count
        place += 1
    return None


@rule('Concat', 'stack', '_npi_concatenate', '_npi_stack')
def concat(graph, node):
    parts = [graph.labels(entry) for entry in node.inputs]
    shapes = [graph.shape(entry) for entry in node.inputs]
    axis = node.attributes.get('dim', node.attributes.get('axis'))
    if axis is None:
        return graph.unknown(node)
    if node.op.name in ('stack', '_npi_stack'):
        axis %= len(shapes[0]) + 1
        parts = [np.expand_dims(p, axis) for p in parts]
    else:
        axis %= len(shapes[0])
        parts = [np.broadcast_to(p, (*p.shape[:axis], s[axis], *p.shape[axis + 1:]))
                 for p, s in zip(parts, shapes, strict=True)]
    common = np.broadcast_shapes(*[(*p.shape[:axis], 1, *p.shape[axis + 1:]) for p in parts])
    parts = [np.broadcast_to(p, (*common[:axis], p.shape[axis], *common[axis + 1:])) for p in parts]
    return [graph.one_axis(np.concatenate(parts, axis), node)] * node.output_count()


@rule('SliceChannel', '_split_v2')
def split(graph, node):
    labels, shape = graph.labels(node.inputs[0]), graph.shape(node.inputs[0])
    attributes = node.attributes
    axis = attributes['axis'] % len(shape)
    if axis not in varying(labels):
        if attributes['squeeze_axis']:
            labels = labels.squeeze(axis)
        return [labels] * node.output_count()
    if attributes['squeeze_axis']:
        graph.fix(labels, f'{graph.named(node)} takes single channels')
        return graph.nothing(node)
    count = attributes['num_outputs'] if node.op.name == 'SliceChannel' else attributes['sections']
    if count:
        parts = np.split(labels, count, axis)
        for part in parts[1:]:          # parts of one length
            graph.couple(parts[0], part, node)
        return parts
    along, indices = labels.reshape(-1), list(attributes['indices'])

    def edit(kept):
        return {'indices': tuple(int(kept(along[:n]).sum()) for n in indices)}
    graph.edit(node, edit)
    return np.split(labels, indices[1:] if indices[:1] == [0] else indices, axis)


@rule('slice_axis')
def slice_axis(graph, node):
    labels, shape = graph.labels(node.inputs[0]), graph.shape(node.inputs[0])
    axis = node.attributes['axis'] % len(shape)
    if axis not in varying(labels):
        return [labels]
    begin, end, _ = slice(node.attributes['begin'], node.attributes['end']).indices(shape[axis])
    along = labels.reshape(-1)
    graph.edit(node, lambda kept: {'begin': kept(along[:begin]).sum(), 'end': kept(along[:end]).sum()})
    return [collapsed(labels.take(range(begin, end), axis))]


@rule('slice')
def slice_(graph, node):
    labels, shape = graph.labels(node.inputs[0]), graph.shape(node.inputs[0])
    axes, attributes = varying(labels), node.attributes
    if not axes or axes[0] >= len(attributes['begin']):
        return [labels]
    [axis] = axes
    step = (attributes['step'] or [])[axis:axis + 1]
    if step and step[0] not in (None, 1):
        graph.fix(labels, f'{graph.named(node)} takes every {step[0]}th channel')
        return graph.nothing(node)
    begin, end, _ = slice(attributes['begin'][axis], attributes['end'][axis]).indices(shape[axis])
    along = labels.reshape(-1)

    def edit(kept):
        return {name: tuple(int(kept(along[:n]).sum()) if i == axis else old for i, old in enumerate(attributes[name]))
                for name, n in (('begin', begin), ('end', end))}
    graph.edit(node, edit)
    return [collapsed(labels.take(range(begin, end), axis))]


@rule('shape_array', 'size_array', 'zeros_like', 'ones_like')
def only_shape(graph, node):
    if node.op.name in ('zeros_like', 'ones_like'):
        return [graph.labels(node.inputs[0])]
    graph.fix(graph.labels(node.inputs[0]), f'{graph.named(node)} gives their number to the graph')
    return graph.nothing(node)


def run_on_labels(node: Any, labels: list[Any], shapes: list[Any]) -> list[Any]:
    """The labels of the outputs of an operator that only moves values."""
    tensors = [torch.from_numpy(np.broadcast_to(one, shape).astype(np.int64)) for one, shape
               in zip(labels, shapes, strict=True)]
    found = node.op.function(*tensors, **node.attributes)
    return [f.numpy() for f in (found if isinstance(found, (tuple, list)) else [found])]
