"""`remx check`: what has gone since a program was written, and the changes it writes."""
import json
import subprocess
import sys
import textwrap

import pytest

from mxnet.cli import main
from mxnet.cli._findings import check_file, check_text
from mxnet.cli.check import fixed


def found(text, **options):
    return [(f.line, f.rule, f.level) for f in check_text(textwrap.dedent(text), 'program.py', **options)]


def test_what_is_found():
    text = '''\
        import numpy as np
        from collections import Mapping, OrderedDict
        import cPickle as pickle
        from sklearn.cross_validation import train_test_split
        import mxnet as mx
        x = np.float(3)
        for k, v in d.iteritems():
            y = float(loss.asnumpy())
        z = np.fromstring(text, dtype=np.uint8)
        net = mx.nd.no_such_operator(x)
        ctx = mx.gpu(0)
        w = mx.nd.FullyConnected(x, num_hidden=3)
        mx.gluon.utils.download('http://x/y')
        '''
    lines = found(text)
    for expected in ((2, 'name', 'error'), (3, 'module', 'error'), (4, 'module', 'error'), (6, 'numpy', 'error'),
                     (7, 'method', 'error'), (8, 'numpy', 'error'), (9, 'numpy', 'error'), (10, 'mxnet', 'error'),
                     (11, 'context', 'note'), (13, 'download', 'note')):
        assert expected in lines, expected
    assert not any(line in (5, 12) for line, _, _ in lines)


def test_names_that_numpy_2_dropped():
    lines = found('''\
        import numpy as np
        from numpy.lib.function_base import average
        from numpy.linalg.linalg import norm
        np.math.sqrt(2)
        np.warnings.filterwarnings('ignore', category=np.VisibleDeprecationWarning)
        np.irr([1])
        np.linalg.norm, np.testing.assert_allclose, np.lib.stride_tricks.as_strided
        ''')
    assert [(line, rule) for line, rule, _ in lines] == [
        (2, 'module'), (3, 'module'), (4, 'numpy'), (5, 'numpy'), (5, 'numpy'), (6, 'numpy')]


def test_names_that_a_program_gives_to_a_module_are_its_own():
    assert found('''\
        import mxnet as mx
        mx.my_setting = True
        if mx.my_setting:
            mx.nd.my_function = print
        mx.nd.my_function(3)
        ''') == []
    assert found('import mxnet as mx\nmx.my_setting') == [(2, 'mxnet', 'error')]


def test_a_cell_that_cannot_be_parsed_hides_no_others(tmp_path):
    cells = ['import numpy as np\n?np.float  # help', 'this is no Python', 'x = np.float(3)']
    (tmp_path / 'n.ipynb').write_text(json.dumps({'nbformat': 4, 'metadata': {}, 'cells': [
        {'cell_type': 'code', 'source': cell, 'metadata': {}, 'outputs': []} for cell in cells]}))
    lines = [(f.path.rpartition('[')[2], f.line, f.rule) for f in check_file(str(tmp_path / 'n.ipynb'))]
    assert lines == [('cell 2]', 1, 'syntax'), ('cell 3]', 1, 'numpy')]


def test_what_is_guarded_or_the_programs_own_is_no_error():
    assert found('''\
        import sys
        import numpy as np
        try:
            import cPickle as pickle
        except ImportError:
            import pickle
        if sys.version_info[0] < 3:
            text = unicode
        xrange = range
        class np2:
            float = 3
        def f(long):
            return long, xrange(3), np.float32(1), np.float64, np2.float, np.ones(2).sum()
        "a %s" % "np.float"
        ''') == [(4, 'module', 'note'), (8, 'python2', 'note')]


def test_a_name_that_is_still_there_is_a_note():
    [finding] = check_text('from tqdm import tqdm_notebook\n', 'program.py')
    assert finding.level == 'note' and finding.message.startswith('tqdm.tqdm_notebook is deprecated; ')


def test_a_guard_by_a_name_of_the_version():
    assert found('''\
        import sys
        VERSION = sys.version_info[0]
        if VERSION == 2:
            from urllib import urlretrieve
        elif VERSION == 3:
            from urllib.request import urlretrieve
        number = 2
        if number == 2:
            text = unicode
        ''') == [(4, 'name', 'note'), (9, 'python2', 'error')]


def test_python_2_and_texts_that_are_neither():
    pytest.importorskip('fissix')
    assert (1, 'python2', 'error') in found('print "x", 3 / 2\n')
    assert found('x = (\n')[0][1] == 'syntax'


def test_names_of_mxnet_are_looked_up():
    text = '''\
        import mxnet as mx
        from mxnet import gluon, nd
        from mxnet.gluon import nn
        from mxnet.test_utils import *
        mx.sym.Variable, mx.mod.Module, mx.io.NDArrayIter, mx.init.Xavier, mx.random.seed, mx.nd.contrib.foreach
        gluon.nn.Dense, nn.HybridSequential, nd.random.normal, mx.optimizer.SGD, mx.viz.plot_network, mx.nd.NDArray.abc
        gluon.nn.Danse
        '''
    assert found(text) == [(7, 'mxnet', 'error')]


def test_fixed_programs_run(tmp_path):
    text = textwrap.dedent('''\
        import numpy as np
        from collections import Mapping, OrderedDict
        import collections.abc
        import inspect
        a = np.array([1.5], dtype=np.float)
        d = OrderedDict(a=np.Inf)
        print(isinstance(d, Mapping), [v for v in d.itervalues()], np.product([2, 3]), np.fromstring(b'ab', np.uint8))
        print(inspect.getargspec(lambda x: 0).args, np.bool)
        ''')
    after = fixed(text, 'program.py', False)
    (tmp_path / 'program.py').write_text(after)
    done = subprocess.run([sys.executable, '-W', 'error', 'program.py'], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "True [inf] 6 [97 98]\n['x'] <class 'bool'>\n", done.stderr + after
    assert fixed(after, 'program.py', False) == after


def test_fixed_python_2_runs(tmp_path):
    pytest.importorskip('fissix')
    text = textwrap.dedent('''\
        import cPickle, Queue
        print "a", len(cPickle.dumps(1)) > 0
        for i in xrange(2):
            print i,
        try:
            raise ValueError, "bad"
        except ValueError, e:
            print e
        print {'a': 1}.has_key('a'), {'a': 1}.keys()[0], map(lambda x: x + 1, [1])
        ''')
    (tmp_path / 'program.py').write_text(text)
    assert main(['check', '--fix', '--write', str(tmp_path / 'program.py')]) == 0
    assert (tmp_path / 'program.py.orig').read_text() == text
    done = subprocess.run([sys.executable, 'program.py'], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == 'a True\n0 1 bad\nTrue a [2]\n', done.stderr


def test_formats_and_status(tmp_path, capsys):
    (tmp_path / 'program.py').write_text('import numpy as np\nnp.float\n')
    (tmp_path / 'good.py').write_text('import numpy as np\nnp.float32\n')
    (tmp_path / 'book.ipynb').write_text(json.dumps({'cells': [
        {'cell_type': 'markdown', 'source': 'np.float'},
        {'cell_type': 'code', 'source': ['%matplotlib inline\n', 'import numpy as np\n']},
        {'cell_type': 'code', 'source': ['!ls\n', 'np.int']}], 'metadata': {}, 'nbformat': 4}))
    assert main(['check', str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert 'program.py:2:1: numpy.float is gone' in out and 'book.ipynb[cell 2]:2:1' in out and '2 errors' in out
    assert main(['check', str(tmp_path / 'good.py')]) == 0
    assert main(['check', '--format', 'json', str(tmp_path / 'program.py')]) == 1
    capsys.readouterr()
    main(['check', '--format', 'json', str(tmp_path / 'program.py')])
    assert json.loads(capsys.readouterr().out)[0]['rule'] == 'numpy'
    main(['check', '--format', 'sarif', str(tmp_path)])
    log = json.loads(capsys.readouterr().out)
    assert log['version'] == '2.1.0' and len(log['runs'][0]['results']) == 2
    assert log['runs'][0]['results'][1]['locations'][0]['physicalLocation']['region']['startLine'] == 2
    assert main(['check', '--write', str(tmp_path)]) == 2
    assert main(['check', str(tmp_path / 'nothing.py')]) == 2


def test_a_diff_changes_nothing(tmp_path, capsys):
    (tmp_path / 'program.py').write_text('import numpy as np\nx = np.float(1)\n')
    main(['check', '--fix', str(tmp_path / 'program.py')])
    assert '+x = float(1)' in capsys.readouterr().out
    assert (tmp_path / 'program.py').read_text() == 'import numpy as np\nx = np.float(1)\n'


@pytest.mark.parametrize('text, message', [
    ('{"cells": 5}', 'what a notebook has there'), ('{"cells": [5]}', ''), ('{"worksheets": 5}', ''),
    ('{"cells": [{"cell_type": "code", "source": 5}]}', ''), ('{"cells": [{"cell_type": "code", "source": [5]}]}', ''),
    ('{"cells": [], "metadata": 5}', ''), ('{"cells": [], "metadata": {"kernelspec": null}}', ''), ('5', ''),
    ('{}', "it has no 'worksheets'"), ('[' * 100_000, 'nested too deeply')])
def test_notebooks_that_are_none(tmp_path, capsys, text, message):
    path = tmp_path / 'a.ipynb'
    path.write_text(text)
    assert main(['check', str(path)]) == 1
    said = capsys.readouterr().out
    assert f'{path} is not a notebook: ' in said and message in said
    assert 'object' not in said


def test_a_program_that_is_nested_too_deeply(tmp_path, capsys):
    path = tmp_path / 'a.py'
    for text in ('-' * 100_000 + '1', '(' * 5000 + ')' * 5000, 'x' + '[0' * 3000 + ']' * 3000):
        path.write_text(text)
        assert main(['check', str(path)]) == 1
        assert f'{path}:1:' in (said := capsys.readouterr().out) and 'nested' in said


def test_modules_beside_the_program_are_not_gone(tmp_path):
    """A program may have modules of its own with names that Python 2 had, and its copy of `find_mxnet`."""
    program = tmp_path / 'program.py'
    program.write_text('import commands\nimport sets\nimport find_mxnet\nfrom Queue import Queue\n')
    (tmp_path / 'commands.py').write_text('')
    (tmp_path / 'sets').mkdir()
    assert [f.line for f in check_file(str(program))] == [3, 4]
    (tmp_path / 'find_mxnet.py').write_text('')
    assert [f.line for f in check_file(str(program))] == [4]
