"""Names that the modules of MXNet 1.9.1 import from one another: programs find them there as well.

`from mxnet.callback import save_checkpoint` works although the function is one of `mxnet.model`.  Here a module has
such a name when it is asked for it; `dir` does not list it.
"""
import importlib

_SWITCHES = {'is_np_array': 'util', 'is_np_shape': 'util'}
_DEVICES = {'Context': 'context', 'current_context': 'context'}
_NETWORK = {'cpu': 'context', 'HybridBlock': 'gluon.block'}
_AUGMENTERS = ('ColorJitterAug', 'ColorNormalizeAug', 'HueJitterAug', 'LightingAug', 'RandomGrayAug', 'RandomOrderAug')
# module -> {name: the module that defines it}, without the leading `mxnet.`
_NAMES = {
    'callback': {'save_checkpoint': 'model'},
    'contrib.quantization': {'Module': 'module'},
    'gluon.block': {'DeferredInitializationError': 'gluon.parameter', 'NDArray': 'ndarray', 'Symbol': 'symbol',
                    'is_np_array': 'util', 'load_json': 'symbol', 'np_array': 'util', 'np_shape': 'util'},
    'gluon.contrib.data.text': {'check_sha1': 'gluon.utils'},
    'gluon.contrib.estimator.estimator': {'split_and_load': 'gluon.utils'},
    'gluon.contrib.rnn.rnn_cell': {'HybridRecurrentCell': 'gluon.rnn', 'SequentialRNNCell': 'gluon.rnn'},
    'gluon.data.dataloader': {**_SWITCHES, 'set_np': 'util'},
    'gluon.data.vision.datasets': {'check_sha1': 'gluon.utils'},
    'gluon.data.vision.transforms': {'HybridSequential': 'gluon.nn'},
    'gluon.model_zoo.vision.alexnet': _NETWORK,
    'gluon.model_zoo.vision.densenet': {**_NETWORK, 'HybridConcurrent': 'gluon.contrib.nn'},
    'gluon.model_zoo.vision.inception': _NETWORK,
    'gluon.model_zoo.vision.mobilenet': _NETWORK,
    'gluon.model_zoo.vision.resnet': {**_NETWORK, 'is_np_array': 'util'},
    'gluon.model_zoo.vision.squeezenet': {**_NETWORK, 'HybridConcurrent': 'gluon.contrib.nn'},
    'gluon.model_zoo.vision.vgg': _NETWORK,
    'gluon.nn.conv_layers': {'is_np_array': 'util'},
    'gluon.parameter': {'shape_is_known': 'gluon.utils'},
    'gluon.rnn.rnn_cell': {'LeakyReLU': 'gluon.nn'},
    'gluon.trainer': {'KVStore': 'kvstore'},
    'image': {'is_np_array': 'util'},
    'image.detection': {**dict.fromkeys(_AUGMENTERS, 'image'), 'is_np_array': 'util'},
    'initializer': {'is_np_array': 'util', 'load': 'ndarray'},
    'io.io': {'CSRNDArray': 'ndarray.sparse', 'NDArray': 'ndarray', 'array': 'ndarray'},
    'kvstore.kvstore_server': {'create': 'kvstore'},
    'model': {'DataParallelExecutorManager': 'executor_manager', 'get_updater': 'optimizer'},
    'module.bucketing_module': {'Uniform': 'initializer'},
    'module.module': {'Uniform': 'initializer'},
    'module.python_module': {'Uniform': 'initializer'},
    'module.sequential_module': {'Uniform': 'initializer'},
    'ndarray.contrib': {'current_context': 'context', 'uniform': 'ndarray.random'},
    'ndarray.ndarray': {'Features': 'runtime', 'is_np_array': 'util'},
    'ndarray.random': {'current_context': 'context'},
    'ndarray.sparse': {**_DEVICES, 'NotSupportedForSparseNDArray': 'base'},
    'operator': {'is_np_array': 'util'},
    'optimizer.contrib': {'NDArray': 'ndarray', 'Optimizer': 'optimizer'},
    'optimizer.optimizer': {**dict.fromkeys(('NDArray', 'array', 'maximum', 'multiply'), 'ndarray'),
                            **dict.fromkeys(('multi_lamb_update', 'multi_mp_lamb_update'), 'ndarray.contrib'),
                            'is_np_array': 'util', 'normal': 'random'},
    'random': {'Context': 'context'},
    'rnn': {**dict.fromkeys(('DataBatch', 'DataDesc', 'DataIter'), 'io'),
            **dict.fromkeys(('load_checkpoint', 'save_checkpoint'), 'model')},
    'symbol.contrib': {'AttrScope': 'attribute', 'uniform': 'symbol.random'},
    'symbol.symbol': {**_DEVICES, 'Executor': 'executor', 'NDArray': 'ndarray', 'is_np_shape': 'util'},
    'visualization': {'Symbol': 'symbol'},
}


def found(module: str, name: str) -> object:
    """What `module.name` was by an import in 1.9.1; AttributeError if there was none."""
    package, _, rest = module.partition('.')
    home = _NAMES.get(rest, {}).get(name)
    if home is None:
        raise AttributeError(name)
    return getattr(importlib.import_module(f'{package}.{home}'), name)


def names() -> list[tuple[str, str, str]]:
    """All of them, as (module, name, the module that defines it)."""
    return [(f'mxnet.{module}', name, f'mxnet.{home}') for module, found in _NAMES.items()
            for name, home in found.items()]
