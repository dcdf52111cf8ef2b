"""`remx train`: trains a network on digits, the main job of the tutorials."""
from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _digits

if TYPE_CHECKING:
    from .._typing import Path

EXPLAIN = """Trains a network on MNIST: by default the tutorials' MLP (784-64-64-10), SGD 0.01, 10 epochs.

Data: --data DIR (the four files of MNIST, gzipped or not), else $MXNET_HOME/datasets/mnist, else digits that
remx generates on the first run. Ctrl-C saves a checkpoint; --resume continues exactly where the run stopped, also
in the middle of an epoch.

--tune searches for the best values of any option, on digits that are held back from training:
    remx train --tune "lr=log:1e-4..1e-1,optimizer=sgd|adam,hidden=int:32..512" --trials 50 --jobs 2"""
OUT = 'remx-train'


def at_least(low: float, kind: Any = int) -> Any:
    """The type of an option that is a number."""
    def parse(text):
        number = kind(text)
        if not number >= low:
            raise argparse.ArgumentTypeError(f'must be at least {low}, not {text}')
        return number
    parse.__name__ = kind.__name__          # what argparse says of text that is no number
    return parse


def sizes(text: str) -> str:
    """The type of --hidden: `64`, or `128,64`."""
    if not all(part.strip().isdigit() and int(part) > 0 for part in text.split(',')):
        raise argparse.ArgumentTypeError(f'must be numbers of units such as 64 or 128,64, not {text}')
    return text


def share(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f'must be a share from 0 to 1, such as 0.1, not {text}')
    return number


share.__name__ = 'float'


def add_arguments(parser: Any) -> None:
    parser.add_argument('--model', default='mlp',
                        help='mlp, lenet, or a name of the model zoo such as resnet18_v1 (default: mlp)')
    parser.add_argument('--data', metavar='DIR', help='folder with the four files of MNIST (default: see above)')
    parser.add_argument('--epochs', type=at_least(1), default=10, help='passes over the training digits (default: 10)')
    parser.add_argument('--batch-size', type=at_least(1), default=64, help='digits in a batch (default: 64)')
    parser.add_argument('--optimizer', default='sgd',
                        help='sgd, adam, or another name of mx.optimizer (default: sgd)')
    parser.add_argument('--lr', type=at_least(0, float), default=0.01, help='learning rate (default: 0.01)')
    parser.add_argument('--momentum', type=at_least(0, float), default=0.0,
                        help='momentum, for optimizers that have one (default: 0)')
    parser.add_argument('--wd', type=at_least(0, float), default=0.0, help='weight decay (default: 0)')
    parser.add_argument('--hidden', type=sizes, default='64',
                        help='units of both hidden layers of the MLP, or of each: 128,64 (default: 64)')
    parser.add_argument('--validation', type=share, default=None, metavar='SHARE',
                        help='share of the training digits that are held back to compare settings (default: 0; '
                             'with --tune: 0.2)')
    parser.add_argument('--ctx', default='auto',
                        help='cpu, gpu, gpu(0), or several: gpu(0),gpu(1) (default: gpu if there is one, else cpu)')
    parser.add_argument('--hybridize', action=argparse.BooleanOptionalAction, default=True,
                        help='run the network as one graph (default), or layer by layer')
    parser.add_argument('--workers', type=at_least(0), default=0,
                        help='processes that load data (default: 0, none besides this one)')
    parser.add_argument('--seed', type=int, default=42, help='of all random numbers (default: 42)')
    parser.add_argument('--out', help=f'folder for parameters, curves and logs (default: {OUT}; with --tune: '
                                      'remx-tune/STUDY)')
    parser.add_argument('--resume', action='store_true', help='resume the run in --out')
    parser.add_argument('--no-tensorboard', dest='tensorboard', action='store_false', help='no logs for TensorBoard')
    parser.add_argument('--quiet', action='store_true', help='no progress bar')
    from .tune import add_search_arguments
    search = parser.add_argument_group('search, with --tune')
    search.add_argument('--tune', metavar='RANGES',
                        help='ranges of options: "lr=log:1e-4..1e-1,optimizer=sgd|adam,hidden=int:32..512"')
    add_search_arguments(search, 20, seed=False)


# ---------------------------------------------------------------------- parts
@contextlib.contextmanager
def plainly() -> Iterator[Any]:
    """What is wrong with the options is said in a line, without a traceback."""
    from ..base import MXNetError
    try:
        yield
    except (MXNetError, AssertionError, OSError, TypeError, ValueError) as error:
        raise SystemExit(f'remx train: {error}') from None


def find_data(given: Any) -> Any:
    """-> (folder, what to say about it)."""
    from ..base import data_dir
    if given:
        if not _digits.complete(given):
            raise SystemExit(f'remx train: {given} does not hold the four files of MNIST: '
                             + ', '.join(n for names in _digits.FILES.values() for n in names))
        return given, f'MNIST from {given}'
    home = os.path.join(data_dir(), 'datasets', 'mnist')
    if _digits.complete(home):
        return home, f'MNIST from {home}'
    drawn = os.path.join(data_dir(), 'datasets', 'remx-digits')
    if not _digits.complete(drawn):
        print(f'generating digits in {drawn} (first run only) ...', flush=True)
        _digits.write(drawn)
    return drawn, (f'generated by remx, because MNIST was not found ({drawn}); '
                   'pass --data to use MNIST')


def contexts(text: str) -> Any:
    from ..context import cpu, gpu, num_gpus
    from ..ndarray._invoke import parse_context
    if text == 'auto':
        return [gpu(0)] if num_gpus() else [cpu()]
    parts = text.replace('),', ');').split(';') if '(' in text else text.split(',')
    return [parse_context(p) for p in parts]


def build(name: str, hidden: str = '64') -> Any:
    """-> (net, shape of one picture)."""
    from ..gluon import nn
    if name == 'mlp':
        net = nn.HybridSequential(prefix='mlp_')
        with net.name_scope():
            units = [int(part) for part in hidden.split(',')]
            for count in units * 2 if len(units) == 1 else units:
                net.add(nn.Dense(count, activation='relu'))
            net.add(nn.Dense(10))
        return net, (784,)
    if name == 'lenet':
        net = nn.HybridSequential(prefix='lenet_')
        with net.name_scope():
            net.add(nn.Conv2D(20, 5, activation='relu'), nn.MaxPool2D(2, 2),
                    nn.Conv2D(50, 5, activation='relu'), nn.MaxPool2D(2, 2),
                    nn.Flatten(), nn.Dense(500, activation='relu'), nn.Dense(10))
        return net, (1, 28, 28)
    from ..gluon.model_zoo import vision
    known = ['mlp', 'lenet', *vision._MODELS]
    if name not in known:
        close = difflib.get_close_matches(name, known, 3)
        raise ValueError(f'there is no model {name!r}; ' + (f'close are {", ".join(close)}' if close else
                                                            f'there are {", ".join(known)}'))
    side = 299 if 'inception' in name else 224
    return vision.get_model(name, classes=10), (3, side, side)


def divided(count: int, held_back: float) -> Any:
    """Numbers of pictures (to learn from, held back), the same for every seed, so that settings can be compared."""
    import numpy
    order = numpy.random.default_rng(2017).permutation(count)
    rest = max(1, round(count * held_back))
    return numpy.sort(order[rest:]), numpy.sort(order[:rest])


def pictures(folder: Path, part: Any, shape: Sequence[int], choose: Any = None) -> Any:
    """A dataset of (picture between 0 and 1, label), of all pictures or of some numbers."""
    from .. import ndarray as nd
    from ..gluon.data import ArrayDataset
    images, labels = _digits.read(folder, part)
    if choose is not None:
        images, labels = images[choose], labels[choose]
    images = images.astype('float32') / 255
    if shape == (784,):
        images = images.reshape(-1, 784)
    elif shape == (1, 28, 28):
        images = images.reshape(-1, 1, 28, 28)
    else:
        def enlarge(picture, label):
            grown = nd.contrib.BilinearResize2D(nd.array(picture[None, None]), height=shape[1], width=shape[2])
            return nd.broadcast_to(grown[0], shape), label
        return ArrayDataset(images, labels.astype('int32')).transform(enlarge)
    return ArrayDataset(nd.array(images), nd.array(labels.astype('int32'), dtype='int32'))


# ---------------------------------------------------------------------- showing
class Bar:
    """A progress bar: tqdm's where it is installed, else dots of text on a terminal, else nothing."""

    def __init__(self, total: Any, text: str, quiet: Any) -> None:
        self.bar = None
        self.total, self.done, self.text = total, 0, text
        self.plain = not quiet and sys.stderr.isatty()
        if quiet:
            return
        try:
            from tqdm import tqdm
        except ImportError:
            return
        self.bar = tqdm(total=total, desc=text, leave=False, disable=None)
        self.plain = False

    def step(self) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.update()
        elif self.plain and (self.done % max(1, self.total // 40) == 0):
            filled = 30 * self.done // self.total
            print(f'\r{self.text} [{"#" * filled}{"." * (30 - filled)}]', end='', file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        elif self.plain:
            print('\r' + ' ' * (len(self.text) + 34) + '\r', end='', file=sys.stderr, flush=True)


def sparkline(values: Any) -> Any:
    """A curve in one line of text, with gaps where a training has diverged."""
    finite = [v for v in values if math.isfinite(v)] or [0]
    low, high = min(finite), max(finite)
    return ''.join('▁▂▃▄▅▆▇█'[int(7 * (v - low) / (high - low or 1))] if math.isfinite(v) else ' ' for v in values)


def draw_curves(history: Any, path: Any) -> Any:
    """Learning curves as a PNG, where matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(9, 3.5), layout='constrained')
    left, right = figure.subplots(1, 2)
    epochs = [h['epoch'] for h in history]
    # one epoch is a point, of which a line shows nothing
    mark = '.' if len(history) < 30 else ''
    left.plot(epochs, [h['loss'] for h in history], marker=mark)
    left.set(title='loss', xlabel='epoch')
    right.plot(epochs, [h['train'] for h in history], marker=mark, label='training')
    if 'validation' in history[0]:
        right.plot(epochs, [h['validation'] for h in history], marker=mark, label='validation')
    right.plot(epochs, [h['test'] for h in history], marker=mark, label='test')
    right.set(title='accuracy', xlabel='epoch')
    right.legend()
    for side in (left, right):
        side.grid(alpha=0.3)
        side.xaxis.get_major_locator().set_params(integer=True)
    figure.savefig(path, dpi=120)
    return path


def tensorboard(folder: Path) -> Any:
    """A SummaryWriter, where tensorboard is installed."""
    from ..contrib.tensorboard import SummaryWriter
    try:
        return SummaryWriter(folder)
    except ImportError:
        return None


class Interrupt:
    """Remembers Ctrl-C, so that a step is never left half done; a second one stops at once."""

    def __init__(self) -> None:
        self.asked = False
        self.before: Any = signal.signal(signal.SIGINT, self._ask)

    def _ask(self, number, frame):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __bool__(self) -> bool:
        return self.asked

    def restore(self) -> None:
        signal.signal(signal.SIGINT, self.before)


# ---------------------------------------------------------------------- training
def accuracy(net: Any, data: Any, places: Any) -> Any:
    from ..gluon.utils import split_and_load
    from ..metric import Accuracy
    metric = Accuracy()
    for x, y in data:
        for part, label in zip(split_and_load(x, places, even_split=False),
                               split_and_load(y, places, even_split=False), strict=True):
            metric.update(label, net(part))
    return metric.get()[1]


def train(options: Any) -> int:
    options.out = options.out or OUT
    unneeded = {'trials': None, 'time': None, 'jobs': 1, 'study': None, 'storage': None}
    needless = [name for name, unset in unneeded.items() if getattr(options, name) != unset]
    if needless:
        raise SystemExit(f'remx train: --{needless[0]} goes with --tune')
    return fit(options)


def datasets(options: Any, folder: Path, shape: Sequence[int], searching: bool = False) -> dict[str, Any]:
    """The parts 'training', 'validation' (if digits are held back) and 'test' (unless a search is under way)."""
    found = {}
    if options.validation:
        count = len(_digits.read(folder, 'train')[1])
        kept, held_back = divided(count, options.validation)
        found['training'] = pictures(folder, 'train', shape, kept)
        found['validation'] = pictures(folder, 'train', shape, held_back)
    else:
        found['training'] = pictures(folder, 'train', shape)
    if not searching:
        found['test'] = pictures(folder, 'test', shape)
    return found


def fit(options: Any, after_epoch: Any = None, cache: dict | None = None) -> int:
    """Trains.  With `after_epoch`, a function of the results of an epoch, it is a trial of a search: it prints nothing,
    leaves the test digits alone, and writes parameters and history only.  `cache` has the digits of earlier trials."""
    import numpy

    from .. import autograd, gluon, initializer, ndarray, random
    from ..gluon._checkpoint import random_states, set_random_states
    searching = after_epoch is not None
    random.seed(options.seed)
    numpy.random.seed(options.seed)
    with contextlib.nullcontext() if searching else plainly():
        os.makedirs(options.out, exist_ok=True)
        folder, said = find_data(options.data)
        places = contexts(options.ctx)
        for place in places:
            ndarray.zeros(1, ctx=place)
        net, shape = build(options.model, options.hidden)
    key = (folder, shape, options.validation)
    data = cache.get(key) if cache is not None else None
    if data is None:
        data = datasets(options, folder, shape, searching)
    if cache is not None:
        cache[key] = data
    training = data['training']
    if not searching:
        held = f' {len(data["validation"])} held back,' if 'validation' in data else ''
        print(f'{len(training)} training and{held} {len(data["test"])} test digits: {said}')
        print(f'{options.model} on {", ".join(map(str, places))}, {options.optimizer} with learning rate {options.lr}, '
              f'batches of {options.batch_size}')
    loader = gluon.data.DataLoader(training, options.batch_size, shuffle=True, num_workers=options.workers)
    steady = {name.removesuffix('ing'):
              gluon.data.DataLoader(part, 512, num_workers=options.workers)
              for name, part in data.items() if not searching or name == 'validation'}
    net.initialize(initializer.Xavier(magnitude=2.24), ctx=places)
    with autograd.predict_mode():
        net(ndarray.zeros((1, *shape), ctx=places[0]))        # so that every parameter has its shape
    if options.hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    settings = {'learning_rate': options.lr}
    if options.momentum:
        settings['momentum'] = options.momentum
    if options.wd:
        settings['wd'] = options.wd
    with contextlib.nullcontext() if searching else plainly():
        trainer = gluon.Trainer(net.collect_params(), options.optimizer, settings)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    checkpoint = gluon.Checkpoint(os.path.join(options.out, 'checkpoint.params'), net, trainer)
    history, epoch, skip, total_loss = [], 0, 0, 0.0
    resumed: dict = {}
    if options.resume and not checkpoint.exists():
        print(f'{options.out} has no checkpoint to resume from: training starts from the beginning')
    elif options.resume:
        with plainly():
            resumed = checkpoint.load()
        history, epoch, skip, total_loss = (resumed[k] for k in ('history', 'epoch', 'batch', 'total_loss'))
        print(f'resuming at epoch {epoch}, batch {skip}')
    log = tensorboard(os.path.join(options.out, 'logs')) if options.tensorboard and not searching else None
    stopped = None if searching else Interrupt()        # a search is interrupted at once
    try:
        while epoch < options.epochs:
            now = None
            if skip:
                now = random_states()
                set_random_states(resumed['epoch_states'])     # the same order of the pictures again
            states = random_states()
            bar = Bar(len(loader), f'epoch {epoch}', options.quiet or searching)
            start = time.perf_counter()
            for number, (x, y) in enumerate(loader):
                if number < skip:
                    bar.step()
                    continue
                if now is not None:
                    set_random_states(now)
                    now = None
                parts = gluon.utils.split_and_load(x, places, even_split=False)
                labels = gluon.utils.split_and_load(y, places, even_split=False)
                with autograd.record():
                    losses = [loss_of(net(part), label) for part, label in zip(parts, labels, strict=True)]
                trainer._backward_and_step(losses, x.shape[0])      # backward and step as one plan
                total_loss += sum(loss.sum().asscalar() for loss in losses)
                bar.step()
                if stopped:
                    break
            bar.close()
            if stopped:
                print(f'\nstopped in epoch {epoch}, after batch {number}', flush=True)
                checkpoint.save(states, history=history, epoch=epoch, batch=number + 1, total_loss=float(total_loss))
                print(f'saved; resume with: remx train --resume --out {options.out}')
                return 130
            seconds = time.perf_counter() - start
            skip = 0
            result = {'epoch': epoch, 'loss': float(total_loss) / len(training),
                      **{name: float(accuracy(net, part, places)) for name, part in steady.items()}, 'seconds': seconds}
            total_loss = 0.0
            history.append(result)
            epoch += 1
            if searching:
                after_epoch(result)
                continue
            validation = ', Validation_acc {validation}' if 'validation' in result else ''
            line = 'Epoch {epoch}. Loss: {loss}, Train_acc {train}' + validation + ', Test_acc {test}'
            print(line.format(**result), flush=True)
            if log is not None:
                log.add_scalar('loss', result['loss'], epoch - 1)
                log.add_scalar('accuracy', {name: result[name] for name in steady}, epoch - 1)
                for name, parameter in net.collect_params().items():
                    log.add_histogram(name, parameter.data(places[0]), epoch - 1)
                if options.hybridize and epoch == 1:
                    log.add_graph(net, {'data': (options.batch_size, *shape)})
                log.flush()
            checkpoint.save(random_states(), history=history, epoch=epoch, batch=0, total_loss=0.0)
    finally:
        if stopped is not None:
            stopped.restore()
        if log is not None:
            log.close()
    if searching:
        save(options, net, history)
        return 0
    report(options, net, history)
    if log is not None:
        print(f'watch it with: tensorboard --logdir {log.get_logdir()}')
    return 0


def save(options: Any, net: Any, history: Any) -> str:
    """Writes parameters and history; returns the name of the former."""
    parameters = os.path.join(options.out, f'{options.model}.params')
    net.save_parameters(parameters)
    with open(os.path.join(options.out, 'history.json'), 'w') as file:
        json.dump(history, file, indent=1)
    return parameters


def report(options: Any, net: Any, history: Any) -> None:
    """Saves the parameters and shows the curves."""
    parameters = save(options, net, history)
    if history:
        for key, title in (('loss', 'loss    '), ('test', 'test acc')):
            values = [h[key] for h in history]
            print(f'{title} {sparkline(values)}  {values[0]:.4f} -> {values[-1]:.4f}')
        print(f'test accuracy {history[-1]["test"]:.4f}')
    curves = draw_curves(history, os.path.join(options.out, 'curves.png')) if history else None
    print(f'parameters in {parameters}' + (f', curves in {curves}' if curves else
                                           '; pip install "remx[plot]" for curves as a picture'))
    if options.hybridize and history:
        prefix = os.path.join(options.out, options.model)
        net.export(prefix, epoch=len(history))
        symbol, weights = f'{prefix}-symbol.json', f'{prefix}-{len(history):04d}.params'
        print(f"load the network with mx.gluon.SymbolBlock.imports('{symbol}', ['data'], '{weights}')")
