"""Networks without their labels: what a checkpoint of `Module` computes when it predicts."""
from .._graph.ir.node import Node, rebuild, topological
from .._ops.core.table import NAMES
from ..base import MXNetError
from ._compose import make

# operators at the end of a network that compare with a label, which only their gradient needs
LABELS = {'SoftmaxOutput': 'label', 'LinearRegressionOutput': 'label', 'LogisticRegressionOutput': 'label',
          'MAERegressionOutput': 'label', 'SVMOutput': 'label'}


def without_labels(symbol, known, what='the network'):
    """The symbol as it predicts with the variables in `known`: labels are no inputs of it any more.

    A loss layer whose label is not known gives what it gives in prediction.  Outputs that need a label all the same
    (the loss itself, masks made of it) are left out, if others remain.
    """
    known = set(known)
    if all(node.name in known for node in topological(symbol._entries) if node.is_variable):
        return symbol
    changed = _without_loss_layers(symbol._entries, known)
    kept = [entry for entry in changed if not _unknown([entry], known)]
    if not kept:
        missing = _unknown(changed, known)
        raise MXNetError(f'{what} needs values for {", ".join(missing)}, which {"is" if len(missing) == 1 else "are"} '
                         'neither among its inputs nor among its parameters')
    return make(type(symbol), tuple(kept))


def outputs_of(symbol, known):
    """The outputs that remain when only the variables in `known` have values."""
    return [entry for entry in _without_loss_layers(symbol._entries, known) if not _unknown([entry], known)]


def _without_loss_layers(entries, known):
    """The entries without the loss layers whose labels are not known."""
    def change(node, inputs):
        label = None if node.is_variable else LABELS.get(node.op.name)
        if label is None:
            return None
        given = dict(zip(node.input_names(), inputs, strict=True))
        if label not in given or not _unknown([given[label]], known):
            return None
        return [_prediction(node, given['data'])]

    return rebuild(entries, change)


def label_names(symbol):
    """Names of the variables that a loss layer of the symbol takes as its label, or that its label is computed of."""
    found = set()
    for node in topological(symbol._entries):
        label = None if node.is_variable else LABELS.get(node.op.name)
        for name, entry in zip(node.input_names() if label else (), node.inputs):
            if name == label:
                found |= {n.name for n in topological([entry]) if n.is_variable}
    return found


def _unknown(entries, known):
    return [n.name for n in topological(entries) if n.is_variable and n.name not in known]


def _prediction(node, data):
    """The entry that a loss layer gives in prediction."""
    def apply(operator, *inputs, name=node.name, **attributes):
        return Node(NAMES[operator], name, attributes, inputs or [data]), 0

    if node.op.name == 'LogisticRegressionOutput':
        return apply('sigmoid')
    if node.op.name != 'SoftmaxOutput':
        return apply('_copy')
    if node.attributes['multi_output']:
        return apply('softmax', axis='1')
    if node.attributes['preserve_shape']:
        return apply('softmax', axis='-1')
    if not data[0].is_variable and data[0].op.name == 'FullyConnected' and data[0].attributes['flatten']:
        return apply('softmax', axis='-1')
    # over everything but the batch
    flat = apply('Flatten', name=f'{node.name}_flatten')
    return apply('reshape_like', apply('softmax', flat, name=f'{node.name}_softmax', axis='-1'), data)
