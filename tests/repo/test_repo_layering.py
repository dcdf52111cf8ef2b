"""The order of the layers: a module may import from its own layer and from those above it in LAYERS.

Imports inside functions count too, for they bind two parts together just as much; the few that must go the other way
are in DOWNWARD with their reason. Imports for type checkers only (`if TYPE_CHECKING:`) do not count.
"""
import sys

import import_graph
import pytest
from import_graph import PACKAGE

from mxnet._ops import FAMILIES

LANGUAGES = ('en', 'zh')

# Top-level modules and packages of mxnet, with what they are in English and in Chinese.  A new one needs a place here.
# docs/*/architecture.md shows this table: `PYTHONPATH=tests/helpers python tests/repo/test_repo_layering.py`
# writes it there.
TABLE: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (('_cache', '_dispatch', '_guard', '_hooks', '_imported_names', '_internal_errors', '_kinds', '_malloc', '_names',
      '_np_mode', '_scope', '_state', '_typing', '_wording', 'base', 'error', 'libinfo', 'log', 'registry'),
     'base: errors, helpers, thread-local switches, interceptors, hooks; imports neither torch nor NumPy',
     '基础：错误、辅助函数、线程局部的开关、拦截器、钩子；不导入 torch 和 NumPy'),
    (('_torch',), 'every private name of torch, each with a public fallback',
     'torch 的所有私有名称，每个都有公开的替代'),
    (('context', 'engine'), 'devices, and how work is scheduled on them', '设备，以及在设备上调度工作'),
    (('_files', 'recordio'),
     'file formats and paths: `.params`, safetensors, restricted pickles, atomic and remote writing',
     '文件格式与路径：`.params`、safetensors、受限的 pickle、原子写入与远程写入'),
    (('_ops',), '**the table**: one declaration per operator, plain functions on torch tensors',
     '**算子表**：每个算子只声明一次，是作用于 torch 张量的普通函数'),
    (('_array', '_paused_writes', '_provenance'),
     'the storage under arrays, and its provenance', '数组的存储及其来源'),
    (('_frontend',), 'derived from the table: argument binding, signatures, docstrings, namespaces, stubs',
     '由算子表派生：参数绑定、签名、文档字符串、命名空间、存根'),
    (('_anomaly', '_autograd', '_random_state', 'attribute', 'name', 'runtime'),
     "gradients on torch's engine, random generators, scopes", '基于 torch 引擎的梯度、随机数发生器、作用域'),
    (('_graph', '_to_torch'), 'static graphs: nodes, JSON, inference, programs, plans',
     '静态图：节点、JSON、推断、程序、计划'),
    (('_lazy',), 'deferred execution: pending arrays, steps, bound calls',
     '延迟执行：待定数组、步、绑定的调用'),
    (('ndarray', 'symbol', 'executor', '_executor_monitor', '_executor_parts', '_executor_runs', '_sparse_executor',
      'numpy', 'numpy_extension', 'operator', '_numpy_op_doc', 'numpy_dispatch_protocol', 'numpy_op_signature',
      '_deferred_compute', '_traced_array', '_traced_index', 'library', 'rtc', 'autograd', 'random', 'util',
      'ndarray_doc', 'symbol_doc'),
     'public modules for arrays, graphs and gradients',
     '数组、计算图和梯度的公开模块'),
    (('_dist', 'kvstore', 'initializer', 'lr_scheduler', 'metric', 'misc', 'optimizer'), 'training', '训练'),
    (('io', 'image'), 'data', '数据'),
    (('_training', 'callback', 'executor_manager', 'gluon', 'module', 'model', 'rnn'), 'models', '模型'),
    (('contrib', 'monitor', 'notebook', 'onnx', 'profiler', 'test_utils', 'visualization'), 'tools', '工具'),
    (('_compat', 'compat'), 'running programs written for MXNet 1.x and Python 2 or early Python 3',
     '在当前的 Python 上运行为 MXNet 1.x 编写的程序'),
    (('_serve', 'cli', 'tools'), 'the command `remx`, its server, and scripts that call it',
     '命令 `remx`、它的服务器，以及调用它的脚本'),
)
LAYERS = tuple(names for names, _, _ in TABLE)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
NO_TORCH = LAYERS[0]

# (importing file or folder, imported module; '' is the package itself): why an import inside a function may go to a
# later layer.
DOWNWARD = {
    ('cli/_findings', ''): 'names that a program uses are looked up in the package',
    ('_frontend/reference', ''): 'examples of the reference are programs: they import mxnet',
    ('_frontend/stubs', ''): 'stubs show what is in mx.nd and mx.sym',
    ('_frontend/stubs_packages', 'io'): 'stubs show the arguments that all iterators take',
    ('gluon/contrib/estimator', 'contrib'): 'fit(log_dir=) writes for TensorBoard',
    ('gluon/contrib/data', 'contrib'): 'the vocabulary of a text is one of contrib.text',
    ('kvstore', 'profiler'): 'the servers of a KVStore are profiled on request',
}

# The cycles of imports, those inside functions counted: (a module of it, why).  None has more than MOST modules.
MOST = 5
CYCLES = {
    'mxnet._internal_errors': 'what is told again is an MXNetError, and shows values in the words of _kinds',
    'mxnet.gluon.rnn': 'an LSTM with a projection unrolls into a cell of gluon.contrib.rnn',
    'mxnet._to_torch.translate': 'a graph in a graph is translated like the whole',
    'mxnet.gluon.contrib.estimator': 'fit(log_dir=) writes for TensorBoard, with one of the handlers',
    'mxnet._compat._importing': 'tables of what is gone make programs of modules, which import in the same way',
    'mxnet.gluon.block': 'gluon.block has HybridBlock and SymbolBlock, as upstream, each in a file of its own',
    'mxnet.symbol.symbol': 'a Symbol draws itself in a notebook; split_v2 is a method and a function',
    'mxnet.executor': 'Executor makes a SparseExecutor, its subclass, where arrays are sparse',
    'mxnet._traced_array': 'indexing a traced array gives a traced array',
    'mxnet.contrib.onnx.onnx2mx.import_onnx': 'the body of a loop is imported like a graph',
    'mxnet.gluon.parameter': 'gluon.parameter has ParameterDict, as upstream, in a file of its own',
    'mxnet.metric._base': 'a metric made of a function is a CustomMetric',
    'mxnet.ndarray': 'arrays of mx.nd and mx.np become each other: both are loaded together',
    'mxnet.rnn._fused': 'a FusedRNNCell unfuses into combined cells, which can hold one',
}


def files():
    return [path for path in import_graph.files() if path != PACKAGE / '__init__.py']


def top_modules():
    return {path.relative_to(PACKAGE).parts[0].removesuffix('.py') for path in files()}


def parts(path):
    return import_graph.parts(path, PACKAGE)


def imports(path):
    """(line, dotted name, inside a function) for each import of a file that happens at run time."""
    for line, module, names, deferred in import_graph.statements(path, PACKAGE):
        # `from . import x` at the top of the package means module x; deeper, the package that x lives in decides
        for name in [f'{module}.{n}' for n in names] if module == PACKAGE.name and names else [module]:
            yield line, name, deferred


def inner_imports(path):
    """(line, dotted name, top-level module, inside a function) for each import of a part of mxnet."""
    for line, name, deferred in imports(path):
        package, _, rest = name.partition('.')
        if package == PACKAGE.name:
            yield line, name, rest.partition('.')[0], deferred


def exceptions(path):
    """What DOWNWARD allows a file."""
    where = '/'.join(parts(path)[1:])
    return {(start, to) for start, to in DOWNWARD if f'{where}/'.startswith(f'{start}/')}


def wrong_way(path):
    """Imports of `path` that go to a later layer. The package itself, which knows all of its parts, comes last."""
    mine, allowed = parts(path)[1], {to for _, to in exceptions(path)}
    for line, name, target, deferred in inner_imports(path):
        later = LAYER.get(target, len(LAYERS)) > LAYER.get(mine, -1)
        if later and not (deferred and target in allowed):
            yield f'mxnet/{path.relative_to(PACKAGE)}:{line} imports {name}, a later layer than {mine}'


def test_every_top_module_has_a_layer():
    missing = top_modules() - LAYER.keys()
    assert not missing, f'no layer for {sorted(missing)}: give each a place in LAYERS'


@pytest.mark.parametrize('path', files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_layers(path):
    wrong = list(wrong_way(path))
    assert not wrong, '\n'.join(wrong)


@pytest.mark.parametrize('name', NO_TORCH)
def test_the_ground_loads_no_torch(name):
    for path in [PACKAGE / f'{name}.py', *(PACKAGE / name).rglob('*.py')]:
        if path.exists():
            # inside a function is late enough: base.numeric_types asks NumPy for its types when a program asks for it
            heavy = [f'{path.name}:{line}' for line, module, deferred in imports(path)
                     if not deferred and module.split('.')[0] in ('torch', 'numpy')]
            assert not heavy


def test_packages_of_operators_are_in_order():
    """Operators use kernels of earlier packages only; `core` uses none of them."""
    order = ('core', *FAMILIES)
    assert {path.name for path in (PACKAGE / '_ops').iterdir() if path.is_dir()} - {'__pycache__'} == set(order)
    for module, targets in import_graph.graph().items():
        names = module.split('.')
        if names[:2] == ['mxnet', '_ops'] and names[2:] and names[2] in order:
            used = {t.split('.')[2] for t in targets if t.startswith('mxnet._ops.')} & set(order)
            later = {name for name in used if order.index(name) > order.index(names[2])}
            assert not later, f'{module} imports from {sorted(later)}'


def test_exceptions_are_still_needed():
    used = {(start, to) for path in files() for start, to in exceptions(path)
            if any(deferred and target == to for _, _, target, deferred in inner_imports(path))}
    assert used == DOWNWARD.keys()


def test_cycles_have_a_reason():
    found = import_graph.cycles(import_graph.graph())
    large = [cycle for cycle in found if len(cycle) > MOST]
    assert not large, f'cycles of imports with more than {MOST} modules: {large}'
    unknown = [cycle for cycle in found if not any(name in CYCLES for name in cycle)]
    assert not unknown, f'cycles of imports without a reason in CYCLES: {unknown}'
    gone = [name for name in CYCLES if not any(name in cycle for cycle in found)]
    assert not gone, f'no cycle any more: {gone}'


def test_cycles_are_found(tmp_path):
    """Also those of imports inside functions, and of `from package import module`."""
    package = tmp_path / 'mxnet'
    package.mkdir()
    for name, source in {'__init__': '', 'a': 'from . import b', 'b': 'def f():\n    from mxnet.c import x',
                         'c': 'import mxnet.a', 'd': 'from .a import y',
                         'e': 'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import d'}.items():
        (package / f'{name}.py').write_text(source)
    assert import_graph.cycles(import_graph.graph(package)) == [['mxnet.a', 'mxnet.b', 'mxnet.c']]


# ---------------------------------------------------------------------- the table in the documentation
HEADS = {'en': '| layer | purpose |', 'zh': '| 层 | 内容 |'}


def rows(language):
    """The lines of the table."""
    separator = ', ' if language == 'en' else '、'
    for names, *what in TABLE:
        shown = [f'`{name}/`' if (PACKAGE / name).is_dir() else f'`{name}.py`' for name in names]
        yield f'| {separator.join(shown)} | {what[LANGUAGES.index(language)]} |'


def with_table(language):
    """(the file, its text, its text with the table as it should be)."""
    path = PACKAGE.parent / 'docs' / language / 'architecture.md'
    text = path.read_text()
    head = HEADS[language] + '\n| --- | --- |\n'
    before, rest = text.split(head)
    lines = rest.split('\n')
    after = next(number for number, line in enumerate(lines) if not line.startswith('|'))
    return path, text, before + head + '\n'.join([*rows(language), *lines[after:]])


@pytest.mark.parametrize('language', LANGUAGES)
def test_the_documentation_shows_the_layers(language):
    _, text, right = with_table(language)
    assert text == right, 'run: PYTHONPATH=tests/helpers python tests/repo/test_repo_layering.py'


@pytest.mark.parametrize('source, wrong', [
    ('from ..gluon import nn', True),
    ('from mxnet.gluon.nn import Dense', True),
    ('import mxnet.cli', True),
    ('import mxnet as mx', True),
    ('from .. import gluon', True),
    ('def f():\n    from ..gluon import nn', True),
    ('import importlib\ndef f():\n    importlib.import_module("mxnet.gluon")', True),
    ('from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..gluon import nn', False),
    ('from ..base import MXNetError', False),
    ('from .. import base', False),
    ('from . import sibling', False),
    ('from .sibling import gluon', False),
    ('import torch', False),
])
def test_the_check_itself(source, wrong, tmp_path, monkeypatch):
    """Each way to import the wrong way round is seen, and nothing else is."""
    monkeypatch.setattr(sys.modules[__name__], 'PACKAGE', tmp_path / 'mxnet')
    path = tmp_path / 'mxnet' / 'ndarray' / 'some.py'
    path.parent.mkdir(parents=True)
    path.write_text(source)
    assert bool(list(wrong_way(path))) is wrong


if __name__ == '__main__':
    for _language in LANGUAGES:
        _path, _, _right = with_table(_language)
        _path.write_text(_right)
