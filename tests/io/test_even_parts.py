"""Data for the workers of a job: parts with the same number of batches, and one order for any number of workers."""
import itertools
import pickle
import random

import numpy as np
import pytest

import mxnet as mx
from mxnet import recordio
from mxnet.base import MXNetError
from mxnet.gluon import data
from mxnet.io._deal import batches_of, dealt


@pytest.mark.parametrize('total, batch, parts', [*itertools.product((0, 1, 5, 12, 13, 97), (1, 3, 4), (1, 2, 3, 8))])
def test_parts_have_the_same_number_of_batches(total, batch, parts):
    order = random.Random(total).sample(range(total), total)
    for position in {0, min(total, parts * batch)}:
        for keep in (True, False):
            found = [list(dealt(order, position, batch, parts, index, keep)) for index in range(parts)]
            assert {len(batches) for batches in found} == {batches_of(total, position, batch, parts, keep)}
            for batches in found:
                assert all(order[begin:begin + len(samples)] == samples for begin, samples in batches)
                assert all(len(samples) == batch for _, samples in batches[:-1])
            lengths = {len(batches[-1][1]) for batches in found if batches}
            assert not lengths or max(lengths) - min(lengths) <= 1 and min(lengths) > 0
            steps = [sum((batches[i][1] for batches in found), []) for i in range(len(found[0]))]
            given, rest = sum(steps, []), order[position:]
            if keep:
                assert given[:len(rest)] == rest and len(given) < len(rest) + parts, 'repeated ones come last'
            else:
                assert given == rest[:len(rest) - len(rest) % (parts * batch)]


# ---------------------------------------------------------------------- DataLoader
def loaders(parts, length=103, batch=4, **options):
    return [data.DataLoader(list(range(length)), batch_sampler=data.ShardedBatchSampler(
        length, batch, parts, part, shuffle=True, seed=5, **options)) for part in range(parts)]


def steps(many):
    """What each step of all workers has, in their order."""
    return [sum((batch.asnumpy().tolist() for batch in batches), []) for batches in zip(*many, strict=True)]


def test_loaders_of_all_workers_are_one_order():
    one, three = steps(loaders(1)), steps(loaders(3))
    assert sum(one, []) == sum(three, [])[:103] and sorted(sum(one, [])) == list(range(103)) != sum(one, [])
    both = loaders(2)
    first, second = steps(both), steps(both)
    assert sorted(sum(second, [])[:103]) == list(range(103)) and first != second, 'another order in each pass'
    assert steps(loaders(2)) == first


@pytest.mark.parametrize('before, after, batch', [(3, 2, 4), (2, 5, 4), (1, 4, 4), (4, 1, 9), (2, 2, 4)])
def test_a_pass_goes_on_with_another_number_of_workers(before, after, batch):
    (whole,) = data.ShardedBatchSampler(103, 103, shuffle=True, seed=5)
    several = loaders(before)
    begun = [iter(loader) for loader in several]
    given = sum((sum((next(batches).asnumpy().tolist() for batches in begun), []) for _ in range(5)), [])
    states = [loader.state_dict() for loader in several]
    assert all(state['order'] == states[0]['order'] for state in states) and given == whole[:5 * before * 4]
    again = loaders(after, batch=batch)
    for loader in again:
        loader.load_state_dict(pickle.loads(pickle.dumps(states[0])))
    position = [loader.state_dict()['order'] for loader in again]
    assert position[0] == states[0]['order'], 'the state before the first batch'
    rest = sum(steps(again), [])
    assert (given + rest)[:103] == whole
    third = steps(again)
    assert sorted(sum(third, [])[:103]) == list(range(103)), 'the next pass is a whole one'
    untouched = loaders(after, batch=batch)
    steps(untouched)
    assert steps(untouched) == third, 'and has the order that it has without an interruption'


def test_a_state_at_the_end_of_a_pass_and_twice():
    several = loaders(2)
    steps(several)
    state = several[0].state_dict()
    assert state['order']['epoch'] == 1 and state['order']['position'] == 0 and 'current' not in state
    one = loaders(1)[0]
    one.load_state_dict(state)
    batches = iter(one)
    next(batches), next(batches)
    again = one.state_dict()
    assert again['order']['position'] == 8 and again['current']['number'] == 2
    two = loaders(2)
    for loader in two:
        loader.load_state_dict(again)
    begun = [iter(loader) for loader in two]
    for batches in begun:
        next(batches)
    assert two[1].state_dict()['order']['position'] == 16


def test_a_pass_goes_on_in_processes():
    loader = data.DataLoader(list(range(20)), batch_sampler=data.ShardedBatchSampler(20, 2, 2, 1), num_workers=2)
    batches = iter(loader)
    assert next(batches).asnumpy().tolist() == [2, 3]
    state = loader.state_dict()                 # workers are ahead of what was given
    assert state['order']['position'] == 4
    again = data.DataLoader(list(range(20)), batch_sampler=data.ShardedBatchSampler(20, 2), num_workers=1)
    again.load_state_dict(state)
    assert sum((batch.asnumpy().tolist() for batch in again), []) == list(range(4, 20))


def test_discarded_samples_and_lengths():
    sampler = data.ShardedBatchSampler(10, 2, 3, 2, last_batch='discard')
    assert len(sampler) == 1 and list(sampler) == [[4, 5]]
    sampler.load_state_dict({**sampler.state_dict(), 'position': 6})
    assert len(sampler) == 0 and list(sampler) == []
    assert len(data.ShardedBatchSampler(10, 2, 3, 2)) == 2


def test_mistakes_of_samplers():
    with pytest.raises(ValueError, match='there is no part 3 of 3'):
        data.ShardedBatchSampler(10, 2, 3, 3)
    with pytest.raises(ValueError, match="must be 'keep' or 'discard', not 'rollover'"):
        data.ShardedBatchSampler(10, 2, last_batch='rollover')
    with pytest.raises(ValueError, match='batch_size must be positive, not 0'):
        data.ShardedBatchSampler(10, 0)
    with pytest.raises(TypeError, match='length must be an int'):
        data.ShardedBatchSampler([1, 2], 1)
    state = loaders(1)[0].state_dict()
    with pytest.raises(ValueError, match='length is 103 there, here 50'):
        loaders(1, length=50)[0].load_state_dict(state)
    with pytest.raises(ValueError, match='the state is that of a loader with a ShardedBatchSampler, and this one is '
                                         'without'):
        data.DataLoader([1, 2], 1).load_state_dict(state)
    with pytest.raises(ValueError, match='is that of a loader without a ShardedBatchSampler, and this one is with$'):
        loaders(1)[0].load_state_dict(data.DataLoader([1, 2], 1).state_dict())


# ---------------------------------------------------------------------- ImageRecordIter
@pytest.fixture(scope='module')
def pictures(tmp_path_factory):
    """53 pictures whose labels are their numbers."""
    pytest.importorskip('cv2')
    prefix = str(tmp_path_factory.mktemp('even') / 'a')
    draw = np.random.RandomState(3)
    with recordio.MXIndexedRecordIO(f'{prefix}.idx', f'{prefix}.rec', 'w') as writer:
        for i in range(53):
            picture = draw.randint(0, 255, (12, 12, 3)).astype(np.uint8)
            writer.write_idx(i, recordio.pack_img((0, i, i, 0), picture, img_fmt='.png'))
    return prefix


def iterators(prefix, parts, batch=4, **options):
    return [mx.io.ImageRecordIter(path_imgrec=f'{prefix}.rec', path_imgidx=f'{prefix}.idx', data_shape=(3, 8, 8),
                                  batch_size=batch, num_parts=parts, part_index=part, even_parts=True,
                                  **{'shuffle': True, 'seed': 2, 'rand_crop': True, **options})
            for part in range(parts)]


def labels(batches):
    return sum((batch.label[0].asnumpy().astype(int).tolist()[:len(batch.index) - batch.pad] for batch in batches), [])


def images(batches):
    return {int(label): data for batch in batches
            for label, data in zip(batch.label[0].asnumpy(), batch.data[0].asnumpy(), strict=True)}


@pytest.mark.parametrize('parts', [2, 3, 8])
def test_iterators_of_all_workers_are_one_order(pictures, parts):
    one, several = [list(iterators(pictures, n)[0]) if n == 1 else list(zip(*iterators(pictures, n), strict=True))
                    for n in (1, parts)]
    whole = labels(one)
    found = sum((labels(batches) for batches in several), [])
    assert found[:53] == whole and sorted(whole) == list(range(53)) and len(found) < 53 + parts
    assert {batch.data[0].shape for batches in several for batch in batches} == {(4, 3, 8, 8)}
    alike, same = images(one), images(itertools.chain(*several))
    assert all((alike[i] == same[i]).all() for i in range(53)), 'and every picture has the same crop'


@pytest.mark.parametrize('before, after, batch', [(3, 2, 4), (1, 4, 4), (4, 1, 7)])
def test_a_pass_over_pictures_goes_on_with_another_number_of_workers(pictures, before, after, batch):
    whole = labels(iterators(pictures, 1)[0])
    several = iterators(pictures, before)
    given = sum((labels([next(iterator) for iterator in several]) for _ in range(2)), [])
    states = [iterator.state_dict() for iterator in several]
    assert all(state == states[0] for state in states)
    again = iterators(pictures, after, batch)
    for iterator in again:
        iterator.load_state_dict(states[0])
    rest = sum((labels(batches) for batches in zip(*again, strict=True)), [])
    assert (given + rest)[:53] == whole
    untouched = iterators(pictures, 1, 53)[0]
    untouched.next()
    for iterator in (*again, untouched):
        iterator.reset()
    second = sum((labels(batches) for batches in zip(*again, strict=True)), [])
    assert second[:53] == labels([untouched.next()]) != whole


def test_records_that_cannot_be_used_leave_parts_even(pictures, tmp_path):
    prefix = str(tmp_path / 'b')
    with open(f'{pictures}.rec', 'rb') as source:
        content = bytearray(source.read())
    index = recordio.MXIndexedRecordIO(f'{pictures}.idx', f'{pictures}.rec', 'r').idx
    content[index[7]] ^= 255                    # a record that cannot be read
    content[index[20] + 40] ^= 255              # and a picture that cannot be decoded
    (tmp_path / 'b.rec').write_bytes(content)
    (tmp_path / 'b.idx').write_bytes((tmp_path / pictures).with_suffix('.idx').read_bytes())
    both = iterators(prefix, 2, on_corrupt='skip', shuffle=False)
    found = list(zip(*both, strict=True))
    seen = labels(itertools.chain(*found))
    assert set(seen) == set(range(53)) - {7, 20} and sorted(c.key for i in both for c in i.corrupt) == [7, 20]
    assert len(found) == 7
    with pytest.raises(MXNetError, match='record 7 at byte'):
        list(zip(*iterators(prefix, 2, shuffle=False), strict=True))


def test_mistakes_of_iterators(pictures):
    with pytest.raises(MXNetError, match='ImageRecordIter: even_parts needs path_imgidx'):
        mx.io.ImageRecordIter(path_imgrec=f'{pictures}.rec', data_shape=(3, 8, 8), batch_size=2, even_parts=True)
    plain = [mx.io.ImageRecordIter(path_imgrec=f'{pictures}.rec', path_imgidx=f'{pictures}.idx', data_shape=(3, 8, 8),
                                   batch_size=4, num_parts=parts) for parts in (2, 3)]
    plain[0].next()
    with pytest.raises(ValueError, match='the state is that of one of 2 parts, and this is one of 3; with '
                                         'even_parts=True they may differ'):
        plain[1].load_state_dict(plain[0].state_dict())
    with pytest.raises(ValueError, match='even_parts is None there, here True'):
        iterators(pictures, 1)[0].load_state_dict(plain[0].state_dict())
