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

Files with defects are kept in build/fuzz, or in the folder `--out`.  Cases that were defects once are in
tests/data/fuzz/found; they run first.  `--jobs 16` reads in sixteen processes at a time, each with its own limits.
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
import signal
import sys
import threading
import time
from concurrent import futures
from pathlib import Path

from fuzz_campaign import HERE, ROOT, SECONDS, SHOWN, Campaign, computed, resembling

SPARE = 256 << 20
STEP = int(os.environ.get('FUZZ_STEP', 1))     # of the cases of --places, every so many
# texts of Python, NumPy and torch about their own objects, and of allocators
RAW = re.compile(
    r"object has no attribute|not subscriptable|object is not|has no len|index out of range|unhashable|"
    r"not supported between|unsupported operand|takes \d+ positional|unexpected keyword|not callable|"
    r"division by zero|maximum recursion|must be str, not|argument of type|can't convert|cannot unpack|"
    r"INTERNAL ASSERT|Exception raised from|^'?\w*'?$|invalid literal for|could not convert string|values to unpack|"
    r"cannot convert float|embedded null|zip\(\) argument|\[Errno|malformed node|too large to convert|"
    r"[\x00-\x08\x0b-\x1f\x7f]"
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
        self.counts, self.kept = collections.Counter(), collections.Counter()
        self.began = time.monotonic()
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
                record = {'case': label, 'reader': reader.__name__, 'kind': problem[0], 'text': problem[1][:600]}
                self.tell({'format': self.name, **record})
                self.kept[resembling(record)] += 1
                if self.kept[resembling(record)] <= SHOWN:
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
        spent, self.began = time.monotonic() - self.began, time.monotonic()
        self.tell({'format': self.name, 'done': count, 'milliseconds': round(1000 * spent), **self.counts})

    def readers(self, number):
        return self.format.readers + (self.format.rarely if number % 8 == 0 else ())

    def cases(self, seed, start, end, until=None):
        from fuzz_mutations import mutate

        seeds = self.formats.seeds(self.name)
        for number in range(start, end):
            if until is not None and time.monotonic() > until:
                end = number
                break
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
                work.cases(options.seed, start, end, options.until)


def found(name):
    """The cases of a format that were defects once."""
    return sorted(str(path) for path in (HERE.parent / 'data' / 'fuzz' / 'found').glob(f'{name}--*'))


# ---------------------------------------------------------------------- the command
def main():
    from_table = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = from_table.add_argument
    add('--count', type=int, default=20000, help='cases in all (20000), shared out among the formats')
    add('--seed', type=int, default=0, help='another number makes other cases')
    add('--format', action='append', help='only this format; may be given several times')
    add('--jobs', type=int, default=1, help='processes at a time (1)')
    add('--out', metavar='DIR', help='folder for the files of defects and the table (build/fuzz)')
    add('--seconds', type=float, help='end after so long, if --count has not been reached')
    add('--guided', type=int, metavar='S', help='let Atheris choose the damage, for so many seconds a format')
    add('--batch', type=int, default=20000, help='cases that one process reads (20000)')
    add('--together', action='store_true', help='all formats in one process: known cases, and --count of each')
    add('--places', action='store_true', help='one odd thing at every place in turn, instead of random damage')
    add('--child', help=argparse.SUPPRESS)
    add('--folder', help=argparse.SUPPRESS)
    add('--until', type=float, help=argparse.SUPPRESS)
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
    campaign = Campaign(options.out, began + options.seconds if options.seconds else None)
    try:
        _run(campaign, options, names, shares)
    except KeyboardInterrupt:
        campaign.stop()
        print('interrupted; the table has what was read until then', file=sys.stderr)
    campaign.report(began)
    return 1 if campaign.defects else 0


def _run(campaign, options, names, shares):
    if options.files:
        with campaign.folder() as folder:
            campaign.process(names[0], ['--files', *options.files], folder)
        return
    if options.together:
        campaign.together(names, options.seed, options.count)
        return
    campaign.together(names, 0, 0)
    if not (options.guided or options.places):
        campaign.batches(names, shares, options.seed, options.count, options.batch, options.jobs)
        return

    def whole(name):
        if options.places:
            campaign.generated(name, 0, 0, options.count, places=True)
            print(f'-- {name}, {len(campaign.defects)} defects', file=sys.stderr, flush=True)
        else:
            with campaign.folder() as folder:
                campaign.process(name, ['--guided', str(options.guided), '--seed', str(options.seed)], folder)

    with futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(whole, names))


def _shares(tree):
    """(name, share) of the formats, read from the table without importing what it needs."""
    import ast

    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', '') == 'FORMATS':
            for key, call in zip(node.value.keys, node.value.values):
                yield key.value, call.args[3].value if len(call.args) > 3 else None


if __name__ == '__main__':
    sys.exit(main())
