"""Blocks that are hybridized for a backend of `optimize_for`."""
from ..base import MXNetError
from .parameter import Parameter


def optimized(block, symbol, parameters):
    """A block's graph as its backend rewrites it.

    The backend gets the values of `parameters`, {name: Parameter}.  What it changes goes into the Parameters; arrays
    that it adds and the graph needs become new ones, in `parameters` and in the block.
    """
    states, names = set(symbol.list_auxiliary_states()), symbol.list_inputs()
    before = {n: parameters[n].data() for n in names if n in parameters}
    args, aux = ({n: a for n, a in before.items() if (n in states) == is_aux} for is_aux in (False, True))
    result = symbol.optimize_for(block._backend, args, aux, **block._backend_opts)
    contexts = next((p.list_ctx() for n, p in parameters.items() if n in before), None)
    for name in result.list_inputs():
        array = args.get(name, aux.get(name))
        if name in before:
            if array is not None and array is not before[name]:
                parameters[name].set_data(array)
        elif name not in names:
            if array is None:
                raise MXNetError(f'backend {block._backend}: it gave no array for {name}, a new input of the graph')
            new = Parameter(name, 'null' if name in aux else 'write', array.shape, array.dtype)
            new.initialize(ctx=contexts, default_init='zeros')
            new.set_data(array)
            block.params._params[name] = parameters[name] = new
    return result
