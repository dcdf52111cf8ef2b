"""The workers of a job together: sums, copies and gatherings of tensors over all of them.

- `world()` joins the job once for a process.  A job of one worker needs none of this.
- `joining` says where the workers meet, `ring` carries tensors in CPU memory, NCCL those of GPUs.  Where all workers
  share a machine, sums of tensors in CPU memory take a shorter way (`neighbours`).
- MXNET_KVSTORE_BACKEND=ring leaves that out, and =gloo sends all tensors through CPU memory by torch's Gloo.
- A program that has called `torch.distributed.init_process_group` keeps its group, and it is used.
- Operations start at once and end at `wait`.  Where one fails or takes longer than MXNET_KVSTORE_TIMEOUT, the error
  says which worker is gone, or what the others are waiting in.
- What workers say to each other is data (`secret.pack`), never code.
"""
import atexit
import ipaddress
import os
import re
import threading
from typing import Any

import torch
import torch.distributed as dist

from .._ops.nn import _workers
from ..base import MXNetError
from . import neighbours
from ._pulse import Pulse
from .joining import meet
from .meeting import ENDED, Member
from .places import place, timeout
from .ring import Ring
from .secret import derive, pack, unpack

__all__ = ['World', 'world']

_joined = None
_lock = threading.Lock()


def world():
    """The job that this process is part of."""
    global _joined
    with _lock:
        if _joined is None:
            _joined = World(place())
        return _joined


class World:
    """All workers; see the module."""

    def __init__(self, where):
        self.timeout = timeout()
        self.rank, self.size = where.rank, where.size
        self.local_rank, self.local_size = where.local_rank, where.local_size
        self._met = None                # the common store
        self._ring: Any = None          # the connections for tensors in CPU memory
        self._owner = False             # whether this made torch's process group
        self._pulse = None
        self._leaving = False
        self._staged = False            # whether GPU tensors travel through CPU memory
        self._neighbours: Any = None    # how CPU tensors are added up where all workers share a machine
        if dist.is_available() and dist.is_initialized():
            self._join_group()
        elif self.size > 1:
            self._make_group(where)
        if self.size > 1:
            def total(tensor: torch.Tensor) -> Any:
                return self.wait(self.sum(tensor, 'a sum inside an operator'))

            _workers.sum = total        # type: ignore[assignment]  # None while there is one worker

    # ------------------------------------------------------------------ joining
    def _make_group(self, where):
        if not dist.is_available():
            raise MXNetError('this build of torch has no torch.distributed, which KVStores of several workers need')
        met = self._met = meet(where, self.timeout)
        self._pulse = Pulse(Member(met.address, met.key, self.timeout), where, self.timeout)
        atexit.register(self._leave)
        self.rank = self._pulse.rank
        self._pulse.wait_for_all()
        met.complete()
        backend = os.environ.get('MXNET_KVSTORE_BACKEND') or ''
        cards = not backend and torch.cuda.is_available() and dist.is_nccl_available()
        self._staged = 'nccl' not in backend and not cards
        if cards or backend not in ('', 'ring'):
            from . import torch_group
            torch_group.make(backend or 'nccl', met, self.rank, self.size, where.attempt, self.timeout, self.word)
            self._owner = True
        if backend in ('', 'ring'):
            try:
                self._ring = Ring(met.member, met.key, self.rank, self.size, where.attempt, self.timeout,
                                  self._pulse.verdict, met.folder)
            except RuntimeError as error:
                raise self._problem('connecting the workers', error) from error
        if not backend:
            self._neighbours = neighbours.join(self.rank, self.size, lambda path: self.word('common memory', path),
                                               self._count, self.timeout)

    def _count(self, yes):
        total, work = self.agree([float(yes)], 'looking for a common machine')
        self.wait(work)
        return int(total)

    @property
    def own_host(self):
        """The address of this machine in the job, as far as it is known."""
        found = self._met.member.own_host if self._met is not None else ''
        return found or os.environ.get('MASTER_ADDR') or os.environ.get('DMLC_PS_ROOT_URI') or '127.0.0.1'

    @property
    def one_machine(self):
        """Whether all workers are known to share a machine."""
        if self.size == self.local_size or self._met is not None and self._met.folder:
            return True
        try:
            return ipaddress.ip_address(self.own_host).is_loopback
        except ValueError:
            return False

    def derived(self, purpose):
        """Text that only processes know which have the job's secret; None if it has none."""
        return derive(self._met.key, purpose).hex() if self._met is not None and self._met.key else None

    def _join_group(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self._staged = 'nccl' not in str(dist.get_backend_config())

    def _leave(self):
        global _joined
        self._leaving = True
        if self._pulse is not None:
            self._pulse.stop(ENDED)
            if self._owner and not self._pulse.failed and dist.is_initialized():
                dist.destroy_process_group()
        if self._ring is not None:
            self._ring.close()
        if self._met is not None:
            self._met.close()
        _joined = _workers.sum = None

    # ------------------------------------------------------------------ operations
    def sum(self, tensor, what):
        """Starts adding up a tensor, in place; returns what `wait` takes."""
        return self._start(tensor, what, self._sum)

    def _sum(self, tensor):
        if tensor.is_cuda or self._ring is None:
            return dist.all_reduce(tensor, async_op=True)
        if self._neighbours is None:
            return self._ring.sum(tensor)
        flat = tensor.view(-1)
        return self._neighbours.sum(flat, [flat])

    @property
    def side_by_side(self):
        """Whether `sum_to` adds up tensors of CPU memory."""
        return self._neighbours is not None

    def sum_to(self, source, targets, what):
        """Starts adding up a flat tensor of CPU memory, to others; no copy is made on the way."""
        return self._start(source, what, lambda flat: self._neighbours.sum(flat, targets))

    def sums_into(self, device):
        """Whether `sum_into` takes tensors of a device."""
        return self._ring is not None and self._neighbours is None and device.type == 'cpu'

    def sum_into(self, source, target, what, check=0):
        """Starts adding up a tensor, to another one; a whole number of 32 bits must be the same in all workers."""
        return self._start(source, what, lambda here: self._ring.sum_to(here, target, check))

    def copy(self, tensor, what, root=0):
        """Starts copying worker `root`'s tensor into everyone's."""
        return self._start(tensor, what, lambda t: dist.broadcast(t, root, async_op=True)
                           if t.is_cuda or self._ring is None else self._ring.copy(t, root))

    def gather(self, tensor, what):
        """Starts collecting everyone's tensor; returns (their list, what `wait` takes)."""
        if self.size == 1:
            return [tensor], None
        here = tensor if self._direct(tensor) else tensor.cpu()
        found = [torch.empty_like(here) for _ in range(self.size)]
        work = self._start(here, what, lambda t: dist.all_gather(found, t, async_op=True)
                           if t.is_cuda or self._ring is None else self._ring.gather(found, t))
        return found, work

    def _direct(self, tensor):
        return not (self._staged and tensor.is_cuda)

    def _start(self, tensor, what, begin):
        if self.size == 1:
            return None
        if self._pulse is not None:
            self._pulse.note(what)
        here = tensor if self._direct(tensor) else tensor.cpu()
        try:
            return begin(here), here, tensor, what
        except (RuntimeError, dist.DistError) as error:
            raise self._problem(what, error) from error

    def wait(self, started):
        """Waits for the end of an operation."""
        if started is None:
            return
        work, here, tensor, what = started
        try:
            work.wait()
        except (RuntimeError, dist.DistError) as error:
            raise self._problem(what, error) from error
        if here is not tensor:
            tensor.copy_(here)

    def agree(self, numbers, what):
        """Starts adding up a few numbers; `wait` for it, then read the tensor that comes first."""
        tensor = torch.tensor(numbers, dtype=torch.float64)
        return tensor, self.sum(tensor, what)

    def barrier(self, what='barrier'):
        """Waits until all workers are here."""
        self.wait(self.sum(torch.zeros(1), what))

    def check(self):
        """Raises an error if another worker is known to be gone; for those who wait for something else."""
        verdict = self._pulse.verdict() if self._pulse is not None and not self._leaving else None
        if verdict:
            raise MXNetError(f'worker {self.rank} of {self.size}: {verdict}')

    def wait_for_ends(self):
        """Worker 0 waits, at its end, for those of the others; whether all have ended well."""
        if self._pulse is not None:
            return self._pulse.wait_for_ends()
        if self.size > 1:
            try:
                self.barrier('the end of the program')
            except MXNetError:
                return False
        return True

    def word(self, name, value=None):
        """What worker 0 has to say, however long it takes to find out; a value that `pack` takes, once a name."""
        if self.size == 1:
            return value
        if self._pulse is None:
            return self.objects(value)[0]
        return unpack(self._pulse.word(name, pack(value)))

    def objects(self, value):
        """The list of what each worker gave: values that `pack` takes."""
        if self.size == 1:
            return [value]
        what, text = 'exchanging values', pack(value)
        device = 'cuda' if self._ring is None and dist.get_backend() == 'nccl' else 'cpu'
        lengths, work = self.gather(torch.tensor([len(text)], device=device), what)
        self.wait(work)
        padded = torch.zeros(max(int(length) for length in lengths), dtype=torch.uint8)
        padded[:len(text)] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        texts, work = self.gather(padded.to(device), what)
        self.wait(work)
        return [unpack(bytes(found[:int(length)].cpu().numpy()))
                for found, length in zip(texts, lengths, strict=True)]

    def _problem(self, what, error):
        # without the place in torch's sources, and its advice
        short = re.sub(r'^\[[^]]*\] ', '', str(error).strip().split('\n')[0]).split('. This is')[0]
        if 'NCCL' in short and 'invalid usage' in short:
            return MXNetError(f'worker {self.rank} of {self.size}: {what} failed: NCCL takes one worker a GPU; use '
                              f'mx.gpu(kv.local_rank), or set MXNET_KVSTORE_BACKEND=gloo to share one ({short})')
        if self._pulse is None:
            return MXNetError(f'worker {self.rank} of {self.size}: {what} failed: {short}')
        return MXNetError(f'worker {self.rank} of {self.size}: {what} failed, since {self._pulse.blame()} ({short})')


