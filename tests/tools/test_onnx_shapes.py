"""The process in which the ONNX library infers shapes: it ends by itself, and may end at any time."""
import os
import signal
import sys
import time

import pytest

import mxnet as mx

onnx = pytest.importorskip('onnx')
pytestmark = pytest.mark.skipif(not sys.platform.startswith('linux'), reason='looks at processes as Linux has them')


@pytest.fixture
def model(tmp_path):
    from onnx import TensorProto, helper
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in 'xy')
    made = helper.make_model(helper.make_graph([helper.make_node('Relu', ['x'], ['y'])], 'g', [x], [y]))
    path = str(tmp_path / 'a.onnx')
    onnx.save(made, path)
    return path


def read(path):
    return mx.contrib.onnx.import_model(path)[0].list_arguments()


def test_it_is_used_again_and_started_again(model):
    from mxnet.contrib.onnx.onnx2mx import _shapes
    assert read(model) == ['x']
    first = _shapes._running
    assert read(model) == ['x'] and _shapes._running is first
    first.send_signal(signal.SIGTERM)
    first.wait()
    assert read(model) == ['x'] and _shapes._running is not first
    assert first.stdin.closed and first.stdout.closed


def test_it_ends_with_the_program(model, run_python):
    pid = int(run_python('-c', f'''
import mxnet as mx
mx.contrib.onnx.import_model({model!r})
from mxnet.contrib.onnx.onnx2mx import _shapes
print(_shapes._running.pid)
''').stdout)
    deadline = time.monotonic() + 20
    while os.path.exists(f'/proc/{pid}') and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f'/proc/{pid}')


@pytest.mark.filterwarnings('ignore:.*fork:DeprecationWarning')
def test_a_fork_starts_its_own(model):
    from mxnet.contrib.onnx.onnx2mx import _shapes
    read(model)
    before = _shapes._running.pid
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(theirs, f'{read(model)} {_shapes._running.pid}'.encode())
            _shapes._end()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    text = os.read(ours, 1000).decode()
    os.close(ours)
    os.close(theirs)
    assert text.startswith("['x']") and int(text.split()[-1]) != before
    assert read(model) == ['x'] and _shapes._running.pid == before
