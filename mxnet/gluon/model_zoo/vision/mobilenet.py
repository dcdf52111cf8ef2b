"""MobileNet (Howard and others, 2017) and MobileNetV2 (Sandler and others, 2018): separable convolutions."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ...._names import suggest_names as _suggest_names
from ....util import is_np_array
from ... import nn
from ..model_store import ROOT
from ._parts import CPU, Classifier, stack, with_parameters

if TYPE_CHECKING:
    from ...._typing import BlockOptions, Contexts, Path, ZooOptions

__all__ = ['MobileNet', 'MobileNetV2', 'get_mobilenet', 'get_mobilenet_v2', 'mobilenet0_25', 'mobilenet0_5',
           'mobilenet0_75', 'mobilenet1_0', 'mobilenet_v2_0_25', 'mobilenet_v2_0_5', 'mobilenet_v2_0_75',
           'mobilenet_v2_1_0']

# (channels, stride) of the separable convolutions of MobileNet, each with as many channels inside as the one before it
_V1 = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
# (channels, stride, expansion) of the bottlenecks of MobileNetV2
_V2 = ((16, 1, 1), (24, 2, 6), (24, 1, 6), (32, 2, 6), *[(32, 1, 6)] * 2, (64, 2, 6), *[(64, 1, 6)] * 3,
       *[(96, 1, 6)] * 3, (160, 2, 6), *[(160, 1, 6)] * 2, (320, 1, 6))


class RELU6(nn.HybridBlock):
    """A ReLU that ends at 6."""

    def __init__(self, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.np.clip(x, 0, 6) if is_np_array() else F.clip(x, 0, 6, name='relu6')


def _convolution(channels, kernel=1, stride=1, pad=0, groups=1, activation='relu'):
    """Convolution, BatchNorm, activation."""
    blocks = [nn.Conv2D(channels, kernel, stride, pad, groups=groups, use_bias=False), nn.BatchNorm(scale=True)]
    if activation is not None:
        blocks.append(RELU6() if activation == 'relu6' else nn.Activation(activation))
    return blocks


# Programs build networks of their own with these two, which have upstream's names and arguments.
def _add_conv(out, channels=1, kernel=1, stride=1, pad=0, num_group=1, active=True, relu6=False):
    out.add(*_convolution(channels, kernel, stride, pad, num_group, ('relu6' if relu6 else 'relu') if active else None))


def _add_conv_dw(out, dw_channels, channels, stride, relu6=False):
    _add_conv(out, dw_channels, 3, stride, 1, dw_channels, relu6=relu6)
    _add_conv(out, channels, relu6=relu6)


class LinearBottleneck(nn.HybridBlock):
    """Expands the channels `t` times, convolves each by itself, and projects them back without an activation."""

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self.use_shortcut: bool = stride == 1 and in_channels == channels
        inside = in_channels * t
        with self.name_scope():
            self.out: Any = stack(*_convolution(inside, activation='relu6'),
                             *_convolution(inside, 3, stride, 1, inside, activation='relu6'),
                             *_convolution(channels, activation=None), prefix=None)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        out = self.out(x)
        if not self.use_shortcut:
            return out
        return out + x if is_np_array() else F.elemwise_add(out, x)


class MobileNet(Classifier):
    """Thirteen separable convolutions; `multiplier` scales all channels."""

    features: Any
    output: Any

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            inside = int(32 * multiplier)
            self.features = stack(*_convolution(inside, 3, 2, 1))
            for channels, stride in _V1:
                channels = int(channels * multiplier)
                _add_conv_dw(self.features, inside, channels, stride)
                inside = channels
            self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)


class MobileNetV2(Classifier):
    """Seventeen bottlenecks; `multiplier` scales all channels."""

    features: Any
    output: Any

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix='features_')
            with self.features.name_scope():
                before = int(32 * multiplier)
                self.features.add(*_convolution(before, 3, 2, 1, activation='relu6'))
                for channels, stride, expansion in _V2:
                    channels = int(channels * multiplier)
                    self.features.add(LinearBottleneck(before, channels, expansion, stride))
                    before = channels
                self.features.add(*_convolution(int(1280 * max(1.0, multiplier)), activation='relu6'),
                                  nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix='output_')
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix='pred_'), nn.Flatten())


def _shown(multiplier):
    """1.0, 0.75, 0.5, 0.25: as the files are named."""
    text = f'{multiplier:.2f}'
    return text[:-1] if text.endswith('0') else text


def get_mobilenet(multiplier: float, pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT,
                  **kwargs: Any) -> Classifier:
    """A MobileNet with all channels multiplied."""
    return with_parameters(MobileNet(multiplier, **kwargs), f'mobilenet{_shown(multiplier)}', pretrained, ctx, root)


def get_mobilenet_v2(multiplier: float, pretrained: bool = False, ctx: Contexts | None = CPU, root: Path = ROOT,
                     **kwargs: Any) -> Classifier:
    """A MobileNetV2 with all channels multiplied."""
    net = MobileNetV2(multiplier, **kwargs)
    return with_parameters(net, f'mobilenetv2_{_shown(multiplier)}', pretrained, ctx, root)


def mobilenet1_0(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNet."""
    return get_mobilenet(1.0, **kwargs)


def mobilenet0_75(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNet with three quarters of the channels."""
    return get_mobilenet(0.75, **kwargs)


def mobilenet0_5(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNet with half of the channels."""
    return get_mobilenet(0.5, **kwargs)


def mobilenet0_25(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNet with a quarter of the channels."""
    return get_mobilenet(0.25, **kwargs)


def mobilenet_v2_1_0(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNetV2."""
    return get_mobilenet_v2(1.0, **kwargs)


def mobilenet_v2_0_75(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNetV2 with three quarters of the channels."""
    return get_mobilenet_v2(0.75, **kwargs)


def mobilenet_v2_0_5(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNetV2 with half of the channels."""
    return get_mobilenet_v2(0.5, **kwargs)


def mobilenet_v2_0_25(**kwargs: Unpack[ZooOptions]) -> Classifier:
    """MobileNetV2 with a quarter of the channels."""
    return get_mobilenet_v2(0.25, **kwargs)


_suggest_names(globals())
