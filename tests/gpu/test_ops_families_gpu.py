"""Random, optimizer, image and detection operators on a GPU give what they give on the CPU."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet._ops import TABLE

pytestmark = pytest.mark.gpu
R = np.random.RandomState


def values(*shape, seed=0, dtype='float32'):
    return R(seed).randn(*shape).astype(dtype)


def boxes(*shape, size=1.0, seed=0):
    r = R(seed)
    centre, side = r.rand(*shape, 2), r.rand(*shape, 2) * 0.4 + 0.02
    return (np.concatenate([centre - side / 2, centre + side / 2], -1) * size).astype('float32')


def regions(count, images, size):
    return np.concatenate([R(0).randint(0, images, (count, 1)), boxes(count, size=size)], 1).astype('float32')


DETECTIONS = np.concatenate([R(0).randint(0, 3, (2, 500, 1)), R(1).rand(2, 500, 1), boxes(2, 500)], -1).astype('f')
LABELS = np.concatenate([R(0).randint(0, 3, (2, 4, 1)), boxes(2, 4, seed=3)], -1).astype('float32')
FEATURES = values(2, 12, 19, 23)
ROIS = regions(30, 2, 80)
FOUR = [values(6, 5, seed=i) for i in range(3)] + [abs(values(6, 5, seed=3))]
HALVES = [values(6, 5, seed=i, dtype='float16') for i in range(2)]
CASES = [
    ('sgd_mom_update', FOUR[:3], {'lr': 0.1, 'momentum': 0.9, 'wd': 0.1, 'clip_gradient': 0.5}),
    ('mp_nag_mom_update', [*HALVES, *FOUR[2:]], {'lr': 0.1, 'momentum': 0.9}),
    ('adam_update', FOUR, {'lr': 0.1}), ('ftrl_update', FOUR, {'lr': 0.1}), ('rmsprop_update', FOUR[1:], {'lr': 0.1}),
    ('_adamw_update', [*FOUR, np.float32([0.5])], {'lr': 0.1, 'eta': 1.0}),
    ('multi_sgd_mom_update', FOUR[:3] * 2, {'lrs': (0.1, 0.2), 'wds': (0, 0.1), 'momentum': 0.9, 'num_weights': 2}),
    ('preloaded_multi_sgd_update', [*FOUR, np.float32([0.1, 0.2]), np.float32([0, 0.1])], {'num_weights': 2}),
    ('_multi_lamb_update', FOUR * 2, {'learning_rates': (0.1, 0.2), 'wds': (0, 0.1), 'step_count': (1, 2),
                                      'num_tensors': 2}),
    ('_random_pdf_gamma', [abs(FOUR[0]), abs(FOUR[1][:, 0]), abs(FOUR[2][:, 0])], {'is_log': True}),
    ('_image_to_tensor', [abs(values(8, 9, 3) * 50).astype('uint8')], {}),
    ('_image_normalize', [values(3, 8, 9)], {'mean': (0.1, 0.2, 0.3), 'std': (1, 2, 3)}),
    *[('_image_resize', [abs(values(8, 9, 3)) * 50], {'size': (5, 12), 'interp': i}) for i in range(5)],
    ('_image_random_hue', [abs(values(8, 9, 3)) * 50], {'min_factor': 0.3, 'max_factor': 0.3}),
    ('_contrib_box_nms', [DETECTIONS], {'overlap_thresh': 0.3, 'id_index': 0}),
    ('_contrib_box_iou', [boxes(2, 3), boxes(4)], {}),
    ('_contrib_bipartite_matching', [abs(values(2, 9, 7))], {'threshold': 0.1}),
    ('_contrib_MultiBoxPrior', [FEATURES], {'sizes': (0.2, 0.4), 'ratios': (1, 2)}),
    ('_contrib_MultiBoxTarget', [boxes(1, 90), LABELS, values(2, 4, 90)], {'negative_mining_ratio': 3.0}),
    ('_contrib_MultiBoxDetection', [abs(values(2, 4, 90)), values(2, 360), boxes(1, 90)], {'nms_topk': 40}),
    ('_contrib_MultiProposal', [R(0).rand(2, 24, 9, 9).astype('f'), values(2, 48, 9, 9) * 0.2,
                                np.float32([[144, 144, 1], [130, 140, 1]])], {'rpn_post_nms_top_n': 50}),
    ('ROIPooling', [FEATURES, ROIS], {'pooled_size': (3, 3), 'spatial_scale': 0.25}),
    ('_contrib_ROIAlign', [FEATURES, ROIS], {'pooled_size': (3, 3), 'spatial_scale': 0.25, 'sample_ratio': 2}),
    ('_contrib_ROIAlign', [FEATURES, ROIS], {'pooled_size': (2, 2), 'spatial_scale': 0.25, 'position_sensitive': True}),
    ('_contrib_PSROIPooling', [FEATURES, ROIS], {'output_dim': 3, 'pooled_size': 2, 'spatial_scale': 0.25}),
]


@pytest.mark.parametrize(('name', 'inputs', 'attributes'), CASES, ids=[f'{i}-{c[0]}' for i, c in enumerate(CASES)])
def test_as_on_the_cpu(name, inputs, attributes):
    op = TABLE[name]
    attributes = op.parse(attributes)
    results = []
    for device in ('cpu', 'cuda'):
        tensors = [torch.from_numpy(x).to(device) for x in inputs]
        leaf = tensors[0].requires_grad_() if name.endswith(('ROIAlign', 'Pooling', 'box_nms')) else None
        rng = {'rng': torch.Generator(device)} if op.wants_rng else {}
        result = op.function(*tensors, **attributes, **rng)
        result = result if isinstance(result, tuple) else (result,)
        assert all(r.device.type == device for r in result)
        if leaf is not None:
            result[0].square().sum().backward()
            result = (*result, leaf.grad)
        results.append([r.detach().cpu() for r in result])
    for ours, wanted in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(ours, wanted, rtol=2e-4, atol=2e-4)


DRAWS = [('uniform', {}, 0.5), ('normal', {'loc': 2.0}, 2.0), ('gamma', {'alpha': 2.0}, 2.0),
         ('exponential', {'lam': 0.5}, 2.0), ('poisson', {'lam': 3.0}, 3.0),
         ('negative_binomial', {'k': 3, 'p': 0.5}, 3.0),
         ('generalized_negative_binomial', {'mu': 2.0, 'alpha': 0.3}, 2.0)]


@pytest.mark.parametrize(('name', 'attributes', 'mean'), DRAWS, ids=[d[0] for d in DRAWS])
def test_draws_come_from_the_contexts_generator(name, attributes, mean):
    before = torch.cuda.get_rng_state()
    mx.random.seed(3)
    draw = getattr(mx.nd, f'random_{name}')
    first = draw(shape=(20000,), ctx=mx.gpu(0), **attributes)
    mx.random.seed(3)
    again = draw(shape=(20000,), ctx=mx.gpu(0), **attributes).asnumpy()
    assert first.context == mx.gpu(0) and np.array_equal(first.asnumpy(), again)
    assert abs(again.mean() - mean) < 0.1
    assert torch.equal(before, torch.cuda.get_rng_state())


def test_other_draws():
    with mx.gpu(0):
        assert sorted(mx.nd.random.shuffle(mx.nd.arange(50)).asnumpy()) == list(range(50))
        assert mx.nd.random.multinomial(mx.nd.array([0.0, 1.0]), shape=9).asnumpy().tolist() == [1] * 9
        samples, tries = mx.nd._internal._sample_unique_zipfian(range_max=20, shape=(3, 5))
        assert samples.context == mx.gpu(0) and tries.asnumpy().min() >= 5


def test_suppression_can_be_captured():
    function = TABLE['_contrib_box_nms'].function
    data = torch.from_numpy(DETECTIONS).cuda()
    wanted = function(data, overlap_thresh=0.3, topk=100)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        function(data, overlap_thresh=0.3, topk=100)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function(data, overlap_thresh=0.3, topk=100)
    graph.replay()
    assert torch.equal(result, wanted)
