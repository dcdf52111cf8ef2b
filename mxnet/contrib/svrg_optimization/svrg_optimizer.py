"""The optimizers of `SVRGModule`.  In a KVStore one optimizer serves weights and full gradients, told apart by name."""
from ... import optimizer as _optimizer

__all__: list[str] = []

_BASE = ('rescale_grad', 'param_idx2name', 'wd', 'clip_gradient', 'learning_rate', 'lr_scheduler', 'sym',
         'begin_num_update', 'multi_precision', 'param_dict')
FULL = '_full'      # what names of full gradients end with


@_optimizer.register
class _AssignmentOptimizer(_optimizer.Optimizer):
    """Stores the gradient instead of the weight."""

    def update(self, index, weight, grad, state):
        weight[:] = grad


@_optimizer.register
class _SVRGOptimizer(_optimizer.Optimizer):
    """Updates weights by another optimizer, and assigns full gradients, whose names end in '_full'.

    default_optimizer: an Optimizer; or its name, which is made with the other arguments.
    """

    def __init__(self, default_optimizer, **kwargs):
        super().__init__(**{k: v for k, v in kwargs.items() if k in _BASE})
        self.default_opt = _optimizer.create(default_optimizer, **kwargs) if isinstance(default_optimizer, str) \
            else default_optimizer
        self.aux_opt = _AssignmentOptimizer()

    def _serving(self, index):
        return self.aux_opt if str(self.idx2name.get(index, index)).endswith(FULL) else self.default_opt

    def create_state(self, index, weight):
        return self._serving(index).create_state(index, weight)

    def create_state_multi_precision(self, index, weight):
        return self._serving(index).create_state_multi_precision(index, weight)

    def update(self, index, weight, grad, state):
        self._serving(index).update(index, weight, grad, state)

    def update_multi_precision(self, index, weight, grad, state):
        self._serving(index).update_multi_precision(index, weight, grad, state)

    @property
    def learning_rate(self):
        """That of the optimizer of the weights."""
        return self.default_opt.learning_rate

    def set_learning_rate(self, lr):
        """Sets that of the optimizer of the weights."""
        self.default_opt.set_learning_rate(lr)
