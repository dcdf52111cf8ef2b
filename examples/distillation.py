"""A large network teaches a small one: the small one learns more from its teacher than from the labels alone.

    python examples/distillation.py --data FOLDER_OF_MNIST --seeds 5 --out distillation

The teacher is LeNet, which learned from pictures that were shifted a little. The student, with a twentieth of its
multiply-adds, sees the pictures as they are. It is trained twice from the same weights: on labels, and on the teacher's
predictions, which tell it what a shifted digit could be taken for.
"""
import argparse

import digits
import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.contrib.distill import DistillationLoss
from mxnet.gluon import nn


def teacher_network():
    net = nn.HybridSequential(prefix='teacher_')
    with net.name_scope():
        net.add(nn.Conv2D(20, 5, activation='relu'), nn.MaxPool2D(2, 2), nn.Conv2D(50, 5, activation='relu'),
                nn.MaxPool2D(2, 2), nn.Dense(500, activation='relu'), nn.Dropout(0.5), nn.Dense(10))
    return net


def student_network():
    net = nn.HybridSequential(prefix='student_')
    with net.name_scope():
        net.add(nn.Dense(128, activation='relu'), nn.Dense(10))
    return net


def shifted(pictures):
    """Each picture moved by up to two pixels."""
    moves = np.random.randint(-2, 3, (len(pictures), 2))
    return np.stack([np.roll(one, tuple(move), (1, 2)) for one, move in zip(pictures, moves)])


def accuracy(net, pictures, labels):
    metric = mx.metric.Accuracy()
    for start in range(0, len(pictures), 500):
        metric.update(nd.array(labels[start:start + 500]), net(nd.array(pictures[start:start + 500])))
    return metric.get()[1]


def learn(net, pictures, labels, held_out, epochs, teacher=None, batch=50, loss_of=None, shift=False):
    """Trains on labels, or with a teacher; -> the test accuracy after each epoch."""
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.002})
    from_labels = gluon.loss.SoftmaxCrossEntropyLoss()
    curve = []
    for epoch in range(epochs):
        if epoch == epochs * 2 // 3:
            trainer.set_learning_rate(0.0004)
        order = np.random.permutation(len(pictures))
        for start in range(0, len(order) - batch + 1, batch):
            part = order[start:start + batch]
            x = nd.array(shifted(pictures[part]) if shift else pictures[part])
            y = nd.array(labels[part])
            wanted = None if teacher is None else teacher(x)
            with autograd.record():
                loss = from_labels(net(x), y) if teacher is None or loss_of is None else loss_of(net(x), wanted, y)
            loss.backward()
            trainer.step(batch)
        curve.append(accuracy(net, *held_out))
    return curve


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--data', help='folder with the files of MNIST (1000 digits of this folder)')
    parser.add_argument('--epochs', type=int, default=10)
    parser.add_argument('--seeds', type=int, default=1, help='how often the student is trained')
    parser.add_argument('--temperature', type=float, default=4)
    parser.add_argument('--alpha', type=float, default=0.9, help="the teacher's share")
    parser.add_argument('--quick', action='store_true', help='few epochs')
    parser.add_argument('--out', default='out/distillation', help='folder for figures')
    options = parser.parse_args()
    epochs = 10 if options.quick else options.epochs

    pictures, labels = digits.load('train', options.data)
    held_out = digits.load('t10k', options.data)
    mx.random.seed(0)
    np.random.seed(0)
    teacher = teacher_network()
    teacher.initialize(mx.init.Xavier())
    best = learn(teacher, pictures, labels, held_out, 15 if options.quick else max(4, epochs * 2 // 3), shift=True)[-1]
    print(f'teacher: test accuracy {best:.4f}', flush=True)
    loss_of = DistillationLoss(options.temperature, options.alpha)
    results, curves = {'labels': [], 'teacher': []}, {}
    for seed in range(1, options.seeds + 1):
        for name in results:
            mx.random.seed(seed)
            np.random.seed(seed)
            student = student_network()
            student.initialize(mx.init.Xavier())
            curve = learn(student, pictures, labels, held_out, epochs, teacher if name == 'teacher' else None,
                          loss_of=loss_of)
            results[name].append(curve[-1])
            curves.setdefault(f'student, from {"labels" if name == "labels" else "the teacher"}', curve)
        print(f'seed {seed}: student from labels {results["labels"][-1]:.4f}, '
              f'from the teacher {results["teacher"][-1]:.4f}', flush=True)
    gain = np.array(results['teacher']) - np.array(results['labels'])
    print(f'from labels {np.mean(results["labels"]):.4f}, from the teacher {np.mean(results["teacher"]):.4f}: '
          f'{100 * gain.mean():+.2f} points ({100 * gain.min():+.2f} to {100 * gain.max():+.2f})')
    figures.curves(options.out, 'accuracy.png', curves, 'test accuracy', y='accuracy')


if __name__ == '__main__':
    main()
