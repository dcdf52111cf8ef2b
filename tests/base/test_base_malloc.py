"""Memory of arrays that are gone is kept for the next ones, up to a limit, and given back on request."""
import ctypes
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import mxnet as mx
from mxnet import _malloc

pytestmark = pytest.mark.skipif(not sys.platform.startswith('linux') or not hasattr(ctypes.CDLL(None), 'mallopt'),
                                reason='glibc only')

PROGRAM = '''
import resource
import mxnet as mx
x = mx.nd.ones((12, 1 << 20))           # 48 MB, more than glibc keeps by itself
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def resident():
    return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()
for _ in range(3):
    y = x + 1
    del y
before = faults()
for _ in range(20):
    y = x + 1
    del y
each = (faults() - before) / 20
full = resident()
mx.cpu().empty_cache()
print(each, full - resident())
'''


def run(**settings):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(('MALLOC_', 'GLIBC_', 'MXNET_CPU_MEM'))}
    out = subprocess.run([sys.executable, '-c', PROGRAM], env={**clean, **settings}, capture_output=True, text=True,
                         check=True).stdout
    faults, given_back = map(float, out.split())
    return faults, given_back


def test_memory_is_kept_and_given_back():
    faults, given_back = run()
    assert faults < 2000                 # of 12288 pages: once in a while, an array has a new place
    assert given_back > 40 << 20


@pytest.mark.parametrize('settings', [{'MXNET_CPU_MEM_POOL_TYPE': 'Unpooled'}, {'MALLOC_TRIM_THRESHOLD_': '131072'}])
def test_programs_that_want_it_otherwise(settings):
    faults, _ = run(**settings)
    assert faults > 10000


def test_an_import_changes_nothing(run_python):
    code = """
import mxnet as mx
import mxnet.ndarray, mxnet.gluon, mxnet.module, mxnet.numpy
from mxnet import _malloc
print(_malloc.kept)
mx.nd.ones((2,))
print(_malloc.kept)
"""
    clean = {name: '' for name in os.environ if name.startswith('MXNET_CPU_MEM')}
    assert run_python('-c', code, **clean).stdout.split()[0] == 'None'
    assert run_python('-c', code, **clean).stdout.split()[1] in ('True', 'False')
    unpooled = run_python('-c', code, MXNET_CPU_MEM_POOL_TYPE='Unpooled').stdout.split()
    assert unpooled == ['None', 'False']


def test_other_allocators(monkeypatch):
    """A C library without these functions, such as musl, is left alone."""
    monkeypatch.setattr(_malloc, 'ctypes', SimpleNamespace(CDLL=lambda _: object()))
    assert not _malloc._set_options()
    mx.cpu().empty_cache()


def test_old_limits(monkeypatch):
    """Before 2.35, glibc refuses a threshold above 32 MB, and one option without the other would be a loss."""
    calls = []

    class Old:
        @staticmethod
        def mallopt(option, value):
            calls.append((option, value))
            return int(value <= 1 << 25 if option == -3 else accepts_trim)

    for name in _malloc._TUNED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_malloc, 'ctypes', SimpleNamespace(CDLL=lambda _: Old))
    for accepts_trim in (1, 0):
        calls.clear()
        assert _malloc._set_options() is bool(accepts_trim)
        assert [c for c in calls if c[0] == -3][-1][1] <= 1 << 25 and calls[-1][0] == -1
