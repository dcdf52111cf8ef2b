"""The language of `remx train --tune`, and what is said of mistakes in it."""
import argparse

import pytest

import mxnet as mx
from mxnet.cli import _tuning
from mxnet.contrib.tune import Range, parse_space, suggest


@pytest.mark.parametrize('text, wanted', [
    ('lr=log:1e-4..1e-1', Range('lr', None, 1e-4, 1e-1, None, True, False)),
    ('x=0..1', Range('x', None, 0, 1, None, False, True)),
    ('x=0..1.', Range('x', None, 0, 1, None, False, False)),
    ('x=float:0..1', Range('x', None, 0, 1, None, False, False)),
    ('x = -2.5 .. +3e1', Range('x', None, -2.5, 30, None, False, False)),
    ('x=int:log:8..512', Range('x', None, 8, 512, None, True, True)),
    ('x=log:int:8..512', Range('x', None, 8, 512, None, True, True)),
    ('x=int:32..512/32', Range('x', None, 32, 512, 32, False, True)),
    ('x=0.1..0.9/0.2', Range('x', None, 0.1, 0.9, 0.2, False, False)),
    ('x=sgd|adam', Range('x', ('sgd', 'adam'))),
    ('x=1|2|3', Range('x', (1, 2, 3))),
    ('x=1|2.5', Range('x', (1.0, 2.5))),
    ('x=only', Range('x', ('only',))),
    ('x=64,64|128,32', Range('x', ('64,64', '128,32'))),
    ('x=a:b|c', Range('x', ('a:b', 'c'))),
])
def test_ranges(text, wanted):
    assert parse_space(text) == {wanted.name: wanted}


def test_several():
    found = parse_space(' lr=log:1e-4..1e-1 , ctx=gpu(0),gpu(1)|cpu,optimizer=sgd|adam')
    assert list(found) == ['lr', 'ctx', 'optimizer'] and found['ctx'].choices == ('gpu(0),gpu(1)', 'cpu')


@pytest.mark.parametrize('text, said, marked', [
    ('', 'empty', None),
    ('lr', "'lr' is not name=range", 'lr'),
    ('lr=', "'lr' has no values", '='),
    ('=1..2', 'no name', '='),
    ('lr=1..2,', 'nothing between', ' '),
    ('a=1..2,,b=1..2', 'nothing between', None),
    ('lr=2..1', 'ends at its start', '2..1'),
    ('lr=1..1', 'ends at its start', '1..1'),
    ('lr=1...2', 'is no range', '1...2'),
    ('lr=1..', 'is no range', '1..'),
    ('lr=..2', 'is no range', '..2'),
    ('lr=a..b', 'is no range', 'a..b'),
    ('lr=1..2..3', 'is no range', '1..2..3'),
    ('lr=log:0..1', 'begins above 0', '0'),
    ('lr=log:-1..1', 'begins above 0', '-1'),
    ('lr=log:1..9/2', 'no steps', '1..9/2'),
    ('lr=log:5', 'needs low..high', '5'),
    ('lr=lin:1..2', 'no kind of range', 'lin'),
    ('n=int:1.5..3', 'no integer', '1.5'),
    ('n=int:1..3/0.5', 'no integer', '0.5'),
    ('n=1..3/0', 'above 0', '0'),
    ('n=1..3/x', 'no step', 'x'),
    ('n=a||b', 'nothing beside |', '|'),
    ('n=a|b|a', 'twice', 'a'),
    ('n=1..2|3', 'is a range', '1..2'),
    ('a=1..2,a=1..2', "'a' is there twice", 'a'),
])
def test_mistakes_say_where(text, said, marked):
    with pytest.raises(mx.MXNetError) as error:
        parse_space(text)
    message = str(error.value)
    assert said in message
    if marked is not None:
        first, shown, arrows = message.split('\n')
        start, end = arrows.index('^'), len(arrows)
        assert shown[start:end] == marked or shown[start:end] == '' and marked == ' '
        assert f'(character {start - 3})' in first


def test_options_of_train():
    found = _tuning.parse('lr=1e-3..0.1,hidden=32..512,batch_size=32|64,hybridize=true|false,model=mlp|lenet,'
                          'epochs=2..4')
    assert found['hidden'].integer and found['epochs'].integer and not found['lr'].integer
    assert found['batch-size'].choices == (32, 64) and found['hybridize'].choices == (True, False)


@pytest.mark.parametrize('text, said', [
    ('lrr=0..1', 'did you mean lr?'),
    ('learning-rate=0..1', 'did you mean lr?'),
    ('weight_decay=0..1', 'did you mean wd?'),
    ('optimiser=sgd|adam', 'did you mean optimizer?'),
    ('batchsize=32|64', 'did you mean batch-size?'),
    ('optimizer=sgd|adamm', 'did you mean adam'),
    ('model=mlp|lenett', 'close are lenet'),
    ('epochs=0..3', 'must be at least 1'),
    ('lr=-1..1', 'must be at least 0'),
    ('lr=fast|slow', "'fast' is no value of this option"),
    ('hybridize=yes|no', 'true or false'),
    ('hidden=0|64', 'numbers of units'),
    ('out=a|b', 'no setting to compare'),
    ('trials=1..2', 'no option'),
    ('zzz=1..2', 'it has model, epochs'),
])
def test_mistakes_about_options(text, said):
    with pytest.raises(mx.MXNetError, match='character') as error:
        _tuning.parse(text)
    assert said in str(error.value)


def test_suggest_draws_what_the_text_says(tmp_path):
    pytest.importorskip('optuna')
    seen = []

    def objective(trial):
        seen.append(suggest(trial, 'lr=log:1e-4..1e-1,n=int:8..64/8,kind=a|b'))
        return 0.0
    mx.contrib.tune.run(objective, 20, sampler='random', seed=1, out=str(tmp_path), report=False, quiet=True)
    assert all(1e-4 <= s['lr'] <= 1e-1 and s['n'] % 8 == 0 and 8 <= s['n'] <= 64 and s['kind'] in 'ab' for s in seen)
    assert len({s['n'] for s in seen}) > 3 and len({s['kind'] for s in seen}) == 2
    assert sum(s['lr'] < 3e-3 for s in seen) > 4                # evenly in the logarithm


def test_the_first_trial_has_the_defaults():
    parser = argparse.ArgumentParser()
    from mxnet.cli import train
    train.add_arguments(parser)
    options = parser.parse_args([])
    assert _tuning._defaults(options, _tuning.parse('lr=log:1e-3..1,hidden=32..512,momentum=0..0.9')) == \
        [{'lr': 0.01, 'hidden': 64, 'momentum': 0.0}]
    assert _tuning._defaults(options, _tuning.parse('lr=log:0.1..1')) == []
    assert _tuning._defaults(options, _tuning.parse('optimizer=adam|nag')) == []
