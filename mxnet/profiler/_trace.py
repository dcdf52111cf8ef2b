"""Reads what torch's profiler wrote, and finds in it what a user of operators and layers asks.

The file is in the format of Chrome's and Perfetto's trace viewers.  Ranges of ours (`_ranges.py`) are in it as events
among those of ATen and of the GPU.  They get their own names back; calls that torch's engine made on the way back get
the name of the operator whose gradient they compute; kernels are counted for the operator that started them.
"""
import json
from collections import defaultdict
from typing import Any

from ._ranges import decode

_KERNELS = {'kernel', 'gpu_memcpy', 'gpu_memset'}
_ENGINE = 'autograd::engine::evaluate_function: '
_DEVICES = {0: 'cpu', 1: 'gpu'}
_HAIR = 1e-3            # microseconds by which a slice that is put around another is longer at both ends


class Span:
    """One of our ranges, or the gradient of an operator, which torch's engine may compute in several pieces."""

    __slots__ = ('kind', 'name', 'layer', 'length', 'parent', 'device', 'inner', 'bytes')

    def __init__(self, kind, name, layer, length, parent=None):
        self.kind, self.name, self.layer, self.length, self.parent = kind, name, layer, length, parent
        self.device = 0.0       # microseconds of kernels
        self.inner = 0.0        # microseconds of operators that it called
        self.bytes = 0          # of memory allocated

    @property
    def time(self):
        """Microseconds: of its kernels, where there are any, else of the call; of a call of the API, that it took."""
        return self.length if self.kind == 'api' else self.device or self.length

    def operator(self):
        """The operator's span that it is, or is in."""
        span = self
        while span is not None and span.kind not in ('operator', 'custom'):
            span = span.parent
        return span


class Trace:
    """The events of one file.

    events: the list that goes into the file for people
    spans: what there is to count
    memory: [(device, bytes in use)], in order
    base: what is added to times, in nanoseconds since 1970
    """

    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            content = json.load(file)
        self.base = int(content.get('baseTimeNanoseconds', 0))
        self.spans: list[Span] = []
        self.memory: list[tuple[str, int]] = []
        events = content['traceEvents']
        threads, kernels = _by_thread(events)
        flows: dict[Any, Any] = {}
        self._ranges: dict = {}             # id of an event -> span
        for of_thread in threads:
            self._find_ranges(of_thread, flows)
        self._slices = self._find_gradients(flows)
        self._launched: dict = {}           # what a kernel says of its launch -> span
        for of_thread in threads:
            self._count(of_thread)
        for event in kernels:
            self._count_kernel(event)
        self.events = list(self._for_people(events))

    # ------------------------------------------------------------------ which call is in which
    def _find_ranges(self, events, flows):
        for event, stack in _walk(events):
            if event['ph'] == 'X':
                found = decode(event['name'])
                if found is not None:
                    outer = next((self._ranges[id(e)] for _, e in reversed(stack) if id(e) in self._ranges), None)
                    kind, name, layer = found
                    span = self._ranges[id(event)] = Span(kind, name, layer, event['dur'], outer)
                    self.spans.append(span)
            elif event.get('cat') == 'fwdbwd':
                begin, ends = flows.setdefault(event['id'], [None, []])
                if event['ph'] == 's':
                    outer = next((self._ranges[id(e)] for _, e in reversed(stack) if id(e) in self._ranges), None)
                    flows[event['id']][0] = None if outer is None else outer.operator()
                else:
                    ends += [e for _, e in stack if e['name'].startswith(_ENGINE)][:1]

    def _find_gradients(self, flows):
        """Spans for the calls of torch's engine that compute gradients of our operators, one for each call forward."""
        pairs = [(engine, forward) for forward, ends in flows.values() for engine in ends if forward is not None]
        found: dict = {}
        for engine, forward in sorted(pairs, key=lambda pair: pair[0]['ts']):
            span = found.get(id(forward))
            if span is None:
                span = found[id(forward)] = Span(forward.kind, f'_backward_{forward.name}', forward.layer, 0.0)
                self.spans.append(span)
            if id(engine) not in self._ranges:
                span.length += engine['dur']
                self._ranges[id(engine)] = span
        return [(engine, self._ranges[id(engine)]) for engine, _ in pairs]

    # ------------------------------------------------------------------ what belongs to which
    def _count(self, events):
        for event, stack in _walk(events):
            outer = next((self._ranges[id(e)] for _, e in reversed(stack) if id(e) in self._ranges), None)
            if event['ph'] != 'X':
                if event.get('name') == '[memory]':
                    self._count_memory(event, outer)
                continue
            span = self._ranges.get(id(event))
            if span is None:
                span = outer
            elif outer is not None and outer is not span:
                span.parent = outer
                caller = outer.operator()
                if caller is not None and span.kind in ('operator', 'custom'):
                    caller.inner += event['dur']
            if span is not None:
                arguments = event.get('args', {})
                self._launched['External id', arguments.get('External id')] = span
                self._launched['correlation', arguments.get('correlation')] = span

    def _count_kernel(self, event):
        arguments = event.get('args', {})
        for what in ('correlation', 'External id'):
            span = self._launched.get((what, arguments[what])) if what in arguments else None
            if span is not None:
                break
        operator = None if span is None else span.operator()
        if operator is not None:            # said of the kernel itself, which has a row far away from that of its call
            layer = {'layer': operator.layer} if operator.layer else {}
            event['args'] = {**arguments, 'operator': operator.name, **layer}
        while span is not None:
            span.device += event['dur']
            span = span.parent

    def _count_memory(self, event, span):
        arguments = event['args']
        size = arguments.get('Bytes', 0)
        self.memory.append((_device(arguments), arguments.get('Total Allocated', 0)))
        while span is not None and size > 0:
            span.bytes += size
            span = span.parent

    # ------------------------------------------------------------------ for people
    def _for_people(self, events):
        for event in events:
            name = event.get('name', '')
            found = decode(name) if isinstance(name, str) else None
            if found is None:
                yield event
                if name == '[memory]':
                    yield {'ph': 'C', 'name': f'Memory: {_device(event["args"])}', 'pid': event['pid'],
                           'tid': event['tid'], 'ts': event['ts'],
                           'args': {'bytes': event['args'].get('Total Allocated', 0)}}
                continue
            kind, name, layer = found
            on_device = event.get('cat') == 'gpu_user_annotation'
            if kind in ('operator', 'custom') and layer:
                # a slice around it, so that both names can be read
                yield {**_around(event), 'cat': 'gpu_user_annotation' if on_device else 'layer', 'name': layer,
                       'args': {}}
            category = 'gpu_user_annotation' if on_device else 'Custom Operator' if kind == 'custom' else kind
            what = {'block': 'class'}.get(kind, 'layer')
            yield {**event, 'cat': category, 'name': name,
                   'args': {**event.get('args', {}), **({what: layer} if layer else {})}}
        for engine, span in self._slices:
            yield {**_around(engine), 'cat': 'operator', 'name': span.name,
                   'args': {'layer': span.layer} if span.layer else {}}


def _around(event):
    return {**event, 'ts': event['ts'] - _HAIR, 'dur': event['dur'] + 2 * _HAIR}


def _device(arguments):
    return f'{_DEVICES.get(arguments.get("Device Type"), "device")}/{max(0, arguments.get("Device Id", 0))}'


def _by_thread(events):
    """(lists of the events that happen in threads, kernels)."""
    threads, kernels = defaultdict(list), []
    for event in events:
        phase, category = event.get('ph'), event.get('cat')
        if phase == 'X' and category in _KERNELS:
            kernels.append(event)
        elif phase == 'X' and not str(category).startswith('gpu_') or category == 'fwdbwd' \
                or event.get('name') == '[memory]':
            threads[event['pid'], event['tid']].append(event)
    for of_thread in threads.values():
        of_thread.sort(key=lambda e: (e['ts'], e['ph'] != 'X', -e.get('dur', 0)))
    return list(threads.values()), kernels


def _walk(events):
    """Each event of a thread with a stack of (end, event) of those that it is in."""
    stack: list = []
    for event in events:
        while stack and stack[-1][0] <= event['ts']:
            stack.pop()
        yield event, stack
        if event['ph'] == 'X':
            stack.append((event['ts'] + event['dur'], event))
