"""Compares logs of the same program, and says which differences are known and why."""
import dataclasses
import re

import numpy as np

from .runner import RECURRENT

RTOL = {'ours': 2e-4, '1.9.1': 2e-3}        # of the largest number of an array
ATOL = {'ours': 1e-5, '1.9.1': 5e-5}
WRITTEN = 'was written in place'                # in the message about writes between recording and backward


@dataclasses.dataclass(frozen=True)
class Difference:
    """Where two logs part: the number of the statement, what each side has seen there, and how it differs."""

    sides: tuple
    statement: int
    kind: str                   # value, shape, error, raw, count, crash
    seen: tuple

    def text(self, program):
        source = program.sources()[self.statement] if self.statement >= 0 else ''
        shown = '\n'.join(f'  {side}: {show(entry)}' for side, entry in zip(self.sides, self.seen, strict=True))
        return f'{self.kind}, statement {self.statement}: {source.strip()}\n{shown}'


def show(entry):
    if isinstance(entry, tuple) and entry and entry[0] == 'array':
        values = np.frombuffer(entry[3], entry[1]).reshape(entry[2])
        return f'{np.array2string(values, threshold=40, precision=6)} {entry[4]} {entry[1]} {entry[2]}'
    if isinstance(entry, tuple) and entry and entry[0] == 'list':
        return '[' + ', '.join(show(e) for e in entry[1]) + ']'
    return repr(entry)


def difference(program, sides, logs):
    """The first difference of two logs that is not known; None if there is none."""
    first, second = logs
    for side, log in zip(sides, logs, strict=True):
        if isinstance(log, str):
            return Difference(sides, -1, 'crash', (first if isinstance(first, str) else 'ended',
                                                   second if isinstance(second, str) else 'ended'))
        if not side.startswith('1.9.1'):
            for number, entry in log:
                if entry[0] == 'error' and entry[2]:
                    return Difference((side,), number, 'raw', (entry,))
    old = any(side.startswith('1.9.1') for side in sides)
    for number in range(len(program.statements())):
        parts = [[entry for at, entry in log if at == number] for log in logs]
        for a, b in zip(*parts, strict=False):
            if a[0] == 'error' and known(program, Difference(sides, number, 'error', (a, b))):
                return None                 # both refuse, but may have come differently far
            how = _how(a, b, old, program.random and old)
            if how is None:
                continue
            found = Difference(sides, number, how, (a, b))
            return None if known(program, found) else found
        if len(parts[0]) != len(parts[1]):
            longer = 0 if len(parts[0]) > len(parts[1]) else 1
            extra = parts[longer][min(map(len, parts))]
            found = Difference(sides, number, 'error' if extra[0] == 'error' else 'count',
                               (extra, 'nothing') if longer == 0 else ('nothing', extra))
            return None if known(program, found) else found
    return None


def _how(a, b, old, structure):
    """How two entries differ: None, or a word."""
    if a[0] != b[0]:
        return 'error' if 'error' in (a[0], b[0]) else 'type'
    if a[0] == 'error':
        return None if a[1] == b[1] or (old and _classes(a[1], b[1])) else 'error'
    if a[0] == 'list':
        if len(a[1]) != len(b[1]):
            return 'shape'
        return next((how for how in (_how(x, y, old, structure) for x, y in zip(a[1], b[1], strict=True)) if how), None)
    if a[0] == 'array':
        if a[2] != b[2]:
            return 'shape'
        if a[1] != b[1] or a[4] != b[4]:
            return 'type'
        return None if structure or _close(np.frombuffer(a[3], a[1]), np.frombuffer(b[3], b[1]), old) else 'value'
    if a[0] == 'float':
        return None if structure or _close(np.array([a[1]]), np.array([b[1]]), old) else 'value'
    return None if a[1] == b[1] else 'value'


def _close(a, b, old):
    if a.dtype.kind not in 'f':
        return np.array_equal(a, b)
    side = '1.9.1' if old else 'ours'
    rtol, atol = (0.02, 0.01) if a.dtype == np.float16 else (RTOL[side], ATOL[side])
    with np.errstate(all='ignore'):
        scale = np.abs(np.where(np.isfinite(a), a, 0)).max() if a.size else 0
        return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= atol + rtol * scale)))


def _classes(a, b):
    """Both refuse. Upstream asserts where we raise TypeError (differences.md), and checks some things elsewhere."""
    return {a, b} <= {'AssertionError', 'TypeError', 'ValueError', 'MXNetError', 'RuntimeError', 'IndexError',
                      'Exception'}          # sparse arrays of 1.9.1


# ---------------------------------------------------------------------- known differences
def _errors(found):
    return [e[3] for e in found.seen if isinstance(e, tuple) and e[0] == 'error']


def _written(program, found):
    """differences.md: a write between recording and backward into what backward needs is an error here."""
    return any(WRITTEN in text for text in _errors(found))


def _more(program, found):
    """differences.md: more is differentiable here."""
    missing = "didn't register FGradient|does not support higher order|doesn't support calculate data gradient" \
              '|can only accept legacy ndarrays|Check failed: in_type->at'
    return any(re.search(missing, text) for text in _errors(found))


def _second(program, found):
    """1.9.1: the second derivative of a dense layer with respect to its weight is wrong (by finite differences)."""
    return _old(found) and any('create_graph' in s and '(a)' not in s for s in program.sources()[:found.statement + 1])


def _given_up(program, found):
    """1.9.1: a backward that fails because its graph was given up in part may have written gradients of the rest."""
    words = 'given up after the first|any container is empty'
    return _old(found) and any(re.search(words, text) for text in _errors(found))


def _again(program, found):
    """1.9.1: an executor's backward overwrites what it needs; another, or one after a prediction, takes the rest."""
    backwards = 0
    for source in program.sources()[:found.statement + 1]:
        if re.search(r'\b(ex|mod)\.forward', source):
            backwards = 0
        if re.search(r'\b(ex|mod)\.(score|predict|forward\(.*is_train=False)', source):
            backwards = 1
        backwards += len(re.findall(r'\b(?:ex|mod)\.(?:forward_)?backward\(', source))
        if backwards > 1 and _old(found):
            return True
    return False


def _biases(program, found):
    """1.9.1 with oneDNN, which recurrent layers need: no gradient of a bias whose weight has none."""
    sources = program.sources()[:found.statement + 1]
    frozen = any(re.search(r"grad_req = '(null|add)'", source) for source in sources)
    return _old(found) and frozen and any(RECURRENT.search(source) for source in sources)


def _uninitialized(program, found):
    """1.9.1: refuses where the shape of a parameter is not known yet; here it is looked at when it is needed."""
    return any('has not been initialized' in text for text in _errors(found)) and _old(found)


def _sparse(program, found):
    """1.9.1: sparse gradients of an Embedding cannot be added up, and indices out of range are an error in backward."""
    refused = any('indexing_op.cc' in text for text in _errors(found))
    return _old(found) and refused and 'sparse_grad' in str(program.setup)


def _shared(program, found):
    """differences.md: executors that `reshape` made share the memory of outputs with their parent in 1.9.1."""
    sources = program.sources()[:found.statement + 1]
    return _old(found) and 'keep' in sources[-1] and any('ex.reshape' in source for source in sources)


def _diverged(program, found):
    """Numbers that have grown beyond float32 on both sides: rounding decides which are infinite and which NaN."""
    arrays = [np.frombuffer(e[3], e[1]) for e in found.seen if isinstance(e, tuple) and e[0] == 'array']
    return len(arrays) == 2 and all(a.dtype.kind == 'f' and not np.isfinite(a).all() for a in arrays)


def _not_inferred(program, found):
    """Hybridized blocks whose parameters are not initialized infer all shapes first, and raise another class of error.

    1.9.1 does the same: ValueError from the inference, MXNetError from the operator of a plain block.
    """
    return any('cannot be found from the inputs' in text for text in _errors(found)) and len(_errors(found)) == 2


def _fixed_gamma(program, found):
    """1.9.1 fills gamma of `BatchNorm(scale=False)` with ones in plain blocks, and in hybridized ones that learn."""
    arrays = [np.frombuffer(e[3], e[1]) for e in found.seen if isinstance(e, tuple) and e[0] == 'array']
    return len(arrays) == 2 and 'scale=False' in str(program.setup) and any((a == 1).all() for a in arrays)


def _null(program, found):
    """differences.md: the gradient of an array with grad_req='null' becomes None in backward of 1.9.1."""
    null = any("attach_grad('null')" in source for source in program.sources()[:found.statement + 1])
    return _old(found) and null and found.seen[1] == ('same', None) and found.seen[0][0] == 'array'


def _prefix(program, found):
    """1.9.1: `load_parameters` of a SymbolBlock refuses what its `save_parameters` wrote if the names begin alike."""
    return _old(found) and any('is missing in file' in text for text in _errors(found)) and 'SymbolBlock' in str(
        program.setup)


def _not_added(program, found):
    """1.9.1, where gradients are added up: that of `mean` divides what was there before as well, those of `clip` and,
    without oneDNN, of a convolution's data replace it.
    """
    sources = ''.join(program.sources()[:found.statement + 1])
    return _old(found) and re.search(r'mean\(|clip\(|Conv', sources) is not None and "'add'" in sources


def _branches(program, found):
    """1.9.1: the gradient of `contrib.cond` in a graph may hold numbers that were never written; they differ by run."""
    return _old(found) and 'contrib.cond' in str(program.setup) and 'grad' in program.sources()[found.statement]


def _sparse_added(program, found):
    """1.9.1: a sparse gradient replaces what was there, where it is to be added (one pass with several calls)."""
    sources = ''.join(program.sources()[:found.statement + 1])
    return _old(found) and 'sparse_grad' in sources and "'add'" in sources


def _shared_gradients(program, found):
    """1.9.1: `simple_bind(shared_exec=...)` fails inside where the shared executor has no gradient (_Map_base::at)."""
    return _old(found) and any('_Map_base' in text for text in _errors(found))


def _counted(program, found):
    """differences.md: loaded optimizer states bring their update count; 1.9.1 goes on with its own."""
    sources = program.sources()[:found.statement + 1]
    return _old(found) and not _errors(found) and any('load_optimizer_states' in source for source in sources)


def _no_arrays(program, found):
    """What is no array is a TypeError here, and an AttributeError of Python in 1.9.1; it cannot copy some blocks."""
    words = "has no attribute '(shape|handle)'|ctypes objects containing pointers"
    return _old(found) and any(re.search(words, text) for text in _errors(found))


def _old(found):
    return any(side.startswith('1.9.1') for side in found.sides)


# Predicates of (program, difference), with the reason as their docstring: as narrow as possible. What a program does
# after such a difference is not compared.
KNOWN = (_written, _more, _second, _given_up, _again, _biases, _uninitialized, _sparse, _shared, _diverged,
         _not_inferred, _fixed_gamma, _not_added, _branches, _sparse_added, _null, _prefix,
         _shared_gradients, _counted, _no_arrays)


def known(program, found):
    """The reason why a difference is expected, or None."""
    return next((rule.__doc__ for rule in KNOWN if rule(program, found)), None)


SEVERAL_OUTPUTS = {'results', 'graphs', 'imported'}        # families with blocks of several outputs


def is_one_operator(program, found):
    """1.9.1: a hybridized block is one operator, which writes zeros to the inputs that the heads do not depend on.

    A plain one leaves their gradients as they are.  This is for campaigns without 1.9.1; beside it, it is asked.
    """
    if program.family not in SEVERAL_OUTPUTS or found.kind != 'value' or found.sides[1] not in ('hybrid', 'static'):
        return False
    entry = found.seen[1]
    return isinstance(entry, tuple) and entry[0] == 'array' and not np.frombuffer(entry[3], entry[1]).any()


DISTURBANCES = 3
# Of a difference of rounding, how much one unit in the last place of the data must explain.  1.9.1 rounds otherwise in
# each operation.
AMPLIFIED = {'ours': 0.1, '1.9.1': 0.02}


def is_rounding(program, runner, found, logs):
    """Whether a difference of values is what rounding does to an ill-conditioned program.

    The reference is run again from data and weights that are off by up to one unit in the last place.  Where this moves
    the value by a good part of the difference, no two ways of computing it can agree better than they do.
    """
    if found.kind != 'value' or not all(isinstance(e, tuple) for e in found.seen):
        return False
    size = _distance(*found.seen)
    if size is None:
        return False
    places = [i for i, (at, _) in enumerate(logs['reference']) if at == found.statement]
    for number in range(1, DISTURBANCES + 1):
        name = f'reference disturbed {number}'
        if name not in logs:
            logs[name] = runner.log(program, name)
        other = logs[name]
        if isinstance(other, str) or [at for at, _ in other] != [at for at, _ in logs['reference']]:
            continue                # the disturbance has changed which statements fail
        moved = [_distance(logs['reference'][i][1], other[i][1]) or 0 for i in places
                 if logs['reference'][i][1] in found.seen]
        if moved and max(moved) >= AMPLIFIED['1.9.1' if _old(found) else 'ours'] * size:
            logs['rounding'] = found
            return True
    return False


def _distance(a, b):
    """The largest difference of two entries with floating-point numbers of one shape; None for others."""
    if a[0] == b[0] == 'list':
        if len(a[1]) != len(b[1]):
            return None
        return max([_distance(x, y) or 0.0 for x, y in zip(a[1], b[1], strict=True)], default=None)
    if a[0] == b[0] == 'float':
        a, b = np.array([a[1]]), np.array([b[1]])
    elif a[0] == b[0] == 'array' and a[1:3] == b[1:3] and np.dtype(a[1]).kind == 'f':
        a, b = np.frombuffer(a[3], a[1]), np.frombuffer(b[3], b[1])
    else:
        return None
    with np.errstate(all='ignore'):
        apart = np.abs(a.astype('float64') - b.astype('float64'))
        apart[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
    return None if np.isnan(apart).any() or not apart.size else float(apart.max())


def check(program, runner, beside=True):
    """The difference that a program shows, and the logs; (None, logs) if there is none.

    `beside`: whether the reference is compared with 1.9.1 as well.  `logs['rounding']` is a difference that was
    accepted because it is rounding.
    """
    logs = {side: runner.log(program, side) for side in ('reference', *program.modes)}
    for mode in program.modes:
        found = difference(program, ('reference', mode), (logs['reference'], logs[mode]))
        if found is None or is_rounding(program, runner, found, logs):
            continue
        if runner.old and found.kind != 'raw':
            # what 1.9.1 does in this mode, too, is right; its own crash says nothing
            name = f'1.9.1 {mode}'
            logs[name] = runner.log(program, name)
            if not isinstance(logs[name], str) and difference(program, (mode, name), (logs[mode], logs[name])) is None:
                continue
        elif is_one_operator(program, found):
            continue
        return found, logs
    if runner.old and beside:
        logs['1.9.1 plain'] = runner.log(program, '1.9.1 plain')
        if not isinstance(logs['1.9.1 plain'], str):
            found = difference(program, ('reference', '1.9.1 plain'), (logs['reference'], logs['1.9.1 plain']))
            if found is not None and not is_rounding(program, runner, found, logs):
                return found, logs
    return None, logs
