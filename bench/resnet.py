"""A training step (forward and backward) of ResNet-18 on small pictures, hybridized, and the same network in torch."""
try:
    from .timing import later
except ImportError:                     # run by upstream.py, which must not find our mxnet beside this package
    from timing import later

BATCH, SIZE, CLASSES = 16, 64, 10
# as a ratio to torch, and to others by column
BUDGETS = {'large resnet18 step': 1.02}
BESIDE = {'large resnet18 step': {'channels last': 1.0, '1.9.1': 1.0}}


def nd_cases(mx):
    """{name: callable}, with MXNet 1.x's public API only."""
    return {'large resnet18 step': later(lambda: _nd_step(mx))}


def _nd_step(mx):
    net = mx.gluon.model_zoo.vision.resnet18_v1(classes=CLASSES)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(BATCH, 3, SIZE, SIZE))
    y = mx.nd.array([i % CLASSES for i in range(BATCH)])

    def step():
        with mx.autograd.record():
            value = loss(net(x), y)
        value.backward()
        mx.nd.waitall()

    return step


def torch_cases(torch, compiled=False):
    change = torch.compile if compiled else lambda function: function
    return {'large resnet18 step': later(lambda: _torch_step(torch, change))}


def channels_last_cases(torch):
    """Pictures and weights as torch's advice for convolutions has them."""
    return {'large resnet18 step': later(lambda: _torch_step(torch, memory_format=torch.channels_last))}


def _torch_step(torch, change=lambda function: function, memory_format=None):
    nn = torch.nn
    net = _network(nn)
    memory_format = memory_format or torch.contiguous_format
    net = net.to(memory_format=memory_format)
    loss_of = nn.CrossEntropyLoss(reduction='sum')
    x = torch.rand(BATCH, 3, SIZE, SIZE).contiguous(memory_format=memory_format)
    y = torch.arange(BATCH) % CLASSES
    loss = change(lambda: loss_of(net(x), y))

    def step():
        for p in net.parameters():
            p.grad = None
        loss().backward()

    return step


def _network(nn):
    """ResNet-18 as model_zoo.vision.resnet18_v1 has it."""
    class Block(nn.Module):
        def __init__(self, inside, channels, stride):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(inside, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels),
                                      nn.ReLU(), nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
                                      nn.BatchNorm2d(channels))
            self.shortcut = nn.Identity() if inside == channels else nn.Sequential(
                nn.Conv2d(inside, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

        def forward(self, x):
            return (self.shortcut(x) + self.body(x)).relu()

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for stage, channels in enumerate((64, 128, 256, 512)):
        layers += [Block(inside, channels, 1 if stage == 0 else 2), Block(channels, channels, 1)]
        inside = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))
