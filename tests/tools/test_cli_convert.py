"""`remx convert` and `remx predict`: every target, compared with the original, and what is said of mistakes."""
import json
import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch
from conftest import ROOT

import mxnet as mx
from mxnet import gluon, nd
from mxnet.cli import main
from mxnet.gluon import nn


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checkpoint(prefix='lenet', epoch=3):
    """A checkpoint as `Module` writes it."""
    mx.random.seed(0)
    x = mx.sym.Convolution(mx.sym.var('data'), kernel=(5, 5), num_filter=4, name='conv0')
    x = mx.sym.Activation(mx.sym.BatchNorm(x, name='bn0'), act_type='tanh', name='act0')
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type='max', name='pool0')
    x = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10, name='fc0'), name='softmax')
    module = mx.mod.Module(x)
    module.bind([('data', (2, 1, 12, 12))], [('softmax_label', (2,))])
    module.init_params(mx.init.Xavier())
    module.save_checkpoint(prefix, epoch)
    return module


def expected(module, x):
    module = module if not isinstance(module, str) else None
    batch = mx.io.DataBatch([nd.array(x)], [nd.zeros(len(x))])
    module.forward(batch, is_train=False)
    return module.get_outputs()[0].asnumpy()


X = np.random.RandomState(0).uniform(-1, 1, (5, 1, 12, 12)).astype('float32')
SHAPE = ['--shape', 'data=1,1,12,12']


SLOW = pytest.mark.slow


@pytest.mark.parametrize('kind', [[], pytest.param(['--half'], marks=SLOW), pytest.param(['--bf16'], marks=SLOW)])
def test_to_torch(folder, capsys, kind):
    module = checkpoint()
    tolerance = ['--tolerance', '0.2'] if kind else []
    assert main(['convert', 'lenet', '--to', 'torch', *SHAPE, *kind, *tolerance]) == 0
    assert 'lenet.py and lenet.safetensors: largest difference' in capsys.readouterr().out
    text = (folder / 'lenet.py').read_text()
    assert 'self.conv0 = nn.Conv2d(1, 4, 5)  # Convolution conv0' in text and 'softmax_label' not in text
    program = textwrap.dedent('''
        import sys
        sys.modules['mxnet'] = None
        import numpy, torch
        from lenet import load
        network = load()
        kind = network.fc0.weight.dtype
        x = torch.from_numpy(numpy.load('x.npy')).to(kind)
        numpy.save('y.npy', network(x).detach().float().numpy())
        network.train()
        optimizer = torch.optim.SGD(network.parameters(), 0.1)
        before = network.bn0.weight.clone()
        network(x).square().sum().backward()
        optimizer.step()
        assert torch.equal(network.bn0.weight, before)      # fix_gamma
        assert network.conv0.weight.grad.abs().sum() > 0
    ''')
    np.save('x.npy', X)
    subprocess.run([sys.executable, '-W', 'ignore', '-c', program], check=True)
    np.testing.assert_allclose(np.load('y.npy'), expected(module, X), rtol=0.2 if kind else 1e-5, atol=1e-2 if kind
                               else 1e-6)


def test_to_other_files(folder, capsys):
    module = checkpoint()
    want = expected(module, X)
    for to in ('onnx', 'safetensors', 'gluon', 'symbol'):
        assert main(['convert', 'lenet', '3', '--to', to, *SHAPE, '--out', f'new_{to}']) == 0
    assert capsys.readouterr().out.count('batch 1 and 5') == 4
    import onnxruntime
    session = onnxruntime.InferenceSession('new_onnx.onnx')
    np.testing.assert_allclose(session.run(None, {'data': X})[0], want, rtol=1e-4, atol=1e-6)
    from safetensors.numpy import load_file
    assert set(load_file('new_safetensors.safetensors')) == {'conv0_weight', 'conv0_bias', 'bn0_gamma', 'bn0_beta',
                                                             'bn0_moving_mean', 'bn0_moving_var', 'fc0_weight',
                                                             'fc0_bias'}
    net = gluon.SymbolBlock.imports('new_gluon-symbol.json', ['data'], 'new_gluon-0000.params')
    np.testing.assert_allclose(net(nd.array(X)).asnumpy(), want, rtol=1e-5)
    assert 'softmax_label' not in net._cached_graph[1].list_inputs()
    sym, arguments, states = mx.model.load_checkpoint('new_symbol', 0)
    assert 'softmax_label' in sym.list_arguments() and set(states) == {'bn0_moving_mean', 'bn0_moving_var'}


@SLOW
def test_from_onnx_safetensors_and_gluon(folder):
    checkpoint()
    assert main(['convert', 'lenet', '--to', 'onnx', *SHAPE]) == 0
    assert main(['convert', 'lenet.onnx', '--to', 'torch', '--out', 'from_onnx']) == 0
    assert main(['convert', 'lenet', '--to', 'safetensors', *SHAPE]) == 0
    os.remove('lenet-0003.params')
    assert main(['convert', 'lenet', '--to', 'onnx', *SHAPE, '--out', 'again']) == 0
    (folder / 'nets_of_test.py').write_text('''
from mxnet.gluon import nn


def small():
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation='relu'), nn.Dense(2))
    return net
''')
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation='relu'), nn.Dense(2))
    net.initialize()
    net(nd.ones((1, 4)))
    net.save_parameters('small.params')
    try:
        for to in ('torch', 'onnx', 'gluon'):
            assert main(['convert', 'small.params', '--network', 'nets_of_test:small', '--to', to, '--shape',
                         'data=1,4']) == 0
    finally:
        sys.modules.pop('nets_of_test', None)
    assert "self.add_module('0', nn.Linear(4, 3))" in (folder / 'small.py').read_text()


def test_loops_and_indices(folder):
    embedded = mx.sym.Embedding(mx.sym.var('data'), input_dim=7, output_dim=3, name='embed')
    out, _ = mx.sym.contrib.foreach(lambda x, s: (x + s[0], [x + s[0]]), mx.sym.transpose(embedded, axes=(1, 0, 2)),
                                    [mx.sym.var('state')])
    out.save('loop-symbol.json')
    nd.save('loop-0000.params', {'arg:embed_weight': nd.random.normal(shape=(7, 3))})
    assert main(['convert', 'loop', '--to', 'torch', '--shape', 'data=2,4', '--shape', 'state=2,3']) == 0
    assert 'class _Foreach' in (folder / 'loop.py').read_text()


GRAPHS = {'module': ['data=1,3,6,6'], 'export': ['data=1,3,6,6'], 'export_np': ['data=1,3'],
          'group': ['a=1,3', 'b=1,3'], 'foreach': ['data=4,2,3', 'state=2,3'], 'cell': ['seq=2,2,3']}


@SLOW
@pytest.mark.parametrize('name', GRAPHS)
def test_graphs_of_upstream(folder, shared, name):
    files = shared / 'golden' / 'files'
    shutil.copy(files / f'{name}-symbol.json', folder)
    if (files / f'{name}-0000.params').exists():
        shutil.copy(files / f'{name}-0000.params', folder)
    else:
        with np.load(files / 'expected.npz') as values:
            names = [n for n in mx.sym.load(f'{name}-symbol.json').list_arguments()
                     if n not in [s.partition('=')[0] for s in GRAPHS[name]]]
            nd.save(f'{name}-0000.params', {f'arg:{n}': nd.array(values[f'{name}/{n}']) for n in names}
                    or {'arg:unused': nd.zeros(1)})
    arguments = [a for s in GRAPHS[name] for a in ('--shape', s)]
    # the first axis of a loop is time, and that of its state the batch
    static = ['--static'] if name == 'foreach' else []
    assert main(['convert', name, '--to', 'torch', *arguments, *static, '--out', f'of_{name}']) == 0
    if name != 'foreach':           # ONNX export has no loops, and states of a fixed batch
        static = ['--static'] if name == 'cell' else []
        assert main(['convert', name, '--to', 'onnx', *arguments, *static, '--out', f'of_{name}']) == 0


@pytest.mark.parametrize('change, arguments, message', [
    (None, ['lenet', '--to', 'torch'], 'the shape of data is not known: give it'),
    (None, ['lenet', '--to', 'torch', '--shape', 'data=1,x'], '--shape data=1,x: it takes a name and lengths'),
    (None, ['lenet', '--to', 'torch', '--shape', 'other=1,2'], 'has no input other; it has data'),
    (None, ['nothing', '--to', 'torch', *SHAPE], 'there is no nothing-symbol.json'),
    (None, ['lenet', '7', '--to', 'torch', *SHAPE], 'there is no lenet-0007.params; there are lenet-0003.params'),
    (None, ['lenet', '--to', 'torch', '--shape', 'data=1,1,3,3'], 'conv0'),
    (None, ['lenet', '--to', 'onnx', '--tolerance', '1e-30', *SHAPE], 'nothing was written'),
    (None, ['lenet', '--to', 'onnx', '--bf16', *SHAPE], '--bf16 is for'),
    (None, ['lenet', '--to', 'torch', '--out', 'no/such', *SHAPE], 'there is no folder'),
    (None, ['lenet-0003.params', '--network', 'os', '--to', 'torch', *SHAPE], 'it takes module:function'),
    ('truncate', ['lenet', '--to', 'torch', *SHAPE], 'lenet-0003.params'),
    ('custom', ['custom', '--to', 'torch', *SHAPE], 'no translation to torch for Custom (odd)'),
    ('custom', ['custom', '--to', 'onnx', *SHAPE], 'no translation of Custom (odd)'),
    ('epoch0', ['lenet', '--to', 'symbol', *SHAPE], 'is the source itself'),
])
def test_mistakes_leave_no_files(folder, capsys, change, arguments, message):
    checkpoint(epoch=0 if change == 'epoch0' else 3)
    if change == 'truncate':
        data = (folder / 'lenet-0003.params').read_bytes()
        (folder / 'lenet-0003.params').write_bytes(data[:len(data) // 2])
    elif change == 'custom':
        class Odd(mx.operator.CustomOpProp):
            def create_operator(self, ctx, shapes, dtypes):
                return mx.operator.CustomOp()
        mx.operator.register('odd_of_convert')(Odd)
        data = mx.sym.broadcast_mul(mx.sym.var('data'), mx.sym.var('w'))
        mx.sym.Custom(data, op_type='odd_of_convert', name='odd').save('custom-symbol.json')
        nd.save('custom-0000.params', {'arg:w': nd.ones(1)})
    before = sorted(os.listdir())
    assert main(['convert', *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith('remx convert: ') and message in error, error
    assert sorted(os.listdir()) == before


# ---------------------------------------------------------------------- C++
CPP = r'''
#include <iostream>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>

int main(int argc, char** argv) {
    torch::NoGradGuard no_grad;
    torch::inductor::AOTIModelPackageLoader network(argv[1]);
    torch::Tensor x = torch::linspace(-1, 1, 5 * 144).reshape({5, 1, 12, 12});
    torch::Tensor y = network.run({x})[0];
    std::cout.precision(9);
    for (int64_t i = 0; i < y.numel(); i++) std::cout << y.view(-1)[i].item<float>() << "\n";
}
'''


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_pt2_runs_from_cpp(folder):
    module = checkpoint()
    assert main(['convert', 'lenet', '--to', 'pt2', *SHAPE]) == 0
    (folder / 'run.cpp').write_text(CPP)
    root = os.path.dirname(torch.__file__)
    abi = int(torch.compiled_with_cxx11_abi())
    subprocess.run(['g++', '-std=c++20', '-O1', f'-D_GLIBCXX_USE_CXX11_ABI={abi}', 'run.cpp', '-o', 'run',
                    f'-I{root}/include', f'-I{root}/include/torch/csrc/api/include', f'-L{root}/lib', '-ltorch',
                    '-ltorch_cpu', '-lc10', f'-Wl,-rpath,{root}/lib'], check=True)
    found = subprocess.run(['./run', 'lenet.pt2'], check=True, capture_output=True, text=True).stdout.split()
    x = torch.linspace(-1, 1, 5 * 144).reshape(5, 1, 12, 12).numpy()
    np.testing.assert_allclose(np.array(found, 'float32').reshape(5, 10), expected(module, x), rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------- remx predict
def picture(path, size=(20, 30)):
    cv2 = pytest.importorskip('cv2')
    image = (np.arange(size[0] * size[1]).reshape(size) % 251).astype('uint8')
    cv2.imwrite(str(path), image)


def test_predict(folder, capsys):
    module = checkpoint()
    np.save('x.npy', X)
    (folder / 'synset.txt').write_text(''.join(f'n0000000{i} kind {i}, more\n' for i in range(10)))
    assert main(['predict', 'lenet', 'x.npy', *SHAPE, '--top', '2', '--out', 'y.npy']) == 0
    want = expected(module, X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10 and lines[0].startswith('x.npy[0]') and lines[0].endswith(f'kind {want[0].argmax()}, more')
    np.testing.assert_allclose(np.load('y.npy'), want, rtol=1e-5)
    picture('a.png')
    np.savetxt('table.csv', X.reshape(5, -1), delimiter=',')
    assert main(['predict', 'lenet', 'a.png', 'table.csv', *SHAPE, '--format', 'json', '--unit', '--mean', '0.5']) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r['input'] for r in rows] == ['a.png', *[f'table.csv[{i}]' for i in range(5)]]
    assert len(rows[0]['classes']) == 5 and rows[1]['classes'][0]['number'] == want[0].argmax()
    assert main(['predict', 'lenet', 'x.npy', *SHAPE, '--raw', '--format', 'json', '--batch', '2']) == 0
    rows = [json.loads(line)['output'] for line in capsys.readouterr().out.splitlines()]
    np.testing.assert_allclose(rows, want, rtol=1e-4, atol=1e-6)


def test_predict_reads_a_signature(folder, capsys):
    module = checkpoint()
    np.save('x.npy', X)
    inputs = [{'data_name': 'data', 'data_shape': [0, 1, 12, 12]}]
    (folder / 'signature.json').write_text(json.dumps({'inputs': inputs}))
    assert main(['predict', 'lenet', 'x.npy', '--top', '1']) == 0
    assert f'class {expected(module, X)[0].argmax()}' in capsys.readouterr().out


@pytest.mark.parametrize('name, data, message', [
    ('a.png', b'no picture', 'a.png is not an image'), ('a.npy', b'no array', 'a.npy is not an .npy array'),
    ('a.csv', b'1,2\nx,y', 'a.csv is not a table of numbers'), ('a.txt', b'', 'it takes images'),
    ('a.csv', b'1,2,3', 'but the network takes (N, 1, 12, 12)'), ('a.csv', b'', 'a.csv has no rows of numbers'),
    ('a.csv', b'a,b\n', 'a.csv has no rows of numbers'), ('a.csv', b'1,2\n1\n', 'row 2 has 1 columns, the first 2'),
    ('a.csv', b'1,\n', "row 1, column 2 is ''"), ('a.csv', b'\xff\xfe1', 'a.csv is not a table of numbers'),
    ('a.npy', 'empty', 'a.npy: there are no inputs'), ('synset.txt', b'caf\xe9', 'synset.txt is not text in UTF-8'),
    ('missing.png', None, 'there is no file missing.png')])
def test_predict_mistakes(folder, capsys, name, data, message):
    checkpoint()
    if data == 'empty':
        np.save(name, np.zeros((0, 1, 12, 12)))
    elif data is not None:
        (folder / name).write_bytes(data)
    if name == 'synset.txt':
        name = 'x.npy'
        np.save(name, X)
    assert main(['predict', 'lenet', name, *SHAPE]) == 1
    assert message in capsys.readouterr().err


def test_predict_refuses_to_divide_by_zero(folder, capsys):
    checkpoint()
    picture('a.png')
    assert main(['predict', 'lenet', 'a.png', *SHAPE, '--std', '0']) == 1
    assert '--std: values are divided by it' in capsys.readouterr().err


def test_predict_reads_tables_as_programs_write_them(folder, capsys):
    module = checkpoint()
    rows = [','.join(f'{v:.6g}' for v in row) for row in X.reshape(5, -1)]
    header = ','.join(f'pixel {i}' for i in range(144))
    quoted = '\n'.join(','.join(f'"{v}"' for v in row.split(',')) for row in rows)
    texts = ['\ufeff' + header + '\r\n' + '\r\n'.join(rows) + '\r\n', '# made by hand\n\n' + '\n'.join(rows), quoted,
             '\n'.join(row.replace(',', ' , ') for row in rows)]
    (folder / 'synset.txt').write_bytes('\ufeffzero\r\none\r\n'.encode())
    for text in texts:
        (folder / 'table.csv').write_bytes(text.encode())
        assert main(['predict', 'lenet', 'table.csv', *SHAPE, '--top', '10', '--format', 'json']) == 0
        found = [json.loads(line)['classes'] for line in capsys.readouterr().out.splitlines()]
        assert [row[0]['number'] for row in found] == expected(module, X).argmax(1).tolist()
        assert {c['class'] for c in found[0]} == {'zero', 'one', *map(str, range(2, 10))}
    np.save('one.npy', X[0, 0])                     # (height, width) of a network of one channel
    assert main(['predict', 'lenet', 'one.npy', *SHAPE]) == 0


def test_json_of_predict_has_null_for_what_is_no_number(folder, capsys):
    checkpoint()
    np.save('x.npy', np.full((1, 1, 12, 12), np.nan, 'float32'))
    for more in ([], ['--raw']):
        assert main(['predict', 'lenet', 'x.npy', *SHAPE, '--format', 'json', *more]) == 0
        found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
        assert (found['output'] if more else [c['value'] for c in found['classes']])[0] is None


# ---------------------------------------------------------------------- the page
def commands(page, slow=False):
    """The lines of the shell blocks of a page of docs/en."""
    import re
    text = (ROOT / 'docs' / 'en' / page).read_text(encoding='utf-8')
    kinds = ('sh', 'sh slow') if slow else ('sh',)
    return [line for kind, block in re.findall(r'```(sh[a-z ]*)\n(.*?)```', text, re.S) if kind in kinds
            for line in block.splitlines()], text


@SLOW
def test_the_commands_of_the_page(folder, capsys):
    import re
    lines, text = commands('convert.md')
    exec(re.search(r'```python\n(.*?)```', text, re.S)[1], {})
    for line in lines:
        name, *arguments = line.split()
        assert name == 'remx' and main(arguments) == 0, line
    assert 'lenet.py and lenet.safetensors: largest difference 0 (relative), batch 1 and 5' in capsys.readouterr().out
    assert CPP.strip() in text
    assert np.load('scores.npy').shape == (3, 10)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_slow_commands_of_the_page(folder):
    """Those of `sh slow` blocks: they compile."""
    import re
    lines, text = commands('convert.md', slow=True)
    exec(re.search(r'```python\n(.*?)```', text, re.S)[1], {})
    quick, _ = commands('convert.md')
    chosen = [line for line in lines if line not in quick]
    assert chosen
    for line in chosen:
        name, *arguments = line.split()
        assert name == 'remx' and main(arguments) == 0, line
    assert (folder / 'lenet.pt2').exists()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_javascript_of_the_page(folder):
    """With the package that npm installs; where there is no Node.js or no registry, it is skipped."""
    import re
    text = (ROOT / 'docs' / 'en' / 'convert.md').read_text(encoding='utf-8')
    if shutil.which('node') is None or shutil.which('npm') is None:
        pytest.skip('no Node.js')
    install = re.search(r'`(npm install --ignore-scripts \S+)`', text)[1]
    done = subprocess.run(install.split(), cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        pytest.skip(f'npm could not install the package: {done.stderr[-200:]}')
    exec(re.search(r'```python\n(.*?)```', text, re.S)[1], {})
    assert main(['convert', 'lenet', '--to', 'onnx', '--shape', 'data=1,1,28,28']) == 0
    (folder / 'run.js').write_text(re.search(r'```js\n(.*?)```', text, re.S)[1])
    found = subprocess.run(['node', 'run.js'], cwd=folder, capture_output=True, text=True, check=True)
    assert found.stdout.strip() in text and found.stdout.strip() == '[ 5, 10 ]'


@pytest.mark.parametrize('text, message', [
    ('def make():\n    raise KeyError(3)', 'make() failed: KeyError: 3'),
    ('def make(size):\n    pass', 'make() failed: TypeError: make() missing 1'),
    ('def make(:', 'SyntaxError: '), ('make = undefined', "NameError: name 'undefined'"),
    ('def other():\n    pass', "has no attribute 'make'")])
def test_functions_of_networks_that_fail_are_named(folder, capsys, text, message):
    checkpoint()
    name = f'nets_{abs(hash(text))}'
    (folder / f'{name}.py').write_text(text)
    assert main(['convert', 'lenet-0001.params', '--to', 'torch', '--network', f'{name}:make', *SHAPE]) == 1
    said = capsys.readouterr().err
    assert f'--network {name}:make: ' in said and message in said
