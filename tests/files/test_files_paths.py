"""Local files: atomic writes that respect links, modes and special files; errors that name the path."""
import io
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conftest import ROOT

import mxnet as mx
from mxnet._files import paths
from mxnet.base import MXNetError

posix = pytest.mark.skipif(os.name != 'posix', reason='POSIX files')


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.endswith('.tmp')]


def test_write_and_read(tmp_path):
    for path in (tmp_path / 'a', str(tmp_path / 'b'), os.fsencode(tmp_path / 'c'), f'file://{tmp_path}/d'):
        paths.write_atomic(path, [b'one ', bytearray(b'two '), memoryview(b'three'), b''])
        assert paths.read_bytes(path) == b'one two three'
        with paths.open_read(path) as file:
            assert file.seek(4) == 4 and file.read(3) == b'two'
        paths.write_atomic(path, iter([b'new']))
        assert paths.read_bytes(path) == b'new'
    assert sorted(os.listdir(tmp_path)) == ['a', 'b', 'c', 'd']


def test_pieces_may_be_typed_views_and_larger_than_a_slice(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, 'PIECE', 10)
    data = memoryview(bytes(range(64))).cast('q')
    paths.write_atomic(tmp_path / 'x', [data])
    assert paths.read_bytes(tmp_path / 'x') == bytes(range(64))


def test_tilde_means_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths.write_atomic('~x', [b'1'])
    assert os.listdir(tmp_path) == ['~x']


@pytest.mark.parametrize('error', [ValueError('from the caller'), KeyboardInterrupt(), MXNetError('ours')])
def test_an_error_in_the_middle_keeps_the_old_file(tmp_path, error):
    def chunks():
        yield b'x' * 5_000_000
        raise error

    path = tmp_path / 'x'
    with pytest.raises(type(error)) as caught:
        paths.write_atomic(path, chunks())
    assert caught.value is error and os.listdir(tmp_path) == []
    path.write_bytes(b'old')
    with pytest.raises(type(error)):
        paths.write_atomic(path, chunks())
    assert path.read_bytes() == b'old' and leftovers(tmp_path) == []


KILLED = '''
import sys
import tempfile
from mxnet._files import paths, params
import torch
tensor = torch.full((2_000_000,), 2.0)
record = params.Record('default', (2_000_000,), tensor)
def chunks():
    for i, chunk in enumerate(params.encode([record] * 500)):
        yield chunk
        if i == 8:
            print('writing', flush=True)
paths.write_atomic(sys.argv[1], chunks())
'''


@posix
def test_kill_9_in_the_middle_of_a_save_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / 'x.params'
    path.write_bytes(b'the old file')
    process = subprocess.Popen([sys.executable, '-c', KILLED, str(path)], env={**os.environ, 'PYTHONPATH': str(ROOT)},
                               stdout=subprocess.PIPE, cwd=tmp_path)
    try:
        assert process.stdout.readline() == b'writing\n'
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
    assert path.read_bytes() == b'the old file'
    started = leftovers(tmp_path)
    assert len(started) == 1 and os.path.getsize(tmp_path / started[0]) > 0  # it was in the middle
    os.unlink(tmp_path / started[0])


def test_readers_see_the_old_or_the_new_file(tmp_path):
    """A reader in another process, while this one saves again and again."""
    path = tmp_path / 'x'
    paths.write_atomic(path, [b'a' * 300_000])
    code = ('import sys\nfor _ in range(400):\n    data = open(sys.argv[1], "rb").read()\n'
            '    assert len(data) == 300_000 and len(set(data)) == 1')
    with subprocess.Popen([sys.executable, '-c', code, str(path)]) as reader:
        turn = 0
        end = time.monotonic() + 60
        while reader.poll() is None and time.monotonic() < end:
            turn += 1
            letter = b'ab'[turn % 2:][:1]
            paths.write_atomic(path, [letter * 100_000] * 3)
        assert reader.wait(5) == 0 and turn > 2


@posix
def test_modes(tmp_path):
    path = tmp_path / 'x'
    old = os.umask(0o027)
    try:
        paths.write_atomic(path, [b'1'])
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        paths.write_atomic(path, [b'2'])
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
        os.umask(0o222)
        paths.write_atomic(tmp_path / 'y', [b'3'])
        assert stat.S_IMODE((tmp_path / 'y').stat().st_mode) == 0o444
    finally:
        os.umask(old)
    assert leftovers(tmp_path) == []


@posix
def test_links_stay_links(tmp_path):
    (tmp_path / 'real').mkdir()
    target, link, dangling = tmp_path / 'real' / 'target', tmp_path / 'link', tmp_path / 'dangling'
    target.write_bytes(b'old')
    link.symlink_to(target)
    dangling.symlink_to('real/other')
    for name in (link, dangling):
        paths.write_atomic(name, [b'new'])
        assert name.is_symlink() and name.read_bytes() == b'new'
    assert target.read_bytes() == b'new' and (tmp_path / 'real' / 'other').read_bytes() == b'new'
    assert leftovers(tmp_path / 'real') == []


@posix
def test_special_files_are_written_to_and_read_from(tmp_path, run_python):
    paths.write_atomic('/dev/null', [b'x'])
    assert stat.S_ISCHR(os.stat('/dev/null').st_mode)
    code = 'from mxnet._files import paths; paths.write_atomic("/dev/stdout", [b"hello"])'
    assert run_python('-c', code).stdout == 'hello'
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, '-c', 'import sys; open(sys.argv[1], "wb").write(b"through")', str(pipe)]):
        with paths.open_read(pipe) as file:
            assert isinstance(file, io.BytesIO) and file.read() == b'through'
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


@pytest.fixture
def plain_user():
    """A folder of a user who may not write everywhere: root becomes one for the test."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        shutil.rmtree(folder)


@posix
def test_protected_files_stay_protected(plain_user):
    path = plain_user / 'x'
    path.write_bytes(b'old')
    path.chmod(0o444)
    with pytest.raises(MXNetError, match='Permission denied'):
        paths.write_atomic(path, [b'new'])
    plain_user.chmod(0o555)
    try:
        with pytest.raises(MXNetError, match='Permission denied'):
            paths.write_atomic(plain_user / 'y', [b'new'])
    finally:
        plain_user.chmod(0o755)
    assert path.read_bytes() == b'old'


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='there is no /dev/full')
def test_a_full_disk_is_reported():
    with pytest.raises(MXNetError, match='^/dev/full: cannot write: No space left on device'):
        paths.write_atomic('/dev/full', [b'x' * 100])


def test_errors_name_the_path(tmp_path):
    missing = tmp_path / 'no' / 'x'
    for action, path, words in (
            (paths.read_bytes, missing, 'cannot read: No such file or directory'),
            (paths.read_bytes, tmp_path, 'cannot read: Is a directory'),
            (paths.read_bytes, '', 'cannot read: No such file or directory'),
            (paths.read_bytes, 'a\0b', 'cannot read: a name has the character NUL in it'),
            (paths.read_bytes, '/dev/zero', 'cannot read: not a regular file'),
            (lambda path: paths.write_atomic(path, [b'']), missing, 'cannot write: No such file or directory'),
            (lambda path: paths.write_atomic(path, [b'']), tmp_path, 'cannot write: not a regular file'),
            (lambda path: paths.write_atomic(path, [b'']), 'a\0b', 'cannot write: a name has the character NUL in it')):
        if path == '/dev/zero' and not os.path.exists(path):
            continue
        with pytest.raises(MXNetError) as caught:
            action(path)
        assert str(caught.value) == str(path).replace('\0', '\\x00') + f': {words}'
    with pytest.raises(TypeError, match='expected a file name .* got int'):
        paths.read_bytes(3)


def test_replacing_gives_other_libraries_a_name(tmp_path):
    path = tmp_path / 'x'
    with paths.replacing(path) as temporary:
        Path(temporary).write_bytes(b'filled')
        assert not path.exists() and os.path.dirname(temporary) == str(tmp_path)
    assert path.read_bytes() == b'filled' and os.listdir(tmp_path) == ['x']
    with pytest.raises(ZeroDivisionError), paths.replacing(path) as temporary:
        os.unlink(temporary)
        raise ZeroDivisionError
    assert path.read_bytes() == b'filled'


def test_paths_alone_load_neither_torch_nor_numpy(run_python):
    code = 'import sys, mxnet._files.paths; print([m for m in ("torch", "numpy", "fsspec") if m in sys.modules])'
    assert run_python('-c', code).stdout.strip() == '[]'


@posix
def test_a_pipe_that_nobody_writes_to_does_not_hold_up_the_program(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, 'PIPE_SECONDS', 0.2)
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    with pytest.raises(MXNetError, match=r'pipe: cannot read: it is a pipe that no process has opened for writing'):
        paths.open_read(pipe)
    # one that is slow is waited for
    code = 'import sys, time; file = open(sys.argv[1], "wb"); time.sleep(1); file.write(b"late")'
    monkeypatch.setattr(paths, 'PIPE_SECONDS', 10)
    with subprocess.Popen([sys.executable, '-c', code, str(pipe)]):
        assert paths.read_bytes(pipe) == b'late'


@posix
@pytest.mark.parametrize('name', ['dir', 'zero', 'loop', 'nul\0', 'surrogate\ud800', 'x' * 300])
def test_what_is_no_file_is_refused(tmp_path, name):
    path = tmp_path / name
    if name == 'dir':
        path.mkdir()
    elif name == 'zero':
        path.symlink_to('/dev/zero')
    elif name == 'loop':
        path.symlink_to(path)
    for read in (paths.read_bytes, mx.nd.load, mx.sym.load, mx.image.imread):
        with pytest.raises(MXNetError, match='cannot read'):
            read(str(path))


@pytest.mark.skipif(not os.path.exists('/proc/self/mem'), reason='a file that cannot be read at its beginning')
def test_a_failure_after_opening_names_the_file(tmp_path):
    (tmp_path / 'file').symlink_to('/proc/self/mem')
    with paths.open_read(tmp_path / 'file') as file, pytest.raises(MXNetError, match='file: cannot read: '):
        file.read(10)
