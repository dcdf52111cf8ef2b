"""`import mxnet` is light, and neither importing nor using it changes what belongs to others in the process."""
import pytest
from conftest import ROOT

# recordio joins as soon as it is there: reading .rec files alone must not cost a start of torch
LIGHT = [name for name in ('mxnet', 'mxnet.cli', 'mxnet.context', 'mxnet.libinfo', 'mxnet.recordio')
         if any((ROOT / (name.replace('.', '/') + end)).exists() for end in ('.py', '/__init__.py'))]
BUDGET_S = 0.15

MEASURE = '''
import sys, time
begin = time.process_time()
import {name}
seconds = time.process_time() - begin
print(seconds, *sorted({{"torch", "numpy", "cv2", "fsspec"}} & sys.modules.keys()))
'''


@pytest.mark.parametrize('name', LIGHT)
def test_import_is_light(run_python, name):
    run_python('-c', f'import {name}')  # writes the .pyc files, which an installed package has
    times = []
    for _ in range(5):
        seconds, *heavy = run_python('-c', MEASURE.format(name=name)).stdout.split()
        assert not heavy, f'import {name} loads {heavy}'
        times.append(float(seconds))
    assert min(times) <= BUDGET_S, f'import {name} takes {min(times):.3f} s'


WATCH = '''
import locale, os, random, signal, sys, threading, warnings
import numpy as np
import torch

def look():
    """Everything that a library in the same process could be surprised by."""
    return {
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default dtype": torch.get_default_dtype(),
        "default device": torch.get_default_device(),
        "threads": torch.get_num_threads(),
        "interop threads": torch.get_num_interop_threads(),
        "torch seed": torch.initial_seed(),
        "torch generator": torch.get_rng_state().numpy().tobytes(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "matmul precision": torch.get_float32_matmul_precision(),
        "cudnn": (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic),
        "autocast": torch.is_autocast_enabled("cpu"),
        "anomaly detection": torch.is_anomaly_enabled(),
        "numpy generator": repr(np.random.get_state()),
        "numpy errors": np.geterr(),
        "numpy printing": repr(np.get_printoptions()),
        "python generator": random.getstate(),
        "warning filters": list(warnings.filters),
        "hooks": (sys.excepthook, threading.excepthook, sys.displayhook),
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV)],
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "folder": os.getcwd(),
        "recursion": sys.getrecursionlimit(),
    }

def compare(when):
    for name, value in look().items():
        assert value == before[name], f"{when} changed {name}: {before[name]!r:.200} -> {value!r:.200}"

# torch's own late start (its first backward loads sympy, which sets a warning filter) is not ours
start = torch.ones(2, requires_grad=True)
start.cos().backward(torch.ones(2))
before = look()
import mxnet as mx
compare("import")
'''

USE = {
    'arrays': 'a = mx.nd.arange(12).reshape((3, 4)); repr((a * 2 + a.T.T)[1:, ::2].sum()); mx.nd.waitall()',
    'operators': 'mx.nd.FullyConnected(mx.nd.ones((2, 3)), mx.nd.ones((4, 3)), num_hidden=4, no_bias=True).asnumpy()',
    'seed': 'mx.random.seed(7)',
    'random numbers': 'mx.nd.random.uniform(shape=(3,)).asnumpy(); mx.nd.random.shuffle(mx.nd.arange(5)).asnumpy()',
    'dropout': 'with mx.autograd.train_mode():\n    mx.nd.Dropout(mx.nd.ones((50,)), p=0.5).asnumpy()',
    'autograd': 'x = mx.nd.ones((2,)); x.attach_grad()\nwith mx.autograd.record():\n    y = (x * x).sum()\n'
                'y.backward(); x.grad.asnumpy()',
    'an error under record': 'x = mx.nd.ones((2,)); x.attach_grad()\ntry:\n    with mx.autograd.record():\n'
                             '        mx.nd.dot(x, mx.nd.ones((3,)))\nexcept mx.MXNetError:\n    pass\n'
                             'else:\n    raise AssertionError("no error")',
    'files': 'mx.nd.save("a.params", {"a": mx.nd.ones((2,))}); mx.nd.load("a.params")',
}


@pytest.mark.parametrize('what', USE)
def test_nothing_global_changes(run_python, what):
    run_python('-c', f'{WATCH}\n{USE[what]}\ncompare({what!r})')


@pytest.mark.parametrize('code, meant', [('mx.glon', 'gluon'), ('mx.nd.softmx', 'softmax'),
                                         ('mx.sym.FullyConected', 'FullyConnected'), ('mx.gluon.Trianer', 'Trainer')])
def test_a_name_that_may_be_meant(run_python, code, meant):
    done = run_python('-c', f'import mxnet as mx; {code}', check=False)
    assert done.returncode == 1 and f"Did you mean: '{meant}'?" in done.stderr
