"""Compiled parts of detection programs that nobody has built here: the same functions in NumPy.

Most programs of the R-CNN family have copies of the same few Cython sources.  A module stands for such a source if its
`.pyx` file is where Python looks for the module.  Functions of other sources are not known: they have to be built.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types

from ._report import report


def overlaps(boxes, queries):
    """Intersection over union of all pairs of boxes, whose corners are pixels: float64 of shape (boxes, queries)."""
    import numpy

    left, right = numpy.asarray(boxes, 'float64')[:, None, :4], numpy.asarray(queries, 'float64')[None, :, :4]
    lower, upper = numpy.maximum(left[..., :2], right[..., :2]), numpy.minimum(left[..., 2:], right[..., 2:])
    common = (upper - lower + 1).clip(0).prod(-1)
    areas = [(b[..., 2:] - b[..., :2] + 1).prod(-1) for b in (left, right)]
    return common / (areas[0] + areas[1] - common)


def _kept(detections, refused):
    """Indices of the boxes that stay, best first; `refused`: which overlaps with a better box end a box."""
    import numpy

    detections = numpy.asarray(detections)
    order = detections[:, 4].argsort()[::-1]
    kept = []
    while len(order):
        kept.append(int(order[0]))
        shared = overlaps(detections[order[:1]], detections[order[1:]])[0]
        order = order[1:][~refused(shared)]
    return kept


def cpu_nms(dets, thresh):
    """Suppression of boxes with scores; an overlap equal to the threshold is too large."""
    return _kept(dets, lambda shared: shared >= thresh)


def gpu_nms(dets, thresh, device_id=0):
    """Suppression as the CUDA source did it: an overlap equal to the threshold is not too large."""
    return _kept(dets, lambda shared: shared > thresh)


def soft_nms(boxes, sigma=0.5, Nt=0.3, threshold=0.001, method=0, columns=5):
    """Lowers the scores of boxes that overlap with better ones, in place, and drops those below the threshold.

    method 1: linear; 2: Gaussian; otherwise scores become 0.  The boxes that stay are the first rows.
    """
    import numpy

    count, at = len(boxes), 0
    while at < count:
        best = at + int(boxes[at:count, 4].argmax())
        boxes[[at, best], :columns] = boxes[[best, at], :columns]
        overlap = overlaps(boxes[at : at + 1], boxes[:count])[0].tolist()
        other = at + 1
        while other < count:
            shared = overlap[other]
            if shared > 0:
                if method == 2:
                    boxes[other, 4] *= numpy.exp(-(shared * shared) / sigma)
                elif shared > Nt:
                    boxes[other, 4] *= 1 - shared if method == 1 else 0
                if boxes[other, 4] < threshold:
                    count -= 1          # the last box takes its place
                    boxes[other, :columns] = boxes[count, :columns]
                    overlap[other] = overlap[count]
                    continue
            other += 1
        at += 1
    return list(range(count))


def soft_nms_39(boxes, sigma=0.5, Nt=0.3, threshold=0.001, method=0):
    """The same for rows with the key points of a box after its score."""
    return soft_nms(boxes, sigma, Nt, threshold, method, boxes.shape[1])


def anchors(height, width, stride, base_anchors):
    """The base anchors at every place of a plane: (height, width, anchors, 4)."""
    import numpy

    x, y = numpy.meshgrid(numpy.arange(width) * stride, numpy.arange(height) * stride)
    shifts = numpy.stack([x, y, x, y], axis=-1)[:, :, None]
    return (numpy.asarray(base_anchors)[None, None] + shifts).astype('float32')


# module -> the functions of its source
_SOURCES = {
    'bbox': {'bbox_overlaps_cython': overlaps, 'bbox_overlaps': overlaps},
    'cython_bbox': {'bbox_overlaps_cython': overlaps, 'bbox_overlaps': overlaps},
    'cpu_nms': {'cpu_nms': cpu_nms, 'nms': cpu_nms, 'cpu_soft_nms': soft_nms},
    'gpu_nms': {'gpu_nms': gpu_nms},
    'nms': {'nms': cpu_nms, 'soft_nms': soft_nms, 'soft_nms_39': soft_nms_39},
    'anchors': {'anchors_cython': anchors},
}


class Loader(importlib.abc.Loader):
    """Loads the stand-in for a source."""

    def __init__(self, functions, path):
        self.functions, self.path = functions, path

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        name = os.path.basename(self.path)
        report.note(f'compiled-{name}', f'functions of {name}, which is not compiled, in NumPy')
        with open(self.path, encoding='utf-8', errors='replace') as file:
            text = file.read()
        module.__file__ = self.path
        module.__dict__.update({key: value for key, value in self.functions.items() if f'def {key}(' in text})


def spec_of(name, path):
    """The spec of a module that only a Cython source stands for; None where there is none that is known."""
    last = name.rpartition('.')[2]
    functions = _SOURCES.get(last)
    if functions is None and last != '_mask':
        return None
    for folder in sys.path if path is None else path:
        if not isinstance(folder, str):         # Python passes over these
            continue
        source = os.path.join(folder, f'{last}.pyx')
        if not os.path.isfile(source):
            continue
        if functions is None:   # of pycocotools, which can be installed
            found = importlib.machinery.PathFinder.find_spec('pycocotools')
            places = None if found is None else found.submodule_search_locations
            if not places:
                return None
            report.note('compiled-mask', 'the compiled part of pycocotools that is installed')
            spec = importlib.machinery.PathFinder.find_spec('pycocotools._mask', places)
            return spec and importlib.util.spec_from_file_location(name, spec.origin)
        return importlib.machinery.ModuleSpec(name, Loader(functions, source), origin=source)
    return None
