"""`remx convert`: a trained network in another form, compared with the original before it is put in place."""
import argparse
import sys

from ..base import MXNetError

EXPLAIN = """Converts a trained network.

    remx convert lenet 10 --to torch --shape data=1,1,28,28     lenet.py and lenet.safetensors, which need torch alone
    remx convert lenet --to pt2 --shape data=1,1,28,28          lenet.pt2, which AOTInductor runs from Python and C++
    remx convert lenet --to onnx --shape data=1,1,28,28         lenet.onnx, for ONNX Runtime in any language
    remx convert model.onnx --to symbol                         model-symbol.json and model-0000.params
    remx convert net.params --network nets:lenet --to torch --shape data=1,1,28,28

Labels and loss layers are left out, and so are the prefixes arg: and aux: of names. The first axis of every input may
have any length, unless --static is given. The result is run and compared with the original on random inputs; if the
difference is above the tolerance, the command fails and writes no file."""

TARGETS = ('torch', 'pt2', 'onnx', 'safetensors', 'gluon', 'symbol')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    add = parser.add_argument
    add('source', metavar='PREFIX', help='a checkpoint PREFIX-symbol.json, an .onnx file, or a .params or .safetensors '
                                         'file')
    add('epoch', metavar='EPOCH', nargs='?', type=int, help='the epoch of the checkpoint (default: the last one)')
    add('--to', required=True, choices=TARGETS, help='what to write')
    add('--shape', action='append', default=[], metavar='NAME=N,C,H,W',
        help='the shape of an input; repeat it for each input')
    add('--out', metavar='PATH', help='the result without its ending (default: the name of the source, in this folder)')
    add('--network', metavar='MODULE:FUNCTION', help='the function that makes the Gluon block of a .params file')
    add('--no-compile', action='store_true', help='with --to pt2: the exported graph, which torch.export.load reads, '
                                                  'instead of compiled code')
    add('--batch-axis', action='append', default=[], metavar='NAME=AXIS', help='the axis of an input that may have any '
        'length (default: 0, the first)')
    add('--static', action='store_true', help='the batch keeps the length that --shape gives it')
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument('--half', action='store_true', help='weights in float16')
    kind.add_argument('--bf16', action='store_true', help='weights in bfloat16 (torch, pt2 and safetensors)')
    add('--tolerance', type=float, help='the largest difference, relative to the largest value of an output (default: '
                                        '1e-5; 1e-2 with --half, 1e-1 with --bf16)')
    add('--quiet', action='store_true', help='print nothing but errors')


def convert(options) -> int:
    """Runs the subcommand."""
    from ._convert import parse_axes, parse_shapes, run
    try:
        result = run(options.source, options.to, epoch=options.epoch, shapes=parse_shapes(options.shape),
                     axes=parse_axes(options.batch_axis), out=options.out, network=options.network,
                     static=options.static, tolerance=options.tolerance,
                     dtype='float16' if options.half else 'bfloat16' if options.bf16 else 'float32',
                     compiled=not options.no_compile, quiet=options.quiet)
    except (MXNetError, OSError, ImportError, ValueError) as error:
        print(f'remx convert: {error}', file=sys.stderr)
        return 1
    if not options.quiet:
        print(f'{" and ".join(result["files"])}: largest difference {result["difference"]:.2g} '
              f'(relative), batch {" and ".join(map(str, result["batches"]))}')
    return 0
