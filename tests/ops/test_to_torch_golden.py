"""Every operator that MXNet 1.9.1 has recorded results of, as a torch module: outputs and gradients."""
import copy
import signal

import numpy as np
import pytest
import torch
from test_golden import CASES, GOLDEN, check

import mxnet as mx
from mxnet._to_torch import source
from mxnet.gluon._to_torch import translated

FAMILIES = ['activation', 'binary', 'conv', 'gather', 'image', 'internal', 'loss', 'matrix', 'norm', 'operators',
            'pool', 'reduce', 'rnn', 'shape', 'unary', 'upsample', 'vision']
SOURCELESS: list = []          # why operators have no source
NOT_COMPARED = {'activation/LeakyReLU/11'}       # gelu, which upstream computes in single precision
# gradients that are not the mathematical one belong to loss layers, which are left out; torch shares the gradient of a
# maximum among equal ones, and has the right one of selu
OTHER_GRADIENTS = ('Output', 'MakeLoss', 'make_loss', 'maximum', 'minimum', 'KLSparseReg', 'max', 'min', 'clip')


class Runner(check.Runner):
    """Runs cases as torch modules, of which the first input is the argument and the others are parameters."""

    with_source = False

    def symbolic(self, case, inputs, heads):
        self.semantics(False)
        variables = [mx.sym.var(f'x{i}') for i in range(len(inputs))]
        args = [check.decode(v, variables) for v in case['args']]
        kwargs = {k: check.decode(v, variables) for k, v in case.get('kwargs', {}).items()}
        symbol = self.function(case['fn'][3:], mx.sym)(*args, **kwargs)
        arrays = {f'x{i}': self.make(v, False) for i, v in enumerate(inputs)}
        states = symbol.list_auxiliary_states()
        params = {n: a for n, a in arrays.items() if n != 'x0' or n in states}
        given = {n: a for n, a in arrays.items() if n not in params}
        other = any(k in case['fn'] for k in OTHER_GRADIENTS) or kwargs.get('act_type') == 'selu'
        wanted = [] if other else case.get('grad') or []
        made = translated(symbol, params, given)
        module = made.module
        module.train(bool(wanted) or bool(case.get('train')))
        names = [p for p in symbol.list_inputs() if p in given]
        tensors = [torch.from_numpy(given[n].asnumpy()).requires_grad_(bool(wanted) and n == 'x0' and 0 in wanted)
                   for n in names]
        outputs = module(*tensors)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        if self.with_source:
            _check_source(made, module, tensors)
        gradients = {}
        if wanted:
            which = case.get('heads', list(range(len(outputs))))
            found = [(o, torch.from_numpy(heads[which.index(j)])) for j, o in enumerate(outputs)
                     if j in which and o.requires_grad]
            if found:
                torch.autograd.backward([f[0] for f in found], [f[1] for f in found])
            leaves = dict(zip(names, tensors))
            for name, path in made.origins.items():
                leaves[name] = dict(module.named_parameters()).get(path)
            for i in wanted:
                leaf = leaves.get(f'x{i}')
                if leaf is not None and leaf.grad is not None:
                    gradients[i] = leaf.grad.numpy()
        return [(o.detach().numpy(), 'default') for o in outputs], gradients, []


def _check_source(made, module, tensors):
    """The generated source computes the same, without anything of ours."""
    try:
        text = source.write(made)
    except mx.base.MXNetError as error:
        SOURCELESS.append(str(error))
        return
    assert 'mxnet' not in text.replace('MXNet', '')
    space = {'__file__': 'network.py', '__name__': 'network'}
    exec(compile(text, 'network.py', 'exec'), space)
    with torch.device('meta'):
        network = space[type(module).__name__]()
    network.load_state_dict(copy.deepcopy(source.state(made)), assign=True)
    was = module.training
    for m in (network, module):
        m.eval()
    with torch.no_grad():
        given = [t.detach() for t in tensors]
        one, other = network(*given), module(*given)
    module.train(was)
    for a, b in zip(*((x if isinstance(x, (list, tuple)) else [x]) for x in (one, other))):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize('family', FAMILIES)
@pytest.mark.filterwarnings('ignore')
def test_family(family):
    replay(family, False)


@pytest.mark.slow
@pytest.mark.parametrize('family', FAMILIES)
@pytest.mark.filterwarnings('ignore')
def test_source_of_family(family):
    replay(family, True)
    assert not SOURCELESS, '\n'.join(sorted(set(SOURCELESS)))


def replay(family, with_source):
    SOURCELESS.clear()
    before = signal.signal(signal.SIGALRM, check.on_alarm)
    runner = Runner(mx)
    runner.with_source = with_source
    with np.load(GOLDEN / f'{family}.npz') as data:
        store = {k: data[k] for k in data.files}
    failures, count = [], 0
    try:
        for case in CASES[family]:
            if 'symbolic' not in case['modes'] or case.get('moments') is not None or 'update' in case['fn'] \
                    or case['id'] in NOT_COMPARED:
                continue
            why = check.run_one(runner, case, store, 'symbolic')
            count += 1
            if why is not None and 'no translation' not in why:
                failures.append(f'{case["id"]} {case["fn"]}: {why}')
    finally:
        runner.semantics(False)
        signal.signal(signal.SIGALRM, before)
    assert not failures, f'{len(failures)} of {count}\n' + '\n'.join(failures)
