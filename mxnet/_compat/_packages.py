"""Other packages of that time, for a program's modules: names that are gone, and packages that no longer install."""

import functools
import importlib
import importlib.util
import os
import sys
import types

from . import _ale, _gym, _numba, _pandas
from ._pictures import _cv2, _pil_image, _scipy_misc, has_display
from ._report import report
from ._standin import Standin, extended, named


def _name(module, name, make):
    return named(f'{module}-{name}', f'{module}.{name}, which is gone', make)


def _names(module, **makers):
    return {name: _name(module, name, make) for name, make in makers.items()}


def _package(text, make_names):
    """An entry of a table: a package that is not installed, made of the names that a function gives."""

    def make(name):
        report.note(f'package-{name}', f'the package {name}: {text}')
        module = types.ModuleType(name)
        module.__path__ = []  # so that it can have parts
        module.__dict__.update(make_names())
        return module

    return make


# ---------------------------------------------------------------------- pictures


def _or_none(make):
    def found(name):
        try:
            return make(name)
        except ImportError:
            return None

    return found


# ---------------------------------------------------------------------- plots
_figures = [0]


def _show(*args, **kwargs):
    """`pyplot.show` without a display: figures are saved in the working folder, and named."""
    import matplotlib.pyplot as plt

    stem = os.path.splitext(os.path.basename(report.program or 'program'))[0] or 'program'
    for number in plt.get_fignums():
        _figures[0] += 1
        path = f'{stem}-figure-{_figures[0]}.png'
        plt.figure(number).savefig(path)
        report.say(f'there is no display; the figure is saved as {path}')
        report.note('matplotlib-show', 'matplotlib.pyplot.show without a display: figures are saved as files')
    plt.close('all')


def _renamed_option(function, old, today):
    """A function that takes an option under its old name; `today` None: it has no meaning any more."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if old in kwargs:
            value = kwargs.pop(old)
            report.note(f'matplotlib-{old}', f'the option {old} of pyplot.{function.__name__}, which is gone')
            if today is not None:
                kwargs[today] = value
        return function(*args, **kwargs)

    return call


def _pyplot(name):
    import matplotlib

    if not has_display():
        matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    names: dict = {} if has_display() else {'show': lambda: _show}
    renamed = ('hist', 'normed', 'density'), ('grid', 'b', 'visible'), ('stem', 'use_line_collection', None)
    for function, old, today in renamed:
        names[function] = functools.partial(_renamed_option, getattr(plt, function), old, today)
    return Standin(
        name,
        plt,
        {
            **names,
            **_names(
                'matplotlib.pyplot',
                hold=lambda: lambda *args: None,
                spectral=lambda: functools.partial(plt.set_cmap, 'nipy_spectral'),
            ),
        },
    )


def _matplotlib(name):
    import matplotlib

    def use(backend, *args, **kwargs):
        matplotlib.use(backend if has_display() or backend.lower() in ('agg', 'pdf', 'svg', 'ps', 'cairo') else 'Agg')

    return Standin(name, matplotlib, {'use': lambda: use})


# ---------------------------------------------------------------------- scikit-learn, tqdm, yaml, nose
def _merged(*modules):
    def names():
        found = {}
        for module in modules:
            found.update({k: v for k, v in vars(importlib.import_module(module)).items() if not k.startswith('_')})
        return found

    return names


def _yaml(name):
    import yaml

    def load(stream, Loader=None):
        return yaml.load(stream, Loader or yaml.FullLoader)

    return Standin(name, yaml, {'load': lambda: load})


def _fetch_mldata(name, target_name='label', data_name='data', transpose_data=True, data_home=None):
    from . import _downloads

    if 'mnist' not in name.lower():
        raise OSError(f'the server of mldata.org is gone, and {name!r} is not known here')
    return _downloads.mldata_mnist()


class _EasyDict(dict):
    """A dictionary whose entries are attributes, too."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __setitem__(self, key, value):
        if isinstance(value, dict) and not isinstance(value, _EasyDict):
            value = _EasyDict(value)
        elif isinstance(value, (list, tuple)):
            value = type(value)(_EasyDict(v) if isinstance(v, dict) else v for v in value)
        super().__setitem__(key, value)

    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None

    __setattr__ = __setitem__

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value


_EasyDict.__name__ = _EasyDict.__qualname__ = 'EasyDict'


def _raises(*kinds):
    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            try:
                function(*args, **kwargs)
            except kinds:
                return
            raise AssertionError(f'{function.__name__}() did not raise {", ".join(k.__name__ for k in kinds)}')

        return call

    return decorate


def _attr(*names, **values):
    def decorate(function):
        for key in names:
            setattr(function, key, True)
        for key, value in values.items():
            setattr(function, key, value)
        return function

    return decorate


def _with_setup(setup=None, teardown=None):
    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if setup is not None:
                setup()
            try:
                return function(*args, **kwargs)
            finally:
                if teardown is not None:
                    teardown()

        return call

    return decorate


def _runmodule(name='__main__', **kwargs):
    """Runs the functions of a module whose names begin with `test`, and its TestCases."""
    import traceback
    import unittest

    module, bad, count = sys.modules[name], 0, 0
    for key, value in sorted(vars(module).items()):
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            found = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(value))
            bad += len(found.failures) + len(found.errors)
            count += found.testsRun
        elif key.startswith('test') and callable(value):
            count += 1
            try:
                value()
            except Exception:  # a test may fail in any way; the others run
                traceback.print_exc()
                bad += 1
    print(f'Ran {count} tests, {bad} failed', file=sys.stderr)
    if kwargs.get('exit', True):
        raise SystemExit(bool(bad))


def _nose_tools():
    import unittest

    case = unittest.TestCase()
    names = {
        'raises': _raises,
        'nottest': _attr(__test__=False),
        'istest': _attr(__test__=True),
        'with_setup': _with_setup,
        'timed': lambda limit: lambda function: function,
        'make_decorator': functools.wraps,
        'ok_': case.assertTrue,
        'eq_': case.assertEqual,
        'set_trace': lambda: __import__('pdb').set_trace(),
    }
    import re

    for key in dir(case):
        if key.startswith('assert'):
            names[re.sub(r'([A-Z])', lambda m: '_' + m[1].lower(), key)] = getattr(case, key)
    return names


def _nose():
    tools = types.ModuleType('nose.tools')
    tools.__dict__.update(_nose_tools())
    return {
        'tools': tools,
        'runmodule': _runmodule,
        'main': _runmodule,
        'run': _runmodule,
        'SkipTest': importlib.import_module('unittest').SkipTest,
        'with_setup': _with_setup,
    }


def _writer():
    return {'SummaryWriter': importlib.import_module('mxnet.contrib.tensorboard').SummaryWriter}


def _horovod():
    return {'mxnet': importlib.import_module('mxnet.contrib.horovod')}


def _tensorboard(name):
    """The package `tensorboard` of 2017 had a SummaryWriter."""
    import tensorboard

    return Standin(
        name, tensorboard, {'SummaryWriter': _name('tensorboard', 'SummaryWriter', lambda: _writer()['SummaryWriter'])}
    )


def _of_display(name):
    return getattr(importlib.import_module('IPython.display'), name)


MODULES = {
    'PIL.Image': _or_none(_pil_image),
    'PIL': _or_none(lambda name: Standin(name, importlib.import_module('PIL'), {'Image': lambda: _part('PIL.Image')})),
    'scipy': _or_none(
        lambda name: Standin(name, importlib.import_module('scipy'), {'misc': lambda: _part('scipy.misc')})
    ),
    'scipy.misc': _or_none(_scipy_misc),
    'cv2': _or_none(_cv2),
    'matplotlib': _or_none(_matplotlib),
    'matplotlib.pyplot': _or_none(_pyplot),
    'pylab': _or_none(
        lambda name: Standin(
            name, importlib.import_module('matplotlib.pylab'), {} if has_display() else {'show': lambda: _show}
        )
    ),
    'sklearn': extended(
        None,
        **_names(
            'sklearn',
            cross_validation=lambda: _gone('sklearn.cross_validation'),
            grid_search=lambda: _gone('sklearn.grid_search'),
        ),
    ),
    'sklearn.externals': extended(
        None, **_names('sklearn.externals', joblib=lambda: importlib.import_module('joblib'))
    ),
    'sklearn.datasets': extended(None, **_names('sklearn.datasets', fetch_mldata=lambda: _fetch_mldata)),
    'sklearn.preprocessing': extended(
        None, **_names('sklearn.preprocessing', Imputer=lambda: importlib.import_module('sklearn.impute').SimpleImputer)
    ),
    'tqdm': extended(None, **_names('tqdm', tqdm_notebook=lambda: _text_bar())),
    'tqdm.notebook': _or_none(lambda name: Standin(name, importlib.import_module('tqdm'), {})),
    'yaml': _or_none(_yaml),
    'IPython.display': extended(
        None,
        **_names(
            'IPython.display',
            set_matplotlib_formats=lambda: _inline('set_matplotlib_formats'),
            set_matplotlib_close=lambda: _inline('set_matplotlib_close'),
        ),
    ),
    'IPython.core.display': extended(
        None,
        **{name: _name('IPython.core.display', name, functools.partial(_of_display, name))
           for name in ('display', 'clear_output', 'display_html', 'display_png', 'publish_display_data')},
    ),
    'tensorboard': _or_none(_tensorboard),
    'numba': _numba.standin,
    'pandas': _pandas.standin,
    'gym': _gym.standin,
    'skimage.draw': extended(None, **_names('skimage.draw', circle=lambda: _circle)),
}


def _inline(name):
    return getattr(importlib.import_module('matplotlib_inline.backend_inline'), name)


def _get_data():
    """The module of upstream's tests that programs of 2015 to 2017 import for MNIST and CIFAR."""
    from ..test_utils import get_cifar10, get_mnist_pkl, get_mnist_ubyte

    return {'GetMNIST_pkl': get_mnist_pkl, 'GetMNIST_ubyte': get_mnist_ubyte, 'GetCifar10': get_cifar10}


def _requests(name):
    from . import _downloads

    return Standin(name, importlib.import_module('requests'), {'get': lambda: _downloads.requests_get})


def _six(name):
    return Standin(name, importlib.import_module('six'), {'moves': lambda: _part('six.moves')})


def _six_moves(name):
    names = {'urllib': lambda: _part('urllib'), 'cPickle': lambda: _part('pickle')}
    return Standin(name, importlib.import_module('six.moves'), names)


def _readers(*names):
    """An entry of a table: a module whose functions of these names look for a missing file in `--data`."""

    def make(name):
        real = importlib.import_module(name)
        return Standin(name, real, {key: functools.partial(_reader, real, key) for key in names if hasattr(real, key)})

    return _or_none(make)


def _reader(real, key):
    from ._downloads import reads

    return reads(getattr(real, key))


MODULES.update(
    {
        'scipy.io': _readers('loadmat', 'mmread', 'whosmat'),
        'scipy.io.wavfile': _readers('read'),
        'skimage.io': _readers('imread'),
        'imageio': _readers('imread', 'mimread', 'get_reader'),
        'librosa': _readers('load'),
        'soundfile': _readers('read', 'SoundFile'),
        'seaborn': _or_none(lambda name: _seaborn(name)),
        'requests': _or_none(_requests),
        'six': _or_none(_six),
        'six.moves': _or_none(_six_moves),
        'six.moves.urllib': lambda name: _part('urllib'),
        'six.moves.urllib.request': lambda name: _part('urllib.request'),
    }
)


def _circle(r, c, radius, shape=None):
    return importlib.import_module('skimage.draw').disk((r, c), radius, shape=shape)


def _text_bar():
    return importlib.import_module('tqdm').tqdm


def _part(name):
    from ._importing import standin

    return standin(name)


def _gone(name):
    from . import _importing

    return _importing._gone(name)


def _plot_of_columns(function):
    """A function of seaborn whose first arguments were x, y, hue and data, and are keywords today."""

    @functools.wraps(function)
    def plot(*args, **kwargs):
        if args and not hasattr(args[0], 'columns'):
            report.note('seaborn-positional', 'arguments of seaborn by position: x, y, hue, data')
            kwargs, args = {**dict(zip(('x', 'y', 'hue', 'data'), args)), **kwargs}, ()
        return function(*args, **kwargs)

    return plot


def _seaborn(name):
    seaborn = importlib.import_module('seaborn')
    plots = 'barplot boxplot countplot lineplot pointplot scatterplot stripplot swarmplot violinplot'.split()
    return Standin(name, seaborn, {p: functools.partial(_plot_of_columns, getattr(seaborn, p)) for p in plots})


def _without_torch(names):
    """GluonCV 0.9 and later have networks for PyTorch as well, and refuse its versions from 2.0, which remx needs."""

    def refused(*args, **kwargs):
        report.note('gluoncv-torch', 'GluonCV runs without its networks for PyTorch, which need a version before 2.0')
        raise ImportError('the networks of GluonCV for PyTorch need a version before 2.0')

    names['_require_pytorch_version'] = refused


# what is changed in modules of old packages after they are loaded
AFTER = {'gluoncv.check': _without_torch}

def _old_splits():
    """`sklearn.cross_validation`: its splits were made of the number of rows or of the labels, and iterated over."""
    found = _merged('sklearn.model_selection')()
    selection = importlib.import_module('sklearn.model_selection')

    def made(today, by_labels, old_count):
        class Splits:
            def __init__(self, rows, count=None, **options):
                options = {('n_splits' if k == old_count else k): v for k, v in options.items() if k != 'indices'}
                if count is not None:
                    options['n_splits'] = count
                if by_labels:
                    self.labels, self.rows = rows, len(rows)
                else:
                    self.labels, self.rows = None, rows
                self.kind = today(**options)

            def __iter__(self):
                numpy = importlib.import_module('numpy')
                return self.kind.split(numpy.zeros((self.rows, 1)), self.labels)

            def __len__(self):
                return self.kind.get_n_splits()

        return Splits

    for name, by_labels, old in (
        ('KFold', False, 'n_folds'),
        ('StratifiedKFold', True, 'n_folds'),
        ('ShuffleSplit', False, 'n_iter'),
        ('StratifiedShuffleSplit', True, 'n_iter'),
    ):
        found[name] = made(getattr(selection, name), by_labels, old)
    return found


def _dicom():
    pydicom = importlib.import_module('pydicom')
    return {**{k: v for k, v in vars(pydicom).items() if not k.startswith('_')}, 'read_file': pydicom.dcmread}


# packages that are not installed, or no longer have such a part
def _part_of(today, name):
    """A part of a package under its name of today."""
    found = importlib.import_module(today)
    report.note(f'module-{name}', f'the module {name}, {today} today')
    return found


GONE = {
    'mxboard': _package('SummaryWriter is that of mxnet.contrib.tensorboard', _writer),
    'horovod': _package('horovod.mxnet is mxnet.contrib.horovod', _horovod),
    'horovod.mxnet': lambda name: _horovod()['mxnet'],
    'tensorboardX': _package('SummaryWriter is that of mxnet.contrib.tensorboard', _writer),
    'tensorboard': _package('SummaryWriter is that of mxnet.contrib.tensorboard', _writer),
    'sklearn.cross_validation': _package('sklearn.model_selection today', _old_splits),
    'dicom': lambda name: _package('pydicom today', _dicom)(name) if importlib.util.find_spec('pydicom') else None,
    'ale_python_interface': lambda name: (
        _package('ale_py today', _ale.names)(name) if importlib.util.find_spec('ale_py') else None
    ),
    'sklearn.grid_search': _package('sklearn.model_selection today', _merged('sklearn.model_selection')),
    'sklearn.externals': _package(
        'joblib is a package of its own', lambda: {'joblib': importlib.import_module('joblib')}
    ),
    'sklearn.externals.joblib': lambda name: importlib.import_module('joblib'),
    # GluonCV before 0.8
    **{f'gluoncv.model_zoo.{part}': functools.partial(_part_of, f'gluoncv.model_zoo.rcnn.{part}')
       for part in ('faster_rcnn', 'mask_rcnn', 'rpn')},
    'find_mxnet': _package('mxnet itself', lambda: {'mxnet': sys.modules['mxnet']}),
    'mxnet_predict': _package(
        "Predictor of upstream's amalgamation", lambda: importlib.import_module('mxnet._compat._predict').names()
    ),
    'get_data': _package("that of upstream's tests, by mxnet.test_utils", _get_data),
    # the name of the package d2lzh in 2018
    'gluonbook': lambda name: importlib.import_module('d2lzh') if importlib.util.find_spec('d2lzh') else None,
    'easydict': _package('a dictionary with attributes', lambda: {'EasyDict': _EasyDict}),
    'nose': _package('the parts that test programs use', _nose),
    'nose.tools': lambda name: _nose()['tools'],
    'nose.plugins': _package('its decorator attr', dict),
    'nose.plugins.attrib': _package('its decorator attr', lambda: {'attr': _attr}),
    'nose.plugins.skip': _package('SkipTest', lambda: {'SkipTest': importlib.import_module('unittest').SkipTest}),
    'termcolor': _package(
        'without colours',
        lambda: {'colored': lambda text, *args, **kwargs: text, 'cprint': lambda text, *args, **kwargs: print(text)},
    ),
    'numba': _package('its functions run as Python, without being compiled', _numba.names),
    'gym': _gym.successor,
    'cv': lambda name: _part('cv2').cv,
    'Image': lambda name: _part('PIL.Image'),
    'progressbar': _package('on tqdm', lambda: {'ProgressBar': lambda *args, **kwargs: lambda values: values}),
}
