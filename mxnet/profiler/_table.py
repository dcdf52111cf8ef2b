"""Sums of what was measured, and how they are printed."""
import json

SORTS = {'total': 'Total', 'avg': 'Avg', 'min': 'Min', 'max': 'Max', 'count': 'Count'}


class _Sum:
    __slots__ = ('count', 'total', 'least', 'most', 'last')

    def __init__(self):
        self.count, self.total, self.least, self.most, self.last = 0, 0.0, float('inf'), float('-inf'), 0.0

    def add(self, value):
        self.count += 1
        self.total += value
        self.least, self.most, self.last = min(self.least, value), max(self.most, value), value

    def numbers(self):
        return {'Count': self.count, 'Total': round(self.total, 4), 'Min': round(self.least, 4),
                'Max': round(self.most, 4), 'Avg': round(self.total / self.count, 4)}


class Statistics:
    """Times in milliseconds and memory in kB, by category and name; values of counters."""

    def __init__(self):
        self.time: dict[str, dict[str, _Sum]] = {}
        self.memory: dict[str, dict[str, _Sum]] = {}
        self.counters: dict[str, dict[str, _Sum]] = {}

    @staticmethod
    def _add(table, category, name, value):
        table.setdefault(category, {}).setdefault(name, _Sum()).add(value)

    def add_time(self, category, name, microseconds):
        self._add(self.time, category, name, microseconds / 1e3)

    def add_counter(self, category, name, value):
        self._add(self.counters, category, name, value)

    def add_trace(self, trace):
        """Counts the spans of a trace."""
        for span in trace.spans:
            outer = span.parent.operator() if span.parent is not None else None
            if span.kind == 'custom':
                self.add_time('Custom Operator', f'{span.name}::pure_python', max(0.0, span.length - span.inner))
            elif outer is not None and outer.kind == 'custom' and span.kind == 'operator':
                self.add_time('Custom Operator', f'{outer.name}::{span.name}', span.time)
            else:
                self.add_time(span.kind, span.name, span.time)
            if span.layer and span.kind != 'block':
                way = 'layer, backward' if span.name.startswith('_backward_') else 'layer, forward'
                self.add_time(way, span.layer, span.time)
            if span.bytes and span.kind in ('operator', 'custom'):
                self._add(self.memory, 'Allocated by operator', span.name, span.bytes / 1024)
        for device, size in trace.memory:
            self._add(self.memory, 'Device Storage', f'Memory: {device}', size / 1024)

    # ------------------------------------------------------------------ printing
    @staticmethod
    def _sorted(sums, sort_by, ascending):
        key = SORTS[sort_by]
        rows = [(name, one.numbers()) for name, one in sums.items()]
        return sorted(rows, key=lambda row: row[1][key], reverse=not ascending)

    def as_json(self, sort_by, ascending):
        content: dict = {'Time': {}, 'Memory': {}}
        for category in sorted(self.time):
            content['Time'][category] = dict(self._sorted(self.time[category], sort_by, ascending))
        for category in sorted(self.memory):
            rows = self._sorted(self.memory[category], sort_by, ascending)
            content['Memory'][category] = {n: {k: v for k, v in row.items() if k != 'Total'} for n, row in rows}
        if self.counters:
            content['Counter'] = {category: {name: {**one.numbers(), 'Last': one.last} for name, one in sums.items()}
                                  for category, sums in sorted(self.counters.items())}
        content['Unit'] = {'Time': 'ms', 'Memory': 'kB'}
        return json.dumps(content, indent=4)

    def as_table(self, sort_by, ascending):
        lines = ['', 'Profile Statistics:', '\tNote the difference in units for different entries.']
        for category in sorted(self.memory):
            columns = {'Count': 'Total Count', 'Min': 'Min Use (kB)', 'Max': 'Max Use (kB)', 'Avg': 'Avg Use (kB)'}
            lines += _section(category, columns, self._sorted(self.memory[category], sort_by, ascending))
        for category in sorted(self.counters):
            columns = {'Count': 'Total Count', 'Min': 'Min Value', 'Max': 'Max Value', 'Last': 'Last Value'}
            rows = [(name, {**one.numbers(), 'Last': one.last}) for name, one in self.counters[category].items()]
            lines += _section(f'{category}, counters', columns, rows)
        for category in sorted(self.time):
            columns = {'Count': 'Total Count', 'Total': 'Time (ms)', 'Min': 'Min Time (ms)', 'Max': 'Max Time (ms)',
                       'Avg': 'Avg Time (ms)'}
            lines += _section(category, columns, self._sorted(self.time[category], sort_by, ascending))
        return '\n'.join([*lines, ''])


def _section(title, columns, rows):
    width = max([24, *[len(name) for name, _ in rows]]) + 1
    lines = [title, '=================', f'{"Name":<{width}}' + ''.join(f'{c:>17}' for c in columns.values()),
             f'{"----":<{width}}' + ''.join(f'{"-" * len(c):>17}' for c in columns.values())]
    for name, numbers in rows:
        values = ''.join(f'{numbers[c]:>17}' if c == 'Count' else f'{numbers[c]:>17.4f}' for c in columns)
        lines.append(f'{name:<{width}}{values}')
    return [*lines, '']
