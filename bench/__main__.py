"""`python -m bench`: prints a table of medians and ratios; `--json FILE` keeps it; exit 1 with --strict over budget."""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile

from . import arrays, autograd, data, gluon, kvstore, loader, module, numpy_face, optimizers, resnet, special, timing

FAMILIES = (arrays, numpy_face, autograd, gluon, module, optimizers, resnet)


def upstream_times():
    """{name: seconds} from the interpreter that MXNET191_PYTHON names; {} without one."""
    python = os.environ.get('MXNET191_PYTHON')
    if not python:
        return {}
    script = os.path.join(os.path.dirname(__file__), 'upstream.py')
    with tempfile.TemporaryDirectory() as elsewhere:     # or it would import ours
        done = subprocess.run([python, script], cwd=elsewhere, stdout=subprocess.PIPE, text=True, check=True,
                              env={k: v for k, v in os.environ.items() if k != 'PYTHONPATH'})
    return json.loads(done.stdout.splitlines()[-1])['seconds']


def show(seconds):
    return f'{seconds * 1e6:10.2f} us' if seconds < 1e-3 else f'{seconds * 1e3:10.2f} ms'


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--only', default='', help='only benchmarks whose name contains this')
    parser.add_argument('--strict', action='store_true', help='exit with 1 if a ratio is over its budget')
    options = parser.parse_args(argv)

    import torch

    import mxnet as mx
    ours, theirs, budgets = {}, {}, {}
    for family in FAMILIES:
        ours |= family.nd_cases(mx)
        theirs |= family.torch_cases(torch)
        budgets |= family.BUDGETS
    # those of loaders and records are measured in turns with ours, further down
    old = upstream_times() if any(options.only in name for name in budgets) else {}
    print(f'mxnet {mx.__version__}, torch {torch.__version__}, {torch.get_num_threads()} threads, '
          f'Python {platform.python_version()}, {platform.machine()}')
    print(f'{"":22}{"ours":>13}{"torch":>13}{"ratio":>8}{"budget":>8}' + (f'{"1.9.1":>13}{"ratio":>8}' if old else ''))
    rows, over = [], []
    for name, budget in budgets.items():
        if options.only not in name:
            continue
        large = name.startswith('large')
        times = timing.measure({'ours': ours[name], 'torch': theirs[name]}, rounds=11 if large else 41,
                               seconds=0.3 if large else 0.01)
        ratio = times['ours'] / times['torch']
        line = f'{name:22}{show(times["ours"])}{show(times["torch"])}{ratio:8.2f}{budget:8.2f}'
        if name in old:
            line += f'{show(old[name])}{times["ours"] / old[name]:8.2f}'
        if ratio > budget:
            over.append(name)
            line += '  over budget'
        print(line, flush=True)
        rows.append({'name': name, 'ours': times['ours'], 'torch': times['torch'], 'ratio': ratio, 'budget': budget,
                     'upstream': old.get(name)})
    # these have tables of their own
    for name, family in (('loader', loader), ('data', data), ('kvstore', kvstore), ('special', special)):
        if options.only in name:
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
