"""Messages between the front and a worker, on a socket that only the two have.

A message is a JSON value with byte strings behind it.  JSON has a closed set of types, so neither side can make the
other one create objects or run code; bodies of requests and answers are sent as they are.
"""
import json
import struct

HEAD = struct.Struct('<4sIIQ')          # a mark, the length of the JSON, the number of byte strings, their total length
MARK = b'rmx1'


class Broken(Exception):
    """What arrived is no message."""


def pack(value, blobs=()):
    """The bytes of a message."""
    text = json.dumps(value).encode()
    lengths = [len(b) for b in blobs]
    return b''.join((HEAD.pack(MARK, len(text), len(blobs), sum(lengths)), struct.pack(f'<{len(blobs)}Q', *lengths),
                     text, *blobs))


class Unpacker:
    """Makes messages of the bytes that arrive."""

    def __init__(self):
        self._data = bytearray()

    def missing(self):
        """How many bytes the next message lacks, as far as is known; 0 when it is complete."""
        have = len(self._data)
        if have < HEAD.size:
            return HEAD.size - have
        mark, text, count, total = HEAD.unpack_from(self._data)
        if mark != MARK:
            raise Broken('the bytes are not a message')
        return max(0, HEAD.size + 8 * count + text + total - have)

    def feed(self, data):
        self._data += data

    def message(self):
        """(value, byte strings) of the next message; None while it is incomplete."""
        if self.missing():
            return None
        _, text, count, total = HEAD.unpack_from(self._data)
        place = HEAD.size + 8 * count
        lengths = struct.unpack_from(f'<{count}Q', self._data, HEAD.size)
        if sum(lengths) != total:
            raise Broken('the lengths of a message contradict each other')
        end = place + text + total
        with memoryview(self._data) as view:
            try:
                value = json.loads(bytes(view[place:place + text]))
            except ValueError:
                raise Broken('the bytes are not a message') from None
            place += text
            blobs = []
            for length in lengths:
                blobs.append(bytes(view[place:place + length]))
                place += length
        del self._data[:end]
        return value, blobs


def receive(sock, unpacker):
    """The next message of a blocking socket; None when the other side has closed it."""
    while (found := unpacker.message()) is None:
        data = sock.recv(max(1 << 16, min(1 << 20, unpacker.missing())))
        if not data:
            return None
        unpacker.feed(data)
    return found


# ---------------------------------------------------------------------- batches
def pack_requests(requests):
    """Of [(kind, headers, body)]."""
    return pack([r[:2] for r in requests], [r[2] for r in requests])


def requests_of(message):
    value, blobs = message
    return [(kind, headers, body) for (kind, headers), body in zip(value, blobs, strict=True)]


def pack_answers(answers, sizes, seconds):
    """Of [(status, content type, body, headers)], the sizes of the batches and the time that they took."""
    return pack([[(status, kind, headers) for status, kind, _, headers in answers], sizes, seconds],
                [a[2] for a in answers])


def answers_of(message):
    (heads, sizes, seconds), blobs = message
    return [(status, kind, body, headers) for (status, kind, headers), body in zip(heads, blobs, strict=True)], \
        sizes, seconds
