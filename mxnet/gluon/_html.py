"""What a notebook shows of a block: a tree that folds, with the parameters' shapes and numbers."""
import html

from .parameter import Parameter

STYLE = ('<style>.remx-block details{margin-left:1.2em}.remx-block summary{cursor:pointer}'
         '.remx-block .leaf{margin-left:2.2em}.remx-block .count{color:#888}.remx-block .own{color:#888}</style>')
OPEN_DEPTH = 1         # levels that are open at first
OPEN_CHILDREN = 12     # and with at most so many children


def describe(block):
    """The HTML of a block and its children."""
    return f'<div class="remx-block">{STYLE}{_tree(block, None, 0, set())}</div>'


def _known(shape):
    return shape is not None and all(n is not None and n > 0 for n in shape)


def _count(parameters):
    """'1,234 parameters', and how many of them do not learn or are not known yet."""
    known = [p for p in parameters if _known(p.shape)]
    total = fixed = 0
    for p in known:
        size = 1
        for n in p.shape:
            size *= n
        total += size
        fixed += size * (p.grad_req == 'null')
    notes = [f'{fixed:,} fixed'] if fixed else []
    missing = len(parameters) - len(known)
    if missing:
        notes.append('the rest known after the first batch' if total else 'known after the first batch')
    if not parameters:
        return ''
    number = f'{total:,} parameter{"s" * (total != 1)}' if total or not missing else 'parameters'
    remark = f' ({", ".join(notes)})' if notes else ''
    return f'<span class="count">{number}{remark}</span>'


def _own(block):
    """The block's own parameters: weight 64 x 3 x 7 x 7."""
    found = []
    for name, parameter in block._reg_params.items():
        if isinstance(parameter, Parameter):
            shape = parameter.shape
            text = ' &times; '.join(str(n) if n and n > 0 else '?' for n in shape) if shape else '?'
            found.append(f'{html.escape(name)} {text}')
    return f' <span class="own">{", ".join(found)}</span>' if found else ''


def _tree(block, key, depth, seen):
    own_parameters = {id(p): p for p in block.collect_params().values()}
    text = repr(block)
    label = html.escape(text if '\n' not in text else type(block).__name__)
    name = f'<b>{html.escape(str(key))}</b>: ' if key is not None else ''
    again = ' (shared)' if id(block) in seen else ''
    seen.add(id(block))
    line = f'{name}<code>{label}</code>{again} {_count(list(own_parameters.values()))}{_own(block)}'
    if not block._children:
        return f'<div class="leaf">{line}</div>'
    is_open = ' open' if depth < OPEN_DEPTH and len(block._children) <= OPEN_CHILDREN else ''
    inner = ''.join(_tree(child, name, depth + 1, seen) for name, child in block._children.items())
    return f'<details{is_open}><summary>{line}</summary>{inner}</details>'
