"""The operator reference: Markdown pages from the table, one for each family.

    python -m mxnet._frontend.reference --out build/operators

For every public operator: where it is called from, its signature, what the declaration says, its inputs and attributes
(what they accept, and their defaults), its results, shapes and dtypes as in its example, which inputs gradients go to,
and the example.  Shapes and gradients are not written down anywhere: they are found by running the examples.
"""
import argparse
import contextlib
import doctest
import inspect
import io
import os
import pathlib
import re
import sys
import tempfile
from typing import Any

from .._dispatch import Interceptor, install, remove
from .._ops.core.dtypes import NAME
from .._ops.core.table import NAMES, TABLE, Operator
from .examples import examples
from .namespaces import place

# families of operators, in the order of the index: (title, page, modules of `_ops`)
FAMILIES = (
    ('Elementwise functions', 'elementwise', ('tensor.unary', 'tensor.contrib_math')),
    ('Arithmetic and comparison of two arrays', 'binary', ('tensor.binary', 'tensor.scalar')),
    ('Activation functions and softmax', 'activation', ('nn.activation', 'numpy.unary')),
    ('Sums, means and other reductions', 'reduction', ('tensor.reduce',)),
    ('Shapes and axes', 'shapes', ('tensor.movement', 'tensor.reshape_codes', 'tensor.joining', 'numpy.reduce',
                                   'numpy.shape')),
    ('Copies, casts, checks, and what changes gradients', 'identity', ('tensor.identity',)),
    ('Slicing, gathering and masks', 'indexing', ('tensor.slicing', 'tensor.gather', 'tensor.sequence', 'numpy.index')),
    ('Sorting', 'sorting', ('tensor.ordering',)),
    ('Products of matrices, linear algebra', 'linalg', ('tensor.matrix', 'tensor.linalg')),
    ('Making arrays', 'creation', ('tensor.creation',)),
    ('Random numbers', 'random', ('random.draw', 'random.pdf')),
    ('Fully connected layers, embeddings, patches', 'layers', ('nn.dense', 'nn.embedding', 'nn.patches')),
    ('Convolution and deformable convolution', 'convolution', ('nn.convolution', 'nn.deformable')),
    ('Pooling, resizing, warping', 'pooling', ('nn.pooling', 'nn.spatial', 'vision.sampling')),
    ('Normalization', 'normalization', ('nn.normalization',)),
    ('Recurrent layers and attention', 'recurrent', ('nn.recurrent', 'nn.attention')),
    ('Losses and output layers', 'losses', ('nn.output_layers', 'nn.ctc')),
    ('Detection: boxes, anchors, regions', 'detection', ('vision.boxes', 'vision.nms', 'vision.multibox',
                                                         'vision.proposal', 'vision.roi')),
    ('Pictures', 'image', ('vision.image',)),
    ('Optimizer updates', 'optimizers', ('optim.sgd', 'optim.adaptive', 'optim.multi', 'optim.sparse')),
    ('Integer (quantized) networks', 'quantization', ('quantized.conversion', 'quantized.kernels', 'quantized.layers')),
    ('Sparse arrays and graphs', 'sparse', ('sparse.storage', 'sparse.graph_sampling')),
    ('Loops, branches, operators of your own', 'control', ('control.control_flow', 'control.custom')),
)
OTHER = 'More operators', 'other'
PUBLIC = {'': 'nd', 'contrib': 'nd.contrib', 'linalg': 'nd.linalg', 'random': 'nd.random', 'image': 'nd.image',
          'sparse': 'nd.sparse', 'npx': 'npx'}


def names_of(op: Operator) -> list[str]:
    """Everything that programs call an operator, the usual name first: nd., npx., methods; sym. has those of nd."""
    found = []
    for name in op.names:
        where, public = place(name)
        if where in PUBLIC and public.isidentifier() and not public.startswith('_'):
            found.append(f'{PUBLIC[where]}.{public}')
            if where == 'image':
                found.append(f'npx.image.{public}')
    methods = [f'NDArray.{name}' for name in op.methods]
    return sorted(set(found), key=lambda n: (n.startswith('npx'), n.startswith('nd.sparse'), found.index(n))) + methods


def public_operators() -> list[Operator]:
    """The operators that have a public name, by the first of them."""
    found = [op for op in TABLE.values() if any(not n.startswith('NDArray') for n in names_of(op))]
    return sorted(found, key=lambda op: short(names_of(op)[0]).lower())


def short(name: str) -> str:
    return name.rpartition('.')[2]


def example_of(op: Operator) -> str:
    """The session for an operator: its own, else that of one of its names."""
    known = examples()
    for key in (op.name, *names_of(op)):
        if key in known:
            return known[key]
    raise KeyError(f'operator {op.name} has no example: add one to mxnet/_frontend/examples')


# ---------------------------------------------------------------------- running an example
def scope() -> dict[str, Any]:
    """The names that sessions may use."""
    import mxnet
    mx: Any = mxnet
    return {'mx': mx, 'nd': mx.nd, 'np': mx.np, 'npx': mx.npx, 'sym': mx.sym, 'autograd': mx.autograd}


@contextlib.contextmanager
def surroundings(name: str):
    """An empty folder to work in; np mode for names that begin with np; what a session changes is put back."""
    util = scope()['mx'].util
    before, wanted = os.getcwd(), name.startswith('np')
    with tempfile.TemporaryDirectory() as folder, util.np_shape(wanted), util.np_array(wanted):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run(session: str, name: str) -> str:
    """What is wrong with a session: '' if it prints what it shows."""
    failures: list[str] = []
    test = doctest.DocTestParser().get_doctest(session, scope(), name, None, 0)
    with surroundings(name):
        doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    return ''.join(failures)


class Facts(Interceptor):
    """What running an example shows of an operator: its first call's shapes, and where gradients go."""

    def __init__(self, op: Operator, session: str, name: str):
        self.inputs: list = []
        self.results: list = []
        self.differentiable: list[str] | None = None
        self._op = op
        install(self)
        try:
            test = doctest.DocTestParser().get_doctest(session, scope(), name, None, 0)
            with surroundings(name), contextlib.redirect_stdout(io.StringIO()):
                for example in test.examples:
                    exec(compile(example.source, '<example>', 'single'), test.globs)
        finally:
            remove(self)

    def kernel(self, op, function, node, tensors, attributes):
        result = function(*tensors, **attributes)
        if op is self._op and not self.results and node is None:
            self._note(function, tensors, attributes, result)
        return result

    def _note(self, kernel, args, kwargs, result):
        import torch
        op = self._op
        names = op.inputs if op.variadic is None else [f'arg{i}' for i in range(len(args))]
        self.inputs = [(n, x) for n, x in zip(names, args, strict=False) if isinstance(x, torch.Tensor)]
        results = result if isinstance(result, tuple) else (result,)
        count = len(op.output_names(op.complete(kwargs))) if op.extra is None else len(results)
        self.results = [r for r in results[:count] if isinstance(r, torch.Tensor)]
        if op.wants_rng:        # drawing from the same generator again would change what the example shows
            kwargs = {**kwargs, 'rng': torch.Generator().manual_seed(0)}
        states = {*op.aux, *[names[i] for i in op.mutated(op.complete(kwargs), len(args)) if i < len(names)]}
        floats = [isinstance(x, torch.Tensor) and x.is_floating_point() and n not in states
                  for n, x in zip(names, args, strict=False)]
        leaves = [x.detach().clone().requires_grad_() if f else x for x, f in zip(args, floats, strict=True)]
        with torch.enable_grad():
            again = kernel(*leaves, **kwargs)
            heads = [r for r in (again if isinstance(again, tuple) else (again,))[:count]
                     if isinstance(r, torch.Tensor) and r.requires_grad]
            wanted = [x for x, f in zip(leaves, floats, strict=True) if f]
            grads = torch.autograd.grad(heads, wanted, [torch.ones_like(h) for h in heads], allow_unused=True) \
                if heads and wanted else [None] * len(wanted)
        found = iter(grads)
        self.differentiable = [n for n, f in zip(names, floats, strict=False) if f and next(found) is not None]

    def shapes(self) -> str:
        """`data (2, 3), weight (4, 3) -> (2, 4)`."""
        if not self.results:
            return ''
        given = ', '.join(f'{n} {_shape(x)}' for n, x in self.inputs) or 'nothing'
        made = ', '.join(_shape(r) for r in self.results)
        dtypes = {NAME[x.dtype] for x in self.results}
        return f'{given} → {made}' + (f', {", ".join(sorted(dtypes))}' if dtypes != {'float32'} else '')

    def gradient(self) -> str:
        """A sentence."""
        op = self._op
        if family(op)[1] == 'optimizers':
            return 'None is asked for: this is a step of an optimizer.'
        if self.differentiable is None:
            return ''               # computed on sparse arrays, without the kernel
        if op.special_gradient:
            return f'To {_listed(self.differentiable)}, by a rule of its own.' if self.differentiable else \
                'None goes through it, on purpose.'
        return f'To {_listed(self.differentiable)}.' if self.differentiable else 'None.'


def _shape(tensor) -> str:
    return f'({", ".join(map(str, tensor.shape))}{"," if tensor.dim() == 1 else ""})'


def _listed(names) -> str:
    return ', '.join(f'`{n}`' for n in names)


# ---------------------------------------------------------------------- pages
def signature(op: Operator) -> str:
    """`FullyConnected(data, weight, bias=None, num_hidden, no_bias=False)`, as programs call it."""
    def attribute(a):
        return f'{a.name}' if a.required else f'{a.name}={a.default!r}'

    if op.variadic is not None:
        parts = ['*data', *[attribute(a) for a in op.attributes.values()]]
    else:
        parts = [attribute(op.attributes[n]) if n in op.attributes else f'{n}=None' if n in op.optional else n
                 for n in op.positional]
    return f'{names_of(op)[0]}({", ".join(parts)})'


def _cell(text) -> str:
    return str(text).replace('|', '\\|').replace('\n', ' ').replace('<', '&lt;')


def _escaped(text: str) -> str:
    """Plain text as Markdown, with code spans as they are."""
    pieces = re.split(r'(`[^`]+`)', text)
    return ''.join(p if p.startswith('`') else re.sub(r'([<*_\[\]$|])', r'\\\1', p) for p in pieces)


def _prose(doc: str) -> str:
    """A declaration's docstring: paragraphs, lists and indented blocks."""
    out: list[str] = []
    for paragraph in re.split(r'\n\s*\n', inspect.cleandoc(doc)):
        lines = paragraph.split('\n')
        if all(line.startswith('    ') for line in lines):
            out.append('```text\n' + '\n'.join(line[4:] for line in lines) + '\n```')
        else:
            out.append('\n'.join(re.sub(r'^(\s*[-*] )?(.*)$', lambda m: (m[1] or '') + _escaped(m[2]), line)
                                 for line in lines))
    return '\n\n'.join(out)


def entry(op: Operator) -> str:
    """The section of one operator."""
    names, session = names_of(op), example_of(op)
    key = next(k for k in (op.name, *names) if k in examples())
    facts = Facts(op, session, key)
    lines = [f'({anchor(op)})=', f'## {short(names[0])}', '', '```python', *_folded(signature(op)), '```', '',
             _prose(op.doc) if op.doc else f'The operator `{op.name}`.', '',
             f'**Names** {_listed(names)}' + ('; the same below `sym`' if names[0].startswith('nd.') else ''), '']
    rows = [(n, 'array' + (', a state that is updated' if n in op.aux or _mutated(op, n) else '')
             + (', with some attributes only' if n in op.optional else '')) for n in op.inputs]
    if op.variadic is not None:
        rows = [('*data', 'arrays, as many as there are')]
    if rows or op.attributes:
        lines += ['| argument | accepts | default |', '| --- | --- | --- |']
        lines += [f'| `{n}` | {what} | |' for n, what in rows]
        for a in op.attributes.values():
            default = 'required' if a.required else f'`{_cell(repr(a.default))}`'
            lines.append(f'| `{a.name}` | {_cell(a.kind.accepts)} | {default} |')
        lines.append('')
    if not callable(op.outputs) and len(op.outputs) > 1:
        lines += [f'**Gives** {_listed(op.outputs)}', '']
    if facts.shapes():
        lines += [f'**Shapes**, in the first call below: {_escaped(facts.shapes())}', '']
    if facts.gradient():
        lines += [f'**Gradient** {facts.gradient()}', '']
    lines += ['```pycon', session, '```', '']
    return '\n'.join(lines)


def _mutated(op, name):
    return not callable(op.mutates) and name in op.mutates


def _folded(text: str, width: int = 86) -> list[str]:
    """A long call on several lines."""
    if len(text) <= width:
        return [text]
    head, _, rest = text.partition('(')
    lines, line = [], head + '('
    for part in rest.split(', '):
        if len(line) + len(part) > width:
            lines.append(line.rstrip())
            line = '    '
        line += part + ', '
    return [*lines, line.removesuffix(', ')]


def anchor(op: Operator) -> str:
    return 'operator-' + op.name.strip('_').lower().replace('_', '-')


def family(op: Operator) -> tuple[str, str]:
    """(title, name of the page)."""
    module = '.'.join((op.function.__module__ or '').split('.')[-2:])
    return next(((title, page) for title, page, modules in FAMILIES if module in modules), OTHER)


INTRODUCTION = """# Operators

Every operator that programs can call, generated from the table that also makes `mx.nd`, `mx.sym` and `mx.npx`.
Examples use these names, and those of `npx` are in np mode (`npx.set_np()`); the tests run all of them:

```python
import mxnet as mx
from mxnet import autograd, nd, np, npx
```

Functions that are written by hand on top of operators, such as all of `mx.np`, `nd.zeros` or `nd.contrib.foreach`,
have the same kind of examples in the [reference of modules](../api.md) and in `help()`.
"""


def pages() -> dict[str, str]:
    """file name -> text."""
    by_page: dict[tuple[str, str], list[Operator]] = {}
    for op in public_operators():
        by_page.setdefault(family(op), []).append(op)
    order = [(title, page) for title, page, _ in FAMILIES] + [OTHER]
    texts, index = {}, [INTRODUCTION]
    for title, page in order:
        found = by_page.get((title, page))
        if not found:
            continue
        texts[f'{page}.md'] = f'# {title}\n\n' + '\n'.join(entry(op) for op in found)
        links = ', '.join(f'[{short(names_of(op)[0])}](#{anchor(op)})' for op in found)
        index.append(f'## [{title}]({page}.md)\n\n{links}\n')
    index.append(':::{toctree}\n:hidden:\n\n' + '\n'.join(t.removesuffix('.md') for t in texts) + '\n:::\n')
    return {'index.md': '\n'.join(index), **texts}


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m mxnet._frontend.reference', description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=pathlib.Path, required=True, help='the folder that the pages are written to')
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (options.out / name).write_text(text, encoding='utf-8')
    print(f'{len(public_operators())} operators, {len(NAMES)} names, in {options.out}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
