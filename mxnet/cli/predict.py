"""`remx predict`: a trained network on pictures, arrays or tables."""
import argparse
import sys

from ..base import MXNetError

EXPLAIN = """Runs a trained network on files, and prints classes or arrays.

    remx predict resnet-18 cat.jpg dog.jpg --shape data=1,3,224,224 --mean 123.68,116.779,103.939 --std 58.4,57.12,57.38
    remx predict lenet digits.npy --format json
    remx predict mlp table.csv --raw --out scores.npy

Images are resized so that the shorter side fits, centre-cropped, and converted to (channels, height, width) of the
network's input. Each row of an .npy file or a .csv file is one input. The class names are read from
synset.txt next to the network, and the input shape from a signature.json of the old model server, if these files
exist."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    add = parser.add_argument
    add('source', metavar='PREFIX', help='a checkpoint PREFIX-symbol.json, or an .onnx file')
    add('files', metavar='FILE', nargs='+', help='images, .npy or .csv files')
    add('--epoch', type=int, help='the epoch of the checkpoint (default: the last one)')
    add('--shape', action='append', default=[], metavar='NAME=N,C,H,W', help='the shape of an input')
    add('--network', metavar='MODULE:FUNCTION', help='the function that makes the Gluon block of a .params file')
    add('--classes', metavar='FILE',
        help='names of the classes, one per line (default: synset.txt next to the network)')
    add('--top', type=int, default=5, metavar='N', help='how many classes are shown (default: 5)')
    add('--raw', action='store_true', help='print the output arrays instead of classes')
    add('--format', choices=('table', 'json'), default='table', help='how results are printed')
    add('--out', metavar='FILE.npy', help='write the arrays of all inputs into one file')
    add('--batch', type=int, default=32, metavar='N', help='batch size')
    add_preprocessing(parser)
    add('--device', metavar='cpu|gpu', default='cpu', help='where it runs (default: cpu)')


def add_preprocessing(parser):
    """How pictures become inputs."""
    group = parser.add_argument_group('images')
    add = group.add_argument
    add('--scale', type=float, default=None, help='values are multiplied by this (default: 1, or 1/255 with --unit)')
    add('--unit', action='store_true', help='values from 0 to 1 instead of 0 to 255')
    add('--mean', metavar='R,G,B', help='subtracted from each channel, after scaling')
    add('--std', metavar='R,G,B', help='each channel is divided by it')
    add('--bgr', action='store_true', help='the channels are blue, green, red')
    add('--invert', action='store_true', help='invert the image: the digits of MNIST are light on dark')


def predict(options) -> int:
    """Runs the subcommand."""
    from ._predict import run
    try:
        return run(options)
    except (MXNetError, OSError, ImportError, ValueError) as error:
        print(f'remx predict: {error}', file=sys.stderr)
        return 1
