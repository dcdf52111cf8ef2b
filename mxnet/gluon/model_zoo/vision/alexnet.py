"""AlexNet (Krizhevsky, 2014: "One weird trick for parallelizing convolutional neural networks")."""
from ... import nn
from ..model_store import ROOT
from ._parts import CPU, Classifier, stack, with_parameters

__all__ = ['AlexNet', 'alexnet']


class AlexNet(Classifier):
    """Five convolutions and three dense layers."""

    def __init__(self, classes=1000, **kwargs):
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


def alexnet(pretrained=False, ctx=CPU, root=ROOT, **kwargs):
    """AlexNet."""
    return with_parameters(AlexNet(**kwargs), 'alexnet', pretrained, ctx, root)
