"""The entry for operators that programs write in Python: `mx.operator.register` and `nd.Custom(..., op_type='name')`.

What such an operator is (its names, its shapes, how it runs) is asked of the object that the program's class makes;
this entry only passes the questions on.  The code behind it works on arrays and may look at values, so it is no part
of a traced plan.
"""
import difflib

from ...base import MXNetError
from ..core.attributes import Count, Training
from ..core.table import Site, operator

# op_type -> function of the other arguments (as texts), which makes what the rules below ask: see mxnet/operator.py
MAKERS: dict = {}


def _with_definition(attributes, arguments):
    op_type = attributes['op_type']
    maker = MAKERS.get(op_type)
    if maker is None:
        close = difflib.get_close_matches(op_type, MAKERS, 1)
        hint = f'did you mean {close[0]!r}?' if close else f'there are {", ".join(map(repr, sorted(MAKERS))) or "none"}'
        raise MXNetError(f'operator Custom: op_type={op_type!r} is not registered with mx.operator.register; {hint}')
    definition = maker(arguments)
    definition.given = arguments
    return {**attributes, 'definition': definition}


def _inputs(attributes):
    definition = attributes['definition']
    return *definition.arguments, *definition.states


def _states(attributes, count):
    definition = attributes['definition']
    return range(len(definition.arguments), len(definition.arguments) + len(definition.states))


@operator('_CustomFunction', variadic='num_args', outputs=lambda a: [f'output{i}' for i in range(a['num_outputs'])]
          if a['num_outputs'] > 1 else ['output'])
def custom_function(*data, num_args: int, num_outputs: Count = 1):
    """Stands in `autograd.get_symbol` for an `autograd.Function`, whose code no file can hold: it cannot be run."""
    raise MXNetError('operator _CustomFunction stands for an autograd.Function, which exists in the program that '
                     'recorded it only; to use it in graphs, write it as an mx.operator.CustomOp')


@operator(aliases=('_npi_Custom',), variadic='num_args', variadic_names=_inputs, extra=_with_definition,
          outputs=lambda a: tuple(a['definition'].outputs), mutates=_states,
          shapes=lambda known, a: a['definition'].complete_shapes(known))
def Custom(*data, op_type: str, training: Training = False, site: Site = None, **kept):
    """Calls the custom operator that was registered under the name `op_type`.

    All other keyword arguments go to the constructor of its `CustomOpProp`, as texts.  The inputs are its arguments,
    then its auxiliary states.
    """
    definition = kept['definition']
    # it writes into its states itself, in backward too: there are no new values to hand back
    return *definition.run(data, training, site), *[None] * len(definition.states)
