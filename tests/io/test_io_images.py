"""ImageRecordIter, ImageDetRecordIter and their relatives."""
import gc
import os
import threading
import time

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import recordio
from mxnet.base import MXNetError

cv2 = pytest.importorskip('cv2')

SIZES = [(40, 60), (60, 40), (33, 33), (100, 70), (24, 50)]         # (rows, columns)


def drawn(number, rows, columns):
    """A smooth picture, in BGR."""
    draw = np.random.RandomState(number)
    return cv2.resize(draw.randint(0, 255, (4, 5, 3), dtype=np.uint8), (columns, rows), interpolation=cv2.INTER_CUBIC)


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """13 pictures of several sizes, without loss, their index and a list of other labels."""
    folder = tmp_path_factory.mktemp('records')
    paths = {'path_imgidx': str(folder / 'a.idx'), 'path_imgrec': str(folder / 'a.rec')}
    pictures, lines = [], []
    with recordio.MXIndexedRecordIO(*paths.values(), 'w') as writer:
        for i in range(13):
            pictures.append(drawn(i, *SIZES[i % 5]))
            writer.write_idx(i, recordio.pack_img((0, i * 1.5, i, 0), pictures[-1], quality=3, img_fmt='.png'))
            lines.append(f'{i}\t{i * 10}\t{i * 10 + 1}\tx/{i}.png\n')
    (folder / 'a.lst').write_text(''.join(lines))
    return pictures, {**paths, 'path_imglist': str(folder / 'a.lst')}


def make(files, *keys, **given):
    paths = {key: files[1][key] for key in ('path_imgrec', *keys)}
    return mx.io.ImageRecordIter(**{**paths, 'data_shape': (3, 20, 24), 'batch_size': 5, 'verbose': False, **given})


def labels(iterator):
    return [batch.label[0].asnumpy().tolist() for batch in iterator]


def data(iterator):
    return np.concatenate([batch.data[0].asnumpy() for batch in iterator])


def centre(picture, rows, columns):
    top, left = (picture.shape[0] - rows) // 2, (picture.shape[1] - columns) // 2
    return picture[top:top + rows, left:left + columns, ::-1].transpose(2, 0, 1)


# ---------------------------------------------------------------------- passes
def test_batches(files):
    iterator = make(files)
    assert isinstance(iterator, mx.io.MXDataIter)
    assert iterator.provide_data == [('data', (5, 3, 20, 24))] and iterator.provide_label == [('softmax_label', (5,))]
    first, second, third = list(iterator)
    found = np.concatenate([b.data[0].asnumpy() for b in (first, second, third)])
    expected = np.stack([centre(p, 20, 24) for p in [*files[0], *files[0][:2]]])
    assert found.dtype == np.float32 and (found == expected).all()
    assert (first.pad, second.pad, third.pad) == (0, 0, 2)
    assert third.label[0].asnumpy().tolist() == [15, 16.5, 18, 0, 1.5] and third.index.tolist() == [10, 11, 12, 0, 1]
    iterator.reset()
    assert labels(iterator)[0] == [3, 4.5, 6, 7.5, 9], 'the next pass begins behind what filled up the last batch'


def test_without_rounds(files):
    iterator = make(files, round_batch=False)
    for _ in range(2):
        found = list(iterator)
        assert [b.pad for b in found] == [0, 0, 2] and found[2].label[0].asnumpy()[:3].tolist() == [15, 16.5, 18]
        iterator.reset()


@pytest.mark.parametrize('keys', [(), ('path_imgidx',)])
def test_parts(files, keys):
    for parts in (1, 2, 3, 5):
        found = [np.concatenate(labels(make(files, *keys, batch_size=1, num_parts=parts, part_index=i)))
                 for i in range(parts)]
        assert np.concatenate(found).tolist() == [1.5 * i for i in range(13)]
    if keys:        # by their number, as upstream: 5, 5 and 3
        found = [len(labels(make(files, *keys, batch_size=1, num_parts=3, part_index=i))) for i in range(3)]
        assert found == [5, 5, 3]


@pytest.mark.parametrize('keys', [(), ('path_imgidx',)])
def test_shuffling(files, keys):
    def passes(**given):
        iterator, found = make(files, *keys, batch_size=13, shuffle=True, **given), []
        for _ in range(3):
            found += labels(iterator)
            iterator.reset()
        return found
    same = passes(seed=3)
    assert passes(seed=3) == same != passes(seed=4)
    assert len({tuple(one) for one in same}) == 3, 'each pass has its own order'
    assert all(sorted(one) == [1.5 * i for i in range(13)] for one in same)


def test_shuffled_rounds(files):
    """What fills up the last batch is the beginning of the next pass, which goes on behind it."""
    iterator = make(files, 'path_imgidx', shuffle=True)
    whole = []
    for _ in range(5):
        for batch in iterator:
            whole += batch.label[0].asnumpy().tolist()[:5 - batch.pad]
            ahead = batch.label[0].asnumpy().tolist()[5 - batch.pad:]
        iterator.reset()
        whole += ahead
    for begin in range(0, 52, 13):
        assert sorted(whole[begin:begin + 13]) == [1.5 * i for i in range(13)]


def test_shuffled_chunks(tmp_path):
    """Without an index, pieces of the file come in random order."""
    path = str(tmp_path / 'a.rec')
    with recordio.MXRecordIO(path, 'w') as writer:
        for i in range(60):
            picture = cv2.imencode('.png', np.zeros((4, 4, 3), np.uint8))[1].tobytes()
            writer.write(recordio.pack((0, i, i, 0), picture + bytes(100_000)))
    iterator = mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 4, 4), batch_size=60, shuffle_chunk_size=1,
                                     verbose=False)
    [first] = labels(iterator)
    iterator.reset()
    [second] = labels(iterator)
    assert sorted(first) == sorted(second) == list(range(60))
    assert first != second and first != sorted(first)
    assert np.mean(np.diff(first) == 1) > 0.8, 'inside of a piece the order stays'


def test_labels_from_a_list(files, tmp_path):
    iterator = make(files, 'path_imglist', label_width=2)
    assert iterator.provide_label == [('softmax_label', (5, 2))]
    assert labels(iterator)[0] == [[0, 1], [10, 11], [20, 21], [30, 31], [40, 41]]
    assert labels(make(files, 'path_imglist'))[0] == [0, 10, 20, 30, 40]
    short = tmp_path / 'a.lst'
    short.write_text('0\t1\tx.png\n')
    with pytest.raises(MXNetError, match=r'path_imglist has no line for id 1 .record 1 at byte'):
        list(make(files, path_imglist=str(short)))
    short.write_text('0\tcat\tx.png\n')
    with pytest.raises(MXNetError, match='a.lst, line 1 should be an id, 1 labels and a path: .* is not a number'):
        make(files, path_imglist=str(short))


def test_several_labels(tmp_path):
    path = str(tmp_path / 'a.rec')
    with recordio.MXRecordIO(path, 'w') as writer:
        writer.write(recordio.pack_img((0, [1, 2, 3], 7, 0), drawn(0, 30, 30)))
    iterator = mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 20, 20), batch_size=1, label_width=3)
    assert labels(iterator) == [[[1, 2, 3]]]
    with pytest.raises(MXNetError, match='label_width=2, but the record has 3 labels'):
        mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 20, 20), batch_size=1, label_width=2)


# ---------------------------------------------------------------------- numbers
def test_normalization(files):
    raw = data(make(files))
    found = data(make(files, mean_r=10, mean_g=20.5, mean_b=30, std_r=2, std_g=3, std_b=4, scale=0.5))
    means, stds = (np.array(v).reshape(3, 1, 1) for v in ([10, 20.5, 30], [2, 3, 4]))
    assert np.allclose(found, (raw - means) * 0.5 / stds, atol=1e-5)


def test_bytes(files):
    raw = data(make(files))
    for found in (data(make(files, dtype='uint8', mean_r=5)),
                  data(mx.io.ImageRecordUInt8Iter(path_imgrec=files[1]['path_imgrec'], data_shape=(3, 20, 24),
                                                  batch_size=5))):
        assert found.dtype == np.uint8 and (found == raw).all()
    found = data(make(files, dtype='int8', mean_r=120.5, mean_g=100.4, mean_b=3))
    assert found.dtype == np.int8
    assert (found == np.clip(raw - np.array([121, 100, 3]).reshape(3, 1, 1), -128, 127)).all()


def test_grey_and_alpha(files, tmp_path):
    grey = data(make(files, data_shape=(1, 20, 24)))
    assert grey.shape[1:] == (1, 20, 24)
    with pytest.raises(MXNetError, match=r'data_shape=\(4, 20, 24\) needs pictures with 4 channels, .* has 3'):
        make(files, data_shape=(4, 20, 24))
    path = str(tmp_path / 'a.rec')
    picture = np.random.RandomState(0).randint(0, 255, (20, 24, 4), dtype=np.uint8)
    with recordio.MXRecordIO(path, 'w') as writer:
        writer.write(recordio.pack_img((0, 1, 1, 0), picture, img_fmt='.png', quality=1))
    found = data(mx.io.ImageRecordIter(path_imgrec=path, data_shape=(4, 20, 24), batch_size=1))
    assert (found[0] == picture[:, :, [2, 1, 0, 3]].transpose(2, 0, 1)).all()


def test_mean_images(files, tmp_path):
    """A mean image that does not exist is made of all pictures, and used."""
    path = str(tmp_path / 'mean.bin')
    raw = np.stack([centre(p, 20, 24) for p in files[0]]).astype('float32')
    for _ in range(2):
        found = data(make(files, mean_img=path, round_batch=False, scale=2))[:13]
        assert np.allclose(found, (raw - raw.mean(0)) * 2, atol=1e-3)
        written = mx.nd.load(path)
        assert list(written) == ['mean_img'] and np.allclose(written['mean_img'].asnumpy(), raw.mean(0), atol=1e-4)
    mirrored = data(make(files, mean_img=path, round_batch=False, mirror=True))[:13]
    assert np.allclose(mirrored, (raw - raw.mean(0))[..., ::-1], atol=1e-3)
    with pytest.raises(MXNetError, match=r'mean.bin should have one array of shape \(3, 8, 8\)'):
        make(files, mean_img=path, data_shape=(3, 8, 8))


# ---------------------------------------------------------------------- augmentation
def test_geometry_without_chance(files):
    plain = data(make(files))
    assert (data(make(files, mirror=True)) == plain[..., ::-1]).all()
    enlarged = data(make(files, data_shape=(3, 200, 150)))
    assert enlarged.shape == (15, 3, 200, 150), 'small pictures are enlarged, then cut'
    padded = data(make(files, pad=30, fill_value=9, data_shape=(3, 90, 90)))
    assert (padded[:, :, 0, 0] == 9).all()
    edge = next(make(files, resize=20, data_shape=(3, 20, 20))).data[0].asnumpy()
    picture = cv2.resize(files[0][0], (30, 20))[:, 5:25, ::-1].transpose(2, 0, 1)
    assert (edge[0] == picture).all()
    square = next(make(files, max_crop_size=18, min_crop_size=18)).data[0].asnumpy()
    cut = files[0][0][11:29, 21:39]
    assert (square[0] == cv2.resize(cut, (24, 20))[:, :, ::-1].transpose(2, 0, 1)).all()


def test_a_quarter_turn(files):
    """Turned by 90 degrees, the picture's columns are rows."""
    found = next(make(files, rotate=90, data_shape=(3, 33, 33), fill_value=0)).data[0].asnumpy()[2]
    picture = files[0][2][:, :, ::-1].transpose(2, 0, 1)
    turned = [np.rot90(picture, k, (1, 2)) for k in (1, 3)]
    inner = (slice(None), slice(3, -3), slice(3, -3))
    shifted = [np.roll(t, (down, right), (1, 2)) for t in turned for down in (-1, 0, 1) for right in (-1, 0, 1)]
    assert min(np.abs(found[inner] - t[inner]).mean() for t in shifted) < 2


OPTIONS = [
    {'rand_crop': True}, {'rand_mirror': True}, {'max_rotate_angle': 40}, {'max_shear_ratio': 0.3},
    {'min_random_scale': 0.9, 'max_random_scale': 1.4}, {'max_aspect_ratio': 0.25},
    {'rand_crop': True, 'min_crop_size': 15, 'max_crop_size': 22},
    {'random_resized_crop': True, 'min_random_area': 0.3, 'min_aspect_ratio': 0.8, 'max_aspect_ratio': 1.2},
    {'brightness': 0.4}, {'contrast': 0.4}, {'saturation': 0.4}, {'random_h': 36}, {'random_s': 50}, {'random_l': 50},
    {'pca_noise': 0.3}, {'max_random_contrast': 0.3}, {'max_random_illumination': 20},
    {'rotate_list': '10,20,30'}, {'resize': 40, 'inter_method': 10},
]


@pytest.mark.parametrize('options', OPTIONS, ids=lambda o: next(iter(o)))
def test_chance(files, options):
    """Random, but the same for the same seed, however many threads there are; and different in the next pass."""
    def two_passes(**given):
        iterator = make(files, batch_size=13, **options, **given)
        first = data(iterator)
        iterator.reset()
        return first, data(iterator)
    first, second = two_passes(seed_aug=1, preprocess_threads=1)
    assert first.shape == (13, 3, 20, 24) and np.isfinite(first).all()
    again, later = two_passes(seed_aug=1, preprocess_threads=4)
    assert (again == first).all() and (later == second).all()
    assert (first != second).any()
    assert (two_passes(seed_aug=2)[0] != first).any()
    if not options.keys() & {'max_random_contrast', 'max_random_illumination'}:
        assert first.min() >= 0 and first.max() <= 255


def test_brightness_is_proportional(files):
    plain, bright = data(make(files)), data(make(files, brightness=0.5))
    inside = (plain > 30) & (bright < 254)
    for one, other, mask in zip(plain, bright, inside):
        ratio = other[mask] / one[mask]
        assert 0.48 < ratio.mean() < 1.52 and ratio.std() < 0.02


def test_saturation_keeps_greys(tmp_path):
    path = str(tmp_path / 'a.rec')
    grey = np.repeat(np.arange(200, dtype=np.uint8).reshape(10, 20, 1), 3, 2)
    with recordio.MXRecordIO(path, 'w') as writer:
        writer.write(recordio.pack_img((0, 1, 1, 0), grey, img_fmt='.png', quality=1))
    found = data(mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 10, 20), batch_size=1, saturation=0.9))
    assert np.abs(found[0] - grey.transpose(2, 0, 1)).max() <= 1


# ---------------------------------------------------------------------- mistakes and damage
@pytest.mark.parametrize('given, problem', [
    ({'data_shape': (5, 20, 20)}, '1, 3 or 4 channels, not .5, 20, 20.'),
    ({'data_shape': (3, 20)}, 'data_shape is .channels, height, width.'),
    ({'label_width': 2}, 'label_width=2, but the record has one label .record 0 at byte 0 of'),
    ({'max_crop_size': 90, 'min_crop_size': 90}, 'must fit in a picture of 40 x 60'),
    ({'random_resized_crop': True, 'rand_crop': True}, 'random_resized_crop excludes rand_crop=True'),
    ({'inter_method': 7}, 'inter_method is one of .*, not 7'),
    ({'aug_seq': 'mine'}, "aug_seq='mine' is not known; there is 'aug_default'"),
    ({'part_index': 3}, 'part_index must be between 0 and num_parts - 1'),
    ({'path_imgrec': ''}, 'needs path_imgrec'),
    ({'path_imgrec': 'none.rec'}, 'none.rec: cannot read: No such file'),
    ({'on_corrupt': 'ignore'}, "on_corrupt='ignore' is not accepted; it takes one of 'raise', 'skip'"),
])
def test_mistakes(files, given, problem):
    with pytest.raises(MXNetError, match=problem):
        list(make(files, **given))


def test_a_record_file_is_no_list(files):
    with pytest.raises(MXNetError, match='line . should be an id, 1 labels and a path'):
        make(files, path_imglist=files[1]['path_imgrec'])


@pytest.fixture
def damaged(files, tmp_path):
    """Of 13 records, 2 is no picture, 5 is a damaged record, 9 has a header that lies, 11 is empty."""
    reader = recordio.MXIndexedRecordIO(files[1]['path_imgidx'], files[1]['path_imgrec'], 'r')
    paths = str(tmp_path / 'd.idx'), str(tmp_path / 'd.rec')
    with recordio.MXIndexedRecordIO(*paths, 'w') as writer:
        for i in range(13):
            record = reader.read_idx(i)
            if i == 2:
                record = recordio.pack((0, 3, 2, 0), b'this is no picture')
            if i == 9:
                record = b'\xff\xff\0\0' + record[4:]
            if i == 11:
                record = b''
            writer.write_idx(i, record)
    with open(paths[1], 'r+b') as file:
        file.seek(writer.idx[5])
        file.write(b'rubbish!')
    return {'path_imgidx': paths[0], 'path_imgrec': paths[1]}


@pytest.mark.parametrize('keys', [(), ('path_imgidx',)])
@pytest.mark.parametrize('threads', [1, 3])
def test_corrupt_records_are_left_out(damaged, keys, threads, caplog):
    paths = {key: damaged[key] for key in ('path_imgrec', *keys)}
    iterator = mx.io.ImageRecordIter(**paths, data_shape=(3, 20, 24), batch_size=3, on_corrupt='skip', verbose=False,
                                     preprocess_threads=threads)
    for _ in range(3):
        found = [x for batch in iterator for x in batch.label[0].asnumpy().tolist()[:3 - batch.pad]]
        assert found == [1.5 * i for i in (0, 1, 3, 4, 6, 7, 8, 10, 12)]
        iterator.reset()
    corrupt = sorted(iterator.corrupt, key=lambda c: c.offset)
    assert [c.key for c in corrupt] == ([2, 5, 9, 11] if keys else [2, None, 9, None])
    assert [c.problem.split(':')[0] for c in corrupt] == [
        'OpenCV cannot decode the picture', f'at byte {corrupt[1].offset} should be 0a23d7ce, but there is 72756262',
        f'its header says that 65535 labels follow, but it has {_size(damaged, 9)} bytes',
        'it has 0 bytes, fewer than its header']
    assert all(c.uri == damaged['path_imgrec'] for c in corrupt)
    assert len(caplog.records) == 4 and 'left out, 4 so far' in caplog.text, 'each is reported once'


def _size(paths, key):
    return len(recordio.MXIndexedRecordIO(paths['path_imgidx'], paths['path_imgrec'], 'r').read_idx(key))


@pytest.mark.parametrize('threads', [1, 3])
def test_corrupt_records_are_errors(damaged, threads):
    given = {'data_shape': (3, 20, 24), 'batch_size': 3, 'preprocess_threads': threads}
    with pytest.raises(MXNetError, match=r"record 5 at byte \d+ of .*d.rec: .* there is .*; on_corrupt='skip' leaves"):
        mx.io.ImageRecordIter(**damaged, **given)
    with pytest.raises(MXNetError, match=r'record 2 at byte \d+ of .*d.rec: OpenCV cannot decode the picture'):
        mx.io.ImageRecordIter(**damaged, **given, num_parts=4, part_index=0)


def test_nothing_but_rubbish(tmp_path):
    path = tmp_path / 'a.rec'
    path.write_bytes(os.urandom(100_000))
    with pytest.raises(MXNetError, match='there is no data in'):
        mx.io.ImageRecordIter(path_imgrec=str(path), data_shape=(3, 20, 24), batch_size=3, on_corrupt='skip')


def test_iterators_leave_nothing_behind(files):
    """Threads and open files go with the iterator."""
    def open_files():
        return len(os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') else 0
    def settled(threads, files):
        for _ in range(100):
            if threading.active_count() <= threads and open_files() <= files:
                return True
            time.sleep(0.02)
        return False

    make(files, preprocess_threads=3).next()
    gc.collect()
    before = threading.active_count(), open_files()
    gc.disable()                # nothing may wait for the collector: it does not see how large arrays are
    try:
        for way in range(30):
            iterator = make(files, 'path_imgidx', preprocess_threads=3, shuffle=True)
            for _ in iterator:
                if way % 2:
                    break
            if way % 3:
                iterator.reset()
        del iterator
        assert settled(*before), f'{threading.active_count()} threads, {open_files()} files; before {before}'
    finally:
        gc.enable()


# ---------------------------------------------------------------------- detection
@pytest.fixture(scope='module')
def boxes(tmp_path_factory):
    """Pictures with 1 to 3 objects: class, box, and one number more."""
    folder = tmp_path_factory.mktemp('boxes')
    draw, found = np.random.RandomState(0), []
    with recordio.MXIndexedRecordIO(folder / 'a.idx', folder / 'a.rec', 'w') as writer:
        for i in range(7):
            rows, columns = SIZES[i % 5]
            corners = draw.uniform(0, 0.5, (1 + i % 3, 2))
            sizes = draw.uniform(0.1, 0.4, corners.shape)
            objects = np.column_stack([np.arange(len(corners)), corners, corners + sizes, np.full(len(corners), 7)])
            found.append(objects.astype('float32'))
            label = [4, 6, rows, columns, *objects.ravel()]
            writer.write_idx(i, recordio.pack_img((0, label, i, 0), drawn(i, rows, columns), 3, '.png'))
    return found, str(folder / 'a.rec'), str(folder / 'a.idx')


def detect(boxes, **given):
    return mx.io.ImageDetRecordIter(**{'path_imgrec': boxes[1], 'data_shape': (3, 48, 64), 'batch_size': 7,
                                       'verbose': False, **given})


def objects_of(label):
    """The objects in the label of an example, and what stands before them."""
    count = int(label[3])
    head = int(label[4])
    return label[4 + head:4 + count].reshape(-1, int(label[5])), label[:4]


def test_detection(boxes):
    iterator = detect(boxes)
    assert iterator.provide_label == [('softmax_label', (7, 4 + 4 + 3 * 6))]
    [batch] = iterator
    for i, label in enumerate(batch.label[0].asnumpy()):
        found, shape = objects_of(label)
        assert shape.tolist() == [3, 48, 64, 4 + 6 * len(found)]
        assert np.allclose(found, boxes[0][i])
        assert (label[4 + int(shape[3]):] == -1).all()
    picture = cv2.resize(drawn(0, *SIZES[0]), (64, 48))[:, :, ::-1].transpose(2, 0, 1)
    assert (batch.data[0].asnumpy()[0] == picture).all()


def test_label_lengths(boxes):
    wide = detect(boxes, label_pad_width=40, label_pad_value=-2).next().label[0].asnumpy()
    assert wide.shape == (7, 44) and (wide[:, -10:] == -2).all()
    with pytest.raises(MXNetError, match='label_pad_width=12, but the record has 16 labels .record 1 at'):
        detect(boxes, label_pad_width=12)
    with pytest.raises(MXNetError, match='label_width=10, but the record has 16 labels'):
        detect(boxes, label_width=10)
    first = detect(boxes, path_imgidx=boxes[2], num_parts=7, part_index=0, batch_size=1)
    assert first.provide_label[0].shape == (1, 14), 'only our part is looked at'


def test_mirrored_boxes(boxes):
    [plain], [mirrored] = detect(boxes), detect(boxes, rand_mirror_prob=1)
    assert (mirrored.data[0].asnumpy() == plain.data[0].asnumpy()[..., ::-1]).mean() > 0.5
    for i, label in enumerate(mirrored.label[0].asnumpy()):
        found, _ = objects_of(label)
        assert np.allclose(found[:, 1], 1 - boxes[0][i][:, 3], atol=1e-6)
        assert np.allclose(found[:, 3], 1 - boxes[0][i][:, 1], atol=1e-6)


@pytest.mark.parametrize('mode', ['fit', 'shrink'])
def test_boxes_in_proportion(boxes, mode):
    [batch] = detect(boxes, resize_mode=mode, data_shape=(3, 50, 50))
    for i, label in enumerate(batch.label[0].asnumpy()):
        rows, columns = SIZES[i % 5]
        ratio = min(50 / rows, 50 / columns, *([1] if mode == 'shrink' else []))
        height, width = int(label[1]), int(label[2])
        assert abs(height - ratio * rows) <= 1 and abs(width - ratio * columns) <= 1
        pixels = batch.data[0].asnumpy()[i]
        assert not pixels[:, height:].any() and not pixels[:, :, width:].any() and pixels[:, :height, :width].any()


@pytest.mark.parametrize('options', [
    {'rand_crop_prob': 1, 'min_crop_scales': 0.5, 'min_crop_overlaps': 0.1},
    {'rand_crop_prob': 1, 'num_crop_sampler': 2, 'min_crop_scales': (0.3, 0.6), 'crop_emit_mode': 'overlap'},
    {'rand_crop_prob': 1, 'min_crop_object_coverages': 0.9, 'min_crop_aspect_ratios': 0.5, 'max_crop_aspect_ratios': 2},
    {'rand_pad_prob': 1, 'max_pad_scale': 3},
    {'rand_pad_prob': 0.5, 'max_pad_scale': 2, 'rand_crop_prob': 0.5, 'rand_mirror_prob': 0.5},
])
def test_boxes_stay_around_their_objects(options, tmp_path):
    """Each picture has one white rectangle, and a label that says where; wherever both go, they go together."""
    path, draw = str(tmp_path / 'a.rec'), np.random.RandomState(0)
    with recordio.MXRecordIO(path, 'w') as writer:
        for i in range(40):
            picture = np.full((100, 120, 3), 50, np.uint8)
            top, left = draw.randint(5, 50, 2)
            height, width = draw.randint(20, 45, 2)
            picture[top:top + height, left:left + width] = 250
            label = [2, 5, 3, left / 120, top / 100, (left + width) / 120, (top + height) / 100]
            writer.write(recordio.pack_img((0, label, i, 0), picture, 3, '.png'))
    iterator = mx.io.ImageDetRecordIter(path_imgrec=path, data_shape=(3, 200, 200), batch_size=40, seed=5,
                                        fill_value=50, verbose=False, **options)
    [batch] = iterator
    for pixels, label in zip(batch.data[0].asnumpy(), batch.label[0].asnumpy()):
        [[kind, left, top, right, bottom]], _ = objects_of(label)
        assert kind == 3
        columns, rows = (np.flatnonzero((pixels[0] > 150).any(axis)) for axis in (0, 1))
        edges = np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]) / 200
        assert np.abs(edges - [left, top, right, bottom]).max() < 0.06
    iterator.reset()
    [later] = iterator
    assert (later.label[0].asnumpy() != batch.label[0].asnumpy()).any()


def test_detection_numbers(boxes):
    [raw] = detect(boxes)
    raw = raw.data[0].asnumpy()
    [found] = detect(boxes, mean_r=3, mean_b=7, std_r=2, scale=0.5)
    scaled = (raw - np.array([3, 0, 7]).reshape(3, 1, 1)) / np.array([2, 1, 1]).reshape(3, 1, 1) * 0.5
    assert np.allclose(found.data[0].asnumpy(), scaled, atol=1e-4)
    [coloured] = detect(boxes, random_hue_prob=1, max_random_hue=30, random_contrast_prob=1, max_random_contrast=0.5)
    assert (coloured.data[0].asnumpy() != raw).any()


def test_detection_mean_image(boxes, tmp_path):
    [raw] = detect(boxes)
    raw = raw.data[0].asnumpy()
    for _ in range(2):
        [found] = detect(boxes, mean_img=str(tmp_path / 'mean.bin'), std_r=2, std_g=2, std_b=2)
        assert np.allclose(found.data[0].asnumpy(), (raw - raw.mean(0)) / 2, atol=1e-3)


def test_detection_mistakes(boxes, files):
    with pytest.raises(MXNetError, match='the record has one label, which cannot be a list of objects'):
        mx.io.ImageDetRecordIter(path_imgrec=files[1]['path_imgrec'], data_shape=(3, 20, 20), batch_size=2)
    with pytest.raises(MXNetError, match='min_crop_scales has 3 values for num_crop_sampler=2'):
        detect(boxes, num_crop_sampler=2, min_crop_scales=(0, 0.1, 0.2))
    with pytest.raises(MXNetError, match='needs 0 <= min_crop_scales < max_crop_scales <= 1'):
        detect(boxes, min_crop_scales=0.9, max_crop_scales=0.5)


def test_memory_is_used_again_only_when_nobody_has_it(tmp_path):
    """Batches that are kept, or of which a part is, stay as they are while others are made."""
    with recordio.MXIndexedRecordIO(tmp_path / 'a.idx', tmp_path / 'a.rec', 'w') as writer:
        for i in range(40):
            picture = np.full((64, 64, 3), i * 6, np.uint8)
            writer.write_idx(i, recordio.pack_img((0, i, i, 0), picture, img_fmt='.png', quality=1))

    def values(batch):
        return batch.label[0].asnumpy() * 6

    batches = mx.io.ImageRecordIter(path_imgrec=str(tmp_path / 'a.rec'), path_imgidx=str(tmp_path / 'a.idx'),
                                    data_shape=(3, 64, 64), batch_size=4, prefetch_buffer=1)
    kept = []
    for turn in range(6):
        for number, batch in enumerate(batches):
            expected = values(batch)
            if turn == 0 and number % 2:
                kept.append((batch.data[0], expected, slice(None)))
            elif turn == 0:
                kept.append((batch.data[0][2], expected, 2))            # a view of one picture
            np.testing.assert_array_equal(batch.data[0].asnumpy()[:, 1, 30, 30], expected)
        batches.reset()
    for array, expected, part in kept:
        found = array.asnumpy().reshape(-1, 3, 64, 64)
        np.testing.assert_array_equal(found, np.broadcast_to(np.reshape(expected[part], (-1, 1, 1, 1)), found.shape))


def test_buffers():
    from mxnet.io._buffers import Buffers
    buffers = Buffers()
    first = buffers.empty((2, 1 << 17), torch.uint8)
    place, part = first.data_ptr(), first[1, 5:]
    del first
    second = buffers.empty((2, 1 << 17), torch.uint8)
    assert second.data_ptr() != place           # `part` still has the memory
    del part
    assert buffers.empty((1, 1 << 16), torch.float32).data_ptr() == place
