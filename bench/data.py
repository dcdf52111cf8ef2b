"""`python -m bench.data`: pictures per second of ImageRecordIter, GB per second of records, memory over many passes.

Part of `make bench`.  Ours and, with MXNET191_PYTHON, MXNet 1.9.1 run in processes of their own, in turns.
"""
import argparse
import sys
import tempfile
from contextlib import ExitStack

from .peer import Peer, upstream_python

# name -> (at least this, at least this share of 1.9.1's); None: no such limit
BUDGETS = {'pictures/s': (None, 1.0), 'GB/s of records': (1.0, None)}
GROWTH = 1.1            # memory after 20 passes, in that of 8, at most

# What either interpreter runs; both have mxnet, numpy and nothing else for sure.
WORK = '''
import os, time
import mxnet as mx
folder, threads = sys.argv[1], int(sys.argv[2])
iterator = None


def make(**given):
    return mx.io.ImageRecordIter(
        path_imgrec=folder + '/a.rec', path_imgidx=folder + '/a.idx', data_shape=(3, 224, 224), batch_size=64,
        shuffle=True, rand_crop=True, rand_mirror=True, mean_r=123, mean_g=117, mean_b=104, std_r=58, std_g=57,
        std_b=57, preprocess_threads=threads, verbose=False, **given)


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1e6


def pictures():
    global iterator
    iterator = iterator or make()
    count, wall, cpu = 0, time.perf_counter(), time.process_time()
    for batch in iterator:
        batch.data[0].wait_to_read()
        count += 64
    found = {'pictures/s': count / (time.perf_counter() - wall),
             'CPU ms/picture': (time.process_time() - cpu) / count * 1e3}
    iterator.reset()
    return found


def records():
    size, best = os.path.getsize(folder + '/a.rec'), 0
    reader, wall = mx.recordio.MXRecordIO(folder + '/a.rec', 'r'), time.perf_counter()
    while reader.read() is not None:
        pass
    return {'GB/s of records': size / (time.perf_counter() - wall) / 1e9}


def memory():
    sizes = []
    for number in range(20):
        if number % 2 == 0:
            passes = make(num_parts=4, part_index=0)
        for batch in passes:
            pass
        passes.reset()
        sizes.append(resident())
    return {'MB after 8 passes': max(sizes[4:8]), 'MB after 20 passes': max(sizes[16:])}
'''


def make_records(folder, count):
    """JPEGs with a shorter edge of 256 pixels, of about 60 kB each."""
    import cv2
    import numpy as np

    from mxnet import recordio
    draw = np.random.RandomState(0)
    with recordio.MXIndexedRecordIO(f'{folder}/a.idx', f'{folder}/a.rec', 'w') as writer:
        for i in range(count):
            coarse = draw.randint(0, 255, (40, 50, 3), dtype=np.uint8)
            picture = cv2.resize(coarse, (341, 256), interpolation=cv2.INTER_CUBIC).astype(int)
            picture = np.clip(picture + draw.randint(-12, 12, picture.shape), 0, 255).astype(np.uint8)
            writer.write_idx(i, recordio.pack_img((0, i, i, 0), picture, quality=95))


def measure(pictures=1000, threads=1, rounds=5):
    """{line: {'ours': number, '1.9.1': number}}: the best of some rounds, taken in turns."""
    pythons = {'ours': sys.executable}
    if upstream_python():
        pythons['1.9.1'] = upstream_python()
    found = {}

    def note(who, lines):
        for line, value in lines.items():
            better = min if line.startswith('CPU') else max
            mine = found.setdefault(line, {})
            mine[who] = better(mine[who], value) if who in mine else value

    with tempfile.TemporaryDirectory() as folder:
        make_records(folder, pictures)
        for works, times in ((('pictures', 'records'), rounds), (('memory',), 1)):
            with ExitStack() as stack:      # memory is measured in processes that have done nothing else
                peers = {who: stack.enter_context(Peer(python, WORK, folder, threads, threads=threads))
                         for who, python in pythons.items()}
                for _ in range(times):
                    for work in works:
                        for who, peer in peers.items():
                            note(who, peer(work))
    return found


def report(pictures=1000, threads=1, rounds=5):
    """Prints a table -> rows for --json, each with `over`: whether it misses its budget."""
    found = measure(pictures, threads, rounds)
    rows = []
    both = any('1.9.1' in values for values in found.values())
    print(f'{f"records, {threads} threads":24}{"ours":>11}{"at least":>10}'
          + (f'{"1.9.1":>11}{"ratio":>8}{"at least":>10}' if both else ''))
    for line, values in found.items():
        ours, old = values['ours'], values.get('1.9.1')
        least, share = BUDGETS.get(line, (None, None))
        over = bool((least and ours < least) or (share and old and ours < share * old))
        if line == 'MB after 20 passes':
            over = ours > GROWTH * found['MB after 8 passes']['ours']
        text = f'{line:24}{ours:11.2f}{least or "":>10}'
        if old:
            text += f'{old:11.2f}{ours / old:8.2f}{share or "":>10}'
        print(text + ('  misses its budget' if over else ''), flush=True)
        rows.append({'name': line, 'ours': ours, 'upstream': old, 'at_least': least, 'share': share, 'over': over})
    return rows


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.data', description=__doc__)
    parser.add_argument('--threads', type=int, default=1,
                        help='threads that decode; 1.9.1 takes half of the cores at most')
    parser.add_argument('--pictures', type=int, default=1000, help='how many pictures there are')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--strict', action='store_true', help='exit with 1 if something misses its budget')
    options = parser.parse_args(argv)
    rows = report(options.pictures, options.threads, options.rounds)
    return 1 if options.strict and any(row['over'] for row in rows) else 0


if __name__ == '__main__':
    sys.exit(main())
