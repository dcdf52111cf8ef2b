"""`python -m bench.hosts`: dist_sync between hosts, beside Gloo and DistributedDataParallel in the same processes.

The hosts are network namespaces of this machine (tests/helpers/hosts.py), with links of given rates, delays and losses.
They share the processor: where the workers of all hosts use nearly all cores, the table says "cores", and the time is
that of the processor, not of the network.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))

BUDGET = 1.15           # of the bare engine's time
BUSY = 0.8              # of all cores


def job(namespaces, count, rate, delay, loss):
    """What the workers on some hosts measured."""
    with namespaces.Hosts(count, rate=rate, delay=delay, loss=loss) as hosts, tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / 'hosts'
        names.write_text(''.join(f'{host.pid}\n' for host in hosts))
        settings = ['OMP_NUM_THREADS:1', f'PYTHONPATH:{ROOT}', f'BENCH_MEETING:{hosts[0].address}',
                    'GLOO_SOCKET_IFNAME:eth0']
        done = subprocess.run(
            [sys.executable, '-m', 'mxnet.cli', 'launch', '-n', str(count), '-H', str(names),
             '--rsh', 'nsenter --all --target', '--address', hosts[0].address,
             *(word for setting in settings for word in ('--env', setting)),
             sys.executable, str(Path(__file__).with_name('hosts_worker.py'))],
            env={**os.environ, 'PYTHONPATH': str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(f'the job on {count} hosts failed:\n{done.stdout}')
    return [json.loads(line.partition('] ')[2]) for line in done.stdout.splitlines() if line.startswith('[0] {')]


def report(found, link):
    """Prints the rows of a job; returns them."""
    rows = []
    for case in found:
        if 'training' in case:
            for name, (seconds, steps, sent, accuracy) in case['training'].items():
                missed = '' if accuracy >= case['goal'] else f', not {case["goal"]}'
                print(f'  digits, {name:16}{seconds:9.2f} s {steps:5} steps{sent / 2**20:9.1f} MB  '
                      f'accuracy {accuracy:.3f}{missed}', flush=True)
            rows.append({**link, **case})
            continue
        ours, bare, packed = case['dist_sync'], case['bare'], case.get('2 bits')
        busy = ours[2] > BUSY * os.cpu_count()
        row = {**link, **case, 'ratio': ours[0] / bare[0], 'busy': busy}
        print(f'  {case["case"]:24}{ours[0] * 1e3:9.2f} ms{bare[0] * 1e3:9.2f} ms{row["ratio"]:7.2f}'
              f'{ours[1] / 2**20:9.2f} MB{bare[1] / 2**20:8.2f} MB'
              + (f'{packed[0] * 1e3:11.2f} ms{packed[1] / 2**20:7.2f} MB' if packed else ' ' * 24)
              + ('  cores' if busy else '  over budget' if row['ratio'] > BUDGET else ''), flush=True)
        rows.append(row)
    return rows


def model(rows):
    """Fits latency and bandwidth of a ring to the sums of the fewest hosts, and compares it with those of more.

    A sum of S bytes over n hosts has 2 (n - 1) steps, each a message of S / n bytes.
    """
    sizes = {'1 MB': 2**20, '16 MB': 2**24}
    for rate in dict.fromkeys(row['rate'] for row in rows):
        points = [(row['hosts'], sizes[row['case']], row['dist_sync'][0]) for row in rows
                  if row['rate'] == rate and not row['loss'] and row['case'] in sizes]
        fewest = min((count for count, _, _ in points), default=0)
        fitted = [point for point in points if point[0] == fewest]
        if len(fitted) < 2 or len(fitted) == len(points):
            continue
        (n, small, quick), (_, large, slow) = sorted(fitted)[0], sorted(fitted)[-1]
        steps = 2 * (n - 1)
        rest = (slow - quick) * n / steps / (large - small)         # seconds a byte
        latency = max(0.0, quick / steps - small / n * rest)        # what passes a link at once may make it negative
        print(f'{rate}: fitted on {n} hosts: {latency * 1e3:.2f} ms a message, {1e-6 / rest:.0f} MB/s')
        for count, size, measured_seconds in points:
            if count > fewest:
                expected = 2 * (count - 1) * (latency + size / count * rest)
                print(f'  {count} hosts, {size / 2**20:3.0f} MB: expected {expected * 1e3:7.1f} ms, measured '
                      f'{measured_seconds * 1e3:7.1f} ms ({measured_seconds / expected:.2f})')


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.hosts', description=__doc__)
    parser.add_argument('--hosts', default='2,4,8', help='numbers of hosts')
    parser.add_argument('--rates', default='1gbit,10gbit', help='rates of links, as tc writes them')
    parser.add_argument('--delays', default='0.1,2', help='milliseconds each way; needs netem')
    parser.add_argument('--losses', default='0,1', help='per cent of packets that are lost')
    parser.add_argument('--json', help='file for the results')
    options = parser.parse_args(argv)
    import hosts as namespaces  # type: ignore[import-not-found]  # of tests/helpers
    if namespaces.why_not():
        raise SystemExit(f'bench.hosts: {namespaces.why_not()}')
    delays = [float(text) / 1e3 for text in options.delays.split(',')]
    if any(delays) and namespaces.why_no_delay():
        print(f'{namespaces.why_no_delay()}\nwithout delays: they are what the machine takes', flush=True)
        delays = [0.0]
    links = list(itertools.product(map(int, options.hosts.split(',')), options.rates.split(','), delays,
                                   (float(text) / 100 for text in options.losses.split(','))))
    print(f'{"":26}{"dist_sync":>12}{"Gloo or DDP":>12}{"ratio":>7}{"sent":>9}{"":3}{"sent":>8}{"":3}{"2 bits":>13}'
          f'{"sent":>10}', flush=True)
    rows = []
    for number, (count, rate, delay, loss) in enumerate(links, 1):
        print(f'[{number}/{len(links)}] {count} hosts, {rate}, {delay * 1e3:g} ms, {loss:.0%} lost', flush=True)
        rows += report(job(namespaces, count, rate, delay, loss),
                       {'hosts': count, 'rate': rate, 'delay': delay, 'loss': loss})
        if options.json:
            Path(options.json).write_text(json.dumps(rows, indent=1), encoding='utf-8')
    model(rows)


if __name__ == '__main__':
    main()
