"""Image operators and the functions of mx.image."""
import colorsys
import random

import numpy as np
import pytest
import torch
from ops_checks import check

import mxnet as mx
from mxnet._ops import TABLE
from mxnet._ops.vision import opencv

nd = mx.nd


def picture(*shape, dtype='uint8', seed=0):
    return (np.random.RandomState(seed).rand(*shape) * 255).astype(dtype)


def run(name, data, seed=0, **attributes):
    op = TABLE[f'_image_{name}']
    rng = {'rng': torch.Generator().manual_seed(seed)} if op.wants_rng else {}
    result = op.function(torch.from_numpy(data), **op.parse(attributes), **rng)
    shadow = op.function(torch.from_numpy(data).to('meta'), **op.parse(attributes))
    assert (shadow.shape, shadow.dtype) == (result.shape, result.dtype)
    return result.numpy()


# ---------------------------------------------------------------------- layout and geometry
@pytest.mark.parametrize('dtype', ['uint8', 'float32', 'float64', 'int32'])
@pytest.mark.parametrize('shape', [(4, 5, 3), (2, 4, 5, 1)])
def test_to_tensor(shape, dtype):
    data = picture(*shape, dtype=dtype)
    result = run('to_tensor', data)
    assert result.dtype == np.float32 and result.flags['C_CONTIGUOUS']
    np.testing.assert_allclose(result, np.moveaxis(data, -1, -3) / 255, rtol=1e-6)


def test_normalize():
    data = picture(2, 3, 4, 5, dtype='float64')
    mean, std = (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)
    each = np.array(mean).reshape(3, 1, 1), np.array(std).reshape(3, 1, 1)
    check('_image_normalize', [data], (data - each[0]) / each[1], mean=mean, std=std)
    check('_image_normalize', [data[0]], (data[0] - 1) / 2, mean=1.0, std=2.0)
    check('_image_normalize', [data], data)


def test_crop_and_flips():
    data = picture(2, 6, 7, 3, dtype='float64')
    check('_image_crop', [data], data[:, 1:5, 2:5], x=2, y=1, width=3, height=4)
    check('_image_flip_left_right', [data[0]], data[0, :, ::-1].copy())
    check('_image_flip_top_bottom', [data[0]], data[0, ::-1].copy())


def test_whole_crop_is_a_copy():
    data = torch.ones(2, 3, 1)
    TABLE['_image_crop'].function(data, x=0, y=0, width=3, height=2).zero_()
    assert data.min() == 1


def test_random_flips_do_both():
    data = picture(3, 5, 3)
    for name, flipped in (('left_right', data[:, ::-1]), ('top_bottom', data[::-1])):
        seen = {run(f'random_flip_{name}', data, seed=s).tobytes() for s in range(20)}
        assert seen == {data.tobytes(), flipped.tobytes()}


@pytest.mark.parametrize(('size', 'keep', 'wanted'), [
    ((7, 5), False, (5, 7)), (6, False, (6, 6)), (6, True, (6, 9)), ((6,), True, (6, 9))])
def test_resize_sizes(size, keep, wanted):
    assert run('resize', picture(8, 12, 3), size=size, keep_ratio=keep).shape == (*wanted, 3)
    assert run('resize', picture(2, 12, 8, 1), size=size, keep_ratio=keep).shape[1:3] in (wanted, wanted[::-1])


@pytest.mark.parametrize('interp', range(5))
@pytest.mark.parametrize('dtype', ['uint8', 'float32', 'float64'])
@pytest.mark.parametrize('installed', [True, False])
def test_resize_as_opencv(interp, dtype, installed, monkeypatch):
    cv2 = pytest.importorskip('cv2')
    if not installed:
        monkeypatch.setattr(opencv, 'find', lambda: None)
    for shape in ((9, 12, 3), (17, 5, 1)):
        data = picture(*shape, dtype=dtype)
        for size in ((5, 4), (20, 25), (3, 30), shape[1::-1]):
            wanted = cv2.resize(data, size, interpolation=interp).reshape(*size[::-1], shape[2])
            result = run('resize', data, size=size, interp=interp)
            assert result.dtype == data.dtype
            near = 0 if installed and dtype != 'float64' and interp == 0 else 1 if dtype == 'uint8' else 1e-3
            assert abs(result.astype('float64') - wanted).max() <= (0 if installed and dtype == 'uint8' else near)


def test_a_plan_resizes_as_a_call_does():
    pytest.importorskip('cv2')
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.data.vision.transforms.Resize((41, 27)), mx.gluon.data.vision.transforms.ToTensor())
    data = nd.array(picture(37, 53, 3), dtype='uint8')
    wanted = net(data).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(4):
        np.testing.assert_array_equal(net(data).asnumpy(), wanted)
    batch = nd.stack(data, data)
    np.testing.assert_array_equal(nd.image.resize(batch, (41, 27))[1].asnumpy(),
                                  nd.image.resize(data, (41, 27)).asnumpy())


@pytest.mark.parametrize('interp', range(5))
def test_resize_has_gradients(interp):
    data = torch.rand(4, 5, 1, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(lambda x: TABLE['_image_resize'].function(x, size=(3, 6), interp=interp), data)


# ---------------------------------------------------------------------- light and colour
@pytest.mark.parametrize('name', ['brightness', 'contrast', 'saturation', 'hue'])
def test_neutral_factor_changes_nothing(name):
    data = picture(4, 5, 3, dtype='float32')
    np.testing.assert_allclose(run(f'random_{name}', data, min_factor=1, max_factor=1), data, rtol=1e-4, atol=1e-3)


def test_factors():
    data = picture(4, 5, 3, dtype='float32')
    gray = (data * [0.299, 0.587, 0.114]).sum(-1).mean()
    np.testing.assert_allclose(run('random_brightness', data, min_factor=0.5, max_factor=0.5), data * 0.5, rtol=1e-5)
    np.testing.assert_allclose(run('random_contrast', data, min_factor=0.5, max_factor=0.5), (data + gray) / 2,
                               rtol=1e-4)
    one = picture(4, 5, 1, dtype='float32')
    np.testing.assert_allclose(run('random_contrast', one, min_factor=0, max_factor=0), np.full_like(one, one.mean()),
                               rtol=1e-4)


def test_factors_are_drawn_between_the_limits():
    data = np.ones((1, 1, 3), dtype='float32')
    drawn = [run('random_brightness', data, seed=s, min_factor=0.5, max_factor=2)[0, 0, 0] for s in range(50)]
    assert 0.5 <= min(drawn) < 0.8 and 1.7 < max(drawn) <= 2


def test_bytes_are_cut_not_wrapped():
    data = np.full((2, 2, 3), 200, dtype='uint8')
    assert (run('random_brightness', data, min_factor=2, max_factor=2) == 255).all()
    assert (run('adjust_lighting', data, alpha=(-5.0, 0, 0)) == 255).all()


def test_hue_turns_around_the_colour_circle():
    data = picture(4, 5, 3, dtype='float32')
    wanted = []
    for pixel in data.reshape(-1, 3) / 255:
        h, l, s = colorsys.rgb_to_hls(*pixel)
        wanted.append(colorsys.hls_to_rgb((h + 0.3) % 1, l, s))
    result = run('random_hue', data, min_factor=0.3, max_factor=0.3)
    np.testing.assert_allclose(result.reshape(-1, 3), np.array(wanted) * 255, atol=1e-2)
    gray = np.full((2, 2, 3), 77, dtype='float32')
    np.testing.assert_allclose(run('random_hue', gray, min_factor=0.4, max_factor=0.4), gray)


def test_color_jitter():
    data = picture(4, 5, 3)
    still = run('random_color_jitter', data, brightness=0, contrast=0, saturation=0, hue=0)
    assert np.array_equal(still, data)
    drawn = [run('random_color_jitter', data, seed=s, brightness=0.5, contrast=0.5, saturation=0.5, hue=0.1)
             for s in range(5)]
    assert all(d.dtype == np.uint8 for d in drawn) and len({d.tobytes() for d in drawn}) == 5
    only = run('random_color_jitter', data.astype('float32'), seed=3, brightness=0.5, contrast=0, saturation=0, hue=0)
    ratio = only / data.astype('float32').clip(1e-3)
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-3)


def test_lighting():
    data = picture(2, 3, 3, dtype='float32')
    shift = run('adjust_lighting', data, alpha=(1.0, 0.0, 0.0)) - data
    np.testing.assert_allclose(shift[0, 0], 55.46 * np.array([-0.5675, -0.5808, -0.5836]), rtol=1e-4)
    assert np.array_equal(run('adjust_lighting', data[..., :1].copy(), alpha=(1.0, 0, 0)), data[..., :1])
    assert not np.array_equal(run('random_lighting', data, seed=1), run('random_lighting', data, seed=2))


@pytest.mark.parametrize(('name', 'shape', 'attributes', 'text'), [
    ('to_tensor', (3, 4), {}, r'data has shape \(3, 4\)'), ('flip_left_right', (3, 4, 2), {}, '1 or 3 channels'),
    ('crop', (3, 4, 3), {'x': 2, 'y': 0, 'width': 3, 'height': 1}, 'is not inside'),
    ('resize', (3, 4, 3), {'size': ()}, 'size='), ('resize', (3, 4, 3), {'size': 2, 'interp': 7}, 'interp=7'),
    ('normalize', (3, 4, 4), {'mean': (1.0, 2.0)}, 'mean has 2 values'),
    ('normalize', (4, 4, 4), {}, '1 or 3 channels'),
    ('random_hue', (3, 4, 3), {'min_factor': 2, 'max_factor': 1}, 'min_factor=2'),
    ('adjust_lighting', (3, 4, 3), {'alpha': (1.0,)}, 'alpha has 1 values')])
def test_errors(name, shape, attributes, text):
    with pytest.raises(mx.MXNetError, match=text):
        run(name, picture(*shape), **attributes)


# ---------------------------------------------------------------------- mx.image
@pytest.fixture
def cv2():
    return pytest.importorskip('cv2')


@pytest.fixture
def encoded(cv2):
    data = picture(6, 8, 3)
    return data, cv2.imencode('.png', data[..., ::-1])[1].tobytes()


def test_imdecode_is_rgb(encoded, tmp_path):
    data, blob = encoded
    path = tmp_path / 'picture.png'
    path.write_bytes(blob)
    array = np.frombuffer(blob, np.uint8)
    for source in (blob, bytearray(blob), array, nd.array(array, dtype='uint8')):
        assert np.array_equal(mx.image.imdecode(source).asnumpy(), data)
    assert np.array_equal(mx.image.imread(str(path)).asnumpy(), data)
    assert np.array_equal(mx.image.imread(path, to_rgb=False).asnumpy(), data[..., ::-1])
    assert mx.image.imdecode(blob, flag=0).shape == (6, 8, 1)
    out = nd.zeros((6, 8, 3), dtype='uint8')
    assert mx.image.imdecode(blob, out=out) is out and np.array_equal(out.asnumpy(), data)


def test_what_cannot_be_decoded(cv2, tmp_path):
    with pytest.raises(mx.MXNetError, match='no bytes'):
        mx.image.imdecode(b'')
    with pytest.raises(mx.MXNetError, match='7 bytes are not an image'):
        mx.image.imdecode(b'garbage')
    with pytest.raises(mx.MXNetError, match='cannot read.*No such file'):
        mx.image.imread(str(tmp_path / 'none.png'))
    with pytest.raises(ValueError, match='not the str'):
        mx.image.imdecode('text')


def test_missing_opencv_says_how_to_get_it(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, 'cv2', None)
    with pytest.raises(ImportError, match='pip install opencv-python-headless'):
        mx.image.imdecode(b'x')


def test_crops(cv2):
    data = nd.array(picture(10, 12, 3), dtype='uint8')
    whole = data.asnumpy()
    assert np.array_equal(mx.image.fixed_crop(data, 2, 1, 5, 4).asnumpy(), whole[1:5, 2:7])
    crop, where = mx.image.center_crop(data, (6, 4))
    assert where == (3, 3, 6, 4) and np.array_equal(crop.asnumpy(), whole[3:7, 3:9])
    random.seed(1)
    crop, (x, y, w, h) = mx.image.random_crop(data, (6, 4))
    assert (w, h) == (6, 4) and np.array_equal(crop.asnumpy(), whole[y:y + 4, x:x + 6])
    crop, (x, y, w, h) = mx.image.random_size_crop(data, (5, 5), (0.2, 0.5), (0.75, 1.5))
    assert crop.shape == (5, 5, 3) and 0.1 < w * h / 120 < 0.7
    assert mx.image.center_crop(data, (24, 24))[0].shape == (24, 24, 3)
    with pytest.warns(DeprecationWarning, match='min_area'):
        mx.image.random_size_crop(data, (5, 5), None, (1, 1), min_area=0.5)


def test_sizes(cv2):
    data = nd.array(picture(10, 20, 3), dtype='uint8')
    assert mx.image.resize_short(data, 5).shape == (5, 10, 3)
    assert mx.image.imresize(data, 4, 6).shape == (6, 4, 3)
    assert mx.image.imresize(data[:, :, :1], 4, 6, 0).shape == (6, 4, 1)
    assert mx.image.scale_down((100, 50), (200, 200)) == (50, 50)
    assert [mx.image.image.interpolation(9, s) for s in ((5, 5, 9, 9), (9, 9, 5, 5), (5, 9, 9, 5), ())] == [2, 3, 1, 2]
    with pytest.raises(ValueError, match='interp=11'):
        mx.image.resize_short(data, 5, interp=11)
    with pytest.raises(mx.MXNetError, match='int32'):
        mx.image.imresize(data.astype('int32'), 4, 4)
    with pytest.raises(TypeError, match='imresize: src must be an NDArray, not a numpy.ndarray of shape .*; '
                                        'mx.nd.array converts it'):
        mx.image.imresize(np.ones((4, 4, 3)), 2, 2)
    with pytest.raises(mx.MXNetError, match=r'center_crop: src has shape \(4, 4\)'):
        mx.image.center_crop(mx.nd.ones((4, 4)), (2, 2))


def test_border(cv2):
    data = nd.array(picture(3, 4, 3), dtype='uint8')
    framed = mx.image.copyMakeBorder(data, 1, 2, 3, 0, values=(1, 2, 3)).asnumpy()
    assert framed.shape == (6, 7, 3) and (framed[0, 0] == [1, 2, 3]).all()
    assert np.array_equal(framed[1:4, 3:], data.asnumpy())


def test_color_normalize_works_in_place():
    data = nd.ones((2, 2, 3))
    assert mx.image.color_normalize(data, nd.array([1, 2, 3]), nd.array([1, 2, 4])) is data
    np.testing.assert_allclose(data.asnumpy()[0, 0], [0, -0.5, -0.5])


def test_rotation():
    data = nd.array(np.random.RandomState(0).rand(2, 1, 5, 5))
    turned = mx.image.imrotate(data, 90)
    np.testing.assert_allclose(turned.asnumpy(), np.rot90(data.asnumpy(), 1, (2, 3)), atol=1e-5)
    np.testing.assert_allclose(mx.image.imrotate(data[0], 360.0).asnumpy(), data[0].asnumpy(), atol=1e-5)
    each = mx.image.imrotate(data, nd.array([0, 90]))
    np.testing.assert_allclose(each[1].asnumpy(), turned[1].asnumpy(), atol=1e-5)
    ones = nd.ones((1, 1, 9, 9))
    assert mx.image.imrotate(ones, 45).asnumpy()[0, 0, 0, 0] == 0
    np.testing.assert_allclose(mx.image.imrotate(ones, 45, zoom_in=True).asnumpy(), 1, atol=1e-5)
    assert mx.image.imrotate(ones, 45, zoom_out=True).asnumpy().sum() < 50
    assert mx.image.random_rotate(data, (-10, 10)).shape == data.shape
    for wrong in ({'zoom_in': True, 'zoom_out': True}, {'rotation_degrees': nd.ones(3)}):
        with pytest.raises(ValueError):
            mx.image.imrotate(data, **{'rotation_degrees': 1, **wrong})
    with pytest.raises(TypeError, match='float32'):
        mx.image.imrotate(data.astype('uint8'), 3)


def test_rotation_is_recorded():
    data = nd.ones((1, 4, 4))
    data.attach_grad()
    with mx.autograd.record():
        turned = mx.image.imrotate(data, 20.0)
    turned.backward()
    assert 0 < data.grad.asnumpy().sum() < 16
