"""`remx run`: programs of the time of MXNet 1.x, in fresh processes."""
import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from conftest import ROOT


@pytest.fixture
def remx(tmp_path):
    """Runs `remx run` on a program's text: `remx(text, 'arguments', options=['--quiet'])`."""
    def run(text, *arguments, options=(), name='program.py', check=None, files=None, stdin=None, **environment):
        for path, content in {name: text, **(files or {})}.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(content), encoding='utf-8')
        done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'run', *options, name, *arguments], cwd=tmp_path,
                              env={**os.environ, 'PYTHONPATH': str(ROOT), **environment}, input=stdin,
                              capture_output=True, text=True, timeout=200)
        if check is not None:
            assert done.returncode == check, f'status {done.returncode}\n{done.stdout}\n{done.stderr}'
        return done
    return run


# ---------------------------------------------------------------------- as python does
def test_runs_as_python_does(remx, tmp_path):
    text = '''
        import sys, os, helper
        print(sys.argv, __name__, __file__, sys.path[0] == os.path.realpath(os.getcwd()))
        print(sys.modules['__main__'].__dict__ is globals(), helper.__name__)
        sys.exit(3)
        '''
    files = {'helper.py': ''}
    done = remx(text, '--epochs', '1', '-x', files=files, check=3)
    plain = subprocess.run([sys.executable, 'program.py', '--epochs', '1', '-x'], cwd=tmp_path, capture_output=True,
                           text=True)
    assert done.stdout == plain.stdout and plain.returncode == 3
    assert done.stderr == ''                # a program that needs nothing has no report


def test_a_traceback_shows_the_programs_lines(remx, tmp_path):
    text = '''
        import collections, helper
        print(issubclass(dict, collections.Mapping))
        helper.fail(3)
        '''
    files = {'helper.py': 'def fail(x):\n    d = {}\n    d["a"] = x / 2\n    d[0] = [1][x]\n'}
    done = remx(text, files=files, check=1, options=['--quiet'])
    assert done.stdout == 'True\n'
    assert 'helper.fail(3)' in done.stderr and 'd[0] = [1][x]' in done.stderr and 'IndexError' in done.stderr
    assert 'line 4, in fail' in done.stderr and '_compat' not in done.stderr and 'cli' not in done.stderr


def test_exit_texts_and_own_excepthook(remx):
    done = remx('import sys\nsys.exit("no such thing")\n', check=1)
    assert done.stderr == 'no such thing\n'
    done = remx('import sys\nsys.excepthook = lambda *e: print("mine", e[0].__name__)\n1 / 0\n', check=1)
    assert done.stdout == 'mine ZeroDivisionError\n'


def test_modules_standard_input_and_missing_programs(remx, tmp_path):
    files = {'package/__init__.py': '',
             'package/__main__.py': 'import sys\nprint(__package__, sys.argv[1:], __spec__.name)\n'}
    done = remx('', files=files, options=['-m', 'package'], name='unused.py')
    assert done.stdout == "package ['unused.py'] package.__main__\n"
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'run', '-', 'a'], cwd=tmp_path,
                          input='import sys\nprint(sys.argv)\n1/0\n', text=True, capture_output=True,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert done.stdout == "['-', 'a']\n" and '1/0' in done.stderr and done.returncode == 1
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'run', 'nothing.py'], cwd=tmp_path, capture_output=True,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)}, text=True)
    assert done.returncode == 2 and "can't open file 'nothing.py'" in done.stderr and 'Traceback' not in done.stderr


@pytest.mark.skipif(os.name != 'posix', reason='signals')
def test_ctrl_c_ends_the_process_by_the_signal(tmp_path):
    (tmp_path / 'program.py').write_text('import time\nprint("begun", flush=True)\ntime.sleep(60)\n')
    process = subprocess.Popen([sys.executable, '-m', 'mxnet.cli', 'run', 'program.py'], cwd=tmp_path, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert process.stdout.readline() == 'begun\n'
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and 'KeyboardInterrupt' in errors and 'program.py' in errors


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_processes_of_the_program(remx, method):
    text = f'''
        import multiprocessing
        import numpy as np

        def work(x):
            return float(np.array([x * 1.5])), np.float

        if __name__ == '__main__':
            with multiprocessing.get_context({method!r}).Pool(1) as pool:
                print(pool.map(work, [1, 2]))
        '''
    done = remx(text, options=['--quiet'], check=0)
    assert done.stdout == "[(1.5, <class 'float'>), (3.0, <class 'float'>)]\n"


def test_the_debugger_stops_at_the_programs_lines(remx):
    text = 'import numpy as np\nx = float(np.array([2.5]))\nbreakpoint()\nprint("end", x)\n'
    done = remx(text, stdin='p x\nw\nc\n', check=0)
    assert '2.5' in done.stdout and '-> print("end", x)' in done.stdout and 'end 2.5' in done.stdout


def test_libraries_see_todays_numpy(remx, tmp_path):
    files = {'site-packages/installed.py': '''
        import numpy as np
        def old():
            return hasattr(np, 'float')
        def number(array):
            return float(array)
        '''}
    text = '''
        import sys
        sys.path.insert(0, 'site-packages')
        import installed, numpy as np
        print(installed.old(), hasattr(np, 'float'))
        try:
            installed.number(np.ones((1, 1)))
        except TypeError:
            print('refused')
        '''
    assert remx(text, files=files, check=0).stdout == 'False True\nrefused\n'
    assert remx(text, files=files, check=0, options=['--package', 'installed']).stdout == 'True True\n'


# ---------------------------------------------------------------------- NumPy
def test_numpy_of_that_time(remx):
    text = '''
        import math, logging, sys
        import numpy as np
        from numpy import float as f, product
        logging.basicConfig(stream=sys.stdout, format='%(message)s')
        one = np.array([2.25])
        print(float(one), int(np.array([[3]])), complex(one), round(one, 1), math.sqrt(one))
        print('%.1f and %d' % (one, np.array([7])), '%5.2f' % one, '%s' % one)
        logging.warning('%.2f', one)
        a = np.zeros(3); a[0] = one; a[1:2] = one
        print(a, f, product([2, 3]), np.Inf, np.NaN, np.bool, np.object)
        b = np.zeros(2, np.uint8); b[0] = -1
        print(b, np.array([-1, 256], dtype=np.uint8))
        print(np.array([[1], [1, 2]]).dtype, np.fromstring(b'ab', dtype=np.uint8), np.fromstring('1 2', sep=' '))
        print(np.array([1, 2], copy=False), np.vstack(x for x in ([1], [2])).shape, np.in1d([1, 2], [2]))
        print(np.arange(4, dtype=np.uint8).tostring(), np.arange(3).ptp(), [np.float32(0.5)], np.sum(x for x in [1, 2]))
        c = np.arange(3); c.itemset(1, 9); print(c, np.zeros(3.0).shape, np.linspace(0, 1, 3.0), np.asscalar(one))
        np.save('objects.npy', np.array([{'a': 1}], dtype=object))
        print(np.load('objects.npy')[0], np.random.random_integers(1, 1), np.mat([[1, 2]]).shape, np.rank(a))
        import numpy.core.multiarray
        from numpy.linalg import linalg
        print(np.histogram([1, 2], bins=2, normed=True)[0])
        '''
    done = remx(text, check=0)
    assert done.stdout.split('\n') == [
        '2.25 3 (2.25+0j) 2.2 1.5', '2.2 and 7  2.25 [2.25]', '2.25',
        "[2.25 2.25 0.  ] <class 'float'> 6 inf nan <class 'bool'> <class 'object'>", '[255   0] [255   0]',
        'object [97 98] [1. 2.]', '[1 2] (2, 1) [False  True]', "b'\\x00\\x01\\x02\\x03' 2 [0.5] 3",
        '[0 9 2] (3,) [0.  0.5 1. ] 2.25', "{'a': 1} 1 (1, 2) 1", '[1. 1.]', '']
    for part in ('an array with one element is a number', 'numpy.float, which is gone (program.py:4)',
                 'numpy.fromstring of'):
        assert part in done.stderr, done.stderr


def test_a_mistake_stays_a_mistake(remx):
    text = '''
        import numpy as np
        for wrong in (lambda: float(np.ones(2)), lambda: '%d' % 'x', lambda: np.nothing, lambda: {}.iteritem,
                      lambda: float(None), lambda: np.array([[1], [1, 2]], dtype='float32'), lambda: [].has_key(1)):
            try:
                print('no error', wrong())
            except Exception as error:
                print(type(error).__name__)
        a = [1]
        try:
            a[3] = 1
        except IndexError as error:
            print(error)
        '''
    kinds = 'TypeError TypeError AttributeError AttributeError TypeError ValueError AttributeError'
    assert remx(text, check=0).stdout.split() == (kinds + ' list assignment index out of range').split()


# ---------------------------------------------------------------------- Python 2
PYTHON2 = '''\
# -*- coding: utf-8 -*-
import cPickle, urllib2, Queue, ConfigParser
from StringIO import StringIO
from itertools import izip
import string, os
print "hello", 7 / 2, 7.0 / 2, -7 / 2
def f((a, b), c=0777):
\treturn a + b + c
class Meta(type):
    def __new__(cls, name, bases, names):
        names['made'] = True
        return type.__new__(cls, name, bases, names)
class A(object):
    __metaclass__ = Meta
print f((1, 2)), A.made, 5L, `3`, 3 <> 4
try:
    raise ValueError, "bad"
except (ValueError, KeyError), e:
    print e.message
d = {'a': 1}
print d.keys()[0], d.items(), d.has_key('a'), list(d.iteritems()), d.iteritems().next()
print map(None, [1, 2]), map(lambda x: x * 2, [1]), filter(lambda c: c != 'a', 'abc'), zip([1], [2]), range(3) + [4]
exec "q = 3" in globals()
print q, sorted([3, 1, 2], cmp=lambda a, b: b - a), round(2.5), round(-0.5), cmp(1, 2)
print string.letters[:3], unicode('x'), isinstance('x', basestring), os.getcwdu() == os.getcwd(), unichr(65)
x = 7
x /= 2
y = [9]
y[0] /= 2
print x, y, xrange(3), reduce(lambda a, b: a + b, [1, 2, 3])
cPickle.dump(d, open('d.pkl', 'w'))
print cPickle.load(open('d.pkl')), 'abc'.decode('utf-8'), '6162'.decode('hex')
l = [2, 1]
l.sort(lambda a, b: a - b)
print l, [i for i in izip([1], [2])], f.func_name
import package.inner
print package.inner.value
print >>open('out.txt', 'w'), "in a file",
raise RuntimeError, 'end'
'''


def test_python_2(remx, tmp_path):
    pytest.importorskip('fissix')
    files = {'package/__init__.py': '', 'package/inner.py': 'import beside\nvalue = beside.number / 2\n',
             'package/beside.py': 'number = 5\nprint "beside"\n'}
    done = remx(PYTHON2, files=files, check=1)
    assert done.stdout.split('\n') == [
        'hello 3 3.5 -4', '514 True 5 3 True', 'bad', "a [('a', 1)] True [('a', 1)] ('a', 1)",
        '[1, 2] [2] bc [(1, 2)] [0, 1, 2, 4]', '3 [3, 2, 1] 3.0 -1.0 -1', 'abc x True True A', '3 [4] range(0, 3) 6',
        "{'a': 1} abc ab", '[1, 2] [(1, 2)] f', 'beside', '2', '']
    assert "raise RuntimeError, 'end'" in done.stderr and f'line {PYTHON2.count(chr(10))}' in done.stderr
    assert 'rounds down, as in Python 2' in done.stderr and (tmp_path / 'out.txt').read_text() == 'in a file '


def test_true_division_and_files_that_know_both(remx):
    assert remx('from __future__ import division\nprint(7 / 2, list(xrange(2)))\n', check=0).stdout == '3.5 [0, 1]\n'
    text = 'import sys\nif sys.version_info[0] > 2:\n    xrange = range\nprint(7 / 2, list(xrange(2)))\n'
    assert remx(text, check=0).stdout == '3.5 [0, 1]\n'
    assert remx('print(7 / 2, list(xrange(2)))\n', check=0).stdout == '3 [0, 1]\n'
    assert remx('print(7 / 2, list(xrange(2)))\n', check=0, options=['--python3']).stdout == '3.5 [0, 1]\n'


def test_quotients_as_counts(remx):
    assert remx('n = 7\nfor i in range(n / 2):\n    print(i)\n', check=0).stdout == '0\n1\n2\n'
    assert remx('n = 7\nprint([1, 2, 3][:n / 4])\n', check=0).stdout == '[1]\n'
    assert remx('n = 7\nhalf = n / 4\nprint([1, 2, 3][:half])\n', check=0).stdout == '[1]\n'
    text = 'n = 8\nsize = n / 4\nstep = size * 2\nfor i in range(step - 2):\n    print(i)\n'
    assert remx(text, check=0).stdout == '0\n1\n'
    done = remx('def f(half):\n    print([1, 2, 3][:half])\nf(7 / 4)\n', check=1)
    assert 'remx run --python2' in done.stderr
    # a name that is an integer elsewhere is no evidence of Python 2
    done = remx('n = 7 / 2\nn = int(n)\nprint([1, 2, 3, 4][:n], 7 / 2)\n', check=0)
    assert done.stdout == '[1, 2, 3] 3.5\n' and not done.stderr
    done = remx('z = zip([1], [2])\nprint(z[0])\n', check=1)
    assert 'remx run --python2' in done.stderr


@pytest.mark.parametrize('text, wanted', [
    ("d = {'a': 1}\nprint(sorted(d.items() + [('b', 2)]), 7 / 2)\n", "[('a', 1), ('b', 2)] 3"),
    ('print([9] + range(2), 7 / 2)\n', '[9, 0, 1] 3'),
    ('print(len(zip([1, 2], [3, 4])), 7 / 2)\n', '2 3'),
    ('# six values, in the future\nfuture = 3\nx = "PY3, ImportError"\nprint([9] + range(2))\n', '[9, 0, 1]'),
    ("d = {'a': 1}\nprint(len(d.items()), [1] + list(range(2)), 7 / 2)\n", '1 [1, 0, 1] 3.5'),
])
def test_lists_that_are_added_or_counted_are_python_2(remx, text, wanted):
    assert remx(text, check=0).stdout == wanted + '\n'


def test_lists_of_python_2_in_a_file_that_knows_both(remx):
    done = remx('import sys\nsys.version_info\nd = {}\nd.items() + [1]\n', check=1)
    assert 'remx run --python2` restores lists' in done.stderr


def test_order_of_a_text_and_a_number(remx):
    text = '''import mxnet as mx
class Weighted(mx.operator.CustomOpProp):
    def __init__(self, weight):             # a text, which the source compares with a number
        super(Weighted, self).__init__()
        assert weight > 0
        print('made')
mx.operator.register('weighted')(Weighted)
mx.sym.Custom(mx.sym.Variable('a'), weight=2, op_type='weighted')
'''
    assert 'remx run --python2` restores their order' in remx(text, check=1).stderr
    assert remx(text, check=0, options=['--python2']).stdout.startswith('made')


def test_iterators_that_keep_zip_are_python_2(remx):
    text = '''
        class Iter:
            def __init__(self):
                self._provide_data = zip(['data'], [(1, 2)])
        one = Iter()
        print([list(one._provide_data) for i in range(2)])
        '''
    assert remx(text, check=0).stdout == "[[('data', (1, 2))], [('data', (1, 2))]]\n"


def test_escapes_in_byte_strings_of_python_2(remx):
    text = "print 'C:\\Users', len('\\u20ac'), len(u'\\u20ac'), r'\\U', 'D:\\\\Uu'  # '\\U'\n"
    assert remx(text, check=0).stdout == 'C:\\Users 6 1 \\U D:\\Uu\n'
    assert remx("p = 'C:\\Users'\nprint(p)\n", check=0).stdout == 'C:\\Users\n'
    # texts of Python 3 keep their characters, also where another word is to be mended
    assert remx("def f(async=1):\n    return async\nprint(f(), '\\u20ac')\n", check=0).stdout == '1 \u20ac\n'


def test_neither_version_is_a_syntax_error(remx):
    done = remx('x = 1\nprint x +\n', check=1)
    assert 'SyntaxError' in done.stderr and 'print x +' in done.stderr


# ---------------------------------------------------------------------- Python 3 of that time
def test_python_3_of_that_time(remx):
    text = '''
        import asyncio, collections, fractions, inspect, json, time, xml.etree.cElementTree as ET, base64
        from collections import Mapping, OrderedDict, Callable
        from six.moves import cPickle as pickle
        print(issubclass(OrderedDict, Mapping), inspect.getargspec(lambda a, b=1: 0).args, time.clock() >= 0)
        print(fractions.gcd(4, 6), json.loads('[1]', encoding='utf-8'), ET.fromstring('<a/>').tag)
        print(base64.encodestring(b'a'))
        @asyncio.coroutine
        def old():
            yield from asyncio.sleep(0)
            return 5
        print(asyncio.new_event_loop().run_until_complete(old()))
        def call(async=True):
            return async
        print(call(async=False))
        '''
    done = remx(text, check=0)
    assert done.stdout.split('\n')[:5] == ["True ['a', 'b'] True", '2 [1] a', "b'YQ==\\n'", '5', 'False']


@pytest.mark.parametrize('name', ['imp', 'distutils', 'distutils.version', 'distutils.util', 'distutils.dir_util',
                                  'pkg_resources', 'asyncore', 'pipes'])
def test_modules_that_newer_pythons_do_not_have(name, tmp_path):
    from mxnet._compat._modules import GONE
    module = GONE[name](name)
    (tmp_path / 'beside.py').write_text('x = 7\n')
    if name == 'imp':
        assert module.load_source('beside', str(tmp_path / 'beside.py')).x == 7
        sys.modules.pop('beside')
    elif name == 'distutils.version':
        assert module.LooseVersion('1.10.0') > '1.9.1' and module.LooseVersion('1.9') == '1.9'
    elif name == 'distutils.util':
        assert (module.strtobool('yes'), module.strtobool('off')) == (1, 0)
    elif name == 'distutils.dir_util':
        module.copy_tree(str(tmp_path), str(tmp_path.parent / 'copied'))
        assert (tmp_path.parent / 'copied' / 'beside.py').exists()
    elif name == 'pkg_resources':
        assert module.get_distribution('numpy').version and module.parse_version('2.0') > module.parse_version('1.9')


# ---------------------------------------------------------------------- other packages
def test_other_packages(remx, tmp_path):
    pytest.importorskip('PIL')
    text = '''
        import numpy as np
        from PIL import Image
        import PIL.Image as pil
        from scipy.misc import imresize, imsave, imread
        import scipy.misc
        import cv2
        import matplotlib.pyplot as plt
        from easydict import EasyDict as edict
        from nose.tools import assert_equal, raises
        from tqdm import tqdm_notebook
        print(Image.ANTIALIAS == pil.LANCZOS, imresize(np.zeros((4, 4, 3), 'uint8'), (8, 6)).shape)
        imsave('x.png', np.eye(4) * 255); print(scipy.misc.imread('x.png').shape, imread('x.png').max())
        print(cv2.CV_LOAD_IMAGE_COLOR == cv2.IMREAD_COLOR, cv2.cv.CV_AA == cv2.LINE_AA)
        plt.plot([1, 2]); plt.show()
        config = edict({'a': {'b': 1}}); config.c = 2; print(config.a.b, config['c'])
        @raises(ValueError)
        def fails():
            raise ValueError
        fails(); assert_equal(1, 1)
        import yaml
        print(yaml.load('a: 1'))
        '''
    done = remx(text, check=0, DISPLAY='', WAYLAND_DISPLAY='')
    assert done.stdout.split('\n')[:5] == ['True (8, 6, 3)', '(4, 4) 255', 'True True', '1 2', "{'a': 1}"]
    assert (tmp_path / 'program-figure-1.png').stat().st_size > 1000 and 'program-figure-1.png' in done.stderr


def test_mxboard_and_horovod(remx, tmp_path):
    text = '''
        import mxnet as mx
        from mxboard import SummaryWriter
        import horovod.mxnet as hvd
        hvd.init()
        with SummaryWriter(logdir='logs') as writer:
            writer.add_scalar('loss', mx.nd.array([0.5]).asnumpy(), 1)
        print([1 for gradient in (mx.nd.ones(3), None) if gradient])
        print(hvd.rank(), hvd.size(), mx.nd.ones(2, ctx=mx.gpu(1)).context, mx.context.num_gpus())
        '''
    done = remx(text, check=0, options=['--cpu'])
    assert done.stdout == '[1]\n0 1 gpu(1) 0\n' and list((tmp_path / 'logs').iterdir())
    assert done.stderr.count('GPU contexts use the CPU') == 2         # at once, and in the report


def test_a_float_as_an_index_names_the_option(remx):
    text = '''
        import numpy as np
        print(np.arange(3)[np.float32(1)])
        '''
    assert '`remx run --python2` restores floats as indices' in remx(text, check=1).stderr
    pytest.importorskip('fissix')
    assert remx(text, check=0, options=['--python2']).stdout == '1\n'


# ---------------------------------------------------------------------- data
def test_downloads_are_found_by_their_names(remx, tmp_path):
    data = tmp_path / 'mine'
    data.mkdir()
    (data / 'words.txt').write_text('some words')
    text = '''
        import os, subprocess, urllib, urllib.request
        address = 'http://127.0.0.1:9/data/words.txt'
        urllib.request.urlretrieve(address, 'a.txt')
        urllib.urlretrieve(address, 'b.txt')
        print(urllib.request.urlopen(address).read())
        print(os.system('wget -q ' + address + ' -P folder && cp folder/words.txt c.txt'))
        print(subprocess.call(['wget', address, '-O', 'd.txt']))
        import requests
        print(requests.get(address).text)
        print([open(n + '.txt').read() for n in 'abcd'])
        urllib.request.urlretrieve('http://127.0.0.1:9/other.txt', 'e.txt')
        '''
    done = remx(text, check=1, options=['--data', str(data)])
    assert done.stdout.split('\n')[:5] == ["b'some words'", '0', '0', 'some words', str(['some words'] * 4)]
    assert 'no file other.txt' in done.stderr and '--data' in done.stderr
    assert remx(text, options=['--data', str(tmp_path / 'nowhere')], check=2).stderr.startswith('remx run: --data')


def test_addresses_given_to_readers_are_found_by_their_names(remx, tmp_path):
    pytest.importorskip('pandas')
    data = tmp_path / 'mine'
    data.mkdir()
    (data / 'table.csv').write_text('a,b\n1,2\n')
    text = '''
        import numpy as np
        import pandas as pd
        print(pd.read_csv('http://127.0.0.1:9/data/table.csv').b[0])
        print(np.genfromtxt('http://127.0.0.1:9/data/table.csv', delimiter=',', skip_header=1))
        pd.read_csv('http://127.0.0.1:9/data/other.csv')
        '''
    done = remx(text, check=1, options=['--data', str(data)])
    assert done.stdout == '2\n[1. 2.]\n'
    assert 'no file other.csv' in done.stderr and 'remx run --data DIR' in done.stderr


def test_made_up_data_only_when_asked_for(remx, tmp_path):
    text = '''
        import mxnet as mx, logging
        mnist = mx.test_utils.get_mnist()
        print(mnist['train_data'].shape[1:], mnist['test_label'].max() <= 9)
        data = mx.gluon.data.vision.CIFAR10(root='cifar', train=False)
        print(data[0][0].shape)
        '''
    options = {'MXNET_HOME': str(tmp_path / 'home'), 'MXNET_GLUON_REPO': 'http://127.0.0.1:9/', 'http_proxy': '',
               'HTTP_PROXY': ''}
    done = remx(text, check=1, **options)
    assert 'remx fetch mnist' in done.stderr and 'MADE-UP' not in done.stderr
    done = remx(text, check=0, options=['--made-up-data'], **options)
    lines = done.stdout.split('\n')
    assert lines[0] == '(1, 28, 28) True' and lines[-2] == '(32, 32, 3)' and 'MADE-UP DATA' in done.stderr


def test_made_up_data_in_the_form_of_unpacked_archives(remx):
    done = remx('''
        import pickle
        import numpy as np
        with open('mnist.pkl', 'rb') as file:
            train, valid, test = pickle.load(file, encoding='latin1')
        print([(*x.shape, x.dtype.name, *y.shape) for x, y in (train, valid, test)])
        first = np.fromfile('cifar-10-batches-bin/data_batch_5.bin', 'uint8').reshape(10000, 3073)
        with open('cifar-10-batches-py/data_batch_5', 'rb') as file:
            batch = pickle.load(file, encoding='bytes')
        print((first[:, 1:] == batch[b'data']).all(), first[:, 0].tolist() == batch[b'labels'])
        ''', check=0, options=['--made-up-data'])
    assert done.stdout.splitlines() == [
        "[(50000, 784, 'float32', 50000), (10000, 784, 'float32', 10000), (10000, 784, 'float32', 10000)]",
        'True True']
    assert 'MADE-UP DATA' in done.stderr


# ---------------------------------------------------------------------- notebooks, reports
def notebook(*cells, version='3.6.0'):
    return json.dumps({'cells': [{'cell_type': 'code', 'source': cell.splitlines(True), 'outputs': [], 'metadata': {},
                                  'execution_count': None} for cell in cells],
                       'metadata': {'language_info': {'version': version}}, 'nbformat': 4, 'nbformat_minor': 2})


def test_notebooks(remx, tmp_path):
    cells = ('%matplotlib inline\nimport numpy as np\nx = float(np.array([1.5]))\nx',
             '!echo from the shell\n%cd .\nlen?',
             '%%time\nimport matplotlib.pyplot as plt\nplt.plot([1])\nprint(10\n      % 4);', 'raise ValueError(x)')
    done = remx(notebook(*cells), name='book.ipynb', check=1, DISPLAY='', WAYLAND_DISPLAY='')
    assert done.stdout == '1.5\nfrom the shell\n2\n'
    assert (tmp_path / 'book-figure-1.png').exists()
    assert 'book.ipynb[cell 4]' in done.stderr and 'raise ValueError(x)' in done.stderr
    pytest.importorskip('fissix')
    assert remx(notebook('print 7 / 2', version='2.7.12'), name='old.ipynb', check=0).stdout == '3\n'


def test_what_earlier_cells_of_a_notebook_import_and_define(remx):
    pytest.importorskip('pandas')
    done = remx(notebook('import pandas as pd\ndef float(x):\n    return "own"',
                         't = pd.DataFrame({"a": [1, 2]})\nt.as_matrix().tolist()',
                         'float(3), list(t.iteritems())[0][0]'), name='book.ipynb', check=0)
    assert done.stdout == "[[1], [2]]\n('own', 'a')\n"


def test_magic_pylab_and_display_of_ipython(remx):
    pytest.importorskip('matplotlib')
    pytest.importorskip('IPython')
    done = remx(notebook("%pylab inline\npylab.rcParams['figure.figsize'] = (10, 6)\nlinspace(0, 1, 3).tolist()",
                         'from IPython.core.display import display, HTML\nnp.float, plt.plot is not None'),
                name='book.ipynb', check=0)
    assert done.stdout == "[0.0, 0.5, 1.0]\n(<class 'float'>, True)\n"


def test_reports(remx, tmp_path):
    text = 'import numpy as np\nprint(np.float, float(np.ones(1)))\nprint(np.int)\nraise SystemExit(4)\n'
    done = remx(text, check=4, options=['--report', 'report.json', '--quiet'])
    assert done.stderr == ''
    found = json.loads((tmp_path / 'report.json').read_text())
    assert found['status'] == 4
    assert [e['code'] for e in found['put_back']] == ['numpy-float', 'numpy-scalar', 'numpy-int']
    assert found['put_back'][0]['places'] == ['program.py:2']
    done = remx(text, check=0, options=['--explain'])
    assert 'numpy.float is gone' in done.stdout and done.stdout.startswith('    1  import numpy as np')


def test_import_of_compat(run_python, tmp_path):
    (tmp_path / 'old.py').write_text('import numpy as np, sys\nprint(np.float, float(np.ones(1)), sys.argv[1:])\n')
    assert run_python('-c', 'import mxnet.compat, old').stdout == "<class 'float'> 1.0 []\n"
    done = run_python('-c', "import mxnet.compat; mxnet.compat.run_path('old.py', ['a'])")
    assert done.stdout == "<class 'float'> 1.0 ['a']\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name != 'posix', reason='getrusage')
def test_a_program_that_needs_nothing_starts_as_soon(tmp_path):
    (tmp_path / 'program.py').write_text('import numpy as np\nprint(np.ones(3).sum())\n')
    import resource
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}

    def best(*command):
        """Seconds of processor time; other programs run beside the tests."""
        times = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *command, 'program.py'], cwd=tmp_path, env=environment, check=True,
                           capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)
    assert best('-m', 'mxnet.cli', 'run') - best() < 0.3


# ---------------------------------------------------------------------- parts of packages, files, started programs
def test_parts_of_packages_that_have_a_stand_in(remx):
    text = '''
        from PIL import Image, ImageOps, ImageFilter
        from matplotlib import cm, pyplot
        print(ImageOps.__name__, cm.__name__, Image.ANTIALIAS == Image.LANCZOS)
        try:
            from PIL import NoSuchPart
        except ImportError as error:
            print('NoSuchPart' in str(error))
        '''
    assert remx(text, check=0).stdout == 'PIL.ImageOps matplotlib.cm True\nTrue\n'


def test_missing_files_are_taken_from_data(remx, tmp_path):
    (tmp_path / 'mine').mkdir()
    (tmp_path / 'mine' / 'words.txt').write_text('a b\n')
    text = '''
        import gzip, mxnet as mx
        print(open('/home/somebody/data/words.txt', 'rU').read())
        mx.nd.save('mine/w.params', [mx.nd.ones(2)])
        print(mx.nd.load('/elsewhere/w.params')[0].sum().asscalar())
        with gzip.open('mine/z.gz', 'wb') as file:
            file.write(b'z')
        print(gzip.open('nowhere/z.gz').read())
        try:
            open('/home/somebody/other.txt')
        except FileNotFoundError as error:
            print(error.filename)
        try:
            open('/home/somebody/words.txt', 'w')
        except FileNotFoundError as error:
            print(error.filename)
        '''
    done = remx(text, options=['--data', 'mine'], check=0)
    assert done.stdout == "a b\n\n2.0\nb'z'\n/home/somebody/other.txt\n/home/somebody/words.txt\n"
    assert 'words.txt does not exist' in done.stderr
    assert remx("open('/home/somebody/data/words.txt')\n", check=1).stdout == ''


def test_started_programs_run_likewise(remx, tmp_path):
    files = {'child.py': 'import sys\nprint 7 / 2, sys.argv[1:]\n'}
    text = '''
        import os, subprocess, sys
        print(subprocess.check_output([sys.executable, '-u', 'child.py', '--a', 'b c']).decode())
        print(subprocess.Popen(['python', 'child.py'], stdout=subprocess.PIPE).communicate()[0].decode())
        sys.stdout.flush()
        subprocess.call('A=1 python2 child.py "x y" > out.txt && cat out.txt', shell=True)
        os.system('cd . ; python child.py $A')
        print(subprocess.check_output([sys.executable, '-c', 'print(7 / 2)']).decode())
        '''
    done = remx(text, files=files, check=0, A='seen')
    assert done.stdout.split('\n') == ["3 ['--a', 'b c']", '', '3 []', '', "3 ['x y']", "3 ['seen']", '3.5', '', '']
    assert 'that the program starts run by `remx run`' in done.stderr


def test_sitecustomize(remx, tmp_path):
    """The route that the documentation shows for Python processes that something else starts."""
    (tmp_path / 'site').mkdir()
    (tmp_path / 'site' / 'sitecustomize.py').write_text('import mxnet.compat\n')
    (tmp_path / 'old.py').write_text('import numpy as np\nprint np.float, 7 / 2\n')
    (tmp_path / 'main.py').write_text('import old\n')
    path = os.pathsep.join([str(tmp_path / 'site'), str(ROOT)])
    done = subprocess.run([sys.executable, 'main.py'], cwd=tmp_path, env={**os.environ, 'PYTHONPATH': path},
                          capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "<class 'float'> 3\n"), done.stderr


def test_windows_of_opencv_without_a_display(remx, tmp_path):
    text = '''
        import cv2, numpy as np
        cv2.namedWindow('a b')
        cv2.imshow('a b', np.full((4, 4, 3), 7, 'uint8'))
        print(cv2.waitKey(0), cv2.waitKey(1), cv2.imread('program-a_b.png')[0, 0, 0])
        cv2.destroyAllWindows()
        '''
    done = remx(text, check=0, DISPLAY='', WAYLAND_DISPLAY='')
    assert done.stdout == '27 -1 7\n' and 'program-a_b.png' in done.stderr


def test_mxnet_predict(remx):
    text = '''
        import mxnet as mx, numpy as np
        net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2, name='fc')
        net = mx.sym.BatchNorm(net, name='bn')
        net = mx.sym.SoftmaxOutput(net, name='softmax')
        mod = mx.mod.Module(net)
        mod.bind([('data', (2, 3))], [('softmax_label', (2,))], for_training=False)
        mod.init_params(mx.init.Uniform(1))
        mod.save_checkpoint('m', 0)
        from mxnet_predict import Predictor, load_ndarray_file
        one = Predictor(open('m-symbol.json').read(), open('m-0000.params', 'rb').read(), {'data': (2, 3)})
        x = np.arange(6).reshape(2, 3)
        one.forward(data=x)
        mod.forward(mx.io.DataBatch([mx.nd.array(x)]), is_train=False)
        print(np.abs(one.get_output(0) - mod.get_outputs()[0].asnumpy()).max() < 1e-6)
        one.reshape({'data': (1, 3)})
        one.forward(data=x[:1])
        print(one.get_output(0).shape, sorted(load_ndarray_file(open('m-0000.params', 'rb').read())))
        '''
    expected = "True\n(1, 2) ['arg:bn_beta', 'arg:bn_gamma', 'arg:fc_bias', 'arg:fc_weight', " \
               "'aux:bn_moving_mean', 'aux:bn_moving_var']\n"
    assert remx(text, check=0).stdout == expected


def test_modules_that_spawn(remx, tmp_path):
    """`-m`: a spawned process loads the module as this one did."""
    (tmp_path / 'pkg').mkdir()
    (tmp_path / 'pkg' / '__init__.py').write_text('')
    (tmp_path / 'pkg' / 'part.py').write_text('import numpy as np\nkind = np.float\n')
    (tmp_path / 'pkg' / 'main.py').write_text(textwrap.dedent('''
        import multiprocessing
        from . import part
        import numpy as np
        def work(x):
            return np.float(x) / 2, part.kind
        if __name__ == '__main__':
            multiprocessing.set_start_method('spawn')
            with multiprocessing.Pool(1) as pool:
                print(pool.map(work, [7]))
        '''))
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'run', '-m', 'pkg.main'], cwd=tmp_path,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)}, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "[(3.5, <class 'float'>)]\n"), done.stderr


def test_folders_of_the_authors_machine_in_the_path(remx, tmp_path):
    """A program adds a folder to `sys.path` that was on its author's machine only; its end exists in the project."""
    text = '''
        import sys
        sys.path.insert(0, '/nowhere/somebody/net/tools')
        sys.path.append('C:\\\\work\\\\net\\\\readers')
        sys.path.append('./src/losses')
        import boxes, records, focal
        print(boxes.value, records.value, focal.value)
        try:
            import unknown
        except ImportError as error:
            print(error)
        '''
    files = {'README.md': '', 'tools/boxes.py': 'value = 1\n', 'readers/records.py': 'value = 2\n',
             'src/losses/focal.py': 'value = 3\n'}
    done = remx(text, files=files, name='src/program.py', check=0)
    assert done.stdout == "1 2 3\nNo module named 'unknown'\n"
    assert 'for a folder in sys.path that does not exist here' in done.stderr


def test_notebooks_saved_as_programs(remx):
    text = '''
        get_ipython().run_line_magic('matplotlib', 'inline')
        get_ipython().magic('matplotlib inline')
        lines = get_ipython().getoutput('echo listed')
        get_ipython().system('echo shown')
        get_ipython().run_cell_magic('time', '', 'print(lines)')
        try:
            get_ipython()
        except NameError:
            print('no notebook')
        '''
    done = remx(text, check=0)
    assert done.stdout == "listed\nshown\n['listed']\nno notebook\n"
    assert 'get_ipython() of a notebook that was saved as a program (program.py:2' in done.stderr


def test_files_that_are_elsewhere_in_the_project(remx):
    """Paths of the author's machine, of Windows, and those that are relative to the top folder of the project."""
    text = '''
        import os, numpy as np
        os.chdir('src/deep')
        print(open('/home/somebody/net/data/names.txt').read(), open('C:\\\\net\\\\data\\\\names.txt').read())
        print(open('data/names.txt').read(), open('data\\\\names.txt').read(), np.loadtxt('data/table.txt').tolist())
        import mxnet as mx
        print(mx.image.imread('D:\\net\\data\\picture.ppm').shape)
        for wrong in ('/home/somebody/names.txt', 'names.txt', '/nowhere/data/others.txt'):
            try:
                open(wrong)
            except FileNotFoundError:
                print('not there')
        try:
            open('data/names.txt', 'r+')
        except FileNotFoundError:
            print('never to be written')
        '''
    files = {'README.md': '', 'data/names.txt': 'first', 'data/table.txt': '1 2\n',
             'data/picture.ppm': 'P3 2 1 255 1 2 3 4 5 6\n'}
    done = remx(text, files=files, name='src/deep/program.py', check=0)
    shown = 'first first\nfirst first [1.0, 2.0]\n(1, 2, 3)\n'
    assert done.stdout == shown + 'not there\n' * 3 + 'never to be written\n'
    assert 'a file that is elsewhere in the project: names.txt' in done.stderr
