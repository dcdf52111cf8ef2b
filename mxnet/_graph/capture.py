"""CUDA graphs: a function of tensors whose kernels are recorded once, and launched again together.

Recording fixes addresses.  Tensors that stay where they are (parameters, states, gradients) are read and written in
place; all others are copied into memory of the graph's own before each launch, and its results lie there until the
next.
"""
from operator import is_

import torch

WARM = 2                # runs before a function is recorded, so that libraries have chosen and set up what they use


class Captured:
    """A recorded function.

    `moving` are the positions of tensors that are new each time.  `results` is what the function returned: its tensors
    are the graph's, and change with each `launch`.
    """

    __slots__ = ('_graph', '_fixed', '_staying', '_own', 'moving', 'results')

    def __init__(self, function, tensors, moving, generators=()):
        """Records `function(tensors)`.

        generators: those that random kernels draw from; each launch goes on where the one before has left them
        """
        self.moving = tuple(moving)
        self._own = [torch.empty_like(tensors[i]) for i in self.moving]
        given = list(tensors)
        for i, own in zip(self.moving, self._own, strict=True):
            given[i] = own
        self._staying = [i for i in range(len(tensors)) if i not in set(self.moving)]
        self._fixed = [tensors[i] for i in self._staying]
        self._graph = torch.cuda.CUDAGraph()
        for generator in generators:
            self._graph.register_generator_state(generator)
        device = tensors[0].device
        with torch.cuda.device(device):
            torch.cuda.synchronize(device)
            # other threads, such as those that load data, may go on using the device meanwhile
            with torch.cuda.graph(self._graph, capture_error_mode='thread_local'):
                self.results = function(given)

    def fits(self, tensors):
        """Whether the tensors that are not copied are those of the recording."""
        return all(map(is_, [tensors[i] for i in self._staying], self._fixed))

    def launch(self, tensors):
        """Runs the kernels for these tensors, which must fit."""
        if self.moving:
            torch._foreach_copy_(self._own, [tensors[i] for i in self.moving])
        self._graph.replay()
