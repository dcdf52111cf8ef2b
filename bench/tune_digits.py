"""What `remx train --tune` gains on digits over the default settings, and what the search itself costs.

    python bench/tune_digits.py --data DIR [--seeds 5] [--trials 50] [--jobs 2] [--epochs 10]

For each seed: a search with validation digits held back from training; then the settings of its best trial, and the
default settings, are trained on all training digits.  The test digits take no part in any choice.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

RANGES = 'lr=log:1e-3..1,optimizer=sgd|nag|adam,hidden=int:32..256,momentum=0..0.95,batch-size=32|64|128'
REMX = [sys.executable, '-m', 'mxnet.cli', 'train', '--quiet']


def said(words, pattern):
    done = subprocess.run([*REMX, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return re.search(pattern, done.stdout)[1], done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--data', required=True)
    for name, value in (('seeds', 5), ('trials', 50), ('jobs', 2), ('epochs', 10)):
        parser.add_argument(f'--{name}', type=int, default=value)
    options = parser.parse_args()
    rows = []
    common = ['--data', options.data, '--epochs', str(options.epochs)]
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            # without --quiet: the share of the time is printed with the rest
            done = subprocess.run([*REMX[:-1], *common, '--seed', str(seed), '--tune', RANGES, '--trials',
                                   str(options.trials), '--jobs', str(options.jobs), '--out', f'{folder}/s'],
                                  capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)
            seconds = time.perf_counter() - start
            share = float(re.search(r'the search itself took ([\d.]+) %', done.stdout)[1])
            best = json.load(open(f'{folder}/s/best.json'))
            chosen = [w for k, v in best['params'].items() for w in (f'--{k}', str(v))]
            train = ['--seed', str(seed), '--no-tensorboard', *common]
            tuned = float(said([*train, *chosen, '--out', f'{folder}/t'], r'test accuracy ([\d.]+)')[0])
            plain = float(said([*train, '--out', f'{folder}/d'], r'test accuracy ([\d.]+)')[0])
        row = {'seed': seed, 'default': plain, 'tuned': tuned, 'validation': best['value'], 'overhead_percent': share,
               'seconds': round(seconds, 1), 'params': best['params']}
        rows.append(row)
        print(json.dumps(row), flush=True)
    gains = [100 * (r['tuned'] - r['default']) for r in rows]
    print(json.dumps({'gain_points_mean': round(statistics.mean(gains), 2), 'gain_points_least': round(min(gains), 2),
                      'gain_points_sd': round(statistics.stdev(gains), 2) if len(gains) > 1 else None,
                      'overhead_percent_mean': round(statistics.mean(r['overhead_percent'] for r in rows), 2),
                      'cores': os.cpu_count()}))


if __name__ == '__main__':
    main()
