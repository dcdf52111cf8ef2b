"""Networks of the model zoo on a CUDA device: training steps and predictions beside torch in both of its layouts.

The peer is the same network as a module of torch (`gluon.to_torch`), with the same weights, run eagerly.
"""
import copy

# network, side of the pictures, batch of the training step
NETWORKS = (('resnet18_v1', 224, 64), ('resnet50_v1', 224, 64), ('vgg16_bn', 224, 64), ('mobilenet_v2_1_0', 224, 64),
            ('mobilenet1_0', 224, 64), ('squeezenet1_1', 224, 64), ('densenet121', 224, 64), ('inception_v3', 299, 64),
            ('alexnet', 224, 64))


def _network(mx, name, dtype):
    net = getattr(mx.gluon.model_zoo.vision, name)()
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.cast(dtype)
    return net


def _data(mx, side, batch, dtype):
    x = mx.nd.random.uniform(shape=(batch, 3, side, side), ctx=mx.gpu()).astype(dtype)
    return x, mx.nd.array([i % 1000 for i in range(batch)], ctx=mx.gpu())


def _ours(mx, net, x, y):
    """A training step."""
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.001, 'momentum': 0.9,
                                                             'multi_precision': True})

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(x.shape[0])

    return step


def _torch_step(torch, net, x, y):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
    net.train()

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x).float(), y).backward()
        optimizer.step()

    return step


def _prediction(torch, net, x):
    net.eval()

    def predict():
        with torch.no_grad():
            net(x)

    return predict


def _peers(torch, net, x):
    """(label, module, picture) for both layouts."""
    last = torch.channels_last
    yield 'torch', copy.deepcopy(net), x
    yield 'last', copy.deepcopy(net).to(memory_format=last), x.to(memory_format=last)


def zoo_rows(mx, torch, options):
    """For each network, type of numbers and kind of work: a row; options.networks chooses by name."""
    from .gpu import measure
    before, torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark, True
    try:
        for name, side, batch in NETWORKS:
            for dtype in ('float32', 'bfloat16'):
                if options.networks and f'{name} {dtype}' not in options.networks and name not in options.networks:
                    continue
                net = _network(mx, name, dtype)
                x, y = _data(mx, side, batch, dtype)
                net(x[:1])
                module = mx.gluon.to_torch(net).cuda()
                picture, label = torch.from_dlpack(x), torch.arange(batch, device='cuda') % 1000
                cases = {'ours': _ours(mx, net, x, y)}
                cases |= {key: _torch_step(torch, m, p, label) for key, m, p in _peers(torch, module, picture)}
                yield f'{name} {dtype} b{batch} step', measure(torch, cases, 5, 5)
                for count in (1, batch):
                    few = x[:count].copy()
                    cases = {'ours': lambda net=net, few=few: net(few)}
                    cases |= {key: _prediction(torch, m, p)
                              for key, m, p in _peers(torch, module, picture[:count].contiguous())}
                    yield f'{name} {dtype} b{count} infer', measure(torch, cases, 5, 10)
                del net, module, cases, x, y, picture, few
                torch.cuda.empty_cache()
    finally:
        torch.backends.cudnn.benchmark = before
