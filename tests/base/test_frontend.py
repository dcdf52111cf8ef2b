"""What derives from the table: binding, signatures, namespaces, stubs; and the table against upstream's inventory."""
import inspect
import json
import re
import subprocess
import sys

import numpy
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import nd
from mxnet._frontend import namespaces, stubs
from mxnet._ops import NAMES, TABLE

INVENTORY = ROOT.parent / 'shared' / 'api' / 'operators.json'


@pytest.fixture
def pinned_numpy():
    """The stubs are made with the NumPy of constraints.txt: others have other arguments, or no signatures of ufuncs."""
    pin = re.search(r'^numpy==(\d+\.\d+)', (ROOT / 'constraints.txt').read_text(), re.MULTILINE)[1]
    if not numpy.__version__.startswith(f'{pin}.'):
        pytest.skip(f'the stubs are made with NumPy {pin}, this is {numpy.__version__}')


def test_stubs_are_fresh(pinned_numpy):
    done = subprocess.run([sys.executable, '-m', 'mxnet._frontend.stubs', '--check'], capture_output=True, text=True,
                          cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_are_python(pinned_numpy):
    for path, text in stubs.all_stubs().items():
        compile(text, str(path), 'exec')


def test_signatures_are_real():
    names = list(inspect.signature(nd.FullyConnected).parameters)
    assert names[:6] == ['data', 'weight', 'bias', 'num_hidden', 'no_bias', 'flatten']
    assert inspect.signature(nd.Convolution).parameters['num_group'].default == 1
    assert 'num_hidden' in nd.FullyConnected.__doc__
    assert 'axis' in inspect.signature(nd.NDArray.sum).parameters


@pytest.mark.parametrize('name, where', [('dot', ('', 'dot')), ('_contrib_box_nms', ('contrib', 'box_nms')),
                                         ('_copyto', ('_internal', '_copyto')), ('_linalg_gemm', ('linalg', 'gemm')),
                                         ('_random_normal_like', ('random', 'normal_like'))])
def test_places(name, where):
    assert namespaces.place(name) == where


def test_positional_keyword_and_missing_arguments():
    x, w = nd.ones((2, 3)), nd.ones((4, 3))
    for y in (nd.FullyConnected(x, w, None, 4, True), nd.FullyConnected(data=x, weight=w, num_hidden=4, no_bias=True),
              nd.FullyConnected(x, weight=w, num_hidden='4', no_bias='True')):
        assert y.shape == (2, 4)
    with pytest.raises(TypeError, match='values for argument .*data'):
        nd.exp(x, data=x)
    with pytest.raises(mx.MXNetError, match='num_hidden is missing'):
        nd.FullyConnected(x, w, no_bias=True)
    with pytest.raises(TypeError, match='at most'):
        nd.exp(x, None, None, None)


# ---------------------------------------------------------------------- against the inventory
# upstream gives all inputs of these the name weight_0, gradients and states too: a graph could not tell them apart
# _linspace has the arguments of _arange there, _npi_concatenate those of Concat; the real ones are others.  _CachedOp
# is listed without any, since its nodes keep them elsewhere
WRONGLY_LISTED = {'_linspace', '_npi_concatenate', '_CachedOp'}
# behind functions that upstream sent through NumPy, without a gradient, or that only the array API has
OURS = {'WarpCTC',           # of a plug-in of upstream
        '_contrib_mrcnn_mask_target',           # upstream's builds for GPUs have it
        '_npi_resize', '_npi_take_along_axis', '_npi_cumprod', '_npi_nextafter'}
EXTRA = {'_linalg_potrf': {'lower'}, '_linalg_potri': {'lower'},
         '_npi_norm': {'ord', 'axis', 'keepdims', 'flag'},
         '_contrib_SparseEmbedding': {'deterministic'},       # accepted by upstream, but not listed
         '_CustomFunction': {'num_outputs'}}                  # what upstream's node knows without an attribute
OPTIONAL = {'smooth_l1': ('scalar',)}     # the inventory says required, but upstream takes the call without it
# the inventory's symbols lack arguments that are required
BUILT_WITH_NOTHING = {'_set_value', 'smooth_l1', '_npi_boolean_mask_assign_scalar', '_npi_boolean_mask_assign_tensor'}
MISNAMED = {'_contrib_dgl_csr_neighbor_uniform_sample', '_npi_multinomial', '_contrib_quantized_rnn',
            '_multi_adamw_update', '_multi_mp_adamw_update',
            '_multi_lamb_update', '_multi_mp_lamb_update'}



@pytest.fixture(scope='module')
def inventory():
    if not INVENTORY.exists():
        pytest.skip('no inventory beside the repository')
    return json.loads(INVENTORY.read_text())['operators']


def same_default(ours, text):
    if text in ('None', '') or ours is None:
        return ours is None or ours == text or ours == ''
    if isinstance(ours, bool):
        return ours == (text in ('1', 'True', 'true'))
    if isinstance(ours, (int, float)):
        return abs(float(ours) - float(text)) <= 1e-6 * max(1e-30, abs(float(text)))
    if isinstance(ours, tuple):
        return list(ours) == [float(t) for t in text.strip('[]()').split(',') if t.strip()]
    return str(ours) == text


def test_declarations_agree_with_upstream(inventory):
    """Names, aliases, arguments and their order, defaults."""
    wrong = []
    for name, op in TABLE.items():
        if name in WRONGLY_LISTED or name in OURS:
            continue
        record = inventory.get(name)
        if record is None:
            wrong.append(f'{name}: upstream has no such operator')
            continue
        if set(op.aliases) != set(record.get('aliases', [])):
            wrong.append(f'{name}: aliases {sorted(op.aliases)}, upstream {sorted(record.get("aliases", []))}')
        arrays = [a[0] for a in record['args'] if 'NDArray' in a[1] or a[1].startswith('Symbol')]
        attributes = [a for a in record['args'] if a[0] not in arrays]
        if op.variadic is None:
            if list(op.inputs) != arrays and not set(arrays) < set(op.inputs):
                wrong.append(f'{name}: inputs {op.inputs}, upstream {arrays}')
            # upstream's functions take arrays first, however the inventory mixes them
            order = arrays + [a[0] for a in attributes]
            if [p for p in op.positional if p in order] != order:
                wrong.append(f'{name}: order {op.positional}, upstream {order}')
        if {a[0] for a in attributes} != set(op.attributes) - {op.variadic} - EXTRA.get(name, set()) \
                and {a[0] for a in attributes} != set(op.attributes):
            wrong.append(f'{name}: attributes {sorted(op.attributes)}, upstream {sorted(a[0] for a in attributes)}')
            continue
        for a in attributes:
            ours = op.attributes[a[0]]
            if len(a) < 3:
                if not ours.required and a[0] != op.variadic and a[0] not in OPTIONAL.get(name, ()):
                    wrong.append(f'{name}.{a[0]}: default {ours.default!r}, upstream requires it')
            elif ours.required:
                wrong.append(f'{name}.{a[0]}: required, upstream has default {a[2]}')
            elif not same_default(ours.default, a[2]):
                wrong.append(f'{name}.{a[0]}: default {ours.default!r}, upstream {a[2]}')
    assert not wrong, '\n'.join(wrong)


def test_graph_facts_agree_with_upstream(inventory):
    """Inputs that a symbol would have, auxiliary states and outputs, with the options that change them."""
    wrong = []
    for name, op in TABLE.items():
        facts = inventory.get(name, {}).get('symbol')
        if not facts or op.variadic is not None and op.variadic_names is None or name in MISNAMED | BUILT_WITH_NOTHING:
            continue
        if facts.get('auto_inputs') is False and op.auto_inputs:
            wrong.append(f'{name}: upstream creates no inputs by itself')
        variants = [({}, facts)]
        for text, changes in facts.get('variants', {}).items():
            key, _, value = text.partition('=')
            variants.append(({key: value}, {**facts, **changes}))
        for options, want in variants:
            given = {**facts['with'], **options}
            try:
                attributes = op.complete(op.parse(given))
                inputs = op.input_names(attributes)
                outputs = op.output_names(attributes)
            except Exception as error:
                wrong.append(f'{name} with {given}: {error!r}')
                continue
            aux = op.aux_names(attributes)
            arguments = [n for n in inputs if n not in aux]
            if arguments != want['inputs']:
                wrong.append(f'{name} with {given}: inputs {arguments}, upstream {want["inputs"]}')
            if list(aux) != want['aux']:
                wrong.append(f'{name} with {given}: aux {aux}, upstream {want["aux"]}')
            if list(outputs) != want['outputs']:
                wrong.append(f'{name} with {given}: outputs {list(outputs)}, upstream {want["outputs"]}')
    assert not wrong, '\n'.join(wrong)


def test_attributes_round_trip_through_text():
    for op in TABLE.values():
        for attribute in op.attributes.values():
            if attribute.required or attribute.default is None:
                continue
            text = attribute.kind.format(attribute.default)
            assert attribute.kind.parse(text) == attribute.kind.parse(attribute.default), (op, attribute.name, text)


def test_every_operator_is_documented():
    assert [n for n, op in TABLE.items() if not op.doc] == []


def test_aliases_lead_to_one_row():
    assert NAMES['split'] is NAMES['SliceChannel'] and NAMES['Softmax'] is TABLE['SoftmaxOutput']


@pytest.mark.parametrize('dtype', ['float32', 'int32', 'uint8'])
def test_fresh_results_are_new_memory(dtype):
    """Operators that say `fresh` are not asked whether they returned a view: they must not."""
    import torch
    for op in TABLE.values():
        if op.fresh:
            inputs = [torch.ones(2, 2, dtype=getattr(torch, dtype)) for _ in op.inputs]
            try:
                result = op.function(*inputs)
            except (RuntimeError, mx.MXNetError):
                continue              # not every operator takes every dtype
            assert result.is_contiguous() and result._base is None, op
            assert all(result.data_ptr() != x.data_ptr() for x in inputs), op
