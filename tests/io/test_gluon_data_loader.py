"""DataLoader: orders, threads and worker processes, and everything that can go wrong with them."""
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest
import torch
from conftest import ROOT

import mxnet as mx
from mxnet.gluon import data
from mxnet.gluon.data import _seeds, _shared
from mxnet.gluon.data.dataloader import _MultiWorkerIter, _worker_initializer

HOW = {'here': {}, 'threads': {'num_workers': 2, 'thread_pool': True}, 'processes': {'num_workers': 2}}


@pytest.fixture(autouse=True)
def fresh_seeds(monkeypatch):
    state, python = np.random.get_state(), random.getstate()
    monkeypatch.setattr('mxnet._random_state._seeded', False)
    monkeypatch.setattr(_seeds, 'numpy_is_seeded', lambda: False)
    yield
    np.random.set_state(state)
    random.setstate(python)


def as_it_is(samples):
    return samples


def numbers(loader):
    return [batch.asnumpy().tolist() for batch in loader]


class Counting(data.Dataset):
    """Sample i is an array full of i, and whatever `what` does at sample 7."""

    def __init__(self, length, what=None):
        self.length, self.what = length, what

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        if i == 7 and self.what is not None:
            self.what()
        return mx.nd.full((3,), i), np.float32(i)


def children():
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat') as file:
                    fields = file.read().rpartition(')')[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != 'Z':
                found.append(int(name))
    return found


# ---------------------------------------------------------------------- what comes out
@pytest.mark.parametrize('how', HOW.values(), ids=HOW)
def test_batches_come_in_order(how):
    for options in ({}, {'auto_reload': True}, {'prefetch': 0}, {'prefetch': 7}):
        loader = data.DataLoader(Counting(10), 4, **how, **options)
        for _ in range(2):
            found = list(loader)
            assert [y.asnumpy().tolist() for _, y in found] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
            assert all((x.asnumpy() == y.asnumpy()[:, None]).all() for x, y in found)
            assert all(type(x) is mx.nd.NDArray and x.context == mx.cpu() for x, _ in found)
    assert len(loader) == 3


@pytest.mark.parametrize('how', HOW.values(), ids=HOW)
def test_any_sample_can_travel(how):
    samples = [('text', {'a': mx.nd.array([i])}, np.arange(3)[::-1], None, np.zeros((0, 2)), [i, torch.zeros(0, 3)])
               for i in range(4)]
    batch, rest = data.DataLoader(samples, 3, batchify_fn=as_it_is, **how)
    text, nested, reversed_numbers, nothing, empty, part = batch[2]
    assert text == 'text' and nothing is None and empty.shape == (0, 2) and reversed_numbers.tolist() == [2, 1, 0]
    assert nested['a'].asscalar() == 2 and part[0] == 2 and part[1].shape == (0, 3)
    assert len(rest) == 1
    nested['a'][:] = 5                      # a batch can be written to
    assert nested['a'].asscalar() == 5


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'uint8', 'int64', 'bool'])
def test_dtypes_travel(dtype):
    samples = [mx.nd.ones((2,)).astype(dtype)]
    (batch,), = data.DataLoader(samples, 1, num_workers=1, batchify_fn=as_it_is)
    assert batch.dtype == samples[0].dtype
    np.testing.assert_array_equal(batch.astype('float32').asnumpy(), [1, 1])


def test_sparse_arrays_travel():
    samples = [mx.nd.array([[0, 2, 0]]).tostype('csr')]
    (batch,), = data.DataLoader(samples, 1, num_workers=1, batchify_fn=as_it_is)
    assert batch.stype == 'csr' and batch.asnumpy().tolist() == [[0, 2, 0]]


def test_arguments():
    for wrong in ({}, {'batch_sampler': [[0]], 'batch_size': 1}, {'batch_sampler': [[0]], 'shuffle': True},
                  {'batch_size': 1, 'shuffle': True, 'sampler': data.SequentialSampler(2)}):
        with pytest.raises(ValueError):
            data.DataLoader([1, 2], **wrong)
    with pytest.raises(AssertionError, match='timeout'):
        data.DataLoader([1, 2], 1, timeout=0)
    assert numbers(data.DataLoader([1, 2, 3], batch_sampler=[[2, 0], [1]])) == [[3, 1], [2]]
    assert numbers(data.DataLoader([1, 2, 3], 2, last_batch='discard')) == [[1, 2]]
    rolling = data.DataLoader([1, 2, 3], 2, last_batch='rollover')
    assert numbers(rolling) == [[1, 2]] and numbers(rolling) == [[3, 1], [2, 3]]
    assert numbers(data.dataloader.DataLoaderV1([1, 2, 3], 2, num_workers=1)) == [[1, 2], [3]]


def test_pinned_batches():
    loader = data.DataLoader(data.ArrayDataset(np.ones((3, 2)), np.ones(3)), 2, pin_memory=True, pin_device_id=1)
    assert all(part.context == mx.cpu_pinned(1) for batch in loader for part in batch)


@pytest.mark.parametrize('how', HOW.values(), ids=HOW)
def test_two_passes_at_once(how):
    loader = data.DataLoader(Counting(12), 2, **how)
    one, two = iter(loader), iter(loader)
    found = [next(one)[1], next(two)[1], next(one)[1], next(two)[1]]
    assert [f.asnumpy()[0] for f in found] == [0, 0, 2, 2]
    assert len(list(one)) == len(list(two)) == 4


def test_a_loader_lives_as_long_as_its_batches_are_read():
    batches = iter(data.DataLoader(Counting(8), 2, num_workers=1))
    assert len(list(batches)) == 4


def test_clean_and_refresh():
    seen = []
    loader = data.DataLoader(data.SimpleDataset([1, 2]).transform(lambda x: (seen.append(x), x)[1]), 1, num_workers=1,
                             thread_pool=True, auto_reload=True)
    while len(seen) < 2:                # it begins by itself
        time.sleep(0.01)
    loader.clean()
    assert numbers(loader) == [[1], [2]]


# ---------------------------------------------------------------------- random numbers
class Chance(data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return (float(mx.nd.random.uniform(shape=(1,)).asscalar()), np.random.rand(), random.random())


def test_random_numbers_do_not_depend_on_the_number_of_workers():
    found = []
    for workers in (1, 2, 3):
        mx.random.seed(7)
        loader = data.DataLoader(Chance(), 2, num_workers=workers, batchify_fn=as_it_is)
        found.append([list(loader), list(loader)])
    assert found[0] == found[1] == found[2]
    assert found[0][0] != found[0][1]                                       # another pass, other numbers
    flat = [n for batch in found[0][0] for sample in batch for n in sample]
    assert len(set(flat)) == len(flat)                                      # no worker repeats another's


class Augmented(data.Dataset):
    """Pictures after transforms that draw from mx, from what upstream took from Python, and from NumPy."""

    def __len__(self):
        return 12

    def __getitem__(self, i):
        transforms = data.vision.transforms
        picture = mx.nd.array(np.arange(8 * 8 * 3).reshape(8, 8, 3) + i, dtype='uint8')
        change = transforms.Compose([
            transforms.RandomResizedCrop(6), transforms.RandomFlipLeftRight(), transforms.RandomBrightness(0.5),
            transforms.RandomApply(transforms.RandomFlipTopBottom(), 0.5), transforms.ToTensor(),
            transforms.RandomRotation((-90, 90), zoom_in=True, rotate_with_proba=0.7)])
        return change(picture), mx.nd.random.uniform(shape=(2,))


def test_augmentation_does_not_depend_on_workers():
    """One seed is enough: without workers, with threads, with one process or with three."""
    pytest.importorskip('cv2')
    found = []
    for how in (*HOW.values(), {'num_workers': 3}, {}):
        mx.random.seed(7)
        loader = data.DataLoader(Augmented(), 2, shuffle=True, **how)
        batches = [*loader, *loader]
        found.append((np.concatenate([x.asnumpy() for x, _ in batches]),
                      np.concatenate([y.asnumpy() for _, y in batches]), mx.nd.random.uniform(shape=(3,)).asnumpy()))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
    assert len(np.unique(found[0][1])) == 48


class Noisy(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x + F.random.uniform(shape=(2,))


def test_hybridized_transforms_draw_for_their_batch():
    """Plans of a block that is also called elsewhere keep to the program's random numbers there."""
    noisy, found = Noisy(), []
    noisy.hybridize()
    samples = data.SimpleDataset([mx.nd.zeros(2) for _ in range(12)])
    for how in HOW.values():
        mx.random.seed(1)
        loader = data.DataLoader(samples.transform(noisy), 3, **how)
        found.append(np.concatenate([batch.asnumpy() for batch in [*loader, *loader]]))
        outside = []
        for _ in range(3):
            mx.random.seed(5)
            outside.append(noisy(mx.nd.zeros(2)).asnumpy().tolist())
        assert outside[0] == outside[1] == outside[2] == mx_uniform(5)
    assert len(np.unique(found[0])) == 48
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()


def mx_uniform(seed):
    mx.random.seed(seed)
    return mx.nd.random.uniform(shape=(2,)).asnumpy().tolist()


def test_a_program_that_seeds_numpy_draws_as_upstream(monkeypatch):
    """Without workers its transforms draw from the program's own numbers, in order."""
    monkeypatch.setattr(_seeds, 'numpy_is_seeded', lambda: True)
    mx.random.seed(3)
    _seeds.epoch_seed(0)
    expected = [float(mx.nd.random.uniform(shape=(1,)).asscalar()) for _ in range(12)]
    mx.random.seed(3)
    found = [sample[0] for batch in data.DataLoader(Chance(), 2, batchify_fn=as_it_is) for sample in batch]
    assert found == expected


def test_the_order_does_not_depend_on_workers():
    orders = []
    for how in HOW.values():
        mx.random.seed(7)
        orders.append(numbers(data.DataLoader(list(range(20)), 6, shuffle=True, **how)))
    assert orders[0] == orders[1] == orders[2]


def test_seeding_python_or_numpy_alone_does(monkeypatch):
    def run():
        return list(data.DataLoader(Chance(), 4, num_workers=2, batchify_fn=as_it_is))

    random.seed(1)
    first = run()
    random.seed(1)
    assert run() == first
    monkeypatch.setattr(_seeds, 'numpy_is_seeded', lambda: True)
    np.random.seed(1)
    first = run()
    np.random.seed(1)
    assert run() == first
    assert np.random.rand() == np.random.RandomState(1).rand()              # and NumPy's own numbers are all there


# ---------------------------------------------------------------------- the place reached
@pytest.mark.parametrize('how', HOW.values(), ids=HOW)
def test_a_pass_can_be_continued(how):
    mx.random.seed(2)
    loader = data.DataLoader(list(range(20)), 3, shuffle=True, last_batch='rollover', **how)
    first = numbers(loader)
    batches = iter(loader)
    begun = [next(batches).asnumpy().tolist() for _ in range(2)]
    state = loader.state_dict()
    rest = numbers(batches)                                                 # the loader itself goes on
    again = data.DataLoader(list(range(20)), 3, shuffle=True, last_batch='rollover', **how)
    again.load_state_dict(state)
    assert numbers(again) == rest and len(rest) > 2
    assert sorted(sum(first + begun + rest, []) + loader._batch_sampler._prev) == sorted(2 * list(range(20)))
    assert again._batch_sampler._prev == loader._batch_sampler._prev


def test_random_numbers_are_continued():
    mx.random.seed(2)
    loader = data.DataLoader(Chance(), 2, num_workers=2, batchify_fn=as_it_is)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    rest = list(batches)
    again = data.DataLoader(Chance(), 2, num_workers=1, batchify_fn=as_it_is)
    again.load_state_dict(state)
    assert list(again) == rest


def test_the_state_between_passes():
    loader = data.DataLoader([1, 2, 3], 2)
    assert numbers(loader) == [[1, 2], [3]]
    again = data.DataLoader([1, 2, 3], 2)
    again.load_state_dict(loader.state_dict())
    assert numbers(again) == [[1, 2], [3]]
    again.load_state_dict(data.DataLoader([1, 2, 3], 2).state_dict())
    assert numbers(again) == [[1, 2], [3]]


# ---------------------------------------------------------------------- what can go wrong
def fail():
    raise KeyError('no such thing')


class Strange(Exception):
    """An exception that cannot be pickled."""

    def __init__(self, a, b):
        super().__init__(a)
        self.handle = open(os.devnull)


def fail_strangely():
    error = Strange(1, 2)
    error.handle.close()
    error.handle = (i for i in ())
    raise error


@pytest.mark.parametrize('size', [0, -1, '4'])
def test_sizes_that_are_none(size):
    with pytest.raises(ValueError, match=f'batch_size of a DataLoader must be a number from 1 on, not {size!r}'):
        data.DataLoader([1, 2, 3], size)


@pytest.mark.parametrize('how', HOW.values(), ids=HOW)
def test_errors_show_where_they_happened(how):
    loader = data.DataLoader(Counting(12, fail), 2, **how)
    with pytest.raises(KeyError, match='no such thing') as caught:
        list(loader)
    shown = ''.join(traceback.format_exception(caught.value))
    assert 'in fail' in shown and 'sample 7' in shown
    assert next(iter(loader))[1].asnumpy().tolist() == [0, 1]               # the loader is still good


def test_errors_that_cannot_travel_are_told():
    with pytest.raises(mx.MXNetError, match='Strange in a worker(.|\n)*in fail_strangely'):
        list(data.DataLoader(Counting(12, fail_strangely), 2, num_workers=1))


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed():
    loader = data.DataLoader(Counting(12, die), 2, num_workers=2)
    for _ in range(2):
        start = time.monotonic()
        with pytest.raises(mx.MXNetError, match='killed or crashed'):
            list(loader)
        assert time.monotonic() - start < 20
    others = children()             # of tests that ran before in this process
    loader = data.DataLoader(Counting(40), 2, num_workers=2)
    batches = iter(loader)
    next(batches)
    os.kill(next(c for c in children() if c not in others), signal.SIGKILL)
    with pytest.raises(mx.MXNetError, match='killed or crashed'):
        list(batches)
    assert len(list(loader)) == 20


def sleep():
    time.sleep(30)


@pytest.mark.parametrize('how', [HOW['processes']], ids=['processes'])
def test_workers_that_take_too_long(how):
    start = time.monotonic()
    with pytest.raises(multiprocessing.TimeoutError, match='within 1 seconds'):
        list(data.DataLoader(Counting(8, sleep), 8, timeout=1, **how))
    assert time.monotonic() - start < 20


def test_threads_that_take_too_long():
    def nap():
        time.sleep(1.5)

    def complain():
        raise TimeoutError('of the transform')

    with pytest.raises(multiprocessing.TimeoutError, match='within 1 seconds'):
        list(data.DataLoader(Counting(8, nap), 8, timeout=1, num_workers=1, thread_pool=True))
    with pytest.raises(TimeoutError, match='of the transform'):
        list(data.DataLoader(Counting(8, complain), 8, num_workers=1, thread_pool=True))


@pytest.mark.skipif(not os.path.isdir('/proc/self/fd'), reason='there is no /proc here')
def test_nothing_is_left_behind():
    def files():
        return len(os.listdir('/proc/self/fd'))

    list(data.DataLoader(Counting(8), 2, num_workers=2))                    # what multiprocessing itself keeps open
    before, workers = files(), set(children())
    loader = data.DataLoader(Counting(400), 2, num_workers=2)
    for _ in range(200):
        for _ in loader:
            break
    assert len(set(children()) - workers) == 2
    kept = list(loader)                                                     # all batches at once: more than slots
    assert [int(y.asnumpy()[0]) for _, y in kept] == list(range(0, 400, 2))
    assert all((x.asnumpy() == y.asnumpy()[:, None]).all() for x, y in kept)
    assert files() - before < 2 * _shared.MOST + 20
    del kept, loader, _
    deadline = time.monotonic() + 10
    while (set(children()) - workers or files() > before + 2) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(children()) - workers and files() <= before + 2


def test_slots_are_used_again():
    loader = data.DataLoader(np.zeros((640, 100)), 2, num_workers=1)
    places = {batch.materialize().data_ptr() for _ in range(2) for batch in loader}
    assert len(places) < 20


def test_a_batch_stays_as_it_is_while_it_is_held():
    loader = data.DataLoader(np.arange(400.0).reshape(200, 2), 2, num_workers=2)
    kept = [(i, batch[:1]) for i, batch in enumerate(loader) if i % 10 == 3]        # a view holds its batch, too
    assert all(view.asnumpy().tolist() == [[4.0 * i, 4.0 * i + 1]] for i, view in kept)


SCRIPT = '''
import sys, time
import mxnet as mx
from mxnet.gluon import data

class Slow(data.Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, i):
        time.sleep(0.002)
        return i

loader = data.DataLoader(Slow(), 4, num_workers=2)
try:
    for batch in loader:
        if batch[0] == 0:
            print('go', flush=True)
except KeyboardInterrupt:
    print('interrupted', flush=True)
    print(next(iter(loader)).asnumpy().tolist(), flush=True)
'''


@pytest.fixture
def program(tmp_path):
    """A program that reads batches in a session of its own."""
    (tmp_path / 'program.py').write_text(SCRIPT)
    started = subprocess.Popen([sys.executable, '-W', 'error', str(tmp_path / 'program.py')], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert started.stdout.readline() == 'go\n'
    yield started
    started.kill()
    started.communicate()


def test_an_interrupt_ends_the_pass_and_nothing_else(program):
    os.killpg(program.pid, signal.SIGINT)
    out, errors = program.communicate(timeout=60)
    assert out == 'interrupted\n[0, 1, 2, 3]\n' and program.returncode == 0
    assert 'Traceback' not in errors


SLOW_START = '''
import os, signal, time
import torch
from mxnet.gluon import data

set_num_threads, begun = torch.set_num_threads, []
os.register_at_fork(after_in_parent=lambda: begun.append(1))

def slow(n):
    time.sleep(len(begun))              # the second worker needs a second longer
    set_num_threads(n)

torch.set_num_threads = slow
loader = data.DataLoader(list(range(100)), 4, num_workers=2)
try:
    for batch in loader:
        os.killpg(0, signal.SIGINT)     # one worker has sent a batch, the other is on its way
        time.sleep(30)
except KeyboardInterrupt:
    print('interrupted', flush=True)
    print(sum(batch.sum().asscalar() for batch in loader), flush=True)
'''


def test_an_interrupt_leaves_workers_that_are_about_to_start(tmp_path):
    (tmp_path / 'program.py').write_text(SLOW_START)
    ended = subprocess.run([sys.executable, str(tmp_path / 'program.py')], capture_output=True, text=True, timeout=100,
                           start_new_session=True, env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert (ended.stdout, ended.returncode) == ('interrupted\n4950\n', 0), ended.stderr
    assert 'Traceback' not in ended.stderr


@pytest.mark.skipif(not os.path.isdir('/proc'), reason='there is no /proc here')
def test_workers_end_with_their_parent(program):
    def alive():
        listed = subprocess.run(['ps', '-o', 'pid=', '-s', str(program.pid)], capture_output=True, text=True)
        return listed.stdout.split()

    assert len(alive()) == 3
    program.kill()
    program.wait()
    deadline = time.monotonic() + 30
    while alive() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not alive()


# ---------------------------------------------------------------------- pools of the program's own
class Chosen(_MultiWorkerIter):
    """Sends other work than the class that it derives from, as loaders of GluonCV do."""

    def _push_next(self):
        indices = next(self._iter, None)
        if indices is not None:
            self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
                self._worker_fn, (indices[::-1], self._batchify_fn))
            self._sent_idx += 1


@pytest.mark.parametrize('kind, wanted', [(_MultiWorkerIter, [[0, 1], [2, 3], [4]]), (Chosen, [[1, 0], [3, 2], [4]])])
@pytest.mark.parametrize('ahead', [0, 2])
def test_batches_of_a_pool(kind, wanted, ahead):
    sampler = data.BatchSampler(data.SequentialSampler(5), 2, 'keep')
    with multiprocessing.Pool(2, _worker_initializer, (mx.nd.arange(5), False, False)) as pool:
        batches = kind(pool, data.dataloader.default_mp_batchify_fn, sampler, prefetch=ahead)
        assert len(batches) == 3
        first = batches.next()
        assert isinstance(first, mx.nd.NDArray)
        assert [b.asnumpy().ravel().tolist() for b in (first, *batches)] == wanted
    with ThreadPool(1) as pool:
        batches = _MultiWorkerIter(pool, sum, sampler, dataset=[1, 2, 3, 4, 5], prefetch=ahead,
                                   worker_fn=lambda samples, batchify, dataset: batchify(dataset[i] for i in samples))
        assert list(batches) == [3, 7, 5]


def test_a_pool_that_takes_too_long_or_fails():
    with ThreadPool(1) as pool:
        batches = _MultiWorkerIter(pool, None, [[0]], dataset=[0], timeout=0.05, worker_fn=lambda *job: time.sleep(0.5))
        with pytest.raises(multiprocessing.TimeoutError, match='no batch came .* within 0.05 seconds'):
            next(batches)
        with pytest.raises(ZeroDivisionError):
            next(_MultiWorkerIter(pool, None, [[0]], dataset=[0], worker_fn=lambda *job: 1 // 0))


# ---------------------------------------------------------------------- on a GPU
@pytest.mark.gpu
def test_workers_never_touch_the_gpu():
    mx.nd.ones((1,), ctx=mx.gpu()).wait_to_read()
    with mx.gpu():
        loader = data.DataLoader(Counting(12), 2, num_workers=2, pin_memory=True)
        for x, y in loader:
            assert x.materialize().is_pinned() and x.context == mx.cpu_pinned()
            assert (x.as_in_context(mx.gpu()).sum().asscalar() == 3 * y.sum().asscalar())
