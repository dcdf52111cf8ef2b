"""How often something changed that calls rely on which repeat others (_lazy/bound_calls.py, optimizer/_updater.py).

Such calls need not look at every parameter anew: while the count stays, the parameters of all networks have the arrays
that they had, these arrays their tensors and gradients, and the parameters their factors of the learning rate and the
weight decay.  Whoever changes one of these raises the count.  Values are none of them.
"""


class Changes:
    __slots__ = ('count',)

    def __init__(self):
        self.count = 0


changes = Changes()
