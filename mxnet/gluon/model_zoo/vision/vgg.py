"""VGG (Simonyan and Zisserman, 2014: "Very deep convolutional networks for large-scale image recognition")."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ...._names import suggest_names as _suggest_names
from ....initializer import Xavier
from ... import nn
from ..model_store import ROOT
from ._parts import CPU, Classifier, stack, with_parameters

if TYPE_CHECKING:
    from ...._typing import BlockOptions, Contexts, Path, ZooOptions

__all__ = ['VGG', 'get_vgg', 'vgg11', 'vgg11_bn', 'vgg13', 'vgg13_bn', 'vgg16', 'vgg16_bn', 'vgg19', 'vgg19_bn']

_FILTERS = [64, 128, 256, 512, 512]
# number of layers: (convolutions of each stage, their channels)
vgg_spec: Any = {11: ([1, 1, 2, 2, 2], _FILTERS), 13: ([2, 2, 2, 2, 2], _FILTERS), 16: ([2, 2, 3, 3, 3], _FILTERS),
            19: ([2, 2, 4, 4, 4], _FILTERS)}


class VGG(Classifier):
    """Stages of 3x3 convolutions, each followed by pooling, then three dense layers."""

    features: Any
    output: Any

    def __init__(self, layers: Sequence[int], filters: Sequence[int], classes: int = 1000, batch_norm: bool = False,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise AssertionError(f'VGG: layers and filters have one number a stage each, but they are {layers} and '
                                 f'{filters}')

        def dense(units, activation=None):
            return nn.Dense(units, activation, weight_initializer='normal', bias_initializer='zeros')

        with self.name_scope():
            self.features = stack()
            for count, channels in zip(layers, filters, strict=True):
                for _ in range(count):
                    self.features.add(nn.Conv2D(channels, kernel_size=3, padding=1, weight_initializer=Xavier(
                        rnd_type='gaussian', factor_type='out', magnitude=2), bias_initializer='zeros'))
                    if batch_norm:
                        self.features.add(nn.BatchNorm())
                    self.features.add(nn.Activation('relu'))
                self.features.add(nn.MaxPool2D(strides=2))
            self.features.add(dense(4096, 'relu'), nn.Dropout(rate=0.5), dense(4096, 'relu'), nn.Dropout(rate=0.5))
            self.output = dense(classes)


def get_vgg(num_layers: int, pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT,
            **kwargs: Any) -> Classifier:
    """A VGG of 11, 13, 16 or 19 layers; `batch_norm=True` puts a BatchNorm after every convolution."""
    name = f'vgg{num_layers}' + ('_bn' if kwargs.get('batch_norm') else '')
    return with_parameters(VGG(*vgg_spec[num_layers], **kwargs), name, pretrained, ctx, root)


def vgg11(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 11 layers."""
    return get_vgg(11, **kwargs)


def vgg13(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 13 layers."""
    return get_vgg(13, **kwargs)


def vgg16(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 16 layers."""
    return get_vgg(16, **kwargs)


def vgg19(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 19 layers."""
    return get_vgg(19, **kwargs)


def vgg11_bn(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 11 layers with batch normalization."""
    kwargs['batch_norm'] = True
    return get_vgg(11, **kwargs)


def vgg13_bn(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 13 layers with batch normalization."""
    kwargs['batch_norm'] = True
    return get_vgg(13, **kwargs)


def vgg16_bn(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 16 layers with batch normalization."""
    kwargs['batch_norm'] = True
    return get_vgg(16, **kwargs)


def vgg19_bn(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """VGG of 19 layers with batch normalization."""
    kwargs['batch_norm'] = True
    return get_vgg(19, **kwargs)


_suggest_names(globals())
