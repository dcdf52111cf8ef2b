"""Reads damaged files, many of them, in processes with little memory, and reports what went wrong.

    make fuzz-files ARGS="--count 20000 --format symbol"
    make fuzz-files ARGS="--places --count 1000000"          # one odd thing at every place: hours

Each case is made from a seed of tests/data/fuzz and a number, so that it can be made again.  A case is good when every
reader of its format gives a value, or an MXNetError that names the file.  It is a defect when

- the process dies (crash),
- a reader takes longer than ten seconds (hang),
- a reader asks for more than ten times the file and 256 MB (memory),
- it raises anything else, or does not name the file, or says what only a programmer of this package
  understands (unclear).

Files with defects are kept in build/fuzz.  Cases that were defects once are in tests/data/fuzz/found; they run first.
`--guided` lets Atheris (if it is installed) choose the damage by the lines of this package that a case reaches.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS = 10
SPARE = 256 << 20
STEP = int(os.environ.get('FUZZ_STEP', 1))     # of the cases of --places, every so many
# texts of Python, NumPy and torch about their own objects, and of allocators
RAW = re.compile(
    r"object has no attribute|not subscriptable|object is not|has no len|index out of range|unhashable|"
    r"not supported between|unsupported operand|takes \d+ positional|unexpected keyword|not callable|"
    r"division by zero|maximum recursion|must be str, not|argument of type|can't convert|cannot unpack|"
    r"INTERNAL ASSERT|Exception raised from|^'?\w*'?$"
)
MEMORY = re.compile(
    r"nsufficient memory|MemoryError|cannot allocate|allocate memory|out of memory|bad_alloc|Unable to allocate"
)


# what Atheris looks at to see whether a case is new
INSTRUMENTED = (
    'mxnet._files',
    'mxnet._graph.ir.json',
    'mxnet._graph.infer.inference',
    'mxnet._ops.core.attributes',
    'mxnet.cli',
    'mxnet.contrib.onnx',
    'mxnet.contrib.text',
    'mxnet.gluon._block_files',
    'mxnet.image',
    'mxnet.io',
    'mxnet.ndarray.utils',
    'mxnet.recordio',
    'mxnet.registry',
)


class Hang(BaseException):
    """Raised by the alarm; not an Exception, so that no reader takes it for one of its own."""


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


# ---------------------------------------------------------------------- one process
class Child:
    """Runs cases one after the other; a line of JSON for each defect, and one at the end."""

    def __init__(self, name, folder):
        import fuzz_formats

        self.formats = fuzz_formats
        fuzz_formats.quiet()
        self.name, self.format = name, fuzz_formats.FORMATS[name]
        self.folder = folder
        self.path = os.path.join(folder, 'case' + self.format.ending)
        self.counts = collections.Counter()
        signal.signal(signal.SIGALRM, self._look)
        signal.signal(signal.SIGPROF, self._alarm)
        threading.stack_size(256 << 10)  # address space counts

    @staticmethod
    def _alarm(*_):
        raise Hang

    def _look(self, *_):
        """Much time has passed on the clock; a child may compute as long as this has not happened five times."""
        self.looks += 1
        own, before = time.process_time(), computed(os.getpid(), False)
        if own - self.own < 0.1:
            end = time.monotonic() + SECONDS / 2
            while computed(os.getpid(), False) == before:
                if time.monotonic() > end:
                    raise Hang
                time.sleep(0.1)
        if self.looks == 5:
            raise Hang
        self.own = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, 4 * SECONDS)

    def run(self, data, label, readers):
        # a new file each time: links to the last one keep what they have
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        with open(self.path, 'wb') as file:
            file.write(data)
        for reader in readers:
            self.counts['calls'] += 1
            problem = self.call(reader, len(data))
            if problem is not None:
                self.tell(
                    {
                        'format': self.name,
                        'case': label,
                        'reader': reader.__name__,
                        'kind': problem[0],
                        'text': problem[1][:600],
                    }
                )
                self.keep(data, label, problem[0])

    def call(self, reader, size):
        """What is wrong with what a reader does: (kind, text), or None."""
        used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + 10 * size + SPARE, hard))
        # of the processor, and of the clock
        self.looks, self.own = 0, time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 4 * SECONDS)
        try:
            reader(self.path)
            self.counts['read'] += 1
            return None
        except Hang:
            return 'hang', f'more than {SECONDS} s'
        except BaseException as error:
            self.stop()
            return self.judge(error)
        finally:
            self.stop()
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

    @staticmethod
    def stop():
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def judge(self, error):
        from mxnet.base import MXNetError

        with_file = True
        if isinstance(error, self.formats.Later):
            error, with_file = error.__cause__, False
        text = f'{type(error).__name__}: {error}'
        if isinstance(error, MemoryError) or MEMORY.search(text):
            return 'memory', text
        if not isinstance(error, MXNetError):
            import traceback

            return 'unclear', text + ' | ' + traceback.format_exc()[-400:]
        said = str(error)
        if with_file and self.folder not in said:
            return 'unclear', f'does not name the file: {text}'
        if RAW.search(said.replace(self.path, '')):
            return 'unclear', f'raw words: {text}'
        self.counts['refused'] += 1
        return None

    def keep(self, data, label, kind):
        folder = Path(os.environ.get('FUZZ_KEEP', ROOT / 'build' / 'fuzz'))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f'{self.name}--{kind}--{re.sub("[^0-9a-zA-Z]+", "-", label)}').write_bytes(data)

    @staticmethod
    def tell(record):
        print(json.dumps(record), flush=True)

    def ended(self, count):
        self.tell({'format': self.name, 'done': count, **self.counts})

    def readers(self, number):
        return self.format.readers + (self.format.rarely if number % 8 == 0 else ())

    def cases(self, seed, start, end):
        from fuzz_mutations import mutate

        seeds = self.formats.seeds(self.name)
        for number in range(start, end):
            data = mutate(self.format.damage, seeds, random.Random(f'{self.name} {seed} {number}'))
            Path(self.folder, 'number').write_text(str(number))
            self.run(data, f'{seed}:{number}', self.readers(number))
        self.ended(end - start)

    def places(self, start, end):
        """The cases of `fuzz_places` with these numbers; tells how many there are."""
        from fuzz_places import every

        done = 0
        for number, (label, data) in enumerate(every(self.format.damage, self.formats.seeds(self.name))):
            if start <= number < end and (number < 2000 or number % STEP == 0):
                Path(self.folder, 'number').write_text(str(number))
                self.run(data, f'place {number} {label}', self.readers(number))
                done += 1
            elif number >= end:
                break
        self.ended(done)

    def files(self, paths):
        for path in paths:
            Path(self.folder, 'number').write_text(path)
            self.run(Path(path).read_bytes(), os.path.basename(path), self.format.readers + self.format.rarely)
        self.ended(len(paths))

    def guided(self, seed, seconds):
        """Atheris chooses the damage; it ends the process by itself, so this tells as it goes."""
        import atheris

        corpus = os.path.join(self.folder, 'corpus')
        os.makedirs(corpus, exist_ok=True)
        for number, data in enumerate(self.formats.seeds(self.name)):
            Path(corpus, f'seed{number}').write_bytes(data)
        number = 0

        def test(data):
            nonlocal number
            number += 1
            Path(self.folder, 'number').write_text(f'guided-{seed}-{number}')
            self.run(data, f'guided-{seed}-{number}', self.format.readers)
            if number % 1000 == 0:
                self.ended(1000)
                self.counts.clear()

        atheris.Setup(
            [
                sys.argv[0],
                corpus,
                f'-seed={seed + 1}',
                f'-max_total_time={seconds}',
                '-verbosity=0',
                '-rss_limit_mb=0',
            ],
            test,
        )
        atheris.Fuzz()


def child(options):
    for name in options.format:
        if options.guided:
            import atheris

            with atheris.instrument_imports(include=list(INSTRUMENTED)):
                work = Child(name, options.folder)
                for number, data in enumerate(work.formats.seeds(name)):        # readers import what they need
                    work.run(data, f'seed {number}', work.format.readers)
            work.guided(options.seed, options.guided)
            continue
        work = Child(name, options.folder)
        if options.files:
            work.files(options.files)
        if options.together:
            work.files(found(name))
        if options.child:
            start, end = map(int, options.child.split(':'))
            if options.places:
                work.places(start, end)
            else:
                work.cases(options.seed, start, end)


def found(name):
    """The cases of a format that were defects once."""
    return sorted(str(path) for path in (HERE.parent / 'data' / 'fuzz' / 'found').glob(f'{name}--*'))


# ---------------------------------------------------------------------- the command
class Campaign:
    """Starts processes, adds up what they tell, and goes on behind what killed one."""

    def __init__(self, quiet=False):
        self.totals = collections.defaultdict(collections.Counter)
        self.defects = []
        self.quiet = quiet

    def process(self, name, arguments, folder):
        """Runs one process -> the number of the case that ended it, or None."""
        names = name.split()
        environment = {
            **os.environ,
            'PYTHONPATH': os.pathsep.join([str(ROOT), str(HERE), os.environ.get('PYTHONPATH', '')]),
            'OMP_NUM_THREADS': '1',
            'MALLOC_ARENA_MAX': '1',
            'OPENCV_LOG_LEVEL': 'SILENT',
            'MXNET_HOME': folder,
        }
        environment.setdefault('MXNET_GLUON_REPO', 'http://127.0.0.1:9')
        command = [sys.executable, str(Path(__file__).resolve()), '--folder', folder, *arguments]
        for each in names:
            command += ['--format', each]
        with open(os.path.join(folder, 'errors'), 'wb') as errors:
            running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True)
        watch = threading.Thread(target=self._watch, args=(running, folder), daemon=True)
        watch.start()
        done = False
        for line in running.stdout:
            if not line.startswith('{'):
                continue
            record = json.loads(line)
            which = record.pop('format')
            if 'done' in record:
                done = True
                self.totals[which]['cases'] += record.pop('done')
                self.totals[which].update(record)
            else:
                self.defect(which, record)
        status = running.wait()
        watch.join()
        if done and status == 0:
            return None
        number = Path(folder, 'number').read_text() if Path(folder, 'number').exists() else 'the start'
        kind = 'hang' if getattr(running, 'stuck', False) else 'crash'
        last = Path(folder, 'errors').read_text(errors='replace')[-600:]
        self.defect(name, {'case': number, 'reader': '?', 'kind': kind, 'text': f'exit status {status}: {last}'})
        for path in Path(folder).glob('case*'):
            keep = Path(os.environ.get('FUZZ_KEEP', ROOT / 'build' / 'fuzz'))
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, keep / f'{name}--{kind}--{re.sub("[^0-9a-zA-Z]+", "-", number)}')
        return number

    def _watch(self, running, folder):
        """Kills a process that has been at one case for too long: an alarm does not reach into a library."""
        last, since, began, spent = None, time.monotonic(), 0.0, -1.0
        while running.poll() is None:
            time.sleep(0.05)
            now = None
            with contextlib.suppress(OSError):
                now = os.stat(os.path.join(folder, 'number')).st_mtime_ns
            if now != last:
                last, since, began, spent = now, time.monotonic(), computed(running.pid), -1.0
            elif time.monotonic() - since > (6 if last is not None else 60) * SECONDS:     # imports take longer
                before, spent, since = spent, computed(running.pid), time.monotonic()
                if spent == before or spent > began + 6 * SECONDS:
                    running.stuck = True
                    running.kill()

    def defect(self, name, record):
        self.totals[name][record['kind']] += 1
        self.defects.append({'format': name, **record})
        if not self.quiet:
            print(
                f"{name}: {record['kind']} in {record['reader']}, case {record['case']}: {record['text'][:300]}",
                flush=True,
            )

    def generated(self, name, seed, start, end, places=False):
        with tempfile.TemporaryDirectory(
            prefix='fuzz-', dir='/dev/shm' if os.path.isdir('/dev/shm') else None
        ) as folder:
            while start < end:
                stopped = self.process(
                    name, ['--seed', str(seed), '--child', f'{start}:{end}', *(['--places'] if places else [])], folder
                )
                if stopped is None or not stopped.isdigit():
                    return
                self.totals[name]['cases'] += int(stopped) + 1 - start
                start = int(stopped) + 1

    def together(self, names, seed, count):
        """The cases that were defects once, and a few new ones, of all formats in one process."""
        with tempfile.TemporaryDirectory(prefix='fuzz-') as folder:
            self.process(' '.join(names), ['--together', '--seed', str(seed), '--child', f'0:{count}'], folder)

    def report(self, began):
        kinds = ('crash', 'hang', 'memory', 'unclear')
        print(
            f'{"format":12} {"cases":>9} {"calls":>9} {"read":>9} {"refused":>9} ' + ' '.join(f'{k:>8}' for k in kinds)
        )
        every = collections.Counter()
        for name, counts in sorted(self.totals.items()):
            every.update(counts)
            self._row(name, counts, kinds)
        self._row('all', every, kinds)
        print(
            f'{time.monotonic() - began:.0f} s; '
            + (f'{len(self.defects)} defects, their files are in build/fuzz' if self.defects else 'no defects')
        )

    @staticmethod
    def _row(name, counts, kinds):
        print(
            f'{name:12} '
            + ' '.join(f'{counts[k]:9}' for k in ('cases', 'calls', 'read', 'refused'))
            + ' '
            + ' '.join(f'{counts[k]:8}' for k in kinds)
        )


def main():
    from_table = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = from_table.add_argument
    add('--count', type=int, default=20000, help='cases in all (20000), shared out among the formats')
    add('--seed', type=int, default=0, help='another number makes other cases')
    add('--format', action='append', help='only this format; may be given several times')
    add('--seconds', type=float, help='end after so long, if --count has not been reached')
    add('--guided', type=int, metavar='S', help='let Atheris choose the damage, for so many seconds a format')
    add('--batch', type=int, default=20000, help='cases that one process reads (20000)')
    add('--together', action='store_true', help='all formats in one process: known cases, and --count of each')
    add('--places', action='store_true', help='one odd thing at every place in turn, instead of random damage')
    add('--child', help=argparse.SUPPRESS)
    add('--folder', help=argparse.SUPPRESS)
    add('--files', nargs='*', help='read these files only')
    options = from_table.parse_args()
    if options.folder:
        child(options)
        return 0
    began = time.monotonic()
    import ast

    table = (HERE / 'fuzz_formats.py').read_text()
    shares = {name: int(share or 4) for name, share in _shares(ast.parse(table))}
    names = options.format or list(shares)
    campaign = Campaign()
    if options.files:
        with tempfile.TemporaryDirectory(prefix='fuzz-') as folder:
            campaign.process(names[0], ['--files', *options.files], folder)
    elif options.together:
        campaign.together(names, options.seed, options.count)
    else:
        campaign.together(names, 0, 0)
        if options.guided:
            for name in names:
                with tempfile.TemporaryDirectory(prefix='fuzz-') as folder:
                    campaign.process(name, ['--guided', str(options.guided), '--seed', str(options.seed)], folder)
        elif options.places:
            for name in names:
                campaign.generated(name, 0, 0, options.count, places=True)
                print(f'-- {name}, {len(campaign.defects)} defects, {time.monotonic() - began:.0f} s', file=sys.stderr,
                      flush=True)
        else:
            try:
                _rounds(campaign, options, names, shares, began)
            except KeyboardInterrupt:
                print('interrupted; the table has what was read until then', file=sys.stderr)
    campaign.report(began)
    return 1 if campaign.defects else 0


def _rounds(campaign, options, names, shares, began):
    total = sum(shares[name] for name in names)
    wanted = {name: -(-options.count * shares[name] // total) for name in names}
    start = dict.fromkeys(names, 0)
    while any(start[name] < wanted[name] for name in names):
        for name in names:
            end = min(wanted[name], start[name] + options.batch)
            if start[name] < end:
                campaign.generated(name, options.seed, start[name], end)
                start[name] = end
                print(f'-- {sum(start.values())} of {sum(wanted.values())} cases, {len(campaign.defects)} defects, '
                      f'{time.monotonic() - began:.0f} s', file=sys.stderr, flush=True)
            if options.seconds and time.monotonic() - began > options.seconds:
                return


def _shares(tree):
    """(name, share) of the formats, read from the table without importing what it needs."""
    import ast

    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', '') == 'FORMATS':
            for key, call in zip(node.value.keys, node.value.values):
                yield key.value, call.args[3].value if len(call.args) > 3 else None


if __name__ == '__main__':
    sys.exit(main())
