"""The benchmarks on the MXNet that this interpreter has; prints JSON.

Run by `python -m bench` with the interpreter that MXNET191_PYTHON names, in a process of its own.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'bench'))

import arrays
import autograd
import gluon
import module
import optimizers
import resnet
import timing


def main():
    import mxnet as mx
    result = {}
    cases = {**arrays.nd_cases(mx), **autograd.nd_cases(mx), **optimizers.nd_cases(mx), **gluon.nd_cases(mx),
             **resnet.nd_cases(mx)}
    result['Module.fit, MLP'] = timing.measure(module.nd_cases(mx), rounds=3, seconds=0.5)['Module.fit, MLP']
    for name, function in cases.items():
        large = name.startswith('large')

        def batch(function=function):
            # upstream queues work: wait now and then, so that the queue's length is not what is measured
            for _ in range(100):
                function()
            mx.nd.waitall()

        if large:
            result[name] = timing.measure({name: function}, rounds=3, seconds=0.5)[name]
        else:
            result[name] = timing.measure({name: batch}, rounds=7, seconds=0.05)[name] / 100
    print(json.dumps({'version': mx.__version__, 'seconds': result}))


if __name__ == '__main__':
    main()
