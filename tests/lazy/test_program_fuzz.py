"""Random whole programs, with all deferral off and on (fuzz_programs/); `make fuzz` runs as many as one likes."""
import os

import pytest
from fuzz_programs import compare, generate, runner, shrink
from fuzz_programs.campaign import report
from fuzz_programs.program import Program
from fuzz_programs.program import Statement as S

PARTS, EACH = 10, 20


@pytest.fixture(scope='module')
def sides():
    with runner.Runner(old=os.environ.get('MXNET191_PYTHON')) as made:
        yield made


@pytest.mark.parametrize('part', range(PARTS))
def test_programs(sides, part):
    for seed in range(part * EACH, (part + 1) * EACH):
        program = generate.program(seed)
        found, _ = compare.check(program, sides)
        if found is not None:
            program, found, _ = shrink.shrunk(program, found, sides, 60)
            pytest.fail(report(program, found, sides))


@pytest.fixture(scope='module')
def forward_sides():
    with runner.Runner(forward=True) as made:
        yield made


@pytest.mark.parametrize('part', range(4))
def test_programs_whose_averages_move_in_the_forward_pass(forward_sides, part):
    # as on a GPU: states are pending while a step that writes them is open
    for seed in range(10000 + part * 15, 10000 + (part + 1) * 15):
        program = generate.program(seed, ('train', 'gan', 'np', 'devices')[part])
        found, _ = compare.check(program, forward_sides)
        if found is not None:
            program, found, _ = shrink.shrunk(program, found, forward_sides, 60)
            pytest.fail(report(program, found, forward_sides))


# ---------------------------------------------------------------------- the fuzzer itself
BIASED = Program((S('x = A(1, 2, 3)'), S('unused = 3'), S('y = x + (0 if MODE is None else 1)')),
                 ((S('see(x)'), S('see(x.shape)')), (S('see(x, y)'),), (S('see(x)'),)), (S('see(y)'),))


def test_a_difference_is_found_and_shrunk(sides):
    found, _ = compare.check(BIASED, sides)
    assert (found.sides, found.kind, found.statement) == (('reference', 'hybrid'), 'value', 5)
    program, found, _ = shrink.shrunk(BIASED, found, sides)
    assert program.sources() == ['x = A(1, 2, 3)', 'y = x + (0 if MODE is None else 1)', 'see(y)']
    assert 'reference: [[' in report(program, found, sides)


def test_a_script_runs_by_itself(run_python, tmp_path):
    (tmp_path / 'program.py').write_text(generate.program(3).script(failing=range(1000)), encoding='utf-8')
    for mode in ('plain', 'static'):
        assert run_python('-W', 'ignore', 'program.py', mode).stdout


def test_seeds_give_the_same_programs_each_time():
    for family in generate.FAMILIES:
        assert generate.program(5, family) == generate.program(5, family)
        assert generate.program(5, family) != generate.program(6, family)


@pytest.mark.parametrize('source, kind', [
    ("raise RuntimeError('Output 0 of AsStridedBackward0 is a view')", 'raw'),
    ("if 'MXNET_ENGINE_TYPE' not in os.environ:\n    os.kill(os.getpid(), 9)", 'crash'),
    ('see(x) if MODE is None else see(x, x)', 'count'), ('see(x if MODE is None else x.asnumpy())', 'type'),
    ('see(x if MODE is None else x[0])', 'shape'), ('if MODE is not None:\n    raise ValueError', 'error')])
def test_kinds_of_differences(sides, source, kind):
    modes = ('plain',) if kind == 'crash' else ('hybrid',)
    found, _ = compare.check(Program((S('x = A(1, 2, 3)'), S(source)), (), (), modes=modes), sides)
    assert found.kind == kind


def test_rounding_is_no_difference(sides):
    found, _ = compare.check(Program((S('x = A(1, 2, 3)'), S('see(x + (0 if MODE is None else 1e-6))')), (), ()), sides)
    assert found is None


def chaotic():
    """Forty steps of the logistic map, from numbers whose last place depends on the mode."""
    return Program((S('x = A(1, 2, 3) * 0.4 + 0.5'), S('x = x * (1 if MODE is None else 1 + 2 ** -23)')),
                   ((S('for i in range(40):', (S('x = x * (1 - x) * 3.9'),)), S('see(x)')),), (S('see(x)'),))


def test_a_program_that_amplifies_rounding_shows_no_difference(sides):
    program = chaotic()
    found, logs = compare.check(program, sides)
    assert found is None
    assert compare.difference(program, ('reference', 'hybrid'), (logs['reference'], logs['hybrid'])).kind == 'value'


def test_a_program_that_does_not_amplify_rounding_is_not_excused(sides):
    stable = Program((S('x = A(1, 2, 3)'), S('x = x * (1 if MODE is None else 1.001)')), ((S('see(x)'),),), ())
    assert compare.check(stable, sides)[0].sides == ('reference', 'hybrid')
