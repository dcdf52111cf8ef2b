"""Rules that find unknown shapes of inputs: FullyConnected's weight from its data and num_hidden.

A rule takes the known shapes by input name (a tuple; a dimension that is unknown is 0; None: nothing is known) and the complete
attributes, and returns the shapes it can tell, by name.  Graphs use them in both directions of inference; what an
operator returns for known inputs needs no rule, since it runs on meta tensors.
"""
from math import prod


def fully_connected(known, attributes):
    found = {}
    if attributes['num_hidden']:
        if not attributes['no_bias']:
            found['bias'] = (attributes['num_hidden'],)
        data = known.get('data')
        if data and all(data[1:]):
            width = prod(data[1:]) if attributes['flatten'] else data[-1]
            found['weight'] = (attributes['num_hidden'], width)
    return found
