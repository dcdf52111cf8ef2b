"""Random programs, plain and hybridized side by side.

`make test` runs some; MXNET_TEST_PROGRAMS=SEED:FACTOR in the environment runs others, and so many times more.
"""
import dataclasses
import random

import pytest
from plan_worlds import ACTIONS, LOSSES, NETS, OPTIMIZERS, Program, Round, difference, rounds_otherwise, seeds, shrunk

pytestmark = pytest.mark.filterwarnings('ignore::UserWarning')

FLAGS = ((), ('static_alloc',), ('static_alloc', 'static_shape'))
NP_NETS = ('dense', 'norm', 'layers', 'picture', 'deferred', 'large')
DTYPES = ('float32',) * 4 + ('float64', 'float16')
DATA = ('new', 'view', 'same', 'torch', 'grad', 'numpy')
BACK = ('method',) * 5 + ('inside', 'list', 'two', 'heads', 'retain')
UPDATES = ('step', 'step', 'learn', 'learn', 'stale', 'update', 'by hand', 'operator', 'never')


def random_program(seed):
    chance = random.Random(seed)
    some = chance.sample(sorted(ACTIONS), 12)           # a program does the same things again and again

    def names(often, where=some):
        return tuple(chance.choice(where) for _ in range(chance.choice(often)))

    # writes past us, before anything was computed: nothing tells us, as nothing tells upstream's engine
    seen = [name for name in some if name not in ('write_aliases', 'write_base')]
    rounds = []
    for _ in range(chance.randint(5, 9)):
        quiet = chance.random() < 0.4
        rounds.append(Round(batch=chance.choice((4, 4, 4, 3, 1)), before=() if quiet else names((0, 0, 0, 1), seen),
                            between=() if quiet else names((0, 1, 1, 2)), after=() if quiet else names((0, 0, 1))))
    program = Program(
        net=chance.choice(sorted(NETS)), dtype=chance.choice(DTYPES), loss=chance.choice(sorted(LOSSES)),
        data=chance.choice(DATA), optimizer=chance.choice(sorted(OPTIMIZERS)),
        flags=chance.choice(FLAGS), back=chance.choice(BACK), update=chance.choice(UPDATES),
        req=chance.choice(('write', 'write', 'write', 'add', 'mixed')), contexts=chance.choice((1, 1, 1, 2)),
        seed=chance.randint(0, 99),
        rounds=tuple(rounds))
    # differences of rounding grow from step to step, in 16 bits too fast
    return dataclasses.replace(program, dtype='float32') if program.dtype == 'float16' and rounds_otherwise(program) \
        else program


@pytest.mark.parametrize('seed', seeds(40))
def test_training(seed):
    check(random_program(seed), seed)


@pytest.mark.parametrize('seed', seeds(15))
def test_training_in_np_mode(seed):
    chance = random.Random(f'np {seed}')
    check(dataclasses.replace(random_program(seed), np=True, net=chance.choice(NP_NETS),
                              loss=chance.choice(('softmax', 'none', 'sum', 'scaled', 'mixed')), contexts=1), seed)


def check(program, seed):
    found = difference(program)
    if found is not None:
        program = shrunk(program, lambda smaller: difference(smaller) is not None)
        pytest.fail(f'{difference(program)}\n{program}\nmade from program {seed}: {found}')
