"""`remx inspect --summary`: what each layer of a network costs, counted and measured; two networks side by side."""
from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from .._files import limits
from ..base import MXNetError

NO_PICTURE = '--picture needs matplotlib: pip install "remx[plot]"'
_COLUMNS = ('parameters', 'multiply_adds', 'activations', 'bytes', 'milliseconds', 'peak_bytes')
_HEADS = {'parameters': 'parameters', 'multiply_adds': 'multiply-adds', 'activations': 'activations', 'bytes': 'size',
          'milliseconds': 'ms', 'peak_bytes': 'peak memory'}


def add_arguments(group: Any) -> None:
    """The options of `--summary`."""
    add = group.add_argument
    add('--summary', action='store_true', help='show what the layers of one or two networks cost')
    add('--shape', action='append', default=[], metavar='NAME=1,3,224,224', help='the shape of an input')
    add('--epoch', type=int, help='the epoch of the parameters (default: the last one)')
    add('--network', metavar='MODULE:FUNCTION', help='for a .params file: the function that makes the Gluon block')
    add('--repeat', type=int, default=5, metavar='N', help='runs, of which the fastest counts (5); 0 measures nothing')
    add('--picture', metavar='OUT.png', help='draw the largest layers')


@dataclass
class Layer:
    """One operator of a network."""

    name: str
    operator: str
    shape: list[int]
    parameters: int = 0
    multiply_adds: int = 0
    activations: int = 0
    bytes: int = 0                          # of the parameters
    milliseconds: float | None = None
    peak_bytes: int | None = None           # values and temporary memory alive while it runs, without parameters


@dataclass
class Summary:
    """A network, its layers and their sums."""

    source: str
    inputs: dict[str, list[int]]
    file_bytes: int
    layers: list[Layer] = field(default_factory=list)
    predict_milliseconds: float | None = None       # of the whole network as `hybridize` runs it

    def total(self, column: str) -> Any:
        values = [getattr(layer, column) for layer in self.layers]
        if any(v is None for v in values):
            return None
        return max(values, default=0) if column == 'peak_bytes' else sum(values)

    def as_dict(self) -> dict[str, Any]:
        return {'source': self.source, 'inputs': self.inputs, 'file_bytes': self.file_bytes,
                'predict_milliseconds': self.predict_milliseconds,
                'totals': {c: self.total(c) for c in _COLUMNS}, 'layers': [asdict(layer) for layer in self.layers]}


def show(options: Any) -> int:
    """Runs the command; returns its exit status."""
    try:
        if len(options.file) > 2:
            raise MXNetError(f'--summary takes one or two networks, not {len(options.file)}')
        if options.repeat < 0:
            raise MXNetError(f'--repeat {options.repeat}: it must not be negative')
        found = summaries(options.file, options)
        if options.picture:
            draw(found, options.picture)
    except (MXNetError, ImportError, OSError) as error:
        print(limits.printable(f'remx inspect: {error}'), file=sys.stderr)
        return 1
    try:
        if options.json:
            print(json.dumps({'networks': [s.as_dict() for s in found], 'ratios': ratios(found)}, indent=1))
        else:
            print('\n'.join(map(limits.printable, lines(found, options.rows))))
    except BrokenPipeError:         # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def summaries(sources: list[str], options: Any) -> list[Summary]:
    """The summaries of networks, measured in turns."""
    from ._convert import parse_shapes
    given = parse_shapes(options.shape)
    found, runs = [], []
    from . import _networks
    for source in sources:
        network = _networks.load(source, options.epoch, network=options.network, shapes=given)
        shapes = network.shapes if options.network else network.check_shapes(given)
        files = sum(os.path.getsize(f) for f in network.files if os.path.exists(f))
        summary = Summary(source, {n: list(s) for n, s in shapes.items()}, files)
        run = _Run(network, shapes)
        summary.layers = run.count()
        found.append(summary)
        runs.append(run)
    if options.repeat:
        for _ in range(options.repeat):
            for run in runs:
                run.measure()
        for run, summary in zip(runs, found, strict=True):
            run.finish(summary)
    return found


class _Run:
    """The layers of a network, run one by one; and the network as a whole."""

    def __init__(self, network: Any, shapes: Any) -> None:
        from .._graph.ir.node import uniquely_named
        from .._graph.ir.program import Program
        self.network, self.shapes = network, shapes
        self._entries = uniquely_named(network.symbol._entries)
        self.program = Program(self._entries)
        self._values = network.example(shapes)
        self._times: dict[Any, float] = {}
        self._whole = math.inf
        self._block: Any = None
        self.layers: list[Layer] = []

    def count(self) -> list[Layer]:
        """The layers with what can be counted."""
        from .._graph.infer.inference import complete, infer
        from .._graph.ir.node import topological
        network = self.network
        facts = infer(self._entries, {**{n: a.shape for n, a in network.arrays.items()}, **self.shapes}, {})
        counted = set()
        for node in topological(self._entries):
            if node.is_variable:
                continue
            shape = facts.shape((node, 0))
            if not complete(shape):
                raise MXNetError(f'the shape of {node.name} does not follow from those of the inputs')
            layer = Layer(node.name, node.op.name, list(shape))
            for child, _ in node.inputs:
                if child.is_variable and child.name in network.arrays and child.name not in counted:
                    counted.add(child.name)
                    own = network.arrays[child.name]
                    layer.parameters += own.size
                    layer.bytes += own.size * _width(own.dtype)
            outputs = [facts.shape((node, i)) for i in range(node.visible_count())]
            layer.activations = sum(math.prod(s) for s in outputs if complete(s))
            layer.multiply_adds = multiply_adds(node, [facts.shape(e) for e in node.inputs], shape)
            self.layers.append(layer)
        return self.layers

    # ------------------------------------------------------------------ measuring
    def _tensors(self):
        import torch
        arrays = self.network.arrays
        return [arrays[v.name].materialize() if v.name in arrays else torch.from_numpy(self._values[v.name])
                for v in self.program.variables]

    def _run_layers(self, monitor):
        import torch
        with torch.no_grad():
            self.program.run(self._tensors(), training=False, generator=lambda device: torch.Generator(device),
                             device=torch.device('cpu'), monitor=monitor)

    def measure(self) -> None:
        """One run by layers and one of the whole."""
        clock = _Clock()
        self._run_layers(clock)
        for name, seconds in clock.times.items():
            self._times[name] = min(self._times.get(name, math.inf), seconds)
        if self._block is None:
            from .. import ndarray
            self._block = self.network.module()
            self._block.hybridize(static_alloc=True, static_shape=True)
            self._arrays = [ndarray.array(self._values[n], dtype=self._values[n].dtype) for n in self.network.inputs]
            for _ in range(3):
                self._predict()
        start = time.perf_counter()
        self._predict()
        self._whole = min(self._whole, time.perf_counter() - start)

    def _predict(self):
        result = self._block(*self._arrays)
        for one in result if isinstance(result, (list, tuple)) else [result]:
            one.wait_to_read()

    def finish(self, summary: Summary) -> None:
        """Writes times and memory into a summary."""
        peaks = self._peaks()
        for layer in summary.layers:
            layer.milliseconds = 1000 * self._times.get(layer.name, 0.0)
            layer.peak_bytes = peaks.get(layer.name, 0)
        summary.predict_milliseconds = 1000 * self._whole

    def _peaks(self):
        """{layer: the most bytes that were allocated since the run began, while it ran}, as torch's profiler saw it."""
        import torch
        ranges = _Ranges()
        os.environ.setdefault('KINETO_LOG_LEVEL', '6')          # torch's profiler writes to the standard error
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True,
                                    acc_events=True) as profiler:
            self._run_layers(ranges)
        handle, path = tempfile.mkstemp(suffix='.json')
        os.close(handle)
        try:
            profiler.export_chrome_trace(path)
            with open(path, encoding='utf-8') as file:
                events = json.load(file)['traceEvents']
        finally:
            os.unlink(path)
        spans = sorted((e['ts'], e['ts'] + e['dur'], unquote(e['name'][len(_MARK):])) for e in events
                       if e.get('ph') == 'X' and e['name'].startswith(_MARK))
        memory = sorted((e['ts'], e['args'].get('Bytes', 0)) for e in events if e.get('name') == '[memory]')
        peaks: dict[str, int] = {}
        alive = at = 0
        for begin, end, name in spans:
            while at < len(memory) and memory[at][0] < begin:
                alive += memory[at][1]
                at += 1
            most = alive
            while at < len(memory) and memory[at][0] <= end:
                alive += memory[at][1]
                most = max(most, alive)
                at += 1
            peaks[name] = max(peaks.get(name, 0), most)
        return peaks


_MARK = 'remx layer: '


class _Clock:
    """A monitor that times each node."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self._begin = 0.0

    def inputs(self, node: Any, tensors: Any) -> Any:
        self._begin = time.perf_counter()
        return tensors

    def output(self, node: Any, number: int, tensor: Any) -> None:
        if number == 0:
            self.times[node.name] = time.perf_counter() - self._begin


class _Ranges:
    """A monitor that opens a range of the profiler around each node."""

    def __init__(self) -> None:
        self._open: Any = None

    def inputs(self, node: Any, tensors: Any) -> Any:
        import torch
        self._open = torch.profiler.record_function(_MARK + quote(node.name))      # torch's JSON escapes nothing
        self._open.__enter__()
        return tensors

    def output(self, node: Any, number: int, tensor: Any) -> None:
        if number == 0:
            self._open.__exit__(None, None, None)


def _width(dtype):
    import numpy
    return numpy.dtype(dtype).itemsize


def multiply_adds(node: Any, inputs: list[Any], output: Any) -> int:
    """Products that are added up, in layers that are made of them: convolutions, dense and recurrent layers, `dot`."""
    name, attributes = node.op.name, node.attributes
    size = math.prod(output)
    if name in ('Convolution', 'Convolution_v1', '_contrib_quantized_conv', '_contrib_DeformableConvolution',
                '_contrib_ModulatedDeformableConvolution'):
        weight = inputs[2 if 'Deformable' in name and 'Mod' not in name else 3 if 'Mod' in name else 1]
        return size * math.prod(weight[1:])
    if name == 'Deconvolution':
        return math.prod(inputs[0]) * math.prod(inputs[1][1:])
    if name in ('FullyConnected', '_contrib_quantized_fully_connected'):
        return size * inputs[1][1]
    if name in ('dot', 'batch_dot', '_npi_matmul', '_linalg_gemm2', '_linalg_gemm'):
        left = inputs[0]
        turned = attributes.get('transpose_a', False)
        return size * (left[0] if turned and name == 'dot' else left[-2] if turned else left[-1])
    if name == 'RNN':
        gates = {'lstm': 4, 'gru': 3}.get(attributes['mode'], 1)
        length, batch, width = inputs[0]
        hidden, ways = attributes['state_size'], 2 if attributes['bidirectional'] else 1
        return sum(length * batch * ways * gates * hidden * ((width if layer == 0 else hidden * ways) + hidden)
                   for layer in range(attributes['num_layers']))
    return 0


# ---------------------------------------------------------------------- showing
def ratios(found: list[Summary]) -> dict[str, float | None]:
    """The second network's sums in parts of the first's."""
    if len(found) < 2:
        return {}
    first, second = found
    pairs = {c: (first.total(c), second.total(c)) for c in _COLUMNS}
    pairs['file_bytes'] = first.file_bytes, second.file_bytes
    pairs['predict_milliseconds'] = first.predict_milliseconds, second.predict_milliseconds
    return {c: (b / a if a and b is not None else None) for c, (a, b) in pairs.items()}


def _text(column, value):
    if value is None:
        return ''
    if column in ('bytes', 'peak_bytes', 'file_bytes'):
        return f'{value / 1024:,.1f} kB' if value < 1 << 20 else f'{value / (1 << 20):,.1f} MB'
    return f'{value:,.3f}' if 'milliseconds' in column else f'{value:,}'


def lines(found: list[Summary], rows: int | None = None) -> list[str]:
    """The table as text."""
    measured = found[0].predict_milliseconds is not None
    columns = [c for c in _COLUMNS if measured or c not in ('milliseconds', 'peak_bytes')]
    if len(found) == 2:
        columns = [c for c in columns if c not in ('activations', 'bytes')]
    out = [f'{s.source}: ' + ', '.join(f'{n} {tuple(shape)}' for n, shape in s.inputs.items()) for s in found]
    by_name = [{layer.name: layer for layer in s.layers} for s in found]
    names = list(dict.fromkeys(name for layers in by_name for name in layers))
    heads = ['layer', 'operator', 'output']
    for c in columns:
        heads += [_HEADS[c]] if len(found) == 1 else [_HEADS[c], 'after']
    table = [heads]
    for name in names:
        layers = [own.get(name) for own in by_name]
        known = next(layer for layer in layers if layer is not None)
        shape = ' > '.join(dict.fromkeys('x'.join(map(str, layer.shape)) for layer in layers if layer is not None))
        table.append([name, known.operator, shape, *[_text(c, getattr(layer, c)) if layer is not None else '-'
                                                     for c in columns for layer in layers]])
    limit = rows if rows and rows > 0 else None
    left = len(table) - 1 - limit if limit is not None else 0
    table = table[:None if limit is None else limit + 1]
    table.append(['all', '', '', *[_text(c, s.total(c)) for c in columns for s in found]])
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    out.append('')
    for number, row in enumerate(table):
        if number == len(table) - 1:
            if left > 0:
                out.append(f'... and {left} more; --rows 0 shows all')
            out.append('-' * (sum(widths) + 2 * (len(widths) - 1)))
        out.append('  '.join(cell.ljust(w) if i < 3 else cell.rjust(w)
                             for i, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip())
    out.append('')
    for label, column in (('size on disk', 'file_bytes'), ('one prediction, hybridized', 'predict_milliseconds')):
        values = [getattr(s, column) for s in found]
        if values[0] is not None:
            unit = ' ms' if column == 'predict_milliseconds' else ''
            out.append(f'{label}: ' + ' > '.join(_text(column, v) + unit for v in values))
    if len(found) == 2:
        called = {**_HEADS, 'bytes': 'size of parameters', 'file_bytes': 'size on disk',
                  'milliseconds': 'time of layers', 'predict_milliseconds': 'time of a prediction'}
        parts = [f'{called[c]} {r:.2f}' for c, r in ratios(found).items() if r is not None]
        out.append('after / before: ' + ', '.join(parts))
    return out


def draw(found: list[Summary], path: str, most: int = 25) -> None:
    """The layers that cost most as bars."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MXNetError(NO_PICTURE) from None
    columns = [c for c in ('parameters', 'multiply_adds', 'milliseconds', 'peak_bytes')
               if found[0].total(c) is not None]
    weight = {layer.name: (layer.multiply_adds, layer.parameters) for s in found for layer in s.layers}
    names = list(dict.fromkeys(layer.name for s in found for layer in s.layers))
    shown = sorted(names, key=lambda n: weight[n], reverse=True)[:most]
    shown = [n for n in names if n in set(shown)]
    figure = Figure(figsize=(3 + 2.6 * len(columns), 1.2 + 0.26 * len(shown)), layout='constrained')
    axes = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    scale = {'peak_bytes': 1 / (1 << 20)}
    height = 0.8 / len(found)
    for ax, column in zip(axes, columns, strict=True):
        for number, summary in enumerate(found):
            own = {layer.name: layer for layer in summary.layers}
            values = [(getattr(own[n], column) if n in own else 0) * scale.get(column, 1) for n in shown]
            ax.barh([i + height * (number - (len(found) - 1) / 2) for i in range(len(shown))], values, height,
                    label=os.path.basename(summary.source))
        ax.set_title({'peak_bytes': 'peak memory, MB', 'milliseconds': 'ms'}.get(column, _HEADS[column]),
                     fontsize='medium')
        ax.grid(axis='x', alpha=0.3)
    axes[0].set_yticks(range(len(shown)), shown, fontsize='small')
    axes[0].invert_yaxis()
    if len(found) > 1:
        axes[-1].legend(fontsize='small')
    figure.savefig(path, dpi=110)
