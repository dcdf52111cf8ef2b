"""`remx run`: an old program, unmodified, on today's Python."""

import argparse
import re
import sys

from ..base import MXNetError

EXPLAIN = '''\
Runs a program written for MXNet 1.x as `python PROGRAM` would, and restores for it what newer versions have removed:
names and behaviours of NumPy, Python 2 syntax, modules of Python, other packages. Installed packages are not affected.

PROGRAM is a .py file, a notebook (.ipynb), or - for standard input; -m names a module. The arguments
after it are passed to the program.'''


def add_arguments(parser):
    """Adds the arguments of the command."""
    parser.add_argument('-m', dest='module', metavar='MODULE', help='run a module, as python -m does')
    parser.add_argument(
        '--cpu',
        action='store_true',
        default=None,
        help='GPU contexts use the CPU (the default if there is no GPU)',
    )
    parser.add_argument(
        '--data',
        action='append',
        default=[],
        metavar='DIR',
        help='a folder with the files that the program would download, under the same names',
    )
    parser.add_argument(
        '--made-up-data',
        action='store_true',
        help='random data of the same form where MNIST, FashionMNIST or CIFAR cannot be downloaded',
    )
    parser.add_argument('--python2', action='store_true', default=None, help='all files of the program are Python 2')
    parser.add_argument('--python3', dest='python2', action='store_false', help='no file of the program is Python 2')
    parser.add_argument(
        '--package',
        action='append',
        default=[],
        metavar='NAME',
        help="an installed package to which the same changes are applied",
    )
    parser.add_argument('--quiet', action='store_true', help='no report at the end')
    parser.add_argument('--report', metavar='FILE', help='write the report as JSON')
    parser.add_argument('--explain', action='store_true', help='show the restored names line by line, without '
                                                               'running the program')
    parser.add_argument('program', nargs='?', help='the program')
    parser.add_argument('arguments', nargs=argparse.REMAINDER, help='its arguments')


def main(arguments):
    """`remx run ARGUMENTS`, without the parts of the other commands."""
    parser = argparse.ArgumentParser(
        prog='remx run', description=EXPLAIN, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    ours, theirs = _split(arguments)
    return run(parser.parse_args(ours), theirs)


# what Python 3 says where it refuses what Python 2 did
_REFUSED = (
    (('a float was given where an integer is required', 'integer division'),
     re.compile("slice indices must be integers|'float' object cannot be interpreted as an integer")),
    (('an array was given an index that is a float', 'floats as indices'),
     re.compile('only integers, slices .* are valid indices')),
    (('an iterator was given where a list is required', 'lists'),
     re.compile(r"'(zip|map|filter|dict_keys|dict_values|dict_items)' (object )?(is not|has no|does not)"
                "|for \\+: .*'(zip|map|filter|range|dict_keys|dict_values|dict_items)'")),
    (('values of different types were compared', 'their order'),
     re.compile("'[<>]=?' not supported between instances of '(str|NoneType|int|float|tuple|list|dict)' and "
                "'(str|NoneType|int|float|tuple|list|dict)'")),
)
_WITH_VALUE = ('-m', '--data', '--package', '--report')


def _split(arguments):
    """-> (our arguments, up to the program; what goes to the program)."""
    i = 0
    while i < len(arguments):
        word = arguments[i]
        if word == '-m' and i + 1 < len(arguments):
            return arguments[: i + 2], arguments[i + 2 :]
        if word in _WITH_VALUE:
            i += 2
        elif word.startswith('-') and word != '-':
            i += 1
        else:
            return arguments[: i + 1], arguments[i + 1 :]
    return arguments, []


def run(options, theirs=None):
    """Runs the command; returns the exit status."""
    theirs = options.arguments if theirs is None else theirs
    if options.module is None and options.program is None:
        print('remx run: name a program, or -m MODULE', file=sys.stderr)
        return 2
    from .._compat import _runner
    from .._compat._report import report

    try:
        if options.explain:
            return _explain(options)
        _runner.start(
            cpu=options.cpu,
            data=options.data,
            made_up=options.made_up_data,
            python2=options.python2,
            packages=options.package,
            quiet=options.quiet,
        )
        status = _runner.tell_at_end(options.report)
        report.quiet = options.quiet
    except MXNetError as error:
        print(f'remx run: {error}', file=sys.stderr)
        return 2
    try:
        if options.module is not None:
            _runner.run_module(options.module, theirs)
        elif options.program == '-':
            _runner.run_text(sys.stdin.buffer.read(), theirs)
        else:
            _runner.run_path(options.program, theirs)
    except SystemExit as leaving:
        status['status'] = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
        raise
    except KeyboardInterrupt as error:
        _runner.print_error(error)
        return _runner.stop_by_signal()
    except MXNetError as error:
        status['status'] = 2
        if _in_program(error):
            _runner.print_error(error)
            _advise(error, options, report)
            status['status'] = 1
        else:
            print(f'remx run: {error}', file=sys.stderr)
        return status['status']
    except BaseException as error:  # as the interpreter does with what a program raises
        status['status'] = 1
        _runner.print_error(error)
        _advise(error, options, report)
        return 1
    return 0


def _advise(error, options, report):
    """Names `--python2` where Python 3 refuses what Python 2 did; the causes of an error count as well."""
    if options.python2 is not None:
        return
    while error is not None:
        if isinstance(error, (IndexError, TypeError, AttributeError)):
            for what, said in _REFUSED:
                if said.search(str(error)):
                    report.say(f'{what[0]}: if this program is Python 2, `remx run --python2` restores {what[1]}')
                    return
        error = error.__cause__ or error.__context__


def _in_program(error):
    """Whether the program raised an error: one of its frames is among those of the error."""
    trace = error.__traceback__
    while trace is not None:
        if '__remx_attr__' in trace.tb_frame.f_builtins:
            return True
        trace = trace.tb_next
    return False


def _explain(options):
    from .._files import limits
    from ._findings import annotated

    if options.program is None or options.program == '-':
        print('remx run --explain: name a file', file=sys.stderr)
        return 2
    for line in annotated(options.program, options.python2).split('\n')[:-1]:
        print('\t'.join(map(limits.printable, line.split('\t'))))
    return 0
