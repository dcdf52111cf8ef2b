"""Numbers in files that nothing can compute with, and headers that promise more than they hold."""

import json
import math
import pickle
import struct
import zlib

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.base import MXNetError
from mxnet.cli import main


# ---------------------------------------------------------------------- optimizer states
def _trained(optimizer, **options):
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, options)
    with mx.autograd.record():
        net(mx.nd.ones((1, 3))).sum().backward()
    return trainer


VALUES = [1e300, -1e39, 10**400, -1, 'a', [1.0], {}, 1j, None, math.nan, math.inf, np.float64(1e300)]


@pytest.mark.filterwarnings('ignore:overflow', 'ignore:Casting complex', 'ignore:invalid value')
@pytest.mark.parametrize('name', sorted(name for name, cls in mx.optimizer.Optimizer.opt_registry.items()
                                        if cls.__module__.startswith('mxnet.optimizer') and name != 'test'))
def test_settings_of_a_state_file(name):
    """Whatever a file has in the place of a number: an update is done, or the error names the file."""
    cls = mx.optimizer.Optimizer.opt_registry[name]
    refused = 0
    for setting, found in vars(cls()).items():
        for value in VALUES:
            optimizer = cls()
            setattr(optimizer, setting, {0: {0: value}} if setting == '_all_index_update_counts' else
                    {0: value} if isinstance(found, dict) else value)
            updater = mx.optimizer.get_updater(cls())
            try:
                updater.set_states(pickle.dumps(({}, optimizer), 4), 'a.states')
                weight, grad = (mx.nd.ones((2, 2)),), (mx.nd.ones((2, 2)),)
                for _ in range(3):
                    updater((0,), grad, weight)
                    weight[0].wait_to_read()
            except MXNetError as error:
                assert str(error).startswith('a.states: '), error
                refused += 1
    assert refused > 20


def test_message_of_a_state_file(tmp_path):
    trainer = _trained('sgd', momentum=0.9)
    optimizer = mx.optimizer.SGD(learning_rate=1e300)
    path = tmp_path / 'a.states'
    path.write_bytes(pickle.dumps(({}, optimizer), 4))
    trainer.load_states(str(path))
    with pytest.raises(MXNetError, match=r'a.states: SGD cannot compute with .*lr=1e[+]300,.* without overflow'):
        trainer.step(1)


def test_settings_behind_states():
    before, after = (mx.optimizer.get_updater(mx.optimizer.Adam()) for _ in range(2))
    before.optimizer.beta1 = -1
    after.set_states(before.get_states(), 'b.states')
    weight, grad = (mx.nd.ones((2,)),), (mx.nd.ones((2,)),)
    after((0,), grad, weight)
    with pytest.raises(MXNetError, match='b.states: Adam cannot compute with .*beta1=-1,'):
        after((0,), grad, weight)       # 1 - beta1 ** 2


def test_powers_of_ints():
    """`3 ** count` as an int has as many digits as half the count."""
    for name in ('adam', 'adamax', 'nadam', 'lamb', 'ftml', 'adamw'):
        optimizer = mx.optimizer.create(name)
        optimizer.beta1 = optimizer.beta2 = 3
        optimizer._all_index_update_counts = {0: {0: 10**15}}
        updater = mx.optimizer.get_updater(mx.optimizer.create(name))
        updater.set_states(pickle.dumps(({}, optimizer), 4), 'a.states')
        with pytest.raises(MXNetError, match='^a.states: .* cannot compute with .*beta1=3'):
            updater(0, mx.nd.ones((2,)), mx.nd.ones((2,)))


def test_numbers_of_a_program():
    """What float32 does not have, MXNet 1.9.1 refuses as well; all else is computed with."""
    weight, grad = mx.nd.ones((2, 2)), mx.nd.ones((2, 2))
    for rate in (1e300, 10**400):
        with pytest.raises(MXNetError, match='^SGD cannot compute with '):
            mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=rate))(0, grad, weight)
    for options in ({'epsilon': 1e30}, {'beta1': 0}, {'beta2': 1}, {'learning_rate': -1e30}, {'wd': 1e-300}):
        updater = mx.optimizer.get_updater(mx.optimizer.Adam(**options))
        for _ in range(3):
            updater((0,), (grad,), (weight,))


def test_errors_of_a_program_stay_what_they_are():
    class Own(mx.optimizer.Optimizer):
        def create_state(self, index, weight):
            return None

        def update(self, index, weight, grad, state):
            raise error

    for error in (RuntimeError('mine'), OverflowError('mine'), KeyError('mine')):
        with pytest.raises(type(error), match='mine') as caught:
            mx.optimizer.get_updater(Own())(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
        assert caught.value is error


def test_schedule_far_behind_its_count():
    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=1.0, base_lr=0.5)
    assert schedule(1 << 52) == 0.5 and schedule((1 << 52) + 1) == 0.5
    one, many = (mx.lr_scheduler.FactorScheduler(step=3, factor=0.999999, base_lr=0.5) for _ in range(2))
    many.count, many.base_lr = -9_000_000, 0.5 / 0.999999**3_000_000
    for update in range(3, 12):
        assert many(update) == pytest.approx(one(update), rel=1e-6)
        assert many.count == one.count
    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5)
    for step, update in ((1e-300, 5), (1, math.inf)):
        schedule.step, schedule.count = step, 0
        schedule(update)
    schedule.step, schedule.count = 0, 0
    with pytest.raises(ValueError, match='step must be at least 1'):
        schedule(5)
    schedule.count = 5                  # nothing to do yet, as in MXNet 1.9.1
    schedule(5)


# ---------------------------------------------------------------------- pictures
def _chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))


def _png(*chunks):
    return (b'\x89PNG\r\n\x1a\n' + _chunk(b'IHDR', struct.pack('>IIBBBBB', 4, 4, 8, 2, 0, 0, 0)) + b''.join(chunks)
            + _chunk(b'IDAT', zlib.compress(bytes(52))) + _chunk(b'IEND', b''))


@pytest.mark.parametrize('name, head', [(b'zTXt', b'a\0\0'), (b'iTXt', b'a\0\1\0en\0b\0'), (b'iCCP', b'a\0\0')])
def test_packed_texts_of_pictures(tmp_path, name, head):
    pytest.importorskip('cv2')
    packed = head + zlib.compress(bytes(7_000_000), 9)
    data = _png(*[_chunk(name, packed)] * 300)
    (tmp_path / 'a.png').write_bytes(data)
    for read in (lambda: mx.image.imdecode(data), lambda: mx.image.imread(str(tmp_path / 'a.png'))):
        with pytest.raises(MXNetError, match=f'text and profile chunks .*{name.decode()} at byte .* unpack to'):
            read()
    assert mx.image.imdecode(_png(*[_chunk(name, packed)] * 3)).shape == (4, 4, 3)
    # many chunks that could unpack to more than they do
    small = head + zlib.compress(np.random.RandomState(0).bytes(9000))
    assert mx.image.imdecode(_png(*[_chunk(name, small)] * 60)).shape == (4, 4, 3)


# ---------------------------------------------------------------------- safetensors
def _file(header, values=b''):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack('<Q', len(text)) + text + values


F32 = {'dtype': 'F32', 'shape': [1], 'data_offsets': [0, 4]}


@pytest.mark.parametrize('header, count, words', [
    ({'a': F32, 'b': F32}, 4, 'b: its values begin at byte .*, inside of those of a'),
    ({'a': F32, 'b': {**F32, 'data_offsets': [8, 12]}}, 12, 'not at the end of those of a'),
    ({'a': {**F32, 'data_offsets': [4, 8]}}, 8, 'not at the end of the header'),
    ({'a': F32}, 5, 'the values end at byte'),
    ({'__metadata__': {'k': 1}, 'a': F32}, 4, "__metadata__: the value of 'k' must be a text, not 1"),
    ({'__metadata__': [], 'a': F32}, 4, '__metadata__: expected a dictionary'),
    ({'a': {**F32, 'dtype': 'F4'}}, 4, 'the last axis of an array of F4 has an even length; its shape is .1.'),
    ({'a': {**F32, 'dtype': 'F4', 'shape': [4]}}, 4, 'takes 2 bytes, but there are 4'),
    ({'a': {**F32, 'dtype': 'Q9'}}, 4, "there is no dtype 'Q9'"),
    ({'a': {**F32, 'shape': [1] * 300000}}, 4, 'its shape has 300000 axes; 32 is the most'),
    ({'a': {**F32, 'shape': [0, 1 << 62, 1 << 62], 'data_offsets': [0, 0]}}, 0, 'larger than any memory'),
    ({'a': {**F32, 'data_offsets': [4, 0]}}, 4, 'its values end before they begin'),
], ids=range(12))
def test_one_opinion_of_safetensors(tmp_path, capsys, header, count, words):
    pytest.importorskip('safetensors')
    path = str(tmp_path / 'a.safetensors')
    with open(path, 'wb') as file:
        file.write(_file(header, bytes(count)))
    with pytest.raises(MXNetError, match=words) as caught:
        mx.nd.load(path)
    assert path in str(caught.value)
    assert main(['inspect', path]) == 1
    assert capsys.readouterr().out.split('problems')[1].strip()


def test_safetensors_that_are_good(tmp_path, capsys):
    pytest.importorskip('safetensors')
    path = str(tmp_path / 'a.safetensors')
    arrays = {'a': mx.nd.ones((2, 3)), 'c': mx.nd.arange(5, dtype='uint8')}
    mx.nd.save(path, arrays)
    found = mx.nd.load(path)
    assert {k: v.shape for k, v in found.items()} == {k: v.shape for k, v in arrays.items()}
    assert main(['inspect', path]) == 0
