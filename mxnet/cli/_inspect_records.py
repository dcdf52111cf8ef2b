"""What `remx inspect` says about files of records and their indices."""
import collections
import os
import struct
from typing import Any

from .. import recordio
from .._files import paths
from ..base import MXNetError

_THUMBNAIL, _TEXT = 96, 16


def look(path, report):
    """Fills a report about a `.rec` file."""
    report.columns = ('number', 'offset', 'bytes', 'id', 'label', 'content')
    contents: collections.Counter[str] = collections.Counter()
    labels: collections.Counter[Any] = collections.Counter()
    sizes, widths, starts = [], set(), set()
    for number, (at, record) in enumerate(_read(path, report.problems)):
        name, label, content = describe(record)
        starts.add(at)
        sizes.append(len(record))
        contents[content.split(' ')[0]] += 1
        if label is not None:
            widths.add(len(label))
            if len(label) == 1 and len(labels) < 10000:
                labels[label[0]] += 1
        report.row(number, at, len(record), name, None if label is None else _numbers(label), content)
    sizes.sort()
    report.summary['records'] = f'{len(sizes)}'
    if sizes:
        report.summary['sizes'] = f'{sizes[0]:,} to {sizes[-1]:,} bytes, half of them below {sizes[len(sizes) // 2]:,}'
        report.summary['content'] = ', '.join(f'{count} {kind}' for kind, count in contents.most_common())
    if widths:
        report.summary['labels'] = _labels(labels, widths)
    beside = os.path.splitext(path)[0] + '.idx'
    if beside != path and paths.is_local(beside) and os.path.exists(paths.local_name(beside)):
        report.summary['index'] = _compare(beside, starts, report.problems)


def _read(path, problems):
    """(position, record) of all good records."""
    with recordio.MXRecordIO(path, 'r') as reader:
        while True:
            begin = reader.tell()
            try:
                record = reader.read()
            except recordio.DamagedRecord as damage:
                problems.append(f'byte {damage.offset}: {damage.problem}; reading goes on at byte {damage.resume}')
                continue
            if record is None:
                return
            yield begin, record


def _labels(labels, widths):
    if widths != {1}:
        low, high = min(widths), max(widths)
        return f'{low} in each record' if low == high else f'{low} to {high} in each record'
    shown = ', '.join(f'{value:g} ({count} x)' for value, count in sorted(labels.items())[:12])
    return f'{len(labels)} different: {shown}' + (', ...' if len(labels) > 12 else '')


def _numbers(values):
    shown = ' '.join(f'{value:g}' for value in values[:6])
    return shown + (f' ... ({len(values)})' if len(values) > 6 else '')


def _compare(index, starts, problems):
    keys, bad = _lines(index)
    problems += [f'{index}: {problem}' for problem in bad]
    wrong = [(key, at) for key, at in keys if at not in starts]
    problems += [f'{index}: key {key} is at byte {at}, where no good record begins' for key, at in wrong[:10]]
    missing = len(starts) - len({at for _, at in keys} & starts)
    if missing:
        problems.append(f'{index}: {missing} records have no key; remx rec2idx makes the index again')
    return f'{index}: {len(keys)} keys' + ('' if wrong or missing or bad else ', all of them right')


# ---------------------------------------------------------------------- one record
def split(record):
    """-> (header or None, what follows it) of a record; one that holds no picture may have no header."""
    try:
        header, rest = recordio.unpack(record)
    except MXNetError:
        return None, record
    if _picture(rest) or not (_picture(record) or header.id2 or header.flag > 1000):
        return header, rest
    return None, record


def describe(record):
    """-> (id or None, labels or None, what it is)."""
    header, rest = split(record)
    content = _picture(rest)
    if header is None or not content:
        # nothing tells a header from other bytes but the picture behind it
        return None, None, content or f'bytes {record[:24]!r}'
    label = [header.label] if header.flag == 0 else [float(value) for value in header.label]
    return header.id, label, content


def _picture(data):
    """'JPEG 640x480'; '' if it is no picture."""
    if data[:3] == b'\xff\xd8\xff':
        return 'JPEG' + _jpeg_size(data)
    if data[:8] == b'\x89PNG\r\n\x1a\n' and len(data) >= 24:
        return 'PNG {}x{}'.format(*struct.unpack_from('>II', data, 16))
    for signature, name in ((b'BM', 'BMP'), (b'GIF8', 'GIF'), (b'\x93NUMPY', 'NumPy'), (b'II*\0', 'TIFF'),
                            (b'MM\0*', 'TIFF')):
        if data.startswith(signature):
            return name
    return 'WebP' if data[:4] == b'RIFF' and data[8:12] == b'WEBP' else ''


def _jpeg_size(data):
    at = 2
    while at + 9 < len(data) and data[at] == 0xff:
        marker, length = data[at + 1], int.from_bytes(data[at + 2:at + 4], 'big')
        if 0xc0 <= marker <= 0xcf and marker not in (0xc4, 0xc8, 0xcc):      # the frame
            return ' {1}x{0}'.format(*struct.unpack_from('>HH', data, at + 5))
        at += 2 + length
    return ' without a size'


# ---------------------------------------------------------------------- indices
def _lines(path):
    """-> ((key, position) of all lines, what is wrong)."""
    found, problems, at = [], [], 0
    for line in paths.read_bytes(path).splitlines(keepends=True):
        fields = line.decode('utf-8', 'replace').strip().split('\t')
        if len(fields) >= 2 and fields[1].isdecimal() and len(fields[1]) < 20:
            found.append((fields[0], int(fields[1])))
        elif line.strip():
            problems.append(f'byte {at}: {line.decode("utf-8", "replace").strip()[:80]!r} is no key and position')
        at += len(line)
    return found, problems


def look_at_index(path, report):
    """Fills a report about an `.idx` file."""
    report.columns = ('key', 'offset')
    keys, problems = _lines(path)
    report.problems += problems
    for key, at in keys:
        report.row(key, at)
    report.summary['keys'] = f'{len(keys)}'
    twice = [key for key, count in collections.Counter(key for key, _ in keys).items() if count > 1]
    if twice:
        report.problems.append(f'{len(twice)} keys are there more than once: {", ".join(twice[:10])}')
    beside = os.path.splitext(path)[0] + '.rec'
    if not paths.is_local(beside) or not os.path.exists(paths.local_name(beside)):
        report.summary['records'] = f'there is no {beside}'
        return
    with recordio.MXRecordIO(beside, 'r') as reader:
        wrong = [(key, at) for key, at in keys if not reader.begins_at(at)]
    report.problems += [f'key {key}: no record begins at byte {at} of {beside}' for key, at in wrong[:10]]
    if len(wrong) > 10:
        report.problems.append(f'... and {len(wrong) - 10} more keys like these')
    report.summary['records'] = beside + ('' if wrong else ': every key has one')


# ---------------------------------------------------------------------- pictures
def draw_sheet(path, target, count):
    """Draws the first pictures of a file side by side, with their labels; says how many."""
    cv2 = recordio._cv2('remx inspect --sheet')
    import numpy
    tiles: list[Any] = []
    for _, record in _read(path, []):
        if len(tiles) >= count:
            break
        header, data = split(record)
        picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR) if _picture(data) else None
        label = None if header is None else [header.label] if header.flag == 0 else list(header.label)
        tiles.append(_tile(cv2, picture, '' if label is None else _numbers(label)))
    if not tiles:
        raise MXNetError(f'{path} has no records to draw')
    across = max(1, min(len(tiles), round((len(tiles) * (_THUMBNAIL + _TEXT) / _THUMBNAIL) ** 0.5)))
    while len(tiles) % across:
        tiles.append(numpy.full_like(tiles[0], 255))
    sheet = numpy.vstack([numpy.hstack(tiles[i:i + across]) for i in range(0, len(tiles), across)])
    good, data = cv2.imencode(os.path.splitext(target)[1] or '.png', sheet)
    if not good:
        raise MXNetError(f'{target}: OpenCV cannot write this kind of picture')
    paths.write_atomic(target, [data.tobytes()])
    return f'{target}, {sheet.shape[1]} x {sheet.shape[0]} pixels'


def _tile(cv2, picture, text):
    """A thumbnail on white, in proportion, with a line of text below; a cross where there is no picture."""
    import numpy
    tile = numpy.full((_THUMBNAIL + _TEXT, _THUMBNAIL, 3), 255, numpy.uint8)
    room = _THUMBNAIL - 4
    if picture is None:
        cv2.line(tile, (2, 2), (room, room), (0, 0, 200), 1)
        cv2.line(tile, (2, room), (room, 2), (0, 0, 200), 1)
    else:
        scale = room / max(picture.shape[:2])
        width, height = (max(1, round(n * scale)) for n in (picture.shape[1], picture.shape[0]))
        method = cv2.INTER_AREA if scale < 1 else cv2.INTER_NEAREST
        left, top = (_THUMBNAIL - width) // 2, (_THUMBNAIL - height) // 2
        tile[top:top + height, left:left + width] = cv2.resize(picture, (width, height), interpolation=method)
    cv2.putText(tile, text[:14], (4, _THUMBNAIL + 11), cv2.FONT_HERSHEY_SIMPLEX, 0.38, (0, 0, 0), 1, cv2.LINE_AA)
    return tile
