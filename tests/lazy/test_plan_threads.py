"""Programs in several threads at once, each with a network of its own, see what they see alone and without plans."""
import random
import sys
import threading

import pytest
from plan_worlds import ACTIONS, Program, Round, World, first_difference, seeds

from mxnet import autograd, nd
from mxnet._lazy.pending import transition_lock
from mxnet.gluon import nn

pytestmark = pytest.mark.filterwarnings('ignore::UserWarning')

# the random numbers of a process, and its profile, are for all threads
ALONE = {'seed', 'draw', 'drop_out', 'initialize', 'profile'}
NETS = ['dense', 'layers', 'picture', 'twice', 'several', 'parts', 'words', 'loop', 'large']
THREADS = 4


def random_program(chance):
    some = chance.sample(sorted(set(ACTIONS) - ALONE), 6)

    def names(often):
        return tuple(chance.choice(some) for _ in range(chance.choice(often)))
    return Program(net=chance.choice(NETS), loss=chance.choice(('softmax', 'l2', 'own', 'none')),
                   optimizer=chance.choice(('sgd', 'momentum', 'adam')), seed=chance.randint(0, 99),
                   rounds=tuple(Round(chance.choice((4, 4, 3)), names((0, 0, 0, 1)), names((0, 0, 1, 2)), names((0, 1)))
                                for _ in range(8)))


@pytest.mark.parametrize('seed', seeds(4))
def test_programs_beside_each_other(seed):
    chance = random.Random(seed)
    programs = [random_program(chance) for _ in range(THREADS)]
    alone = [World(program, False).run() for program in programs]
    worlds, errors, ready = [World(program, True) for program in programs], [], threading.Barrier(THREADS)

    def work(world):
        try:
            ready.wait()
            world.run()
        except BaseException as error:          # shown by the thread that joins
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)                 # many changes of threads, at bad moments too
    threads = [threading.Thread(target=work, args=(world,)) for world in worlds]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]
    for program, plain, world in zip(programs, alone, worlds, strict=True):
        assert first_difference(program, plain, world.log) is None, program


def test_a_writer_waits_for_a_transition_of_another_threads_step():
    """A step that its thread closes has no tensors: a writer of another thread that asks what it reads must wait."""
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    for _ in range(2):
        with autograd.record():
            out = net(nd.ones((4, 3)))
    step, answers = out._pending.work, []
    writer = threading.Thread(target=lambda: answers.append(step.reads({1})))
    with transition_lock:
        writer.start()
        writer.join(0.1)
        assert writer.is_alive()
    writer.join()
    assert answers == [False]
