"""What editors and type checkers see: no false complaint about our programs, mistakes found, completions, annotations.

pyright is basedpyright here, which brings its own Node.js and has pyright's checks in the mode `standard`; the language
server is the same program. What is not installed is skipped.
"""
import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import planted_mistakes
import pytest
import type_programs
from conftest import ROOT

PYRIGHT = Path(sys.executable).parent / 'basedpyright'
SERVER = Path(sys.executable).parent / 'basedpyright-langserver'
needs_pyright = pytest.mark.skipif(not PYRIGHT.exists(), reason='basedpyright is not installed')
needs_mypy = pytest.mark.skipif(importlib.util.find_spec('mypy') is None, reason='mypy is not installed')
needs_jedi = pytest.mark.skipif(importlib.util.find_spec('jedi') is None, reason='jedi is not installed')

# What pyright says about the control flow of a program, and not about the library: `for batch in data: loss = ...`
OWN_RULES = {'reportPossiblyUnboundVariable': 'none', 'reportMissingImports': 'none',
             'reportMissingModuleSource': 'none', 'reportUnusedExpression': 'none'}
# Complaints that are right: the program makes the mistake on purpose, or gives one name two meanings.
RIGHT = {
    'page_docs_en_troubleshooting.py': 'the page shows mistakes and what they raise',
    'page_docs_zh_troubleshooting.py': 'the page shows mistakes and what they raise',
    'test_seeds_gluon_gpus.py': 'a method of the tutorial has other arguments than the one it overrides',
}


# ---------------------------------------------------------------------- running the checkers
def pyright(folder, files=('.',), **options):
    """What pyright says about the programs of a folder: [(file, line, rule, message), ...]."""
    config = {'include': list(files), 'extraPaths': [str(ROOT)], 'typeCheckingMode': 'standard',
              'pythonVersion': '3.11', **OWN_RULES, **options}
    (folder / 'pyrightconfig.json').write_text(json.dumps(config))
    done = subprocess.run([PYRIGHT, '--outputjson', '--level', 'error', '--pythonpath', sys.executable,
                           '--project', folder],
                          capture_output=True, text=True, cwd=folder)
    found = json.loads(done.stdout)['generalDiagnostics']
    return [(Path(d['file']).name, d['range']['start']['line'] + 1, d.get('rule', ''), d['message']) for d in found]


def mypy(folder, files, *flags):
    """What mypy says about programs: [(file, line, code, message), ...]."""
    done = subprocess.run([sys.executable, '-m', 'mypy', '--config-file=', '--ignore-missing-imports',
                           '--no-error-summary', '--hide-error-context', '--cache-dir', folder / 'cache', *flags,
                           *files], capture_output=True, text=True, cwd=folder, env=environment())
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = [re.match(r'(?:.*/)?([^/:]+):(\d+): error: (.*?)\s+\[([\w-]+)\]$', line)
             for line in done.stdout.splitlines()]
    return [(m[1], int(m[2]), m[4], m[3]) for m in found if m]


def environment():
    import os
    return {**os.environ, 'MYPYPATH': str(ROOT)}


def told(found):
    return '\n'.join(f'{file}:{line} {rule}: {text}' for file, line, rule, text in found)


# ---------------------------------------------------------------------- right programs
SHORT = '''
import mxnet as mx
from mxnet import autograd, gluon, nd

net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(16, activation='relu'), gluon.nn.Dropout(0.5), gluon.nn.Dense(3))
net.initialize(mx.init.Xavier(), ctx=mx.cpu())
net.hybridize(static_alloc=True)
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
data = gluon.data.DataLoader(gluon.data.ArrayDataset(nd.ones((8, 4)), nd.zeros((8,))), batch_size=4)
metric = mx.metric.Accuracy()
for x, y in data:
    with autograd.record():
        loss = loss_fn(net(x), y)
    loss.backward()
    trainer.step(4)
    metric.update([y], [net(x)])
print(metric.get()[1], net(nd.ones((2, 4))).asnumpy().shape, nd.array([[1, 2]]).sum(axis=0).asscalar())

a = nd.ones((2, 3))
a.attach_grad()
print((a.grad + 1).T.shape, a[0:1].reshape((3,)).astype('float16').context, a.grad.asnumpy())
symbol = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=10, name='fc') * 2
print(symbol.list_arguments(), net(mx.sym.var('x')).name)
module = mx.mod.Module(symbol, data_names=['data'], label_names=None)
executor = symbol.simple_bind(mx.cpu(), data=(2, 4))
print(executor.forward()[0].shape, executor.arg_dict['fc_weight'].shape)
b = mx.np.ones((2, 3))
print(mx.np.dot(b, b.T).mean().item(), mx.npx.softmax(b).shape, (1 - b)[0].max())
layer = gluon.rnn.LSTM(8)
output, states = layer(nd.ones((5, 2, 4)), layer.begin_state(batch_size=2))
print(output.shape, states[0].shape, mx.random.uniform(shape=(2,)).shape, mx.viz.print_summary)


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.out = gluon.nn.Conv2D(3, kernel_size=(3, 3), in_channels=1)

    def hybrid_forward(self, F, x, weight=None):
        return F.relu(self.out(x)) + F.zeros_like(x).sum()


class Half(gluon.Block):
    def forward(self, left, right):
        return left / 2 + right


class Double(autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, dy):
        return dy * 2


class Ones(mx.init.Initializer):
    def _init_weight(self, name, data):
        data[:] = 1


@mx.operator.register('twice')
class TwiceProp(mx.operator.CustomOpProp):
    def __init__(self):
        super(TwiceProp, self).__init__(need_top_grad=False)


resnet = gluon.model_zoo.vision.resnet18_v1(classes=3)
resnet.features[0].weight.lr_mult = 0.1
for child in resnet.features:
    print(child.name)


class Plain(mx.init.Initializer):
    def _init_default(self, name, arr):
        arr[:] = 0


store = mx.kv.create('local')
store.init('a', nd.ones((2,)))
'''


@needs_pyright
def test_pyright_accepts_a_program(tmp_path):
    (tmp_path / 'program.py').write_text(SHORT)
    found = pyright(tmp_path)
    assert not found, told(found)


@needs_mypy
@pytest.mark.slow
def test_mypy_accepts_a_program(tmp_path):
    (tmp_path / 'program.py').write_text(SHORT)
    found = mypy(tmp_path, ['program.py'], '--check-untyped-defs')
    assert not found, told(found)


@needs_pyright
@pytest.mark.slow
def test_pyright_has_no_false_complaint(tmp_path):
    """README, every page in both languages, the examples and the programs of the tutorials."""
    assert len(type_programs.write(tmp_path)) > 80
    found = [f for f in pyright(tmp_path) if f[0] not in RIGHT]
    assert not found, told(found)


@needs_mypy
@pytest.mark.slow
def test_mypy_has_no_false_complaint(tmp_path):
    """README, the examples and the tutorials.  Pages use a name for one thing after the other, which mypy forbids."""
    skipped = ('page_docs', 'test_seeds_kvstore_program', 'test_seeds_arrays_network')
    names = [path.name for path in type_programs.write(tmp_path)
             if path.name not in RIGHT and not path.name.startswith(skipped)]
    assert len(names) > 20
    found = mypy(tmp_path, names, '--disable-error-code=no-redef', '--disable-error-code=assignment')
    # names that a page uses for one thing after the other are no fault of the library; nor is NumPy's own typing
    found = [f for f in found if f[2] not in ('misc', 'var-annotated', 'import-untyped')]
    assert not found, told(found)


# ---------------------------------------------------------------------- wrong programs
PLANTED = {
    'misspelt operator': 'nd.FullyConected(x, x, x, num_hidden=3)',
    'misspelt attribute of an operator': 'nd.FullyConnected(x, x, x, num_hiden=3)',
    'misspelt attribute of a symbol': "mx.sym.Convolution(s, kernel=(3, 3), num_filters=8)",
    'choice that there is not': "nd.Activation(x, act_type='rellu')",
    'wrong type of an attribute': "nd.one_hot(x, depth='ten')",
    'missing input': 'nd.dot(x)',
    'misspelt keyword of a layer': "gluon.nn.Dense(10, activaton='relu')",
    'wrong type of an argument of a layer': "gluon.nn.Dense('ten')",
    'misspelt layer': 'gluon.nn.Dens(10)',
    'misspelt method of an array': 'x.asnump()',
    'misspelt method of a result': 'net(x).reshap((2,))',
    'misspelt function of np': 'mx.np.oness(3)',
    'misspelt keyword of np': 'mx.np.sum(mx.np.ones(3), axes=0)',
    'wrong type of an argument of a loss': "gluon.loss.L2Loss()('prediction', x)",
    'wrong type of the second argument of a loss': "gluon.loss.L2Loss()(x, 'label')",
    'misspelt loss': 'gluon.loss.L2Los()',
    'misspelt method of a trainer': 'trainer.steps(3)',
    'missing argument of a trainer': 'trainer.step()',
    'misspelt keyword of an optimizer': 'mx.optimizer.SGD(learning_rat=0.1)',
    'misspelt metric': 'mx.metric.Acuracy()',
    'wrong method of a metric': 'mx.metric.Accuracy().get_value()',
    'misspelt module of the package': 'mx.metrik',
    'wrong type of a context': "net.initialize(ctx='gpu')",
    'misspelt keyword of a random function': 'nd.random.normal(0, 1, shap=(2, 3))',
    'misspelt initializer': 'mx.init.Xaver()',
    'misspelt method of a symbol': 's.list_argument()',
    'misspelt method of a store': "mx.kv.create('local').pus('a', x)",
    'misspelt keyword of fit': 'mx.mod.Module(s).fit(mx.io.NDArrayIter(x), num_epochs=3)',
    'misspelt keyword of initialize': 'net.initialize(contex=mx.cpu())',
    'misspelt keyword of an augmenter': 'mx.image.CreateAugmenter((3, 8, 8), resise=3)',
    'misspelt keyword of np.random': 'mx.np.random.normal(0, 1, shape=(2,))',
    'misspelt keyword of a loader': 'gluon.data.DataLoader([1, 2], batch_size=2, num_worker=2)',
    'keyword of another library': 'mx.image.imresize(x, width=3, height=3)',
    'misspelt method of a parameter': 'net.weight.dat()',
    'misspelt keyword of zeros': 'nd.zeros((2, 3), context=mx.cpu())',
    'misspelt keyword of the model zoo': 'gluon.model_zoo.vision.resnet18_v1(class_num=10)',
}
BEGIN = '''
import mxnet as mx
from mxnet import gluon, nd

x = nd.ones((2, 3))
s = mx.sym.var('s')
net = gluon.nn.Dense(3)
trainer = gluon.Trainer(net.collect_params(), 'sgd')
'''


def planted(folder):
    lines = [*BEGIN.splitlines()]
    where = {}
    for what, line in PLANTED.items():
        lines.append(line)
        where[len(lines)] = what
    (folder / 'planted.py').write_text('\n'.join(lines) + '\n')
    return where


def sown(folder):
    """tests/helpers/planted_mistakes.py as a program: {line: the mistake}."""
    lines = planted_mistakes.BEGIN.splitlines()
    mistakes = planted_mistakes.MISTAKES.split('\n')[1:-1]
    where = {len(lines) + number: line for number, line in enumerate(mistakes, 1)}
    (folder / 'sown.py').write_text('\n'.join(lines + mistakes) + '\n')
    assert len(where) > 160
    return where


@needs_pyright
def test_pyright_finds_a_mistake_in_every_line(tmp_path):
    where = sown(tmp_path)
    found = {line for _, line, _, _ in pyright(tmp_path)}
    assert [mistake for line, mistake in where.items() if line not in found] == []
    assert found <= set(where)


@needs_mypy
@pytest.mark.slow
def test_mypy_finds_a_mistake_in_every_line(tmp_path):
    where = sown(tmp_path)
    found = {line for _, line, _, _ in mypy(tmp_path, ['sown.py'])}
    assert [mistake for line, mistake in where.items() if line not in found] == []
    assert found <= set(where)


@needs_pyright
def test_pyright_finds_planted_mistakes(tmp_path):
    where = planted(tmp_path)
    found = {line for _, line, _, _ in pyright(tmp_path)}
    assert [what for line, what in where.items() if line not in found] == []
    assert found <= set(where)


@needs_mypy
@pytest.mark.slow
def test_mypy_finds_planted_mistakes(tmp_path):
    where = planted(tmp_path)
    found = {line for _, line, _, _ in mypy(tmp_path, ['planted.py'])}
    # a decorator of the method hides its types from mypy
    assert [what for line, what in where.items() if line not in found] in ([], ['wrong type of a context'])
    assert found <= set(where)


# ---------------------------------------------------------------------- completion
COMPLETIONS = {
    'nd.ones((2, 3)).': {'asnumpy', 'reshape', 'attach_grad', 'shape', 'as_in_context', 'sum'},
    'mx.sym.Conv': {'Convolution'},
    'net(x).': {'asnumpy', 'backward', 'shape'},
    'mx.np.ones(3).': {'item', 'reshape', 'mean', 'astype'},
    'gluon.nn.': {'Dense', 'Conv2D', 'HybridSequential', 'BatchNorm', 'Block'},
    'mx.random.': {'seed', 'uniform', 'normal'},
    'trainer.': {'step', 'set_learning_rate', 'allreduce_grads'},
    'mx.metric.': {'Accuracy', 'create', 'CompositeEvalMetric'},
    'mx.nd.random.': {'uniform', 'normal', 'randint'},
    'gluon.': {'Trainer', 'nn', 'loss', 'data', 'HybridBlock'},
    'mx.optimizer.': {'SGD', 'Adam', 'create'},
    'mx.sym.var("x").': {'list_arguments', 'simple_bind', 'infer_shape'},
    '(x + 1).': {'asnumpy', 'shape'},
    'x[0].': {'asnumpy', 'shape'},
    'class Net(gluon.HybridBlock):\n    def hybrid_forward(self, F, x):\n        return F.': {'relu', 'FullyConnected',
                                                                                             'contrib', 'concat'},
    'def forward(F: gluon.Operators, x):\n    return F.': {'relu', 'FullyConnected', 'contrib'},
}
# jedi gives a parameter only the type of its annotation: what F is, it cannot know
ONLY_PYRIGHT = {case for case in COMPLETIONS if '(self, F, x)' in case}


@needs_jedi
@pytest.mark.parametrize('case', [case for case in COMPLETIONS if case not in ONLY_PYRIGHT])
def test_jedi_completes(case, tmp_path):
    import jedi
    text = BEGIN + case
    lines = text.splitlines()
    script = jedi.Script(text, path=tmp_path / 'program.py',
                         project=jedi.Project(tmp_path, added_sys_path=[str(ROOT)]))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        found = {c.name for c in script.complete(len(lines), len(lines[-1]))}
    assert found >= COMPLETIONS[case], COMPLETIONS[case] - found


class LanguageServer:
    """Talks to pyright's language server as an editor does: JSON over its standard streams."""

    def __init__(self, folder):
        self.folder, self.number = folder, 0
        self.process = subprocess.Popen([SERVER, '--stdio'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=folder)
        self.ask('initialize', {'processId': None, 'rootUri': folder.as_uri(), 'capabilities': {},
                                'workspaceFolders': [{'uri': folder.as_uri(), 'name': 'programs'}]})
        self.tell('initialized', {})

    def send(self, message):
        body = json.dumps({'jsonrpc': '2.0', **message}).encode()
        self.process.stdin.write(b'Content-Length: %d\r\n\r\n' % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({'method': method, 'params': params})

    def ask(self, method, params):
        self.number += 1
        self.send({'id': self.number, 'method': method, 'params': params})
        while True:
            message = self.receive()
            if 'method' in message and 'id' in message:     # a question of the server: settings, registrations
                wanted = message['params'].get('items', []) if message['params'] else []
                self.send({'id': message['id'], 'result': [{} for _ in wanted] if wanted else None})
            elif message.get('id') == self.number:
                assert 'error' not in message, message
                return message.get('result')

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b'content-length:'):
                length = int(line.split(b':')[1])
        assert length, 'the language server has ended'
        return json.loads(self.process.stdout.read(length))

    def complete(self, name, text):
        uri = (self.folder / name).as_uri()
        self.tell('textDocument/didOpen', {'textDocument': {'uri': uri, 'languageId': 'python', 'version': 1,
                                                            'text': text}})
        lines = text.splitlines()
        found = self.ask('textDocument/completion', {'textDocument': {'uri': uri}, 'position': {
            'line': len(lines) - 1, 'character': len(lines[-1])}})
        return {item['label'] for item in (found['items'] if isinstance(found, dict) else found or [])}

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@needs_pyright
def test_pyright_completes(tmp_path):
    (tmp_path / 'pyrightconfig.json').write_text(json.dumps({'extraPaths': [str(ROOT)]}))
    server = LanguageServer(tmp_path)
    try:
        for number, (case, wanted) in enumerate(COMPLETIONS.items()):
            found = server.complete(f'program{number}.py', BEGIN + case)
            assert found >= wanted, f'{case}: {wanted - found} is missing'
    finally:
        server.close()


# ---------------------------------------------------------------------- the package itself
@needs_pyright
@pytest.mark.slow
def test_public_symbols_have_types(tmp_path):
    import os
    done = subprocess.run([PYRIGHT, '--verifytypes', 'mxnet', '--ignoreexternal', '--outputjson', '--pythonpath',
                           sys.executable], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)})
    score = json.loads(done.stdout)['typeCompleteness']['completenessScore']
    assert score >= 0.95


def public_functions(package):
    """(name, function) of everything that programs can call by a public name below a package, defined in mxnet."""
    seen = set()
    root = importlib.import_module(package)
    names = [package] + [m.name for m in pkgutil.walk_packages(getattr(root, '__path__', []), package + '.')]
    for name in names:
        if any(part.startswith('_') for part in name.split('.')):
            continue
        module = importlib.import_module(name)
        for public, value in vars(module).items():
            origin = getattr(value, '__module__', None) or ''
            if public.startswith('_') or not origin.startswith(package):
                continue
            if '._' in origin and public not in getattr(module, '__all__', ()):
                continue                    # a helper that the module imports
            if inspect.isfunction(value):
                yield f'{name}.{public}', value
            elif inspect.isclass(value) and value not in seen:
                seen.add(value)
                for method, member in vars(value).items():
                    if method.startswith('_') and method not in ('__init__', '__call__'):
                        continue
                    for function in (member.fget, member.fset) if isinstance(member, property) else \
                            [getattr(member, '__func__', member)]:
                        if inspect.isfunction(function) and '<' not in function.__qualname__:
                            yield f'{name}.{public}.{method}', function


def annotated(function):
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].name in ('self', 'cls'):
        del parameters[0]
    return signature.return_annotation is not signature.empty and all(
        p.annotation is not p.empty for p in parameters)


@pytest.mark.parametrize('package', ['autograd', 'gluon', 'image', 'initializer', 'io', 'kvstore', 'lr_scheduler',
                                     'metric', 'module', 'optimizer'])
def test_public_functions_are_annotated(package):
    found = {name: annotated(function) for name, function in public_functions(f'mxnet.{package}')}
    assert found
    assert [name for name, well in found.items() if not well] == []
