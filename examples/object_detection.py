"""Object detection: a single-shot detector (SSD) learns to find and classify circles, squares and triangles.

    python examples/object_detection.py --out shapes

The pictures are drawn by the program: 64 x 64 pixels, one to three shapes of any colour before noise. Anchors come
from MultiBoxPrior, targets from MultiBoxTarget, boxes from MultiBoxDetection; the figure shows them on new pictures.
"""
import argparse
import time

import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

SIZE, NAMES = 64, ('circle', 'square', 'triangle')
SCALES = ([0.25, 0.33], [0.42, 0.52])
RATIOS = [1, 2, 0.5]
ANCHORS = len(SCALES[0]) + len(RATIOS) - 1


def draw(rng):
    """(picture (3, 64, 64), objects (3, 5): class, left, top, right, bottom; class -1 fills up)"""
    picture = np.full((3, SIZE, SIZE), rng.rand(3, 1, 1) * 0.6) + rng.rand(3, SIZE, SIZE) * 0.15
    y, x = np.mgrid[:SIZE, :SIZE]
    objects = np.full((3, 5), -1, 'float32')
    taken = np.zeros((SIZE, SIZE), bool)
    for number in range(rng.randint(1, 4)):
        kind, side = rng.randint(3), rng.randint(16, 34)
        left, top = rng.randint(0, SIZE - side, 2)
        if taken[top:top + side, left:left + side].any():
            continue            # shapes do not cover each other
        taken[top:top + side, left:left + side] = True
        u, v = (x - left) / side, (y - top) / side
        inside = (((u - 0.5) ** 2 + (v - 0.5) ** 2 <= 0.25), (u >= 0) & (u < 1) & (v >= 0) & (v < 1),
                  (v >= 0) & (v < 1) & (abs(u - 0.5) <= v / 2))[kind]
        color = rng.rand(3) * 0.5 + 0.5
        picture[:, inside] = color[:, None]
        objects[number] = kind, left / SIZE, top / SIZE, (left + side) / SIZE, (top + side) / SIZE
    return picture.clip(0, 1).astype('float32'), objects


def make_data(count, seed):
    rng = np.random.RandomState(seed)
    pictures, objects = zip(*(draw(rng) for _ in range(count)))
    return np.stack(pictures), np.stack(objects)


def block(filters):
    layers = nn.HybridSequential()
    layers.add(nn.Conv2D(filters, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation('relu'),
               nn.MaxPool2D(2))
    return layers


class Detector(gluon.HybridBlock):
    """Classes and offsets of anchors on two maps, of 8 x 8 and 4 x 4 places."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(block(16), block(32), block(48))
            self.further = block(64)
            self.classes, self.offsets = nn.HybridSequential(), nn.HybridSequential()
            for _ in SCALES:
                self.classes.add(nn.Conv2D(ANCHORS * (len(NAMES) + 1), 3, padding=1))
                self.offsets.add(nn.Conv2D(ANCHORS * 4, 3, padding=1))

    def hybrid_forward(self, F, x):
        first = self.body(x)
        anchors, classes, offsets = [], [], []
        for number, x in enumerate((first, self.further(first))):
            anchors.append(F.contrib.MultiBoxPrior(x, sizes=SCALES[number], ratios=RATIOS))
            classes.append(F.flatten(F.transpose(self.classes[number](x), (0, 2, 3, 1))))
            offsets.append(F.flatten(F.transpose(self.offsets[number](x), (0, 2, 3, 1))))
        scores = F.reshape(F.concat(*classes, dim=1), (0, -1, len(NAMES) + 1))
        return F.concat(*anchors, dim=1), scores, F.concat(*offsets, dim=1)


def train(net, pictures, objects, epochs, batch, lr):
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': lr})
    class_loss, offset_loss = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.HuberLoss()
    losses = []
    for epoch in range(epochs):
        begin, total, order = time.time(), 0.0, np.random.permutation(len(pictures))
        if epoch == epochs * 2 // 3:
            trainer.set_learning_rate(lr / 5)
        for start in range(0, len(order) - batch + 1, batch):
            chosen = order[start:start + batch]
            x, y = nd.array(pictures[chosen]), nd.array(objects[chosen])
            with autograd.record():
                anchors, scores, offsets = net(x)
                with autograd.pause():
                    # three wrong places for each right one; the others (-1) do not count
                    wanted, mask, kinds = nd.contrib.MultiBoxTarget(
                        anchors, y, scores.transpose((0, 2, 1)), negative_mining_ratio=3, ignore_label=-1)
                counts = kinds >= 0
                per_class = class_loss(scores, nd.maximum(kinds, 0), counts.expand_dims(2))
                loss = per_class * kinds.shape[1] / counts.sum() * batch \
                    + offset_loss(offsets * mask, wanted * mask) * mask.shape[1] / mask.sum() * batch
            loss.backward()
            trainer.step(batch)
            total += loss.mean().asscalar()
        losses.append(total / (len(order) // batch))
        print(f'epoch {epoch + 1}: loss {losses[-1]:.4f}, {time.time() - begin:.1f} s', flush=True)
    return losses


def detect(net, pictures):
    """(N, found, 6): class or -1, score, left, top, right, bottom; the best first."""
    anchors, scores, offsets = net(nd.array(pictures))
    return nd.contrib.MultiBoxDetection(scores.softmax().transpose((0, 2, 1)), offsets, anchors,
                                        nms_threshold=0.45, threshold=0.3).asnumpy()


def overlap(a, b):
    width = np.minimum(a[2], b[2]) - np.maximum(a[0], b[0])
    height = np.minimum(a[3], b[3]) - np.maximum(a[1], b[1])
    common = max(width, 0) * max(height, 0)
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)


def measure(found, objects):
    """(share of the objects that were found, share of what was found that is there), for boxes that half agree."""
    hits = said = there = 0
    for boxes, truths in zip(found, objects):
        left = [t for t in truths if t[0] >= 0]
        boxes = [b for b in boxes if b[0] >= 0 and b[1] > 0.5]
        there, said = there + len(left), said + len(boxes)
        for box in boxes:
            match = next((t for t in left if t[0] == box[0] and overlap(box[2:], t[1:]) > 0.5), None)
            if match is not None:
                hits += 1
                left = [t for t in left if t is not match]
    return hits / there, hits / max(said, 1)


def show(folder, pictures, found):
    if not figures.available(folder):
        return
    figure = figures.new_figure((10, 5.4))
    for axes, picture, boxes in zip(figure.subplots(2, 4).flat, pictures, found):
        axes.imshow(picture.transpose(1, 2, 0))
        axes.axis('off')
        for kind, score, *sides in boxes:
            if kind >= 0 and score > 0.5:
                left, top, right, bottom = (s * SIZE for s in sides)
                axes.plot([left, right, right, left, left], [top, top, bottom, bottom, top], color='white', linewidth=2)
                axes.text(left, top, f'{NAMES[int(kind)]} {score:.2f}', fontsize=8, color='black',
                          backgroundcolor='white', va='bottom', bbox={'pad': 1, 'color': 'white'})
    figures.save(figure, folder, 'boxes.png')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pictures', type=int, default=800)
    parser.add_argument('--epochs', type=int, default=16)
    parser.add_argument('--lr', type=float, default=0.003, help='learning rate')
    parser.add_argument('--quick', action='store_true', help='300 pictures, 12 epochs')
    parser.add_argument('--out', default='out/object_detection', help='folder for figures and parameters')
    options = parser.parse_args()
    count, epochs = (300, 12) if options.quick else (options.pictures, options.epochs)

    mx.random.seed(1)
    np.random.seed(1)
    net = Detector()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    losses = train(net, *make_data(count, seed=1), epochs, 20, options.lr)
    pictures, objects = make_data(200, seed=2)
    found = detect(net, pictures)
    recall, precision = measure(found, objects)
    print(f'on 200 new pictures: {recall:.3f} of the shapes found, {precision:.3f} of what was found is there')
    figures.curves(options.out, 'loss.png', {'training': losses}, 'a detector of shapes')
    show(options.out, pictures, found)
    net.save_parameters(f'{options.out}/detector.params')


if __name__ == '__main__':
    main()
