"""Model parallelism: each layer of a deep LSTM is on its own device (ctx_group and group2ctx).

    python examples/model_parallel_lstm.py                          # pretended GPUs
    python examples/model_parallel_lstm.py --real                   # GPUs 0 to 3

The network repeats a sequence of numbers that it has read, after a pause: its layers must remember. Values are copied
where an edge of the graph goes from one device to another.
"""
import argparse
import os
import time

import figures
import numpy as np

import mxnet as mx

KINDS, LENGTH, PAUSE = 6, 4, 2              # numbers 1 to KINDS; 0 is silence


def build(layers, hidden, steps):
    """The unrolled network; each layer is in a group."""
    data, label = mx.sym.var('data'), mx.sym.var('label')
    with mx.AttrScope(ctx_group='embed'):
        x = mx.sym.Embedding(data, input_dim=KINDS + 1, output_dim=16, name='embed')
    inputs = list(mx.sym.split(x, num_outputs=steps, axis=1, squeeze_axis=True))
    for number in range(layers):
        with mx.AttrScope(ctx_group=f'layer{number}'):
            inputs, _ = mx.rnn.LSTMCell(hidden, prefix=f'lstm{number}_').unroll(steps, inputs, merge_outputs=False)
    with mx.AttrScope(ctx_group='decode'):
        joined = mx.sym.Reshape(mx.sym.concat(*[mx.sym.expand_dims(o, axis=1) for o in inputs], dim=1),
                                shape=(-1, hidden))
        scores = mx.sym.FullyConnected(joined, num_hidden=KINDS + 1, name='decode')
        return mx.sym.SoftmaxOutput(scores, mx.sym.Reshape(label, shape=(-1,)), name='softmax')


def batch(size, rng):
    """(what is heard, what is to be said), rows of numbers"""
    steps = 2 * LENGTH + PAUSE
    heard, said = np.zeros((size, steps), 'float32'), np.zeros((size, steps), 'float32')
    heard[:, :LENGTH] = said[:, LENGTH + PAUSE:] = rng.randint(1, KINDS + 1, (size, LENGTH))
    return heard, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--layers', type=int, default=2)
    parser.add_argument('--hidden', type=int, default=64)
    parser.add_argument('--steps', type=int, default=300)
    parser.add_argument('--real', action='store_true', help='real GPUs, not pretended ones')
    parser.add_argument('--quick', action='store_true', help='40 steps')
    parser.add_argument('--out', default='out/model_parallel_lstm', help='folder for the figure')
    options = parser.parse_args()
    if not options.real:
        os.environ.setdefault('MXNET_VIRTUAL_GPUS', '4')
    groups = ['embed', *(f'layer{n}' for n in range(options.layers)), 'decode']
    places = {group: mx.gpu(number % mx.context.num_gpus()) for number, group in enumerate(groups)}
    print(', '.join(f'{group} on {place}' for group, place in places.items()))

    mx.random.seed(1)
    np.random.seed(1)
    rng, size = np.random.RandomState(0), 32
    symbol = build(options.layers, options.hidden, 2 * LENGTH + PAUSE)
    shape = (size, 2 * LENGTH + PAUSE)
    executor = symbol.simple_bind(mx.cpu(), group2ctx=places, data=shape, label=shape,
                                  grad_req={name: 'null' if name in ('data', 'label') or 'begin_state' in name
                                            else 'write' for name in symbol.list_arguments()})
    where = {name: str(array.context) for name, array in executor.arg_dict.items() if name.endswith('i2h_weight')}
    print('weights:', where)
    start = mx.init.Xavier()
    for name, array in executor.arg_dict.items():
        if name not in ('data', 'label') and 'begin_state' not in name:
            start(mx.init.InitDesc(name), array)
    update = mx.optimizer.get_updater(mx.optimizer.create('adam', learning_rate=0.01, rescale_grad=1 / size))

    losses, begin = [], time.time()
    for _ in range(40 if options.quick else options.steps):
        heard, said = batch(size, rng)
        output = executor.forward(is_train=True, data=heard, label=said)[0]
        executor.backward()
        for number, name in enumerate(symbol.list_arguments()):
            if executor.grad_dict.get(name) is not None:
                update(number, executor.grad_dict[name], executor.arg_dict[name])
        chances = output.asnumpy()[np.arange(said.size), said.astype(int).ravel()]
        losses.append(float(-np.log(np.maximum(chances, 1e-9)).mean()))
    print(f'{len(losses)} steps in {time.time() - begin:.1f} s: loss {losses[0]:.3f} -> {losses[-1]:.3f}')

    heard, said = batch(size, rng)
    answer = executor.forward(is_train=False, data=heard, label=said)[0].asnumpy().argmax(axis=1).reshape(shape)
    right = (answer == said)[:, LENGTH + PAUSE:].mean()
    print(f'heard {heard[0].astype(int).tolist()}\nsaid  {answer[0].tolist()}')
    print(f'{right:.3f} of the numbers repeated right')
    figures.curves(options.out, 'loss.png', {f'{options.layers} layers on {len(set(places.values()))} devices': losses},
                   'repeating a sequence', x='step')


if __name__ == '__main__':
    main()
