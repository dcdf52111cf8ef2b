"""What the networks have in common."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....context import cpu
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ..model_store import get_model_file

if TYPE_CHECKING:
    from ...._typing import Contexts, Path
    from ....gluon.block import Block

CPU = cpu()


class Classifier(HybridBlock):
    """A network of two parts: `features` finds what a picture shows, `output` tells the classes."""

    features: Any
    output: Any

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.output(self.features(x))


def stack(*blocks: Block, prefix: str | None = '') -> Any:
    """Blocks one after the other; without a prefix, they keep the names that they have."""
    sequence = nn.HybridSequential(prefix=prefix)
    sequence.add(*blocks)
    return sequence


def side_by_side(*blocks: Block) -> Any:
    """Blocks on the same input, their channels joined."""
    both = HybridConcurrent(axis=1, prefix='')
    both.add(*blocks)
    return both


def with_parameters(net: HybridBlock, name: str, pretrained: bool, ctx: Contexts | None, root: Path) -> Any:
    """The network, with the parameters that upstream published for it if `pretrained`."""
    if pretrained:
        net.load_parameters(get_model_file(name, root=root), ctx=ctx)
    return net
