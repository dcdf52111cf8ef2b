"""`ImageIter`: batches of images from files or records, augmented by Python objects."""
from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy
import torch

from .. import ndarray as nd
from .. import recordio
from .._array import wrap
from .._files import paths
from .._kinds import check_kept as _check_kept
from .._wording import plain
from ..base import MissingFile, MXNetError
from ..context import cpu
from ..io import DataBatch, DataDesc, DataIter
from ..io._base import check_state
from ._augmenters import CreateAugmenter
from .image import _array_type, imdecode

if TYPE_CHECKING:
    from .._typing import AugmenterOptions, DType, Path
    from ..ndarray import NDArray

__all__ = ['ImageIter']

_DTYPES = ('int32', 'float32', 'int64', 'float64')
_LAST = ('pad', 'discard', 'roll_over')


class ImageIter(DataIter):
    """Batches of images from a .rec file or from image files, changed by a list of augmenters.

    batch_size, data_shape: how many, and (3, height, width) of each
    path_imgrec: a .rec file; path_imgidx, its .idx file, is needed to shuffle or to read a part
    path_imglist: a .lst file (number, labels and path in each line, with tabs), whose labels replace those of the .rec;
        without a .rec, images are read from its paths, below path_root
    imglist: the same as a list of [label, path] or [label, ..., path]
    label_width: how many labels an image has
    shuffle: a new order in each pass, from Python's `random`
    part_index, num_parts: reads one of so many parts
    aug_list: augmenters; without it, CreateAugmenter makes them of the other arguments
    dtype: of labels in lists: int32, float32, int64 or float64
    last_batch_handle: what becomes of images that are left when the last batch is not full.  'pad' fills it with images
        from the beginning, 'discard' drops them, 'roll_over' puts them at the front of the next pass.
    on_corrupt: 'raise' an error for an image that cannot be decoded, or 'skip' it; `corrupt` lists what was left out

    Subclasses may replace next_sample, read_image, imdecode, check_valid_image, augmentation_transform and
    postprocess_data.
    """

    imgidx: Any
    provide_data: Any
    provide_label: Any
    cur: Any

    def __init__(self, batch_size: int, data_shape: Sequence[int], label_width: int = 1,
                 path_imgrec: Path | None = None, path_imglist: Path | None = None, path_root: Path | None = None,
                 path_imgidx: Path | None = None,
                 shuffle: bool = False, part_index: int = 0, num_parts: int = 1,
                 aug_list: Sequence[Callable[..., Any]] | None = None, imglist: Any = None, data_name: str = 'data',
                 label_name: str = 'softmax_label', dtype: DType = 'float32', last_batch_handle: str = 'pad',
                 on_corrupt: str = 'raise', **kwargs: Unpack[AugmenterOptions]) -> None:
        super().__init__(batch_size)
        name = type(self).__name__
        if not (path_imgrec or path_imglist or isinstance(imglist, list)):
            raise ValueError(f'{name} needs path_imgrec, path_imglist or imglist')
        for key, value, known in (('dtype', dtype, _DTYPES), ('last_batch_handle', last_batch_handle, _LAST),
                                  ('on_corrupt', on_corrupt, ('raise', 'skip'))):
            if value not in known:
                raise ValueError(f'{name}: {key} must be one of {known}, not {value!r}')
        self.imgrec: Any
        self.imglist: Any
        self.seq: Any
        self.imgrec = self.imgidx = self.imglist = self.seq = None
        if path_imgrec and path_imgidx:
            self.imgrec = recordio.MXIndexedRecordIO(path_imgidx, path_imgrec, 'r')
            self.imgidx = self.seq = list(self.imgrec.keys)
        elif path_imgrec:
            self.imgrec = recordio.MXRecordIO(path_imgrec, 'r')
        self._list = path_imglist
        if path_imglist:
            self.imglist = _read_list(path_imglist, dtype)
        elif isinstance(imglist, list):
            self.imglist = {str(i): (nd.array(_labels(entry), dtype=dtype), entry[-1])
                            for i, entry in enumerate(imglist, 1)}
        if self.imgrec is None:
            self.seq = list(self.imglist)
        self.path_root: Any = path_root or ''
        self.check_data_shape(data_shape)
        self.data_shape: tuple[int, ...]
        self.label_width: int
        self.data_shape, self.label_width = tuple(data_shape), label_width
        self.provide_data = [DataDesc(data_name, (batch_size, *data_shape))]
        label_shape = (batch_size, label_width) if label_width > 1 else (batch_size,)
        self.provide_label = [DataDesc(label_name, label_shape)]
        self.shuffle: bool
        self.last_batch_handle: str
        self.on_corrupt: str
        self.shuffle, self.last_batch_handle, self.on_corrupt = shuffle, last_batch_handle, on_corrupt
        if (shuffle or num_parts > 1) and self.seq is None:
            raise ValueError(f'{name}: to shuffle, or to read a part, a .rec file needs path_imgidx')
        if num_parts > 1:
            if not 0 <= part_index < num_parts:
                raise ValueError(f'{name}: part_index must be between 0 and {num_parts - 1}, not {part_index}')
            size = len(self.seq) // num_parts
            self.seq = self.seq[part_index * size:(part_index + 1) * size]
        self.auglist: Any = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.num_image: Any = None if self.seq is None else len(self.seq)
        self.corrupt: list[Any] = []
        self.cur = 0
        self._rolled: Any = None
        self.hard_reset()

    # ------------------------------------------------------------------ passes
    def reset(self) -> None:
        """Back to the first image, in a new order if shuffled; leftovers of 'roll_over' come first."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rewind()
        self._ended = False

    def hard_reset(self) -> None:
        """As `reset`, but leftovers of 'roll_over' are forgotten."""
        self._rolled = None
        self.reset()

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator is, and in which order it goes, for `load_state_dict`; augmenters draw from `random`."""
        rolled = None if self._rolled is None else (*[t.numpy().copy() for t in self._rolled[:2]], self._rolled[2])
        return {'num_image': self.num_image, 'batch_size': self.batch_size, 'cur': self.cur, 'ended': self._ended,
                'order': None if self.seq is None else list(self.seq), 'rolled': rolled}

    def load_state_dict(self, state: Any) -> None:
        """Goes on where `state_dict` was called."""
        check_state(type(self).__name__, state, num_image=self.num_image, batch_size=self.batch_size)
        if self.seq is not None and sorted(state['order']) != sorted(self.seq):
            raise ValueError(f'{type(self).__name__}: the state is one of other data: its images are others')
        self._rewind()
        if self.seq is None:
            for _ in range(state['cur']):
                self.next_sample()
        else:
            self.seq = list(state['order'])
        rolled = state['rolled']
        self._rolled = None if rolled is None else (*[torch.from_numpy(a.copy()) for a in rolled[:2]], rolled[2])
        self.cur, self._ended = state['cur'], state['ended']

    def _rewind(self):
        self.cur = 0
        if self.imgrec is not None and self.seq is None:
            self.imgrec.reset()

    def next_sample(self) -> Any:
        """(label, bytes of the image) of the next image; StopIteration after the last."""
        if self.seq is None:
            record = self.imgrec.read()
            if record is None:
                raise StopIteration
            self.cur += 1
            header, image = self._unpacked(record)
            return self._label_of(header.id, header), image
        if self.cur >= self.num_image:
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            label, path = self.imglist[key]
            return label, self.read_image(path)
        header, image = self._unpacked(self.imgrec.read_idx(key))
        return self._label_of(key, header), image

    def _unpacked(self, record):
        if record is None:
            raise MXNetError(f'{type(self).__name__}: {self._where()}: its index names a place where the file ends')
        try:
            return recordio.unpack(record)
        except MXNetError as error:
            raise MXNetError(f'{type(self).__name__}: {self._where()}: {error}') from error

    def _label_of(self, key, header):
        if self.imglist is None:
            return header.label
        if key not in self.imglist:
            raise MXNetError(f'{type(self).__name__}: the list has no labels for record {key}')
        return self.imglist[key][0]

    def next(self) -> DataBatch:
        """The next batch; StopIteration after the last one of the pass."""
        if self._ended:
            raise StopIteration
        rolled, self._rolled = self._rolled, None
        data, label, count = rolled or (*self._empty_batch(), 0)
        pad = self.batch_size - count if rolled else 0      # so many of this pass, as upstream counts
        count = self._batchify(data, label, count)
        if count < self.batch_size:
            self._ended = True
            if not count or self.last_batch_handle == 'discard':
                raise StopIteration
            if self.last_batch_handle == 'roll_over':
                self._rolled = data, label, count
                raise StopIteration
            pad = self.batch_size - count
            while count < self.batch_size:
                self._rewind()
                count = self._batchify(data, label, count)
        kind = _array_type()
        return DataBatch([wrap(data, cpu(), kind)], [wrap(label, cpu(), kind)], pad=pad)

    def _empty_batch(self):
        return torch.zeros(self.provide_data[0].shape), torch.zeros(self.provide_label[0].shape)

    def _batchify(self, data, label, start):
        """Fills a batch from example `start` on, as far as there are images; how far that is."""
        while start < self.batch_size:
            try:
                found = self._next_example()
            except StopIteration:
                break
            if found is not None:
                self._place(data, start, found[0])
                self._place_label(label[start], found[1])
                start += 1
        return start

    def _next_example(self):
        """(image, label), or None if it cannot be used."""
        label, data = self.next_sample()
        try:
            image = self.imdecode(data)
        except RuntimeError as error:
            if self.on_corrupt == 'raise':
                raise
            if self._where() not in [key for key, _ in self.corrupt]:
                self.corrupt.append((self._where(), str(error)))
                logging.warning('%s; left out, %d so far', error, len(self.corrupt))
            return None
        return self._augmented(image, label)

    def _augmented(self, image, label):
        try:
            self.check_valid_image([image])
        except RuntimeError as error:
            logging.debug('an image is left out: %s', error)
            return None
        return self.augmentation_transform(image), label

    def _place(self, batch, number, image):
        image = self.postprocess_data(image).materialize()
        if tuple(image.shape) != tuple(batch.shape[1:]):
            raise MXNetError(f'{type(self).__name__}: {self._where()}: after augmentation the image has shape '
                             f'{tuple(image.shape)}, but data_shape is {tuple(batch.shape[1:])}')
        batch[number] = image.detach()

    def _place_label(self, place, label):
        label = numpy.asarray(label.asnumpy() if isinstance(label, nd.NDArray) else label, numpy.float32)
        if label.size != place.numel():
            raise MXNetError(f'{type(self).__name__}: {self._where()} has {label.size} labels, but label_width is '
                             f'{self.label_width}')
        place.copy_(torch.from_numpy(numpy.array(label)).reshape(place.shape))

    def _where(self):
        """Names the image that was read last."""
        if self.seq is None:
            return f'image {self.cur - 1} of {self.imgrec.uri}'
        key = self.seq[self.cur - 1]
        if self.imgrec is not None:
            return f'image {key} of {self.imgrec.uri}'
        return f'image {self.imglist[key][1]!r}' + (f' of {self._list}' if self._list else '')

    # ------------------------------------------------------------------ what subclasses may replace
    def check_data_shape(self, data_shape: Sequence[int]) -> None:
        """Raises ValueError if it is not (3, height, width)."""
        if len(data_shape) != 3 or data_shape[0] != 3:
            raise ValueError(f'{type(self).__name__}: data_shape must be (3, height, width), not {tuple(data_shape)}')

    def check_valid_image(self, data: Any) -> None:
        """Raises RuntimeError if the image, in a list, is none."""
        if len(data[0].shape) == 0:
            raise RuntimeError('the image has no axes')

    def imdecode(self, s: bytes) -> NDArray:
        """The image of the bytes of an image file."""
        try:
            return imdecode(s)
        except Exception as error:
            raise MXNetError(f'{type(self).__name__}: {self._where()} cannot be decoded: {error}') from error

    def read_image(self, fname: Path) -> bytes:
        """The bytes of an image file below path_root."""
        try:
            return paths.read_bytes(os.path.join(self.path_root, fname))
        except MissingFile as error:
            if not self._list:
                raise
            raise MissingFile(f'{self._list}: {error}') from None

    def augmentation_transform(self, data: NDArray) -> NDArray:
        """The image after all augmenters."""
        for aug in self.auglist:
            data = aug(data)
        return data

    def postprocess_data(self, datum: NDArray) -> NDArray:
        """The image as it is put into the batch: (channels, height, width)."""
        return datum.transpose((2, 0, 1))


def _labels(entry):
    """The labels of [label, path], [[label, ...], path] or [label, ..., path]."""
    labels = entry[:-1] if len(entry) > 2 else entry[0]
    return labels if isinstance(labels, (list, tuple, numpy.ndarray, nd.NDArray)) else [labels]


def _read_list(path, dtype):
    """{number: (labels, path)} of a .lst file."""
    found = {}
    for number, line in enumerate(paths.read_bytes(path).decode(errors='replace').splitlines(), 1):
        fields = line.strip().split('\t')
        if len(fields) < 2:
            if line.strip():
                raise MXNetError(f'{path}, line {number} should be a number, labels and a path with tabs between them, '
                                 f'but is {line!r}')
            continue
        try:
            found[int(fields[0])] = nd.array([float(label) for label in fields[1:-1]], dtype=dtype), fields[-1]
        except (ValueError, OverflowError, MXNetError) as error:
            raise MXNetError(f'{path}, line {number}: {plain(error)}') from error
    return found


_check_kept(ImageIter, 'aug_list')
