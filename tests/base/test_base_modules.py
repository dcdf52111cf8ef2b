"""Errors, features, versions, logging, registries, helpers and the kind of engine."""
import doctest
import importlib
import logging
import os
import re
import subprocess
import sys
import warnings

import pytest

import mxnet as mx
from mxnet import _imported_names, base, engine, error, libinfo, log, registry, runtime, util
from mxnet.base import MXNetError

MODULES = ['attribute', 'engine', 'error', 'libinfo', 'log', 'name', 'registry', 'runtime', 'util']


@pytest.mark.parametrize('module', ['attribute', 'error', 'name', 'registry', 'runtime', 'util'])
def test_examples_in_docstrings(module):
    before = dict(base.error_types)
    module = importlib.import_module(f'mxnet.{module}')
    try:
        result = doctest.testmod(module, extraglobs={'mx': mx})
        assert result.attempted and not result.failed
    finally:
        base.error_types.clear()
        base.error_types.update(before)


def test_these_modules_load_neither_torch_nor_numpy(run_python):
    run_python('-c', f'''
import importlib, sys
for name in {MODULES}:
    importlib.import_module('mxnet.' + name)
importlib.import_module('mxnet.runtime').Features()
assert not {{'torch', 'numpy'}} & set(sys.modules), sorted(sys.modules)
''')


# --- errors ---

@pytest.fixture
def error_types():
    before = dict(base.error_types)
    yield base.error_types
    base.error_types.clear()
    base.error_types.update(before)


def test_registered_errors(error_types):
    for builtin in (ValueError, TypeError, AttributeError, IndexError, NotImplementedError):
        assert error_types[builtin.__name__] is builtin
    assert error_types['InternalError'] is error.InternalError


def test_ways_to_register_an_error(error_types):
    @error.register
    class Plain(MXNetError):
        pass

    @error.register('Named')
    class Other(MXNetError):
        pass

    @error.register()
    class Called(MXNetError):
        pass

    assert error.register('Builtin', OSError) is OSError
    assert [error_types[name] for name in ('Plain', 'Named', 'Called', 'Builtin')] == [Plain, Other, Called, OSError]
    assert 'Other' not in error_types


def test_internal_error_has_its_hint_once():
    text = str(error.InternalError('lost a tensor'))
    assert text.startswith('lost a tensor\nMXNet hint:')
    assert str(error.InternalError(text)) == text
    with pytest.raises(mx.MXNetError):
        raise error.InternalError('x')


# --- version and native files ---

def test_version():
    assert mx.__version__ == libinfo.__version__ > '1.9.1'


@pytest.mark.parametrize('find, what', [(libinfo.find_lib_path, 'libmxnet'), (libinfo.find_include_path, 'headers'),
                                        (libinfo.find_conf_path, 'tvmop.conf')])
def test_there_are_no_native_files(find, what):
    with pytest.raises(RuntimeError, match=what):
        find()


# --- features ---

UPSTREAM_FEATURES = '''
    CUDA CUDNN NCCL CUDA_RTC TENSORRT CPU_SSE CPU_SSE2 CPU_SSE3 CPU_SSE4_1 CPU_SSE4_2 CPU_SSE4A CPU_AVX CPU_AVX2 OPENMP
    SSE F16C JEMALLOC BLAS_OPEN BLAS_ATLAS BLAS_MKL BLAS_APPLE LAPACK MKLDNN OPENCV CAFFE PROFILER DIST_KVSTORE CXX14
    INT64_TENSOR_SIZE SIGNAL_HANDLER DEBUG TVM_OP'''.split()


def test_features_have_the_names_and_the_order_of_mxnet_1_9():
    features = runtime.Features()
    assert features is runtime.Features() is runtime.Features.instance
    assert list(features) == [feature.name for feature in runtime.feature_list()] == UPSTREAM_FEATURES
    for name, feature in features.items():
        assert type(feature.enabled) is bool
        assert features.is_enabled(name) is features.is_enabled(name.lower()) is feature.enabled
        assert repr(feature) == ('✔ ' if feature.enabled else '✖ ') + name
    assert repr(features) == repr(runtime.feature_list())


def test_features_are_what_torch_has():
    import torch
    features = runtime.Features()
    assert features.is_enabled('CUDA') == (torch.version.cuda is not None or torch.version.hip is not None)
    assert features.is_enabled('MKLDNN') == torch.backends.mkldnn.is_available()
    assert features.is_enabled('OPENMP') == ('USE_OPENMP=ON' in torch.__config__.show())
    assert features.is_enabled('INT64_TENSOR_SIZE')
    assert sum(features.is_enabled(f'BLAS_{kind}') for kind in ('OPEN', 'ATLAS', 'MKL', 'APPLE')) <= 1
    torch.linalg.qr(torch.eye(2))  # raises where torch was built without LAPACK
    assert features.is_enabled('LAPACK')


def test_signal_handler_follows_faulthandler(run_python):
    code = 'import mxnet as mx; print(mx.runtime.Features().is_enabled("SIGNAL_HANDLER"))'
    assert run_python('-c', code, PYTHONFAULTHANDLER='').stdout == 'False\n'
    assert run_python('-X', 'faulthandler', '-c', code).stdout == 'True\n'


def test_opencv_is_found_only_where_it_is(monkeypatch):
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: object() if name == 'cv2' else None)
    assert runtime.Features().is_enabled('OPENCV')
    monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
    assert not runtime.Features().is_enabled('OPENCV')


def test_unknown_feature():
    with pytest.raises(RuntimeError, match="'teleport'.*CUDNN"):
        runtime.Features().is_enabled('teleport')


# --- logging ---

@pytest.fixture
def logger_name(request):
    name = f'mxnet.test.{request.node.name}'
    yield name
    logger = logging.getLogger(name)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.__dict__.pop('_init_done', None)


@pytest.mark.parametrize('level, color, label', [
    (log.CRITICAL, 31, 'C'), (log.ERROR, 31, 'E'), (log.WARNING, 31, 'W'), (log.INFO, 32, 'I'), (log.DEBUG, 34, 'D'),
    (log.INFO + 1, 32, 'U')])
def test_coloured_lines(capsys, logger_name, level, color, label):
    logger = log.get_logger(logger_name, level=log.DEBUG)
    logger.log(level, 'loss %d%%', 5)
    line = (rf'\x1b\[{color}m{label}\d{{4}} \d\d:\d\d:\d\d {os.getpid()} '
            r'.*test_base_modules.py:test_coloured_lines:\d+\]\x1b\[0m loss 5%\n')
    assert re.fullmatch(line, capsys.readouterr().err)


def test_a_logger_is_set_up_once(capsys, logger_name):
    logger = log.get_logger(logger_name)
    assert log.get_logger(logger_name, level=log.DEBUG) is logger
    assert logger.level == log.WARNING
    logger.info('unseen')
    logger.error('seen')
    assert capsys.readouterr().err.count('seen') == 1


def test_log_into_a_file(tmp_path, logger_name):
    path = tmp_path / 'train.log'
    path.write_text('before\n')
    logger = log.get_logger(logger_name, filename=str(path), level=log.INFO)
    logger.info('Epoch[%d]', 3)
    assert path.read_text() == 'before\nEpoch[3]\n'
    again = log.get_logger(logger_name + '.w', str(path), 'w', log.INFO)
    again.propagate = False
    again.info('new')
    assert path.read_text() == 'new\n'
    for handler in list(again.handlers):
        again.removeHandler(handler)
        handler.close()


def test_the_root_logger_is_left_alone():
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    assert log.get_logger(level=log.DEBUG) is root
    assert (root.level, root.handlers) == before


def test_old_name_of_get_logger(logger_name):
    with pytest.warns(DeprecationWarning, match='get_logger'):
        logger = log.getLogger(logger_name, level=log.ERROR)
    assert logger is logging.getLogger(logger_name) and logger.level == log.ERROR


# --- registries ---

@pytest.fixture
def family():
    class Shape:
        def __init__(self, size=1, **more):
            self.size, self.more = size, more

    yield Shape
    registry._registries.pop(Shape, None)


def test_register_alias_create(family):
    create = registry.get_create_func(family, 'shape')
    register = registry.get_register_func(family, 'shape')
    alias = registry.get_alias_func(family, 'shape')

    @register
    @alias('disc', 'O')
    class Circle(family):
        pass

    assert registry.get_registry(family) == {'circle': Circle, 'disc': Circle, 'o': Circle}
    for made in (create('CIRCLE', 2), create('disc', size=2), create(shape='o', size=2),
                 create({'shape': 'Circle', 'size': 2}), create('["circle", {"size": 2}]'),
                 create('{"shape": "circle", "size": 2}')):
        assert type(made) is Circle and made.size == 2
    given = Circle(3)
    assert create(given) is create(shape=given) is create({'shape': given}) is given


def test_registry_is_a_copy(family):
    registry.get_registry(family)['x'] = family
    assert registry.get_registry(family) == {}


def test_overriding_a_name_warns(family):
    register = registry.get_register_func(family, 'shape')
    first, second = type('First', (family,), {}), type('Second', (family,), {})
    register(first, 'one')
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        register(first, 'one')
    with pytest.warns(UserWarning, match="shape 'one' was .*First and is now .*Second"):
        register(second, 'one')
    assert registry.get_registry(family) == {'one': second}


@pytest.mark.parametrize('klass', [int, 'circle', None])
def test_only_subclasses_are_registered(family, klass):
    with pytest.raises(TypeError, match='subclasses of Shape'):
        registry.get_register_func(family, 'shape')(klass)


@pytest.mark.parametrize('args, kwargs, message', [
    (('square',), {}, "no shape called 'square'; registered are circle"),
    ((), {}, 'which shape'),
    ((3,), {}, 'must be a name, a dict or a Shape, not the int 3'),
    (('["circle"]',), {}, r'\[name, \{arguments\}\]'),
    (('["circle", 3]',), {}, r'\[name, \{arguments\}\]'),
    (('{"size": 3}',), {}, 'which shape'),
    (('{size: 3}',), {}, 'neither a name nor valid JSON'),
    (('["circle", {}]',), {'size': 3}, 'take out size=3'),
    (({'shape': 'circle'}, 4), {}, 'take out 4'),
    (('[3, {}]',), {}, 'not the int 3'),
])
def test_mistakes_in_create(family, args, kwargs, message):
    registry.get_register_func(family, 'shape')(type('Circle', (family,), {}))
    with pytest.raises(MXNetError, match=message):
        registry.get_create_func(family, 'shape')(*args, **kwargs)


def test_create_refuses_arguments_for_an_object(family):
    with pytest.raises(MXNetError, match='cannot take arguments any more: size=3'):
        registry.get_create_func(family, 'shape')(family(), size=3)


# --- helpers ---

def test_environment_is_one(monkeypatch):
    monkeypatch.setenv('MXNET_TEST_A', '1')
    assert util.getenv('MXNET_TEST_A') == '1'
    util.setenv('MXNET_TEST_A', '2')
    assert os.environ['MXNET_TEST_A'] == util.getenv('MXNET_TEST_A') == '2'
    util.setenv('MXNET_TEST_A', None)
    util.setenv('MXNET_TEST_A', None)
    assert util.getenv('MXNET_TEST_A') is None and 'MXNET_TEST_A' not in os.environ
    with pytest.raises(TypeError):
        util.setenv('MXNET_TEST_A', 3)


def test_makedirs(tmp_path):
    for _ in range(2):
        util.makedirs(str(tmp_path / 'a' / 'b'))
    assert (tmp_path / 'a' / 'b').is_dir()


def test_set_module():
    def function():
        pass
    assert util.set_module('mxnet.numpy')(function).__module__ == 'mxnet.numpy'
    assert util.set_module(None)(function).__module__ == 'mxnet.numpy'


def test_gpu_helpers_on_the_cpu(monkeypatch):
    with pytest.raises(ValueError, match=r'must be a GPU, not cpu\(0\)'):
        util.get_cuda_compute_capability(mx.cpu())
    assert util.get_gpu_count() == mx.context.num_gpus()
    monkeypatch.setenv('MXNET_VIRTUAL_GPUS', '3')
    assert util.get_gpu_count() == 3
    with pytest.raises(MXNetError, match=r'gpu\(7\)'):
        util.get_gpu_memory(7)
    with pytest.raises(MXNetError, match=r'gpu\(7\)'):
        util.get_cuda_compute_capability(mx.gpu(7))


@pytest.mark.gpu
def test_gpu_helpers():
    import torch
    free, total = util.get_gpu_memory(0)
    assert 0 < free <= total == torch.cuda.get_device_properties(0).total_memory
    major, minor = torch.cuda.get_device_capability(0)
    assert util.get_cuda_compute_capability(mx.gpu(0)) == 10 * major + minor


def test_ufunc_options():
    import numpy
    legal = util.np_ufunc_legal_option
    for key, value in [('where', False), ('casting', 'no'), ('order', 'C'), ('dtype', 'int8'), ('dtype', numpy.float16),
                       ('dtype', numpy.dtype('int64')), ('subok', False)]:
        assert legal(key, value), (key, value)
    for key, value in [('casting', 'x'), ('casting', 1), ('order', 1), ('dtype', 'bool'), ('dtype', numpy.bool_),
                       ('dtype', None), ('subok', 1), ('axis', 0)]:
        assert not legal(key, value), (key, value)


@pytest.mark.parametrize('wrap, inputs', [(util.wrap_np_unary_func, (1,)), (util.wrap_np_binary_func, (1, 2))])
def test_wrapped_ufuncs(wrap, inputs):
    import numpy

    def add(*inputs, out=None):
        return inputs, out

    wrapped = wrap(add)
    assert wrapped.__name__ == 'add'
    assert wrapped(*inputs) == (inputs, None)
    defaults = {'where': True, 'casting': 'same_kind', 'order': 'K', 'dtype': None, 'subok': True}
    assert wrapped(*inputs, out='o', **defaults) == (inputs, 'o')
    assert wrapped(*inputs, 'o') == (inputs, 'o')
    for options, error_type, message in [({'where': False}, NotImplementedError, 'where=False'),
                                         ({'where': numpy.ones(2)}, NotImplementedError, 'where='),
                                         ({'dtype': 'int8'}, NotImplementedError, "dtype='int8'"),
                                         ({'dtype': 'text'}, TypeError, "dtype='text'"),
                                         ({'subok': 1}, TypeError, 'subok=1'),
                                         ({'axis': 0}, TypeError, "'axis'")]:
        with pytest.raises(error_type, match=message) as raised:
            wrapped(*inputs, **options)
        assert 'add()' in str(raised.value)


# --- the kind of engine ---

@pytest.fixture
def no_launch_blocking(monkeypatch):
    """As if no GPU had been used yet; `setenv` first, so that the end of the test removes what the test sets."""
    monkeypatch.setenv('CUDA_LAUNCH_BLOCKING', '')
    monkeypatch.setitem(sys.modules, 'torch', None)
    return monkeypatch


@pytest.mark.parametrize('kind, blocking', [('NaiveEngine', '1'), ('ThreadedEngine', ''), ('', ''),
                                            ('ThreadedEnginePerDevice', '')])
def test_naive_engine_makes_launches_wait(no_launch_blocking, kind, blocking):
    no_launch_blocking.setenv('MXNET_ENGINE_TYPE', kind)
    engine._before_first_gpu_use()
    assert os.environ['CUDA_LAUNCH_BLOCKING'] == blocking


def test_naive_engine_too_late(no_launch_blocking):
    class Torch:
        class cuda:
            is_initialized = staticmethod(lambda: True)

    no_launch_blocking.setenv('MXNET_ENGINE_TYPE', 'NaiveEngine')
    no_launch_blocking.setitem(sys.modules, 'torch', Torch)
    with pytest.warns(UserWarning, match='CUDA_LAUNCH_BLOCKING=1'):
        engine._before_first_gpu_use()
    no_launch_blocking.setenv('CUDA_LAUNCH_BLOCKING', '1')
    engine._before_first_gpu_use()


def test_unknown_engine(no_launch_blocking):
    no_launch_blocking.setenv('MXNET_ENGINE_TYPE', 'BogusEngine')
    with pytest.raises(MXNetError, match="NaiveEngine, not 'BogusEngine'"):
        engine._before_first_gpu_use()


@pytest.mark.gpu
@pytest.mark.parametrize('kind, done', [('NaiveEngine', 'True'), ('', 'False')])
def test_naive_engine_on_a_gpu(run_python, kind, done):
    code = '''
import torch
from mxnet import engine
engine._before_first_gpu_use()
a = torch.ones(8192, 8192, device='cuda')
a @ a
torch.cuda.synchronize()
for _ in range(5):
    a @ a
print(torch.cuda.current_stream().query())
'''
    assert run_python('-c', code, MXNET_ENGINE_TYPE=kind, CUDA_LAUNCH_BLOCKING='').stdout == done + '\n'


# ---------------------------------------------------------------------- what upstream's modules import
def test_modules_have_what_those_of_upstream_import():
    from mxnet.callback import save_checkpoint
    from mxnet.gluon.block import NDArray, Symbol
    assert (save_checkpoint, NDArray, Symbol) == (mx.model.save_checkpoint, mx.nd.NDArray, mx.sym.Symbol)
    for module, name, home in _imported_names.names():
        assert getattr(importlib.import_module(module), name) is getattr(importlib.import_module(home), name)
    assert 'save_checkpoint' not in mx.callback.__all__
    with pytest.raises(AttributeError, match="'mxnet.callback' has no attribute 'save_checkpont'"):
        getattr(mx.callback, 'save_' + 'checkpont')
    assert not hasattr(mx.metric, 'save_checkpoint')


def test_imported_names_are_those_of_1_9_1():
    python = os.environ.get('MXNET191_PYTHON')
    if python is None:
        pytest.skip('needs MXNET191_PYTHON')
    program = '''
import importlib, sys
for module, name, home in eval(sys.stdin.read()):
    found = getattr(importlib.import_module(module), name)
    assert found is getattr(importlib.import_module(home), name), (module, name)
'''
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    done = subprocess.run([python, '-W', 'ignore', '-c', program], input=repr(_imported_names.names()), text=True,
                          cwd='/', env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
