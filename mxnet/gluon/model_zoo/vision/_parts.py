"""What the networks have in common."""
from ....context import cpu
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ..model_store import get_model_file

CPU = cpu()


class Classifier(HybridBlock):
    """A network of two parts: `features` finds what a picture shows, `output` tells the classes."""

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def stack(*blocks, prefix=''):
    """Blocks one after the other; without a prefix, they keep the names that they have."""
    sequence = nn.HybridSequential(prefix=prefix)
    sequence.add(*blocks)
    return sequence


def side_by_side(*blocks):
    """Blocks on the same input, their channels joined."""
    both = HybridConcurrent(axis=1, prefix='')
    both.add(*blocks)
    return both


def with_parameters(net, name, pretrained, ctx, root):
    """The network, with the parameters that upstream published for it if `pretrained`."""
    if pretrained:
        net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net
