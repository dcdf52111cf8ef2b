"""Handwritten-like digits, drawn by the package itself: what `remx train` learns from where there is no MNIST.

A digit is a few strokes in the unit square; each picture shears, turns, stretches and shifts them, varies the pen and
blurs the line.  The same seed draws the same pictures.  They are written once, in MNIST's own format.
"""
import gzip
import math
import os
import struct
import zlib
from typing import Any

from .._files import limits
from ..base import FileError

SIZE = 28
FILES = {'train': ('train-images-idx3-ubyte', 'train-labels-idx1-ubyte'),
         'test': ('t10k-images-idx3-ubyte', 't10k-labels-idx1-ubyte')}
COUNTS = {'train': 3000, 'test': 600}


def _arc(x, y, rx, ry, start, end, steps=10):
    """Points of an ellipse between two angles in turns, clockwise from the top."""
    angles = [2 * math.pi * (start + (end - start) * i / steps) for i in range(steps + 1)]
    return [(x + rx * math.sin(a), y - ry * math.cos(a)) for a in angles]


STROKES = {
    0: [_arc(0.5, 0.5, 0.28, 0.42, 0, 1, 20)],
    1: [[(0.35, 0.25), (0.55, 0.08), (0.55, 0.92)]],
    2: [[*_arc(0.5, 0.3, 0.26, 0.22, -0.22, 0.35), (0.24, 0.9), (0.78, 0.9)]],
    3: [_arc(0.46, 0.29, 0.25, 0.21, -0.15, 0.5), _arc(0.46, 0.7, 0.28, 0.22, 0, 0.68)],
    4: [[(0.62, 0.92), (0.62, 0.08), (0.2, 0.64), (0.82, 0.64)]],
    5: [[(0.74, 0.1), (0.32, 0.1), (0.28, 0.46), *_arc(0.47, 0.66, 0.28, 0.25, -0.08, 0.66)]],
    6: [[(0.66, 0.1), (0.4, 0.36), *_arc(0.5, 0.66, 0.25, 0.25, -0.2, 0.8, 16)]],
    7: [[(0.22, 0.1), (0.78, 0.1), (0.42, 0.92)]],
    8: [_arc(0.5, 0.29, 0.22, 0.2, 0, 1, 14), _arc(0.5, 0.7, 0.27, 0.22, 0, 1, 16)],
    9: [[*_arc(0.5, 0.33, 0.24, 0.24, 0.25, 1.25, 16), (0.7, 0.6), (0.6, 0.92)]],
}


def draw(digit, rng):
    """One picture of a digit: 28 x 28 bytes."""
    import numpy
    turn, shear = rng.normal(0, 0.13), rng.normal(0, 0.15)
    stretch = rng.uniform(0.75, 1.05, 2)
    shift = rng.normal(0, 0.035, 2)
    pen, ink = rng.uniform(0.035, 0.065), rng.uniform(0.8, 1.0)
    rotate = numpy.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    bend = numpy.array([[stretch[0], shear], [0, stretch[1]]])
    starts, ends = [], []
    for stroke in STROKES[digit]:
        points = (numpy.array(stroke) - 0.5 + rng.normal(0, 0.012, (len(stroke), 2))) @ (rotate @ bend).T + 0.5 + shift
        starts.append(points[:-1])
        ends.append(points[1:])
    a, b = numpy.concatenate(starts), numpy.concatenate(ends)
    # MNIST's digits fill the inner 20 of 28 pixels
    axis = ((numpy.arange(SIZE) + 0.5) / SIZE - 0.5) * SIZE / 20 + 0.5
    grid = numpy.stack(numpy.meshgrid(axis, axis), -1).reshape(-1, 1, 2)
    along = b - a
    where = numpy.clip(((grid - a) * along).sum(-1) / numpy.maximum((along ** 2).sum(-1), 1e-9), 0, 1)
    distance = numpy.sqrt((((a + where[..., None] * along) - grid) ** 2).sum(-1)).min(1)
    value = numpy.clip(1.5 - distance / pen, 0, 1) * ink + rng.normal(0, 0.01, SIZE * SIZE)
    return (numpy.clip(value, 0, 1) * 255).astype('uint8').reshape(SIZE, SIZE)


def write(folder, seed=2017):
    """Draws the digits into a folder, in MNIST's files; each file appears whole or not at all."""
    import numpy

    from .._files.paths import write_atomic
    os.makedirs(folder, exist_ok=True)
    for part, count in COUNTS.items():
        rng = numpy.random.default_rng([seed, count])
        labels = rng.integers(0, 10, count).astype('uint8')
        images = numpy.stack([draw(int(label), rng) for label in labels])
        head = struct.pack('>IIII', 2051, count, SIZE, SIZE), struct.pack('>II', 2049, count)
        for name, blob in zip(FILES[part], (head[0] + images.tobytes(), head[1] + labels.tobytes()), strict=True):
            write_atomic(os.path.join(folder, name + '.gz'), [gzip.compress(blob, 6, mtime=0)])
    return folder


def complete(folder):
    """Whether a folder holds all four files, gzipped or not."""
    return all(os.path.exists(os.path.join(folder, name)) or os.path.exists(os.path.join(folder, name + '.gz'))
               for names in FILES.values() for name in names)


def read(folder, part):
    """(images, labels) of one part as NumPy arrays."""
    from .._files import idx
    arrays = []
    for name, axes in zip(FILES[part], (3, 1), strict=True):
        path = os.path.join(folder, name)
        opener: Any = open
        if not os.path.exists(path):
            path, opener = path + '.gz', gzip.open
        try:
            with opener(path, 'rb') as file:
                blob = limits.unpacked(file, os.path.getsize(path), path, 'what is packed in it')
        except (EOFError, OSError, zlib.error) as error:
            raise FileError(f'{path} is damaged: {error}') from error
        try:
            arrays.append(idx.parse(blob, axes))
        except idx.Malformed as error:
            raise FileError(f'{path} {error}') from None
    return arrays
