"""Damage to files, by what they are made of: bytes, text, JSON, instructions of a pickle, chunks, protobuf.

`mutate(format, seeds, chance)` makes one damaged file; the same `random.Random` makes the same one.
"""

import gzip
import json
import pickletools
import struct
import zlib

NUMBERS = (0, 1, -1, 2, 33, 255, 2**16, 2**24, 2**31 - 1, -(2**31), 2**32 - 1, 2**33, 2**40, 2**61, 2**63 - 1, -(2**63))
ODD_TEXTS = (
    '',
    '0',
    '-1',
    '1e18',
    'nan',
    'inf',
    '-inf',
    '1e400',
    '9' * 30,
    '9' * 5000,
    '-' * 3000,
    '(' * 300,
    '[' * 3000,
    '()',
    '(0,)',
    '(-1, 2)',
    '(1000000000000, 1000000000000)',
    'None',
    'True',
    'x',
    '\x1b[31m',
    '\u202e',
    '\0',
    '\ud800'.encode('utf-8', 'surrogatepass').decode('utf-8', 'replace'),
    '1L',
    '1.5',
    '0x10',
    '1_000',
    '٣',
    'float32',
    'float99',
    '{"a": 1}',
    '["zero", {}]',
    '["xavier", {"magnitude": "x"}]',
    '[' * 50 + ']' * 50,
)
ODD_VALUES = (
    None,
    True,
    False,
    0,
    1,
    -1,
    3,
    2**31,
    2**63,
    10**30,
    1.5,
    1e300,
    '',
    'x',
    'data',
    'Convolution',
    'null',
    [],
    [0],
    [0, 0],
    [0, 0, 0],
    [[0, 0, 0]],
    [1000000, 0, 0],
    [0, 1000000, 0],
    [-1, 0, 0],
    {},
    {'a': 1},
    {'num_hidden': '1000000000000000000'},
    {'num_outputs': '2000000000'},
    {'shape': '(1000000, 1000000)'},
    [[[[[[[[[[]]]]]]]]]],
    float('nan'),
)


# ---------------------------------------------------------------------- bytes
def mutate_bytes(data, seeds, chance):
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(data) + 1)
        other = chance.choice(seeds)
        start = chance.randrange(len(other) + 1)
        kind = chance.randrange(9)
        if kind == 0:
            data[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 1 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            data[at : at + 4] = struct.pack(chance.choice('<>') + 'I', chance.choice(NUMBERS) % 2**32)
        elif kind == 3:
            data[at : at + 8] = struct.pack(chance.choice('<>') + 'Q', chance.choice(NUMBERS) % 2**64)
        elif kind == 4:
            del data[at : at + chance.randrange(40)]
        elif kind == 5:
            data[at:at] = other[start : start + chance.randrange(60)]
        elif kind == 6:
            data[at : at + 40] = other[start : start + 40]
        elif kind == 7:
            del data[at:]
        else:
            data[at : at + 2] = struct.pack(chance.choice('<>') + 'H', chance.choice(NUMBERS) % 2**16)
    return bytes(data)


# ---------------------------------------------------------------------- text
def mutate_text(data, seeds, chance):
    """Lines and words are lost, doubled, exchanged; numbers become odd."""
    text = data.decode('utf-8', 'surrogateescape')
    for _ in range(chance.choice((1, 1, 2, 4))):
        lines = text.split('\n')
        at = chance.randrange(len(lines))
        kind = chance.randrange(7)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[at])
        elif kind == 2:
            lines[at] = chance.choice(ODD_TEXTS)
        elif kind == 3:
            lines[at] += chance.choice(('\t', ' ', ',', ':', '\r', '\0', '\u2028', '\x85')) + chance.choice(ODD_TEXTS)
        else:
            line, marks = lines[at], ' \t,:'
            places = [i for i, c in enumerate(line) if c in marks] or [0]
            cut = chance.choice(places)
            end = next((i for i in range(cut + 1, len(line)) if line[i] in marks), len(line))
            lines[at] = line[: cut + 1] + chance.choice(ODD_TEXTS) + line[end:]
        text = '\n'.join(lines)
    return text.encode('utf-8', 'surrogateescape')


# ---------------------------------------------------------------------- JSON
def _places(value, found, holder=None, key=None):
    if holder is not None:
        found.append((holder, key))
    if isinstance(value, dict):
        for inner in value:
            _places(value[inner], found, value, inner)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            _places(part, found, value, i)
    return found


def mutate_value(value, chance):
    """A value of JSON with something else at one place."""
    value = [value]
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        places = _places(value[0], [], value, 0)
        holder, key = chance.choice(places)
        old = holder[key]
        kind = chance.randrange(8)
        if kind == 0 and isinstance(holder, dict):
            del holder[key]
        elif kind == 1 and isinstance(holder, list) and holder is not value:
            if chance.random() < 0.5:
                holder.pop(key)
            else:
                holder.insert(key, old)
        elif kind == 2:
            other, other_key = chance.choice(places)
            holder[key] = json.loads(json.dumps(other[other_key])) if other is not value else other_key
        elif kind == 3 and isinstance(old, str):
            holder[key] = chance.choice(ODD_TEXTS)
        elif kind == 4 and isinstance(old, (int, float)):
            holder[key] = chance.choice(NUMBERS)
        elif kind == 5 and isinstance(holder, dict):
            holder[chance.choice((*ODD_TEXTS[:12], 'shape', '__shape__', '__dtype__', '__init__', 'num_outputs'))] = (
                chance.choice(ODD_TEXTS)
            )
        elif kind == 6:
            holder[key] = [old]
        else:
            holder[key] = json.loads(json.dumps(chance.choice(ODD_VALUES)))
    return value[0]


def mutate_json(data, seeds, chance):
    if chance.random() < 0.25:
        return mutate_bytes(data, seeds, chance)
    if chance.random() < 0.02:
        return data.replace(b'[', b'[' * chance.choice((2, 100, 2000, 100000)), 1)
    return json.dumps(mutate_value(json.loads(data), chance)).encode()


def mutate_safetensors(data, seeds, chance):
    if chance.random() < 0.4:
        return mutate_bytes(data, seeds, chance)
    (length,) = struct.unpack_from('<Q', data)
    text = json.dumps(mutate_value(json.loads(data[8 : 8 + length]), chance)).encode()
    told = len(text) if chance.random() < 0.9 else chance.choice(NUMBERS) % 2**64
    return struct.pack('<Q', told) + text + data[8 + length :]


# ---------------------------------------------------------------------- pickles
_STEPS = (
    b'2',
    b'0',
    b'1',
    b'(',
    b't',
    b'l',
    b'd',
    b'}',
    b']',
    b')',
    b'\x85',
    b'\x86',
    b'\x87',
    b'a',
    b'e',
    b's',
    b'u',
    b'R',
    b'b',
    b'N',
    b'\x88',
    b'K\x00',
    b'K\x07',
    b'J\xff\xff\xff\xff',
    b'h\x00',
    b'h\x01',
    b'q\x00',
    b'\x94',
    b'\x8f',
    b'\x90',
    b'\x91',
    b'\x81',
    b'X\x01\x00\x00\x00a',
    b'C\x01a',
    b'G\x7f\xf8\0\0\0\0\0\0',
    b'\x93',
    b'2\x86' * 40,
    b'cbuiltins\neval\n',
    b'ccollections\nOrderedDict\n',
    b'cmxnet.ndarray.ndarray\nNDArray\n',
    b']2a',
    b'\x8a\x04\xff\xff\xff\x7f',
    b'cnumpy\ndtype\n',
)


def mutate_pickle(data, seeds, chance):
    if chance.random() < 0.4:
        return mutate_bytes(data, seeds, chance)
    places = [at for _, _, at in pickletools.genops(data)] + [len(data)]
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        number = chance.randrange(len(places) - 1)
        at, end = places[number], places[number + 1]
        kind = chance.randrange(3)
        step = chance.choice(_STEPS)
        if kind == 0:
            data[at:at] = step
        elif kind == 1:
            data[at:end] = step
        else:
            del data[at:end]
    return bytes(data)


# ---------------------------------------------------------------------- pictures
def mutate_picture(data, seeds, chance):
    """Bytes; sizes in headers; chunks of a PNG, with sums that are right."""
    if data[:8] != b'\x89PNG\r\n\x1a\n' or chance.random() < 0.4:
        if chance.random() < 0.5:  # headers decide
            at = chance.randrange(min(len(data), 64))
            size = chance.choice((1, 2, 4))
            number = chance.choice(NUMBERS) % 256**size
            return data[:at] + number.to_bytes(size, chance.choice(('little', 'big'))) + data[at + size :]
        return mutate_bytes(data, seeds, chance)
    chunks, at = [], 8
    while at + 12 <= len(data):
        length, name = struct.unpack_from('>I4s', data, at)
        chunks.append([name, data[at + 8 : at + 8 + length]])
        at += 12 + length
    chunk = chance.choice(chunks)
    kind = chance.randrange(6)
    if kind == 0:
        chunk[1] = mutate_bytes(chunk[1] or b'x', [chunk[1] or b'x'], chance)
    elif kind == 1:
        chunk[0] = chance.choice(
            (
                b'IHDR',
                b'IDAT',
                b'PLTE',
                b'tRNS',
                b'iCCP',
                b'zTXt',
                b'acTL',
                b'fcTL',
                b'fdAT',
                b'IEND',
                b'eXIf',
                b'gAMA',
                b'xxxx',
            )
        )
    elif kind == 2:
        chunks.remove(chunk)
    elif kind == 3:
        chunks.insert(chance.randrange(len(chunks) + 1), list(chunk))
    elif kind == 4:
        first = bytearray(chunks[0][1])
        at = chance.choice((0, 4))
        first[at : at + 4] = struct.pack('>I', chance.choice(NUMBERS) % 2**32)
        chunks[0][1] = bytes(first)
    else:
        chunks.insert(
            1, [b'fcTL', struct.pack('>IIIIIHHBB', *[chance.choice(NUMBERS) % 2**32 for _ in range(5)], 1, 1, 0, 0)]
        )
    told = chance.choice((None, None, None, None, *NUMBERS))
    found = data[:8]
    for name, body in chunks:
        length = len(body) if told is None or name != chunk[0] else told % 2**32
        found += struct.pack('>I4s', length, name) + body + struct.pack('>I', zlib.crc32(name + body))
    return found


# ---------------------------------------------------------------------- records
def mutate_records(data, seeds, chance):
    if chance.random() < 0.5:
        return mutate_bytes(data, seeds, chance)
    found, at = b'', 0
    while at + 8 <= len(data):
        magic, word = struct.unpack_from('<4sI', data, at)
        length = word & (1 << 29) - 1
        body = data[at + 8 : at + 8 + length]
        at += 8 + (length + 3 & ~3)
        if chance.random() < 0.3:
            body = (
                body[:24] + mutate_picture(body[24:] or b'xx', [body], chance)
                if chance.random() < 0.6
                else mutate_bytes(body or b'x', [body or b'x'], chance)
            )
        found += magic + struct.pack('<I', word & 7 << 29 | len(body)) + body + bytes(-len(body) % 4)
    return found


# ---------------------------------------------------------------------- packed files
def mutate_gzip(data, seeds, chance):
    if chance.random() < 0.3:
        return mutate_bytes(data, seeds, chance)
    inner = gzip.decompress(data)
    if chance.random() < 0.005:
        inner = inner[:16] + bytes(300 << 20)
    else:
        inner = mutate_bytes(inner, [inner], chance)
    return gzip.compress(inner, 1, mtime=0)


# ---------------------------------------------------------------------- ONNX
def mutate_onnx(data, seeds, chance):
    if chance.random() < 0.3:
        return mutate_bytes(data, seeds, chance)
    import onnx

    model = onnx.ModelProto.FromString(data)
    from mxnet.contrib.onnx.onnx2mx._operators import FOLDS, TRANSLATIONS

    kinds = sorted({*FOLDS, *TRANSLATIONS})
    graph = model.graph
    names = [v.name for v in (*graph.input, *graph.initializer)] + [o for n in graph.node for o in n.output]
    for _ in range(chance.choice((1, 1, 2, 4))):
        node = chance.choice(graph.node) if graph.node else graph.node.add()
        kind = chance.randrange(12)
        if kind == 0:
            node.op_type = chance.choice(kinds)
        elif kind == 1 and node.attribute:
            _attribute(chance.choice(node.attribute), chance)
        elif kind == 2 and node.attribute:
            del node.attribute[chance.randrange(len(node.attribute))]
        elif kind == 3 and node.input:
            node.input[chance.randrange(len(node.input))] = chance.choice((*names, '', 'nobody'))
        elif kind == 4 and node.input:
            del node.input[chance.randrange(len(node.input))]
        elif kind == 5:
            node.input.append(chance.choice(names or ['x']))
        elif kind == 6 and graph.initializer:
            _tensor(chance.choice(graph.initializer), chance)
        elif kind == 7 and len(graph.node) > 1:
            del graph.node[chance.randrange(len(graph.node))]
        elif kind == 8 and graph.input:
            kind = chance.choice(graph.input).type.tensor_type
            if kind.shape.dim:
                chance.choice(kind.shape.dim).dim_value = chance.choice(NUMBERS)
            kind.elem_type = chance.choice((kind.elem_type, 0, 7, 8, 99))
        elif kind == 9:
            new = graph.node.add()
            new.op_type, new.name = chance.choice(kinds), 'new'
            new.input.extend(chance.choices(names or ['x'], k=chance.randrange(4)))
            new.output.append(chance.choice((*names, 'fresh')))
        elif kind == 10:
            attribute = node.attribute.add()
            attribute.name = chance.choice(
                (
                    'axis',
                    'axes',
                    'shape',
                    'kernel_shape',
                    'pads',
                    'strides',
                    'to',
                    'value',
                    'group',
                    'perm',
                    'k',
                    'alpha',
                    'keepdims',
                    'split',
                    'blocksize',
                    'mode',
                )
            )
            _attribute(attribute, chance)
        elif graph.output:
            chance.choice(graph.output).name = chance.choice((*names, 'nobody'))
    return model.SerializeToString()


def _attribute(attribute, chance):
    kind = chance.randrange(6)
    if kind == 0:
        attribute.i, attribute.type = chance.choice(NUMBERS), 2
    elif kind == 1:
        attribute.ints[:] = [chance.choice(NUMBERS) for _ in range(chance.randrange(6))]
        attribute.type = 7
    elif kind == 2:
        attribute.f, attribute.type = chance.choice((0.0, -1.0, 1e30, float('nan'), float('inf'))), 1
    elif kind == 3:
        attribute.s, attribute.type = (
            chance.choice(ODD_TEXTS).encode('utf-8', 'replace') + b'\xff' * chance.randrange(2),
            3,
        )
    elif kind == 4:
        attribute.type = chance.randrange(12)
    else:
        attribute.type = 4
        _tensor(attribute.t, chance)


def _tensor(tensor, chance):
    kind = chance.randrange(5)
    if kind == 0:
        tensor.dims[:] = [chance.choice(NUMBERS) for _ in range(chance.randrange(5))]
    elif kind == 1:
        tensor.data_type = chance.choice((0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 16, 17, 21, 99))
    elif kind == 2:
        tensor.raw_data = b"".join(struct.pack("<q", chance.choice(NUMBERS)) for _ in range(chance.randrange(5)))
        tensor.dims[:] = [len(tensor.raw_data) // 8]
        tensor.data_type = 7
    elif kind == 3:
        tensor.raw_data = tensor.raw_data[: chance.randrange(len(tensor.raw_data) + 1)]
    else:
        tensor.int64_data[:] = [chance.choice(NUMBERS) for _ in range(chance.randrange(5))]


KINDS = {
    'bytes': mutate_bytes,
    'gzip': mutate_gzip,
    'json': mutate_json,
    'onnx': mutate_onnx,
    'picture': mutate_picture,
    'pickle': mutate_pickle,
    'records': mutate_records,
    'safetensors': mutate_safetensors,
    'text': mutate_text,
}


def mutate(kind, seeds, chance):
    """One damaged file made of one of `seeds`."""
    seed = chance.choice(seeds)
    if kind == 'text' and chance.random() < 0.3:
        kind = 'bytes'
    return KINDS[kind](seed, seeds, chance)
