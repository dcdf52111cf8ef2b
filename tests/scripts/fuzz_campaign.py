"""Runs the processes of `fuzz_files.py`, several at a time, adds up their results, and goes on after a crash."""

import collections
import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent import futures
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS = 10
KINDS = ('crash', 'hang', 'memory', 'unclear')
SHOWN = 5                       # defects that say the same are printed, and kept by a process, as often as this
ROOM = 2 << 30                  # free bytes that /dev/shm must have to be used


# the package of this tree, installed or not
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def computed(process: int, itself: bool = True) -> float:
    """Seconds that the processors have spent on a process and those below it, or on the latter only.

    A process that waits for a processor on a busy machine is not one that hangs: the latter computes without end, or
    not at all.
    """
    from mxnet._dist.guard import descendants

    ticks = 0
    for number in (*[process] * itself, *descendants(process)):
        with contextlib.suppress(OSError, IndexError, ValueError):
            cells = Path(f'/proc/{number}/stat').read_bytes().rpartition(b')')[2].split()
            ticks += sum(map(int, cells[11:15]))        # of the user, of the system, and both of children that ended
    return ticks / os.sysconf('SC_CLK_TCK')


def resembling(record):
    """What defects have in common that are one: the same words, apart from numbers, names and places."""
    text = re.sub(r"'[^']*'|\S*/\S*|\d+", '*', record['text'])
    return record['reader'], record['kind'], text[:120]


class Campaign:
    """Results of processes that read damaged files.

    out: the folder for the files of defects, for their records (`defects.jsonl`) and for the table (`report.txt`)
    until: the time of `time.monotonic` at which processes end, or None
    """

    def __init__(self, out=None, until=None, quiet=False):
        self.out = Path(out or os.environ.get('FUZZ_KEEP') or ROOT / 'build' / 'fuzz').absolute()
        self.until, self.quiet = until, quiet
        self.totals = collections.defaultdict(collections.Counter)
        self.defects = []
        self.classes = collections.Counter()
        self.lock = threading.Lock()
        self.running = set()

    # ------------------------------------------------------------------ processes
    def process(self, name, arguments, folder):
        """Runs one process -> the number of the case that ended it, or None."""
        environment = {
            **os.environ,
            'PYTHONPATH': os.pathsep.join(filter(None, [str(ROOT), str(HERE), os.environ.get('PYTHONPATH')])),
            'OMP_NUM_THREADS': '1',
            'MALLOC_ARENA_MAX': '1',
            'OPENCV_LOG_LEVEL': 'SILENT',
            'MXNET_HOME': folder,
            'FUZZ_KEEP': str(self.out),
        }
        environment.setdefault('MXNET_GLUON_REPO', 'http://127.0.0.1:9')
        command = [sys.executable, str(HERE / 'fuzz_files.py'), '--folder', folder, *arguments]
        for each in name.split():
            command += ['--format', each]
        if self.until is not None:
            command += ['--until', str(self.until)]
        with open(os.path.join(folder, 'errors'), 'wb') as errors:
            running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.running.add(running)
        watch = threading.Thread(target=self._watch, args=(running, folder), daemon=True)
        watch.start()
        done = False
        for line in running.stdout:
            if line.startswith('{'):
                done = self._told(json.loads(line)) or done
        status = running.wait()
        watch.join()
        self.running.discard(running)
        if done and status == 0:
            return None
        number = Path(folder, 'number').read_text() if Path(folder, 'number').exists() else 'the start'
        kind = 'hang' if getattr(running, 'stuck', False) else 'crash'
        last = Path(folder, 'errors').read_text(errors='replace')[-600:]
        self.defect(name, {'case': number, 'reader': '?', 'kind': kind, 'text': f'exit status {status}: {last}'})
        for path in Path(folder).glob('case*'):
            self.out.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.out / f'{name}--{kind}--{re.sub("[^0-9a-zA-Z]+", "-", number)}')
        return number

    def _told(self, record):
        """Takes a record of a process -> whether it is the one at the end."""
        which = record.pop('format')
        if 'done' not in record:
            self.defect(which, record)
            return False
        with self.lock:
            self.totals[which]['cases'] += record.pop('done')
            self.totals[which].update(record)
        return True

    def _watch(self, running, folder):
        """Kills a process that has been at one case for too long: an alarm does not reach into a library."""
        last, since, began, spent = None, time.monotonic(), 0.0, -1.0
        while running.poll() is None:
            time.sleep(0.05)
            now = None
            with contextlib.suppress(OSError):
                now = os.stat(os.path.join(folder, 'number')).st_mtime_ns
            if now != last:
                last, since, began, spent = now, time.monotonic(), -1.0, -1.0
                continue
            if began < 0 and time.monotonic() - since > 1:
                began = computed(running.pid)
            if time.monotonic() - since > (6 if last is not None else 60) * SECONDS:       # imports take longer
                before, spent, since = spent, computed(running.pid), time.monotonic()
                if spent == before or spent > began + 6 * SECONDS:
                    running.stuck = True
                    running.kill()

    def stop(self):
        """Ends the processes that this has started."""
        for running in list(self.running):
            running.kill()

    # ------------------------------------------------------------------ parts of a campaign
    @staticmethod
    def folder():
        shared = '/dev/shm'
        there = os.path.isdir(shared) and shutil.disk_usage(shared).free > ROOM
        return tempfile.TemporaryDirectory(prefix='fuzz-', dir=shared if there else None)

    def generated(self, name, seed, start, end, places=False):
        with self.folder() as folder:
            while start < end:
                stopped = self.process(
                    name, ['--seed', str(seed), '--child', f'{start}:{end}', *(['--places'] if places else [])], folder
                )
                if stopped is None or not stopped.isdigit():
                    return
                with self.lock:
                    self.totals[name]['cases'] += int(stopped) + 1 - start
                start = int(stopped) + 1

    def together(self, names, seed, count):
        """The cases that were defects once, and a few new ones, of all formats in one process."""
        with self.folder() as folder:
            self.process(' '.join(names), ['--together', '--seed', str(seed), '--child', f'0:{count}'], folder)

    def batches(self, names, shares, seed, count, size, jobs):
        """New cases of all formats in batches, so many processes at a time."""
        began = time.monotonic()
        total = sum(shares[name] for name in names)
        wanted = {name: -(-count * shares[name] // total) for name in names}
        # enough batches that no process waits long for the last one, but few start-ups
        size = min(size, max(500, -(-sum(wanted.values()) // (4 * jobs))))
        starts = [[(name, start) for start in range(0, wanted[name], size)] for name in names]
        work = [part for row in itertools.zip_longest(*starts) for part in row if part is not None]

        def batch(name, start):
            if self.until is None or time.monotonic() < self.until:
                self.generated(name, seed, start, min(wanted[name], start + size))

        with futures.ThreadPoolExecutor(jobs) as pool:
            try:
                for done in futures.as_completed([pool.submit(batch, *part) for part in work]):
                    done.result()
                    with self.lock:
                        read = sum(counts['cases'] for counts in self.totals.values())
                    print(
                        f'-- {read} of {sum(wanted.values())} cases, {len(self.defects)} defects, '
                        f'{time.monotonic() - began:.0f} s',
                        file=sys.stderr,
                        flush=True,
                    )
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.stop()
                raise

    # ------------------------------------------------------------------ results
    def defect(self, name, record):
        with self.lock:
            self.totals[name][record['kind']] += 1
            self.defects.append({'format': name, **record})
            self.out.mkdir(parents=True, exist_ok=True)
            with open(self.out / 'defects.jsonl', 'a') as file:
                file.write(json.dumps(self.defects[-1]) + '\n')
            self.classes[name, *resembling(record)] += 1
            seen = self.classes[name, *resembling(record)]
        if not self.quiet and seen <= SHOWN:
            more = '; more of this kind are only counted' if seen == SHOWN else ''
            print(
                f"{name}: {record['kind']} in {record['reader']}, case {record['case']}: {record['text'][:300]}{more}",
                flush=True,
            )

    def report(self, began):
        """Prints the table, and keeps it beside the files if there are defects."""
        lines = [
            f'{"format":12} {"cases":>9} {"calls":>9} {"read":>9} {"refused":>9} '
            + ' '.join(f'{kind:>8}' for kind in KINDS)
            + f' {"cases/s":>8}'
        ]
        every = collections.Counter()
        for name, counts in sorted(self.totals.items()):
            every.update(counts)
            lines.append(self._row(name, counts))
        lines.append(self._row('all', every))
        if self.classes:
            lines.append('')
        for (name, reader, kind, text), count in self.classes.most_common():
            lines.append(f'{count:6} x {name}, {reader}, {kind}: {text}')
        seconds = time.monotonic() - began
        lines.append(
            f'{seconds:.0f} s, {every["cases"] / max(seconds, 1e-9):.0f} cases/s in all; cases/s of a format are those '
            'of one process after its start; '
            + (f'{len(self.defects)} defects, their files are in {self.out}' if self.defects else 'no defects')
        )
        print('\n'.join(lines), flush=True)
        if self.out.is_dir():
            (self.out / 'report.txt').write_text('\n'.join(lines) + '\n')

    @staticmethod
    def _row(name, counts):
        rate = counts['cases'] / (counts['milliseconds'] / 1000) if counts['milliseconds'] else 0
        return (
            f'{name:12} '
            + ' '.join(f'{counts[key]:9}' for key in ('cases', 'calls', 'read', 'refused'))
            + ' '
            + ' '.join(f'{counts[kind]:8}' for kind in KINDS)
            + f' {rate:8.0f}'
        )
