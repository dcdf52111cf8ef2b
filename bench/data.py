"""`python -m bench.data`: pictures per second of ImageRecordIter, GB per second of records, memory over many passes.

Each is measured in a process of its own, ours and, with MXNET191_PYTHON, MXNet 1.9.1 in turn.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# What either interpreter runs; both have mxnet, numpy and nothing else for sure.
WORK = '''
import json, logging, os, sys, time
import mxnet as mx
what, folder, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])


def pictures(**given):
    return mx.io.ImageRecordIter(
        path_imgrec=folder + '/a.rec', path_imgidx=folder + '/a.idx', data_shape=(3, 224, 224), batch_size=64,
        shuffle=True, rand_crop=True, rand_mirror=True, mean_r=123, mean_g=117, mean_b=104, std_r=58, std_g=57,
        std_b=57, preprocess_threads=threads, verbose=False, **given)


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1e6


if what == 'pictures':
    iterator, best, spent = pictures(), 0, []
    for _ in range(4):
        count, wall, cpu = 0, time.perf_counter(), time.process_time()
        for batch in iterator:
            batch.data[0].wait_to_read()
            count += 64
        best = max(best, count / (time.perf_counter() - wall))
        spent.append((time.process_time() - cpu) / count)
        iterator.reset()
    print(json.dumps({'pictures/s': best, 'CPU ms/picture': min(spent) * 1e3}))
elif what == 'records':
    size, best = os.path.getsize(folder + '/a.rec'), 0
    for _ in range(4):
        reader, wall = mx.recordio.MXRecordIO(folder + '/a.rec', 'r'), time.perf_counter()
        while reader.read() is not None:
            pass
        best = max(best, size / (time.perf_counter() - wall) / 1e9)
    print(json.dumps({'GB/s of records': best}))
else:
    sizes = []
    for number in range(20):
        if number % 2 == 0:
            iterator = pictures(num_parts=4, part_index=0)
        for batch in iterator:
            pass
        iterator.reset()
        sizes.append(resident())
    print(json.dumps({'MB after 4 passes': max(sizes[:4]), 'MB after 20 passes': max(sizes[16:])}))
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


def run(python, what, folder, threads):
    """The results of one kind of work in one interpreter."""
    environment = {**os.environ, 'OMP_NUM_THREADS': str(threads)}
    if python == sys.executable:
        environment['PYTHONPATH'] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    else:
        environment.pop('PYTHONPATH', None)
    done = subprocess.run([python, '-W', 'ignore', '-c', WORK, what, folder, str(threads)], cwd=folder,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.data', description=__doc__)
    parser.add_argument('--threads', type=int, default=1,
                        help='threads that decode; 1.9.1 takes half of the cores at most')
    parser.add_argument('--pictures', type=int, default=1000, help='how many pictures there are')
    options = parser.parse_args(argv)
    pythons = {'ours': sys.executable}
    if os.environ.get('MXNET191_PYTHON'):
        pythons['1.9.1'] = os.environ['MXNET191_PYTHON']
    with tempfile.TemporaryDirectory() as folder:
        make_records(folder, options.pictures)
        print(f'{"":22}' + ''.join(f'{name:>12}' for name in pythons))
        for what in ('pictures', 'records', 'memory'):
            found = {name: run(python, what, folder, options.threads) for name, python in pythons.items()}
            for line in found['ours']:
                print(f'{line:22}' + ''.join(f'{found[name][line]:12.2f}' for name in pythons))


if __name__ == '__main__':
    main()
