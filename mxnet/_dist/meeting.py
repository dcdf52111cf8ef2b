"""The store of small values through which the workers of a job meet: `Meeting` has it, `Member` asks it.

torch's TCPStore listens on all interfaces and takes orders from everyone.  This one has the same operations, for those
who know the job's secret (`listener`, `secret`).  Worker 0 has it, in a thread, unless a scheduler does.
"""
import contextlib
import itertools
import os
import selectors
import threading
import time
from collections.abc import Callable
from typing import Any

from .listener import Listener, connect
from .secret import LIMIT, Refused

__all__ = ['ENDED', 'Meeting', 'Member']

PURPOSE = 'store'
ENDED = 'ended its program'         # the last sign of a worker


class Meeting(Listener):
    """The store."""

    def __init__(self, sockets, key):
        super().__init__(sockets, key, PURPOSE)
        self._values = {}                   # key: bytes
        self._out = {}                      # channel: bytes that it has not taken yet
        self._waits = {}                    # number: (channel, keys, end)
        self._waiting = {}                  # key: numbers of those who wait for it
        self._numbers = itertools.count()
        self._pulses = {}                   # channel: (key of a worker's sign of life, key of the verdict, its rank)
        self._over = False
        self._wake_read, self._wake_write = os.pipe()
        self._selector.register(self._wake_read, selectors.EVENT_READ, self)
        self._thread = threading.Thread(target=self._serve, name='kvstore-meeting', daemon=True)
        self._thread.start()

    def _serve(self):
        while not self._over:
            now = time.monotonic()
            end = min((wait[2] for wait in self._waits.values()), default=now + 3600)
            self.step(max(0.0, end - now))
            if self._waits:
                now = time.monotonic()
                for number in [number for number, wait in self._waits.items() if wait[2] <= now]:
                    self._end_wait(number, False)

    def stop(self):
        """Ends the store, and disconnects everyone."""
        if self._over:
            return
        self._over = True
        os.write(self._wake_write, b'.')
        self._thread.join(5)
        self._pulses.clear()
        for channel in list(self._out):
            self._lose(channel)
        self.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    # ------------------------------------------------------------------ connections
    def arrived(self, channel):
        """A member has connected."""
        self._out[channel] = bytearray()

    def ready(self, channel, events):
        """A member has asked something, or can take more of the answer."""
        if channel is self or channel not in self._out:
            return
        try:
            if events & selectors.EVENT_READ:
                part = channel.sock.recv(2**16)
                if not part:
                    raise Refused('the connection was closed')
                for question in channel.opened(part):
                    self._take(channel, question)
            if events & selectors.EVENT_WRITE:
                self._flush(channel)
        except BlockingIOError:
            pass
        except Exception:
            self._lose(channel)             # of a member: its mistake must not be the end of the store

    def _lose(self, channel):
        if self._out.pop(channel, None) is not None:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(channel.sock)
            channel.close()
        for number in [number for number, wait in self._waits.items() if wait[0] is channel]:
            self._forget(number)
        if channel in self._pulses:
            self._mourn(*self._pulses.pop(channel))

    def _mourn(self, sign, verdict, rank):
        """The system has closed the connection of a worker: the others need not wait for its next sign of life."""
        note = self._values.get(sign, b'').partition(b'|')[2].partition(b'|')[2].decode()
        if note != ENDED and not note.startswith('failed') and verdict not in self._values:
            self._set(verdict, f'worker {rank} is gone: its connection has ended'.encode())

    def _answer(self, channel, value):
        out = self._out.get(channel)
        if out is None:
            return
        out += channel.sealed(value)
        if len(out) > 2 * LIMIT:
            raise Refused('a member takes no answers')
        self._flush(channel)

    def _flush(self, channel):
        out = self._out[channel]
        with contextlib.suppress(BlockingIOError):
            while out:
                del out[:channel.sock.send(out)]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if out else 0)
        self._selector.modify(channel.sock, events, channel)

    # ------------------------------------------------------------------ questions
    def _take(self, channel, question):
        if question[0] == 'pulse':
            self._pulses[channel] = question[1:]
            self._answer(channel, None)
            return
        if question[0] != 'wait':
            self._answer(channel, self._done(*question))
            return
        _, keys, seconds = question
        if all(key in self._values for key in keys):
            self._answer(channel, True)
            return
        number = next(self._numbers)
        self._waits[number] = channel, keys, time.monotonic() + seconds
        for key in keys:
            self._waiting.setdefault(key, set()).add(number)

    def _done(self, action, *arguments):
        actions: dict[str, Callable[..., Any]] = {
            'set': self._set, 'get': self._values.get, 'add': self._add, 'check': self._check,
            'compare': self._compare, 'delete': self._delete, 'count': self._count, 'many': self._many}
        return actions[action](*arguments)

    def _many(self, questions):
        return [self._done(*question) for question in questions]

    def _set(self, key, value):
        if not isinstance(key, str) or not isinstance(value, bytes):
            raise TypeError('keys are str, values bytes')
        self._values[key] = value
        for number in list(self._waiting.get(key, ())):
            if all(other in self._values for other in self._waits[number][1]):
                self._end_wait(number, True)

    def _add(self, key, number):
        total = int(self._values.get(key, b'0')) + number
        self._set(key, str(total).encode())
        return total

    def _check(self, keys):
        return all(key in self._values for key in keys)

    def _compare(self, key, expected, wanted):
        found = self._values.get(key)
        if found == expected or found is None and not expected:
            self._set(key, wanted)
            return wanted
        return expected if found is None else found

    def _delete(self, key):
        return self._values.pop(key, None) is not None

    def _count(self):
        return len(self._values)

    def _end_wait(self, number, found):
        channel = self._waits[number][0]
        self._forget(number)
        try:
            self._answer(channel, found)
        except (OSError, Refused):
            self._lose(channel)

    def _forget(self, number):
        _, keys, _ = self._waits.pop(number)
        for key in keys:
            waiting = self._waiting.get(key)
            if waiting is not None:
                waiting.discard(number)
                if not waiting:
                    del self._waiting[key]


class Member:
    """A connection to the store.  Every method raises `Refused`, a RuntimeError, when the store is gone."""

    def __init__(self, address, key, seconds):
        self.address, self._grace = address, seconds
        self._channel = connect(address, key, PURPOSE, seconds)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._lost = None               # why there are no answers any more

    @property
    def own_host(self):
        """The address of this machine that the store is reached from; '' by a Unix socket."""
        name = self._channel.sock.getsockname()
        return name[0] if isinstance(name, tuple) else ''

    def _ask(self, *question, seconds=0.0):
        if self._process != os.getpid():
            raise Refused('a child of a worker is not a member of the job')
        with self._lock:
            if self._lost is not None:
                raise Refused(self._lost)
            try:
                self._channel.send(question)
                return self._channel.receive(seconds + self._grace)
            except Refused as error:
                # its late answer would be taken for that to the next question; and nobody waits as long once more
                self._lost = str(error)
                self._channel.close()
                raise

    def set(self, key, value):
        """Stores bytes (or text)."""
        self._ask('set', key, value.encode() if isinstance(value, str) else value)

    def get(self, key):
        """The bytes of a key, or None."""
        return self._ask('get', key)

    def add(self, key, number):
        """Adds to a number, 0 at first, and returns it."""
        return self._ask('add', key, number)

    def check(self, keys):
        """Whether all keys are there."""
        return self._ask('check', list(keys))

    def compare_set(self, key, expected, wanted):
        """Replaces a value, or an absent one if nothing is expected, and returns what is there."""
        return self._ask('compare', key, expected, wanted)

    def delete(self, key):
        """Whether there was such a key."""
        return self._ask('delete', key)

    def count(self):
        """How many keys there are."""
        return self._ask('count')

    def wait(self, keys, seconds):
        """Whether all keys are there within some seconds."""
        return self._ask('wait', list(keys), seconds, seconds=seconds)

    def pulse(self, sign, verdict, rank):
        """This connection is worker `rank`'s: when it breaks before the worker's last sign, there is a verdict."""
        self._ask('pulse', sign, verdict, rank)

    def many(self, *questions):
        """The answers to several questions, in one message."""
        return self._ask('many', [list(question) for question in questions])

    def close(self):
        """Leaves."""
        self._channel.close()
