"""Functions of `mx.sym.contrib` that are not one operator."""
import math

from ._control_flow import cond, foreach, while_loop

__all__ = ['cond', 'foreach', 'isfinite', 'isinf', 'isnan', 'rand_zipfian', 'while_loop']


def isnan(data):
    """1 where an element is not a number, else 0."""
    return data != data


def isinf(data):
    """1 where an element is infinite, else 0."""
    return data.abs() == math.inf


def isfinite(data):
    """1 where an element is a finite number, else 0."""
    return (data == data) * (data.abs() != math.inf)


def rand_zipfian(true_classes, num_sampled, range_max):
    """Draws candidate classes, the smaller the likelier; see `mx.nd.contrib.rand_zipfian`."""
    from .random import uniform
    log_range = math.log(range_max + 1)
    sampled = (uniform(0, log_range, shape=(num_sampled,), dtype='float64').exp() - 1).astype('int64') % range_max

    def expected(classes):
        k = classes.astype('float64')
        return ((k + 2) / (k + 1)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)
