"""Data sets: things with a length and an index, and what can be done with them."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import ndarray, recordio
from ..._files import paths
from ..._kinds import explain_kinds as _explain_kinds
from ..._kinds import explain_methods as _explain_methods
from ..._names import kind_of
from ...base import MXNetError
from . import _sources as sources
from . import sampler as _sampler

if TYPE_CHECKING:
    from ..._typing import Path
    from ...gluon.data import Sampler

__all__ = ['ArrayDataset', 'Dataset', 'RecordFileDataset', 'SimpleDataset']


class Dataset:
    """Samples by number: a subclass has `__getitem__` and `__len__`.  Arrays and lists are data sets, too."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f'{type(self).__name__} has no __getitem__')

    def __len__(self) -> int:
        raise NotImplementedError(f'{type(self).__name__} has no __len__')

    def _source(self):
        """How `DataLoader` may read samples in fewer steps than by index; None: it may not."""
        return None

    def _expecter(self):
        """What takes the indices of samples that will be read soon; None: it makes no difference."""
        return None

    def filter(self, fn: Callable[..., Any]) -> Dataset:
        """The samples for which `fn(sample)` is true; it is asked at once, for all of them."""
        if not callable(fn):
            raise TypeError(f'filter: fn must be a function of a sample, not {kind_of(fn)}')
        return _SampledDataset(self, _sampler.FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Part `index` of `num_shards` parts of about equal length, for one of several workers.

        >>> list(SimpleDataset([1, 2, 3, 4, 5]).shard(2, 0))
        [1, 2, 3]
        """
        if num_shards < 1 or not 0 <= index < num_shards:
            raise AssertionError(f'shard: there is no shard {index} of {num_shards}')
        length, rest = divmod(len(self), num_shards)
        start = length * index + min(index, rest)
        return _SampledDataset(self, _sampler.SequentialSampler(length + (index < rest), start))

    def take(self, count: int | None) -> Dataset:
        """The first `count` samples; all of them if there are fewer or `count` is None."""
        if count is not None and count < 0:
            raise ValueError(f'take: count must be 0 or more, not {count}')
        length = len(self)
        return _SampledDataset(self, _sampler.SequentialSampler(length if count is None else min(count, length)))

    def sample(self, sampler: Sampler) -> Dataset:
        """The samples that a sampler names, in its order."""
        if not isinstance(sampler, _sampler.Sampler):
            raise TypeError(f'sample takes a gluon.data.Sampler, not {kind_of(sampler)}')
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """The samples after `fn(sample)`, or `fn(*sample)` where a sample is a tuple.

        With lazy=False all samples are made at once, and kept; else each one when it is asked for.

        >>> list(SimpleDataset([1, 2, 3]).transform(lambda x: x * 10))
        [10, 20, 30]
        """
        _check_function(fn, 'transform')
        transformed = _LazyTransformDataset(self, fn)
        return transformed if lazy else SimpleDataset([transformed[i] for i in range(len(transformed))])

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """The samples with `fn` applied to the first part of each, such as the image but not its label."""
        _check_function(fn, 'transform_first')
        return self.transform(_TransformFirstClosure(fn), lazy)


def _check_function(fn, what):
    if not callable(fn):
        raise TypeError(f'{what}: fn must be a function, not {kind_of(fn)}')
    if isinstance(fn, type) and hasattr(fn, 'collect_params'):
        raise TypeError(f'{what}: fn must be a function or a transform, not {kind_of(fn)}; call it to make a '
                        f'transform: {fn.__name__}(...)')


class SimpleDataset(Dataset):
    """A list, array or anything else with a length and an index, as a data set."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]

    def _source(self):
        return sources.of(self._data) if sources.reads_like(self, SimpleDataset) else None


class ArrayDataset(Dataset):
    """Arrays, lists or data sets of one length side by side: sample i is `(x[i], y[i], ...)`."""

    def __init__(self, *args: Any) -> None:
        if not args:
            raise AssertionError('ArrayDataset needs at least one array')
        for i, data in enumerate(args):
            if not hasattr(data, '__len__') or isinstance(data, str):
                raise TypeError(f'ArrayDataset: argument {i} must be an array, a list or a data set, not '
                                f'{kind_of(data)}')
        self._length = len(args[0])
        self._data: Any = []
        for i, data in enumerate(args):
            if len(data) != self._length:
                raise AssertionError(f'all arrays of an ArrayDataset must have one length, but the first has '
                                     f'{self._length} and number {i} has {len(data)}')
            # one number a sample: NumPy reads these quickly, and labels in a batch get one axis
            is_vector = isinstance(data, ndarray.NDArray) and len(data.shape) == 1
            self._data.append(data.asnumpy() if is_vector else data)

    def __getitem__(self, idx: int) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self) -> int:
        return self._length

    def _source(self):
        return sources.columns(self._data) if sources.reads_like(self, ArrayDataset) else None


class RecordFileDataset(Dataset):
    """The records of a RecordIO file (`.rec`), as bytes; its index (`.idx`) lies beside it."""

    def __init__(self, filename: Path) -> None:
        self.filename = filename
        self.idx_file: str = os.path.splitext(filename)[0] + '.idx'
        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, 'r')

    def __getitem__(self, idx: int) -> Any:
        key = self._record.keys[idx]
        record = self._record.read_idx(key)
        if record is None:
            raise MXNetError(f'{self.idx_file}: the record with the key {key} should be at byte '
                             f'{self._record.idx[key]} of {self.filename}, but there the file ends')
        return record

    def __len__(self) -> int:
        return len(self._record.keys)

    def _expecter(self):
        return self._expect if not paths.is_local(self.filename) and self._reads_by_number() else None

    def _reads_by_number(self):
        """Whether sample i is the record of key number i: a subclass may read in its own way."""
        return sources.reads_like(self, RecordFileDataset)

    def _expect(self, indices):
        keys, length = self._record.keys, len(self)
        self._record.expect([keys[i] for i in indices if -length <= i < length])


class _LazyTransformDataset(Dataset):
    """Samples that are transformed when they are asked for."""

    def __init__(self, data, fn):
        self._data: Any
        self._data, self._fn = data, fn

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        item = self._data[idx]
        if not isinstance(item, tuple):
            return self._fn(item)
        try:
            return self._fn(*item)
        except TypeError as error:
            if 'positional argument' in str(error):
                error.add_note(f'transform passes all {len(item)} parts of a sample to fn; transform_first passes the '
                               f'first part only')
            raise

    def _source(self):
        return sources.transformed(sources.of(self._data), self._fn)

    def _expecter(self):
        return sources.expecter(self._data)


class _TransformFirstClosure:
    """`fn` on the first argument; an object, because workers that are spawned must be able to pickle it."""

    def __init__(self, fn):
        self._fn = fn

    def __call__(self, x, *args):
        return (self._fn(x), *args) if args else self._fn(x)


class _SampledDataset(Dataset):
    """The samples that a sampler names."""

    def __init__(self, dataset, sampler):
        self._dataset, self._sampler = dataset, sampler
        self._indices = list(sampler)

    def __len__(self):
        return len(self._indices)

    def __getitem__(self, idx):
        return self._dataset[self._indices[idx]]

    def _source(self):
        return sources.selected(sources.of(self._dataset), self._indices)

    def _expecter(self):
        return self._expect if sources.expecter(self._dataset) is not None else None

    def _expect(self, indices):
        sources.expecter(self._dataset)([self._indices[i] for i in indices])


class _DownloadedDataset(Dataset):
    """Images and labels in memory, from files in a folder that are downloaded where they are missing."""

    def __init__(self, root: Path, transform: Callable[..., Any] | None) -> None:
        super().__init__()
        self._transform = transform
        self._data: Any
        self._label: Any
        self._data = self._label = None
        self._root = os.path.expanduser(root)
        self._get_data()

    def __getitem__(self, idx: int | slice) -> Any:
        if self._transform is not None:
            return self._transform(self._data[idx], self._label[idx])
        return self._data[idx], self._label[idx]

    def __len__(self) -> int:
        return len(self._label)

    def _get_data(self):
        raise NotImplementedError(f'{type(self).__name__} has no _get_data')

    def _source(self):
        if not sources.reads_like(self, _DownloadedDataset):
            return None
        found = sources.columns([self._data, self._label])
        return found if self._transform is None else sources.transformed(found, self._transform)


_explain_kinds(globals(), ('RecordFileDataset',))
_explain_methods(Dataset, 'filter shard take sample transform transform_first')
