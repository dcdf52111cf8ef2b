"""Values that an operator refuses, found where they are: an index out of range, a probability above 1.

On a CPU torch's kernels look at each index and raise.  On a GPU they stop the device by an assertion, after which every
call in the process fails, and to wait for the values before each call would cost more than the call.  Here a kernel
brings each value into the range, so that what follows is defined, and notes the first that was outside in a *record*
of the device.  `look` raises the error: what reads an array or waits for a device calls it (`asnumpy`, `item`,
`wait_to_read`, `waitall`, copies to a CPU).  The record is in memory that both the GPU and the host can read, so that
to look costs neither a copy nor a wait, and replays of CUDA graphs write it as well.

`remx::within` is an operator of its own, so that traces contain it.  What is computed from the values depends on its
result, and a plan therefore runs it; a call whose results nothing uses is not checked in a plan, as it is not run.
"""
from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from ..._state import state
from ..._torch.dispatch import modes
from ..._torch.tools import compile_cuda, cuda_launch, raw_stream
from ...base import MXNetError, OutOfRange
from .library import CHECKS, define

records: list[_Record] = []         # of all devices whose values have been checked
_by_device: dict[int | torch.device, _Record] = {}       # by the number of a CUDA device; a number is found faster
_sites: list[tuple[str, type[MXNetError]]] = [('', MXNetError)]     # number of a check -> text and class of its error
_numbers: dict[tuple[str, str], int] = {}          # operator and argument -> number of the check
_making = threading.Lock()
_deferred_on_cpu = False

_SOURCE = r'''
extern "C" __global__ void within(const long long *values, long long *result, long long count, long long low,
                                  long long high, long long number, volatile long long *record) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (; i < count; i += (long long)gridDim.x * blockDim.x) {
        long long value = values[i], inside = value < low ? low : value > high ? high : value;
        result[i] = inside;
        if (inside != value && record[0] == 0) {
            record[1] = value;
            record[2] = low;
            record[3] = high;
            __threadfence_system();
            record[0] = number;
        }
    }
}'''
_THREADS, _MOST_BLOCKS = 256, 1024


# ---------------------------------------------------------------------- records
class _Record:
    """The first value that was refused on a device: [number of the check or 0, value, least, most], int64."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.launch = _launcher(device)
        if self.launch is None:
            self.memory = torch.zeros(4, dtype=torch.int64, device=device)
        else:
            self.memory = torch.zeros(4, dtype=torch.int64, pin_memory=True)
        self.address = self.memory.data_ptr()
        self._seen = self.memory.numpy() if self.memory.device.type == 'cpu' else None

    def note(self, values: Tensor, low: int, high: int, number: int) -> Tensor:
        """The values, brought into the range; one outside of it is noted."""
        values = values.contiguous()
        if self.launch is not None:
            result = torch.empty_like(values)
            self.launch(values, result, low, high, number, self.address)
            return result
        result = values.clamp(low, high)
        outside = (result != values).reshape(-1)
        first = values.reshape(-1).gather(0, outside.int().argmax().reshape(1))
        found = torch.cat((first.new_tensor([number]), first, first.new_tensor([low, high])))
        free = outside.any() & (self.memory[0] == 0)
        self.memory.copy_(torch.where(free, found, self.memory))
        return result

    def take(self) -> list[int] | None:
        """What has been noted, which is forgotten then; None if nothing has."""
        if self._seen is not None:
            if not self._seen[0]:
                return None
            found = self._seen.tolist()
        else:
            found = self.memory.tolist()        # a copy from the device
            if not found[0]:
                return None
        self.memory.zero_()
        return found


class _Buffers(threading.local):
    """The arguments of a launch and their addresses, which the driver copies; of each thread its own."""

    def __init__(self) -> None:
        self.numbers = (ctypes.c_int64 * 7)()
        start = ctypes.addressof(self.numbers)
        self.arguments = (ctypes.c_void_p * 7)(*range(start, start + 56, 8))


def _launcher(device: torch.device) -> Callable[..., None] | None:
    """Launches the kernel; None where torch has no wrapper around CUDA's compiler and driver."""
    if device.type != 'cuda':
        return None
    try:
        with torch.cuda.device(device):
            module, function = compile_cuda(_SOURCE, 'within')
            launch = cuda_launch()
    except (NotImplementedError, AttributeError, RuntimeError, OSError):
        return None

    buffers, index = _Buffers(), device.index

    def call(values: Tensor, result: Tensor, low: int, high: int, number: int, record: int,
             keep: Any = module) -> None:
        count = values.numel()
        buffers.numbers[:] = [values.data_ptr(), result.data_ptr(), count, low, high, number, record]
        blocks = min(-(-count // _THREADS), _MOST_BLOCKS)
        stream = ctypes.c_void_p(raw_stream(index))
        if torch.cuda.current_device() == index:
            status = launch(function, blocks, 1, 1, _THREADS, 1, 1, 0, stream, buffers.arguments, None)
        else:
            with torch.cuda.device(device):
                status = launch(function, blocks, 1, 1, _THREADS, 1, 1, 0, stream, buffers.arguments, None)
        if status:
            raise MXNetError(f'the driver refused to launch a check of indices, with error {status}')
    return call


def _record_of(values: Tensor) -> _Record:
    key = values.get_device() if values.is_cuda else values.device
    record = _by_device.get(key)
    if record is None:
        with _making:
            record = _by_device.get(key)
            if record is None:
                record = _by_device[key] = _Record(values.device)
                records.append(record)
    return record


def look() -> None:
    """Raises the error of a value that was refused; callers on hot paths ask `if records` first."""
    found = None
    for record in records:
        noted = record.take()
        found = found or noted
    if found is not None:
        text, error = _sites[found[0]]
        raise error(text.format(value=found[1], low=found[2], high=found[3]))


# ---------------------------------------------------------------------- the operator
def _kernel(values: Tensor, low: int, high: int, number: int) -> Tensor:
    if values.is_cpu and not _deferred_on_cpu:
        outside = (values < low) | (values > high)
        if bool(outside.any()):
            text, error = _sites[number]
            raise error(text.format(value=int(values[outside][0]), low=low, high=high))
        return values.clone()
    if not values.numel():
        return values.clone()
    result = _record_of(values).note(values, low, high, number)
    if state.naive:                     # every call waits, and raises its own errors
        if values.is_cuda:
            torch.cuda.synchronize(values.device)
        look()
    return result


_within = define('within(Tensor values, int low, int high, int number) -> Tensor', _kernel,
                 lambda values, low, high, number: torch.empty_like(values))

CHECKS.add(_within)


def _number(name: str, what: str, accepted: str, error: type[MXNetError]) -> int:
    key = name, what
    number = _numbers.get(key)
    if number is None:
        with _making:
            number = _numbers.get(key)
            if number is None:
                _sites.append((f'operator {name}: {what} {accepted}', error))
                number = _numbers[key] = len(_sites) - 1
    return number


def noted_report(name: str) -> tuple[Callable[..., Any], tuple[int, int, int]]:
    """The operator, and its arguments but the first, that notes an error where a factorization reports one.

    name: the operator of the program.  The report, int64, is 0 where all is well
    """
    return _within, (0, 0, _number(name, 'the matrix', 'cannot be factorized: it is singular, or not positive definite',
                                   MXNetError))


def _noted(values: Tensor, low: int, high: int, number: int) -> Tensor:
    """The values within the range; the operator, where something may be there to see that it is called."""
    if type(values) is Tensor and not modes():
        return _kernel(values, low, high, number)
    return _within(values, low, high, number)


def notes(device: torch.device) -> bool:
    """Whether checks of values on a device note what they find, because torch's kernels there do not raise."""
    return device.type not in ('cpu', 'meta') or _deferred_on_cpu and device.type == 'cpu'


def _unchecked(values: Tensor) -> bool:
    """Whether there are no values, or they become part of a program that runs without this package."""
    return values.is_meta or torch.compiler.is_exporting()


def in_range(name: str, what: str, index: Tensor, length: int, low: int = 0) -> Tensor:
    """int64 indices of an axis of a length, for a kernel of torch that checks them on a CPU only.

    name, what: the operator and its argument, for the error
    low: the least that is accepted; `-length` where negative ones count from the end
    """
    return index if index.is_cpu and not _deferred_on_cpu else checked(name, what, index, low, length - 1)


def checked(name: str, what: str, index: Tensor, low: int, high: int) -> Tensor:
    """int64 values from `low` to `high`; also on a CPU, where torch's kernel would not look at them."""
    if _unchecked(index):
        return index
    if high < low and index.numel():
        raise OutOfRange(f'operator {name}: {what} cannot name an element of an axis of length 0')
    number = _number(name, what, 'has the value {value}; it must be from {low} to {high}', OutOfRange)
    return _noted(index, low, high, number)


def refuse(name: str, what: str, values: Tensor, refused: Tensor, accepted: str, instead: float,
           error: type[MXNetError] = MXNetError) -> Tensor:
    """The values, which are an error where `refused` is true; computing goes on with `instead` there.

    accepted: what the values must be, for the error
    """
    if _unchecked(values):
        return values
    number = _number(name, what, f'has values that are not accepted; it must be {accepted}', error)
    # The sum with zeros is what makes the result depend on the check.
    nothing = _noted(refused.to(torch.int64), 0, 0, number)
    return torch.where(refused, instead, values) + nothing.to(values.dtype)


@contextlib.contextmanager
def deferred_on_cpu() -> Iterator[None]:
    """Has checks on a CPU note what they refuse, as on a GPU, instead of raising: for tests."""
    global _deferred_on_cpu
    before, _deferred_on_cpu = _deferred_on_cpu, True
    try:
        yield
    finally:
        _deferred_on_cpu = before
        for record in list(records):
            if record.device.type == 'cpu':
                records.remove(record)
                del _by_device[record.device]      # it is no CUDA device
