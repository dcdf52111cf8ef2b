"""`remx run`: other packages of that time, and what programs of 2015 and 2016 did with NumPy and imports."""
import os
import subprocess
import sys
import textwrap

import pytest
from conftest import ROOT

import mxnet as mx


def run(folder, files, *options):
    """Runs `main.py` of the files by `remx run`; returns (stdout, stderr)."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(textwrap.dedent(content), encoding='utf-8')
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'run', *options, 'main.py'], cwd=folder,
                          capture_output=True, text=True, timeout=200, env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_floats_are_indices_of_arrays_in_python_2(tmp_path):
    out, report = run(tmp_path, {'main.py': '''
        import numpy as np
        table = np.arange(12.).reshape(3, 4)
        labels = np.array([1, 2, 3], 'float32')
        print table[0, labels[0]], table[labels[1]].tolist(), table[:labels[1], 0].tolist()
        print table[[0, 1], labels[:2]].tolist(), table[1.9][0]
        table[labels[0], labels[0]] = 7
        table[:5 / 2.] = 7
        table[1, labels[0]] += 1
        table[labels[0], :1] *= 2
        print table[1, 1], 'abc'[len('a')], [1, 2, 3][len('a'):], {1.0: 2}[1.0]
        try:
            [1, 2][labels[0]]
        except TypeError:
            print 'lists refuse them'
        i = 9
        try:
            table[i]
        except IndexError as error:
            print error
        '''})
    assert out.splitlines() == ['1.0 [8.0, 9.0, 10.0, 11.0] [0.0, 4.0]', '[1.0, 6.0] 4.0', '8.0 b [2, 3] 2',
                                'lists refuse them', 'index 9 is out of bounds for axis 0 with size 3']
    assert 'floats are indices of arrays' in report


def test_modules_of_a_package_without_a_dot(tmp_path):
    """Nothing else in these modules shows that they are Python 2; a NUL ended a line."""
    out, report = run(tmp_path, {
        'main.py': 'from package import first\nprint(first.second.value, first.value, first.name)\n',
        'package/__init__.py': '',
        'package/first.py': 'import second\nfrom second import value\nfrom inner.third import name\n',
        'package/second.py': b'value = 3\0\nother = 4\n',
        'package/inner/__init__.py': '', 'package/inner/third.py': 'name = __name__\n'})
    assert out == '3 3 package.inner.third\n'
    assert 'without a dot' in report


def test_new_with_the_arguments_of_init(tmp_path):
    out, _ = run(tmp_path, {'main.py': '''
        class Single(object):
            found = None
            def __new__(cls, *args, **kwargs):
                if cls.found is None:
                    cls.found = super(Single, cls).__new__(cls, *args, **kwargs)
                return cls.found
            def __init__(self, name):
                self.name = name
        class Pair(tuple):
            def __new__(cls, a, b):
                return super(Pair, cls).__new__(cls, (a, b))
        class Plain:                # of the old kind: its __new__ is not called
            def __init__(self, name):
                self.name = name
            def __new__(cls, *args):
                raise TypeError
        print Single('a') is Single('b'), Single('c').name, Pair(1, 2), Plain('d').name
        '''})
    assert out == 'True c (1, 2) d\n'


def test_names_of_earlier_versions_of_mxnet(tmp_path):
    """Also `from __future__` below other imports, and methods of Python 2 that nothing but an index shows."""
    out, report = run(tmp_path, {'main.py': '''
        """A text"""
        from __future__ import absolute_import
        from __future__ import division
        import mxnet as mx
        from __future__ import print_function
        from mxnet.optimizer import Optimizer, sgd_update
        import second
        print(1 / 2, sgd_update is mx.nd.sgd_update, mx.gluon.autograd is mx.autograd, hasattr(mx.gluon, 'nonsense'))
        print(mx.symbol.MultiBoxPrior.__name__, mx._symbol_internal is mx.sym._internal)
        print(mx.nd.arange(10).reshape((2, 3)).asnumpy().tolist())
        ''', 'second.py': '''
            from mxnet.gluon import autograd, nn
            print({'a': 1}.values()[0], map(int, '12')[1])
            '''})
    assert out.splitlines() == ['1 2', '0.5 True True False', 'MultiBoxPrior True',
                                '[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]']
    assert 'mxnet.gluon.autograd, a name of earlier versions' in report and 'fewer elements' in report


def test_tables_of_pandas(tmp_path):
    pytest.importorskip('pandas')
    pytest.importorskip('matplotlib')
    out, report = run(tmp_path, {'data.csv': 'a,b,c\n1,x,3\n2,y,4\n,x,5\n', 'main.py': '''
        import pandas as pd
        table = pd.read_csv('data.csv')
        print(list(table.dtypes[table.dtypes != 'object'].index), table.as_matrix(['a', 'c'])[0].tolist())
        print(table.ix[0, 'a'], table.ix[:, 1].tolist(), table.ix[0:1, ['a']].shape)
        print(table.ix[table.c > 3, 'c'].tolist())
        print(list(table.drop('a', 1)), pd.concat([table, table], 1).shape, table.append(table).shape)
        print(table.append({'a': 1, 'b': 'z', 'c': 9}, ignore_index=True)['c'].tolist())
        dummies = pd.get_dummies(table, dummy_na=True)
        print(dummies.values.dtype, dummies.values[0].tolist())
        column = table['c'].values
        column[0] = 100
        table['c'][1] = 77
        table['a'][table['c'] > 70] = 5
        print(table['c'].tolist()[1:], table.fillna(method='ffill')['a'].tolist(), table.fillna(0)['a'].tolist())
        import matplotlib.pyplot as plt
        print(plt.hist([1, 2, 2], bins=2, normed=True)[0].sum(), plt.grid(b=True))
        print(len(plt.stem([1], [2], use_line_collection=True)))
        numbers = [3, 1]
        numbers.append(2)
        numbers.sort()
        print(numbers, list({1: 2}.values()), [name for name, values in table.iteritems()])
        '''})
    assert out.splitlines() == [
        "['a', 'c'] [1.0, 3.0]", "1.0 ['x', 'y', 'x'] (2, 1)", '[4, 5]', "['b', 'c'] (3, 6) (6, 3)", '[3, 4, 5, 9]',
        'float64 [1.0, 3.0, 1.0, 0.0, 0.0]', '[77, 5] [1.0, 5.0, 5.0] [1.0, 5.0, 0.0]',
        '2.0 None', '3', "[1, 2, 3] [2] ['a', 'b', 'c']"]
    assert 'the attribute as_matrix of tables' in report and 'as before pandas 3' in report


# as much of gymnasium 1.x as programs see, in which an environment ends after 200 steps
GYMNASIUM = {
    'site-packages/gymnasium/__init__.py': '''
        from . import core, error, spaces, wrappers
        from .core import Env, Wrapper
        class Pole(Env):
            length = 0.5
            def reset(self, seed=None):
                return [0, seed], {}
            def step(self, action):
                return [action], 1.0, False, False, {}
            def render(self):
                return 'picture in ' + self.render_mode
        class Spec:
            max_episode_steps, id = 200, 'Pole'
        def make(name, render_mode=None, disable_env_checker=False):
            if name.endswith('-v0'):
                raise error.DeprecatedEnv(name)
            env = Pole()
            env.spec, env.render_mode = Spec, render_mode
            return wrappers.TimeLimit(env, 200)
        ''',
    'site-packages/gymnasium/error.py': '''
        class UnregisteredEnv(Exception):
            pass
        class VersionNotFound(Exception):
            pass
        class DeprecatedEnv(Exception):
            pass
        ''',
    'site-packages/gymnasium/spaces.py': '''
        class Discrete:
            n = 2
            def seed(self, seed):
                self.seeded = seed
        ''',
    'site-packages/gymnasium/core.py': '''
        from .spaces import Discrete
        class Env:
            action_space, spec = Discrete(), None
            @property
            def unwrapped(self):
                return self
        class Wrapper(Env):
            def __init__(self, env):
                self.env, self.action_space = env, env.action_space
            @property
            def spec(self):
                return self.env.spec
            @property
            def unwrapped(self):
                return self.env.unwrapped
            def reset(self, **kwargs):
                return self.env.reset(**kwargs)
            def render(self):
                return self.env.render()
        ''',
    'site-packages/gymnasium/wrappers.py': '''
        from .core import Wrapper
        class TimeLimit(Wrapper):
            def __init__(self, env, steps):
                super().__init__(env)
                self._max_episode_steps, self.count = steps, 0
            def reset(self, **kwargs):
                self.count = 0
                return super().reset(**kwargs)
            def step(self, action):
                self.count += 1
                found = self.env.step(action)
                return (*found[:3], self.count >= self._max_episode_steps, found[4])
        ''',
}


def test_gym_of_2016(tmp_path):
    out, report = run(tmp_path, {**GYMNASIUM, 'main.py': '''
        import sys, os
        sys.path.append(os.path.abspath('site-packages'))
        import gym, gym.spaces
        from gym import wrappers
        from gym.spaces import Discrete
        from gym.core import ObservationWrapper
        from gym.wrappers import Monitor

        env = gym.make('CartPole-v0')
        env.monitor.start('recordings', force=True)
        env = env.unwrapped
        env.seed(5)
        env.length = 0.7
        print(env.reset(), env.reset(), env.length, len(env.step(1)), env.render(mode='rgb_array'), env.render())
        env = wrappers.Monitor(gym.make('CartPole-v0'), 'recordings', force=True)
        print(env.spec.timestep_limit, env.spec.tags, env.spec.id, isinstance(env.action_space, Discrete))
        env._max_episode_steps = 3
        env.reset()
        print([env.step(0)[2:] for _ in range(3)])

        class Doubled(ObservationWrapper):
            def observation(self, observation):
                return observation * 2

        class Rewarded(gym.RewardWrapper):
            def _reward(self, reward):
                return reward * 3

        class Old(gym.Wrapper):
            def __init__(self, env, number):
                super(Old, self).__init__(env)
                self.number = number
            def _reset(self):
                return ['start', self.env.reset()]
            def _step(self, action):
                return self.env.step(action + self.number)

        env = Old(Rewarded(Doubled(gym.make('CartPole-v0'))), 4)
        env.seed(2)
        print(env.reset(), env.step(1))
        env.monitor.close()
        gym.upload('recordings', api_key='key')
        '''})
    assert out.splitlines() == [
        "[0, 5] [0, None] 0.7 4 picture in rgb_array True",
        "200 {'wrapper_config.TimeLimit.max_episode_steps': 200} Pole True",
        "[(False, {}), (False, {}), (True, {'TimeLimit.truncated': True})]",
        "['start', [0, 2, 0, 2]] ([5, 5], 3.0, False, {})"]
    assert 'recording by gym does nothing' in report and 'not shown on a screen' in report


def test_modules_in_the_folders_above_the_program(tmp_path):
    '''Editors put the top folder of a project on the path; git and README mark it, and nothing above it is read.'''
    files = {
        'far.py': 'value = 0', 'project/README.md': 'a project', 'project/common.py': 'value = 1',
        'project/parts/near.py': 'value = 2', 'project/learning/deep/beside.py': 'value = 3',
        'main.py': '''
            import os, runpy, subprocess, sys
            for name in ('main', 'lost'):
                done = subprocess.run(f'{sys.executable} {name}.py', shell=True, cwd='project/learning/deep', text=True,
                                      capture_output=True)
                print(done.stdout, done.stderr.splitlines()[-1:] if done.returncode else '')
            ''',
        'project/learning/deep/main.py': '''
            import beside, common
            from parts import near
            print(beside.value, common.value, near.value)
            ''',
        'project/learning/deep/lost.py': 'import far'}
    out, report = run(tmp_path, files)
    assert out.split('\n')[0].strip() == '3 1 2'
    assert "No module named 'far'" in out


def test_functions_for_numba_and_gym(tmp_path):
    """Small packages of these names stand for gymnasium and GluonCV 0.10, as far as programs see them."""
    out, report = run(tmp_path, {
        **GYMNASIUM,
        'site-packages/gluoncv/__init__.py': '''
            from .check import _require_pytorch_version
            try:
                _require_pytorch_version('1.4.0', '2.0.0')
                torch = True
            except ImportError:
                torch = False
            ''',
        'site-packages/gluoncv/check.py': '''
            def _require_pytorch_version(first, last):
                raise RuntimeError('Legacy torch detected')
            ''',
        'main.py': '''
            import sys, os
            sys.path.append(os.path.abspath('site-packages'))
            import numpy as np
            import mxnet as mx
            import numba
            from numba import jit
            import gym, gluoncv

            @numba.jit
            def total(x):
                a = x.asnumpy()
                for i in range(3):
                    a[i] = i
                return float(a.sum())

            @jit('float64(float64[:])', nopython=True)
            def fast(a):
                a[0] = 7
                return a[0]

            print(total(mx.nd.zeros((3,))), fast(np.zeros(2)))
            env = gym.make('CartPole-v0')
            env.seed(5)
            print(env.reset(), env.reset(), env.step(1), env.action_space.n)
            print(gluoncv.torch)
            '''})
    assert out.splitlines() == ['3.0 7.0', '[0, 5] [0, None] ([1], 1.0, False, {}) 2', 'False']
    assert 'GluonCV runs without' in report and 'gym' in report


def test_what_numba_does_not_compile_is_rewritten(tmp_path):
    out, report = run(tmp_path, {'main.py': '''
        import numpy as np
        import numba

        class Rows:
            def __init__(self, values):
                self.values = values

        @numba.jit
        def picked(rows, labels):
            """What numba cannot compile."""
            print picked.__name__, picked.__doc__
            return [float(rows.values[i, labels[i]]) for i in xrange(2)]

        print picked(Rows(np.arange(6.).reshape(2, 3)), np.array([2., 1.]))
        '''})
    assert out.splitlines() == ['picked What numba cannot compile.', '[2.0, 4.0]']
    assert 'floats are indices' in report


def test_a_metric_with_lists_and_texts_about_operators():
    import mxnet as mx
    from mxnet.symbol_doc import SymbolDoc

    class PerTask(mx.metric.EvalMetric):        # of MXNet 1.3 and before
        def __init__(self, count):
            self.count = count
            super().__init__('per-task')

        def reset(self):
            self.num_inst, self.sum_metric = [0] * self.count, [0.0] * self.count

    metric = PerTask(2)
    metric.sum_metric[1] += 2
    metric.reset_local()                        # what Speedometer calls
    assert metric.num_inst == [0, 0] and metric.sum_metric == [0.0, 0.0]
    net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=3, name='fc')
    assert mx.random.normal(0, 1, (2, 3), mx.cpu()).shape == (2, 3)     # as before 0.12
    assert net.simple_bind(mx.cpu(), data=(2, 5), is_train=False).arg_dict['data'].shape == (2, 5)
    assert SymbolDoc.get_output_shape(net, data=(2, 5)) == {'fc_output': (2, 3)}


def test_cython_sources_of_detection_programs(tmp_path):
    """Copies of a few sources are in most programs of the R-CNN family; nobody has built them here."""
    out, report = run(tmp_path, {
        'main.py': '''
            import numpy as np
            from parts.beside import kept, kept_too
            print(kept, kept_too)
            from parts.bbox import bbox_overlaps_cython
            from parts.cpu_nms import cpu_nms
            from parts.gpu_nms import gpu_nms
            from parts.anchors import anchors_cython
            boxes = np.array([[0, 0, 9, 9], [0, 0, 9, 4], [20, 20, 29, 29]], dtype=float)
            print(bbox_overlaps_cython(boxes, boxes[:2]).tolist())
            scored = np.hstack([boxes, [[0.5], [0.9], [0.1]]]).astype('float32')
            print(cpu_nms(scored, 0.5), gpu_nms(scored, 0.5), gpu_nms(scored, 0.4))
            print(anchors_cython(2, 3, 16, np.array([[-1, -1, 2, 2]], 'float32'))[1, 2].tolist())
            try:
                from parts.other import function
            except ImportError as error:
                print(error)
            from parts.nms import soft_nms
            for method in (0, 1, 2):
                soft = scored.copy()
                print(soft_nms(soft, method=method), [round(float(score), 4) for score in soft[:, 4]])
            try:
                from parts.nms import soft_nms_merge
            except ImportError as error:
                print('soft_nms_merge' in str(error))
            ''',
        'parts/__init__.py': '',
        'parts/beside.py': '''
            import numpy as np
            import gpu_nms                          # of the same package, as Python 2 found it
            from cpu_nms import cpu_nms
            boxes = np.array([[0, 0, 9, 9, 0.9], [0, 0, 9, 4, 0.5]], dtype='float32')
            kept, kept_too = cpu_nms(boxes, 0.5), gpu_nms.gpu_nms(boxes, 0.5)
            ''',
        **{f'parts/{name}.pyx': f'def {function}(x):\n    pass\n' for name, function in (
            ('bbox', 'bbox_overlaps_cython'), ('cpu_nms', 'cpu_nms'), ('gpu_nms', 'gpu_nms'),
            ('anchors', 'anchors_cython'), ('nms', 'soft_nms'), ('other', 'function'))}})
    assert out.splitlines() == ['[0] [0, 1]', '[[1.0, 0.5], [0.5, 1.0], [0.0, 0.0]]', '[1, 2] [1, 0, 2] [1, 2]',
                                '[[31.0, 15.0, 34.0, 18.0]]', "No module named 'parts.other'",
                                '[0, 1] [0.9, 0.1, 0.1]', '[0, 1, 2] [0.9, 0.25, 0.1]',
                                '[0, 1, 2] [0.9, 0.3033, 0.1]', 'True']
    assert 'functions of bbox.pyx, which is not compiled, in NumPy' in report


def test_readers_of_scipy_look_in_data(tmp_path):
    io = pytest.importorskip('scipy.io')
    import numpy as np

    (tmp_path / 'mine' / 'deep').mkdir(parents=True)
    io.savemat(tmp_path / 'mine' / 'deep' / 'words.mat', {'x': np.ones(3)})
    io.wavfile.write(tmp_path / 'mine' / 'tone.wav', 8000, np.zeros(10, 'int16'))
    out, _ = run(tmp_path, {'main.py': '''
        import scipy.io
        import scipy.io as sio
        import scipy.io.wavfile as wav
        from scipy.io import loadmat, wavfile
        print([f('/home/somebody/words.mat')['x'].shape for f in (scipy.io.loadmat, sio.loadmat, loadmat)])
        print([f('tones/tone.wav')[0] for f in (scipy.io.wavfile.read, wav.read, wavfile.read)])
        try:
            loadmat('other.mat')
        except FileNotFoundError:
            print('not there')
        '''}, '--data', 'mine')
    assert out == '[(1, 3), (1, 3), (1, 3)]\n[8000, 8000, 8000]\nnot there\n'


def test_the_atari_emulator_of_2016(tmp_path):
    pytest.importorskip('fissix')
    out, report = run(tmp_path, {
        'main.py': '''
            import numpy as np
            from ale_python_interface import ALEInterface
            ale = ALEInterface()
            ale.setInt(b'random_seed', 3)
            ale.loadROM(str.encode('roms/SpaceInvaders.bin'))
            actions = ale.getMinimalActionSet()
            print actions.dtype, actions, ale.getScreenDims(), ale.getInt('random_seed'), ale.act(actions[1]), ale.path
            ''',
        # the interface of the package of today, which is not among those of the tests
        'ale_py/__init__.py': '''
            import enum
            class Action(enum.Enum):
                NOOP, LEFT = 0, 4
            class ALEInterface:
                settings = {}
                def _set(self, name, value):
                    assert isinstance(name, str)
                    self.settings[name] = value
                def _get(self, name):
                    return self.settings[name]
                setInt = setBool = setFloat = setString = _set
                getInt = getBool = getFloat = getString = _get
                def loadROM(self, path):
                    self.path = path
                def getMinimalActionSet(self):
                    return list(Action)
                getLegalActionSet = getMinimalActionSet
                def getScreenDims(self):
                    return 210, 160
                def act(self, action):
                    assert type(action) is int
                    return action
            ''',
        'ale_py/roms.py': '''
            def get_all_rom_ids():
                return ['breakout', 'space_invaders']
            def get_rom_path(name):
                return 'roms of ale_py/' + name
            '''})
    assert out == 'int32 [0 4] (160, 210) 3 4 roms of ale_py/space_invaders\n'
    assert 'ale_py today' in report


def test_find_mxnet_of_a_package_that_lacks_it_and_parts_of_gluoncv(tmp_path):
    site = 'site-packages/gluoncv'
    out, report = run(tmp_path, {
        'main.py': '''
            import sys
            sys.path.insert(0, 'site-packages')
            from common import find_mxnet, fit
            from gluoncv.model_zoo.faster_rcnn.faster_rcnn import FasterRCNN
            from gluoncv.model_zoo.rpn import RPN
            print(find_mxnet.mxnet.__name__, fit.value, FasterRCNN, RPN)
            ''',
        'README.md': '', 'common/fit.py': 'value = 1\n',
        f'{site}/__init__.py': '', f'{site}/model_zoo/__init__.py': '', f'{site}/model_zoo/rcnn/__init__.py': '',
        f'{site}/model_zoo/rcnn/faster_rcnn/__init__.py': '',
        f'{site}/model_zoo/rcnn/faster_rcnn/faster_rcnn.py': 'FasterRCNN = 2\n',
        f'{site}/model_zoo/rcnn/rpn/__init__.py': 'RPN = 3\n'})
    assert out == 'mxnet 1 2 3\n'
    assert 'gluoncv.model_zoo.rcnn.faster_rcnn today' in report


def test_the_package_of_the_book(tmp_path):
    """`d2l` is installed, and of the time of the book's notebooks."""
    pytest.importorskip('IPython')
    out, report = run(tmp_path, {
        'main.py': "import sys\nsys.path.insert(0, 'site-packages')\nimport d2l\nd2l.use_svg()\nprint(d2l.number)\n",
        'site-packages/d2l/__init__.py': '''
            import numpy as np
            from IPython import display
            def use_svg():
                display.set_matplotlib_formats('svg')
            number = np.float(3)
            '''})
    assert out == '3.0\n' and 'numpy.float' in report


def test_parts_that_squeeze_axis_cannot_drop(tmp_path):
    """Programs for the recognition of texts split rows into columns of several pixels so, with MXNet before 0.9.5."""
    out, report = run(tmp_path, {'main.py': '''
        import mxnet as mx
        data = mx.sym.Variable('data')
        parts = mx.sym.SliceChannel(data=data, num_outputs=3, squeeze_axis=1)
        net = mx.sym.FullyConnected(mx.sym.Concat(*[parts[i] for i in range(3)], dim=0), num_hidden=2, name='fc')
        print(net.infer_shape(data=(4, 6)))
        executor = net.simple_bind(mx.cpu(), data=(4, 6))
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones((12, 2)))
        print([part.shape for part in mx.nd.SliceChannel(mx.nd.ones((4, 6)), num_outputs=3, squeeze_axis=True)])
        print(mx.nd.SliceChannel(mx.nd.ones((4, 3)), num_outputs=3, squeeze_axis=True)[0].shape)
        '''})
    assert out.splitlines() == ['([(4, 6), (2, 2), (2,)], [(12, 2)], [])', '[(4, 2), (4, 2), (4, 2)]', '(4,)']
    assert 'SliceChannel with squeeze_axis keeps an axis' in report
    with pytest.raises(mx.base.MXNetError, match='squeeze_axis needs parts of length 1'):
        mx.nd.SliceChannel(mx.nd.ones((4, 6)), num_outputs=3, squeeze_axis=True)
