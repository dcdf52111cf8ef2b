"""A campaign: `python -m tests.fuzz_programs 0:20000 --jobs 2`; with `17 --show`, the program of a seed."""
import argparse
import collections
import multiprocessing
import os
import sys
import time

from . import compare, generate, runner, shrink

_local = {}


def _start(options):
    _local['runner'] = runner.Runner(options.path, options.old, options.ctx, forward=options.forward)
    _local['options'] = options


def _one(seed):
    options = _local['options']
    try:
        made = generate.program(seed, options.family)
    except Exception as error:
        raise RuntimeError(f'seed {seed} gives no program') from error
    found, logs = compare.check(made, _local['runner'])
    if found is None:
        return seed, made.family, None, 'rounding' in logs
    if options.shrink:
        made, found, _ = shrink.shrunk(made, found, _local['runner'], options.shrink)
    return seed, made.family, found, report(made, found, _local['runner'])


def report(made, found, sides):
    """A program, where its logs differ, and what each side has seen at that statement."""
    texts = [f'# seed {made.seed} ({made.family}): {" against ".join(found.sides)}']
    failing = set()
    for side in sides.sides(made):
        log = sides.log(made, side)
        if isinstance(log, str):
            texts.append(f'# {side}: {log}')
            continue
        failing |= {number for number, entry in log if entry[0] == 'error'}
        seen = [compare.show(entry) for number, entry in log if number == found.statement]
        texts.append('\n'.join(f'# {side}: {line}' for line in '; '.join(seen).split('\n')))
    texts.append('# ' + found.text(made).replace('\n', '\n# '))
    texts.append(made.script(failing))
    return '\n'.join(texts)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('seeds', help='17, or 0:20000')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('--ctx', default='cpu', choices=('cpu', 'gpu'))
    parser.add_argument('--forward', action='store_true',
                        help='moves the averages of BatchNorm in the forward pass, as on a GPU (not beside 1.9.1)')
    parser.add_argument('--family', choices=sorted(generate.FAMILIES))
    parser.add_argument('--path', help='a folder with the mxnet to run, if not this repository')
    parser.add_argument('--old', default=os.environ.get('MXNET191_PYTHON'),
                        help='the Python that has MXNet 1.9.1 (MXNET191_PYTHON)')
    parser.add_argument('--shrink', type=float, default=60, help='seconds for each failing program; 0: not at all')
    parser.add_argument('--stop', type=int, default=0, help='ends after so many failing programs')
    parser.add_argument('--show', action='store_true', help='prints the programs and runs nothing')
    parser.add_argument('--out', help='a file to which failing programs are written as well')
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition(':')
    seeds = range(int(first), int(last) if last else int(first) + 1)
    if options.show:
        for seed in seeds:
            print(generate.program(seed, options.family).script())
        return 0
    return campaign(seeds, options)


def campaign(seeds, options):
    began, failed, kinds, families, count = time.monotonic(), 0, collections.Counter(), collections.Counter(), 0
    rounded = []
    if options.jobs > 1:
        pool = multiprocessing.get_context('spawn').Pool(options.jobs, _start, (options,))
        results = pool.imap_unordered(_one, seeds)
    else:
        pool = None
        _start(options)
        results = map(_one, seeds)
    for seed, family, found, text in results:
        count += 1
        families[family] += 1
        if found is None and text:
            rounded.append(seed)
        if found is not None:
            failed += 1
            kinds[' against '.join(found.sides) + ': ' + found.kind] += 1
            print(f'\n{"=" * 100}\n{text}', flush=True)
            if options.out:
                with open(options.out, 'a', encoding='utf-8') as file:
                    file.write(f'{"=" * 100}\n{text}\n')
        if count % 100 == 0 or found is not None:
            seconds = time.monotonic() - began
            print(f'-- {count} of {len(seeds)} programs, {failed} with a difference, {seconds:.0f} s', file=sys.stderr,
                  flush=True)
        if options.stop and failed >= options.stop:
            break
    if pool:
        pool.terminate()
    else:
        _local['runner'].close()
    parts = ', '.join(f'{number} {name}' for name, number in families.most_common())
    print(f'{count} programs ({parts}) in {time.monotonic() - began:.0f} s: {failed} with a difference')
    for kind, number in kinds.most_common():
        print(f'  {number} {kind}')
    if rounded:
        shown = ', '.join(map(str, rounded))
        print(f'  {len(rounded)} ill-conditioned, which amplify rounding and show no other difference ({shown})')
    return 1 if failed else 0
