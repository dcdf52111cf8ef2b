"""Figures of `make shape` stay within their limits: what a warm training step passes through, and annotations."""
import json

import pytest
import shape
from conftest import ROOT


@pytest.mark.parametrize('hybridized, limits', [(True, (35, 8, 15)), (False, (150, 18, 70))])
def test_a_warm_step(hybridized, limits, run_python):
    """Python calls, files and changes of file.  A division of a file that each step passes through shows here."""
    code = f'import json, sys; sys.path.insert(0, {str(ROOT / "tests" / "scripts")!r}); import shape; ' \
           f'print(json.dumps(shape.step_figures({hybridized})))'
    figures = json.loads(run_python('-c', code, MXNET_TORCH_PRIVATE='1').stdout)
    assert all(found <= limit for found, limit in zip(figures.values(), limits, strict=True)), figures


def test_public_functions_have_annotations():
    """In the source, or in the stubs of `mx.np`."""
    found = shape.annotated()
    assert not {name: found[name] for name in shape.PUBLIC if found[name][0] < found[name][1]}
    assert sum(found[name][1] for name in shape.PUBLIC) > 1000
