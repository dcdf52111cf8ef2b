"""`python -m bench`: prints a table of medians and ratios; `--json FILE` keeps it; exit 1 with --strict over budget.

Ours beside torch, torch with channels last in memory, torch.compile, JAX and MXNet 1.9.1, where these are installed.
"""
import argparse
import json
import platform
import sys

from . import (
    arrays,
    autograd,
    cores,
    data,
    eager,
    first,
    gluon,
    kvstore,
    loader,
    module,
    numpy_face,
    optimizers,
    resnet,
    special,
    timing,
    zoo,
)
from .peers import HINTS, Peers
from .table import Table

FAMILIES = (arrays, numpy_face, autograd, gluon, module, optimizers, resnet)


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--only', default='', help='only benchmarks whose name contains this')
    parser.add_argument('--without', default='', help='columns to leave out, such as compiled,JAX')
    parser.add_argument('--strict', action='store_true', help='exit with 1 if a ratio is over its budget')
    options = parser.parse_args(argv)

    cores.hold()
    import torch

    import mxnet as mx
    ours, theirs, budgets = {}, {}, {}
    for family in FAMILIES:
        ours |= family.nd_cases(mx)
        theirs |= family.torch_cases(torch)
        for name, budget in family.BUDGETS.items():
            budgets[name] = {'torch': budget, **getattr(family, 'BESIDE', {}).get(name, {})}
    print(f'mxnet {mx.__version__}, torch {torch.__version__}, {torch.get_num_threads()} threads, '
          f'Python {platform.python_version()}, {platform.machine()}')
    chosen = [name for name in budgets if options.only in name]
    with Peers(options.without.split(',')) as peers:
        table = Table(peers.columns, HINTS)
        if chosen:
            table.head()
        for name in chosen:
            large = name.startswith('large')
            cases = {'ours': ours[name], 'torch': theirs[name], **peers.cases(name)}
            table.row(name, timing.measure(cases, rounds=11 if large else 41, seconds=0.3 if large else 0.01),
                      budgets[name])
        if chosen:
            table.foot()
    rows, over = list(table.rows), [row['name'] for row in table.rows if row['over']]
    cores.release()
    # these have tables of their own, and processes that work side by side
    for name, family in (('eager', eager), ('loader', loader), ('data', data), ('kvstore', kvstore),
                         ('special', special), ('first', first), ('zoo', zoo)):
        # the zoo takes a quarter of an hour, so it runs only if it is asked for
        if options.only in name and (options.only or family is not zoo):
            print()
            found = family.report()
            rows += found
            over += [row['name'] for row in found if row['over']]
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    return 1 if options.strict and over else 0


if __name__ == '__main__':
    sys.exit(main())
