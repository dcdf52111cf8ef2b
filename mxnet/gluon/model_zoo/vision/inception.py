"""Inception v3 (Szegedy and others, 2015: "Rethinking the inception architecture for computer vision")."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ...._names import suggest_names as _suggest_names
from ... import nn
from ...contrib.nn import HybridConcurrent
from ..model_store import ROOT
from ._parts import CPU, Classifier, side_by_side, stack, with_parameters

if TYPE_CHECKING:
    from ...._typing import BlockOptions, Contexts, Path
    from ....gluon.block import HybridBlock

__all__ = ['Inception3', 'inception_v3']


def _convolution(channels, kernel_size, strides=(1, 1), padding=(0, 0)):
    """Convolution, BatchNorm, ReLU."""
    return stack(nn.Conv2D(channels, kernel_size, strides, padding, use_bias=False), nn.BatchNorm(epsilon=0.001),
                 nn.Activation('relu'))


def _branch(*convolutions, pool=None):
    """Convolutions, given by their arguments, one after the other; perhaps after pooling."""
    blocks: list[HybridBlock] = []
    if pool == 'avg':
        blocks.append(nn.AvgPool2D(pool_size=3, strides=1, padding=1))
    elif pool == 'max':
        blocks.append(nn.MaxPool2D(pool_size=3, strides=2))
    return stack(*blocks, *[_convolution(*arguments) for arguments in convolutions])


def _wide(channels):
    return channels, (1, 7), (1, 1), (0, 3)


def _high(channels):
    return channels, (7, 1), (1, 1), (3, 0)


def _split():
    """A 3x3 convolution taken apart into 1x3 and 3x1, side by side."""
    return side_by_side(_branch((384, (1, 3), (1, 1), (0, 1))), _branch((384, (3, 1), (1, 1), (1, 0))))


def _mixed(prefix, *branches):
    """Branches side by side; they are made inside of the name scope, so they come as functions."""
    block = HybridConcurrent(axis=1, prefix=prefix)
    with block.name_scope():
        block.add(*[branch() for branch in branches])
    return block


def _a(pooled, prefix):
    return _mixed(prefix, lambda: _branch((64, 1)), lambda: _branch((48, 1), (64, 5, (1, 1), 2)),
                  lambda: _branch((64, 1), (96, 3, (1, 1), 1), (96, 3, (1, 1), 1)),
                  lambda: _branch((pooled, 1), pool='avg'))


def _b(prefix):
    return _mixed(prefix, lambda: _branch((384, 3, 2)), lambda: _branch((64, 1), (96, 3, (1, 1), 1), (96, 3, 2)),
                  lambda: _branch(pool='max'))


def _c(channels, prefix):
    return _mixed(prefix, lambda: _branch((192, 1)), lambda: _branch((channels, 1), _wide(channels), _high(192)),
                  lambda: _branch((channels, 1), _high(channels), _wide(channels), _high(channels), _wide(192)),
                  lambda: _branch((192, 1), pool='avg'))


def _d(prefix):
    return _mixed(prefix, lambda: _branch((192, 1), (320, 3, 2)),
                  lambda: _branch((192, 1), _wide(192), _high(192), (192, 3, 2)), lambda: _branch(pool='max'))


def _e(prefix):
    return _mixed(prefix, lambda: _branch((320, 1)), lambda: stack(_branch((384, 1)), _split()),
                  lambda: stack(_branch((448, 1), (384, 3, (1, 1), 1)), _split()),
                  lambda: _branch((192, 1), pool='avg'))


def make_aux(classes: int) -> HybridBlock:
    """The second classifier, which training of the original network has beside the main one."""
    return stack(nn.AvgPool2D(pool_size=5, strides=3), _convolution(128, 1), _convolution(768, 5), nn.Flatten(),
                 nn.Dense(classes))


class Inception3(Classifier):
    """Inception v3, for pictures of 299 x 299."""

    features: Any
    output: Any

    def __init__(self, classes: int = 1000, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = stack(
                _convolution(32, 3, 2), _convolution(32, 3), _convolution(64, 3, padding=1),
                nn.MaxPool2D(pool_size=3, strides=2), _convolution(80, 1), _convolution(192, 3),
                nn.MaxPool2D(pool_size=3, strides=2),
                _a(32, 'A1_'), _a(64, 'A2_'), _a(64, 'A3_'), _b('B_'),
                _c(128, 'C1_'), _c(160, 'C2_'), _c(160, 'C3_'), _c(192, 'C4_'), _d('D_'), _e('E1_'), _e('E2_'),
                nn.AvgPool2D(pool_size=8), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def inception_v3(pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT, **kwargs: Any) -> Classifier:
    """Inception v3."""
    return with_parameters(Inception3(**kwargs), 'inceptionv3', pretrained, ctx, root)


_suggest_names(globals())
