"""Counts and times for Prometheus, in its text format."""
from bisect import bisect_left

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """Counts of values up to limits, their sum and their number."""

    def __init__(self, limits):
        self.limits, self.counts = limits, [0] * (len(limits) + 1)
        self.sum, self.count = 0.0, 0

    def add(self, value):
        self.counts[bisect_left(self.limits, value)] += 1
        self.sum += value
        self.count += 1

    def lines(self, name, labels):
        total = 0
        for limit, count in zip((*self.limits, '+Inf'), self.counts):
            total += count
            yield f'{name}_bucket{{{labels},le="{limit}"}} {total}'
        yield f'{name}_sum{{{labels}}} {self.sum:.6f}'
        yield f'{name}_count{{{labels}}} {self.count}'


class Metrics:
    """What a server counts."""

    def __init__(self):
        self._requests: dict = {}
        self._seconds: dict = {}
        self._sizes: dict = {}
        self._compute: dict = {}
        self._restarts: dict = {}

    def answered(self, model, status, seconds):
        self._requests[model, status] = self._requests.get((model, status), 0) + 1
        self._seconds.setdefault(model, Histogram(SECONDS)).add(seconds)

    def computed(self, model, sizes, seconds):
        for size in sizes:
            self._sizes.setdefault(model, Histogram(SIZES)).add(size)
        self._compute.setdefault(model, Histogram(SECONDS)).add(seconds)

    def restarted(self, model):
        self._restarts[model] = self._restarts.get(model, 0) + 1

    def text(self, pools):
        """All of it, with the state of the pools."""
        lines = ['# TYPE remx_requests_total counter']
        lines += [f'remx_requests_total{{model="{_escaped(m)}",status="{s}"}} {n}'
                  for (m, s), n in self._requests.items()]
        lines += ['# TYPE remx_worker_restarts_total counter']
        lines += [f'remx_worker_restarts_total{{model="{_escaped(m)}"}} {n}' for m, n in self._restarts.items()]
        for name, found in (('remx_request_seconds', self._seconds), ('remx_batch_size', self._sizes),
                            ('remx_compute_seconds', self._compute)):
            lines.append(f'# TYPE {name} histogram')
            for model, histogram in found.items():
                lines += histogram.lines(name, f'model="{_escaped(model)}"')
        for name, value in (('remx_queue_length', lambda p: len(p.queue)), ('remx_workers', lambda p: p.ready_count)):
            lines.append(f'# TYPE {name} gauge')
            lines += [f'{name}{{model="{_escaped(model)}"}} {value(pool)}' for model, pool in pools.items()]
        return '\n'.join(lines) + '\n'


def _escaped(text):
    return text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
