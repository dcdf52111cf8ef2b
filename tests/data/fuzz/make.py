"""Writes the seeds of the fuzzer: small whole files of every format that is read.

    python tests/data/fuzz/make.py          (from the root of the repository)

Files that are there are kept, so that a new format does not change the cases of the others.
"""

import gzip
import io
import os
import pickle
import struct
import tarfile
import zipfile
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnx.helper as oh

import mxnet as mx
from mxnet import gluon, recordio

HERE = Path(__file__).parent
PARAMS = HERE.parent / 'params'


def put(kind, name, data):
    path = HERE / 'seeds' / kind / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def net():
    made = gluon.nn.HybridSequential(prefix='net_')
    with made.name_scope():
        made.add(gluon.nn.Dense(4, in_units=3, activation='relu'), gluon.nn.BatchNorm(in_channels=4), gluon.nn.Dense(2))
    made.initialize(mx.init.One())
    made.hybridize()
    made(mx.nd.ones((2, 3)))
    return made


def through(name, write):
    """The bytes that `write(path)` leaves in a file."""
    path = f'/tmp/fuzz-seed-{os.getpid()}-{name}'
    write(path)
    data = Path(path).read_bytes()
    os.unlink(path)
    return data


def arrays():
    for path in sorted(PARAMS.glob('*.params')):
        put('params', path.stem, path.read_bytes())
    put(
        'params',
        'checkpoint',
        through(
            'p',
            lambda p: mx.nd.save(
                p, {'arg:fc_weight': mx.nd.ones((2, 3)), 'arg:fc_bias': mx.nd.zeros(2), 'aux:bn_mean': mx.nd.ones(2)}
            ),
        ),
    )
    put('params', 'block', through('p', lambda p: net().save_parameters(p)))
    put(
        'safetensors',
        'two',
        through('a.safetensors', lambda p: mx.nd.save(p, {'a': mx.nd.ones((2, 3)), 'b': mx.nd.arange(4)})),
    )


def states():
    for name, options in (('sgd', {'momentum': 0.9}), ('adam', {}), ('ftml', {}), ('sgd', {})):
        block = gluon.nn.Dense(2, in_units=3)
        block.initialize()
        trainer = gluon.Trainer(block.collect_params(), name, options)
        with mx.autograd.record():
            loss = block(mx.nd.ones((2, 3))).sum()
        loss.backward()
        trainer.step(2)
        put('states', f'{name}{len(options)}', through('s', trainer.save_states))
    state = {
        0: [np.float32(1.5), np.arange(6.0).reshape(2, 3), None],
        'lr': 0.1,
        'names': {'a': (1, 2), 'b': {3, 4}},
        'big': 2**70,
        'bytes': b'\0\1',
        'more': bytearray(b'xyz'),
    }
    for protocol in (0, 2, 4, 5):
        put('states', f'plain{protocol}', pickle.dumps(state, protocol))
    put('states', 'arrays', (PARAMS / 'arrays.pickle').read_bytes())


def symbols():
    data = mx.sym.var('data', shape=(2, 3), dtype='float32', init=mx.init.Xavier())
    mlp = mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(
            mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=4, name='fc1'), act_type='relu'),
            num_hidden=2,
            name='fc2',
        ),
        name='softmax',
    )
    put('symbol', 'mlp', mlp.tojson().encode())
    x = mx.sym.var('data')
    conv = mx.sym.BatchNorm(mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, pad=(1, 1), name='conv'), name='bn')
    parts = mx.sym.SliceChannel(mx.sym.Pooling(conv, kernel=(2, 2), stride=(2, 2), pool_type='max'), num_outputs=2)
    put('symbol', 'conv', mx.sym.Group([mx.sym.Concat(parts[0], parts[1], dim=1), parts[1]]).tojson().encode())
    out, states = mx.sym.contrib.foreach(lambda d, s: (d + s, d * 2), mx.sym.var('data'), mx.sym.var('s'))
    put('symbol', 'loop', mx.sym.Group([out, states]).tojson().encode())
    i, x = mx.sym.var('i'), mx.sym.var('x')
    outs, after = mx.sym.contrib.while_loop(lambda i, x: i < 3, lambda i, x: ([x * 2], [i + 1, x + i]), [i, x], 4)
    put('symbol', 'while', mx.sym.Group([*outs, *after]).tojson().encode())
    branch = mx.sym.contrib.cond(i < 3, lambda: x * 2, lambda: x + i)
    put('symbol', 'branch', branch.tojson().encode())
    put(
        'model',
        'dense',
        through('m', lambda p: (net().save(p), os.rename(f'{p}-model.json', p), os.unlink(f'{p}-model.params'))),
    )
    rnn = mx.sym.RNN(mx.sym.var('data'), mx.sym.var('p'), mx.sym.var('s'), mode='gru', state_size=4, num_layers=1)
    put('symbol', 'rnn', mx.sym.Reshape(mx.sym.transpose(rnn, axes=(1, 0, 2)), shape=(0, -1)).tojson().encode())


def pictures():
    rng = np.random.default_rng(3)
    small = rng.integers(0, 255, (7, 9, 3), dtype=np.uint8)
    for ending, picture in (
        ('.png', small),
        ('.jpg', small),
        ('.bmp', small),
        ('.tiff', small),
        ('.webp', small),
        ('.gif', small),
        ('.ppm', small),
        ('.pgm', small[..., 0]),
        ('.pfm', small.astype('f4')),
        ('.ras', small),
        ('.hdr', small.astype('f4')),
        ('.jp2', rng.integers(0, 9, (32, 32, 3), dtype=np.uint8)),
        ('.avif', small),
    ):
        good, data = cv2.imencode(ending, picture)
        assert good
        put('picture', ending[1:], data.tobytes())
    put('picture', 'png16', cv2.imencode('.png', small.astype('u2') * 256)[1].tobytes())
    put('picture', 'png4', cv2.imencode('.png', rng.integers(0, 255, (5, 5, 4), dtype=np.uint8))[1].tobytes())
    put('picture', 'progressive', cv2.imencode('.jpg', small, [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1].tobytes())


def records():
    small = np.arange(75, dtype=np.uint8).reshape(5, 5, 3)

    def write(path):
        writer = recordio.MXIndexedRecordIO(path + '.idx', path, 'w')
        for i in range(4):
            label = float(i) if i % 2 else np.array([i, 0.5], 'f4')
            writer.write_idx(
                i, recordio.pack_img(recordio.IRHeader(0, label, i, 0), small + i, 9, '.png' if i < 3 else '.jpg')
            )
        writer.close()
        put('recindex', 'four', Path(path + '.idx').read_bytes())
        os.unlink(path + '.idx')

    put('records', 'pictures', through('r', write))

    def plain(path):
        with recordio.MXRecordIO(path, 'w') as writer:
            for i in range(5):
                writer.write(bytes([i]) * 7 * i + (b'\x0a\x23\xd7\xce' * 2 if i == 3 else b''))

    put('records', 'plain', through('r', plain))


def mnist():
    images = struct.pack('>BBBBIII', 0, 0, 8, 3, 4, 3, 3) + bytes(range(36))
    labels = struct.pack('>BBBBI', 0, 0, 8, 1, 4) + bytes([0, 1, 2, 1])
    put('mnist', 'images', images)
    put('mnist', 'labels', labels)
    put('mnistgz', 'images', gzip.compress(images, mtime=0))
    put('mnistgz', 'labels', gzip.compress(labels, mtime=0))


def texts():
    put('libsvm', 'three', b'1 0:1.5 3:-2\n0 1:0.25\n1 0:1 1:1e-3 2:3 3:4\n')
    put('libsvm', 'notes', b'# first\n-1.5 2:1 # second\n\n3 0:2\n')
    put('csv', 'three', b'1,2.5,3\n-4,5e-1,6\n7,8,9\n')
    put('csv', 'spaces', b'1, 2, 3\r\n4, 5, 6\r\n')
    put('embedding', 'three', b'hello 0.1 0.2 0.3\nworld -1 2e-1 3\n<unk> 0 0 0\n')
    put('embedding', 'header', 'two 2\né 1 2\nß 3 4\n'.encode())
    put('list', 'three', b'0\t1.0\ta.png\n1\t0.0\tb.png\n2\t2.0\tsub/c.jpg\n')
    put('list', 'labels', b'5\t1.0\t2.5\ta.png\n7\t0.5\t-1\tb.png\n')


def checkpoints():
    block = net()
    trainer = gluon.Trainer(block.collect_params(), 'adam')
    put('checkpoint', 'adam', through('c', lambda p: gluon.Checkpoint(p, block, trainer).save(epoch=1, batch=2)))


def archives():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo('folder/glove.txt'), 'hello 0.1 0.2\n' * 20)
        archive.writestr(zipfile.ZipInfo('other.txt'), 'x')
    put('archive', 'two.zip', packed.getvalue())
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode='w:gz') as archive:
        entry = tarfile.TarInfo('cifar-10-batches-bin/test_batch.bin')
        entry.size = 3073
        archive.addfile(entry, io.BytesIO(bytes(3073)))
    put('archive', 'batch.tar.gz', packed.getvalue())


def networks():
    x = oh.make_tensor_value_info('x', onnx.TensorProto.FLOAT, [2, 3, 8, 8])
    y = oh.make_tensor_value_info('y', onnx.TensorProto.FLOAT, None)

    def model(name, nodes, constants=(), opset=13):
        graph = oh.make_graph(
            nodes, 'g', [x], [y], [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants]
        )
        made = oh.make_model(graph, opset_imports=[oh.make_opsetid('', opset)])
        put('onnx', name, made.SerializeToString())

    n = oh.make_node
    f = np.float32
    model(
        'conv',
        [
            n('Conv', ['x', 'w', 'b'], ['c'], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            n('Relu', ['c'], ['r']),
            n('MaxPool', ['r'], ['p'], kernel_shape=[2, 2], strides=[2, 2]),
            n('Flatten', ['p'], ['f']),
            n('Gemm', ['f', 'g', 'h'], ['y'], transB=1),
        ],
        [('w', np.ones((2, 3, 3, 3), f)), ('b', np.zeros(2, f)), ('g', np.ones((2, 32), f)), ('h', np.zeros(2, f))],
    )
    model(
        'shapes',
        [
            n('Shape', ['x'], ['s']),
            n('Gather', ['s', 'i'], ['d']),
            n('Unsqueeze', ['d', 'a'], ['u']),
            n('Concat', ['u', 'm'], ['t'], axis=0),
            n('Reshape', ['x', 't'], ['y']),
        ],
        [('i', np.int64(0)), ('a', np.array([0])), ('m', np.array([-1]))],
    )
    model(
        'fill',
        [
            n('ConstantOfShape', ['n'], ['c']),
            n('Range', ['zero', 'four', 'one'], ['r']),
            n('Expand', ['one_f', 'e'], ['z']),
            n('Tile', ['c', 'reps'], ['q']),
            n('Add', ['x', 'z'], ['y']),
        ],
        [
            ('n', np.array([2, 3])),
            ('zero', np.int64(0)),
            ('four', np.int64(4)),
            ('one', np.int64(1)),
            ('one_f', np.ones((1, 1, 1, 1), f)),
            ('e', np.array([2, 1, 1, 8])),
            ('reps', np.array([2, 2])),
        ],
    )
    model(
        'pad',
        [
            n('Pad', ['x', 'p'], ['a']),
            n('Slice', ['a', 'b', 'e'], ['c']),
            n('Transpose', ['c'], ['d'], perm=[0, 2, 3, 1]),
            n('Softmax', ['d'], ['y'], axis=-1),
        ],
        [('p', np.array([0, 0, 1, 1, 0, 0, 1, 1])), ('b', np.array([0, 0, 1, 1])), ('e', np.array([2, 3, 9, 9]))],
    )
    model(
        'resize',
        [
            n('Resize', ['x', '', 'k'], ['r'], mode='nearest'),
            n('ReduceMean', ['r'], ['m'], axes=[2, 3]),
            n('Clip', ['m', 'low', 'high'], ['y']),
        ],
        [('k', np.array([1, 1, 2, 2], f)), ('low', f(0)), ('high', f(1))],
    )


if __name__ == '__main__':
    for make in (arrays, states, symbols, pictures, records, mnist, texts, checkpoints, archives, networks):
        make()
    print(f'{sum(p.stat().st_size for p in HERE.rglob("*") if p.is_file()):,} bytes')
