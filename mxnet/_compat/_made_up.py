"""Random data in the form of published data sets, for programs that are only to be tried."""

import functools
import gzip
import io
import os
import pickle
import struct
import tarfile
import tempfile
import zipfile
from typing import Any

_folder: list[str] = []
IDX = {
    'train-images-idx3-ubyte': (2051, 60000),
    'train-labels-idx1-ubyte': (2049, 60000),
    't10k-images-idx3-ubyte': (2051, 10000),
    't10k-labels-idx1-ubyte': (2049, 10000),
}


def knows(name):
    """Whether data can be made up for a file of this name."""
    return name.removesuffix('.gz') in IDX or name in _ARCHIVES or name in _UNPACKED


def make(name, url=''):
    """The path of a file of made-up data in the form of the published file; None for a file that is not known."""
    if not knows(name):
        return None
    if not _folder:
        _folder.append(tempfile.mkdtemp(prefix='remx-made-up-'))
        import atexit
        import shutil

        atexit.register(shutil.rmtree, _folder[0], True)
    path = os.path.join(_folder[0], name)
    if not os.path.exists(path):
        plain = name.removesuffix('.gz')
        if plain in IDX:
            with gzip.open(path, 'wb', 0) if name.endswith('.gz') else open(path, 'wb') as file:
                file.write(_idx(plain))
        elif name in _UNPACKED:
            with open(path, 'wb') as file:
                file.write(_UNPACKED[name](name))
        else:
            _ARCHIVES[name](path)
    return path


def digits(count, seed):
    """-> (images of shape (count, 28, 28), labels), such that networks can learn them."""
    import numpy

    chance = numpy.random.RandomState(seed)
    labels = chance.randint(0, 10, count).astype('uint8')
    return _noisy(numpy.random.RandomState(5).randint(0, 256, (10, 28, 28)), labels, chance), labels


def _noisy(forms, labels, chance):
    """The form of each label, with noise, as bytes."""
    noise = chance.randint(-40, 41, (len(labels), *forms.shape[1:]), 'int8')
    pictures = forms.astype('int16')[labels]
    pictures += noise
    return pictures.clip(0, 255, out=pictures).astype('uint8')


def photographs(count, seed, classes=10):
    """-> (images of shape (count, 3, 32, 32), labels)."""
    import numpy

    chance = numpy.random.RandomState(seed)
    labels = chance.randint(0, classes, count).astype('uint8')
    return _noisy(numpy.random.RandomState(7).randint(0, 256, (classes, 3, 32, 32)), labels, chance), labels


def _idx(name):
    magic, count = IDX[name]
    images, labels = digits(count, name.startswith('t10k'))
    if magic == 2051:
        return struct.pack('>4I', magic, count, 28, 28) + images.tobytes()
    return struct.pack('>2I', magic, count) + labels.tobytes()


def _mnist_zip(path):
    with zipfile.ZipFile(path, 'w') as archive:
        for name in IDX:
            archive.writestr(name, _idx(name))


def _mnist_pkl(path):
    train, valid, test = digits(50000, 0), digits(10000, 2), digits(10000, 1)
    sets = [
        (images.reshape(-1, 784).astype('float32') / 255, labels.astype('int64'))
        for images, labels in (train, valid, test)
    ]
    with gzip.open(path, 'wb', 0) if path.endswith('.gz') else open(path, 'wb') as file:
        pickle.dump(tuple(sets), file, 2)


def _mnist_npz(path):
    """All digits under the names of the file for Keras, and of the one that upstream's Bayesian examples read."""
    import numpy

    (x, y), (x_test, y_test) = digits(60000, 0), digits(10000, 1)
    with open(path, 'wb') as file:
        numpy.savez(file, x_train=x, y_train=y, x_test=x_test, y_test=y_test, X=x.reshape(-1, 784), Y=y,
                    X_test=x_test.reshape(-1, 784), Y_test=y_test)


def _tar(path, files):
    with tarfile.open(path, 'w:gz', compresslevel=0) as archive:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def _cifar_batch(name):
    """One file of CIFAR-10, named as after unpacking."""
    import numpy

    plain = name.removesuffix('.bin')
    images, labels = photographs(10000, 6 if plain == 'test_batch' else int(plain[-1]))
    images = images.reshape(len(images), -1)
    if name.endswith('.bin'):
        return numpy.concatenate([labels[:, None], images], 1).tobytes()
    batch = {b'data': images, b'labels': labels.tolist(), b'batch_label': name.encode(), b'filenames': []}
    return pickle.dumps(batch, 2)


def _cifar_meta(_):
    return pickle.dumps({b'label_names': [b'%d' % i for i in range(10)]}, 2)


_BATCHES = (*(f'data_batch_{number}' for number in range(1, 6)), 'test_batch')
# the files of CIFAR-10 after unpacking -> what is in them
_UNPACKED: dict[str, Any] = {
    **{name + end: _cifar_batch for name in _BATCHES for end in ('', '.bin')},
    'batches.meta': _cifar_meta,
}


def _cifar10_archive(path, folder, end):
    names = [name for name in _UNPACKED if name.endswith('.bin') == bool(end)]
    _tar(path, ((f'{folder}/{name}', _UNPACKED[name](name)) for name in names))


def _cifar100_binary(path):
    import numpy

    def files():
        for name, count in {'train.bin': 50000, 'test.bin': 10000}.items():
            images, labels = photographs(count, count, 100)
            images = images.reshape(count, -1)
            yield (
                f'cifar-100-binary/{name}',
                numpy.concatenate([labels[:, None] // 5, labels[:, None], images], 1).tobytes(),
            )

    _tar(path, files())


def _records(path, number, count, classes):
    """A record file of photographs."""
    import numpy

    from .. import recordio

    images, labels = photographs(count, number, classes)
    writer = recordio.MXRecordIO(path, 'w')
    for i, (image, label) in enumerate(zip(images, labels)):
        header = recordio.IRHeader(0, float(label), i, 0)
        writer.write(recordio.pack_img(header, numpy.ascontiguousarray(image.transpose(1, 2, 0)), 95, '.jpg'))
    writer.close()


def _cifar10_records(path):
    """The archive of record files that examples of MXNet use."""
    folder = tempfile.mkdtemp(dir=_folder[0])
    with zipfile.ZipFile(path, 'w') as archive:
        for name, (number, count) in {'train': (1, 2000), 'test': (6, 500)}.items():
            _records(os.path.join(folder, f'{name}.rec'), number, count, 10)
            archive.write(os.path.join(folder, f'{name}.rec'), f'cifar/{name}.rec')


_ARCHIVES: dict[str, Any] = {
    'mnist.zip': _mnist_zip,
    'mnist.pkl.gz': _mnist_pkl,
    'mnist.npz': _mnist_npz,
    'mnist.pkl': _mnist_pkl,
    'cifar-10-python.tar.gz': functools.partial(_cifar10_archive, folder='cifar-10-batches-py', end=''),
    'cifar-10-binary.tar.gz': functools.partial(_cifar10_archive, folder='cifar-10-batches-bin', end='.bin'),
    'cifar-100-binary.tar.gz': _cifar100_binary,
    'cifar10.zip': _cifar10_records,
    **{
        f'cifar{classes}_{part}.rec': functools.partial(_records, number=number, count=count, classes=classes)
        for classes in (10, 100)
        for part, (number, count) in {'train': (1, 2000), 'val': (6, 500), 'test': (6, 500)}.items()
    },
}
