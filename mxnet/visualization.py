"""Drawings and tables of networks: `mx.viz.plot_network`, `mx.viz.print_summary`."""
from ._kinds import explain_kinds as _explain_kinds
from ._names import suggest_names as _suggest_names
from .symbol._drawing import (  # noqa: F401
    LARGE,
    NO_DOT,
    NO_GRAPHVIZ,
    WEIGHTS,
    _drawing,
    plot_network,
    print_summary,
    svg,
    table,
)

__all__ = ['plot_network', 'print_summary']


_explain_kinds(globals(), ('print_summary', 'plot_network'))
_suggest_names(globals())
