"""`remx rec2idx`: makes the index of a record file again."""
from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from .. import recordio
from .._files import paths
from ..base import MXNetError
from ._progress import Bar

if TYPE_CHECKING:
    from .._typing import Path

EXPLAIN = """Creates the index (.idx) of a record file: the position of each record, with its number as the key. Damaged
records are reported and skipped."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    parser.add_argument('record', metavar='FILE.rec', help='a record file, or a URL of one')
    parser.add_argument('index', metavar='FILE.idx', nargs='?', help='the index (default: FILE.idx in the same folder)')
    parser.add_argument('--quiet', action='store_true', help='no progress bar')


def rec2idx(options: Any) -> int:
    """Runs the command; returns its exit status."""
    try:
        index = options.index or os.path.splitext(options.record)[0] + '.idx'
        positions, damages = scan(options.record, options.quiet)
        if damages and not positions:
            raise MXNetError(f'{options.record} has no records')
        paths.write_atomic(index, [''.join(f'{key}\t{at}\n' for key, at in enumerate(positions)).encode()])
    except MXNetError as error:
        print(f'remx rec2idx: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('remx rec2idx: stopped; no index was written', file=sys.stderr)
        return 130
    print(f'{index}: {len(positions)} records' + (f', {len(damages)} damaged places left out' if damages else ''))
    return 0


def scan(uri: Path, quiet: bool = False) -> Any:
    """-> (positions of all good records, errors about the damaged ones, which are printed, too)."""
    positions: list[Any] = []
    damages: list[Any] = []
    with recordio.MXRecordIO(uri, 'r') as reader:
        size = reader.size()
        bar = Bar(size, os.path.basename(uri), quiet)
        with contextlib.closing(bar):
            while True:
                begin = reader.tell()
                try:
                    if reader.read() is None:
                        return positions, damages
                    positions.append(begin)
                except recordio.DamagedRecord as damage:
                    damages.append(damage)
                    bar.clear()
                    print(damage, file=sys.stderr, flush=True)
                bar.step(reader.tell() - begin)
