"""DenseNet (Huang and others, 2016: "Densely connected convolutional networks")."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ...._names import suggest_names as _suggest_names
from ... import nn
from ...contrib.nn import Identity
from ..model_store import ROOT
from ._parts import CPU, Classifier, side_by_side, stack, with_parameters

if TYPE_CHECKING:
    from ...._typing import BlockOptions, Contexts, Path, ZooOptions

__all__ = ['DenseNet', 'densenet121', 'densenet161', 'densenet169', 'densenet201']

# number of layers: (channels of the first convolution, channels that a layer adds, layers of each stage)
densenet_spec: Any = {121: (64, 32, [6, 12, 24, 16]), 161: (96, 48, [6, 12, 36, 24]), 169: (64, 32, [6, 12, 32, 32]),
                 201: (64, 32, [6, 12, 48, 32])}


def _activated(convolution):
    """BatchNorm and ReLU before a convolution, made in this order since names count."""
    return nn.BatchNorm(), nn.Activation('relu'), convolution()


# Programs build networks of their own from the three parts, which have upstream's names and arguments.
def _make_dense_layer(growth_rate, bn_size, dropout):
    """Adds `growth_rate` channels to its input, through `bn_size` times as many."""
    blocks = [*_activated(lambda: nn.Conv2D(bn_size * growth_rate, kernel_size=1, use_bias=False)),
              *_activated(lambda: nn.Conv2D(growth_rate, kernel_size=3, padding=1, use_bias=False))]
    if dropout:
        blocks.append(nn.Dropout(dropout))
    return side_by_side(Identity(), stack(*blocks))


def _make_dense_block(num_layers, bn_size, growth_rate, dropout, stage_index):
    stage = nn.HybridSequential(prefix=f'stage{stage_index}_')
    with stage.name_scope():
        for _ in range(num_layers):
            stage.add(_make_dense_layer(growth_rate, bn_size, dropout))
    return stage


def _make_transition(num_output_features):
    return stack(*_activated(lambda: nn.Conv2D(num_output_features, kernel_size=1, use_bias=False)),
                 nn.AvgPool2D(pool_size=2, strides=2))


class DenseNet(Classifier):
    """Stages of layers that each see the results of all layers before them."""

    features: Any
    output: Any

    def __init__(self, num_init_features: int, growth_rate: int, block_config: Sequence[int], bn_size: int = 4,
                 dropout: float = 0, classes: int = 1000, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = stack(nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False),
                                  nn.BatchNorm(), nn.Activation('relu'),
                                  nn.MaxPool2D(pool_size=3, strides=2, padding=1))
            channels = num_init_features
            for number, layers in enumerate(block_config, 1):
                self.features.add(_make_dense_block(layers, bn_size, growth_rate, dropout, number))
                channels += layers * growth_rate
                if number < len(block_config):
                    channels //= 2
                    self.features.add(_make_transition(channels))
            self.features.add(nn.BatchNorm(), nn.Activation('relu'), nn.AvgPool2D(pool_size=7), nn.Flatten())
            self.output = nn.Dense(classes)


def get_densenet(num_layers: int, pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT,
                 **kwargs: Any) -> Classifier:
    """A DenseNet of 121, 161, 169 or 201 layers."""
    net = DenseNet(*densenet_spec[num_layers], **kwargs)
    return with_parameters(net, f'densenet{num_layers}', pretrained, ctx, root)


def densenet121(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """DenseNet of 121 layers."""
    return get_densenet(121, **kwargs)


def densenet161(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """DenseNet of 161 layers."""
    return get_densenet(161, **kwargs)


def densenet169(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """DenseNet of 169 layers."""
    return get_densenet(169, **kwargs)


def densenet201(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """DenseNet of 201 layers."""
    return get_densenet(201, **kwargs)


_suggest_names(globals())
