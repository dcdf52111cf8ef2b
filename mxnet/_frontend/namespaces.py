"""Where an operator's function sits, found from its registered names as upstream does.

`_contrib_box_nms` is `nd.contrib.box_nms`, `_linalg_gemm` is `nd.linalg.gemm`, `_copyto` is `nd._internal._copyto`,
`dot` is `nd.dot`; the same below `sym`.  Names of the NumPy face (`_np_`, `_npi_`, `_npx_`) have places of their own.
"""
from .._ops.core.table import NAMES, Operator

PREFIXES = {'_contrib_': 'contrib', '_linalg_': 'linalg', '_image_': 'image', '_sparse_': 'sparse',
            '_random_': 'random', '_npi_': 'np._internal', '_npx_': 'npx', '_np_': 'np'}


def place(name: str) -> tuple[str, str]:
    """(namespace below nd or sym, public name) of a registered name; the namespace '' is nd itself."""
    for prefix, namespace in PREFIXES.items():
        if name.startswith(prefix):
            if prefix == '_random_' and not name.endswith('_like'):
                break          # nd.random has functions of its own for these, by hand: they take arrays and numbers
            return namespace, name[len(prefix):]
    return ('_internal' if name.startswith('_') else ''), name


def namespace(which: str) -> dict[str, Operator]:
    """All operators of a namespace ('', '_internal', 'contrib', 'linalg', ...) by public name."""
    found = {}
    for name, op in NAMES.items():
        where, public = place(name)
        if where == which:
            found[public] = op
    return found
