"""The network in a worker: inputs of requests, batches, answers."""
import hashlib
import json
import time
from typing import Any

import numpy as np

from .._names import near
from ..base import MXNetError
from ..cli import _inputs, _networks, _npy
from ..cli._convert import parse_shapes
from ..cli._rows import rows_of_outputs
from .answers import failure

V2_TYPES = {'BOOL': 'bool', 'UINT8': 'uint8', 'UINT16': 'uint16', 'UINT32': 'uint32', 'UINT64': 'uint64',
            'INT8': 'int8', 'INT16': 'int16', 'INT32': 'int32', 'INT64': 'int64', 'FP16': 'float16', 'FP32': 'float32',
            'FP64': 'float64'}
V2_NAMES = {v: k for k, v in V2_TYPES.items()}
BATCH_SECONDS = 0.05            # batches that take longer must pay: a larger one has to save time for each row
BATCH_GAIN = 0.95
LIGHT_SECONDS = 0.001           # what a light network takes at most for one input
LIGHT_BATCH = 32
LIGHT_NUMBERS = 10_000_000
PICTURE_MAGIC = (b'\xff\xd8\xff', b'\x89PNG', b'GIF8', b'BM', b'RIFF')


def _missing(missing, given):
    """What a request without all inputs is told."""
    several = len(missing) > 1
    return f'the input{"s" if several else ""} {", ".join(missing)} {"are" if several else "is"} missing' \
           f'{near(missing[0], given)}; the request has {", ".join(map(str, given)) or "no inputs"}'


class BadRequest(Exception):
    """An input that cannot be used; the answer says why."""


class Runner:
    """A network that answers requests."""

    def __init__(self, config):
        from ..context import Context
        self.config = config
        kind, _, number = config.get('device', 'cpu').partition(':')
        self.ctx = Context(kind, int(number or 0))
        shapes = parse_shapes(config.get('shapes') or [])
        network = _networks.load(config['source'], config.get('epoch'), network=config.get('network'), shapes=shapes)
        self.network = network
        self.shapes = network.shapes if config.get('network') else network.check_shapes(shapes)
        self.inputs = network.inputs
        self.block = network.module(self.ctx)
        # the same batch sizes come again: plans for each, CUDA graphs on a GPU
        self.block.hybridize(static_alloc=True, static_shape=True)
        self.classes = _networks.classes(network.source, config.get('classes'))
        self.prepare = None
        if len(self.inputs) == 1:
            options = {k: config[k] for k in ('scale', 'unit', 'mean', 'std', 'bgr', 'invert') if k in config}
            self.prepare = _inputs.Preprocessing(self.shapes[self.inputs[0]][1:], **options)
        self.largest = max(1, int(config.get('max_batch', 32)))
        examples = [self._example(1, seed) for seed in range(2)]
        # rows of each output that belong to a row of the input; None: a request is a batch of its own
        self.rows = rows_of_outputs(self._run, *examples) if all(self.shapes.values()) else None
        if self.rows is None:
            self.largest = 1
            examples = [list(network.example(self.shapes).values())]
        else:
            self._choose_threads(config.get('threads', 1))
            self._choose_batch()
        self.outputs = [(n, a.shape[1:], str(a.dtype)) for n, a in
                        zip(network.symbol.list_outputs(), self.compute(examples[0]))]

    def _example(self, rows, seed=0):
        """Random inputs of so many rows."""
        found = self.network.example({n: (rows, *s[1:]) for n, s in self.shapes.items()}, seed)
        return [found[n] for n in self.inputs]

    def _choose_threads(self, most):
        """One thread, unless several are clearly faster: threads wait for each other, and for cores that others use."""
        import torch
        if most < 2 or self.ctx.device_type != 'cpu':
            return
        example, times = self._example(8), {}
        for count in (1, most):
            torch.set_num_threads(count)
            found = []
            for _ in range(5):
                started = time.perf_counter()
                self._run(example)
                found.append(time.perf_counter() - started)
            times[count] = min(found[2:])           # the first ones make the plan
        torch.set_num_threads(most if times[most] * 1.25 < times[1] else 1)

    def _choose_batch(self):
        """Makes the plans of the sizes that occur, and finds the largest batch that is worth its time.

        On a CPU a batch of a heavy network takes as long as its rows one after the other, while all of its requests
        wait for the last row.
        """
        if self.ctx.device_type != 'cpu':
            return
        self.largest = batch_limit(self.largest, self._time_batch)

    def _time_batch(self, size):
        """The seconds of a batch of so many rows, after its plan is made."""
        example, best = self._example(size), float('inf')
        for _ in range(5):                  # the first ones make the plan
            started = time.perf_counter()
            self._run(example)
            best = min(best, time.perf_counter() - started)
        return best

    def is_light(self):
        """Whether a batch takes less time than it takes to bring it to another process and back."""
        if self.rows is None or self.ctx.device_type != 'cpu':
            return False
        if sum(a.size for a in self.network.arrays.values()) > LIGHT_NUMBERS:
            return False
        count = 1
        while count <= LIGHT_BATCH:
            example, best = self._example(count), float('inf')
            for _ in range(6):                  # the first ones make the plan
                started = time.perf_counter()
                self.compute(example)
                best = min(best, time.perf_counter() - started)
            if best > LIGHT_SECONDS * (1 if count == 1 else 8):
                return False
            count *= 2
        return True

    def digest(self):
        """A hash of what was loaded: networks that have the same give the same answers."""
        found = hashlib.blake2b(self.network.symbol.tojson().encode(), digest_size=20)
        for name, array in sorted(self.network.arrays.items()):
            values = np.ascontiguousarray(array.asnumpy())
            found.update(f'{name} {values.dtype} {values.shape}'.encode())
            found.update(values.reshape(-1).view('uint8').data)
        found.update(json.dumps([self.classes, sorted(self.shapes.items())]).encode())
        return found.hexdigest()

    def describe(self):
        """What the front tells of the network."""
        from .._graph.ir.node import topological
        layers = [{'name': n.name, 'operator': n.op.name} for n in topological(self.network.symbol._entries)
                  if not n.is_variable]
        return {
            'inputs': [{'name': n, 'datatype': V2_NAMES[str(self.network.dtypes[n])],
                        'shape': [-1, *self.shapes[n][1:]]} for n in self.inputs],
            'outputs': [{'name': n, 'datatype': V2_NAMES.get(kind, 'FP32'), 'shape': [-1, *shape]}
                        for n, shape, kind in self.outputs],
            'layers': layers, 'classes': self.classes,
            'parameters': int(sum(int(np.prod(a.shape)) for a in self.network.arrays.values())),
            'pictures': self.prepare is not None and self.prepare.takes_pictures,
            'files': [str(f) for f in self.network.files]}

    # ------------------------------------------------------------------ batches
    def answer(self, requests):
        """[(status, content type, body, headers)] for a list of (kind, headers, body); bad ones do not stop others."""
        parsed, answers = [], [None] * len(requests)
        for number, (kind, headers, body) in enumerate(requests):
            try:
                values, form = self.read(kind, headers, body)
                parsed.append((number, values, form))
            except BadRequest as error:
                answers[number] = failure(400, str(error))
            except Exception as error:
                answers[number] = failure(400, f'{type(error).__name__}: {error}')
        groups: dict = {}
        for item in parsed:
            key = item[0] if self.rows is None else tuple((v.shape[1:], v.dtype) for v in item[1])
            groups.setdefault(key, []).append(item)
        sizes, started = [], time.perf_counter()
        for group in groups.values():
            values = [np.concatenate(column) if len(group) > 1 else column[0] for column in
                      zip(*(item[1] for item in group))]
            sizes.append(len(values[0]))
            try:
                outputs = self.compute(values)
            except Exception as error:
                for number, _, _ in group:
                    answers[number] = failure(500, f'the network failed: {error}')
                continue
            start = 0
            for number, own, form in group:
                count = len(own[0])
                try:
                    answers[number] = form(outputs if self.rows is None else [
                        o[start * rows:(start + count) * rows] for o, rows in zip(outputs, self.rows)])
                except Exception as error:
                    answers[number] = failure(500, f'{type(error).__name__}: {error}')
                start += count
        return answers, sizes, time.perf_counter() - started

    def compute(self, values):
        """The outputs for a batch, in pieces whose sizes are powers of two: few sizes, so that plans are used again."""
        if self.rows is None:
            return self._run(values)
        count = len(values[0])
        parts, start = [], 0
        while start < count:
            size = min(self.largest, 1 << (count - start).bit_length() - 1)
            parts.append(self._run([v[start:start + size] for v in values]))
            start += size
        if not parts:
            raise BadRequest('the batch is empty')
        return parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts)]

    def _run(self, values):
        from .. import ndarray
        result = self.block(*[ndarray.array(np.ascontiguousarray(v), ctx=self.ctx, dtype=v.dtype) for v in values])
        return [r.asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])]

    # ------------------------------------------------------------------ inputs
    def read(self, kind, headers, body):
        """(arrays of the inputs, what makes the answer of the outputs)"""
        if kind == 'v2':
            return self._read_v2(headers, body)
        values = self._read_plain(headers.get('content-type', ''), body)
        accepts = headers.get('accept', '')

        def form(outputs):
            if 'application/x-npy' in accepts or 'application/octet-stream' in accepts:
                return 200, 'application/x-npy', _npy.dump(outputs[0]), {}
            return 200, 'application/json', _json(self._readable(outputs)), {}
        return values, form

    def _readable(self, outputs):
        """Top classes where there are names for them, else the numbers."""
        first = outputs[0]
        if self.classes and len(outputs) == 1 and first.ndim == 2 and first.shape[1] <= len(self.classes):
            rows = [[{'class': text, 'probability': value} for _, text, value in
                     _inputs.top_classes(row, self.classes, 5)] for row in first]
            return rows[0] if len(rows) == 1 else rows
        lists = [o.tolist() for o in outputs]
        return lists[0] if len(lists) == 1 else lists

    def _read_plain(self, kind, body):
        kind = kind.partition(';')[0].strip().lower() if not kind.lower().startswith('multipart/') else kind
        if kind.lower().startswith('multipart/'):
            kind, body = _first_part(kind, body)
        if body[:6] == b'\x93NUMPY' or kind in ('application/x-npy', 'application/npy'):
            return self._fit([_npy_of(body)])
        if kind.startswith('image/') or body.startswith(PICTURE_MAGIC) and kind != 'application/json':
            if self.prepare is None or not self.prepare.takes_pictures:
                raise BadRequest('this network does not take images')
            try:
                return [self.prepare.picture(body)[None]]
            except MXNetError as error:
                raise BadRequest(str(error)) from None
        if kind == 'application/octet-stream':
            return self._fit([self._raw(body)])
        try:
            found = json.loads(body)
        except RecursionError:
            raise BadRequest('the JSON is nested too deeply') from None
        except ValueError:
            raise BadRequest('the body is neither JSON nor an .npy array nor an image') from None
        return self._fit(self._of_json(found))

    def _of_json(self, found):
        if isinstance(found, dict):
            for key in ('instances', 'inputs', 'data') if len(self.inputs) == 1 else ('inputs',):
                if key in found and (key not in self.inputs or len(found) == 1):
                    found = found[key]
                    break
        if isinstance(found, dict):
            missing = [n for n in self.inputs if n not in found]
            if missing:
                raise BadRequest(_missing(missing, found))
            values = [found[n] for n in self.inputs]
        elif len(self.inputs) == 1:
            values = [found]
        elif isinstance(found, list) and len(found) == len(self.inputs):
            values = found
        else:
            raise BadRequest(f'the network has the inputs {", ".join(self.inputs)}: give an object with these names')
        arrays = []
        for name, value in zip(self.inputs, values):
            try:
                arrays.append(np.array(value, dtype=self.network.dtypes[name]))
            except (ValueError, TypeError, OverflowError):
                raise BadRequest(f'{name} is not an array of numbers whose rows have equal lengths') from None
        return arrays

    def _raw(self, body):
        name = self.inputs[0]
        row = int(np.prod(self.shapes[name][1:])) * self.network.dtypes[name].itemsize
        if len(self.inputs) != 1 or not row or not body or len(body) % row:
            raise BadRequest(f'raw values must be a multiple of {row} bytes, but there are {len(body)}')
        return np.frombuffer(body, self.network.dtypes[name])

    def _fit(self, arrays):
        fitted = []
        for name, array in zip(self.inputs, arrays):
            shape = self.shapes[name][1:]
            count = int(np.prod(shape)) if shape else 1
            if array.ndim == 1 and count and array.size % count == 0 and array.shape != shape:
                array = array.reshape(-1, *shape)
            try:
                rows = _inputs.fit_rows(array, shape, name)
            except MXNetError as error:
                raise BadRequest(str(error)) from None
            fitted.append(np.ascontiguousarray(rows, dtype=self.network.dtypes[name]))
        if len({len(a) for a in fitted}) != 1 or not len(fitted[0]):
            raise BadRequest(f'the inputs have batches of {", ".join(str(len(a)) for a in fitted)}')
        return fitted

    # ------------------------------------------------------------------ Open Inference Protocol
    def _read_v2(self, headers, body):
        length = headers.get('inference-header-content-length')
        binary = b''
        if length is not None:
            if not length.isdecimal() or len(length) > 12 or int(length) > len(body):
                raise BadRequest('Inference-Header-Content-Length is not a length within the body')
            body, binary = body[:int(length)], body[int(length):]
        try:
            request = _v2_request(json.loads(body))
        except RecursionError:
            raise BadRequest('the JSON is nested too deeply') from None
        except (ValueError, KeyError, TypeError):
            raise BadRequest('the body is not an inference request: '
                             '{"inputs": [{"name", "shape", "datatype", "data"}]}') \
                from None
        given = {entry['name']: entry for entry in request['inputs']}
        arrays, place = {}, 0
        for entry in request['inputs']:
            name, kind, shape = entry['name'], entry.get('datatype'), entry.get('shape')
            if name in arrays:
                raise BadRequest(f'the input {name} is given twice')
            if not isinstance(kind, str) or kind not in V2_TYPES:
                raise BadRequest(f'{name}: datatype {kind!r} is not one of {", ".join(V2_TYPES)}')
            if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
                raise BadRequest(f'{name}: shape {shape!r} is not a list of lengths')
            size = (entry.get('parameters') or {}).get('binary_data_size')
            try:
                if size is not None:
                    if not isinstance(size, int) or not 0 <= size <= len(binary) - place:
                        raise BadRequest(f'{name}: binary_data_size {size!r} is no number of bytes that follow')
                    part = binary[place:place + size]
                    place += size
                    array = np.frombuffer(part, V2_TYPES[kind])
                else:
                    array = np.array(entry['data'], V2_TYPES[kind])
                arrays[name] = array.reshape(shape)
            except (ValueError, TypeError, KeyError, OverflowError):
                raise BadRequest(f'{name}: the data do not have the shape {shape} of {kind}') from None
        if place != len(binary):
            raise BadRequest(f'{len(binary) - place} bytes follow that belong to no input')
        missing = [n for n in self.inputs if n not in given]
        if missing:
            raise BadRequest(_missing(missing, given))
        values = self._fit([arrays[n] for n in self.inputs])
        wanted = {o['name']: o.get('parameters') or {} for o in request.get('outputs') or []}
        unknown = [n for n in wanted if n not in [o[0] for o in self.outputs]]
        if unknown:
            raise BadRequest(f'there is no output {", ".join(unknown)}; there are '
                             f'{", ".join(o[0] for o in self.outputs)}')
        everything = (request.get('parameters') or {}).get('binary_data_output', False)

        def form(outputs):
            described, tail = [], []
            for (name, _, _), array in zip(self.outputs, outputs):
                if wanted and name not in wanted:
                    continue
                entry = {'name': name, 'datatype': V2_NAMES[str(array.dtype)], 'shape': list(array.shape)}
                if wanted.get(name, {}).get('binary_data', everything):
                    data = np.ascontiguousarray(array).tobytes()
                    entry['parameters'] = {'binary_data_size': len(data)}
                    tail.append(data)
                else:
                    entry['data'] = array.reshape(-1).tolist()
                described.append(entry)
            answer = {'model_name': self.config['name'], 'model_version': str(self.config.get('version', 1)),
                      'outputs': described}
            if request.get('id') is not None:
                answer['id'] = request['id']
            head = _json(answer)
            if not tail:
                return 200, 'application/json', head, {}
            return 200, 'application/octet-stream', head + b''.join(tail), {
                'Inference-Header-Content-Length': str(len(head))}
        return values, form


def _json(value):
    """JSON, which has no words for numbers that are not finite: they are null."""
    try:
        return json.dumps(value, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_inputs.finite(value)).encode()


def _npy_of(body):
    try:
        return _npy.load(body, 'the body')
    except MXNetError as error:
        raise BadRequest(str(error)) from None


def _v2_request(found):
    """An inference request, if it is one."""
    def is_entry(entry):
        return isinstance(entry, dict) and isinstance(entry['name'], str) \
            and isinstance(entry.get('parameters') or {}, dict)
    if not (isinstance(found, dict) and isinstance(found['inputs'], list)
            and all(map(is_entry, (*found['inputs'], *(found.get('outputs') or ()))))
            and isinstance(found.get('parameters') or {}, dict)):
        raise TypeError
    return found


def _first_part(kind, body):
    """(content type, bytes) of the first part of a form, as `curl -F` sends it."""
    from email.parser import BytesParser
    message = BytesParser().parsebytes(b'Content-Type: ' + kind.encode() + b'\r\n\r\n' + body)
    parts: Any = message.get_payload() if message.is_multipart() else []       # messages, if it has parts
    if not parts:
        raise BadRequest('the form has no parts')
    return parts[0].get_content_type(), parts[0].get_payload(decode=True) or b''


def batch_limit(most, seconds):
    """The largest batch of at most `most` rows that is worth its time.

    Doubles the size while a batch takes at most BATCH_SECONDS, or saves time for each row.

    seconds: a function that gives the time of a batch of so many rows
    """
    size, before = 1, float('inf')
    while size <= most:
        took = seconds(size)
        if took > BATCH_SECONDS and took / size > BATCH_GAIN * before:
            return max(1, size // 2)
        size, before = size * 2, took / size
    return most
