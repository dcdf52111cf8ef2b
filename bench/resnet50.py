"""ResNet-50 in torch, as `model_zoo.vision.resnet50_v1` has it (strides in the first 1x1 convolution of a block)."""


def network(nn, classes=1000):
    class Block(nn.Module):
        def __init__(self, inside, channels, stride):
            super().__init__()
            narrow = channels // 4
            self.body = nn.Sequential(
                nn.Conv2d(inside, narrow, 1, stride), nn.BatchNorm2d(narrow), nn.ReLU(),
                nn.Conv2d(narrow, narrow, 3, 1, 1, bias=False), nn.BatchNorm2d(narrow), nn.ReLU(),
                nn.Conv2d(narrow, channels, 1), nn.BatchNorm2d(channels))
            self.shortcut = nn.Identity() if inside == channels else nn.Sequential(
                nn.Conv2d(inside, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

        def forward(self, x):
            return (self.shortcut(x) + self.body(x)).relu()

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for stage, (blocks, channels) in enumerate(zip((3, 4, 6, 3), (256, 512, 1024, 2048), strict=True)):
        for number in range(blocks):
            layers.append(Block(inside, channels, 2 if stage and not number else 1))
            inside = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, classes))
