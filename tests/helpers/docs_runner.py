"""Runs the programs of a page as a reader would: one after the other in one namespace, in a fresh interpreter.

A server that has imported torch and mxnet forks an interpreter for each page: that takes no time, and pages cannot see
what others have seeded, registered or counted.
"""
import concurrent.futures
import contextlib
import io
import multiprocessing
import os
import sys
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'docs' / 'tools'))

from pages import blocks

# what most pages need sooner or later, torch's parts for tracing among it; a module that is not there is left out
PRELOADED = ['torch', 'torch._decomp', 'torch._dynamo', 'torch._meta_registrations',
             'torch.fx.experimental.proxy_tensor', 'numpy', 'matplotlib.pyplot', 'mxnet', 'mxnet.ndarray',
             'mxnet.symbol', 'mxnet.gluon', 'mxnet.module', 'mxnet.image', 'mxnet.profiler']


def run_page(page, place):
    """Runs all blocks in the folder `place`; returns what is wrong, or ''."""
    os.chdir(place)
    os.environ['MPLBACKEND'] = 'Agg'
    multiprocessing.set_start_method(None, force=True)          # as in a program of one's own
    warnings.simplefilter('error')
    names = {'__name__': '__main__'}
    for block in blocks(Path(page).read_text(encoding='utf-8')):
        printed = io.StringIO()
        try:
            # empty lines in front, so that a traceback shows the line of the page
            code = compile('\n' * block.line + block.code, page, 'exec')
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        except BaseException:
            return f'{page}, block at line {block.line}:\n{traceback.format_exc()}'
        if printed.getvalue().rstrip() != block.printed.rstrip():
            return (f'{page}, block at line {block.line} prints\n{printed.getvalue()}\nbut the page shows\n'
                    f'{block.printed}')
    return ''


def interpreters():
    """Fresh interpreters, one for each call of `submit(run_page, ...)`."""
    context = multiprocessing.get_context('forkserver')
    context.set_forkserver_preload(PRELOADED)
    return concurrent.futures.ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1)
