"""Loops in np mode: mx.np arrays and np networks."""
import re

from .program import Program
from .training import Training


class NumpyTraining(Training):
    """The same loops; what only mx.nd has is left out or said otherwise."""

    WORDS = ((r'\bnd\.array\b', 'mx.np.array'), (r'\bnd\.zeros\b', 'mx.np.zeros'), (r'\bnd\.ones\b', 'mx.np.ones'), (r'\bnd\.sign\b', 'mx.np.sign'), (r'\bnd\.softmax\b', 'mx.npx.softmax'),
             (r'\bnd\.one_hot\b', 'mx.npx.one_hot'), (r'nd\.NDArray', 'mx.np.ndarray'), (r'nd\.abs', 'mx.np.abs'), (r'nd\.waitall', 'mx.nd.waitall'), (r'nd\.log_softmax', 'mx.npx.log_softmax'),
             (r'nd\.square', 'mx.np.square'), (r'\(o - y\)\.square\(\)', '((o - y) ** 2)'), (r'\bA\(', 'N('), (r'\bints\(', 'nints('))
    LEFT = re.compile(r'asscalar|\bnd\.(?!waitall)|\.T\.|begin_state|o\.square|\.softmax\(\)|stype|export|expand_dims|astype\("|broadcast_|copyto|\.norm\(|argmax|\.square\(|nd\.save|sgd_update|clip_global')

    def action(self, place, batch):
        for _ in range(200):
            found = super().action(place, batch)
            if not self.LEFT.search(self.said(found).source()):
                return found
        raise RuntimeError(f'nothing fits {place}')

    def said(self, s):
        text = s.text
        for old, new in self.WORDS:
            text = re.sub(old, new, text)
        simpler = tuple(self.said(type(s)(t)).text for t in s.simpler)
        return type(s)(text, None if s.body is None else tuple(self.said(part) for part in s.body), simpler)

    def program(self, actions=None):
        made = super().program(actions)
        return Program(tuple(map(self.said, made.setup)), tuple(tuple(map(self.said, part)) for part in made.iterations), tuple(map(self.said, made.final)), 'np', made.random)


def np_train(g):
    g.np = True
    return NumpyTraining(g).program()
