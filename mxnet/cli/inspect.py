"""`remx inspect FILE`: what is in the files of MXNet, as a table.

What a file is, its bytes tell; its name does not matter.  Nothing in it is executed.  A damaged file is shown as far as
it can be read, and its problems are named with their place.
"""
from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import pickletools
import struct
import sys
from dataclasses import dataclass, field
from typing import Any, Self

from .._files import jsons, limits, paths
from ..base import MXNetError
from . import _summary

EXPLAIN = """Shows what is in a file: records (.rec, .idx), arrays (.params, .safetensors), a network (-symbol.json) or
the states of an optimizer (.states). Damage is reported with its position, and the exit status is then 1.

--summary shows what the layers of a network cost: parameters, multiply-adds, activations, size, time and memory. Two
networks are shown side by side: remx inspect --summary before after --shape data=16,3,64,64"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    add = parser.add_argument
    add('file', metavar='FILE', nargs='+', help='a file, or a URL of one (s3://, ...); with --summary one or two '
        'networks: PREFIX of a checkpoint, or an .onnx file')
    add('--rows', type=int, metavar='N', help='rows of the table (20; with --summary all); 0: all')
    add('--sheet', metavar='OUT.png', help='draw the images of a .rec file on one sheet, with their labels')
    add('--thumbnails', type=int, default=64, metavar='N', help='images on the sheet (default: 64)')
    add('--json', action='store_true', help='print one JSON object')
    _summary.add_arguments(parser.add_argument_group('summary of a network'))


def inspect(options: Any) -> int:
    """Runs the command; returns its exit status."""
    if options.summary:
        return _summary.show(options)
    try:
        if len(options.file) > 1:
            raise MXNetError(f'one file at a time, not {len(options.file)}; two networks are compared with --summary')
        [options.file] = options.file
        rows = 20 if options.rows is None else options.rows
        report = examine(options.file, rows if rows > 0 else None)
        if options.sheet:
            report.summary['sheet'] = _sheet(report, options)
    except (MXNetError, ImportError) as error:
        print(limits.printable(f'remx inspect: {error}'), file=sys.stderr)
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


class Problems(list):
    """What is wrong with a file: the first thousand of it, and how much more there is."""

    more = 0

    def append(self, problem: Any) -> None:
        if len(self) < 1000:
            super().append(problem)
        else:
            self.more += 1

    def extend(self, problems: Any) -> None:
        for problem in problems:
            self.append(problem)

    def __iadd__(self, problems: Any) -> Self:  # type: ignore[misc]
        self.extend(problems)
        return self

    def all(self) -> Any:
        return [*self, f'... and {self.more} more'] if self.more else list(self)


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
    problems: Problems = field(default_factory=Problems)

    def row(self, *values: Any) -> None:
        """Adds a row, if there is room for it."""
        if self.limit is not None and len(self.rows) >= self.limit:
            self.more += 1
        else:
            self.rows.append(values)

    def as_dict(self) -> Any:
        return {'file': self.file, 'kind': self.kind, 'summary': self.summary, 'problems': self.problems.all(),
                'rows': [dict(zip(self.columns, row, strict=True)) for row in self.rows], 'more_rows': self.more}


def render(report: Any) -> str:
    """A report as text.  What a terminal would act upon is escaped: names come from whoever made the file."""
    return '\n'.join(map(limits.printable, _lines(report)))


def _lines(report):
    lines = [f'{report.file}: {report.kind}']
    width = max((len(name) for name in report.summary), default=0)
    lines += [f'  {name:{width}}  {text}' for name, text in report.summary.items()]
    if report.rows:
        table = [report.columns, *([limits.printable(_cell(value)) for value in row] for row in report.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        right = [not isinstance(value, str) for value in report.rows[0]]
        lines.append('')
        for row in table:
            cells = zip(row, widths, right, strict=True)
            lines.append('  '.join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in cells).rstrip())
        if report.more:
            lines.append(f'... and {report.more} more; --rows 0 shows all')
    if report.problems:
        lines += ['', 'problems', *(f'  {problem}' for problem in report.problems.all())]
    return lines


def _cell(value):
    if isinstance(value, float):
        return f'{value:.6g}'
    return '' if value is None else str(value)


_RECORDS, _SAFETENSORS = 'records', 'arrays (safetensors)'


def examine(path: Any, limit: Any = None) -> Report:
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
    raise MXNetError(f'{path}: unrecognised file format: it begins with {head[:16]!r}')


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
    from .._files import safetensors
    report.columns = ('name', 'shape', 'dtype', 'bytes')
    entries, problems = safetensors.survey(path)
    for entry in entries:
        report.row(entry.name, entry.shape, entry.dtype, entry.end - entry.begin)
    report.summary['arrays'] = f'{len(entries)}'
    report.problems += problems


# ---------------------------------------------------------------------- networks
def _symbol(path, report):
    report.columns = ('number', 'name', 'operator', 'inputs', 'attributes')
    try:
        graph = jsons.load(paths.read_bytes(path), 'the file')
    except MXNetError as error:
        report.problems.append(str(error).removeprefix('the file: '))
        return
    nodes = graph.get('nodes') if isinstance(graph, dict) else None
    if not isinstance(nodes, list):
        raise MXNetError(f'{path}: JSON, but not of a network: it has no "nodes"')
    names = []
    for number, node in enumerate(nodes):
        name = node.get('name') if isinstance(node, dict) else None
        if not isinstance(name, str):
            report.problems.append(f'node {number}: expected a dictionary with a text as its name, found '
                                   f'{jsons.shown(name if isinstance(node, dict) else node)}')
        names.append(name if isinstance(name, str) else '?')
    kinds: collections.Counter[str] = collections.Counter()
    for number, node in enumerate(nodes):
        if isinstance(node, dict):
            operator = node.get('op')
            if not isinstance(operator, str):
                report.problems.append(f'node {number} ({names[number]}): expected a text as its op, found '
                                       f'{jsons.shown(operator)}')
                operator = '?'
            if operator != 'null':
                kinds[operator] += 1
            report.row(number, names[number], '' if operator == 'null' else operator,
                       ', '.join(_entries(node.get('inputs', []), names[:number], f'node {number} ({names[number]})',
                                          report.problems)), _written(node, number, report.problems))
    _written_by(graph, report)
    variables = graph.get('arg_nodes')
    report.summary['nodes'] = f'{len(nodes)}' + (f', of which {len(variables)} are variables'
                                                 if isinstance(variables, list) else '')
    report.summary['operators'] = ', '.join(f'{n} {kind}' for kind, n in kinds.most_common()) or 'none'
    report.summary['outputs'] = ', '.join(_entries(graph.get('heads', []), names, 'the heads', report.problems))


def _entries(entries, names, who, problems):
    """What inputs of a node, or heads, are called; what they cannot mean is noted."""
    found = []
    for entry in entries if isinstance(entries, list) else [entries]:
        if not isinstance(entry, list) or len(entry) < 2 or any(type(n) is not int for n in entry):
            problems.append(f'{who}: expected [node, output], found {jsons.shown(entry)}')
        elif not 0 <= entry[0] < len(names):
            problems.append(f'{who} takes node {entry[0]}, which does not come before it' if who.startswith('node')
                            else f'{who} name node {entry[0]}, which does not exist')
        else:
            found.append(names[entry[0]] + (f'[{entry[1]}]' if entry[1] else ''))
    return found


def _written(node, number, problems):
    attributes = node.get('attrs') or node.get('attr') or node.get('param') or {}
    if not isinstance(attributes, dict):
        problems.append(f'node {number}: expected a dictionary of attributes, found {jsons.shown(attributes)}')
        return ''
    return ', '.join(f'{key}={value if isinstance(value, str) else jsons.shown(value)}'[:_LONG]
                     for key, value in attributes.items())[:4 * _LONG]


def _written_by(graph, report):
    notes = graph.get('attrs')
    version = notes.get('mxnet_version') if isinstance(notes, dict) else None
    if isinstance(version, list) and len(version) == 2 and type(version[1]) is int and 0 <= version[1] < 10 ** 8:
        number = version[1]
        report.summary['written by'] = f'MXNet {number // 10000}.{number // 100 % 100}.{number % 100}'
    elif version is not None:
        report.problems.append(f'mxnet_version: expected ["int", number], found {jsons.shown(version)}')


_LONG = 200             # characters of an attribute, or of a state, that are shown


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
        report.row(_brief(key), _state(state))
    report.summary['states'] = f'{len(found)}'
    if optimizer is not None:
        report.summary['optimizer'] = type(optimizer).__name__
        own = getattr(optimizer, '__dict__', {})
        plain = {k: v for k, v in sorted(own.items(), key=lambda pair: str(pair[0])) if isinstance(k, str)
                 and isinstance(v, (bool, int, float, str))}
        report.summary['settings'] = ', '.join(f'{key}={_brief(value)}' for key, value in plain.items())


def _last_step(data):
    """Where the last whole instruction of a pickle begins."""
    position = 0
    with contextlib.suppress(Exception):            # it is damaged: any of them may come
        for _, _, at in pickletools.genops(data):
            position = at or 0
    return position


def _state(value):
    """The text of a state; it ends where it is long enough, however much of the state is left."""
    text, waiting = '', [value]
    while waiting and len(text) < _LONG:
        part = waiting.pop()
        if isinstance(part, _Mark):
            text += part.text
        elif isinstance(part, (tuple, list)):
            text += '('
            waiting.append(_Mark(')'))
            for number in reversed(range(min(len(part), _LONG))):
                waiting += [part[number]] if number == 0 else [part[number], _Mark(', ')]
        else:
            text += _one_state(part)
    return text if not waiting else text[:_LONG] + ' ...'


@dataclass
class _Mark:
    text: str


def _one_state(value):
    if hasattr(value, 'shape') and hasattr(value, 'dtype'):
        import numpy
        try:
            return f'{numpy.dtype(value.dtype).name} {list(value.shape)}'
        except AttributeError:                      # an array that never got its contents
            return f'a {type(value).__name__} without contents'
    return _brief(value)


def _brief(value):
    """A short text of a value, none of which may take long to write."""
    if isinstance(value, (str, bytes, bytearray)):
        return str(value[:60]) if isinstance(value, str) else repr(bytes(value[:60]))
    if value is None or isinstance(value, (bool, float, complex)):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if value.bit_length() < 200 else f'a number of {value.bit_length()} bits'
    if isinstance(value, tuple) and len(value) < 8:
        return '(' + ', '.join(_brief(part) if not isinstance(part, tuple) else '(...)' for part in value) + ')'
    return f'a {type(value).__name__}' + (f' of {len(value)}' if isinstance(value, (dict, set, frozenset, tuple, list))
                                          else '')


# ---------------------------------------------------------------------- MNIST's files
def _ubyte(path, report):
    data = paths.read_bytes(path)
    count = data[3]
    if len(data) < 4 + 4 * count:
        report.problems.append(f'byte {len(data)}: the lengths of {count} axes are expected, but the file ends')
        return
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
    (lambda head, size: head[:3] == b'\0\0\x08' and b'\1' <= head[3:4] <= b'\4', "bytes in MNIST's format", _ubyte),
    (lambda head, size: size > 8 and head[8:9] == b'{' and struct.unpack_from('<Q', head)[0] < size, _SAFETENSORS,
     _safetensors),
    (lambda head, size: head.lstrip()[:1] == b'{', 'a network', _symbol),
    (lambda head, size: head[:1] == b'\x80', 'states of an optimizer', _states),
    (_looks_like_index, 'an index of records', _index),
)
