"""Every format that is read: where its seeds are, how it is damaged, and all who read it.

A reader is a function of a path.  What it raises must be an MXNetError that names the file; `later` marks the part of a
reader that uses what was read, whose errors need not know the file.
"""

import contextlib
import io
import os
import random
import shutil
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import mxnet as mx
from mxnet import gluon, recordio
from mxnet.cli import inspect as _inspect

DATA = Path(__file__).parent.parent / 'data' / 'fuzz'
SMALL = 1 << 16  # numbers in the arrays of a graph that is bound


class Later(Exception):
    """Holds what was raised after the file had been read."""


@contextlib.contextmanager
def later():
    try:
        yield
    except Exception as error:
        raise Later from error


def seeds(kind, data=DATA):
    return [path.read_bytes() for path in sorted((data / 'seeds' / kind).iterdir())]


def seed(kind, name):
    return DATA / 'seeds' / kind / name


def as_file(path, name):
    """The file under another name in its folder; a link, so that nothing is written twice."""
    target = os.path.join(os.path.dirname(path), name)
    with contextlib.suppress(FileExistsError):
        os.link(path, target)
    if not os.path.samefile(path, target):
        os.unlink(target)
        os.link(path, target)
    return target


def inspect(path):
    for rows in (20, None):
        report = _inspect.examine(path, rows)
    text = _inspect.render(report)
    assert all(line.isprintable() for line in text.split('\n')), 'remx inspect prints control characters'
    import json

    json.dumps(report.as_dict())


# ---------------------------------------------------------------------- arrays and states
def _small_net():
    made = gluon.nn.HybridSequential(prefix='net_')
    with made.name_scope():
        made.add(
            gluon.nn.Dense(4, in_units=3, activation='relu'),
            gluon.nn.BatchNorm(in_channels=4),
            gluon.nn.Dense(2, in_units=4),
        )
    made.initialize(mx.init.One())
    return made


NET = _small_net()


def load_arrays(path):
    mx.nd.load(path)
    mx.npx.load(path)


def load_parameters(path):
    NET.load_parameters(path, allow_missing=True, ignore_extra=True)
    NET.load_parameters(path)


def load_dict(path):
    NET.collect_params().load(path, allow_missing=True, ignore_extra=True)


def load_checkpoint(path):
    as_file(path, 'model-0001.params')
    shutil.copyfile(seed('symbol', 'mlp'), os.path.join(os.path.dirname(path), 'model-symbol.json'))
    mx.model.load_checkpoint(os.path.join(os.path.dirname(path), 'model'), 1)


def load_states(path):
    block = gluon.nn.Dense(2, in_units=3)
    block.initialize()
    trainer = gluon.Trainer(block.collect_params(), 'sgd', {'momentum': 0.9})
    with mx.autograd.record():
        loss = block(mx.nd.ones((2, 3))).sum()
    loss.backward()
    trainer.load_states(path)
    trainer.step(2)


def load_run(path):
    net = _small_net()
    gluon.Checkpoint(path, net, gluon.Trainer(net.collect_params(), 'adam')).load()


# ---------------------------------------------------------------------- networks
def load_symbol(path):
    net = mx.sym.load(path)
    with later():
        for ask in (
            net.list_arguments,
            net.list_outputs,
            net.list_auxiliary_states,
            net.tojson,
            net.attr_dict,
            net.get_internals().list_outputs,
            net.debug_str,
            net.infer_type,
        ):
            ask()
        mx.sym.load_json(net.tojson())
        for shape in ((2, 3), (2, 3, 8, 8)):
            with contextlib.suppress(mx.MXNetError):
                net.infer_shape_partial(data=shape)
        shapes = net.infer_shape_partial()[0]
        known = shapes and all(s and 0 not in s for s in shapes)
        if known and sum(int(np.prod(s, dtype=float)) for s in shapes) < SMALL:
            net.simple_bind(mx.cpu()).forward()


def load_block(path):
    net = gluon.SymbolBlock.imports(path, ['data'])
    with later():
        known = all(p.shape and 0 < np.prod(p.shape, dtype=float) < SMALL for p in net.collect_params().values())
        if known:
            net.initialize()


def load_structure(path):
    as_file(path, 'net-model.json')
    prefix = os.path.join(os.path.dirname(path), 'net')
    if not os.path.exists(prefix + '-model.params'):
        shutil.copyfile(seed('params', 'block'), prefix + '-model.params')
    _small_net().load(prefix)


def import_onnx(path):
    mx.contrib.onnx.get_model_metadata(path)
    net, arguments, _ = mx.contrib.onnx.import_model(path)
    with later():
        net.infer_shape_partial(**{name: array.shape for name, array in arguments.items()})
        net.tojson()


# ---------------------------------------------------------------------- records and pictures
def read_records(path):
    for unpack in (lambda record: None, recordio.unpack, recordio.unpack_img):
        with recordio.MXRecordIO(path, 'r') as reader:
            while True:
                try:
                    record = reader.read()
                except recordio.DamagedRecord as damage:
                    assert path in str(damage) and damage.resume > damage.offset
                    continue
                if record is None:
                    break
                with later(), contextlib.suppress(mx.MXNetError):
                    unpack(record)


def read_by_index(path):
    records = path if not path.endswith('.idx') else str(seed('records', 'pictures'))
    index = path if path.endswith('.idx') else str(seed('recindex', 'four'))
    with recordio.MXIndexedRecordIO(index, records, 'r') as reader:
        for key in reader.keys[:50]:
            with contextlib.suppress(recordio.DamagedRecord):
                reader.read_idx(key)
    data = as_file(path, 'both.idx' if path.endswith('.idx') else 'both.rec')
    other = os.path.join(os.path.dirname(path), 'both.rec' if path.endswith('.idx') else 'both.idx')
    shutil.copyfile(records if path.endswith('.idx') else index, other)
    assert data
    dataset = gluon.data.vision.ImageRecordDataset(os.path.join(os.path.dirname(path), 'both.rec'))
    for number in range(min(3, len(dataset))):
        dataset[number]


def iterate_records(path):
    for batch in mx.io.ImageRecordIter(
        path_imgrec=path,
        data_shape=(3, 5, 5),
        batch_size=2,
        preprocess_threads=1,
        round_batch=False,
        on_corrupt='skip',
        prefetch_buffer=1,
    ):
        assert batch.data[0].shape == (2, 3, 5, 5)


def iterate_detection(path):
    for batch in mx.io.ImageDetRecordIter(
        path_imgrec=path, data_shape=(3, 5, 5), batch_size=2, preprocess_threads=1, on_corrupt='skip'
    ):
        assert batch.data[0].shape == (2, 3, 5, 5)


def iterate_images(path):
    iterator = mx.image.ImageIter(2, (3, 5, 5), path_imgrec=path)
    with contextlib.suppress(StopIteration):
        for _ in range(5):
            iterator.next()


def iterate_boxes(path):
    next(mx.image.ImageDetIter(2, (3, 5, 5), path_imgrec=path), None)


def iterate_list(path):
    next(mx.image.ImageIter(2, (3, 5, 5), path_imglist=path, path_root=os.path.dirname(path)), None)


def iterate_list_of_boxes(path):
    next(mx.image.ImageDetIter(2, (3, 5, 5), path_imglist=path, path_root=os.path.dirname(path)), None)


def make_index(path):
    from mxnet.cli import main

    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        status = main(['rec2idx', path, os.path.join(os.path.dirname(path), 'made.idx')])
    if status and path not in errors.getvalue():
        raise AssertionError(f'rec2idx does not name the file: {errors.getvalue()}')


def draw_sheet(path):
    from mxnet.cli import main

    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        main(['inspect', path, '--sheet', os.path.join(os.path.dirname(path), 'sheet.png')])


def decode(path):
    for flag in (1, 0, -1):
        mx.image.imread(path, flag)


def decode_bytes(path):
    with later():
        recordio.unpack_img(recordio.pack(recordio.IRHeader(0, 1.0, 1, 0), Path(path).read_bytes()))
        mx.image.imdecode(Path(path).read_bytes())


# ---------------------------------------------------------------------- tables and texts
def iterate_mnist(path):
    is_images = Path(path).read_bytes()
    packed = is_images[:2] == b'\x1f\x8b'
    good = [str(seed('mnistgz' if packed else 'mnist', name)) for name in ('images', 'labels')]
    for image, label in ((path, good[1]), (good[0], path)):
        for _ in mx.io.MNISTIter(image=image, label=label, batch_size=2, silent=True):
            pass


def mnist_data(path):
    packed = Path(path).read_bytes()[:2] == b'\x1f\x8b'
    folder = os.path.dirname(path)
    for name in ('t10k-images-idx3-ubyte', 't10k-labels-idx1-ubyte'):
        for ending in ('', '.gz'):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name + ending))
    ending = '.gz' if packed else ''
    os.link(path, os.path.join(folder, 't10k-images-idx3-ubyte' + ending))
    shutil.copyfile(
        seed('mnistgz' if packed else 'mnist', 'labels'), os.path.join(folder, 't10k-labels-idx1-ubyte' + ending)
    )
    gluon.data.vision.MNIST(folder, train=False)


def iterate_libsvm(path):
    for _ in mx.io.LibSVMIter(data_libsvm=path, data_shape=(4,), batch_size=2):
        pass


def iterate_csv(path):
    for dtype in ('float32', 'int64'):
        for _ in mx.io.CSVIter(data_csv=path, data_shape=(3,), batch_size=2, round_batch=False, dtype=dtype):
            pass


def read_embedding(path):
    mx.contrib.text.embedding.CustomEmbedding(path)


def read_image_list(path):
    from mxnet.cli.im2rec import read_list
    from mxnet.image._iterators import _read_list
    from mxnet.io._pictures import read_list as read_labels

    _read_list(path, 'float32')
    with contextlib.redirect_stderr(io.StringIO()):
        list(read_list(path))
    for width in (1, -1):
        read_labels('ImageRecordIter', path, width)


def list_images(path):
    gluon.data.vision.ImageListDataset(os.path.dirname(path), os.path.basename(path))


def unpack_archive(path):
    from mxnet.contrib.text.embedding import _unpack

    named = as_file(path, 'a.zip' if Path(path).read_bytes()[:2] == b'PK' else 'a.tar.gz')
    _unpack(named, 'glove.txt', os.path.join(os.path.dirname(path), 'unpacked'))


def unpack_batch(path):
    folder = os.path.dirname(path)
    as_file(path, 'cifar-10-binary.tar.gz')
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, 'test_batch.bin'))
    gluon.data.vision.CIFAR10(folder, train=False)


def unpack_zip(path):
    from mxnet.test_utils import _data

    _data.unpack(path, os.path.join(os.path.dirname(path), 'zip'))


@dataclass
class Format:
    """How files of one kind are damaged, and who reads them.

    share: of all cases
    rarely: readers that take long, for one case in eight
    """

    damage: str
    readers: tuple
    ending: str = ''
    share: int = 4
    rarely: tuple = ()
    names_file: dict = field(default_factory=dict)


FORMATS = {
    'params': Format('bytes', (load_arrays, load_parameters, load_dict, inspect), '.params', rarely=(load_checkpoint,)),
    'states': Format('pickle', (load_states, inspect), '.states'),
    'checkpoint': Format('bytes', (load_run, inspect), '.params', 2),
    'safetensors': Format('safetensors', (load_arrays, inspect), '.safetensors', 3),
    'symbol': Format('json', (load_symbol, inspect), '.json', 6, rarely=(load_block,)),
    'model': Format('json', (load_structure, inspect), '.json', 1),
    'onnx': Format('onnx', (import_onnx,), '.onnx', 5),
    'picture': Format('picture', (decode, decode_bytes), '.png', 8),
    'records': Format(
        'records',
        (read_records, read_by_index, inspect),
        '.rec',
        3,
        rarely=(iterate_records, iterate_detection, iterate_images, iterate_boxes, make_index, draw_sheet),
    ),
    'recindex': Format('text', (read_by_index, inspect), '.idx', 2),
    'mnist': Format('bytes', (iterate_mnist, mnist_data, inspect), '', 2),
    'mnistgz': Format('gzip', (iterate_mnist, mnist_data), '.gz', 1),
    'libsvm': Format('text', (iterate_libsvm,), '.libsvm', 3),
    'csv': Format('text', (iterate_csv,), '.csv', 3),
    'embedding': Format('text', (read_embedding,), '.txt', 2),
    'list': Format(
        'text', (read_image_list, list_images), '.lst', 2, rarely=(iterate_list, iterate_list_of_boxes)
    ),
    'archive': Format('bytes', (unpack_archive, unpack_batch, unpack_zip), '.zip', 1),
}


def quiet():
    """What libraries have to say about damaged files is not of interest."""
    import logging

    logging.disable(logging.CRITICAL)
    warnings.simplefilter('ignore')
    os.environ['OPENCV_LOG_LEVEL'] = 'SILENT'
    with contextlib.suppress(ImportError):
        import cv2

        cv2.setNumThreads(1)
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    random.seed(1)
