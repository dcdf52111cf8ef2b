"""AlexNet (Krizhevsky, 2014: "One weird trick for parallelizing convolutional neural networks")."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ...._names import suggest_names as _suggest_names
from ... import nn
from ..model_store import ROOT
from ._parts import CPU, Classifier, stack, with_parameters

if TYPE_CHECKING:
    from ...._typing import BlockOptions, Contexts, Path

__all__ = ['AlexNet', 'alexnet']


class AlexNet(Classifier):
    """Five convolutions and three dense layers."""

    features: Any
    output: Any

    def __init__(self, classes: int = 1000, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = stack(
                nn.Conv2D(64, kernel_size=11, strides=4, padding=2, activation='relu'),
                nn.MaxPool2D(pool_size=3, strides=2),
                nn.Conv2D(192, kernel_size=5, padding=2, activation='relu'),
                nn.MaxPool2D(pool_size=3, strides=2),
                nn.Conv2D(384, kernel_size=3, padding=1, activation='relu'),
                nn.Conv2D(256, kernel_size=3, padding=1, activation='relu'),
                nn.Conv2D(256, kernel_size=3, padding=1, activation='relu'),
                nn.MaxPool2D(pool_size=3, strides=2),
                nn.Flatten(),
                nn.Dense(4096, activation='relu'), nn.Dropout(0.5),
                nn.Dense(4096, activation='relu'), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def alexnet(pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT, **kwargs: Any) -> Classifier:
    """AlexNet."""
    return with_parameters(AlexNet(**kwargs), 'alexnet', pretrained, ctx, root)


_suggest_names(globals())
