"""Messages between the front and a worker: pickles behind their length, on a socket that only the two have."""
import pickle
import struct

HEAD = struct.Struct('<Q')


def pack(value):
    data = pickle.dumps(value, protocol=5)
    return HEAD.pack(len(data)) + data


def receive(sock):
    """The next message of a blocking socket; None when the other side has closed it."""
    head = _exactly(sock, HEAD.size)
    if head is None:
        return None
    data = _exactly(sock, HEAD.unpack(head)[0])
    return None if data is None else pickle.loads(data)


def _exactly(sock, count):
    parts = bytearray()
    while len(parts) < count:
        part = sock.recv(min(1 << 20, count - len(parts)))
        if not part:
            return None
        parts += part
    return bytes(parts)


async def receive_async(reader):
    """The next message of an asyncio stream; None when the other side has closed it."""
    import asyncio
    try:
        head = await reader.readexactly(HEAD.size)
        return pickle.loads(await reader.readexactly(HEAD.unpack(head)[0]))
    except (asyncio.IncompleteReadError, ConnectionError, OSError):
        return None
