"""Checks of values in a traced graph, on devices where a check must not wait for the values.

torch's linear algebra looks at what a factorization reports, and raises.  On a GPU that is a copy to the host in each
run, which no CUDA graph can contain.  There a plan notes the report as other checks do (`_ops/core/checks.py`).

Upstream's kernels for GPUs do not look at it at all.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..._ops.core.checks import noted_report
from ..._torch.operators import LINALG_CHECK, TO_COPY

if TYPE_CHECKING:
    from torch.fx import Graph


def note_reports(graph: Graph) -> int:
    """Replaces checks of factorizations by such that only note an error; -> how many."""
    count = 0
    for node in list(graph.nodes):
        if node.target is not LINALG_CHECK:
            continue
        report, name = node.args[:2]
        target, arguments = noted_report(node.meta.get('label', (name,))[0])
        with graph.inserting_before(node):
            wide = graph.call_function(TO_COPY, (report,), {'dtype': torch.int64})
            noted = graph.call_function(target, (wide, *arguments))
        for made in (wide, noted):
            made.meta = dict(node.meta)
            made.meta['val'] = report.meta['val'].to(torch.int64)
        graph.erase_node(node)
        count += 1
    return count
