"""Files of a checkpoint appear together, whenever their writer is killed; what it leaves is removed, and nothing "
"else."""
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import time

import pytest

import mxnet as mx
from mxnet._files import commits, paths


def checkpoint(prefix, number, epoch=7):
    symbol = mx.sym.FullyConnected(mx.sym.var('data', attr={'__number__': str(number)}), num_hidden=2, name='fc')
    mx.model.save_checkpoint(prefix, epoch, symbol, {'fc_weight': mx.nd.full((2, 3), number),
                                                     'fc_bias': mx.nd.full((2,), number)}, {})


def numbers(prefix, epoch=7, states=False):
    """The number in each file of a checkpoint."""
    symbol, arg_params, _ = mx.model.load_checkpoint(prefix, epoch)
    found = {int(symbol.attr_dict()['data']['__number__'])}
    found |= {int(value) for array in arg_params.values() for value in set(array.asnumpy().ravel().tolist())}
    if states:
        arrays = pickle.loads(paths.read_bytes(f'{prefix}-{epoch:04d}.states'))
        found |= set(arrays[0].asnumpy().ravel().astype(int).tolist())
    return found


def left(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith('.mxnet-'))


@pytest.fixture(autouse=True)
def look_each_time(monkeypatch):
    """A process looks through a folder once in a minute: here at each save."""
    monkeypatch.setattr(commits, 'AGAIN', 0)


# ---------------------------------------------------------------------- kill -9
def write_on(prefix, number, kind, told):
    """Saves over the same names until it is killed; tells the number of each save before and after it."""
    module = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=20, name='fc'),
                                                name='softmax'))
    module.bind([('data', (2, 300))], [('softmax_label', (2,))])
    module.init_params()
    module.init_optimizer(optimizer_params={'momentum': 0.9})
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 300))], [mx.nd.zeros((2,))]))
    module.update()
    while True:
        number += 1
        data = mx.sym.var('data', attr={'__number__': str(number)})
        symbol = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=20, name='fc'), name='softmax')
        params = {'fc_weight': mx.nd.full((20, 300), number), 'fc_bias': mx.nd.full((20,), number)}
        os.write(told, f'begin {number}\n'.encode())
        if kind == 'model':
            mx.model.save_checkpoint(prefix, 7, symbol, params, {})
        else:
            module._symbol = symbol
            module.set_params(params, {})
            module._updater.states[0][:] = number
            module.save_checkpoint(prefix, 7, save_optimizer_states=True)
        os.write(told, f'end {number}\n'.encode())


def killed_once(prefix, start, kind, draw):
    """Has a process write and kills it: (the last save that has begun, the last that has ended)."""
    reads, writes = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.close(reads)
            write_on(prefix, start, kind, writes)
        finally:
            os._exit(1)
    os.close(writes)
    last, after = {'begin': start, 'end': start}, draw.randint(1, 3)
    with os.fdopen(reads) as told:
        for line in told:
            word, number = line.split()
            last[word] = int(number)
            after -= word == 'end'
            if not after:
                time.sleep(draw.random() * 0.03)
                os.kill(process, 9)
                after = -1
    assert os.waitpid(process, 0)[1] == 9
    return last['begin'], last['end']


def killed(folder, kills, kind, seed):
    """Kills writers; what was seen."""
    commits.AGAIN = 0
    draw, start, prefix = random.Random(seed), 0, os.path.join(folder, 'm')
    seen = {'mixed': [], 'lost': [], 'temporary': 0, 'records': 0, 'old': 0, 'new': 0}
    states = kind == 'module'
    for _ in range(kills):
        begun, ended = killed_once(prefix, start, kind, draw)
        hidden = left(folder)
        seen['temporary'] += any(name.endswith('.tmp') for name in hidden)
        seen['records'] += any(name.endswith('.commit') for name in hidden)
        found, start = numbers(prefix, states=states), begun
        if len(found) != 1:
            seen['mixed'].append(sorted(found))
        elif not ended <= min(found) <= begun:
            seen['lost'].append((sorted(found), begun, ended))
        else:
            seen['new' if min(found) > ended else 'old'] += 1
        mx.nd.save(os.path.join(folder, 'other.params'), [mx.nd.ones(2)])
        if left(folder) or numbers(prefix, states=states) != found:
            seen['lost'].append((left(folder), sorted(found), sorted(numbers(prefix, states=states))))
    print(json.dumps(seen))


def run_killed(run_python, root, tmp_path, *arguments):
    """In a process of its own, with one thread, which may fork."""
    program = (f'import sys; sys.path.insert(0, {str(root / "tests" / "files")!r}); import test_files_commits as t; '
               f't.killed(*{arguments!r})')
    return json.loads(run_python('-c', program, OMP_NUM_THREADS='1').stdout.splitlines()[-1])


@pytest.mark.parametrize('kind', ['model', 'module'])
def test_killed_writers(kind, run_python, root, tmp_path):
    seen = run_killed(run_python, root, tmp_path, str(tmp_path), 12, kind, 1)
    assert not seen['mixed'] and not seen['lost'] and seen['old'] + seen['new'] == 12, seen


@pytest.mark.slow
@pytest.mark.parametrize('kind', ['model', 'module'])
def test_killed_writers_many_times(kind, run_python, root, tmp_path):
    seen = run_killed(run_python, root, tmp_path, str(tmp_path), 200, kind, 2)
    print(seen)
    assert not seen['mixed'] and not seen['lost'] and seen['old'] + seen['new'] == 200, seen
    assert seen['temporary'] > 20, 'kills hit no saves'


def stopped_at_each_step(folder):
    """A process dies at each call that changes the folder, one after the other."""
    commits.AGAIN = 0
    ended, seen = False, set()
    for step in range(50):
        prefix = os.path.join(folder, f'm{step}')
        checkpoint(prefix, 1)
        process = os.fork()
        if not process:
            count = 0

            def dies(call, step=step):
                def counted(*args, **kwargs):
                    nonlocal count
                    if count == step:
                        os.kill(os.getpid(), 9)
                    count += 1
                    return call(*args, **kwargs)
                return counted
            for name in ('replace', 'unlink', 'fsync'):
                setattr(os, name, dies(getattr(os, name)))
            checkpoint(prefix, 3)
            os._exit(0)
        ended = not os.waitpid(process, 0)[1]
        found = numbers(prefix)
        assert found in ({1}, {3}) and (not ended or found == {3}), (step, found)
        seen |= found
        # whoever reads files one by one, in whatever order, gets the same
        assert mx.sym.load(f'{prefix}-symbol.json').attr_dict()['data']['__number__'] == str(*found)
        assert mx.nd.load(f'{prefix}-0007.params')['arg:fc_bias'].asnumpy().tolist() == [*found] * 2
        checkpoint(os.path.join(folder, 'other'), 9)
        assert numbers(prefix) == found and not left(folder), step
        if ended:
            break
    assert ended and step >= 8 and seen == {1, 3}


def test_stopped_at_each_step(run_python, root, tmp_path):
    run_python('-c', f'import sys; sys.path.insert(0, {str(root / "tests" / "files")!r})\n'
               f'import test_files_commits as t; t.stopped_at_each_step({str(tmp_path)!r})', OMP_NUM_THREADS='1')


# ---------------------------------------------------------------------- by hand
def cut_off(prefix, number, renamed=()):
    """A checkpoint whose writer died after its record appeared, and after some of its renames."""
    folder = os.path.dirname(prefix)
    group = commits.begin(folder, os.path.basename(prefix))
    checkpoint(prefix, number)
    commits._local.group = None
    descriptors = [group._announce(os.path.join(folder, f'.mxnet-{os.path.basename(prefix)}.commit'))]
    for name, (path, descriptor) in group.files.items():
        descriptors.append(descriptor)
        if name.endswith(renamed or ('nothing',)):
            os.replace(path, os.path.join(folder, name))
    for descriptor in descriptors:
        os.close(descriptor)


@pytest.mark.parametrize('renamed', [(), ('.json',), ('.params',), ('.json', '.params')])
def test_after_the_record_the_new_files_count(renamed, tmp_path):
    prefix = str(tmp_path / 'm')
    checkpoint(prefix, 1)
    cut_off(prefix, 2, renamed)
    assert numbers(prefix) == {2}
    checkpoint(prefix, 3, epoch=8)
    assert mx.nd.load(f'{prefix}-0007.params')['arg:fc_bias'].asnumpy().tolist() == [2, 2]
    assert numbers(prefix, 8) == {3} and not left(tmp_path)


def test_a_file_that_was_replaced_by_hand(tmp_path):
    """It is not thrown away, and not taken for a part of the save; the way forward is in the message."""
    prefix, own = str(tmp_path / 'm'), str(tmp_path / 'own.params')
    checkpoint(prefix, 1)
    mx.nd.save(own, {'arg:fc_weight': mx.nd.full((2, 3), 5), 'arg:fc_bias': mx.nd.full((2,), 5)})
    cut_off(prefix, 2, ('.json',))
    os.replace(own, f'{prefix}-0007.params')
    with pytest.raises(mx.MXNetError, match=r'm-0007.params has been changed since.*delete '
                                            r'.*\.mxnet-m\.commit') as caught:
        mx.model.load_checkpoint(prefix, 7)
    os.unlink(tmp_path / '.mxnet-m.commit')
    assert str(tmp_path / '.mxnet-m.commit') in str(caught.value)
    assert mx.model.load_checkpoint(prefix, 7)[1]['fc_bias'].asnumpy().tolist() == [5, 5]


def test_a_save_gives_up_what_was_cut_off_where_files_were_replaced(tmp_path):
    prefix = str(tmp_path / 'm')
    checkpoint(prefix, 1)
    mx.nd.save(str(tmp_path / 'x'), {'arg:own': mx.nd.ones(3)})
    cut_off(prefix, 2)
    os.replace(tmp_path / 'x', f'{prefix}-0007.params')
    with pytest.warns(UserWarning, match='m-0007.params has been changed since: that save is given up'):
        checkpoint(prefix, 3, epoch=8)
    assert list(mx.nd.load(f'{prefix}-0007.params')) == ['arg:own'] and not left(tmp_path)
    assert numbers(prefix, 8) == {3}


def test_checkpoints_without_records_and_copies_of_files(tmp_path):
    """Those of MXNet 1.9.1, and those that somebody has put together of files of several, are read as they are."""
    one, two = str(tmp_path / 'one'), str(tmp_path / 'two')
    checkpoint(one, 1)
    checkpoint(two, 2)
    os.replace(f'{two}-symbol.json', f'{one}-symbol.json')
    assert numbers(one) == {1, 2} and not left(tmp_path)


@pytest.mark.parametrize('text', ['', '[]', '{"files": 3}', '{"files": [{"temporary": "x", "target": '
                                                            '"m-0007.params"}]}',
                                  '{"files": [{"temporary": ".mxnet-0123456789abcdef.tmp", "target": '
                                  '"../m-0007.params"}]}'])
def test_records_that_are_none(text, tmp_path):
    """A record of a folder that somebody else made names files of that folder only, or is refused."""
    prefix = str(tmp_path / 'm')
    checkpoint(prefix, 1)
    (tmp_path / '.mxnet-m.commit').write_text(text)
    with pytest.raises(mx.MXNetError, match='delete it to use the files as they are'):
        mx.model.load_checkpoint(prefix, 7)
    with pytest.raises(mx.MXNetError, match='delete it to use the files as they are'):
        checkpoint(prefix, 2)
    os.unlink(tmp_path / '.mxnet-m.commit')
    assert numbers(prefix) == {1} and not left(tmp_path)


def test_an_error_leaves_the_old_files(tmp_path):
    prefix = str(tmp_path / 'm')
    checkpoint(prefix, 1)
    symbol = mx.sym.var('data', attr={'__number__': '2'})
    with pytest.raises(TypeError, match='save_checkpoint does not accept these arguments'):
        mx.model.save_checkpoint(prefix, 7, symbol, {'x': 'not an array'}, {})
    assert numbers(prefix) == {1} and not left(tmp_path)


@pytest.mark.parametrize('prefix', ['m', 'a-b.c', 'm-', '0007', ' ', 'ü'])
def test_names_of_all_kinds(prefix, tmp_path):
    prefix = str(tmp_path / prefix)
    checkpoint(prefix, 1)
    cut_off(prefix, 2, ('.json',))
    assert numbers(prefix) == {2}
    checkpoint(prefix, 3)
    assert numbers(prefix) == {3} and not left(tmp_path)


def test_readers_of_a_folder_that_is_written(tmp_path):
    """A reader that meets a writer gets one save, whole."""
    prefix, stop, mixed = str(tmp_path / 'm'), threading.Event(), []
    checkpoint(prefix, 1)

    def read():
        while not stop.is_set():
            found = numbers(prefix)
            if len(found) != 1:
                mixed.append(found)
    reader = threading.Thread(target=read)
    reader.start()
    for number in range(2, 40):
        checkpoint(prefix, number)
    stop.set()
    reader.join()
    assert not mixed and numbers(prefix) == {39}


# ---------------------------------------------------------------------- what is left behind
def old(path, seconds):
    os.utime(path, (time.time() - seconds,) * 2)


def test_what_killed_writers_left_is_removed(tmp_path):
    ours, others = f'.mxnet-{commits._boot()}-0123456789abcdef.tmp', '.mxnet-00000000-0123456789abcdef.tmp'
    former = '.mxnet-0123456789abcdef.tmp'         # as earlier versions called them
    for name in (ours, others, former, '.mxnet-x.tmp', '.mxnet-notes', 'x.tmp'):
        (tmp_path / name).write_bytes(b'x')
    mx.nd.save(str(tmp_path / 'a'), [mx.nd.ones(1)])
    assert set(os.listdir(tmp_path)) == {others, former, '.mxnet-x.tmp', '.mxnet-notes', 'x.tmp', 'a'}, \
        'another machine may be at work on the others'
    for name in (others, former):
        old(tmp_path / name, 25 * 3600)
    mx.nd.save(str(tmp_path / 'a'), [mx.nd.ones(1)])
    assert set(os.listdir(tmp_path)) == {'.mxnet-x.tmp', '.mxnet-notes', 'x.tmp', 'a'}


def test_what_is_being_written_stays(root, tmp_path):
    """However old it is: the lock says that its writer lives, in this process or in another."""
    path, descriptor = commits.temporary(str(tmp_path))
    program = f'''
import time, sys
sys.path.insert(0, {str(root)!r})
from mxnet._files import commits
print(commits.temporary({str(tmp_path)!r})[0], flush=True)
time.sleep(60)
'''
    other = subprocess.Popen([sys.executable, '-c', program], stdout=subprocess.PIPE, text=True)
    theirs = other.stdout.readline().strip()
    for name in (path, theirs):
        old(name, 48 * 3600)
    mx.nd.save(str(tmp_path / 'a'), [mx.nd.ones(1)])
    assert os.path.exists(path) and os.path.exists(theirs)
    other.kill()
    other.wait()
    other.stdout.close()
    os.close(descriptor)
    mx.nd.save(str(tmp_path / 'a'), [mx.nd.ones(1)])
    assert os.listdir(tmp_path) == ['a']


def test_links_are_not_followed(tmp_path):
    """A name like ours that leads elsewhere is not ours."""
    (tmp_path / 'precious').write_text('x')
    os.symlink(tmp_path / 'precious', tmp_path / f'.mxnet-{commits._boot()}-0123456789abcdef.tmp')
    mx.nd.save(str(tmp_path / 'a'), [mx.nd.ones(1)])
    assert (tmp_path / 'precious').read_text() == 'x'


def test_many_are_removed_with_few_descriptors(tmp_path):
    for n in range(300):
        (tmp_path / f'.mxnet-{commits._boot()}-{n:016x}.tmp').write_bytes(b'')
    mx.nd.save(str(tmp_path / 'a'), [mx.nd.ones(1)])
    assert os.listdir(tmp_path) == ['a']


def test_a_record_names_what_it_means(tmp_path):
    """What is written down of a save: names in the folder, and what the old files were."""
    prefix = str(tmp_path / 'm')
    cut_off(prefix, 2, ('.json',))
    record = json.loads((tmp_path / '.mxnet-m.commit').read_text())
    assert {entry['target'] for entry in record['files']} == {'m-symbol.json', 'm-0007.params'}
    assert all(commits.TEMPORARY.fullmatch(entry['temporary']) and entry['old'] is None for entry in record['files'])


def test_export_appears_together(tmp_path, monkeypatch):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 3)))
    monkeypatch.setattr(commits.Group, 'commit', lambda self, sync: self.abort())
    net.export(str(tmp_path / 'net'))
    assert os.listdir(tmp_path) == []
