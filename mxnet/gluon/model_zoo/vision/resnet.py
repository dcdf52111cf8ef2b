"""ResNet v1 (He and others, 2015) and v2 (2016: "Identity mappings in deep residual networks")."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ...._names import suggest_names as _suggest_names
from ... import nn
from ..._operators import operator
from ...block import HybridBlock
from ..model_store import ROOT
from ._parts import CPU, Classifier, stack, with_parameters

if TYPE_CHECKING:
    from ...._typing import BlockOptions, Contexts, Path, ZooOptions

__all__ = ['BasicBlockV1', 'BasicBlockV2', 'BottleneckV1', 'BottleneckV2', 'ResNetV1', 'ResNetV2', 'get_resnet',
           'resnet101_v1', 'resnet101_v2', 'resnet152_v1', 'resnet152_v2', 'resnet18_v1', 'resnet18_v2', 'resnet34_v1',
           'resnet34_v2', 'resnet50_v1', 'resnet50_v2']


def _conv3x3(channels, stride, in_channels):
    return nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels)


def _conv1x1(channels, stride, in_channels):
    return nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels)


def _relu(F, x):
    return operator(F, 'Activation')(x, act_type='relu')


# ---------------------------------------------------------------------- v1: activation after the sum
class _BlockV1(HybridBlock):
    body: Any
    _sum: Any

    def _shortcut(self, channels, stride, downsample, in_channels):
        self.downsample: Any = stack(_conv1x1(channels, stride, in_channels), nn.BatchNorm()) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        out = self.body(x)
        residual = x if self.downsample is None else self.downsample(x)
        return _relu(F, self._sum(residual, out))


class BasicBlockV1(_BlockV1):
    """Two 3x3 convolutions and a shortcut around them, which has a convolution of its own with `downsample`."""

    body: Any

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self.body = stack(_conv3x3(channels, stride, in_channels), nn.BatchNorm(), nn.Activation('relu'),
                          _conv3x3(channels, 1, channels), nn.BatchNorm())
        self._shortcut(channels, stride, downsample, in_channels)

    def _sum(self, residual, x):
        return residual + x


class BottleneckV1(_BlockV1):
    """1x1, 3x3 and 1x1 convolutions, the middle one on a quarter of the channels, and a shortcut around them."""

    body: Any

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        inside = channels // 4
        self.body = stack(nn.Conv2D(inside, kernel_size=1, strides=stride), nn.BatchNorm(), nn.Activation('relu'),
                          _conv3x3(inside, 1, inside), nn.BatchNorm(), nn.Activation('relu'),
                          nn.Conv2D(channels, kernel_size=1, strides=1), nn.BatchNorm())
        self._shortcut(channels, stride, downsample, in_channels)

    def _sum(self, residual, x):
        return x + residual


# ---------------------------------------------------------------------- v2: normalization before each convolution
class BasicBlockV2(HybridBlock):
    """Two 3x3 convolutions, each after BatchNorm and ReLU, and a shortcut around them."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self.bn1: Any = nn.BatchNorm()
        self.conv1: Any = _conv3x3(channels, stride, in_channels)
        self.bn2: Any = nn.BatchNorm()
        self.conv2: Any = _conv3x3(channels, 1, channels)
        self.downsample: Any = _conv1x1(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        first = _relu(F, self.bn1(x))
        residual = x if self.downsample is None else self.downsample(first)
        return self.conv2(_relu(F, self.bn2(self.conv1(first)))) + residual


class BottleneckV2(HybridBlock):
    """1x1, 3x3 and 1x1 convolutions, each after BatchNorm and ReLU, and a shortcut around them."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self.bn1: Any = nn.BatchNorm()
        self.conv1: Any = _conv1x1(channels // 4, 1, 0)
        self.bn2: Any = nn.BatchNorm()
        self.conv2: Any = _conv3x3(channels // 4, stride, channels // 4)
        self.bn3: Any = nn.BatchNorm()
        self.conv3: Any = _conv1x1(channels, 1, 0)
        self.downsample: Any = _conv1x1(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        first = _relu(F, self.bn1(x))
        residual = x if self.downsample is None else self.downsample(first)
        second = _relu(F, self.bn2(self.conv1(first)))
        return self.conv3(_relu(F, self.bn3(self.conv2(second)))) + residual


# ---------------------------------------------------------------------- networks
class _ResNet(Classifier):
    def _check(self, layers, channels):
        if len(layers) != len(channels) - 1:
            raise AssertionError(f'{type(self).__name__}: channels has one number more than layers (that of the first '
                                 f'convolution), but there are {channels} and {layers}')

    def _entry(self, channels, thumbnail):
        """What comes before the stages; small pictures are not made smaller."""
        if thumbnail:
            return [_conv3x3(channels, 1, 0)]
        return [nn.Conv2D(channels, 7, 2, 3, use_bias=False), nn.BatchNorm(), nn.Activation('relu'),
                nn.MaxPool2D(3, 2, 1)]

    def _make_layer(self, block, layers, channels, stride, stage_index, in_channels=0):
        stage = nn.HybridSequential(prefix=f'stage{stage_index}_')
        with stage.name_scope():
            stage.add(block(channels, stride, channels != in_channels, in_channels=in_channels, prefix=''))
            for _ in range(layers - 1):
                stage.add(block(channels, 1, False, in_channels=channels, prefix=''))
        return stage

    def _add_stages(self, block, layers, channels):
        for i, count in enumerate(layers):
            self.features.add(self._make_layer(block, count, channels[i + 1], 1 if i == 0 else 2, i + 1, channels[i]))


class ResNetV1(_ResNet):
    """ResNet v1: `layers` blocks in each stage, `channels` of the first convolution and of the stages."""

    features: Any
    output: Any

    def __init__(self, block: type[HybridBlock], layers: Sequence[int], channels: Sequence[int], classes: int = 1000,
                 thumbnail: bool = False, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = stack(*self._entry(channels[0], thumbnail))
            self._add_stages(block, layers, channels)
            self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(_ResNet):
    """ResNet v2: as v1, with normalization and activation before each convolution."""

    features: Any
    output: Any

    def __init__(self, block: type[HybridBlock], layers: Sequence[int], channels: Sequence[int], classes: int = 1000,
                 thumbnail: bool = False, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = stack(nn.BatchNorm(scale=False, center=False), *self._entry(channels[0], thumbnail))
            self._add_stages(block, layers, channels)
            self.features.add(nn.BatchNorm(), nn.Activation('relu'), nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes, in_units=channels[-1])


_WIDE = [64, 256, 512, 1024, 2048]
# number of layers: (kind of block, blocks of each stage, channels)
resnet_spec: Any = {18: ('basic_block', [2, 2, 2, 2], [64, 64, 128, 256, 512]),
               34: ('basic_block', [3, 4, 6, 3], [64, 64, 128, 256, 512]),
               50: ('bottle_neck', [3, 4, 6, 3], _WIDE), 101: ('bottle_neck', [3, 4, 23, 3], _WIDE),
               152: ('bottle_neck', [3, 8, 36, 3], _WIDE)}
resnet_net_versions: Any = [ResNetV1, ResNetV2]
resnet_block_versions: Any = [{'basic_block': BasicBlockV1, 'bottle_neck': BottleneckV1},
                         {'basic_block': BasicBlockV2, 'bottle_neck': BottleneckV2}]


def get_resnet(version: int, num_layers: int, pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT,
               **kwargs: Any) -> Classifier:
    """A ResNet of version 1 or 2 with 18, 34, 50, 101 or 152 layers."""
    if num_layers not in resnet_spec:
        raise AssertionError(f'num_layers of a ResNet must be one of {list(resnet_spec)}, not {num_layers}')
    if version not in (1, 2):
        raise AssertionError(f'version of a ResNet must be 1 or 2, not {version}')
    kind, layers, channels = resnet_spec[num_layers]
    block = resnet_block_versions[version - 1][kind]
    net = resnet_net_versions[version - 1](block, layers, channels, **kwargs)
    return with_parameters(net, f'resnet{num_layers}_v{version}', pretrained, ctx, root)


def resnet18_v1(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v1 of 18 layers."""
    return get_resnet(1, 18, **kwargs)


def resnet34_v1(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v1 of 34 layers."""
    return get_resnet(1, 34, **kwargs)


def resnet50_v1(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v1 of 50 layers."""
    return get_resnet(1, 50, **kwargs)


def resnet101_v1(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v1 of 101 layers."""
    return get_resnet(1, 101, **kwargs)


def resnet152_v1(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v1 of 152 layers."""
    return get_resnet(1, 152, **kwargs)


def resnet18_v2(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v2 of 18 layers."""
    return get_resnet(2, 18, **kwargs)


def resnet34_v2(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v2 of 34 layers."""
    return get_resnet(2, 34, **kwargs)


def resnet50_v2(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v2 of 50 layers."""
    return get_resnet(2, 50, **kwargs)


def resnet101_v2(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v2 of 101 layers."""
    return get_resnet(2, 101, **kwargs)


def resnet152_v2(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """ResNet v2 of 152 layers."""
    return get_resnet(2, 152, **kwargs)


_suggest_names(globals())
