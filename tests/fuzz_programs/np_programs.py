"""Loops in np mode: mx.np arrays and np networks."""
import dataclasses
import re

from .training import Training

WORDS = tuple((re.compile(old), new) for old, new in (
    (r'\bnd\.(array|zeros|ones|sign|abs|square)\b', r'mx.np.\1'), (r'nd\.concat\(x, x, dim=0\)', 'x'),
    (r'\bnd\.NDArray', 'mx.np.ndarray'),
    (r'\bnd\.(softmax|log_softmax|one_hot)\b', r'mx.npx.\1'), (r'\bnd\.waitall', 'mx.nd.waitall'), (r'\bA\(', 'N('),
    (r'\bints\(', 'nints(')))
# methods that np arrays do not have, threads (the mode is a thread's in 1.9.1), autograd.grad (mx.nd arrays there)
LEFT = re.compile(r'asscalar|(?<!mx\.)\bnd\.|\.T\.|softmax\(\)|stype|export|in_thread|autograd\.grad|expand_dims'
                  r'|astype\("|copyto|repr\(|argmax|zero_grad|Doubled|SymbolBlock|\.square\(|clip_global')


class NumpyTraining(Training):
    """The same loops; what only mx.nd has is left out or said otherwise."""

    def action(self, place, batch):
        for _ in range(300):
            found = super().action(place, batch)
            if not any(LEFT.search(said(s).source()) for s in found):
                return found
        raise RuntimeError(f'nothing fits {place}')

    def program(self):
        made = super().program()
        iterations = tuple(tuple(map(said, part)) for part in made.iterations)
        return dataclasses.replace(made, setup=tuple(map(said, made.setup)), iterations=iterations,
                                   final=tuple(map(said, made.final)), family='np')


def said(statement):
    """A statement with the names of np mode."""
    text, simpler = statement.text, statement.simpler
    for old, new in WORDS:
        text, simpler = old.sub(new, text), tuple(old.sub(new, t) for t in simpler)
    return type(statement)(text, None if statement.body is None else tuple(map(said, statement.body)), simpler)


def np_train(g):
    g.np = True
    return NumpyTraining(g).program()
