"""Sums, copies and collections of tensors in CPU memory over connections between workers who know each other.

- The workers form a ring; each is connected with the next one and the one before.  A connection begins with the
  handshake of `secret`, and the socket that the one before has connected to is closed then: while the job runs, nothing
  listens.  (Gloo, which did this before, listens as long as the job runs, and takes whoever comes first for a member.)
- A sum goes around twice: each worker adds a share to what comes from behind and hands it on, until every share has
  seen all workers; then the whole shares go around.  All workers get the same bits.  What comes is added while it
  comes, in chunks that stay in the processor's cache.
- Every operation begins with a header that the next worker compares with its own, so that different calls are noticed.
- Operations run one after the other, in a thread.
"""
import queue
import select
import socket
import struct
import threading
import time
from typing import Any

import torch

from .listener import Listener, bind, connect, kept

__all__ = ['Ring']

HEADER = struct.Struct('!8sIIQQ')       # kind, number of the dtype, argument, bytes, number of the operation
PIECE = 2**20                           # bytes of a copy that are handed on at a time
CHUNK = 2**20                           # bytes that are added at a time
BUFFER = 2**22                          # bytes that a connection may hold on its way
LOOK = 0.5                              # seconds between looks whether the others are alive

DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.bool, torch.complex64, torch.complex128]
DTYPES += [getattr(torch, name) for name in ('uint16', 'uint32', 'uint64') if hasattr(torch, name)]
NUMBERS = {dtype: number for number, dtype in enumerate(DTYPES)}


class _Entrance(Listener):
    """Takes the connection of the worker before this one."""

    channel = None

    def arrived(self, channel):
        self._selector.unregister(channel.sock)
        if self.channel is None:
            self.channel = channel
        else:
            channel.close()

    def ready(self, channel, events):
        pass


class Work:
    """An operation on its way."""

    __slots__ = ('_done', 'error', 'run')

    def __init__(self, run):
        self.run, self.error, self._done = run, None, threading.Event()

    def end(self, error=None):
        """It has ended."""
        self.run, self.error = None, error
        self._done.set()

    def wait(self):
        """Waits for the end."""
        self._done.wait()
        if self.error is not None:
            raise RuntimeError(str(self.error)) from self.error


class Ring:
    """See the module.  All workers start the same operations in the same order."""

    def __init__(self, member, key, rank, size, attempt, timeout, verdict, folder=''):
        self.rank, self.size, self._timeout = rank, size, timeout
        self._verdict = verdict                 # who is gone, in words, or None
        self._count, self._broken = 0, None
        after, before = (rank + 1) % size, (rank - 1) % size
        entrance = _Entrance(bind(f'{folder}/ring{attempt}-{rank}' if folder else (member.own_host, 0)), key,
                             f'ring {attempt} {before} {rank}')
        try:
            place = f'{folder}/ring{attempt}-{rank}' if folder else f'{member.own_host} {entrance.port}'
            member.set(f'ring{attempt}/{rank}', place)
            self._next, self._before = self._connected(member, key, attempt, after, entrance, folder)
        finally:
            entrance.close()
        for sock in (self._next, self._before):
            sock.setblocking(False)
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                sock.setsockopt(socket.SOL_SOCKET, option, BUFFER)
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name='kvstore-ring', daemon=True)
        self._thread.start()

    def _connected(self, member, key, attempt, after, entrance, folder):
        """(socket to the next worker, socket from the one before)"""
        found = []

        def go():
            try:
                if not member.wait([f'ring{attempt}/{after}'], self._timeout):
                    raise RuntimeError(f'worker {after} did not come within {self._timeout:g} seconds')
                place = member.get(f'ring{attempt}/{after}').decode()
                host, _, port = place.rpartition(' ')
                found.append(connect(place if folder else (host, int(port)), key, f'ring {attempt} {self.rank} {after}',
                                     self._timeout))
            except Exception as error:
                found.append(error)

        # at the same time: the next worker answers only once the one before it is served
        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        end = time.monotonic() + self._timeout
        while entrance.channel is None or not found:
            if found and isinstance(found[0], Exception):
                break
            if time.monotonic() > end:
                raise RuntimeError(f'the connections between workers were not made within {self._timeout:g} seconds')
            entrance.step(0.002 if entrance.channel is not None else 0.05)
        thread.join()
        if isinstance(found[0], Exception):
            raise RuntimeError(str(found[0])) from found[0]
        return kept(found[0].sock), kept(entrance.channel.sock)

    # ------------------------------------------------------------------ operations
    def sum(self, tensor):
        """Starts adding up a tensor, in place."""
        return self._start(lambda: self._sum(tensor, tensor))

    def sum_to(self, tensor, target, check=0):
        """Starts adding up a tensor, to another contiguous one of its size and type; `check` is compared."""
        return self._start(lambda: self._sum(tensor, target, check))

    def copy(self, tensor, root):
        """Starts copying worker `root`'s tensor into everyone's."""
        return self._start(lambda: self._copy(tensor, root))

    def gather(self, found, tensor):
        """Starts collecting everyone's tensor in a list of tensors."""
        return self._start(lambda: self._gather(found, tensor))

    def _start(self, run):
        work = Work(run)
        self._queue.put(work)
        return work

    def _serve(self):
        while True:
            work = self._queue.get()
            if work is None:
                return
            try:
                if self._broken is not None:
                    raise RuntimeError(f'an operation before it failed: {self._broken}')
                self._count += 1
                work.run()
                work.end()
            except Exception as error:
                self._broken = self._broken or error
                work.end(error)

    def close(self):
        """Ends after what was started."""
        self._queue.put(None)
        self._thread.join(1)
        self._next.close()
        self._before.close()

    # ------------------------------------------------------------------ how they run
    def _begin(self, kind, tensor, argument=0):
        """Compares the call with that of the worker before, and returns the tensor as flat contiguous memory."""
        flat = tensor.detach().contiguous().view(-1)
        own = HEADER.pack(kind, NUMBERS[flat.dtype], argument, flat.numel() * flat.element_size(), self._count)
        theirs = bytearray(HEADER.size)
        self._exchange(memoryview(own), memoryview(theirs))
        if theirs != own:
            other = (self.rank - 1) % self.size
            kind, dtype, _, count, number = HEADER.unpack(theirs)
            raise RuntimeError(f'worker {other} is at operation {number}, {kind.decode(errors="replace").strip()} of '
                               f'{count} bytes, this one at {self._count}: all must make the same calls')
        return flat

    def _sum(self, tensor, target, check=0):
        flat = self._begin(b'sum     ', tensor, check)
        total = flat if target is tensor else target.detach().view(-1)
        count, size, rank = flat.numel(), self.size, self.rank
        if count:
            edges = [count * i // size for i in range(size + 1)]
            own = [flat[edges[i]:edges[i + 1]] for i in range(size)]
            shares = [total[edges[i]:edges[i + 1]] for i in range(size)]
            buffer = flat.new_empty(min(-(-count // size), max(1, CHUNK // flat.element_size())))
            for step in range(size - 1):
                sent, arriving = (rank - step) % size, (rank - step - 1) % size
                self._exchange(_memory(shares[sent] if step else own[sent]), memoryview(b''),
                               self._added(own[arriving], shares[arriving], buffer))
            for step in range(size - 1):
                self._exchange(_memory(shares[(rank + 1 - step) % size]), _memory(shares[(rank - step) % size]))
        if target is tensor:
            self._put_back(tensor, flat)

    @staticmethod
    def _added(own, total, buffer):
        """Yields memory to fill with what comes; adds each chunk to one's own share once it is there."""
        memory = _memory(buffer)
        for start in range(0, own.numel(), buffer.numel()):
            end = min(start + buffer.numel(), own.numel())
            yield memory[:(end - start) * buffer.element_size()]
            torch.add(own[start:end], buffer[:end - start], out=total[start:end])

    def _copy(self, tensor, root):
        flat = self._begin(b'copy    ', tensor, root)
        memory, nothing = _memory(flat), memoryview(b'')
        last = (root - 1) % self.size                   # to which it comes last
        for start in range(0, len(memory), PIECE):
            piece = memory[start:start + PIECE]
            if self.rank != root:
                self._exchange(nothing, piece)
            if self.rank != last:
                self._exchange(piece, nothing)
        if self.rank != root:
            self._put_back(tensor, flat)

    def _gather(self, found, tensor):
        flat = self._begin(b'gather  ', tensor)
        rows = [flat if rank == self.rank else torch.empty_like(flat) for rank in range(self.size)]
        for step in range(self.size - 1):
            self._exchange(_memory(rows[(self.rank - step) % self.size]),
                           _memory(rows[(self.rank - step - 1) % self.size]))
        for target, row in zip(found, rows, strict=True):
            target.copy_(row.view(target.shape))

    @staticmethod
    def _put_back(tensor, flat):
        if flat.data_ptr() != tensor.data_ptr():
            tensor.copy_(flat.view(tensor.shape))

    def _exchange(self, out, into, more=None):
        """Sends bytes to the next worker while others come from the one before.

        more: an iterator over memory to fill after `into`; it goes on when that is full
        """
        after, before = self._next, self._before
        end = time.monotonic() + self._timeout
        while True:
            if not into and more is not None:
                into = next(more, into)
            if not out and not into:
                return
            moved = False
            if out:
                try:
                    out = out[after.send(out):]
                    moved = True
                except BlockingIOError:
                    pass
                except OSError as error:
                    raise RuntimeError(f'worker {(self.rank + 1) % self.size} has closed the connection') from error
            if into:
                try:
                    count = before.recv_into(into)
                except BlockingIOError:
                    pass
                except OSError as error:
                    raise RuntimeError(f'worker {(self.rank - 1) % self.size} has closed the connection') from error
                else:
                    if not count:
                        raise RuntimeError(f'worker {(self.rank - 1) % self.size} has closed the connection')
                    into = into[count:]
                    moved = True
            if moved:
                end = time.monotonic() + self._timeout
                continue
            poll = select.poll()
            if out:
                poll.register(after, select.POLLOUT)
            if into:
                poll.register(before, select.POLLIN)
            if not poll.poll(1000 * max(0.0, min(LOOK, end - time.monotonic()))):
                # the worker that is gone may be any, not only a neighbour
                if self._verdict():
                    raise RuntimeError(self._verdict())
                if time.monotonic() >= end:
                    raise RuntimeError(f'nothing came for {self._timeout:g} seconds')


def _memory(flat):
    """The bytes of a flat tensor, to read and to write."""
    if not flat.numel():
        return memoryview(b'')
    return memoryview(flat.view(torch.uint8).numpy())
