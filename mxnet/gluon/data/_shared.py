"""Batches on their way from a worker process to the program, through memory that both have.

A worker pickles a batch with the memory of its arrays left out, and copies that into a slot: a piece of shared memory
of its own, which it made when it needed one and which is used again.  The program reads the arrays where they are; when
the last of them is gone, the slot is free.  The first byte of a slot says so.  Nothing has a name in the file system,
so that nothing is left behind, whichever process is killed; /dev/shm is not needed.

Sending a tensor through torch's queues takes about half a millisecond, this a twentieth of it.
"""
import io
import mmap
import os
import pickle
import socket
import weakref
from typing import Any, NamedTuple

import numpy
import torch

from ..._array import wrap
from ...ndarray import NDArray

FREE, SENT, TAKEN = 0, 1, 2
ALIGNED = 64
MOST = 32                   # slots of a worker, each an open file; more batches in use at once travel as bytes


class Message(NamedTuple):
    """A batch: its pickle, where the memory that was left out is, and in which slot (or: in `buffers`)."""

    worker: int
    pickled: bytes
    places: list            # (offset, length) of each piece in the slot
    slot: int | None
    gone: list              # slots that the worker has given up
    buffers: list


def can_share():
    """Whether this system has memory without a name that can be handed on through a socket."""
    return hasattr(os, 'memfd_create') and hasattr(socket, 'send_fds')


def _align(n):
    return -(-n // ALIGNED) * ALIGNED


# ---------------------------------------------------------------------- pickling
def _bytes_of(tensor):
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return pickle.PickleBuffer(flat.view(torch.uint8).numpy())


def _tensor_from(buffer, dtype, shape):
    if not memoryview(buffer).nbytes:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(buffer, dtype=dtype).view(shape)


def _array_from(buffer, dtype, shape, ctx, cls):
    return wrap(_tensor_from(buffer, dtype, shape), ctx, cls)


class _Pickler(pickle.Pickler):

    def reducer_override(self, obj):
        if isinstance(obj, NDArray) and not obj._sparse:
            tensor = obj.materialize()
            return _array_from, (_bytes_of(tensor), tensor.dtype, tuple(tensor.shape), obj._ctx, obj._dense)
        if type(obj) is torch.Tensor:
            return _tensor_from, (_bytes_of(obj), obj.dtype, tuple(obj.shape))
        return NotImplemented


def _pickled(batch):
    pieces: list[Any] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, buffer_callback=pieces.append).dump(batch)
    return stream.getvalue(), [p.raw() for p in pieces]


# ---------------------------------------------------------------------- the worker's side
class _Slot:

    def __init__(self, number, size):
        self.number, self.size = number, size
        self.file = os.memfd_create(f'mxnet-batch-{number}')
        try:
            os.ftruncate(self.file, size)
            self.memory = mmap.mmap(self.file, size)
        except OSError:
            os.close(self.file)
            raise

    def close(self):
        self.memory.close()
        os.close(self.file)


class Sender:
    """A worker's slots, and batches put into them."""

    def __init__(self, worker, connection):
        self._worker, self._connection = worker, connection
        self._slots = []
        self._made = 0
        self._pass = None

    def pack(self, batch, pass_number):
        """A batch as a message.  A new pass over the data does not wait for what the last one has sent."""
        if pass_number != self._pass:
            self._pass = pass_number
            for slot in self._slots:
                if slot.memory[0] == SENT:
                    slot.memory[0] = FREE
        pickled, pieces = _pickled(batch)
        size = ALIGNED + sum(_align(p.nbytes) for p in pieces)
        slot, gone = self._find(size) if pieces and self._connection is not None else (None, [])
        if slot is None:
            return Message(self._worker, pickled, [], None, gone, [bytes(p) for p in pieces])
        places, offset = [], ALIGNED
        memory = numpy.frombuffer(slot.memory, numpy.uint8)
        for piece in pieces:
            memory[offset:offset + piece.nbytes] = piece
            places.append((offset, piece.nbytes))
            offset += _align(piece.nbytes)
        slot.memory[0] = SENT
        return Message(self._worker, pickled, places, slot.number, gone, [])

    def _find(self, size):
        """(a free slot, or None; slots that were given up for it)."""
        free = [s for s in self._slots if s.memory[0] == FREE]
        fitting = [s for s in free if s.size >= size]
        if fitting:
            return min(fitting, key=lambda s: s.size), []
        gone = []
        for slot in free:
            self._slots.remove(slot)
            gone.append(slot.number)
            slot.close()
        if len(self._slots) >= MOST:
            return None, gone
        try:
            slot = _Slot(self._made, size + size // 4)
        except OSError:                     # too many open files: the batch travels as bytes
            return None, gone
        self._made += 1
        self._slots.append(slot)
        socket.send_fds(self._connection, [slot.number.to_bytes(8, 'little')], [slot.file])
        return slot, gone


# ---------------------------------------------------------------------- the program's side
class Receiver:
    """Batches out of the slots of workers."""

    def __init__(self, connections):
        self._connections = connections
        # a finalizer holds the sockets: a garbage collector could otherwise take them before the receiver closes them
        self._closing = weakref.finalize(self, _close_all, tuple(connections or ()))
        self._slots = {}

    def unpack(self, message):
        """The batch; it uses the worker's memory until it is gone."""
        for number in message.gone:
            self._slots.pop((message.worker, number), None)
        if message.slot is None:
            return pickle.loads(message.pickled, buffers=[bytearray(b) for b in message.buffers])
        memory = self._slot(message.worker, message.slot)
        memory[0] = TAKEN
        # all arrays of the batch hold on to this view; with the last of them it goes, and tells
        view = numpy.frombuffer(memory, numpy.uint8)
        weakref.finalize(view, _free, memory).atexit = False
        pieces = memoryview(view)       # type: ignore[arg-type]  # NumPy's arrays are buffers from Python 3.12 on only
        return pickle.loads(message.pickled, buffers=[pieces[a:a + n] for a, n in message.places])

    def _slot(self, worker, number):
        while (worker, number) not in self._slots:
            # in the order in which they were made: some may belong to batches that were not waited for
            name, files, *_ = socket.recv_fds(self._connections[worker], 8, 1)
            if not files:
                raise EOFError(f'worker {worker} of a DataLoader closed its connection')
            try:
                size = os.fstat(files[0]).st_size
                self._slots[worker, int.from_bytes(name, 'little')] = mmap.mmap(files[0], size)
            finally:
                os.close(files[0])
        return self._slots[worker, number]

    def close(self):
        self._closing()


def _close_all(connections):
    for connection in connections:
        connection.close()


def _free(memory):
    memory[0] = FREE
