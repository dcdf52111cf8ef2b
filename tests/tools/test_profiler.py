"""mx.profiler: traces and tables are read back, and tell what was run under which name."""
import json
import os
import subprocess
import sys
import threading
import warnings
from collections import Counter

import pytest
import torch
from conftest import ROOT

import mxnet as mx
from mxnet import _dispatch, autograd, gluon, profiler
from mxnet._graph.codegen.writing import Plan
from mxnet.base import MXNetError
from mxnet.gluon import nn
from mxnet.profiler import _ranges, _session, _trace


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """A file in an empty folder, nothing measured before, nothing running afterwards."""
    monkeypatch.setattr(_session.session, 'statistics', _session.Statistics())
    monkeypatch.chdir(tmp_path)
    profiler.set_config(filename=str(tmp_path / 'trace.json'))
    yield
    profiler.set_state('stop')
    profiler.dump()
    profiler.set_config()


def measured(work, **config):
    """(sums, events of the file) of a function's run."""
    profiler.set_config(filename='trace.json', **config)
    profiler.start()
    work()
    profiler.stop()
    sums = json.loads(profiler.dumps(format='json'))
    profiler.dump()
    with open('trace.json') as file:
        return sums, json.load(file)['traceEvents']


def names(events, category):
    return Counter(e['name'] for e in events if e.get('cat') == category)


def inside(events, outer, inner):
    """Whether an event with the second name lies within one with the first."""
    return any(a['ts'] <= b['ts'] and b['ts'] + b['dur'] <= a['ts'] + a['dur'] and a['tid'] == b['tid']
               for a in events if a['name'] == outer and 'dur' in a
               for b in events if b['name'] == inner and 'dur' in b)


# ---------------------------------------------------------------------- operators
def test_operators_on_arrays():
    x = mx.nd.ones((4, 5))

    def work():
        y = mx.nd.FullyConnected(x, mx.nd.zeros((3, 5)), no_bias=True, num_hidden=3)
        ((y + y) + 1).exp()
        mx.np.exp(mx.np.ones(2) * 2)
        mx.nd.relu(y)

    sums, events = measured(work)
    assert {n: row['Count'] for n, row in sums['Time']['operator'].items()} == {
        'FullyConnected': 1, '_zeros': 1, 'broadcast_add': 1, '_plus_scalar': 1, 'exp': 1, '_npi_ones': 1,
        '_npi_multiply_scalar': 1, '_npi_exp': 1, 'relu': 1}
    assert names(events, 'operator')['FullyConnected'] == 1
    assert inside(events, 'FullyConnected', 'aten::linear') or inside(events, 'FullyConnected', 'aten::mm')
    assert inside(events, 'broadcast_add', 'aten::add')


def test_gradients_have_the_name_of_their_operator():
    x = mx.nd.ones((4, 5))
    x.attach_grad()

    def work():
        with autograd.record():
            y = mx.nd.relu(mx.nd.FullyConnected(x, mx.nd.ones((3, 5)), no_bias=True, num_hidden=3)).sum()
        y.backward()

    sums, events = measured(work)
    found = sums['Time']['operator']
    assert found['_backward_FullyConnected']['Count'] == found['_backward_relu']['Count'] == 1
    assert inside(events, '_backward_relu', 'aten::threshold_backward')


def mlp():
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.Dense(6, activation='relu'), nn.Dense(3))
    net.initialize()
    return net


def step(net, trainer):
    with autograd.record():
        loss = net(mx.nd.ones((4, 5))).sum()
    loss.backward()
    trainer.step(4)


def test_blocks_and_the_api():
    net = mlp()
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    step(net, trainer)
    sums, events = measured(lambda: step(net, trainer))
    assert sums['Time']['block'].keys() == {'net', 'net_dense0', 'net_dense0_relu', 'net_dense1'}
    assert {'Trainer.step', 'backward'} <= sums['Time']['api'].keys()
    assert inside(events, 'net', 'net_dense0') and inside(events, 'net_dense0', 'FullyConnected')
    assert {e['args']['class'] for e in events if e['name'] == 'net_dense1' and e['cat'] == 'block'} == {'Dense'}


def test_waiting_for_data():
    data = gluon.data.ArrayDataset(mx.nd.arange(6), mx.nd.arange(6))
    batches = mx.io.NDArrayIter(mx.nd.arange(6), batch_size=3)
    seen = []

    def work():
        seen.extend(x.asnumpy().tolist() for x, _ in gluon.data.DataLoader(data, batch_size=2))
        seen.extend(batch.data[0].asnumpy().tolist() for batch in batches)

    sums, _ = measured(work)
    assert seen == [[0, 1], [2, 3], [4, 5], [0, 1, 2], [3, 4, 5]]
    assert sums['Time']['api']['DataLoader.next']['Count'] == 4, 'three batches, and the end'
    assert sums['Time']['api']['DataIter.__next__']['Count'] == 3


def test_slices_lie_within_each_other():
    """Viewers draw nothing sensible of slices of a thread that begin in one and end in another."""
    net = mlp()
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    step(net, trainer)
    net.hybridize()

    def work():
        for _ in range(4):
            step(net, trainer)

    _, events = measured(work)
    slices = sorted((e['ts'], -e['dur'], e['name']) for e in events
                     if e['ph'] == 'X' and e.get('cat') in ('cpu_op', 'operator', 'layer', 'block', 'api'))
    ends = []
    for start, negative, name in slices:
        while ends and ends[-1][0] <= start:
            ends.pop()
        end = start - negative
        assert not ends or end <= ends[-1][0] + 0.0015, (name, ends[-1][1])
        ends.append((end, name))


@pytest.mark.parametrize('runs', [0, 3])
def test_layers_of_a_hybridized_block(runs):
    """By its program, at first, and by its plan, made before the profile begins."""
    net = mlp()
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    step(net, trainer)
    net.hybridize()
    for _ in range(runs):
        step(net, trainer)
    sums, events = measured(lambda: step(net, trainer))
    layers = {'net_dense0_fwd', 'net_dense0_relu_fwd', 'net_dense1_fwd'}
    assert layers == sums['Time']['layer, forward'].keys() == sums['Time']['layer, backward'].keys()
    assert layers <= names(events, 'layer').keys()
    assert inside(events, 'net_dense0_fwd', 'FullyConnected')
    assert sums['Time']['operator']['_backward_FullyConnected']['Count'] == 2
    assert {e['args']['layer'] for e in events if e['name'] == 'Activation' and e['cat'] == 'operator'} == {
        'net_dense0_relu_fwd'}


def test_plans_made_while_profiling():
    net = mlp()
    net.hybridize()

    def work():
        for _ in range(4):
            net(mx.nd.ones((4, 5)))

    sums, _ = measured(work)
    assert sums['Time']['layer, forward']['net_dense1_fwd']['Count'] == 4


def test_executors():
    data = mx.sym.Variable('data')
    net = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=3, name='fc1'), act_type='tanh', name='act1')
    executor = net.simple_bind(mx.cpu(), data=(4, 5))
    before = [executor.forward(is_train=True)[0].asnumpy() for _ in range(3)][-1]

    def work():
        executor.forward(is_train=True)
        executor.backward()

    sums, events = measured(work)
    assert sums['Time']['layer, forward'].keys() == {'fc1', 'act1'} == sums['Time']['layer, backward'].keys()
    assert sums['Time']['api'].keys() >= {'Executor.forward', 'Executor.backward'}
    assert (executor.outputs[0].asnumpy() == before).all()


def test_inference_of_shapes_is_not_counted():
    net = mlp()
    net.hybridize()
    sums, _ = measured(lambda: net(mx.nd.ones((2, 5))), profile_api=False)
    assert sums['Time']['operator']['FullyConnected']['Count'] == 2


def test_what_is_not_wanted_has_no_name():
    sums, events = measured(lambda: mx.nd.exp(mx.nd.ones(3)), profile_imperative=False, profile_memory=False)
    assert 'operator' not in sums['Time'] and not sums['Memory']
    assert names(events, 'cpu_op')['aten::exp'] == 1


# ---------------------------------------------------------------------- off means off
def test_nothing_is_left_behind():
    net = mlp()
    net.hybridize()
    for _ in range(3):
        net(mx.nd.ones((4, 5)))
    plans = list(Plan.live)
    functions = [(p.forward, p.joint, p.infer) for p in plans]
    measured(lambda: net(mx.nd.ones((4, 5))))
    assert plans and [(p.forward, p.joint, p.infer) for p in plans] == functions
    assert _dispatch.interceptors == [] == list(_dispatch.stack())


def test_no_attribute_is_replaced_while_profiling():
    """Functions, methods and module attributes are the same objects with and without a profile."""
    owners = [mx.nd, mx.nd.op, mx.nd.NDArray, mx.np, mx.npx, mx.autograd, gluon.Block, gluon.Trainer, mx.mod.Module,
              mx.executor.Executor, mx.kv.KVStore, mx._ops.core.table, mx.ndarray._invoke, mx.symbol._compose]
    before = [dict(vars(owner)) for owner in owners]
    rows = [op.function for op in mx._ops.TABLE.values()]
    profiler.start()
    try:
        during = [dict(vars(owner)) for owner in owners]
        assert [op.function for op in mx._ops.TABLE.values()] == rows
    finally:
        profiler.stop()
    for mine, plain in zip(during, before, strict=True):
        assert {name for name in mine if mine[name] is not plain.get(name)} == set()


def test_functions_taken_before_are_seen():
    from mxnet.ndarray import relu
    sums, _ = measured(lambda: relu(mx.nd.ones(3)))
    assert sums['Time']['operator']['relu']['Count'] == 1


# ---------------------------------------------------------------------- custom operators
@mx.operator.register('profiler_square')
class SquareProp(mx.operator.CustomOpProp):
    """x * x, with an operator of ours in it."""

    def create_operator(self, ctx, shapes, dtypes):
        class Square(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                self.assign(out_data[0], req[0], mx.nd.square(in_data[0]))

            def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
        return Square()


def test_custom_operators():
    x = mx.nd.array([1, 2])
    x.attach_grad()

    def work():
        with autograd.record():
            y = mx.nd.Custom(x, op_type='profiler_square')
        y.backward()

    sums, _ = measured(work)
    assert sums['Time']['Custom Operator'].keys() >= {
        'profiler_square::pure_python', 'profiler_square::square', '_backward_profiler_square::pure_python',
        '_backward_profiler_square::_mul_scalar'}
    assert 'square' not in sums['Time'].get('operator', {})


# ---------------------------------------------------------------------- memory, tables, files
def test_memory():
    sums, events = measured(lambda: mx.nd.ones((1000, 250)))
    assert sums['Memory']['Allocated by operator']['_ones']['Max'] == pytest.approx(250_000 * 4 / 1024, rel=0.01)
    assert sums['Memory']['Device Storage']['Memory: cpu/0']['Max'] >= 250_000 * 4 / 1024
    assert 'Total' not in sums['Memory']['Device Storage']['Memory: cpu/0']
    assert max(e['args']['bytes'] for e in events if e['name'] == 'Memory: cpu/0') >= 1_000_000


def test_table():
    def work():
        for _ in range(3):
            mx.nd.exp(mx.nd.ones(3))
        mx.nd.waitall()
    measured(work)
    lines = profiler.dumps(sort_by='count', ascending=True).split('\n')
    assert lines[1] == 'Profile Statistics:'
    at = lines.index('operator')
    assert lines[at + 2].split('  ')[0] == 'Name' and 'Avg Time (ms)' in lines[at + 2]
    name, count, total, least, most, average = lines[at + 4].split()
    assert (name, count) in (('exp', '3'), ('_ones', '3'))
    assert float(least) <= float(average) <= float(most) <= float(total)


@pytest.mark.parametrize('sort_by', ['total', 'avg', 'min', 'max', 'count'])
def test_order_of_rows(sort_by):
    def work():
        for i in range(4):
            mx.nd.exp(mx.nd.ones(10 ** i) + 1)
    measured(work)
    key = sort_by.capitalize()
    for ascending in (True, False):
        rows = json.loads(profiler.dumps(format='json', sort_by=sort_by, ascending=ascending))['Time']['operator']
        values = [row[key] for row in rows.values()]
        assert values == sorted(values, reverse=not ascending)


def test_reset():
    measured(lambda: mx.nd.ones(3))
    assert '_ones' in profiler.dumps(reset=True)
    assert '_ones' not in profiler.dumps()


def test_results_while_it_runs():
    profiler.start()
    mx.nd.exp(mx.nd.ones(3))
    assert json.loads(profiler.dumps(format='json'))['Time']['operator']['exp']['Count'] == 1
    mx.nd.exp(mx.nd.ones(3))
    profiler.dump(False)
    size = os.path.getsize('trace.json')
    assert json.loads(profiler.dumps(format='json'))['Time']['operator']['exp']['Count'] == 2
    mx.nd.exp(mx.nd.ones(3))
    profiler.dump(False)
    assert os.path.getsize('trace.json') > size
    profiler.stop()
    profiler.dump()
    with open('trace.json') as file:
        assert names(json.load(file)['traceEvents'], 'operator')['exp'] == 3


def test_pause():
    profiler.start()
    mx.nd.exp(mx.nd.ones(3))
    profiler.pause()
    mx.nd.sqrt(mx.nd.ones(3))
    profiler.resume()
    mx.nd.sin(mx.nd.ones(3))
    profiler.stop()
    assert json.loads(profiler.dumps(format='json'))['Time']['operator'].keys() == {'_ones', 'exp', 'sin'}


def test_continuous_dump():
    profiler.set_config(filename='often.json', continuous_dump=True, dump_period=1e-9)
    profiler.start()
    mx.nd.exp(mx.nd.ones(3)).asnumpy()
    with open('often.json') as file:
        assert names(json.load(file)['traceEvents'], 'operator')['exp'] == 1
    mx.nd.sin(mx.nd.ones(3)).asnumpy()
    with open('often.json') as file:
        assert names(json.load(file)['traceEvents'], 'operator').keys() >= {'exp', 'sin'}


def test_the_file_is_where_the_program_was(tmp_path, monkeypatch):
    profiler.set_config(filename='here.json')
    (tmp_path / 'deeper').mkdir()
    monkeypatch.chdir(tmp_path / 'deeper')
    profiler.start()
    mx.nd.ones(3)
    profiler.dump()
    assert (tmp_path / 'here.json').exists()


def test_another_file_name_loses_nothing():
    profiler.start()
    mx.nd.exp(mx.nd.ones(3))
    profiler.set_config(filename='second.json')
    mx.nd.sin(mx.nd.ones(3))
    profiler.dump()
    found = []
    for name in ('trace.json', 'second.json'):
        with open(name) as file:
            found.append(names(json.load(file)['traceEvents'], 'operator'))
    assert 'exp' in found[0] and 'sin' in found[1] and 'exp' not in found[1]


# ---------------------------------------------------------------------- events of a program
def test_own_events():
    domain = profiler.Domain('loading')
    assert str(domain) == 'loading'

    def work():
        with domain.new_task('read'):
            task = domain.new_task('decode')
            task.start()
        frame, event = domain.new_frame('batch'), profiler.Event('epoch')
        frame.start()
        event.start()
        task.stop()
        frame.stop()
        event.stop()
        with profiler.scope('part'):
            pass
        counter = domain.new_counter('left', 5)
        counter += 3
        counter -= 1
        domain.new_marker('here').mark()

    sums, events = measured(work)
    assert sums['Time']['loading'].keys() == {'read', 'decode'}
    assert sums['Time']['loading,frame'].keys() == {'batch'} and sums['Time']['event'].keys() == {'epoch', 'part'}
    assert sums['Counter']['loading']['left'] == {'Count': 3, 'Total': 20.0, 'Min': 5, 'Max': 8, 'Avg': 6.6667,
                                                  'Last': 7}
    assert [e['args']['left'] for e in events if e['name'] == 'left'] == [5, 8, 7, 0]
    assert [e['ph'] for e in events if e['name'] == 'decode'] == ['b', 'e']
    assert [e['s'] for e in events if e['name'] == 'here'] == ['p']
    whole = [e['ts'] for e in events if e.get('cat') == 'Trace']
    begin, end = [e['ts'] for e in events if e['name'] == 'read']
    assert begin <= end and abs(begin - whole[0]) < 60e6, 'our clock and that of the trace are the same'
    assert 'left' in profiler.dumps()


def test_own_events_need_a_profile():
    domain = profiler.Domain('idle')
    with domain.new_task('nothing'):
        domain.new_counter('none', 1)
        domain.new_marker('nowhere').mark('thread')
    assert 'nothing' not in profiler.dumps() and 'none' not in profiler.dumps()


# ---------------------------------------------------------------------- mistakes
@pytest.mark.parametrize(('config', 'message'), [
    ({'foo': 1}, 'unknown argument foo; it takes filename'),
    ({'profile_all': 'abc'}, "profile_all takes True or False, not 'abc'"),
    ({'dump_period': 0}, 'dump_period takes seconds above 0'),
    ({'profile_process': 'nobody'}, "takes 'worker' or 'server'"),
    ({'profile_process': 'server'}, 'there is no KVStore with servers'),
])
def test_wrong_configurations(config, message, monkeypatch):
    monkeypatch.setattr(profiler, 'profiler_kvstore_handle', None)      # calls with odd arguments may have left one
    with pytest.raises(MXNetError, match=message):
        profiler.set_config(**config)


def test_servers_of_a_store_without_any(monkeypatch):
    monkeypatch.setattr(profiler, 'profiler_kvstore_handle', None)
    profiler.set_kvstore_handle(mx.kv.create('local'))
    with pytest.raises(MXNetError, match="of type 'local' has no servers"):
        profiler.set_state('run', profile_process='server')


def test_other_mistakes():
    with pytest.raises(KeyError, match="state must be 'run' or 'stop', not 'walk'"):
        profiler.set_state('walk')
    with pytest.raises(AssertionError, match='format'):
        profiler.dumps(format='xml')
    with pytest.raises(AssertionError, match='sort_by'):
        profiler.dumps(sort_by='name')
    with pytest.raises(MXNetError, match='scope takes'):
        profiler.Domain('d').new_marker('m').mark('room')
    for old, arguments in ((profiler.profiler_set_config, {'mode': 'all', 'filename': 'old.json'}),
                           (profiler.profiler_set_state, {}), (profiler.dump_profile, {})):
        with pytest.warns(UserWarning, match='deprecated'):
            old(**arguments)


def test_another_profiler_runs():
    warnings.simplefilter('ignore')         # torch 2.11 has something to say about its own
    with torch.profiler.profile(), pytest.raises(MXNetError, match='a torch.profiler runs already'):
        profiler.start()
    assert _dispatch.interceptors == []


def test_another_profiler_takes_over():
    profiler.start()
    with torch.profiler.profile():
        pass
    with pytest.raises(MXNetError, match='a torch.profiler was used while this one ran'):
        profiler.stop()
    measured(lambda: mx.nd.ones(3))


def test_stopped_in_another_thread():
    profiler.start()
    errors = []

    def stop():
        try:
            profiler.stop()
        except MXNetError as error:
            errors.append(str(error))

    thread = threading.Thread(target=stop)
    thread.start()
    thread.join()
    assert errors and 'started in another thread' in errors[0]


# ---------------------------------------------------------------------- whole programs
@pytest.mark.parametrize(('mode', 'operators'), [('1', {'exp'}), ('0', set())])
def test_started_by_the_environment(tmp_path, mode, operators):
    """The file is written when the program ends."""
    code = "import mxnet as mx; mx.nd.exp(mx.nd.array([1, 2])).asnumpy()"
    surroundings = {**os.environ, 'MXNET_PROFILER_AUTOSTART': '1', 'MXNET_PROFILER_MODE': mode, 'PYTHONPATH': str(ROOT)}
    subprocess.run([sys.executable, '-c', code], env=surroundings, check=True, cwd=tmp_path)
    with open(tmp_path / 'profile.json') as file:
        assert set(names(json.load(file)['traceEvents'], 'operator')) == operators


# ---------------------------------------------------------------------- GPU
def test_kernels_belong_to_the_operator_that_started_them(tmp_path):
    """A trace as it comes from a machine with a GPU: a call, its launch, two kernels, and the gradient's on a thread of
    torch's engine."""
    def event(name, category, start, length, thread=1, **arguments):
        return {'ph': 'X', 'name': name, 'cat': category, 'ts': start, 'dur': length, 'pid': 1, 'tid': thread,
                'args': arguments}

    def flow(phase, start, thread):
        return {'ph': phase, 'id': 7, 'cat': 'fwdbwd', 'name': 'fwdbwd', 'ts': start, 'pid': 1, 'tid': thread}

    engine = 'autograd::engine::evaluate_function: AddmmBackward0'
    events = [
        event(_ranges.encode('api', 'Trainer.step'), 'cpu_op', 0, 100),
        event(_ranges.encode('operator', 'FullyConnected', 'fc1'), 'cpu_op', 10, 20),
        event('aten::addmm', 'cpu_op', 12, 10, **{'External id': 3}), flow('s', 12, 1),
        event('cudaLaunchKernel', 'cuda_runtime', 14, 2, correlation=50),
        event('gemm', 'kernel', 40, 30, thread=7, correlation=50, **{'External id': 3}),
        event('splitKreduce', 'kernel', 70, 5, thread=7, **{'External id': 3}),
        event(engine, 'cpu_op', 200, 15, thread=2), flow('f', 201, 2),
        event('cudaLaunchKernel', 'cuda_runtime', 203, 2, thread=2, correlation=51),
        event('gemm_nt', 'kernel', 220, 40, thread=7, correlation=51),
        event('nobody', 'kernel', 300, 1, thread=7, correlation=99),
    ]
    path = tmp_path / 'gpu.json'
    path.write_text(json.dumps({'traceEvents': events, 'baseTimeNanoseconds': 5}))
    trace = _trace.Trace(path)
    assert {s.name: (s.device, s.time) for s in trace.spans} == {
        'Trainer.step': (35, 100), 'FullyConnected': (35, 35), '_backward_FullyConnected': (40, 40)}
    told = {e['name']: (e['args'].get('operator'), e['args'].get('layer'))
            for e in trace.events if e['cat'] == 'kernel'}
    assert told == {'gemm': ('FullyConnected', 'fc1'), 'splitKreduce': ('FullyConnected', 'fc1'),
                    'gemm_nt': ('_backward_FullyConnected', 'fc1'), 'nobody': (None, None)}


@pytest.mark.gpu
def test_kernels_of_a_gpu():
    """Times are those of the kernels; ranges are drawn beside them, too."""
    net = mlp()
    net.initialize(ctx=mx.gpu(0), force_reinit=True)
    x = mx.nd.ones((512, 4096), ctx=mx.gpu(0))

    def work():
        with autograd.record():
            y = net(x).sum()
        y.backward()
        mx.nd.dot(x, x, transpose_b=True).wait_to_read()

    work()
    sums, events = measured(work)
    kernels = [e for e in events if e.get('cat') == 'kernel']
    assert kernels
    device = sum(e['dur'] for e in kernels) / 1e3
    counted = [row['Total'] for row in sums['Time']['operator'].values()]
    assert sums['Time']['operator']['dot']['Total'] <= device
    assert sums['Time']['operator']['_backward_FullyConnected']['Count'] == 2
    assert 'Memory: gpu/0' in sums['Memory']['Device Storage']
    assert 0 < sum(counted)
    assert {'dot', 'FullyConnected'} <= names(events, 'operator').keys()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(6):
        work()
    sums, events = measured(work)
    assert {'net_dense0_fwd', 'net_dense1_fwd'} <= sums['Time']['layer, backward'].keys()
    for _ in range(3):
        work()
    _, events = measured(work, profile_symbolic=False)
    assert not names(events, 'layer') and [e for e in events if e.get('cat') == 'kernel']
