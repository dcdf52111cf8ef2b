"""`remx im2rec`: folders of pictures become lists (`.lst`), lists become records (`.rec` and `.idx`).

Arguments and results are those of upstream's tools/im2rec.py.  Neither torch nor an array is needed for it.
"""
from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import recordio
from .._files import limits, paths, pictures
from .._wording import plain
from ..base import MXNetError
from ._progress import Bar

if TYPE_CHECKING:
    from .._typing import Path

EXPLAIN = """Creates lists of the images in a folder, or record files of the images in lists.

    remx im2rec --list --recursive --train-ratio 0.9 data/birds photos/     writes data/birds_train.lst and _val.lst
    remx im2rec --resize 256 --num-thread 4 data/birds photos/              writes a .rec and an .idx for each of them

A line of a list is a number, one or more labels and the path of a picture below ROOT, with tabs between them. Images
that cannot be read are reported and skipped. Files are moved into place when they are complete; Ctrl-C leaves existing
files unchanged."""

_SEED = 100             # lists of the same folder are in the same order, here and upstream
_KILLS = 20             # workers that may die before it is no longer the pictures' fault
_WINDOW = 16            # pictures in work for each process: what is finished early waits in memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    parser.add_argument('prefix', metavar='PREFIX', help='lists and records are PREFIX*.lst, .rec and .idx')
    parser.add_argument('root', metavar='ROOT', help='the folder of the images')
    lists = parser.add_argument_group('to make lists')
    add = lists.add_argument
    add('--list', action='store_true', help='create lists; without it, lists are read and record files are created')
    add('--recursive', action='store_true',
        help='search subfolders too; each folder is a class, numbered from 0 (without it, all labels are 0)')
    add('--exts', nargs='+', default=['.jpeg', '.jpg', '.png'], metavar='EXT',
        help='file name extensions of images (default: .jpeg .jpg .png)')
    add('--no-shuffle', dest='shuffle', action='store_false',
        help='keep the order of the file names instead of shuffling')
    add('--chunks', type=int, default=1, metavar='N', help='number of lists of equal length (default: 1)')
    add('--train-ratio', type=float, default=1.0, metavar='X',
        help='share of the images for _train.lst (default: 1.0, all)')
    add('--test-ratio', type=float, default=0.0, metavar='X',
        help='share for _test.lst (0); the rest goes to _val.lst')
    add = parser.add_argument_group('to make records').add_argument
    add('--pass-through', action='store_true', help='store the files unchanged, without decoding them')
    add('--resize', type=int, default=0, metavar='N', help='resize the shorter edge to N pixels')
    add('--center-crop', action='store_true', help='crop to the square in the middle before resizing')
    add('--quality', type=int, default=95, metavar='N',
        help='of JPEG, 1 to 100; compression of PNG, 0 to 9 (default: 95)')
    add('--encoding', default='.jpg', choices=['.jpg', '.png'], help='image format of the records (default: .jpg)')
    add('--color', type=int, default=1, choices=[-1, 0, 1],
        help='1 colour, 0 grey, -1 as it is, with alpha (default: 1)')
    add('--pack-label', action='store_true', help='all labels of a line; without it, only the first')
    add('--num-thread', type=int, default=1, metavar='N',
        help='processes that decode and encode (1); the order is that of the list with any number')
    add('--quiet', action='store_true', help='no progress bar')


def im2rec(options: Any) -> int:
    """Runs the command; returns its exit status."""
    try:
        _check(options)
        make_lists(options) if options.list else make_records(options)
    except (MXNetError, OSError, ImportError) as error:
        print(f'remx im2rec: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('remx im2rec: stopped; incomplete files were removed', file=sys.stderr)
        return 130
    return 0


def _check(options):
    if not os.path.isdir(options.root):
        raise MXNetError(f'{options.root}: no such folder')
    if options.chunks < 1 or options.num_thread < 1 or options.resize < 0:
        raise MXNetError('--chunks and --num-thread are at least 1, --resize is not negative')
    train, test = options.train_ratio, options.test_ratio
    if not (0 <= train <= 1 and 0 <= test <= 1 and train + test <= 1 + 1e-9):
        raise MXNetError(f'--train-ratio {train} and --test-ratio {test} are shares: from 0 to 1, together at most 1')


# ---------------------------------------------------------------------- lists
def pictures_in(root: Path, recursive: Any, extensions: Any) -> Any:
    """-> (paths below `root` with their labels, names of the classes)."""
    wanted = {('' if e.startswith('.') else '.') + e.lower() for e in extensions}
    found: list[Any] = []
    classes: list[Any] = []
    for folder, inner, names in os.walk(root, followlinks=True) if recursive else [(root, [], os.listdir(root))]:
        # a link to a folder that it is in has no end
        inner[:] = sorted(name for name in inner if not _contains(os.path.join(folder, name), folder))
        chosen = [path for path in (os.path.join(folder, name) for name in sorted(names))
                  if os.path.splitext(path)[1].lower() in wanted and os.path.isfile(path)]
        if chosen:
            label = len(classes) if recursive else 0
            classes.append(os.path.relpath(folder, root))
            found += [(os.path.relpath(path, root), label) for path in chosen]
    return found, classes


def _contains(path, folder):
    if not os.path.islink(path):
        return False
    outer, inner = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([outer, inner]) == outer


def make_lists(options: Any) -> None:
    found, classes = pictures_in(options.root, options.recursive, options.exts)
    if not found:
        raise MXNetError(f'{options.root} has no images {" ".join(options.exts)}'
                         + ('' if options.recursive else '; --recursive looks into its folders, too'))
    if options.recursive:
        for label, name in enumerate(classes):
            print(name, label)
    lines = [f'{number}\t{label:f}\t{path}\n' for number, (path, label) in enumerate(found)]
    if options.shuffle:
        random.Random(_SEED).shuffle(lines)
    size = -(-len(lines) // options.chunks)
    train, test = int(size * options.train_ratio), int(size * options.test_ratio)
    for i in range(options.chunks):
        chunk = lines[i * size:(i + 1) * size]
        prefix = options.prefix + (f'_{i}' if options.chunks > 1 else '')
        if options.train_ratio == 1:
            _write_list(f'{prefix}.lst', chunk)
            continue
        if options.test_ratio:
            _write_list(f'{prefix}_test.lst', chunk[:test])
        if options.train_ratio + options.test_ratio < 1:
            _write_list(f'{prefix}_val.lst', chunk[test + train:])
        _write_list(f'{prefix}_train.lst', chunk[test:test + train])


def _write_list(path, lines):
    paths.write_atomic(path, [os.fsencode(''.join(lines))])
    print(f'{path}: {len(lines)} images')


def read_list(path: Any) -> Iterator[Any]:
    """The (number, labels, path) of each line; lines that are none are named and left out."""
    for number, line in enumerate(os.fsdecode(paths.read_bytes(path)).splitlines(), 1):
        fields = [field.strip() for field in line.strip().split('\t')]
        if fields == ['']:
            continue
        try:
            if len(fields) < 3:
                raise ValueError(f'it has {len(fields)} fields between tabs')
            yield int(fields[0]), [float(field) for field in fields[1:-1]], fields[-1]
        except ValueError as error:
            _tell(f'{path}: line {number} is left out: it should be a number, labels and a path: {plain(error)}')


# ---------------------------------------------------------------------- records
def lists_of(prefix: str) -> Any:
    """All lists whose names begin with PREFIX, or all in it if it is a folder."""
    prefix = os.path.abspath(prefix)
    folder = prefix if os.path.isdir(prefix) else os.path.dirname(prefix)
    if not os.path.isdir(folder):
        raise MXNetError(f'{folder}: no such folder')
    found = [path for path in (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
             if path.startswith(prefix) and path.endswith('.lst') and os.path.isfile(path)]
    if not found:
        raise MXNetError(f'there is no list {prefix}*.lst; remx im2rec --list makes one')
    return found


def make_records(options: Any) -> None:
    if not options.pass_through:
        recordio._cv2('remx im2rec without --pass-through')
    for path in lists_of(options.prefix):
        items = list(read_list(path))
        target = os.path.splitext(path)[0]
        bar = Bar(len(items), os.path.basename(target), options.quiet)
        encode = Encoder(options)
        written = 0
        with contextlib.closing(bar), paths.replacing(f'{target}.idx') as index, \
                paths.replacing(f'{target}.rec') as records:
            with recordio.MXIndexedRecordIO(index, records, 'w') as writer, \
                    contextlib.closing(_encoded(encode, items, options.num_thread)) as encoded:
                for item, record, problem in encoded:
                    if record is None:
                        bar.clear()
                        _tell(f'{os.path.join(options.root, item[2])} is left out: {problem}')
                    else:
                        writer.write_idx(item[0], record)
                        written += 1
                    bar.step()
            if items and not written:
                raise MXNetError(f'{path}: none of its {len(items)} images could be read; is {options.root} the '
                                 f'right folder?')
            size = os.path.getsize(records)
        out = '' if written == len(items) else f', {len(items) - written} left out'
        print(f'{target}.rec: {written} records, {size / 1e6:.1f} MB{out}')


def _tell(text):
    print(limits.printable(text), file=sys.stderr, flush=True)


class Encoder:
    """Makes the record of one line of a list -> (bytes, None), or (None, what is wrong)."""

    def __init__(self, options: Any) -> None:
        self.root: Any
        self.all_labels: Any
        self.pass_through: Any
        self.root, self.all_labels, self.pass_through = options.root, options.pack_label, options.pass_through
        self.color: Any
        self.square: Any
        self.edge: Any
        self.color, self.square, self.edge = options.color, options.center_crop, options.resize
        self.encoding: Any = options.encoding
        self.quality: Any = min(options.quality, 9) if options.encoding == '.png' else options.quality

    def __call__(self, item: Any) -> Any:
        number, labels, path = item
        label = labels if self.all_labels and len(labels) > 1 else labels[0]
        header = recordio.IRHeader(0, label, number, 0)
        try:
            with open(os.path.join(self.root, path), 'rb') as file:
                data = file.read()
            if self.pass_through:
                return recordio.pack(header, data), None
            return recordio.pack_img(header, self._picture(data), self.quality, self.encoding), None
        except OSError as error:
            return None, error.strerror or str(error)
        except Exception as error:          # a library may raise anything about bytes that it does not expect
            return None, plain(error)

    def _picture(self, data):
        import cv2
        import numpy
        picture = pictures.decode(numpy.frombuffer(data, numpy.uint8), self.color, 'its picture') if data else None
        if picture is None:
            raise MXNetError('OpenCV cannot decode it' if data else 'it is empty')
        rows, columns = picture.shape[:2]
        if self.square:
            top, left = max(0, rows - columns) // 2, max(0, columns - rows) // 2
            rows = columns = min(rows, columns)
            picture = picture[top:top + rows, left:left + columns]
        if self.edge:
            size = ((self.edge, rows * self.edge // columns) if rows > columns
                    else (columns * self.edge // rows, self.edge))
            picture = cv2.resize(picture, size)
        return picture


def _encoded(encode, items, processes):
    """(item, record or None, problem) of all items in their order."""
    if processes == 1:
        for item in items:
            yield (item, *encode(item))
        return
    from concurrent.futures.process import BrokenProcessPool
    done, careful, kills = 0, 0, 0
    while done < len(items):
        # somebody killed a worker: pictures that were in work are tried one by one, to find the one that does it again
        count, window = (1, 1) if done < careful else (processes, processes * _WINDOW)
        stop = careful if done < careful else len(items)
        pool = _pool(encode, count)
        try:
            running: deque[Any] = deque()
            sent = done
            while done < stop:
                while len(running) < window and sent < stop:
                    running.append(pool.submit(_work, items[sent]))
                    sent += 1
                result = running.popleft().result()
                done += 1
                yield (items[done - 1], *result)
        except BrokenProcessPool:
            if done < careful:
                done += 1
                yield items[done - 1], None, 'the process that decoded it was killed or crashed'
            else:
                careful = min(done + window, len(items))
            kills += 1
            if kills > _KILLS:
                raise MXNetError('processes that decode images were killed repeatedly, perhaps because memory ran '
                                 'out; use fewer of them with --num-thread') from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _pool(encode, processes):
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    # spawned: a fork would copy what libraries' threads of this process are in the middle of
    return ProcessPoolExecutor(processes, get_context('spawn'), _start, (encode,))


_encode: Encoder


def _start(encode):
    global _encode
    _encode = encode
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # Ctrl-C is for the parent, which ends its workers
    if not encode.pass_through:
        import cv2
        cv2.setNumThreads(1)                            # there is a process for each core already


def _work(item):
    return _encode(item)
