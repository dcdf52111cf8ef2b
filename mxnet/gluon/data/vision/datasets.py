"""Data sets of images: MNIST, Fashion-MNIST, CIFAR, and images in record files, folders and lists.

Files that are in the folder are read, whatever their number of images; what is missing is downloaded.
"""
from __future__ import annotations

import errno
import gzip
import os
import tarfile
import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .... import base, image, ndarray, recordio
from ...._files import idx, limits, paths, published
from ...._kinds import check_kept as _check_kept
from ...._kinds import explain_kinds as _explain_kinds
from ...._names import kind_of
from ...._names import suggest_names as _suggest_names
from ....base import FileError, MXNetError
from ....util import is_np_array
from ...utils import _get_repo_file_url, download
from .. import _sources as sources
from .. import dataset

if TYPE_CHECKING:
    from ...._typing import Path

__all__ = ['CIFAR10', 'CIFAR100', 'FashionMNIST', 'ImageFolderDataset', 'ImageListDataset', 'ImageRecordDataset',
           'MNIST']

MISSING = ('{cls} needs {file}, which is not in {folder} and could not be downloaded ({error}). {hint} Or copy the '
           'file there, or pass the folder that has it as root=.')
DAMAGED = '{path} is not what {cls} expects: {why}. Remove it to have it downloaded again.'


def _folder(root, name):
    return os.path.join(base.data_dir(), 'datasets', name) if root is None else root


def _as_array(values):
    if is_np_array():
        from .... import numpy as np
        return np.array(values, dtype=values.dtype)
    return ndarray.array(values, dtype=values.dtype)


class _ImagesInFiles(dataset._DownloadedDataset):
    """Images and labels that upstream published as files."""

    _namespace = ''

    _mirrors: tuple = ()        # other places with the same files, asked where MXNET_GLUON_REPO names none

    def _obtain(self, name, sha1):
        """The path of a published file: the one in the folder, else it is downloaded to there."""
        path = os.path.join(self._root, name)
        if os.path.exists(path):
            return path
        urls = [_get_repo_file_url(f'gluon/dataset/{self._namespace}', name)]
        if not os.environ.get('MXNET_GLUON_REPO'):
            urls += [mirror + name for mirror in self._mirrors]
        errors = []
        for url in urls:
            try:
                return download(url, path=path, sha1_hash=sha1, retries=2)
            except (MXNetError, OSError) as error:
                errors.append(error)
        raise MXNetError(MISSING.format(cls=type(self).__name__, file=name, folder=self._root,
                                        hint=published.hint(self._namespace, None if self._root == _folder(
                                            None, self._namespace) else self._root),
                                        error='; '.join(map(str, errors)))) from errors[-1]

    def _damaged(self, path, why):
        return MXNetError(DAMAGED.format(path=path, cls=type(self).__name__, why=why))


class MNIST(_ImagesInFiles):
    """Handwritten digits: images (28, 28, 1) of uint8 and labels of int32.

    `transform(image, label)` changes every sample.  The folder is `$MXNET_HOME/datasets/mnist` unless `root` names one;
    files may be packed (.gz) or not.
    """

    _namespace = 'mnist'
    _mirrors: tuple = published.DATASETS['mnist'][1]
    _files = {True: published.files('mnist', 'train'), False: published.files('mnist', 't10k')}

    def __init__(self, root: Path | None = None, train: bool = True,
                 transform: Callable[..., Any] | None = None) -> None:
        self._train = train
        super().__init__(_folder(root, self._namespace), transform)

    def _get_data(self):
        images, labels = (self._read(*file) for file in self._files[bool(self._train)])
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise MXNetError(f'{type(self).__name__}: the files in {self._root} hold images of shape {images.shape} '
                             f'and labels of shape {labels.shape}, which do not belong together')
        labels = labels.astype(numpy.int32)
        self._data = _as_array(images[..., None])
        self._label = _as_array(labels) if is_np_array() else labels

    def _read(self, name, sha1):
        """The array in an IDX file: bytes after a head with its axes."""
        unpacked = os.path.join(self._root, name.removesuffix('.gz'))
        path = unpacked if os.path.exists(unpacked) else self._obtain(name, sha1)
        try:
            with gzip.open(path) if path.endswith('.gz') else open(path, 'rb') as file:
                content = limits.unpacked(file, os.path.getsize(path), path, 'what is packed in it')
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(path, error) from error
        try:
            return idx.parse(content)
        except idx.Malformed as error:
            raise self._damaged(path, f'it {error}') from None


class FashionMNIST(MNIST):
    """Articles of clothing in place of digits, otherwise as `MNIST`."""

    _namespace = 'fashion-mnist'
    _mirrors = published.DATASETS['fashion-mnist'][1]
    _files = {True: published.files('fashion-mnist', 'train'), False: published.files('fashion-mnist', 't10k')}


class CIFAR10(_ImagesInFiles):
    """Photographs of ten kinds of things: images (32, 32, 3) of uint8 and labels of int32.

    `transform(image, label)` changes every sample.  The folder is `$MXNET_HOME/datasets/cifar10` unless `root` names
    one; it holds the binary files, or the archive that they come in.
    """

    _namespace = 'cifar10'
    _mirrors = published.DATASETS['cifar10'][1]
    _archive = published.files('cifar10')[0]
    _inner = 'cifar-10-batches-bin'
    _files = {True: [f'data_batch_{i}.bin' for i in range(1, 6)], False: ['test_batch.bin']}
    _labels = 1                # bytes of labels in front of an image
    _chosen = 0                # which of these

    def __init__(self, root: Path | None = None, train: bool = True,
                 transform: Callable[..., Any] | None = None) -> None:
        self._train = train
        super().__init__(_folder(root, self._namespace), transform)

    def _get_data(self):
        parts = [self._read_batch(path) for path in self._paths()]
        labels = numpy.concatenate([labels for _, labels in parts])
        self._data = _as_array(numpy.concatenate([images for images, _ in parts]))
        self._label = _as_array(labels) if is_np_array() else labels

    def _paths(self):
        names = self._files[bool(self._train)]
        for folder in (self._root, os.path.join(self._root, self._inner)):
            found = [os.path.join(folder, name) for name in names]
            if all(os.path.exists(path) for path in found):
                return found
        archive = self._obtain(*self._archive)
        try:
            with tarfile.open(archive) as tar:
                inside = {os.path.basename(member.name): member for member in tar.getmembers() if member.isfile()}
                for name in names:
                    if name not in inside:
                        raise self._damaged(archive, f'it holds no {name}')
                    source = tar.extractfile(inside[name])
                    assert source is not None, name         # it is a file
                    with source:
                        _write(os.path.join(self._root, name), limits.unpacked(
                            source, os.path.getsize(archive), archive, name))
        except MXNetError:
            raise
        except Exception as error:          # damaged archives make the libraries raise many things
            raise self._damaged(archive, limits.broken(error)) from error
        return [os.path.join(self._root, name) for name in names]

    def _read_batch(self, path):
        content = numpy.fromfile(path, numpy.uint8)
        size = self._labels + 3 * 32 * 32
        if not len(content) or len(content) % size:
            raise self._damaged(path, f'{len(content)} bytes are not images of {size} bytes each')
        rows = content.reshape(-1, size)
        images = rows[:, self._labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return images, rows[:, self._chosen].astype(numpy.int32)


def _write(path, content):
    paths.write_atomic(path, [content])


class CIFAR100(CIFAR10):
    """Photographs of a hundred kinds of things in twenty groups.

    The label is the group, or with `fine_label` the kind.
    """

    _namespace = 'cifar100'
    _archive = published.files('cifar100')[0]
    _inner = 'cifar-100-binary'
    _files = {True: ['train.bin'], False: ['test.bin']}
    _labels = 2

    def __init__(self, root: Path | None = None, fine_label: bool = False, train: bool = True,
                 transform: Callable[..., Any] | None = None) -> None:
        self._fine_label = fine_label
        self._chosen = int(bool(fine_label))
        super().__init__(root, train, transform)


# ---------------------------------------------------------------------- images in files of one's own
class ImageRecordDataset(dataset.RecordFileDataset):
    """The images of a record file that `im2rec` wrote: (image, label).

    `flag` is 1 for three channels of colour, 0 for one of gray; `transform(image, label)` changes every sample.
    """

    def __init__(self, filename: Path, flag: int = 1, transform: Callable[..., Any] | None = None) -> None:
        super().__init__(filename)
        self._flag, self._transform = flag, transform

    def __getitem__(self, idx: int) -> Any:
        record = super().__getitem__(idx)
        try:
            header, content = recordio.unpack(record)
            picture = image.imdecode(content, self._flag)
        except MXNetError as error:
            raise MXNetError(f'{self.filename}: record {idx}: {error}') from error
        return (picture, header.label) if self._transform is None else self._transform(picture, header.label)

    def _reads_by_number(self):
        return sources.reads_like(self, ImageRecordDataset)


class _ImageFiles(dataset.Dataset):
    """Images in files of their own: `items` are (path, label)."""

    items: Any
    _flag: int
    _transform: Any

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        picture = image.imread(path, self._flag)
        return (picture, label) if self._transform is None else self._transform(picture, label)

    def __len__(self) -> int:
        return len(self.items)


class ImageFolderDataset(_ImageFiles):
    """Images in folders, one for each class: (image, number of the folder).

    `synsets` are the names of the folders, in order; `items` are (path, label).
    """

    items: Any

    _exts = ('.jpg', '.jpeg', '.png')

    def __init__(self, root: Path, flag: int = 1, transform: Callable[..., Any] | None = None) -> None:
        self._root = os.path.expanduser(root)
        self._flag, self._transform = flag, transform
        self.synsets: Any
        self.synsets, self.items = [], []
        if not os.path.isdir(self._root):
            raise FileNotFoundError(errno.ENOENT, 'ImageFolderDataset: root must be a folder with one folder for each '
                                    'class; there is no folder', self._root)
        for folder in sorted(os.listdir(self._root)):
            path = os.path.join(self._root, folder)
            if not os.path.isdir(path):
                warnings.warn(f'{path} is not a folder, so it is left out', stacklevel=2)
                continue
            label = len(self.synsets)
            self.synsets.append(folder)
            for name in sorted(os.listdir(path)):
                if os.path.splitext(name)[1].lower() in self._exts:
                    self.items.append((os.path.join(path, name), label))
                else:
                    warnings.warn(f'{os.path.join(path, name)} is left out: images end in {", ".join(self._exts)}',
                                  stacklevel=2)


class ImageListDataset(_ImageFiles):
    """Images that a list names: (image, label).

    `imglist` is a `.lst` file as `im2rec` writes it (number, labels and path, with tabs between), or a list of
    (label or labels, path); paths are below `root`.
    """

    items: Any

    def __init__(self, root: Path = '.', imglist: str | Sequence[Any] | None = None, flag: int = 1,
                 transform: Callable[..., Any] | None = None) -> None:
        self._root = os.path.expanduser(root)
        self._flag, self._transform = flag, transform
        self.items = []
        if isinstance(imglist, str):
            if not imglist.endswith('.lst'):
                raise ValueError(f'imglist {imglist!r} must be a .lst file or a list of (label, path)')
            self._read(os.path.join(self._root, os.path.expanduser(imglist)))
        elif isinstance(imglist, (list, tuple)):
            for number, entry in enumerate(imglist):
                if not isinstance(entry, (list, tuple)) or len(entry) < 2:
                    raise ValueError(f'entry {number} of imglist must be (label, path), not {entry!r}')
                *labels, name = entry
                if len(labels) == 1 and not isinstance(labels[0], (list, tuple)):
                    label = labels[0]
                else:
                    label = numpy.array(labels[0] if len(labels) == 1 else labels, dtype=numpy.float32)
                self.items.append((os.path.join(self._root, name), label))
        else:
            raise ValueError(f'imglist must be a .lst file or a list of (label, path), not {kind_of(imglist)}')

    def _read(self, path):
        for number, line in enumerate(paths.read_bytes(path).split(b'\n'), 1):
            try:
                parts = line.strip().decode().split('\t')
                if parts == ['']:
                    continue
                labels = numpy.array([float(part) for part in parts[1:-1]], dtype=numpy.float32)
                if not len(labels):
                    raise ValueError
            except ValueError:
                raise FileError(f'{path}, line {number}: expected number, labels and path with tabs between, not '
                                f'{line.strip()[:80]!r}') from None
            label = float(labels[0]) if len(labels) == 1 else labels
            self.items.append((os.path.join(self._root, parts[-1]), label))


_explain_kinds(globals(), __all__)
_check_kept(ImageFolderDataset, 'transform')
_check_kept(ImageRecordDataset, 'transform')
_suggest_names(globals())
