"""`remx inspect FILE`: what is in the files of MXNet, as a table.

What a file is, its bytes tell; its name does not matter.  Nothing in it is executed.  A damaged file is shown as far as
it can be read, and its problems are named with their place.
"""
import argparse
import collections
import contextlib
import json
import os
import pickletools
import struct
import sys
from dataclasses import dataclass, field

from .._files import paths
from ..base import MXNetError

EXPLAIN = """Shows what is in a file: records (.rec, .idx), arrays (.params, .safetensors), a network (-symbol.json) or
the states of an optimizer (.states). Damage is reported with its place; the exit status is then 1."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    add = parser.add_argument
    add('file', metavar='FILE', help='a file, or a URL of one (s3://, ...)')
    add('--rows', type=int, default=20, metavar='N', help='rows of the table (20); 0: all')
    add('--sheet', metavar='OUT.png', help='draw the pictures of a .rec file as one picture, with their labels')
    add('--thumbnails', type=int, default=64, metavar='N', help='pictures on the sheet (64)')
    add('--json', action='store_true', help='print one JSON object')


def inspect(options) -> int:
    """Runs the command; returns its exit status."""
    try:
        report = examine(options.file, options.rows if options.rows > 0 else None)
        if options.sheet:
            report.summary['sheet'] = _sheet(report, options)
    except (MXNetError, ImportError) as error:
        print(f'remx inspect: {error}', file=sys.stderr)
        return 1
    try:
        print(json.dumps(report.as_dict(), indent=1) if options.json else render(report))
    except BrokenPipeError:         # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if report.problems else 0


def _sheet(report, options):
    if report.kind != _RECORDS:
        raise MXNetError(f'--sheet is for files of records, and {options.file} is {report.kind}')
    from . import _inspect_records
    return _inspect_records.draw_sheet(options.file, options.sheet, options.thumbnails)


@dataclass
class Report:
    """What there is to say about a file."""

    file: str
    kind: str
    limit: int | None                   # of the rows that are kept
    summary: dict = field(default_factory=dict)
    columns: tuple = ()
    rows: list = field(default_factory=list)
    more: int = 0                       # rows that were left out
    problems: list = field(default_factory=list)

    def row(self, *values):
        """Adds a row, if there is room for it."""
        if self.limit is not None and len(self.rows) >= self.limit:
            self.more += 1
        else:
            self.rows.append(values)

    def as_dict(self):
        return {'file': self.file, 'kind': self.kind, 'summary': self.summary, 'problems': self.problems,
                'rows': [dict(zip(self.columns, row, strict=True)) for row in self.rows], 'more_rows': self.more}


def render(report) -> str:
    """A report as text."""
    lines = [f'{report.file}: {report.kind}']
    width = max((len(name) for name in report.summary), default=0)
    lines += [f'  {name:{width}}  {text}' for name, text in report.summary.items()]
    if report.rows:
        table = [report.columns, *([_cell(value) for value in row] for row in report.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        right = [not isinstance(value, str) for value in report.rows[0]]
        lines.append('')
        for row in table:
            cells = zip(row, widths, right, strict=True)
            lines.append('  '.join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in cells).rstrip())
        if report.more:
            lines.append(f'... and {report.more} more; --rows 0 shows all')
    if report.problems:
        lines += ['', 'problems', *(f'  {problem}' for problem in report.problems)]
    return '\n'.join(lines)


def _cell(value):
    if isinstance(value, float):
        return f'{value:.6g}'
    return '' if value is None else str(value)


_RECORDS = 'records'


def examine(path, limit=None) -> Report:
    """The report about a file."""
    with paths.open_read(path) as file, paths.reported(path, 'read'):
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(256)
    if not size:
        raise MXNetError(f'{path}: the file is empty')
    for matches, kind, look in _KINDS:
        if matches(head, size):
            report = Report(os.fspath(path), kind, limit)
            report.summary['size'] = f'{size:,} bytes'
            look(path, report)
            return report
    raise MXNetError(f'{path}: this is none of the files that remx knows: it begins with {head[:16]!r}')


# ---------------------------------------------------------------------- records
def _records(path, report):
    from . import _inspect_records
    _inspect_records.look(path, report)


def _index(path, report):
    from . import _inspect_records
    _inspect_records.look_at_index(path, report)


# ---------------------------------------------------------------------- arrays
def _arrays(path, report):
    from .._files import params
    report.columns = ('name', 'shape', 'dtype', 'storage', 'bytes', 'min', 'mean', 'max', 'note')
    found = []
    with paths.open_read(path) as file:
        names, problem = params.survey(file, os.fspath(path), lambda at, record: found.append((at, _array(record))))
    if problem:
        report.problems.append(problem)
    for i, (at, values) in enumerate(found):
        report.row(names[i] if names else f'#{i} at byte {at}', *values)
    report.summary['arrays'] = f'{len(found)}' + ('' if names or not found else ', without names')
    report.summary['numbers'] = f'{sum(_count(shape) for _, (shape, *_) in found):,}'
    kinds = collections.Counter(values[1] for _, values in found)
    report.summary['dtypes'] = ', '.join(f'{count} {kind}' for kind, count in kinds.most_common()) or 'none'


def _count(shape):
    total = 1
    for n in shape or (0,):
        total *= n
    return total


def _array(record):
    """(shape, dtype, storage, bytes, min, mean, max, note)"""
    import torch
    data = record.data
    size = sum(part.numel() * part.element_size() for part in (data, *record.aux))
    shape = None if record.shape is None else list(record.shape)
    low = mean = high = None
    note = 'no data' if record.shape is None else ''
    if data.numel() and record.shape is not None:
        values = data.to(torch.float64 if data.dtype in (torch.float64, torch.int64) else torch.float32)
        good = values[values.isfinite()] if not bool(values.isfinite().all()) else values
        if good.numel() < values.numel():
            note = f'{values.numel() - good.numel()} are NaN or infinite'
        if good.numel():
            low, high, mean = float(good.min()), float(good.max()), float(good.double().mean())
    return shape, str(data.dtype).removeprefix('torch.'), record.stype, size, low, mean, high, note


def _safetensors(path, report):
    report.columns = ('name', 'shape', 'dtype', 'bytes')
    with paths.open_read(path) as file, paths.reported(path, 'read'):
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        length = struct.unpack('<Q', file.read(8))[0]
        text = file.read(length)
    try:
        entries = json.loads(text)
    except ValueError as error:
        report.problems.append(f'byte {8 + getattr(error, "pos", 0)}: {error}')
        return
    entries.pop('__metadata__', None)
    for name, entry in entries.items():
        begin, end = entry['data_offsets']
        report.row(name, list(entry['shape']), entry['dtype'], end - begin)
        if 8 + length + end > size:
            report.problems.append(f'{name}: its values end at byte {8 + length + end}, but the file has {size}')
    report.summary['arrays'] = f'{len(entries)}'


# ---------------------------------------------------------------------- networks
def _symbol(path, report):
    report.columns = ('number', 'name', 'operator', 'inputs', 'attributes')
    data = paths.read_bytes(path)
    try:
        text = data.decode()
        graph = json.loads(text)
    except json.JSONDecodeError as error:
        report.problems.append(f'byte {len(text[:error.pos].encode())}: {error}')
        return
    except UnicodeDecodeError as error:
        report.problems.append(f'byte {error.start}: {error}')
        return
    nodes = graph.get('nodes') if isinstance(graph, dict) else None
    if not isinstance(nodes, list):
        raise MXNetError(f'{path}: JSON, but not of a network: it has no "nodes"')
    names = [node.get('name', '?') for node in nodes]
    for number, node in enumerate(nodes):
        inputs = []
        for entry in node.get('inputs', []):
            if not 0 <= entry[0] < number:
                report.problems.append(f'node {number} ({names[number]}) takes node {entry[0]}, which does not come '
                                       f'before it')
                continue
            inputs.append(names[entry[0]] + (f'[{entry[1]}]' if entry[1] else ''))
        attributes = node.get('attrs') or node.get('attr') or node.get('param') or {}
        operator = node.get('op', '?')
        report.row(number, names[number], '' if operator == 'null' else operator, ', '.join(inputs),
                   ', '.join(f'{key}={value}' for key, value in attributes.items()))
    kinds = collections.Counter(node.get('op') for node in nodes if node.get('op') != 'null')
    version = (graph.get('attrs') or {}).get('mxnet_version')
    if version:
        number = version[1]
        report.summary['written by'] = f'MXNet {number // 10000}.{number // 100 % 100}.{number % 100}'
    report.summary['nodes'] = f'{len(nodes)}, of which {len(graph.get("arg_nodes", []))} are variables'
    report.summary['operators'] = ', '.join(f'{n} {kind}' for kind, n in kinds.most_common()) or 'none'
    heads = [names[h[0]] + (f'[{h[1]}]' if h[1] else '') for h in graph.get('heads', []) if h[0] < len(names)]
    report.summary['outputs'] = ', '.join(heads)


# ---------------------------------------------------------------------- states of optimizers
def _states(path, report):
    from .._files import pickles
    from ..optimizer._updater import _classes
    data = paths.read_bytes(path)
    try:
        found = pickles.load(data, _classes(), os.fspath(path))
    except MXNetError as error:
        report.problems.append(f'behind byte {_last_step(data)}: {error}')
        return
    optimizer = None
    if isinstance(found, tuple) and len(found) == 2:
        found, optimizer = found
    if not isinstance(found, dict):
        raise MXNetError(f'{path}: a pickle, but not of the states of an optimizer: a {type(found).__name__}')
    report.columns = ('key', 'state')
    for key, state in found.items():
        report.row(str(key), _state(state))
    report.summary['states'] = f'{len(found)}'
    if optimizer is not None:
        report.summary['optimizer'] = type(optimizer).__name__
        plain = {k: v for k, v in sorted(vars(optimizer).items()) if isinstance(v, (bool, int, float, str))}
        report.summary['settings'] = ', '.join(f'{key}={value}' for key, value in plain.items())


def _last_step(data):
    """Where the last whole instruction of a pickle begins."""
    position = 0
    with contextlib.suppress(Exception):            # it is damaged: any of them may come
        for _, _, at in pickletools.genops(data):
            position = at
    return position


def _state(value):
    if isinstance(value, (tuple, list)):
        return '(' + ', '.join(_state(part) for part in value) + ')'
    if hasattr(value, 'shape') and hasattr(value, 'dtype'):
        import numpy
        return f'{numpy.dtype(value.dtype).name} {list(value.shape)}'
    return repr(value)[:60]


# ---------------------------------------------------------------------- MNIST's files
def _ubyte(path, report):
    data = paths.read_bytes(path)
    count = data[3]
    shape = list(struct.unpack_from(f'>{count}I', data, 4))
    wanted = 4 + 4 * count + _count(shape)
    report.summary['shape'] = f'{shape}, bytes'
    if len(data) != wanted:
        report.problems.append(f'byte {min(len(data), wanted)}: {wanted} bytes are expected, but there are {len(data)}')
    elif count == 1:
        classes = collections.Counter(data[8:])
        report.columns = ('label', 'how often')
        for label, often in sorted(classes.items()):
            report.row(label, often)


def _looks_like_index(head, size):
    line = head.splitlines()[0].split(b'\t') if head.splitlines() else []
    return len(line) == 2 and line[1].strip().isdigit()


_KINDS = (
    (lambda head, size: head[:4] == b'\x0a\x23\xd7\xce', _RECORDS, _records),
    (lambda head, size: head[:8] == b'\x12\x01' + bytes(6), 'arrays', _arrays),
    (lambda head, size: head[:3] == b'\0\0\x08' and 1 <= head[3] <= 4, "bytes in MNIST's format", _ubyte),
    (lambda head, size: head[8:9] == b'{' and struct.unpack_from('<Q', head)[0] < size, 'arrays (safetensors)',
     _safetensors),
    (lambda head, size: head.lstrip()[:1] == b'{', 'a network', _symbol),
    (lambda head, size: head[:1] == b'\x80', 'states of an optimizer', _states),
    (_looks_like_index, 'an index of records', _index),
)
