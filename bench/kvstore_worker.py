"""One worker of the KVStore benchmark: keys pushed and pulled, against torch.distributed's bare sum of as many bytes.

    remx launch -n 2 python bench/kvstore_worker.py

Both are measured in turns, so that what else runs on the machine slows both down.
"""
import json
import statistics
import time

import torch
import torch.distributed as dist

import mxnet as mx


def medians(seconds=2.0, **calls):
    """{name: median time} of calls that take turns, as often as fits into some seconds."""
    for call in calls.values():
        call()
    start = time.perf_counter()
    for call in calls.values():
        call()
    # every worker makes the same number of calls: worker 0 decides
    count = torch.tensor([max(5, min(500, int(seconds / (time.perf_counter() - start))))])
    dist.broadcast(count, 0)
    times = {name: [] for name in calls}
    for _ in range(int(count)):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def main():
    """Prints one JSON object a case."""
    kv = mx.kv.create('dist_sync')
    cases = [(1, 2**8), (1, 2**18), (1, 25 * 2**18), (1, 25 * 2**20), (100, 2560)]
    for keys, numbers in cases:
        names = [f'{numbers}.{i}' for i in range(keys)]
        values = [mx.nd.ones((numbers,)) for _ in names]
        outs = [mx.nd.zeros((numbers,)) for _ in names]
        flat = torch.ones(keys * numbers)
        kv.init(names, values)
        found = medians(pushpull=lambda n=names, v=values, o=outs: kv.pushpull(n, v, out=o),
                        all_reduce=lambda f=flat: dist.all_reduce(f))
        if kv.rank == 0:
            print(json.dumps({'keys': keys, 'bytes': 4 * keys * numbers, **found,
                              'ratio': round(found['pushpull'] / found['all_reduce'], 2)}), flush=True)


if __name__ == '__main__':
    main()
