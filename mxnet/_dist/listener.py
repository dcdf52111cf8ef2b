"""Sockets that let in only those who know the job's secret, and the way to them.

- An address is the path of a Unix socket (all workers on one machine: no port is open at all), or a host and a port.
- A host is bound by its own addresses, never by all of the machine's.  MXNET_KVSTORE_BIND names others, for machines
  that the rest of the job reaches under an address that is not theirs (behind a router, say).
- A stranger costs a descriptor for at most HANDSHAKE seconds.  At most MOST_PENDING of them wait: the oldest one of
  the address that has most goes first, so that a flood from one machine does not push out members on others.  Nothing
  is read from one but 64 bytes, and nothing is sent but a random number.
- The log names the address of each stranger once, and at most MOST_NAMED of them.
"""
import collections
import contextlib
import errno
import hmac
import ipaddress
import logging
import os
import selectors
import socket
import time
import weakref

from ..base import MXNetError
from . import secret as _secret
from .secret import ANSWER, Channel, Refused, client_handshake

__all__ = ['Listener', 'bind', 'connect', 'shown']

HANDSHAKE = 10.0            # seconds
MOST_PENDING = 128
MOST_NAMED = 64             # strangers in the log of one listener
TRIES = 8                   # of a handshake that was broken off: a flood of strangers can push a member out

_open: weakref.WeakSet[socket.socket] = weakref.WeakSet()      # of this process, and not of its children


def _close_in_child():
    # a child that outlives a worker would keep its connections, and nobody would notice that the worker is gone
    for sock in list(_open):
        with contextlib.suppress(OSError):
            sock.close()
    _open.clear()


os.register_at_fork(after_in_child=_close_in_child)


def kept(sock):
    """A socket that children of this process do not get."""
    _open.add(sock)
    return sock


def shown(address):
    """An address in words."""
    return address if isinstance(address, str) else f'{address[0]}:{address[1]}'


def _resolved(host, port):
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Refused(f'{host} is not known: {error}') from None
    return list(dict.fromkeys((family, place) for family, _, _, _, place in found))


def _loopback(place):
    return ipaddress.ip_address(place[0].split('%')[0]).is_loopback


def _literal(host):
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host) is not None
    return host == 'localhost'


def _outward():
    """This machine's address on its way to others, if it has one; nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        trial.connect(('192.0.2.1', 9))
        return trial.getsockname()[0]
    return None


def bind(address, backlog=512):
    """Sockets that listen at an address.  OSError if this is not the machine, or somebody is there already."""
    if isinstance(address, str):
        sock = kept(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            sock.bind(address)
            sock.listen(backlog)
        except OSError:
            sock.close()
            raise
        return [sock]
    host, port = address
    own = os.environ.get('MXNET_KVSTORE_BIND')
    places = _resolved(own or host, port)
    if not own and not _literal(host) and all(_loopback(place) for _, place in places):
        # many systems call themselves 127.0.1.1, where nobody else reaches them
        other = _outward()
        if other:
            places.append((socket.AF_INET, (other, port)))
    found: list[socket.socket] = []
    problem = None
    for family, place in places:
        sock = kept(socket.socket(family, socket.SOCK_STREAM))
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((place[0], found[0].getsockname()[1], *place[2:]) if found and not port else place)
            sock.listen(backlog)
            found.append(sock)
        except OSError as error:
            sock.close()
            problem = error
            if error.errno == errno.EADDRINUSE:
                break
    if not found or problem is not None and problem.errno == errno.EADDRINUSE:
        for sock in found:
            sock.close()
        raise problem or OSError(errno.EADDRNOTAVAIL, f'{host} has no address')
    return found


def connect(address, key, purpose, seconds):
    """A `Channel` to who listens at an address, within some seconds; `Refused` if that is nobody, or a stranger."""
    end = time.monotonic() + seconds
    problem: Exception | None
    tries, pause, problem = 0, 0.005, None
    while tries < TRIES and time.monotonic() < end:
        try:
            places = [(socket.AF_UNIX, address)] if isinstance(address, str) else _resolved(*address)
        except Refused as error:
            places, problem = [], error
        for family, place in places:
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.settimeout(max(0.1, end - time.monotonic()))
                sock.connect(place)
            except OSError as error:
                sock.close()
                problem = problem or error
                continue
            try:
                if family != socket.AF_UNIX:
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    if sock.getsockname() == sock.getpeername():
                        raise Refused('it is this very socket')     # TCP connects a port to itself if nobody listens
                found = client_handshake(sock, key, purpose, max(0.1, min(HANDSHAKE, end - time.monotonic())))
                sock.settimeout(None)
                kept(sock)
                return found
            except (Refused, OSError) as error:
                sock.close()
                problem, tries = error, tries + 1
        time.sleep(pause)
        pause = min(1.5 * pause, 0.25)
    if tries:
        raise MXNetError(f'{shown(address)} was reached, but refused: {problem}')
    raise Refused(str(problem or 'no process is listening'))


class Pending:
    """A connection whose other side has not shown yet that it knows the secret."""

    __slots__ = ('data', 'end', 'nonce', 'peer', 'sock')

    def __init__(self, sock, peer):
        self.sock, self.peer, self.data = sock, peer, bytearray()
        self.end = time.monotonic() + HANDSHAKE
        first = _secret.hello()
        self.nonce = first[len(_secret.MAGIC):]
        sock.send(first)


class Listener:
    """Takes connections; `arrived(channel)` is called for each member, `ready(channel, events)` for what follows."""

    def __init__(self, sockets, key, purpose):
        self._key, self._purpose = key, purpose
        self._sockets = sockets
        name = sockets[0].getsockname()
        self.port = name[1] if isinstance(name, tuple) else None
        self._selector = selectors.DefaultSelector()
        self._pending = collections.OrderedDict()       # Pending: None, oldest first
        self._strangers = set()                         # addresses that the log has named
        for sock in sockets:
            sock.setblocking(False)
            self._selector.register(sock, selectors.EVENT_READ, None)

    def step(self, seconds):
        """Does what there is to do, and waits for it as long."""
        now = time.monotonic()
        if self._pending:
            seconds = min(seconds, max(0.0, next(iter(self._pending)).end - now))
        for entry, events in self._selector.select(seconds):
            if entry.data is None:
                self._accept(entry.fileobj)
            elif isinstance(entry.data, Pending):
                if entry.data in self._pending:         # it may have had to go for another meanwhile
                    self._examine(entry.data)
            else:
                self.ready(entry.data, events)
        now = time.monotonic()
        while self._pending and next(iter(self._pending)).end <= now:
            self._refuse(next(iter(self._pending)), f'it has not shown within {HANDSHAKE:g} seconds that it knows '
                                                    'the secret of this job')

    def _accept(self, listening):
        try:
            sock, name = listening.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                while self._pending:
                    self._refuse(next(iter(self._pending)), 'this process may not open more files')
                time.sleep(0.01)
            return
        kept(sock)
        sock.setblocking(False)
        try:
            if sock.family != socket.AF_UNIX:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pending = Pending(sock, name[0] if isinstance(name, tuple) else 'a process of this machine')
        except OSError:
            sock.close()
            return
        if len(self._pending) >= MOST_PENDING:
            counts = collections.Counter(other.peer for other in self._pending)
            busiest = max(counts, key=counts.__getitem__)
            self._refuse(next(other for other in self._pending if other.peer == busiest),
                         f'{counts[busiest]} connections of that address waited, and {MOST_PENDING} may wait in all')
        self._pending[pending] = None
        self._selector.register(sock, selectors.EVENT_READ, pending)

    def _refuse(self, pending, reason):
        """Drops a stranger, and says so if it is the first time."""
        here = self._sockets[0].getsockname()
        self._drop(pending)
        if pending.peer in self._strangers or len(self._strangers) > MOST_NAMED:
            return
        self._strangers.add(pending.peer)
        if len(self._strangers) > MOST_NAMED:
            logging.warning('More than %d strangers have connected to %s; the others are not named', MOST_NAMED,
                            shown(here))
            return
        logging.warning('A connection from %s to %s was refused: %s. This is said once for each address',
                        pending.peer, shown(here), reason)

    def _drop(self, pending):
        self._pending.pop(pending, None)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(pending.sock)
        pending.sock.close()

    def _examine(self, pending):
        try:
            part = pending.sock.recv(_secret.PROOF - len(pending.data))
        except BlockingIOError:
            return
        except OSError:
            part = b''
        if not part:
            self._refuse(pending, 'it ended before it had shown that it knows the secret of this job')
            return
        pending.data += part
        if len(pending.data) < _secret.PROOF:
            return
        own, proof = bytes(pending.data[:_secret.NONCE]), bytes(pending.data[_secret.NONCE:])
        if not hmac.compare_digest(proof, _secret.proof(self._key, self._purpose, 'client', pending.nonce, own)):
            self._refuse(pending, 'it does not know the secret of this job (MXNET_KVSTORE_SECRET)')
            return
        answer = _secret.proof(self._key, self._purpose, 'server', pending.nonce, own)
        try:
            sent = pending.sock.send(answer)
        except OSError:
            sent = 0
        if sent != ANSWER:
            self._drop(pending)
            return
        del self._pending[pending]
        into, out = _secret.keys_of(self._key, self._purpose, pending.nonce, own)
        channel = Channel(pending.sock, out, into)
        self._selector.modify(pending.sock, selectors.EVENT_READ, channel)
        self.arrived(channel)

    def arrived(self, channel):
        """A member has connected."""
        raise NotImplementedError

    def ready(self, channel, events):
        """A member's connection can be read or written."""
        raise NotImplementedError

    def close(self):
        """Listens no more; connections of members stay."""
        while self._pending:
            self._drop(next(iter(self._pending)))
        self._selector.close()
        for sock in self._sockets:
            with contextlib.suppress(OSError, AttributeError):
                if sock.family == socket.AF_UNIX:
                    os.unlink(sock.getsockname())
            sock.close()
