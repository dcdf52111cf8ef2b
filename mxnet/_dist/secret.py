"""The secret of a job, and connections between those who know it.

- `remx launch` makes a new secret for every run and hands it to the workers in MXNET_KVSTORE_SECRET.  Whoever starts
  processes by hand sets that variable.  It is never written to a socket, nor to a command line.
- A connection begins with a handshake of fixed size: each side sends a random number, and shows by an HMAC over both
  numbers and the purpose of the connection that it knows the secret.  A side that cannot is disconnected.
- `Channel` carries messages.  Each has an HMAC over its number and its contents, under a key of this connection and
  direction, so a message cannot be forged, changed, repeated, left out, or moved to another connection.
- Messages are JSON of a closed set of types (`pack`).  Nothing that is received is code.
"""
import base64
import hashlib
import hmac
import json
import os
import secrets
import socket
import struct
import time

from ..base import MXNetError

__all__ = ['Channel', 'Refused', 'SECRET', 'client_handshake', 'derive', 'make_secret', 'pack', 'secret', 'unpack']

SECRET = 'MXNET_KVSTORE_SECRET'
LEAST = 16                      # characters
MAGIC = b'REMX/1\r\n'
NONCE = 32
HELLO = len(MAGIC) + NONCE      # bytes of the server's first message
PROOF = NONCE + 32              # ... of the client's
ANSWER = 32                     # ... of the server's second
LIMIT = 64 * 2**20              # bytes of a message
LENGTH = struct.Struct('!I')
NUMBER = struct.Struct('!Q')
TAG = 32


class Refused(RuntimeError):
    """The other side of a connection is gone, or is not who it should be."""


def make_secret() -> str:
    """A new secret, as text for the environment."""
    return secrets.token_hex(32)


def secret() -> bytes:
    """The job's secret; empty if this process has none."""
    text = os.environ.get(SECRET, '')
    if text and len(text) < LEAST:
        raise MXNetError(f'{SECRET} has {len(text)} characters; it needs at least {LEAST}, and should be random: '
                         'python -c "import secrets; print(secrets.token_hex(32))"')
    return text.encode()


def derive(key: bytes, *purpose: object) -> bytes:
    """A key for one purpose: who learns it learns nothing of the secret, or of the key for another purpose."""
    text = json.dumps([str(part) for part in purpose]).encode()
    return hmac.digest(key, b'remx' + text, 'sha256')


# ---------------------------------------------------------------------- values

def pack(value) -> bytes:
    """A value as bytes: None, bool, int, float, str, bytes, and lists and dicts (with str as keys) of these."""
    return json.dumps(_plain(value), separators=(',', ':')).encode()


def unpack(data):
    """The value of what `pack` gave; tuples are lists."""
    try:
        return _restored(json.loads(data))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Refused(f'a message of {len(data)} bytes is not valid: {error}') from None


def _plain(value):
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind in (list, tuple):
        return [_plain(item) for item in value]
    if kind in (bytes, bytearray):
        return {'b': base64.b64encode(value).decode()}
    if kind is dict and all(type(key) is str for key in value):
        return {'d': {key: _plain(item) for key, item in value.items()}}
    raise MXNetError(f'workers exchange None, bool, int, float, str, bytes, and lists and dicts of these, not a '
                     f'{kind.__name__}')


def _restored(value):
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, dict):
        (kind, inner), = value.items()
        if kind == 'b':
            return base64.b64decode(inner, validate=True)
        if kind == 'd' and isinstance(inner, dict):
            return {key: _restored(item) for key, item in inner.items()}
        raise ValueError(f'type {kind!r} is not known')
    return value


# ---------------------------------------------------------------------- the handshake

def hello() -> bytes:
    """The server's first message."""
    return MAGIC + secrets.token_bytes(NONCE)


def proof(key, purpose, who, server_nonce, client_nonce):
    """What shows that `who` ('client' or 'server') knows the key."""
    return derive(key, 'handshake', who, purpose, server_nonce.hex(), client_nonce.hex())


def keys_of(key, purpose, server_nonce, client_nonce):
    """(key of the client's messages, key of the server's) of one connection."""
    return tuple(derive(key, 'session', who, purpose, server_nonce.hex(), client_nonce.hex())
                 for who in ('client', 'server'))


def client_handshake(sock: socket.socket, key: bytes, purpose: str, seconds: float) -> 'Channel':
    """Shows the side that listens that we know the secret, and makes sure that it does."""
    end = time.monotonic() + seconds
    first = _exactly(sock, HELLO, end)
    if not first.startswith(MAGIC):
        raise Refused('something else than a worker listens there')
    nonce, own = first[len(MAGIC):], secrets.token_bytes(NONCE)
    sock.sendall(own + proof(key, purpose, 'client', nonce, own))
    differs = f'it does not know the secret of this job: {SECRET} must be the same for all processes'
    try:
        answer = _exactly(sock, ANSWER, end)
    except Refused:
        raise Refused(differs) from None
    if not hmac.compare_digest(answer, proof(key, purpose, 'server', nonce, own)):
        raise Refused(differs)
    out, into = keys_of(key, purpose, nonce, own)
    return Channel(sock, out, into)


def _exactly(sock, count, end):
    data = bytearray()
    while len(data) < count:
        left = end - time.monotonic()
        if left <= 0:
            raise Refused('no answer')
        sock.settimeout(left)
        try:
            part = sock.recv(count - len(data))
        except TimeoutError:
            raise Refused('no answer') from None
        except OSError as error:
            raise Refused(str(error)) from None
        if not part:
            raise Refused('the connection was closed')
        data += part
    return bytes(data)


# ---------------------------------------------------------------------- messages

class Seal:
    """The HMACs of the messages of one direction."""

    def __init__(self, key):
        self._key, self._number = key, 0

    def tag(self, data):
        """The HMAC of the next message."""
        number = NUMBER.pack(self._number)
        self._number += 1
        return hmac.digest(self._key, number + data, hashlib.sha256)


class Channel:
    """Messages over a connection whose sides know each other."""

    def __init__(self, sock, out, into):
        self.sock = sock
        self._out, self._into = Seal(out), Seal(into)
        self._data = bytearray()

    def sealed(self, value) -> bytes:
        """The bytes of a message, which must be sent in the order in which they were made."""
        data = pack(value)
        if len(data) > LIMIT:
            raise MXNetError(f'a message between workers has {len(data)} bytes; {LIMIT} is the most')
        return LENGTH.pack(len(data)) + data + self._out.tag(data)

    def opened(self, received) -> list:
        """The messages that are whole now, `received` having arrived."""
        self._data += received
        found = []
        while len(self._data) >= LENGTH.size:
            size, = LENGTH.unpack_from(self._data)
            if size > LIMIT:
                raise Refused(f'a message of {size} bytes is announced')
            end = LENGTH.size + size
            if len(self._data) < end + TAG:
                break
            data, tag = bytes(self._data[LENGTH.size:end]), bytes(self._data[end:end + TAG])
            del self._data[:end + TAG]
            if not hmac.compare_digest(tag, self._into.tag(data)):
                raise Refused('a message was changed on its way')
            found.append(unpack(data))
        return found

    def send(self, value):
        """Sends a message."""
        try:
            self.sock.sendall(self.sealed(value))
        except OSError as error:
            raise Refused(str(error)) from error

    def receive(self, seconds):
        """Waits for a message."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise Refused(f'no answer within {seconds:g} seconds')
            self.sock.settimeout(left)
            try:
                part = self.sock.recv(2**16)
            except TimeoutError:
                continue
            except OSError as error:
                raise Refused(str(error)) from error
            if not part:
                raise Refused('the connection was closed')
            found = self.opened(part)
            if found:
                return found[0]             # one question, one answer

    def close(self):
        """Ends the connection."""
        self.sock.close()
