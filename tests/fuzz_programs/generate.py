"""A seed gives a program."""
import dataclasses
import random

from . import (
    arrays,
    assembled,
    bodies,
    devices,
    graphs,
    loops,
    np_programs,
    results,
    sparse_models,
    symbolic,
    training,
    updates,
)


class Generator:
    """What all makers of programs share: chance, and how data are written."""

    def __init__(self, seed):
        self.r, self.np, self.width = random.Random(seed), False, 4
        self.typed = ''             # how data are made whose dtype changes
        self.long = 0.01            # how often an iteration goes on for long

    def data(self, net, batch, seed=1):
        if net.kind == 'words':
            return f'ints({seed}, 7, {batch}, {net.shape[0]})'
        return f'A({seed}, {batch}, {", ".join(map(str, net.shape))}{self.typed})'


# how often, and what makes one
FAMILIES = {
    'train': (48, training.train), 'predict': (12, loops.predict), 'gan': (6, loops.gan), 'carried': (7, loops.carried),
    'arrays': (7, arrays.arrays), 'threads': (2, loops.threads), 'devices': (3, devices.devices),
    'executor': (6, symbolic.executor),
    'module': (6, symbolic.module), 'kvstore': (3, symbolic.kvstore), 'np': (5, np_programs.np_train),
    'results': (4, results.results), 'updates': (3, updates.updates), 'graphs': (8, graphs.graphs),
    'sparse_models': (3, sparse_models.sparse_models),
    'imported': (4, assembled.imported), 'assembled': (3, assembled.assembled), 'bodies': (2, bodies.bodies),
}


def program(seed, family=None):
    """The program of a seed, of one family if that is given."""
    g = Generator(f'{seed} {family or ""}')
    names = list(FAMILIES)
    name = family or g.r.choices(names, [FAMILIES[n][0] for n in names])[0]
    made = FAMILIES[name][1](g)
    return dataclasses.replace(made, family=made.family or name, seed=seed)
