"""Files with one odd thing, at every place in turn, and files whose structure is odd: deep, wide, circular, alike.

Random damage seldom hits a certain count with a certain number.  These cases are few enough to be made completely:
`every(format, seeds)` yields (name, bytes).
"""

import json
import pickletools
import struct
from collections.abc import Iterator

import fuzz_mutations as mutations

COUNTS = tuple(struct.pack('<I', n) for n in (2**32 - 1, 2**31 - 1, 2**31)) + tuple(
    struct.pack('<Q', n) for n in (2**40, 2**64 - 1, 2**63 - 1)
)
TEXTS = (*mutations.ODD_TEXTS, '\ud800', 'a' * 100_000, '(2147483648, 2147483648)', '(9223372036854775807,)', '(-1,)')
DIGITS = '@digits'  # stands for a number of 5,000 digits, which Python does not write
VALUES = (*mutations.ODD_VALUES, DIGITS, -(10**400), float('inf'), [[0, 0, 0]] * 3000)
DEEP = (90, 101, 3000, 100_000)
SMALL = 2000  # bytes of a seed whose places are all tried; of larger ones the first ones


def every(damage: str, seeds: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """All cases of one kind of damage."""
    if damage == 'json' and b'"heads"' in seeds[0]:
        yield from _graphs()
    for number, data in enumerate(seeds):
        for name, case in _every(damage, data):
            yield f'{number} {name}', case


def _every(damage, data):
    yield from {'json': _json, 'safetensors': _safetensors, 'pickle': _pickle, 'text': _text, 'onnx': _onnx}.get(
        damage, lambda data: ()
    )(data)
    if damage not in ('json', 'text'):
        yield from _bytes(data)
    yield 'empty', b''
    yield 'zeros', bytes(1 << 16)
    yield 'twice', data * 2
    yield 'mark', b'\xef\xbb\xbf' + data


def _bytes(data):
    for at in range(min(len(data), SMALL)):
        for count in COUNTS:
            for order in (count, count[::-1]):
                yield f'count {order.hex()} at {at}', data[:at] + order + data[at + len(order) :]
        yield f'end at {at}', data[:at]


def _json(data):
    value = json.loads(data)
    spots = mutations._places([value], [])
    for number, (holder, key) in enumerate(spots):
        old = holder[key]
        for odd in (*VALUES, *(TEXTS if isinstance(old, str) else ()), *mutations.NUMBERS):
            holder[key] = odd
            yield f'{str(odd)[:20]!r} at {number}', _dumped(value if holder is not spots[0][0] else odd)
        holder[key] = old
        if isinstance(holder, dict):
            del holder[key]
            yield f'nothing at {number}', _dumped(value)
            holder['\ud800'] = old
            yield f'another name at {number}', _dumped(value)
            del holder['\ud800']
            holder[key] = old
        for depth in DEEP if number % 20 == 0 else DEEP[1:2]:
            holder[key] = '@'
            text = _dumped(value)
            for opened, closed in (('[', ']'), ('{"a":', '}')):
                deep = f'{opened * depth}1{closed * depth}'.encode()
                yield f'{depth} {opened} at {number}', text.replace(b'"@"', deep)
            holder[key] = old
        if isinstance(old, list) and old and isinstance(value, dict) and number % 5 == 0:
            holder[key] = old * 20_000
            yield f'20,000 times at {number}', _dumped(value)
            holder[key] = old


def _dumped(value):
    return json.dumps(value).encode().replace(b'"@digits"', b'1' * 5000)


def _graph(nodes, heads=None):
    return _dumped({'nodes': nodes, 'arg_nodes': [0], 'heads': heads or [[len(nodes) - 1, 0, 0]]})


def _node(op, name, inputs=(), **more):
    return {'op': op, 'name': name, 'inputs': [[n, 0, 0] for n in inputs], **more}


def _graphs():
    """Graphs that are valid, or nearly: long, wide, shared, nested, circular."""
    data = _node('null', 'data')
    for count in (300, 5_000):
        chain = [data, *(_node('relu', f'r{i}', [i]) for i in range(count))]
        yield f'chain of {count}', _graph(chain)
        yield f'chain of {count}, heads', _graph(chain, [[i, 0, 0] for i in range(count)])
        yield f'doubled {count}', _graph([data, *(_node('elemwise_add', f'a{i}', [i, i]) for i in range(count))])
        yield f'same name {count}', _graph([data, *(_node('relu', 'data', [i]) for i in range(count))])
        yield f'variables {count}', _graph([*(_node('null', f'v{i}') for i in range(count)),
                                            _node('add_n', 'sum', range(count), attrs={'num_args': str(count)})])
    for op, attr in (('add_n', 'num_args'), ('Concat', 'num_args'), ('stack', 'num_args'), ('khatri_rao', 'num_args'),
                     ('UpSampling', 'num_args'), ('Crop', 'num_args'), ('multi_sum_sq', 'num_arrays'),
                     ('amp_multicast', 'num_outputs'), ('multi_all_finite', 'num_arrays'), ('Custom', 'op_type'),
                     ('_contrib_dgl_subgraph', 'num_args'), ('_rnn_param_concat', 'num_args')):
        for count in (1, 300_000):
            for told in (count, 2 * 10**9, 10**18, 0, -1, 'nan') if count == 1 else (count, 2 * count):
                yield f'{op} of {count}, {told}', _graph([data, _node(op, 'n', [0] * count, attrs={attr: str(told)})])
    for depth in (5, 90, 105, 2000):
        yield from _nested(depth)
    yield 'itself', _graph([data, _node('relu', 'a', [1])])
    yield 'later', _graph([data, _node('relu', 'a', [2]), _node('relu', 'b', [1])])
    yield 'heads', _graph([data], [[0, 0, 0]] * 300_000)
    for op in ('SliceChannel', 'split_v2', '_split_v2'):
        for attrs in ({'num_outputs': '100000'}, {'indices': str(tuple(range(1, 100_000)))}, {'sections': '1000000'}):
            yield f'{op} {str(attrs)[:40]}', _graph([data, _node(op, 's', [0], attrs=attrs)])
    yield from _operators()


def _nested(depth):
    """Graphs in graphs, as loops and branches have them."""
    loops = {
        '_foreach': ({'num_args': '3', 'num_outputs': '1', 'num_out_data': '1', 'in_state_locs': '()',
                      'in_data_locs': '(0,)', 'remain_locs': '()'}, 1),
        '_while_loop': ({'num_args': '3', 'num_outputs': '1', 'num_out_data': '0', 'max_iterations': '2',
                         'cond_input_locs': '(0,)', 'func_input_locs': '(0,)', 'func_var_locs': '(0,)'}, 2),
        '_cond': ({'num_args': '4', 'num_outputs': '1', 'cond_input_locs': '(0,)', 'then_input_locs': '(0,)',
                   'else_input_locs': '(0,)'}, 3),
        '_CachedOp': ({}, 1),
        'relu': ({}, 1),
    }
    for op, (attrs, graphs) in loops.items():
        text = _graph([_node('null', 'x'), _node('relu', 'y', [0])]).decode()
        plain = text  # only the last graph is deep: else the file has 2 ** depth of them
        around = _graph([_node('null', 'x'), _node(op, 'loop', [0], attrs=attrs, subgraphs=['@'])]).decode()
        first, last = around.split('"@"')
        for _ in range(depth):
            text = first + ', '.join([plain] * (graphs - 1) + [text]) + last
            if len(text) > 3_000_000:
                break
        yield f'{op} {depth} deep', text.encode()
    yield f'_CachedOp in a text, {depth}', _in_texts(min(depth, 12))


def _in_texts(depth):
    text = _graph([_node('null', 'x')]).decode()
    for _ in range(depth):
        if len(text) < 10**6:
            text = _graph([_node('null', 'x'), _node('_CachedOp', 'c', [0], attrs={'subgraph': text})]).decode()
    return text.encode()


def _operators():
    """Every operator with every attribute odd."""
    from mxnet._ops.core.table import NAMES

    for op in sorted({op.name: op for op in NAMES.values()}.values(), key=lambda op: op.name):
        try:
            wanted = len(op.input_names(op.complete({}), 1))
        except Exception:
            wanted = 1
        for count in {wanted, 1}:
            nodes = [_node('null', f'v{i}', attrs={'__shape__': '(2, 3)'}) for i in range(max(count, 1))]
            yield f'{op.name} of {count}', _graph([*nodes, _node(op.name, 'n', range(count))])
            for attribute in op.attributes:
                for odd in ('0', '-1', '1e18', '2147483648', '1000000000', 'nan', '-inf', '()', '(0,)', '(-5, -5)',
                            '(1000000, 1000000)', '(9223372036854775807, 2)', 'None', 'x', '\ud800', '9' * 5000):
                    yield f'{op.name} of {count}, {attribute}={odd[:20]!r}', _graph(
                        [*nodes, _node(op.name, 'n', range(count), attrs={attribute: odd})])


def _safetensors(data):
    (length,) = struct.unpack_from('<Q', data)
    for name, text in _json(data[8 : 8 + length]):
        yield name, struct.pack('<Q', len(text)) + text + data[8 + length :]
    text = data[8 : 8 + length].rstrip()
    doubled = text[:-1] + b',' + text[1:]
    yield 'names twice', struct.pack('<Q', len(doubled)) + doubled + data[8 + length :]


def _pickle(data):
    places = [at for _, _, at in pickletools.genops(data)] + [len(data)]
    for at, end in zip(places, places[1:]):
        for step in mutations._STEPS:
            yield f'{step[:9]!r} before {at}', data[:at] + step + data[at:]
            yield f'{step[:9]!r} for {at}', data[:at] + step + data[end:]
        yield f'nothing for {at}', data[:at] + data[end:]
    for depth in DEEP:
        for opened, closed in ((b']', b'a'), (b'(', b't'), (b'', b'\x85'), (b'}K\0', b's'), (b'', b'2\x86')):
            yield f'{depth} {opened!r}', b'\x80\x04' + opened * depth + b'N' + closed * depth + b'.'


def _text(data):
    text = data.decode('utf-8', 'surrogateescape')
    marks = ' \t,:\n'
    at = 0
    while at < min(len(text), SMALL):
        end = next((i for i in range(at, len(text)) if text[i] in marks), len(text))
        for odd in TEXTS:
            yield f'{odd[:20]!r} at {at}', (text[:at] + odd + text[end:]).encode('utf-8', 'surrogatepass')
        for mark in (*marks, '\0', '\r', ''):
            yield f'{mark!r} after {at}', (text[:end] + mark + text[end + 1 :]).encode('utf-8', 'surrogateescape')
        at = end + 1
    line = text.split('\n')[0]
    yield 'a long line', (line * 20_000).encode('utf-8', 'surrogateescape')
    yield 'many lines', ((line + '\n') * 20_000).encode('utf-8', 'surrogateescape')


def _onnx(data):
    """Every field of the message, with odd numbers and texts."""
    import onnx

    model = onnx.ModelProto.FromString(data)
    for number, (message, field) in enumerate(_fields(model)):
        old = getattr(message, field.name)
        repeated = not isinstance(old, (int, float, str, bytes)) and hasattr(old, 'append')
        before = list(old) if repeated else old
        if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
            odds = [odd.encode('utf-8', 'replace').decode() for odd in TEXTS if len(odd) < 6000]
            odds = [odd.encode() for odd in odds] if field.type == field.TYPE_BYTES else odds
        elif field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
            odds = [0.0, -1.0, float('nan'), float('inf'), 1e38]
        elif field.type == field.TYPE_ENUM:
            odds = [0, 1, 7, 8, 9, 16, 99]
        else:
            odds = [n for n in mutations.NUMBERS if -(2**63) <= n < 2**63]
        for odd in odds:
            try:
                if repeated:
                    for new in ([odd, *before[1:]], [*before, odd], [odd]):
                        del old[:]
                        old.extend(new)
                        yield f'{str(odd)[:20]!r} in {number} {field.name}', model.SerializeToString()
                    del old[:]
                    old.extend(before)
                else:
                    setattr(message, field.name, odd)
                    yield f'{str(odd)[:20]!r} at {number} {field.name}', model.SerializeToString()
            except (ValueError, TypeError):
                continue
            finally:
                if repeated:
                    del old[:]
                    old.extend(before)
                else:
                    setattr(message, field.name, before)


def _fields(message, depth=0):
    """(message, field) of all values that are set, without those of large tensors."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in value if hasattr(value, 'append') or hasattr(value, 'add') else [value]:
                yield from _fields(inner, depth + 1)
        else:
            yield message, field
