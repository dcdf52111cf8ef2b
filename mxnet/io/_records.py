"""Records of pictures in the order that a pass wants them."""
import functools
import random
from collections import deque, namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from .._files import paths
from ..base import MXNetError
from ..recordio import DamagedRecord, MXIndexedRecordIO, MXRecordIO
from ._deal import dealt
from ._text import check_part, files_of, part_of, size_of

Raw = namedtuple('Raw', ['key', 'uri', 'offset', 'data', 'number'], defaults=[None])
Raw.__doc__ = """A record as it is in the file, with its key in the index, if there is one.

data: its bytes; with even parts None where they cannot be read
number: with even parts, its place in the order of all parts
"""

Corrupt = namedtuple('Corrupt', ['key', 'uri', 'offset', 'problem'])
Corrupt.__doc__ = """A record that could not be used.

key: its key in the index or its id; None if there is neither
uri, offset: the file, and where the record begins in it
problem: what is wrong with it
"""

_CHUNK = 64 << 20       # so much is shuffled at a time, where there is no index
_AHEAD = 16 << 20       # bytes of records of remote files that are announced before they are read
_COUNT = 512            # and how many records


class Records:
    """The records of some files, or of one of `num_parts` parts of them, in the order of each pass.

    With an index: parts have equal numbers of records, and shuffling is of all of them.  Without: parts have equal
    numbers of bytes, and shuffling is of what stands close to each other; `shuffle_chunk_size` (MB) also shuffles
    pieces of this size.  With `even`, which is the size of a batch, all parts have the same order, which is dealt out
    to them batch by batch.
    """

    _readers: Sequence[MXRecordIO]

    def __init__(self, name, path_imgrec, path_imgidx, part_index, num_parts, shuffle, seed, chunk_size, chunk_seed,
                 even=0):
        if not path_imgrec:
            raise MXNetError(f'{name} needs path_imgrec, a .rec file')
        check_part(name, part_index, num_parts)
        self._files = files_of(path_imgrec, name)
        self._shuffle, self._seed = shuffle, seed
        self._chunk_size, self._chunk_seed = chunk_size << 20, chunk_seed
        self._part = part_index, num_parts
        self.even, self.parts = even, num_parts
        if even and not path_imgidx:
            raise MXNetError(f'{name}: even_parts needs path_imgidx, since without an index nothing tells how many '
                             'records there are')
        self._places = self._indexed(name, path_imgidx) if path_imgidx else None
        if self._places is None:
            self._readers = [MXRecordIO(path, 'r') for path in self._files]

    def _indexed(self, name, path_imgidx):
        indexes = files_of(path_imgidx, name)
        if len(indexes) != len(self._files):
            raise MXNetError(f'{name}: there are {len(indexes)} index files for {len(self._files)} record files')
        readers = [MXIndexedRecordIO(index, path, 'r') for index, path in zip(indexes, self._files)]
        self._readers = readers
        places = [(number, position, key) for number, reader in enumerate(readers)
                  for position, key in sorted((position, key) for key, position in reader.idx.items())]
        if self.even:
            return places
        begin, end = part_of(len(places), *self._part)
        return places[begin:end]

    def stream(self, epoch, skip, damaged):
        """Yields the records of a pass from number `skip` on; `damaged` is called with each Corrupt one.

        With even parts, `skip` counts those of all parts, and a record that is damaged is yielded without its bytes.
        """
        if self._places is not None:
            yield from self._by_index(self._places, epoch, skip, damaged)
            return
        for raw in self._in_sequence(epoch, damaged):
            if skip:
                skip -= 1
            else:
                yield raw

    def _by_index(self, order, epoch, skip, damaged):
        if self._shuffle:
            order = order.copy()
            random.Random(f'{self._seed} {epoch}').shuffle(order)
        if self.even:
            part_index, num_parts = self._part
            numbered = [(*place, number) for begin, places in dealt(order, skip, self.even, num_parts, part_index)
                        for number, place in enumerate(places, begin)]
        else:
            numbered = [(*place, None) for place in order[skip:]]
        for file, position, key, number in self._announced(numbered):
            data = None
            try:
                data = self._readers[file].read_at(position)
            except DamagedRecord as damage:
                damaged(Corrupt(key, damage.uri, damage.offset, damage.problem))
            else:
                if data is None:
                    damaged(Corrupt(key, self._files[file], position, 'the file ends here'))
            if data is not None or self.even:
                yield Raw(key, self._files[file], position, data, number)

    def _announced(self, places):
        """Yields places, after the readers of remote files have been told of those that follow."""
        ends = {number: reader.ends() for number, reader in enumerate(self._readers)
                if isinstance(reader, MXIndexedRecordIO) and not paths.is_local(reader.uri)}
        if not ends:
            yield from places
            return
        rest, volume = iter(places), 0
        ahead: deque[Any] = deque()
        while True:
            if volume <= _AHEAD // 2 and len(ahead) <= _COUNT // 2:
                extents: dict[int, list[tuple[int, int]]] = {}
                while volume < _AHEAD and len(ahead) < _COUNT and (place := next(rest, None)) is not None:
                    file, begin = place[:2]
                    end = ends[file][begin] if file in ends else begin
                    ahead.append((place, end - begin))
                    volume += end - begin
                    extents.setdefault(file, []).append((begin, end))
                for file in extents.keys() & ends.keys():
                    self._readers[file].expect_at(extents[file])
            if not ahead:
                return
            place, size = ahead.popleft()
            volume -= size
            yield place

    # ------------------------------------------------------------------ without an index
    def _in_sequence(self, epoch, damaged):
        sizes = [size_of(path) for path in self._files]
        part_index, num_parts = self._part
        pieces = [part_index]
        if self._chunk_size:
            count = -(-sum(sizes) * 11 // (10 * num_parts * self._chunk_size))      # a tenth more: pieces are uneven
            pieces = list(range(part_index * count, (part_index + 1) * count))
            num_parts *= count
            random.Random(f'{self._chunk_seed} {epoch}').shuffle(pieces)
        draw = random.Random(f'{self._seed} {epoch}')
        for piece in pieces:
            begin, end = part_of(sum(sizes), piece, num_parts, 4)
            yield from self._shuffled(self._between(begin, end, sizes, damaged), draw)

    def _shuffled(self, records, draw):
        if not self._shuffle:
            yield from records
            return
        held, size = [], 0
        for raw in records:
            held.append(raw)
            size += len(raw.data)
            if size >= (self._chunk_size or _CHUNK):
                draw.shuffle(held)
                yield from held
                held, size = [], 0
        draw.shuffle(held)
        yield from held

    def _between(self, begin, end, sizes, damaged):
        """Records that begin between two positions in all files one after the other."""
        offset = 0
        for reader, size in zip(self._readers, sizes):
            first, last = max(begin - offset, 0), min(end - offset, size)
            offset += size
            if first >= last:
                continue
            # a reader of its own: `read` is quick because it holds a block of the file, and passes may overlap
            with MXRecordIO(reader.uri, 'r') as own:
                position = own.find(first) if first else 0
                read: Callable[[], bytes | None] = functools.partial(own.read_at, position)
                while position < last:
                    try:
                        data = read()
                    except DamagedRecord as damage:
                        damaged(Corrupt(None, damage.uri, damage.offset, damage.problem))
                    else:
                        if data is None:
                            break
                        yield Raw(None, reader.uri, position, data)
                    read, position = own.read, own.tell()

    # ------------------------------------------------------------------ without the pictures
    def heads(self, size):
        """Yields (first bytes, bytes that it takes in the file) of each record of our part, reading nothing else."""
        if self._places is not None:
            places = [(self._readers[number], position) for number, position, _ in self._places]
        else:
            places = self._positions()
        for reader, position in places:
            head, behind = reader.peek(position, size)
            yield head, min(behind, reader.size()) - position

    def _positions(self):
        sizes = [size_of(path) for path in self._files]
        begin, end = part_of(sum(sizes), *self._part, 4)
        offset = 0
        for reader, size in zip(self._readers, sizes):
            first, last = max(begin - offset, 0), min(end - offset, size)
            offset += size
            position = reader.find(first) if first and first < last else first
            while position < last:
                yield reader, position
                position = reader.peek(position, 0)[1]
