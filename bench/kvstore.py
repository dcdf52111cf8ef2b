"""KVStores against their bare engines: push and pull of one key; and how the MLP scales from one worker to two.

Each kind of store runs as a job of its own (bench/kvstore_worker.py), ours and the bare engine in turns in the same
processes.  `python -m bench.kvstore` prints this table alone.
"""
import importlib.util
import json
import os
import subprocess
import sys

# from 1 MB on; what is smaller is shown
BUDGET = 1.25


def job(kind, workers, servers=0):
    """What the workers of a job printed."""
    worker = os.path.join(os.path.dirname(__file__), 'kvstore_worker.py')
    environment = {**os.environ, 'OMP_NUM_THREADS': os.environ.get('OMP_NUM_THREADS', '1'),
                   'PYTHONPATH': os.pathsep.join([os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                                  os.environ.get('PYTHONPATH', '')])}
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', str(workers), '-s', str(servers),
                           sys.executable, worker, kind], env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f'the job of {kind} failed:\n{done.stdout}')
    return [json.loads(line.partition('] ')[2]) for line in done.stdout.splitlines() if line.startswith('[0] {')]


def report():
    """Prints the table; returns its rows."""
    rows = []
    print(f'{"push and pull":34}{"ours":>12}{"bare":>12}{"ratio":>8}{"budget":>8}')
    kinds = [('local', 1, 0, 'torch'), ('dist_sync', 2, 0, 'torch.distributed')]
    if importlib.util.find_spec('ray') is not None:
        kinds.append(('dist_async', 1, 1, 'Ray'))
    for kind, workers, servers, engine in kinds:
        for found in job(kind, workers, servers):
            ratio = found['ours'] / found['bare']
            budget = BUDGET if 'KB' not in found['case'] else None
            over = budget is not None and ratio > budget
            print(f'{found["case"] + " / " + engine:34}{found["ours"] * 1e6:9.0f} us{found["bare"] * 1e6:9.0f} us'
                  f'{ratio:8.2f}' + (f'{budget:8.2f}' if budget else '') + '  over budget' * over, flush=True)
            rows.append({'name': found['case'], **found, 'ratio': ratio, 'budget': budget, 'over': over})
    one, two = (job('mlp', workers)[0] for workers in (1, 2))
    rates = [found['workers'] * found['batch'] / found['seconds'] for found in (one, two)]
    print(f'MLP, batches of {one["batch"]}: {rates[0]:.0f} samples/s with one worker, {rates[1]:.0f} with two: '
          f'{rates[1] / rates[0]:.2f} times as fast, {os.cpu_count()} cores')
    rows.append({'name': 'kvstore MLP, 1 to 2 workers', 'rates': rates, 'ratio': rates[1] / rates[0], 'budget': None,
                 'over': False})
    return rows


if __name__ == '__main__':
    report()
