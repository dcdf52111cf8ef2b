"""Timing of small pieces of code, as ratios within one run."""
import gc
import statistics
import time

REST = 0.003        # seconds in which idle threads of whoever was measured before stop looking for work


def sample(function, count, settle=None):
    """Seconds of `count` calls, and of waiting for them; work of another process times itself (peers.py).

    A few calls come before, so that nobody pays for what the one before has put into the caches.
    """
    if hasattr(function, 'sample'):
        return function.sample(count)
    time.sleep(REST)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(count // 8):
            function()
        if settle is not None:
            settle()
        start = time.perf_counter()
        for _ in range(count):
            function()
        if settle is not None:
            settle()
        return time.perf_counter() - start
    finally:
        if enabled:
            gc.enable()


def calibrate(function, seconds):
    """How many calls take about `seconds`."""
    count = 1
    sample(function, count)             # makes what is made once
    while True:
        elapsed = sample(function, count)
        if elapsed >= seconds / 4:
            return max(1, int(count * seconds / max(elapsed, 1e-9)))
        count *= 4


def measure(functions, rounds=15, seconds=0.02):
    """Median seconds per call of each function, taken in turns so that all see the same machine.

    `functions`: {label: callable}.  -> {label: seconds}
    """
    counts = {label: calibrate(f, seconds) for label, f in functions.items()}
    samples = {label: [] for label in functions}
    for _ in range(rounds):
        for label, function in functions.items():
            samples[label].append(sample(function, counts[label]) / counts[label])
    return {label: statistics.median(times) for label, times in samples.items()}


def later(make):
    """A function that is made when it is first called, since networks take time to make."""
    made = []

    def call():
        if not made:
            made.append(make())
            for _ in range(3):          # what is done once: graphs, plans, memory
                made[0]()
        made[0]()
    return call
