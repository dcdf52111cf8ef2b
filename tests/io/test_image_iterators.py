"""Augmenters, ImageIter and ImageDetIter."""
import json
import random

import numpy as np
import pytest

import mxnet as mx
from mxnet import recordio
from mxnet.base import MXNetError

cv2 = pytest.importorskip('cv2')


def picture(rows=60, columns=80, dtype='float32'):
    values = np.add.outer(np.arange(rows), np.arange(columns))[:, :, None] * [1, 0.7, 1.3] % 255
    return mx.nd.array(values.astype('uint8'), dtype=dtype)


# ---------------------------------------------------------------------- augmenters
def test_sizes():
    image = picture(dtype='uint8')
    for aug, shape in [(mx.image.ResizeAug(30), (30, 40, 3)), (mx.image.ForceResizeAug((20, 50)), (50, 20, 3)),
                       (mx.image.RandomCropAug((32, 24)), (24, 32, 3)), (mx.image.CenterCropAug((32, 24)), (24, 32, 3)),
                       (mx.image.RandomSizedCropAug((32, 24), 0.3, (0.8, 1.2)), (24, 32, 3))]:
        found = aug(image)
        assert found.shape == shape and found.dtype == np.uint8
    assert (mx.image.HorizontalFlipAug(1)(image).asnumpy() == image.asnumpy()[:, ::-1]).all()
    assert (mx.image.HorizontalFlipAug(0)(image).asnumpy() == image.asnumpy()).all()
    assert mx.image.CastAug()(image).dtype == np.float32
    assert mx.image.image.ResizeAug is mx.image.ResizeAug, 'where upstream has it, too'


def test_colours():
    image = picture()
    pixels, grey = image.asnumpy(), image.asnumpy() @ [0.299, 0.587, 0.114]
    random.seed(1)
    alpha = [1 + random.uniform(-0.4, 0.4) for _ in range(3)]
    random.seed(1)
    found = [kind(0.4)(image).asnumpy() for kind in (mx.image.BrightnessJitterAug, mx.image.ContrastJitterAug,
                                                     mx.image.SaturationJitterAug)]
    assert np.allclose(found[0], pixels * alpha[0], rtol=1e-4)
    assert np.allclose(found[1], pixels * alpha[1] + grey.mean() * (1 - alpha[1]), rtol=1e-3, atol=1e-2)
    assert np.allclose(found[2], pixels * alpha[2] + grey[..., None] * (1 - alpha[2]), rtol=1e-3, atol=1e-2)
    assert (image.asnumpy() == pixels).all(), 'the image that was given stays as it is'
    assert np.abs(mx.image.HueJitterAug(0)(image).asnumpy() - pixels).max() < 2
    turned = mx.image.HueJitterAug(0.5)(image).asnumpy()
    assert np.allclose(turned @ [0.299, 0.587, 0.114], grey, atol=2), 'brightness stays when hues turn'
    one = mx.image.RandomGrayAug(1)(image).asnumpy()
    assert np.allclose(one, (pixels @ [0.21, 0.72, 0.07])[..., None], rtol=1e-4)
    light = mx.image.LightingAug(0.5, [1, 2, 3], np.eye(3))(image).asnumpy() - pixels
    assert np.ptp(light, axis=(0, 1)).max() < 1e-3 and np.abs(light).max() > 0, 'one colour is added'
    mean, std = np.array([1., 2, 3]), np.array([2., 4, 5])
    assert np.allclose(mx.image.ColorNormalizeAug(mean, std)(image).asnumpy(), (pixels - mean) / std, atol=1e-4)


def test_random_order():
    seen = set()

    class Note(mx.image.Augmenter):
        def __init__(self, name):
            super().__init__(name=name)
            self.name = name

        def __call__(self, src):
            return src + [self.name]
    order = mx.image.RandomOrderAug([Note(name) for name in 'abc'])
    for _ in range(100):
        seen.add(''.join(order([])))
    assert len(seen) == 6
    assert mx.image.SequentialAug([Note('a'), Note('b')])([]) == ['a', 'b']
    with pytest.raises(NotImplementedError, match='Augmenter must define __call__'):
        mx.image.Augmenter()(None)


def test_dumps():
    assert json.loads(mx.image.ColorNormalizeAug(mx.nd.array([1, 2, 3]), None).dumps()) == [
        'colornormalizeaug', {'mean': [1.0, 2.0, 3.0], 'std': None}]
    parts = ['["brightnessjitteraug", {"brightness": 0.1}]', '["saturationjitteraug", {"saturation": 0.2}]']
    assert mx.image.ColorJitterAug(0.1, 0, 0.2).dumps() == ['colorjitteraug', parts]


def test_lists_of_augmenters():
    everything = mx.image.CreateAugmenter((3, 24, 32), resize=50, rand_crop=True, rand_resize=True, rand_mirror=True,
                                          mean=True, std=True, brightness=0.1, contrast=0.1, saturation=0.1, hue=0.1,
                                          pca_noise=0.1, rand_gray=0.1, inter_method=10)
    names = ['ResizeAug', 'RandomSizedCropAug', 'HorizontalFlipAug', 'CastAug', 'ColorJitterAug', 'HueJitterAug',
             'LightingAug', 'RandomGrayAug', 'ColorNormalizeAug']
    assert [type(aug).__name__ for aug in everything] == names
    image = picture(dtype='uint8')
    for aug in everything:
        image = aug(image)
    assert image.shape == (24, 32, 3) and image.dtype == np.float32
    with pytest.raises(ValueError, match='rand_resize needs rand_crop'):
        mx.image.CreateAugmenter((3, 2, 2), rand_resize=True)
    with pytest.raises(ValueError, match='mean must be True, None or 1 or 3 numbers'):
        mx.image.CreateAugmenter((3, 2, 2), mean=np.zeros((2, 2)))
    with pytest.warns(DeprecationWarning, match='min_area is an old name'):
        assert mx.image.RandomSizedCropAug((2, 2), 0, (1, 1), min_area=0.5).area == 0.5
    with pytest.raises(TypeError, match="unexpected argument 'x'"):
        mx.image.RandomSizedCropAug((2, 2), 0, (1, 1), x=1)


# ---------------------------------------------------------------------- augmenters for detection
def boxed(draw):
    """An image with a white rectangle, and its label."""
    image = np.full((100, 120, 3), 50, 'uint8')
    top, left = draw.randint(5, 50, 2)
    height, width = draw.randint(20, 45, 2)
    image[top:top + height, left:left + width] = 250
    label = np.array([[3, left / 120, top / 100, (left + width) / 120, (top + height) / 100]], 'float32')
    return mx.nd.array(image, dtype='uint8'), label


def edges(image):
    bright = image.asnumpy()[:, :, 0] > 150
    rows, columns = np.flatnonzero(bright.any(1)), np.flatnonzero(bright.any(0))
    return np.array([columns[0] / bright.shape[1], rows[0] / bright.shape[0], (columns[-1] + 1) / bright.shape[1],
                     (rows[-1] + 1) / bright.shape[0]])


@pytest.mark.parametrize('make', [
    lambda: mx.image.DetHorizontalFlipAug(1),
    lambda: mx.image.DetRandomCropAug(),
    lambda: mx.image.DetRandomCropAug(0.5, (0.5, 2), (0.3, 0.9), 0.5),
    lambda: mx.image.DetRandomPadAug(pad_val=50),
    lambda: mx.image.DetBorrowAug(mx.image.ForceResizeAug((200, 150))),
    lambda: mx.image.CreateMultiRandCropAugmenter([0.1, 0.5, 0.9], area_range=[(0.1, 1.0), (0.2, 1.0), (0.3, 0.9)]),
])
def test_boxes_stay_around_their_objects(make):
    draw, aug, moved = np.random.RandomState(0), make(), 0
    for _ in range(40):
        image, label = boxed(draw)
        before = label.copy()
        new, found = aug(image, label)
        assert (label == before).all(), 'the label that was given stays as it is'
        assert found.shape == (1, 5) and found[0, 0] == 3
        assert np.abs(edges(new) - found[0, 1:]).max() < 0.03
        moved += new.shape != image.shape or (found != label).any()
    assert moved > 30


def test_crops_have_enough_of_the_objects():
    aug, draw = mx.image.DetRandomCropAug(min_object_covered=0.9, min_eject_coverage=0.9), np.random.RandomState(1)
    for _ in range(30):
        image, label = boxed(draw)
        new, _ = aug(image, label)
        whole, left = ((a.asnumpy()[:, :, 0] > 150).sum() for a in (image, new))
        assert left >= 0.88 * whole


def test_impossible_ranges():
    for make in (lambda: mx.image.DetRandomCropAug(area_range=(0.9, 0.1)),
                 lambda: mx.image.DetRandomPadAug(area_range=(1.0, 1.0)),
                 lambda: mx.image.DetRandomCropAug(aspect_ratio_range=0)):
        with pytest.warns(UserWarning, match='does nothing: .* is not a valid range'):
            aug = make()
        image, label = boxed(np.random.RandomState(0))
        assert aug(image, label)[0] is image
    image, label = boxed(np.random.RandomState(0))
    nothing = mx.image.DetRandomCropAug(min_object_covered=2)
    assert nothing(image, label)[0] is image, 'after all attempts it stays as it is'


def test_choosing_one():
    image, label = boxed(np.random.RandomState(0))
    select = mx.image.DetRandomSelectAug([mx.image.DetHorizontalFlipAug(1)], skip_prob=0.5)
    flipped = sum((select(image, label)[1] != label).any() for _ in range(200))
    assert 60 < flipped < 140
    assert mx.image.DetRandomSelectAug([])(image, label)[0] is image
    assert select.dumps() == ['detrandomselectaug', ['["dethorizontalflipaug", {"p": 1}]']]
    with pytest.raises(ValueError, match='takes augmenters for detection, not a ResizeAug'):
        mx.image.DetRandomSelectAug([mx.image.ResizeAug(2)])
    with pytest.raises(TypeError, match='takes an mx.image.Augmenter, not a DetHorizontalFlipAug'):
        mx.image.DetBorrowAug(mx.image.DetHorizontalFlipAug(1))
    with pytest.raises(ValueError, match=r'lists have \[2, 3, 1, 1, 1\] values'):
        mx.image.CreateMultiRandCropAugmenter([0.1, 0.2], [(1, 1), (1, 1), (1, 1)])


def test_lists_of_detection_augmenters():
    found = mx.image.CreateDetAugmenter((3, 24, 32), resize=50, rand_crop=0.5, rand_pad=0.5, rand_gray=0.1,
                                        rand_mirror=True, mean=True, std=np.array([1.1, 1.0, 1.2]), brightness=0.1,
                                        contrast=0.1, saturation=0.1, pca_noise=0.1, hue=0.1, inter_method=10)
    assert len(found) == 11 and all(isinstance(aug, mx.image.DetAugmenter) for aug in found)
    image, label = boxed(np.random.RandomState(0))
    for aug in found:
        image, label = aug(image, label)
    assert image.shape == (24, 32, 3) and label.shape[1] == 5


# ---------------------------------------------------------------------- ImageIter
@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """7 images as files, as records, and in lists; the red of each is its number times 10."""
    folder = tmp_path_factory.mktemp('images')
    (folder / 'a.lst').write_text(''.join(f'{i}\t{i * 2}\t{i * 3}\t{i}.png\n' for i in range(7)))
    with recordio.MXIndexedRecordIO(folder / 'a.idx', folder / 'a.rec', 'w') as writer:
        for i in range(7):
            pixels = np.full((30 + i, 40, 3), (1, 2, 10 * i), 'uint8')
            cv2.imwrite(str(folder / f'{i}.png'), pixels)
            writer.write_idx(i, recordio.pack_img((0, i, i, 0), pixels, 3, '.png'))
    return folder


def make(folder, kind='rec', **given):
    paths = {
        'rec': {'path_imgrec': str(folder / 'a.rec'), 'path_imgidx': str(folder / 'a.idx')},
        'plain': {'path_imgrec': str(folder / 'a.rec')},
        'list': {'path_imglist': str(folder / 'a.lst'), 'path_root': str(folder), 'label_width': 2},
        'both': {'path_imgrec': str(folder / 'a.rec'), 'path_imgidx': str(folder / 'a.idx'),
                 'path_imglist': str(folder / 'a.lst'), 'label_width': 2},
        'memory': {'imglist': [[i, f'{i}.png'] for i in range(7)], 'path_root': str(folder)},
    }[kind]
    return mx.image.ImageIter(**{'batch_size': 3, 'data_shape': (3, 20, 24), **paths, **given})


def reds(iterator):
    found = []
    for batch in iterator:
        pixels = batch.data[0].asnumpy()
        assert (pixels[:, 1] == 2).all() and (pixels[:, 2] == 1).all()
        found.append((pixels[:, 0, 0, 0] / 10).astype(int).tolist())
    return found


@pytest.mark.parametrize('kind', ['rec', 'plain', 'list', 'both', 'memory'])
@pytest.mark.parametrize('last, passes', [
    ('pad', [[[0, 1, 2], [3, 4, 5], [6, 0, 1]]] * 3),
    ('discard', [[[0, 1, 2], [3, 4, 5]]] * 3),
    ('roll_over', [[[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]], [[5, 6, 0], [1, 2, 3], [4, 5, 6]]]),
])
def test_sources_and_last_batches(folder, kind, last, passes):
    iterator = make(folder, kind, last_batch_handle=last)
    assert iterator.provide_data == [('data', (3, 3, 20, 24))]
    for expected in passes:
        assert reds(iterator) == expected
        with pytest.raises(StopIteration):
            iterator.next()
        iterator.reset()


def test_pads_and_labels(folder):
    assert [batch.pad for batch in make(folder)] == [0, 0, 2]
    rolling = make(folder, last_batch_handle='roll_over')
    list(rolling)
    rolling.reset()
    assert [batch.pad for batch in rolling] == [2, 0], 'how many are new in the first batch, as upstream counts'
    rolling.hard_reset()
    assert reds(rolling) == [[0, 1, 2], [3, 4, 5]]
    batch = next(make(folder))
    assert batch.label[0].asnumpy().tolist() == [0, 1, 2] and batch.label[0].shape == (3,)
    for kind in ('list', 'both'):
        assert next(make(folder, kind)).label[0].asnumpy().tolist() == [[0, 0], [2, 3], [4, 6]]
    [large] = make(folder, batch_size=17)
    assert large.pad == 10 and reds([large])[0] == (list(range(7)) * 3)[:17]


def test_shuffled_images(folder):
    random.seed(3)
    iterator = make(folder, shuffle=True, batch_size=7)
    first = reds(iterator)[0]
    iterator.reset()
    second = reds(iterator)[0]
    assert sorted(first) == sorted(second) == list(range(7)) and first != second
    random.seed(3)
    assert reds(make(folder, shuffle=True, batch_size=7))[0] == first


def test_parts_of_images(folder):
    assert [reds(make(folder, num_parts=3, part_index=i, batch_size=1)) for i in range(3)] == [[[0], [1]], [[2], [3]],
                                                                                             [[4], [5]]]


def test_own_methods(folder):
    class Mine(mx.image.ImageIter):
        def augmentation_transform(self, data):
            return super().augmentation_transform(data) + 1

        def next_sample(self):
            label, data = super().next_sample()
            return label + 100, data
    batch = next(Mine(2, (3, 20, 24), path_imgrec=str(folder / 'a.rec')))
    assert batch.label[0].asnumpy().tolist() == [100, 101]
    assert batch.data[0].asnumpy()[1, :, 0, 0].tolist() == [11, 3, 2]


def test_wrong_sizes_and_labels(folder):
    with pytest.raises(MXNetError, match=r'image 0 of .*: after augmentation.* has shape \(3, 30, 40\), but'):
        next(make(folder, aug_list=[]))
    with pytest.raises(MXNetError, match='image 0 of .* has 1 labels, but label_width is 2'):
        next(make(folder, label_width=2))


def test_a_list_without_some_records(folder, tmp_path):
    (tmp_path / 'a.lst').write_text('77\t1\ta.png\n')
    with pytest.raises(MXNetError, match='ImageIter: the list has no labels for record 0'):
        next(make(folder, path_imglist=str(tmp_path / 'a.lst')))
    with pytest.raises(MXNetError, match='a.rec, line .* should be a number, labels and a path'):
        make(folder, path_imglist=str(folder / 'a.rec'))


@pytest.mark.parametrize('given, problem', [
    ({'path_imgrec': None, 'path_imgidx': None}, 'needs path_imgrec, path_imglist or imglist'),
    ({'dtype': 'int8'}, "dtype must be one of .*, not 'int8'"),
    ({'last_batch_handle': 'x'}, "last_batch_handle must be one of .*, not 'x'"),
    ({'data_shape': (1, 20, 20)}, r'data_shape must be \(3, height, width\), not \(1, 20, 20\)'),
    ({'path_imgidx': None, 'shuffle': True}, 'a .rec file needs path_imgidx'),
    ({'num_parts': 2, 'part_index': 2}, 'part_index must be between 0 and 1, not 2'),
])
def test_mistakes(folder, given, problem):
    with pytest.raises(ValueError, match=problem):
        make(folder, **given)


def test_broken_images(folder, tmp_path, caplog):
    (tmp_path / 'broken.png').write_bytes(b'this is no image')
    entries = [[0, str(folder / '0.png')], [9, str(tmp_path / 'broken.png')], [1, str(folder / '1.png')]]
    given = {'batch_size': 1, 'data_shape': (3, 20, 24), 'imglist': entries}
    with pytest.raises(RuntimeError, match=r"image '.*broken.png' cannot be decoded"):
        list(mx.image.ImageIter(**given))
    iterator = mx.image.ImageIter(**given, on_corrupt='skip')
    for _ in range(2):
        assert reds(iterator) == [[0], [1]]
        iterator.reset()
    [(key, problem)] = iterator.corrupt
    assert 'broken.png' in key and 'cannot be decoded' in problem and len(caplog.records) == 1
    (tmp_path / 'a.lst').write_text('x\t1\ta.png\n')
    with pytest.raises(MXNetError, match="a.lst, line 1: .* is not a whole number"):
        mx.image.ImageIter(1, (3, 20, 24), path_imglist=str(tmp_path / 'a.lst'))


# ---------------------------------------------------------------------- ImageDetIter
@pytest.fixture(scope='module')
def detections(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp('detections'), np.random.RandomState(0)
    entries = []
    for i in range(5):
        image, label = boxed(draw)
        cv2.imwrite(str(folder / f'{i}.png'), image.asnumpy())
        objects = np.concatenate([label] * (1 + i % 3))
        entries.append([2, 5, *objects.ravel().tolist(), str(folder / f'{i}.png')])
    return entries


def test_detection(detections):
    iterator = mx.image.ImageDetIter(2, (3, 50, 60), imglist=detections)
    assert iterator.label_shape == (3, 5) and iterator.provide_label == [('label', (2, 3, 5))]
    for _ in range(2):
        batches = list(iterator)
        assert [b.pad for b in batches] == [0, 0, 1]
        label = np.concatenate([b.label[0].asnumpy() for b in batches])[:5]
        for i in range(5):
            assert np.allclose(label[i, :1 + i % 3].ravel(), detections[i][2:-1]) and (label[i, 1 + i % 3:] == -1).all()
        image = mx.nd.array(batches[0].data[0].asnumpy()[0].transpose(1, 2, 0))
        assert np.abs(edges(image) - label[0, 0, 1:]).max() < 0.03
        iterator.reset()


def test_detection_shapes(detections):
    few = mx.image.ImageDetIter(1, (3, 50, 60), imglist=detections[:1], aug_list=[])
    many = mx.image.ImageDetIter(1, (3, 50, 60), imglist=detections)
    assert few.label_shape == (1, 5)
    assert many.sync_label_shape(few) is few and few.label_shape == (3, 5)
    few.reshape(data_shape=(3, 100, 120), label_shape=(8, 5))
    batch = next(few)
    assert batch.data[0].shape == (1, 3, 100, 120) and batch.label[0].shape == (1, 8, 5)
    for shape in ((2, 5), (9, 6), (9,)):
        with pytest.raises(ValueError, match='label_shape'):
            few.reshape(label_shape=shape)
    with pytest.raises(TypeError, match='takes an ImageDetIter, not the int 3'):
        many.sync_label_shape(3)


def test_bad_labels(detections):
    for entry, problem in [([2, 5, 1, 2, 3, 'x.png'], 'at least 2 numbers of a head and 5 of an object, not 5'),
                           ([2, 4, 1, 0, 0, 1, 1, 'x.png'], 'cannot have a head of 2 and objects of 4'),
                           ([2, 5, 1, 0.5, 0.5, 0.1, 0.1, 'x.png'], 'no object with a box')]:
        with pytest.raises(RuntimeError, match=problem):
            mx.image.ImageDetIter(1, (3, 50, 60), imglist=[entry])


def test_images_that_lose_their_objects_are_left_out(detections):
    class Lose(mx.image.DetAugmenter):
        def __call__(self, src, label):
            return src, label if len(label) > 1 else label[:0]
    resize = mx.image.DetBorrowAug(mx.image.ForceResizeAug((60, 50)))
    iterator = mx.image.ImageDetIter(1, (3, 50, 60), imglist=detections, aug_list=[resize, Lose()])
    assert len(list(iterator)) == 3


def test_drawn_boxes(detections):
    iterator = mx.image.ImageDetIter(1, (3, 100, 120), imglist=detections, mean=True)
    images = list(iterator.draw_next(color=(255, 0, 0), mean=True, thickness=1, id2labels={3: 'cat'}))
    assert len(images) == 5
    for image in images:
        assert image.shape == (100, 120, 3) and image.dtype == np.uint8
        assert (image == (0, 0, 255)).all(2).sum() > 60, 'red lines, in BGR'


def test_a_picture_that_is_missing_is_told_with_its_list(tmp_path):
    (tmp_path / 'b.lst').write_text('0\t1\t/not/there.png\n')
    with pytest.raises(FileNotFoundError, match=r'b\.lst: /not/there\.png: cannot read'):
        next(mx.image.ImageIter(1, (3, 5, 5), path_imglist=str(tmp_path / 'b.lst'), path_root=str(tmp_path)))
