"""Detection operators against plain loops in NumPy."""
import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from ops_checks import on_meta, traced

import mxnet as mx
from mxnet._ops import TABLE
from mxnet._ops.vision.nms import suppress

nd = mx.nd
RNG = np.random.RandomState


def boxes(*shape, seed=0, size=1.0):
    r = RNG(seed)
    centre, side = r.rand(*shape, 2), r.rand(*shape, 2) * 0.4 + 0.02
    return (np.concatenate([centre - side / 2, centre + side / 2], -1) * size).astype('float32')


def run(name, *inputs, **attributes):
    """The operator's results as NumPy arrays; shapes on meta tensors must agree, tracing must change nothing."""
    op = TABLE[name]
    inputs = [torch.as_tensor(np.asarray(x)) for x in inputs]

    def function(*tensors):
        result = op.function(*tensors, **op.parse(attributes))
        return result if type(result) is tuple else (result,)

    results = function(*inputs)
    if not any(attributes.get(a, 1) <= 0 for a in ('sample_ratio', 'sampling_ratio')):
        for result, shadow in zip(results, on_meta(function, inputs), strict=True):
            assert (shadow.shape, shadow.dtype) == (result.shape, result.dtype)
        for result, again in zip(results, traced(function, *inputs)(*inputs), strict=True):
            assert torch.equal(result, again)
    results = [r.numpy() for r in results]
    return results if len(results) > 1 else results[0]


def overlap(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    inter = max(w, 0) * max(h, 0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return inter / union if union > 0 else 0.0


# ---------------------------------------------------------------------- boxes
def test_iou():
    a, b = boxes(2, 3), boxes(4, seed=1)
    wanted = [[[overlap(x, y) for y in b] for x in row] for row in a]
    np.testing.assert_allclose(run('_contrib_box_iou', a, b), wanted, atol=1e-6)
    centred = [np.concatenate([(x[..., :2] + x[..., 2:]) / 2, x[..., 2:] - x[..., :2]], -1) for x in (a, b)]
    np.testing.assert_allclose(run('_contrib_box_iou', *centred, format='center'), wanted, atol=1e-6)
    assert run('_contrib_box_iou', np.zeros((1, 4), 'f'), np.zeros((1, 4), 'f')) == 0


def plain_suppression(all_boxes, group, valid, threshold):
    kept = []
    for i, box in enumerate(all_boxes):
        kept.append(valid[i] and not any(
            kept[j] and group[j] == group[i] and overlap(all_boxes[j], box) > threshold for j in range(i)))
    return kept


@pytest.mark.parametrize('count', [1, 40, 300])
def test_suppression_in_blocks_is_greedy_suppression(count):
    some, r = boxes(2, count, seed=count), RNG(0)
    group, valid = r.randint(0, 2, (2, count)), r.rand(2, count) < 0.8
    kept = suppress(torch.from_numpy(some), torch.from_numpy(group), torch.from_numpy(valid), 0.3)
    for b in range(2):
        assert kept[b].tolist() == plain_suppression(some[b], group[b], valid[b], 0.3)


def test_suppression_of_a_long_chain():
    # each box removes the next one only: every other one is left
    left = torch.arange(300.0)
    chain = torch.stack((left, left * 0, left + 2.0, left * 0 + 1), -1)[None]
    kept = suppress(chain, None, torch.ones(1, 300, dtype=torch.bool), 0.3)
    assert kept[0].tolist() == [i % 2 == 0 for i in range(300)]


def test_threshold_may_be_reached():
    pair = torch.tensor([[[0.0, 0, 2, 1], [0, 0, 1, 1]]])           # they overlap by exactly a half
    rest = None, torch.ones(1, 2, dtype=torch.bool), 0.5
    assert suppress(pair, *rest).tolist() == [[True, True]]
    assert suppress(pair, *rest, inclusive=True).tolist() == [[True, False]]


def test_nms_example():
    data = [[0, 0.5, 0.1, 0.1, 0.2, 0.2], [1, 0.4, 0.1, 0.1, 0.2, 0.2], [0, 0.3, 0.1, 0.1, 0.14, 0.14],
            [2, 0.6, 0.5, 0.5, 0.7, 0.8]]
    data = np.float32(data)
    result = run('_contrib_box_nms', data, overlap_thresh=0.1, id_index=0, force_suppress=True)
    np.testing.assert_array_equal(result, [data[3], data[0], [-1] * 6, [-1] * 6])
    result = run('_contrib_box_nms', data, overlap_thresh=0.1, id_index=0)
    np.testing.assert_array_equal(result, [data[3], data[0], data[1], [-1] * 6])
    result = run('_contrib_box_nms', data, overlap_thresh=0.1, id_index=0, background_id=2, topk=1)
    np.testing.assert_array_equal(result, [data[0], *[[-1] * 6] * 3])
    assert (run('_contrib_box_nms', data, valid_thresh=0.9) == -1).all()
    np.testing.assert_array_equal(run('_contrib_box_nms', data, topk=0), data)


def test_nms_gradient_goes_where_the_row_came_from():
    data = nd.array([[0, 0.5, 0, 0, 1, 1], [0, 0.9, 0, 0, 1, 1], [0, 0.7, 5, 5, 6, 6]])
    data.attach_grad()
    with mx.autograd.record():
        result = nd.contrib.box_nms(data)
    result.backward(nd.array([[1] * 6, [2] * 6, [3] * 6]))
    np.testing.assert_array_equal(data.grad.asnumpy(), [[0] * 6, [1] * 6, [2] * 6])


def test_nms_changes_the_format():
    data = np.float32([[0, 0.9, 0, 0, 2, 4], [0, 0.1, 0, 0, 2, 4]])
    turned = run('_contrib_box_nms', data, out_format='center')
    np.testing.assert_array_equal(turned, [[0, np.float32(0.9), 1, 2, 2, 4], [-1] * 6])
    back = run('_contrib_box_nms', turned[:1], in_format='center')
    np.testing.assert_array_equal(back, data[:1])


@pytest.mark.parametrize(('attributes', 'text'), [
    ({'coord_start': 3}, 'coord_start=3'), ({'score_index': 4}, 'score_index=4'),
    ({'id_index': 1}, 'id_index=1'), ({'score_index': 9}, 'score_index=9')])
def test_nms_errors(attributes, text):
    with pytest.raises(mx.MXNetError, match=text):
        run('_contrib_box_nms', np.zeros((3, 6), 'f'), **attributes)


def test_matching():
    scores = np.float32([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
    rows, columns = run('_contrib_bipartite_matching', scores, threshold=1e-12)
    assert rows.tolist() == [1, -1, 0] and columns.tolist() == [2, 0]
    rows, columns = run('_contrib_bipartite_matching', scores, threshold=0.35, is_ascend=True)
    assert rows.tolist() == [-1, 0, -1] and columns.tolist() == [1, -1]
    batch = run('_contrib_bipartite_matching', np.stack([scores, scores[::-1]]), threshold=0.1)
    assert batch[0].tolist() == [[1, -1, 0], [0, -1, 1]]


def test_encoding_and_decoding_are_inverse():
    anchors, refs = boxes(2, 5), boxes(2, 3, seed=1)
    matches = np.float32([[0, 1, 2, 0, -1], [2, 2, 1, 0, 0]])
    samples = np.float32([[1, 1, 1, 0, -1], [1, 1, 1, 1, 1]])
    means, stds = np.zeros(4, 'f'), np.float32([0.1, 0.1, 0.2, 0.2])
    offsets, mask = run('_contrib_box_encode', samples, matches, anchors, refs, means, stds)
    assert mask[0].tolist() == [[1] * 4] * 3 + [[0] * 4] * 2 and (offsets[mask == 0] == 0).all()
    again = run('_contrib_box_decode', offsets[1:], anchors[1:], std0=0.1, std1=0.1, std2=0.2, std3=0.2,
                format='corner')
    np.testing.assert_allclose(again[0], refs[1][matches[1].astype(int)], rtol=1e-4, atol=1e-5)
    clipped = run('_contrib_box_decode', np.full((1, 1, 4), 9, 'f'), np.float32([[[0, 0, 1, 1]]]), clip=0.5)
    np.testing.assert_allclose(clipped[0, 0], [9 - math.exp(0.5) / 2] * 2 + [9 + math.exp(0.5) / 2] * 2, rtol=1e-5)


# ---------------------------------------------------------------------- anchors
def test_prior():
    result = run('_contrib_MultiBoxPrior', np.zeros((1, 3, 2, 4), 'f'), sizes=(0.5, 0.2), ratios=(1, 4))
    assert result.shape == (1, 2 * 4 * 3, 4)
    cell = result[0].reshape(2, 4, 3, 4)[1, 2]
    for box, (w, h) in zip(cell, [(0.25, 0.5), (0.1, 0.2), (0.5, 0.25)], strict=True):
        np.testing.assert_allclose(box, [0.625 - w / 2, 0.75 - h / 2, 0.625 + w / 2, 0.75 + h / 2], rtol=1e-5)
    clipped = run('_contrib_MultiBoxPrior', np.zeros((1, 3, 2, 4), 'f'), sizes=(3,), clip=True)
    assert clipped.min() == 0 and clipped.max() == 1
    spaced = run('_contrib_MultiBoxPrior', np.zeros((1, 3, 1, 2), 'f'), sizes=(0.2,), steps=(0.3, 0.4), offsets=(0, 1))
    np.testing.assert_allclose((spaced[0, :, :2] + spaced[0, :, 2:]) / 2, [[0.4, 0], [0.8, 0]], atol=1e-6)
    with pytest.raises(mx.MXNetError, match='offsets'):
        run('_contrib_MultiBoxPrior', np.zeros((1, 3, 1, 2), 'f'), offsets=(0, 2))


def test_target():
    anchor = np.float32([[[0, 0, 1, 1], [0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1], [0.6, 0.6, 0.7, 0.7]]])
    label = np.full((2, 3, 5), -1, 'f')
    label[0, 0] = [3, 0.5, 0.5, 0.9, 1.0]                 # third anchor best
    predictions = np.zeros((2, 6, 4), 'f')
    offsets, mask, classes = run('_contrib_MultiBoxTarget', anchor, label, predictions)
    assert classes.tolist() == [[0, 0, 4, 0], [-1] * 4]   # no box in the second image: nothing to learn
    assert mask[0].reshape(4, 4).any(1).tolist() == [False, False, True, False] and not mask[1].any()
    wanted = [(0.7 - 0.75) / 0.5 / 0.1, 0, math.log(0.4 / 0.5) / 0.2, 0]
    np.testing.assert_allclose(offsets[0, 8:12], wanted, rtol=1e-4, atol=1e-5)
    classes = run('_contrib_MultiBoxTarget', anchor, label, predictions, overlap_threshold=0.15)[2]
    assert classes[0].tolist() == [4, 0, 4, 0]            # the large anchor overlaps by a fifth


def test_target_mines_negatives_that_look_least_like_background():
    anchor = np.float32([[[0, 0, 0.2, 0.2], [0.5, 0.5, 1, 1], [0, 0.8, 0.2, 1], [0.8, 0, 1, 0.2]]])
    label = np.float32([[[0, 0.5, 0.5, 1, 1]]])
    predictions = np.zeros((1, 2, 4), 'f')
    predictions[0, 0] = [5, 0, -5, 2]                     # scores of the background
    for ratio, wanted in ((1, [-1, 1, 0, -1]), (2, [-1, 1, 0, 0]), (9, [0, 1, 0, 0])):
        classes = run('_contrib_MultiBoxTarget', anchor, label, predictions, negative_mining_ratio=ratio)[2]
        assert classes[0].tolist() == wanted


def test_detection():
    anchor = boxes(1, 3)
    anchor[0, 1] = anchor[0, 0]
    scores = np.float32([[[0.1, 0.2, 0.9], [0.6, 0.8, 0.05], [0.3, 0.0, 0.05]]])     # background, two classes
    result = run('_contrib_MultiBoxDetection', scores, np.zeros((1, 12), 'f'), anchor, threshold=0.1, clip=False)
    np.testing.assert_allclose(result[0, :, :2], [[0, 0.8], [-1, 0.6], [-1, -1]], rtol=1e-6)
    np.testing.assert_allclose(result[0, 0, 2:], anchor[0, 1], rtol=1e-5)
    loose = run('_contrib_MultiBoxDetection', scores, np.zeros((1, 12), 'f'), anchor, nms_threshold=-1)
    assert loose[0, :, 0].tolist() == [0, 0, 0] and loose[0, 0, 1] == np.float32(0.6)
    moved = run('_contrib_MultiBoxDetection', scores, np.full((1, 12), 1, 'f'), anchor, nms_topk=1, clip=False)
    w = anchor[0, 1, 2:] - anchor[0, 1, :2]
    middle = (anchor[0, 1, 2:] + anchor[0, 1, :2]) / 2 + 0.1 * w
    np.testing.assert_allclose(moved[0, 0, 2:4], middle - w * math.exp(0.2) / 2, rtol=1e-4)
    assert moved[0, 1:, 0].tolist() == [-1, -1]


# ---------------------------------------------------------------------- proposals
RPN = {'scales': (2.0,), 'ratios': (1.0,), 'feature_stride': 16, 'rpn_min_size': 4, 'rpn_post_nms_top_n': 4}


def test_proposal():
    scores = np.zeros((1, 2, 3, 3), 'f')
    scores[0, 1] = [[0.9, 0.8, 0.1], [0.2, 0.3, 0.1], [0.1, 0.1, 0.7]]
    offsets, info = np.zeros((1, 4, 3, 3), 'f'), np.float32([[48, 48, 1]])
    rois, score = run('_contrib_Proposal', scores, offsets, info, **RPN, threshold=0.39, output_score=True)
    assert rois.shape == (4, 5) and (rois[:, 0] == 0).all()
    # anchors of 32 pixels around cells of 16; the second overlaps the first by 16 x 24 of 40 x 24 and is dropped
    np.testing.assert_allclose(rois[0], [0, 0, 0, 23, 23])
    np.testing.assert_allclose(score[:2, 0], [0.9, 0.7], rtol=1e-6)
    few = run('_contrib_Proposal', scores, offsets, info, **RPN, threshold=0.0, rpn_pre_nms_top_n=2)
    np.testing.assert_allclose(few, [few[0]] * 4)         # one is left and repeated
    info[0, 0] = 32
    small = run('_contrib_Proposal', scores, offsets, info, **RPN, threshold=0.9, output_score=True)
    assert small[1][1, 0] == np.float32(0.8) and (small[0][:3, 4] <= 31).all()


def test_multi_proposal_is_proposal_image_by_image():
    r = RNG(0)
    inputs = [r.rand(2, 2, 5, 6), r.randn(2, 4, 5, 6) * 0.2, np.array([[80, 96, 1.0], [64, 90, 2.0]])]
    inputs = [x.astype('float32') for x in inputs]
    rois, scores = run('_contrib_MultiProposal', *inputs, **RPN, output_score=True)
    assert rois[:, 0].tolist() == [0] * 4 + [1] * 4
    for i in range(2):
        one, score = run('_contrib_Proposal', *[x[i:i + 1] for x in inputs], **RPN, output_score=True)
        np.testing.assert_array_equal(rois[4 * i:4 * i + 4, 1:], one[:, 1:])
        np.testing.assert_array_equal(scores[4 * i:4 * i + 4], score)
    with pytest.raises(mx.MXNetError, match='_contrib_MultiProposal takes more'):
        run('_contrib_Proposal', *inputs, **RPN)
    with pytest.raises(mx.MXNetError, match=r'bbox_pred \(2, 3'):
        run('_contrib_MultiProposal', inputs[0], inputs[1][:, :3], inputs[2], **RPN)


# ---------------------------------------------------------------------- regions
DATA = RNG(0).randn(2, 6, 9, 11).astype('float32')


def regions(count, seed=1, size=44):
    r = RNG(seed)
    return np.concatenate([r.randint(0, 2, (count, 1)), boxes(count, seed=seed, size=size)], 1).astype('float32')


def plain_pooling(data, roi, tall, wide, scale):
    image = int(roi[0])
    left, top, right, bottom = (int(np.floor(abs(v * scale) + 0.5) * np.sign(v)) for v in roi[1:])
    h, w = max(bottom - top + 1, 1), max(right - left + 1, 1)
    out = np.zeros((data.shape[1], tall, wide), 'f')
    for i in range(tall):
        for j in range(wide):
            y0, y1 = top + i * h // tall, top - (-(i + 1) * h // tall)
            x0, x1 = left + j * w // wide, left - (-(j + 1) * w // wide)
            part = data[image, :, max(y0, 0):max(y1, 0), max(x0, 0):max(x1, 0)]
            if part.size:
                out[:, i, j] = part.max((1, 2))
    return out


@pytest.mark.parametrize(('pooled', 'scale'), [((2, 2), 0.25), ((3, 4), 0.25), ((7, 7), 0.1)])
def test_roi_pooling(pooled, scale):
    rois = regions(20)
    rois[3, 1:] = [-9, -9, 20, 60]                        # reaches outside on all sides
    rois[4, 1:] = [90, 90, 99, 99]                        # all outside
    wanted = [plain_pooling(DATA, r, *pooled, scale) for r in rois]
    np.testing.assert_array_equal(run('ROIPooling', DATA, rois, pooled_size=pooled, spatial_scale=scale), wanted)


def test_roi_pooling_gradient_goes_to_the_first_maximum():
    data = torch.zeros(1, 1, 3, 3, requires_grad=True)
    rois = torch.tensor([[0.0, 0, 0, 2, 2], [-1, 0, 0, 2, 2], [7, 0, 0, 2, 2]])
    result = TABLE['ROIPooling'].function(data, rois, pooled_size=(1, 1), spatial_scale=1.0)
    result.sum().backward()
    assert data.grad.flatten().tolist() == [1] + [0] * 8
    assert result.flatten().tolist() == [0, 0, 0]


def bilinear(plane, y, x):
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    y0, x0 = int(y), int(x)
    y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
    a, b = y - y0, x - x0
    return (plane[y0, x0] * (1 - a) * (1 - b) + plane[y0, x1] * (1 - a) * b
            + plane[y1, x0] * a * (1 - b) + plane[y1, x1] * a * b)


def plain_align(data, roi, tall, wide, scale, ratio, position_sensitive, aligned):
    shift = 0.5 if aligned else 0.0
    left, top, right, bottom = roi[1:] * scale - shift
    w, h = right - left, bottom - top
    if not aligned:
        w, h = max(w, 1), max(h, 1)
    ny, nx = (ratio, ratio) if ratio > 0 else (math.ceil(h / tall), math.ceil(w / wide))
    channels = data.shape[1] // (tall * wide if position_sensitive else 1)
    out = np.zeros((channels, tall, wide))
    for c in range(channels):
        for i in range(tall):
            for j in range(wide):
                plane = data[int(roi[0]), (c * tall + i) * wide + j if position_sensitive else c]
                out[c, i, j] = np.mean([bilinear(plane, top + (i + (a + 0.5) / ny) * h / tall,
                                                 left + (j + (b + 0.5) / nx) * w / wide)
                                        for a in range(ny) for b in range(nx)])
    return out


@pytest.mark.parametrize(('pooled', 'ratio', 'position_sensitive', 'aligned'), [
    ((2, 3), 2, False, False), ((2, 2), -1, False, False), ((2, 3), 1, True, False), ((3, 3), 2, False, True),
    ((1, 1), -1, False, True)])
def test_roi_align(pooled, ratio, position_sensitive, aligned):
    rois = regions(8)
    rois[3, 1:] = [-9, -9, 20, 60]
    wanted = [plain_align(DATA, r, *pooled, 0.25, ratio, position_sensitive, aligned) for r in rois]
    result = run('_contrib_ROIAlign', DATA, rois, pooled_size=pooled, spatial_scale=0.25, sample_ratio=ratio,
                 position_sensitive=position_sensitive, aligned=aligned)
    np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4)


def test_roi_align_in_parts(monkeypatch):
    rois = torch.from_numpy(regions(9))
    attributes = {'pooled_size': (2, 2), 'spatial_scale': 0.25, 'sample_ratio': 2}
    whole = TABLE['_contrib_ROIAlign'].function(torch.from_numpy(DATA), rois, **attributes)
    monkeypatch.setattr('mxnet._ops.vision.roi._SAMPLES_AT_ONCE', 2 * 64)
    parts = TABLE['_contrib_ROIAlign'].function(torch.from_numpy(DATA), rois, **attributes)
    assert torch.equal(whole, parts)
    assert TABLE['_contrib_ROIAlign'].function(torch.from_numpy(DATA), rois[:0], **attributes).shape == (0, 6, 2, 2)


def test_rotated_regions():
    straight = np.float32([[0, 4, 8, 28, 24], [1, 0, 4, 16, 32]])
    x, y = straight[:, 1::2], straight[:, 2::2]
    centred = np.stack([straight[:, 0], x.mean(1), y.mean(1), x[:, 1] - x[:, 0], y[:, 1] - y[:, 0], np.zeros(2)], 1)
    attributes = {'pooled_size': (2, 2), 'spatial_scale': 0.25}
    plain = run('_contrib_ROIAlign', DATA, straight, sample_ratio=2, **attributes)
    unturned = run('_contrib_RROIAlign', DATA, centred.astype('f'), sampling_ratio=2, **attributes)
    np.testing.assert_allclose(unturned, plain, rtol=1e-4, atol=1e-5)
    half_turn = centred + np.array([0, 0, 0, 0, 0, 180])
    turned = run('_contrib_RROIAlign', DATA, half_turn.astype('f'), sampling_ratio=2, **attributes)
    np.testing.assert_allclose(turned, plain[:, :, ::-1, ::-1], rtol=1e-3, atol=1e-4)


def test_position_sensitive_pooling():
    data = RNG(0).randn(2, 2 * 3 * 3, 9, 11).astype('float32')
    rois = regions(6)
    result = run('_contrib_PSROIPooling', data, rois, spatial_scale=0.25, output_dim=2, pooled_size=3)
    for roi, got in zip(rois, result, strict=True):
        left, top = np.round(roi[1:3]) * 0.25
        w, h = np.maximum((np.round(roi[3:]) + 1) * 0.25 - [left, top], 0.1) / 3
        for c in range(2):
            for i in range(3):
                for j in range(3):
                    y0, y1 = max(math.floor(top + i * h), 0), max(math.ceil(top + (i + 1) * h), 0)
                    x0, x1 = max(math.floor(left + j * w), 0), max(math.ceil(left + (j + 1) * w), 0)
                    part = data[int(roi[0]), (c * 3 + i) * 3 + j, y0:y1, x0:x1]
                    np.testing.assert_allclose(got[c, i, j], part.mean() if part.size else 0, rtol=1e-3, atol=1e-5)
    with pytest.raises(mx.MXNetError, match='18 channels.*need 27'):
        run('_contrib_PSROIPooling', data, rois, spatial_scale=0.25, output_dim=3, pooled_size=3)


def test_deformable_pooling():
    data = RNG(0).randn(2, 4 * 2 * 2, 9, 11).astype('float32')
    rois = regions(5)
    common = {'spatial_scale': 0.25, 'output_dim': 4, 'group_size': 2, 'pooled_size': 2, 'sample_per_part': 3}
    still = run('_contrib_DeformablePSROIPooling', data, rois, no_trans=True, **common)
    zero = np.zeros((5, 4, 2, 2), 'f')
    moved = dict(trans_std=0.1, **common)
    np.testing.assert_array_equal(run('_contrib_DeformablePSROIPooling', data, rois, zero, **moved), still)
    # moving every part of both classes by half a region along x is moving the regions
    shift = zero.copy()
    shift[:, 0::2] = 5.0
    rois[:, 1:] = np.round(rois[:, 1:])
    wide = rois[:, 3] - rois[:, 1] + 1
    shifted = rois.copy()
    even = wide % 2 == 0
    shifted[:, [1, 3]] += (wide / 2)[:, None]
    a = run('_contrib_DeformablePSROIPooling', data, rois, shift, **moved)
    b = run('_contrib_DeformablePSROIPooling', data, shifted, no_trans=True, **common)
    assert even.any()
    np.testing.assert_allclose(a[even], b[even], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(('name', 'attributes'), [
    ('_contrib_ROIAlign', {'pooled_size': (2, 2), 'spatial_scale': 0.25, 'sample_ratio': 2}),
    ('_contrib_ROIAlign', {'pooled_size': (2, 3), 'spatial_scale': 0.25, 'sample_ratio': 2, 'position_sensitive': 1}),
    ('ROIPooling', {'pooled_size': (2, 2), 'spatial_scale': 0.25}),
    ('_contrib_PSROIPooling', {'spatial_scale': 0.25, 'output_dim': 6, 'pooled_size': 2, 'group_size': 1})])
def test_gradients_by_differences(name, attributes):
    data = torch.from_numpy(DATA[:, :, :5, :6]).double().requires_grad_()
    rois = torch.from_numpy(regions(3, size=20)).double()
    torch.autograd.gradcheck(lambda x: TABLE[name].function(x, rois, **attributes), data)


def test_shifts_have_gradients():
    data = torch.from_numpy(RNG(0).randn(1, 4, 6, 7)).requires_grad_()
    trans = torch.from_numpy(RNG(1).rand(1, 2, 2, 2)).requires_grad_()
    rois = torch.tensor([[0.0, 4, 4, 15, 16]])

    def function(data, trans):
        return TABLE['_contrib_DeformablePSROIPooling'].function(
            data, rois, trans, spatial_scale=0.25, output_dim=1, group_size=2, pooled_size=2, trans_std=0.1)

    torch.autograd.gradcheck(function, (data, trans))


@pytest.mark.parametrize('name', ['ROIPooling', '_contrib_ROIAlign'])
def test_shapes_that_do_not_fit(name):
    with pytest.raises(mx.MXNetError, match=r'rois \(3, 4\)'):
        run(name, DATA, np.zeros((3, 4), 'f'), pooled_size=(2, 2), spatial_scale=1.0)
    with pytest.raises(mx.MXNetError, match='pooled_size'):
        run(name, DATA, np.zeros((3, 5), 'f'), pooled_size=(2, 0), spatial_scale=1.0)


@pytest.mark.parametrize('seed', range(3))
def test_groups_one_by_one_are_as_all_together(seed):
    from mxnet._ops.vision import nms
    generator = torch.Generator().manual_seed(seed)
    corner = torch.rand(2, 1024, 2, generator=generator)
    boxes = torch.cat([corner, corner + 0.02 + 0.2 * torch.rand(2, 1024, 2, generator=generator)], -1)
    group = torch.randint(0, 5, (2, 1024), generator=generator).float()
    group[0, seed] = float('nan')           # equal to nothing, so that it neither suppresses nor goes
    valid = torch.rand(2, 1024, generator=generator) > 0.2
    kept = nms.suppress(boxes, group, valid, 0.4)
    assert torch.equal(kept, nms._side_by_side(boxes, group, valid, 0.4, False))
    together = nms.suppress(boxes, None, valid, 0.4)
    assert torch.equal(together, nms._side_by_side(boxes, None, valid, 0.4, False))
    few = nms.suppress(boxes, None, valid, 0.4, most=20)
    for some, everything in zip(few, together, strict=True):
        assert torch.equal(some.nonzero()[:20], everything.nonzero()[:20]) and some.sum() < everything.sum()


def test_suppression_needs_no_compiler():
    """torch's own way to make operators imports its compiler at the first call, which takes a second."""
    code = ("import sys, mxnet as mx; mx.nd.contrib.box_nms(mx.nd.ones((1, 4, 6))).asnumpy(); "
            "mx.nd.ROIPooling(mx.nd.ones((1, 1, 4, 4)), mx.nd.zeros((1, 5)), (1, 1), 1.0).asnumpy(); "
            "assert 'torch._dynamo' not in sys.modules")
    surroundings = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, '-c', code], check=True, env=surroundings)


# ---------------------------------------------------------------------- masks
def sample_of(mask, y, x):
    """One sample, by its definition."""
    height, width = mask.shape
    if y < -1 or y > height or x < -1 or x > width:
        return 0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, along = y - top, x - left
    return (1 - down) * ((1 - along) * mask[top, left] + along * mask[top, right]) + \
        down * ((1 - along) * mask[bottom, left] + along * mask[bottom, right])


def mask_by_definition(box, mask, size, ratio, aligned):
    left, top, right, bottom = box - (0.5 if aligned else 0)
    wide, tall = right - left, bottom - top
    if not aligned:
        wide, tall = max(wide, 1), max(tall, 1)
    rows, columns = (ratio, ratio) if ratio > 0 else (int(np.ceil(tall / size[0])), int(np.ceil(wide / size[1])))
    step_y, step_x = tall / (size[0] * rows), wide / (size[1] * columns)
    samples = [[sample_of(mask, top + (i + 0.5) * step_y, left + (j + 0.5) * step_x)
                for j in range(size[1] * columns)] for i in range(size[0] * rows)]
    return np.reshape(samples, (size[0], rows, size[1], columns)).mean((1, 3))


@pytest.mark.parametrize('ratio', [2, 3, -1])
@pytest.mark.parametrize('aligned', [False, True])
def test_mrcnn_mask_target(ratio, aligned):
    r = np.random.RandomState(0)
    masks = (r.rand(2, 3, 11, 14) > 0.5).astype('float32')
    corner = r.rand(2, 4, 2) * 9
    rois = np.concatenate([corner - 3, corner + r.rand(2, 4, 2) * 9], -1).astype('float32')
    matches, classes = r.randint(0, 3, (2, 4)), r.randint(0, 5, (2, 4))
    targets, counts = run('_contrib_mrcnn_mask_target', rois, masks, matches.astype('float32'),
                          classes.astype('float32'), num_rois=4, num_classes=5, mask_size=(3, 4), sample_ratio=ratio,
                          aligned=aligned)
    assert targets.shape == counts.shape == (2, 4, 5, 3, 4)
    for image in range(2):
        for region in range(4):
            mask = masks[image, matches[image, region]]
            wanted = mask_by_definition(rois[image, region], mask, (3, 4), ratio, aligned)
            for number in range(5):
                np.testing.assert_allclose(targets[image, region, number], wanted, atol=1e-5)
                assert (counts[image, region, number] == (number == classes[image, region])).all()


def test_mrcnn_mask_target_in_a_graph():
    names = [mx.sym.var(n) for n in ('rois', 'gt_masks', 'matches', 'cls_targets')]
    symbol = mx.sym.contrib.mrcnn_mask_target(*names, num_rois=4, num_classes=5, mask_size=(3, 4))
    assert symbol.list_outputs() == ['mrcnn_mask_target0_output0', 'mrcnn_mask_target0_output1']
    shapes = symbol.infer_shape(rois=(2, 4, 4), gt_masks=(2, 3, 11, 14), matches=(2, 4), cls_targets=(2, 4))
    assert shapes[1] == [(2, 4, 5, 3, 4)] * 2


@pytest.mark.parametrize(('attributes', 'text'), [({'num_rois': 3}, r'must be \(batch, 3, 4\)'),
                                                  ({'mask_size': (3,)}, 'mask_size'),
                                                  ({'mask_size': (0, 3)}, 'mask_size')])
def test_mrcnn_mask_target_refuses(attributes, text):
    inputs = [np.zeros(s, 'float32') for s in ((2, 4, 4), (2, 3, 11, 14), (2, 4), (2, 4))]
    with pytest.raises(mx.MXNetError, match=text):
        run('_contrib_mrcnn_mask_target', *inputs,
            **{'num_rois': 4, 'num_classes': 5, 'mask_size': (3, 4), **attributes})
