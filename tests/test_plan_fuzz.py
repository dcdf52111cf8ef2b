"""Random programs, plain and hybridized side by side.

`make test` runs some; MXNET_TEST_PROGRAMS=SEED:FACTOR in the environment runs others, and so many times more.
"""
import random

import pytest
from plan_actions import ACTIONS
from plan_worlds import LOSSES, NETS, OPTIMIZERS, Program, Round, difference, seeds, shrunk

pytestmark = pytest.mark.filterwarnings('ignore::UserWarning')

FLAGS = ((), ('static_alloc',), ('static_alloc', 'static_shape'))
DATA = ('new', 'view', 'same', 'torch', 'grad', 'numpy')
UPDATES = ('step', 'step', 'step', 'stale', 'update', 'by hand', 'operator', 'never')


def random_program(seed):
    chance = random.Random(seed)
    some = chance.sample(sorted(ACTIONS), 12)           # a program does the same things again and again

    def names(often):
        return tuple(chance.choice(some) for _ in range(chance.choice(often)))

    rounds = []
    for _ in range(chance.randint(5, 9)):
        quiet = chance.random() < 0.4
        rounds.append(Round(batch=chance.choice((4, 4, 4, 3, 1)), before=() if quiet else names((0, 0, 0, 1)),
                            between=() if quiet else names((0, 1, 1, 2)), after=() if quiet else names((0, 0, 1))))
    net = chance.choice(sorted(NETS))
    # a graph gives the recurrent layer a view that a plain block copies: torch's own LSTM then adds up in another order
    dtype = chance.choice(('float32',) * 4 + ('float64', 'float16')) if net != 'words' else 'float32'
    return Program(
        net=net, dtype=dtype, loss=chance.choice(sorted(LOSSES)),
        data=chance.choice(DATA), optimizer=chance.choice(sorted(OPTIMIZERS)),
        flags=chance.choice(FLAGS), update=chance.choice(UPDATES),
        req=chance.choice(('write', 'write', 'write', 'add', 'mixed')), contexts=chance.choice((1, 1, 1, 2)),
        seed=chance.randint(0, 99),
        rounds=tuple(rounds))


@pytest.mark.parametrize('seed', seeds(40))
def test_training(seed):
    program = random_program(seed)
    found = difference(program)
    if found is not None:
        program = shrunk(program, lambda smaller: difference(smaller) is not None)
        pytest.fail(f'{difference(program)}\n{program}\nmade from program {seed}: {found}')
