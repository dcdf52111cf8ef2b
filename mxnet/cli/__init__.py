"""The command `remx`.  Each subcommand is a module of this package, loaded when it is called."""
from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from ..libinfo import __version__, remx_version


def main(arguments: Any = None) -> int:
    """Runs `remx ARGUMENTS` and returns its exit status."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:           # before, or behind, the part of a command that knows what to do
        print('remx: stopped', file=sys.stderr)
        return 130


def _run(arguments):
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ['run']:        # at once: the other commands are not needed, and a program is waiting
        from .run import main as run
        return run(words[1:])
    parser = argparse.ArgumentParser(prog='remx', description='Tools for programs that import mxnet.')
    parser.add_argument('--version', action='version', version=f'remx {remx_version} (mxnet {__version__})')
    commands = parser.add_subparsers(title='commands', dest='command', metavar='COMMAND')
    doctor = commands.add_parser('doctor', help='show versions, devices, threads, caches and missing optional parts',
                                 description='Shows what remx finds on this machine. The exit status is 1 when '
                                             'a required part is missing or broken.')
    doctor.add_argument('--json', action='store_true', help='print one JSON object')
    from . import train
    training = commands.add_parser('train', help='train a network on handwritten digits', description=train.EXPLAIN,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    train.add_arguments(training)
    from . import launch
    launch.add_options(commands.add_parser('launch', help='start the workers of a distributed job',
                                           description=launch.DESCRIPTION,
                                           formatter_class=argparse.RawDescriptionHelpFormatter))
    for name, explain in (('im2rec', 'create image lists and record files from folders of images'),
                          ('rec2idx', 'rebuild the index of a record file'),
                          ('inspect', 'show what is in a .rec, .idx, .params, -symbol.json or .states file'),
                          ('convert', 'convert a trained network to torch source, pt2, ONNX, safetensors or a '
                                      'checkpoint'),
                          ('predict', 'run a trained network on images, arrays or tables'),
                          ('serve', 'serve trained networks over HTTP'),
                          ('tune', 'search for the best hyper-parameters of a training function'),
                          ('run', 'run a program written for MXNet 1.x, unmodified'),
                          ('check', 'list the removed names that a program uses; optionally replace them'),
                          ('fetch', 'download data sets to the folder where programs look for them')):
        module = importlib.import_module(f'.{name}', __name__)
        command = commands.add_parser(name, help=explain, description=module.EXPLAIN,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(command)
        command.set_defaults(run=getattr(module, name))
    behind: list[str] = []
    if words[:1] == ['tune'] and '--' in words:
        words, behind = words[:words.index('--')], words[words.index('--') + 1:]
    options = parser.parse_args(words)
    options.behind = behind
    if options.command is None:
        parser.print_help()
        return 2
    if hasattr(options, 'run'):
        return options.run(options)
    if options.command == 'train' and options.tune is not None:
        from ._tuning import tune
        return tune(options)
    if options.command == 'train':
        return train.train(options)
    if options.command == 'launch':
        return launch.launch(options)
    from .doctor import doctor as show
    return show(as_json=options.json)
