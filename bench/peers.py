"""The others that ours is measured beside, each in a process of its own: torch.compile, JAX, MXNet 1.9.1.

None is needed: a column without its program stays empty.  All are sampled in turns with ours, see timing.py.  Torch is
one of them where arrays are large: so it has C's allocator as it comes, not as we set it (mxnet/_malloc.py).  With
small arrays that makes no difference, and ratios waver less within one process.
"""
import functools
import importlib.util
import os
import pathlib
import shutil
import sys

from .peer import Peer, upstream_python

FOLDER = pathlib.Path(__file__).parent

# Comes before the cases of a peer: names() and sample(name, count) are what is asked of it.
_CODE = '''
import sys
sys.path.insert(0, {folder!r})
import timing
{imports}
_cases, _settle = {cases}

def names():
    return list(_cases)

def sample(name, count):
    return timing.sample(_cases[name], count, _settle)
'''
HINTS = {
    'compiled': 'torch.compile needs a C++ compiler: install g++, or name yours in CXX',
    'JAX': 'pip install jax, here or in an environment whose Python JAX_PYTHON names',
    '1.9.1': 'MXNET191_PYTHON=/its/python, an interpreter that has Apache MXNet 1.9.1 (Python 3.8, numpy < 1.24)',
}


def jax_python():
    """An interpreter that can import jax; None if there is none."""
    named = os.environ.get('JAX_PYTHON')
    if named:
        return named
    return sys.executable if importlib.util.find_spec('jax') else None


def compiler():
    """Whether torch.compile finds what it compiles with."""
    return sys.executable if shutil.which(os.environ.get('CXX', 'g++')) or shutil.which('clang++') else None


def start(python, imports, cases):
    """A peer that imports modules of this folder; `cases` is the text of {name: callable}, function that waits."""
    return Peer(python, _CODE.format(folder=str(FOLDER), imports=imports, cases=cases))


_PEERS = {
    'torch': (lambda: sys.executable, 'import torch, arrays, gluon, resnet',
              '{name: case for family in (arrays, gluon, resnet) for name, case in family.torch_cases(torch).items() '
              'if name.startswith("large")}, None'),
    'channels last': (lambda: sys.executable, 'import torch, resnet', 'resnet.channels_last_cases(torch), None'),
    'compiled': (compiler, 'import torch, gluon, resnet',
                 '{**gluon.torch_cases(torch, compiled=True), **resnet.torch_cases(torch, compiled=True)}, None'),
    'JAX': (jax_python, 'import jax_cases', 'jax_cases.cases(), None'),
    '1.9.1': (upstream_python, 'import mxnet as mx, upstream', 'upstream.cases(mx), mx.nd.waitall'),
}


class Peers:
    """The peers that are there, started when a row needs them."""

    def __init__(self, without=()):
        self._running, self._names = {}, {}
        self.columns = [c for c in _PEERS if c not in without]
        self.there = [c for c in self.columns if _PEERS[c][0]()]

    def cases(self, name):
        """{column: what timing.measure samples} of the peers that know a benchmark, in the order of the table."""
        found = {}
        for column in self.there:
            if column not in self._running:
                self._running[column] = start(_PEERS[column][0](), *_PEERS[column][1:])
                self._names[column] = set(self._running[column]('names'))
            if name in self._names[column]:
                found[column] = Remote(self._running[column], name)
        return found

    def close(self):
        for peer in self._running.values():
            peer.close()
        self._running.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Remote:
    """A piece of work that a peer does."""

    def __init__(self, peer, name):
        self.sample = functools.partial(peer, 'sample', name)
