"""Networks for pictures.

>>> net = mx.gluon.model_zoo.vision.get_model('resnet18_v1', classes=10)
>>> net.initialize()
>>> net(mx.nd.ones((1, 3, 64, 64))).shape
(1, 10)

`pretrained=True` loads the parameters that upstream published, from the folder `root` (see `model_store`).  Pictures
are (batch, 3, height, width), 224 x 224 for most, 299 x 299 for inception_v3, normalized with mean
(0.485, 0.456, 0.406) and standard deviation (0.229, 0.224, 0.225).
"""
from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from ...._names import kind_of
from ...._names import suggest_names as _suggest_names
from .alexnet import AlexNet, alexnet
from .densenet import DenseNet, densenet121, densenet161, densenet169, densenet201
from .inception import Inception3, inception_v3
from .mobilenet import (
    MobileNet,
    MobileNetV2,
    get_mobilenet,
    get_mobilenet_v2,
    mobilenet0_5,
    mobilenet0_25,
    mobilenet0_75,
    mobilenet1_0,
    mobilenet_v2_0_5,
    mobilenet_v2_0_25,
    mobilenet_v2_0_75,
    mobilenet_v2_1_0,
)
from .resnet import (
    BasicBlockV1,
    BasicBlockV2,
    BottleneckV1,
    BottleneckV2,
    ResNetV1,
    ResNetV2,
    get_resnet,
    resnet18_v1,
    resnet18_v2,
    resnet34_v1,
    resnet34_v2,
    resnet50_v1,
    resnet50_v2,
    resnet101_v1,
    resnet101_v2,
    resnet152_v1,
    resnet152_v2,
)
from .squeezenet import SqueezeNet, squeezenet1_0, squeezenet1_1
from .vgg import VGG, get_vgg, vgg11, vgg11_bn, vgg13, vgg13_bn, vgg16, vgg16_bn, vgg19, vgg19_bn

if TYPE_CHECKING:
    from ._parts import Classifier

_MODELS = {
    'alexnet': alexnet,
    'densenet121': densenet121, 'densenet161': densenet161, 'densenet169': densenet169, 'densenet201': densenet201,
    'inceptionv3': inception_v3,
    'mobilenet0.25': mobilenet0_25, 'mobilenet0.5': mobilenet0_5, 'mobilenet0.75': mobilenet0_75,
    'mobilenet1.0': mobilenet1_0,
    'mobilenetv2_0.25': mobilenet_v2_0_25, 'mobilenetv2_0.5': mobilenet_v2_0_5, 'mobilenetv2_0.75': mobilenet_v2_0_75,
    'mobilenetv2_1.0': mobilenet_v2_1_0,
    'resnet18_v1': resnet18_v1, 'resnet34_v1': resnet34_v1, 'resnet50_v1': resnet50_v1, 'resnet101_v1': resnet101_v1,
    'resnet152_v1': resnet152_v1, 'resnet18_v2': resnet18_v2, 'resnet34_v2': resnet34_v2, 'resnet50_v2': resnet50_v2,
    'resnet101_v2': resnet101_v2, 'resnet152_v2': resnet152_v2,
    'squeezenet1.0': squeezenet1_0, 'squeezenet1.1': squeezenet1_1,
    'vgg11': vgg11, 'vgg11_bn': vgg11_bn, 'vgg13': vgg13, 'vgg13_bn': vgg13_bn, 'vgg16': vgg16, 'vgg16_bn': vgg16_bn,
    'vgg19': vgg19, 'vgg19_bn': vgg19_bn,
}


def get_model(name: str, **kwargs: Any) -> Classifier:
    """A network by name, such as 'resnet50_v1'; other arguments are those of its function (`classes`, ...)."""
    if not isinstance(name, str):
        raise TypeError(f'get_model: name must be a str, not {kind_of(name)}')
    name = name.lower()
    if name not in _MODELS:
        close = sorted(n for n in _MODELS if n.startswith(name))[:1] or difflib.get_close_matches(name, _MODELS, 1)
        raise ValueError(f'there is no model {name!r}' + (f' (did you mean {close[0]!r}?)' if close else '')
                         + '; there are\n\t' + '\n\t'.join(sorted(_MODELS)))
    return _MODELS[name](**kwargs)


_suggest_names(globals())
