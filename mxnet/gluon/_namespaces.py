"""The type of `F`, for annotations: `def hybrid_forward(self, F: gluon.Operators, x)`."""


class Operators:
    """What `hybrid_forward` gets as `F`: the module `mx.nd`, or `mx.sym` where a graph is built.

    The class exists for editors and type checkers, which read its functions from the stub beside this file. Blocks
    are never given an object of it.
    """
