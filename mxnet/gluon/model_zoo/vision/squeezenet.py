"""SqueezeNet (Iandola and others, 2016: AlexNet's accuracy with fifty times fewer parameters)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ...._names import suggest_names as _suggest_names
from ... import nn
from ..model_store import ROOT
from ._parts import CPU, Classifier, side_by_side, stack, with_parameters

if TYPE_CHECKING:
    from ...._typing import BlockOptions, Contexts, Path, ZooOptions

__all__ = ['SqueezeNet', 'squeezenet1_0', 'squeezenet1_1']

# version: (channels and size of the first convolution, fire modules by their squeezed channels; None is pooling)
_SPEC = {'1.0': ((96, 7), (None, 16, 16, 32, None, 32, 48, 48, 64, None, 64)),
         '1.1': ((64, 3), (None, 16, 16, None, 32, 32, None, 48, 48, 64, 64))}


# Programs build networks of their own from the two parts, which have upstream's names and arguments.
def _make_fire_conv(channels, kernel_size, padding=0):
    return stack(nn.Conv2D(channels, kernel_size, padding=padding), nn.Activation('relu'))


def _make_fire(squeeze_channels, expand1x1_channels, expand3x3_channels):
    """Squeezes the channels, then expands them by 1x1 and by 3x3 convolutions."""
    return stack(_make_fire_conv(squeeze_channels, 1),
                 side_by_side(_make_fire_conv(expand1x1_channels, 1), _make_fire_conv(expand3x3_channels, 3, 1)))


class SqueezeNet(Classifier):
    """A convolution, eight fire modules, and a convolution that tells the classes."""

    features: Any
    output: Any

    def __init__(self, version: str, classes: int = 1000, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        if version not in _SPEC:
            raise AssertionError(f"version of SqueezeNet must be '1.0' or '1.1', not {version!r}")
        (channels, size), modules = _SPEC[version]
        with self.name_scope():
            self.features = stack(nn.Conv2D(channels, kernel_size=size, strides=2), nn.Activation('relu'))
            for squeezed in modules:
                self.features.add(nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True) if squeezed is None
                                  else _make_fire(squeezed, squeezed * 4, squeezed * 4))
            self.features.add(nn.Dropout(0.5))
            self.output = stack(nn.Conv2D(classes, kernel_size=1), nn.Activation('relu'), nn.AvgPool2D(13),
                                nn.Flatten())


def get_squeezenet(version: str, pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT,
                   **kwargs: Any) -> Classifier:
    """SqueezeNet '1.0' or '1.1'."""
    return with_parameters(SqueezeNet(version, **kwargs), f'squeezenet{version}', pretrained, ctx, root)


def squeezenet1_0(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """SqueezeNet 1.0."""
    return get_squeezenet('1.0', **kwargs)


def squeezenet1_1(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """SqueezeNet 1.1: as good as 1.0 with less than half of the work."""
    return get_squeezenet('1.1', **kwargs)


_suggest_names(globals())
