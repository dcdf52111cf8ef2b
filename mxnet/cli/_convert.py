"""What `remx convert` does: writes a network in another form, runs the result and compares it with the original."""
import contextlib
import importlib.util
import inspect
import io
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import typing
from typing import Any

import numpy as np

from .._files import paths
from ..base import MXNetError
from . import _networks
from ._progress import Bar

TOLERANCE = {'float32': 1e-5, 'float16': 1e-2, 'bfloat16': 1e-1}
OTHER_BATCH = 5         # the length of the batch that a result is run with besides its own


def parse_shapes(texts):
    """{name: shape} of `name=1,3,224,224`."""
    found = {}
    for text in texts:
        name, _, numbers = text.rpartition('=')
        try:
            shape = tuple(int(n) for n in numbers.split(','))
        except ValueError:
            shape = ()
        if not shape or min(shape) < 1:
            raise MXNetError(f'--shape {text}: it takes a name and lengths, such as data=1,3,224,224')
        found[name or 'data'] = shape
    return found


def parse_axes(texts):
    """{name: axis} of `name=1`."""
    found = {}
    for text in texts:
        name, _, number = text.rpartition('=')
        if not number.isdigit():
            raise MXNetError(f'--batch-axis {text}: it takes a name and the number of an axis, such as data=1')
        found[name or 'data'] = int(number)
    return found


def _check_axes(axes, shapes):
    """The axis of the batch of each input that has axes."""
    for name, axis in axes.items():
        if name not in shapes:
            raise MXNetError(f'--batch-axis {name}={axis}: there is no such input; there are {", ".join(shapes)}')
        if axis >= len(shapes[name]):
            raise MXNetError(f'--batch-axis {name}={axis}: the shape of {name} is {shapes[name]}')
    return {name: axes.get(name, 0) for name, shape in shapes.items() if shape}


def run(source, to, *, epoch=None, shapes=None, axes=None, out=None, network=None, static=False, tolerance=None,
        dtype='float32', compiled=True, quiet=True):
    """Converts, compares and puts in place -> {'files': ..., 'difference': ..., 'batches': ...}"""
    if not compiled and to != 'pt2':
        raise MXNetError(f'--no-compile is for --to pt2; {to} files are not compiled')
    if dtype == 'bfloat16' and to not in ('torch', 'pt2', 'safetensors'):
        raise MXNetError(f'--bf16 is for --to torch, pt2 and safetensors; {to} files have float16 (--half)')
    if tolerance is not None and not tolerance >= 0:
        raise MXNetError(f'--tolerance {tolerance}: it must not be negative')
    bar = Bar(4, 'converting', quiet)
    with contextlib.closing(bar):
        model = _networks.load(source, epoch, network=network, shapes=shapes)
        shapes = model.shapes if network is not None else model.check_shapes(shapes or {})
        bar.step()
        axes = {} if static else _check_axes(axes or {}, shapes)
        work = (_TARGETS[to] if compiled else _Exported)(model, shapes, axes, dtype)
        stem = _stem(model, out, to)
        names = [f'{stem}{ending}' for ending in work.endings]
        for name in names:
            if any(os.path.exists(name) and os.path.exists(f) and os.path.samefile(name, f) for f in model.files):
                raise MXNetError(f'{name} is the source itself: give another name with --out')
        work.check()
        bar.step()
        folder = tempfile.mkdtemp(prefix='.remx-convert-', dir=os.path.dirname(os.path.abspath(names[0])))
        try:
            temporary = os.path.join(folder, os.path.basename(stem))
            work.write(temporary)
            bar.step()
            difference, batches = _compare(model, work, temporary, shapes, axes)
            limit = TOLERANCE[dtype] if tolerance is None else tolerance
            if not difference <= limit:
                raise MXNetError(f'the result differs from the original by {difference:.3g} (relative to the largest '
                                 f'value), more than the tolerance of {limit:g}; nothing was written')
            for ending, name in zip(work.endings, names, strict=True):
                os.replace(temporary + ending, name)
            bar.step()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return {'files': names, 'difference': difference, 'batches': batches}


def _stem(model, out, to):
    if out is None:
        return model.name.replace('-', '_') if to == 'torch' else model.name
    for ending in ('-symbol.json', *{e for t in _TARGETS.values() for e in t.endings}):
        out = out.removesuffix(ending)
    folder = os.path.dirname(os.path.abspath(out))
    if not os.path.isdir(folder):
        raise MXNetError(f'--out {out}: there is no folder {folder}')
    if to == 'torch' and not os.path.basename(out).isidentifier():
        raise MXNetError(f'--out {out}: {os.path.basename(out)} is not a valid module name')
    return out


# ---------------------------------------------------------------------- comparison
def _compare(model, work, temporary, shapes, axes):
    """(largest relative difference of all outputs, the batches that were run)"""
    batches = sorted({shape[axes.get(name, 0)] for name, shape in shapes.items() if shape}) or [1]
    tried: list[tuple[int | None, int]] = [(None, batches[0])]
    if axes and len(batches) == 1:
        tried.append((OTHER_BATCH, OTHER_BATCH))
    worst = 0.0
    ours = model.module()
    for number, (batch, _) in enumerate(tried):
        values = model.example(shapes, number, batch, axes)
        want = _predict(ours, [values[n] for n in model.inputs])
        found = work.run(temporary, values)
        if len(found) != len(want):
            raise MXNetError(f'the result has {len(found)} outputs, the original {len(want)}')
        for one, other in zip(found, want, strict=True):
            worst = max(worst, relative(one, other))
    return worst, [label for _, label in tried]


def relative(found, want):
    """The largest difference of two arrays, relative to the largest value."""
    found, want = np.asarray(found, dtype='float64'), np.asarray(want, dtype='float64')
    if found.shape != want.shape:
        raise MXNetError(f'an output has the shape {found.shape}, in the original {want.shape}')
    if not want.size:
        return 0.0
    if not np.array_equal(np.isfinite(found), np.isfinite(want)):
        return float('inf')
    good = np.isfinite(want)
    if not good.any():
        return 0.0
    return float(np.abs(found[good] - want[good]).max() / max(np.abs(want[good]).max(), 1e-30))


def _predict(block, values):
    from .. import ndarray
    result = block(*[ndarray.array(v, dtype=v.dtype) for v in values])
    return [r.asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])]


# a process of its own, in which `mxnet` cannot be imported
_RUNNER = '''
import sys
sys.modules['mxnet'] = None
import importlib.util, json
import numpy
kind, path, values, results, dtype = sys.argv[1:]
inputs = list(numpy.load(values).values())
if kind == 'onnx':
    import onnxruntime
    session = onnxruntime.InferenceSession(path + '.onnx', providers=['CPUExecutionProvider'])
    names = json.loads(dtype)
    outputs = session.run(None, dict(zip(names, inputs)))
else:
    import torch
    inputs = [torch.from_numpy(x) for x in inputs]
    if dtype != 'float32':
        inputs = [x.to(getattr(torch, dtype)) if x.is_floating_point() else x for x in inputs]
    if kind == 'torch':
        spec = importlib.util.spec_from_file_location('network', path + '.py')
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        network = module.load(path + '.safetensors')
    elif kind == 'exported':
        network = torch.export.load(path + '.pt2').module()
    else:
        network = torch._inductor.aoti_load_package(path + '.pt2')
    with torch.no_grad():
        outputs = network(*inputs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    outputs = [(o.float() if o.dtype in (torch.float16, torch.bfloat16) else o).numpy() for o in outputs]
numpy.savez(results, *outputs)
'''


def _run_apart(kind, path, values, dtype):
    """The outputs of a result, computed by a process without `mxnet`.

    dtype: of the inputs; for ONNX, a JSON list of their names
    """
    given, results = f'{path}.inputs.npz', f'{path}.outputs.npz'
    np.savez(given, **{f'{i:04d}': v for i, v in enumerate(values.values())})
    done = subprocess.run([sys.executable, '-W', 'ignore', '-c', _RUNNER, kind, path, given, results, dtype],
                          capture_output=True, text=True)
    if done.returncode:
        raise MXNetError(f'the result does not run: {done.stderr.strip().splitlines()[-1] if done.stderr else ""}')
    with np.load(results) as found:
        return [found[key] for key in sorted(found.files, key=lambda k: int(k.rpartition('_')[2]))]


# ---------------------------------------------------------------------- what can be written
class _Target:
    endings: tuple[str, ...] = ()

    def __init__(self, model, shapes, axes, dtype):
        self.model, self.shapes, self.dtype = model, shapes, dtype
        self.axes = axes                # of the batch in each input; none: the batch keeps its length

    def check(self):
        """Refuses what cannot be written, before anything is."""

    def write(self, path):
        raise NotImplementedError

    def run(self, path, values):
        """The outputs of what was written."""
        raise NotImplementedError

    def arrays(self):
        if self.dtype == 'float32':
            return self.model.arrays
        return {n: a.astype(self.dtype) if a.dtype == np.float32 else a for n, a in self.model.arrays.items()}


class _Torch(_Target):
    endings: tuple[str, ...] = ('.py', '.safetensors')

    def check(self):
        import torch

        from .._to_torch import source
        from ..gluon._to_torch import translated
        model = self.model
        if model.block is not None:
            from .. import ndarray
            self.made = translated(model.block, inputs=[ndarray.zeros(s) for s in self.shapes.values()])
        else:
            self.made = translated(model.symbol, model.arrays, {n: self.example()[n] for n in model.inputs})
        if self.dtype != 'float32':
            self.made.module.to(getattr(torch, self.dtype))
        inputs = ', '.join(f'{n}: {tuple(s)}' for n, s in self.shapes.items())
        text = f'Inputs, with the shapes that it was converted with: {inputs}.'
        self.text = source.write(self.made, _class_name(model.name), example=text)

    def example(self):
        return self.model.example(self.shapes)

    def write(self, path):
        from .._files import safetensors
        from .._to_torch import source
        safetensors.save(f'{path}.safetensors', {n: t.contiguous() for n, t in source.state(self.made).items()},
                         {'format': 'pt', 'written_by': 'remx convert'})
        paths.write_atomic(f'{path}.py', [self.text.encode()])

    def run(self, path, values):
        return _run_apart('torch', path, values, self.dtype)


def _class_name(name):
    text = ''.join(part[:1].upper() + part[1:] for part in name.replace('.', '_').replace('-', '_').split('_'))
    return text if text.isidentifier() else 'Network'


class _Pt2(_Torch):
    endings = ('.pt2',)

    def check(self):
        super().check()
        self.program = self.export()
        # operators of ours, which programs without remx do not have
        if any(n.op == 'call_function' and str(getattr(n.target, 'namespace', '')) == 'remx'
               for n in self.program.graph.nodes):
            names = [n.name for n in self.made.module.graph.nodes if hasattr(n.target, 'operator')
                     and _uses_own_operators(n.target.operator.function)]
            raise MXNetError(f'torch.export has no operators for {self.nodes(names)}; '
                             '--to torch has functions for them')

    def nodes(self, names):
        """Nodes of the network, by names of the torch graph."""
        kinds = {n.name: getattr(getattr(n.target, 'operator', None), 'name', '') for n in self.made.module.graph.nodes}
        return ', '.join(f'{n} ({kinds[n]})' if kinds.get(n) else n for n in names)

    def export(self):
        import warnings

        import torch
        module = self.made.module.eval()
        kind = getattr(torch, self.dtype)
        example = {n: torch.from_numpy(v) for n, v in self.example().items()}
        example = {n: x.to(kind) if x.is_floating_point() else x for n, x in example.items()}
        shapes = None
        if self.axes:
            # a batch of one would be taken for a constant
            example = {n: torch.cat((x, x), self.axes[n]) if x.dim() and x.shape[self.axes[n]] == 1 else x
                       for n, x in example.items()}
            lengths = {x.shape[self.axes[n]] for n, x in example.items() if x.dim()}
            batch: Any = torch.export.Dim('batch', min=1, max=65536) if len(lengths) == 1 else torch.export.Dim.AUTO
            shapes = tuple({self.axes[n]: batch} if x.dim() else None for n, x in example.items())
        logger = logging.getLogger('torch')
        level = logger.level
        logger.setLevel(logging.CRITICAL)           # what fails is an error with the node's name, below
        try:
            with warnings.catch_warnings(), torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), \
                    contextlib.redirect_stderr(io.StringIO()):
                warnings.simplefilter('ignore')
                return torch.export.export(module, tuple(example.values()), dynamic_shapes=shapes)
        except Exception as error:
            if isinstance(error, MXNetError):
                raise
            where = re.findall(r'While executing %(\w+)', str(error))
            raise MXNetError(f'torch.export cannot take {self.nodes(where) or "the network"}: '
                             f'{str(error).strip().splitlines()[0]}') from error
        finally:
            logger.setLevel(level)

    def write(self, path):
        import warnings

        import torch
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter('ignore')
            self.save(self.program, f'{path}.pt2')

    def save(self, program, path):
        from .._torch.tools import aoti_compile_and_package
        aoti_compile_and_package(program, package_path=path)

    def run(self, path, values):
        return _run_apart('pt2', path, values, self.dtype)


def _uses_own_operators(function, seen=None):
    """Whether a function calls operators of `torch.ops.remx`, itself or by functions of ours."""
    from .._ops.core.library import CHECKS, KERNELS
    seen = set() if seen is None else seen
    seen.add(function)
    for name in getattr(getattr(function, '__code__', None), 'co_names', ()):
        found = function.__globals__.get(name)
        if isinstance(found, typing.Hashable) and found in KERNELS:
            if found in CHECKS:         # which are left out while torch exports
                continue
            return True
        if inspect.isfunction(found) and found not in seen and found.__module__.startswith('mxnet.') \
                and _uses_own_operators(found, seen):
            return True
    return False


class _Exported(_Pt2):
    """The graph of `torch.export` without compiled code."""

    def save(self, program, path):
        import torch
        torch.export.save(program, path)

    def run(self, path, values):
        return _run_apart('exported', path, values, self.dtype)


class _Onnx(_Target):
    endings = ('.onnx',)

    def check(self):
        from .._graph.ir.node import topological
        from ..onnx.mx2onnx._export import _check_operators
        _check_operators(topological(self.model.symbol._entries))

    def write(self, path):
        from ..onnx import export_model
        model = self.model
        kinds = [np.dtype(self.dtype) if model.dtypes[n] == np.float32 else model.dtypes[n] for n in model.inputs]
        lengths = [tuple('batch' if axis == self.axes.get(n) else length for axis, length in enumerate(self.shapes[n]))
                   for n in model.inputs]
        export_model(model.symbol, self.arrays(), [self.shapes[n] for n in model.inputs], kinds, f'{path}.onnx',
                     dynamic=bool(self.axes), dynamic_input_shapes=lengths if self.axes else None)

    def run(self, path, values):
        values = {n: v.astype(self.dtype) if v.dtype == np.float32 else v for n, v in values.items()}
        if importlib.util.find_spec('onnxruntime') is not None:
            return _run_apart('onnx', path, values, json.dumps(list(values)))
        from ..contrib.onnx import import_model
        symbol, arguments, states = import_model(f'{path}.onnx')
        again = _networks.Network(symbol, {**arguments, **states}, path)
        return _predict(again.module(), [values[n] for n in again.inputs])


class _Safetensors(_Target):
    endings = ('.safetensors',)

    def write(self, path):
        import torch

        from .._files import safetensors
        kind = getattr(torch, self.dtype)
        tensors = {n: a.to_torch().contiguous() for n, a in self.model.arrays.items()}
        safetensors.save(f'{path}.safetensors', {n: t.to(kind) if t.dtype is torch.float32 else t
                                                 for n, t in tensors.items()}, {'written_by': 'remx convert'})

    def run(self, path, values):
        from .._files import safetensors
        from ..ndarray import from_torch
        arrays = {n: from_torch(t.float() if t.is_floating_point() else t)
                  for n, t in safetensors.load(f'{path}.safetensors').items()}
        again = _networks.Network(self.model.symbol, arrays, path)
        return _predict(again.module(), [values[n] for n in again.inputs])


class _Checkpoint(_Target):
    endings = ('-symbol.json', '-0000.params')
    labels = False          # whether the graph keeps its labels

    def write(self, path):
        from .. import ndarray
        symbol = self.model.whole if self.labels else self.model.symbol
        symbol.save(f'{path}-symbol.json')
        states = set(symbol.list_auxiliary_states())
        ndarray.save(f'{path}-0000.params',
                     {f'{"aux" if n in states else "arg"}:{n}': a for n, a in self.arrays().items()})

    def run(self, path, values):
        from .. import ndarray
        from ..gluon import SymbolBlock
        block = SymbolBlock.imports(f'{path}-symbol.json', self.model.inputs, f'{path}-0000.params')
        kinds = {n: self.dtype if v.dtype == np.float32 else v.dtype for n, v in values.items()}
        result = block(*[ndarray.array(v, dtype=kinds[n]) for n, v in values.items()])
        return [r.astype('float32').asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])]


class _Symbol(_Checkpoint):
    labels = True


_TARGETS = {'torch': _Torch, 'pt2': _Pt2, 'onnx': _Onnx, 'safetensors': _Safetensors, 'gluon': _Checkpoint,
            'symbol': _Symbol}
