"""Shape inference by the ONNX library, in a process of its own.

The library's inference is compiled with assertions: a slice of an empty axis, or a shape that contradicts itself, ends
the whole process.  A file must not be able to do that to a program.  The process is started when the first network is
read, and ends when it has had nothing to do for ten seconds, or when the program ends.
"""
import atexit
import contextlib
import os
import select
import struct
import subprocess
import sys
import threading

from ...._files import limits
from ....base import MXNetError

_HEAD = struct.Struct('<QQ')            # bytes that follow; bytes of memory that may be taken, or whether it went well
_SECONDS = 20                           # for a small network; one more for each million bytes
_SERVER = '''
import os, select, struct, sys
try:
    import resource
except ImportError:
    resource = None
import onnx
from onnx import shape_inference
own, sys.stdout = os.fdopen(os.dup(1), 'wb'), sys.stderr
asked = sys.stdin.buffer
while select.select([asked], [], [], 10)[0]:
    head = asked.read(16)
    if len(head) < 16:
        break
    size, room = struct.unpack('<QQ', head)
    data = asked.read(size)
    used = 0
    if resource is not None and os.path.exists('/proc/self/statm'):
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
    if used:
        resource.setrlimit(resource.RLIMIT_AS, (used + room, hard))
    try:
        answer, good = shape_inference.infer_shapes(onnx.ModelProto.FromString(data), data_prop=True)\
            .SerializeToString(), 1
    except Exception as error:
        answer, good = str(error).encode()[:2000], 0
    if used:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    own.write(struct.pack('<QQ', len(answer), good) + answer)
    own.flush()
'''
_lock = threading.Lock()
_running: subprocess.Popen | None = None
_owner = 0                              # the process that has started it: a fork must not use its pipes


def infer(model):
    """The model with the shapes that follow from those it has."""
    global _running
    data = model.SerializeToString()
    with _lock:
        for attempt in range(2):
            if _running is None or _owner != os.getpid() or _running.poll() is not None:
                _end()                  # the pipes of one that has ended are still open
                _running = _start()
            try:
                good, answer = _ask(_running, data)
                break
            except (BrokenPipeError, EOFError):
                status = _end()
                if attempt or status:   # else it has ended because it had nothing to do
                    raise MXNetError('ONNX import: the shapes of the network contradict one another: the ONNX library '
                                     f'ended with status {status} when it inferred them') from None
            except BaseException:
                _end()
                raise
    if not good:
        text = ' '.join(answer.decode(errors='replace').split())
        if not text or 'bad_alloc' in text or 'MemoryError' in text:
            text = 'a tensor is declared larger than its data, or than a file of this size may need'
        raise MXNetError(f'ONNX import: the shapes of the network contradict one another: {limits.printable(text)}')
    return type(model).FromString(answer)


def _start():
    global _owner
    _owner = os.getpid()
    atexit.register(_end)
    folders = os.pathsep.join(folder for folder in sys.path if folder)
    return subprocess.Popen([sys.executable, '-c', _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, env={**os.environ, 'PYTHONPATH': folders}, bufsize=0)


def _end():
    global _running
    process, _running = _running, None
    if process is None or _owner != os.getpid():
        return None
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):    # one that ends by itself has a status that says how
        return process.wait(1)
    process.kill()
    return process.wait()


def _ask(process, data):
    """-> (whether it went well, the answer)."""
    seconds = _SECONDS + len(data) / 1e6
    _write(process.stdin.fileno(), _HEAD.pack(len(data), limits.allowance(len(data))) + data)
    size, good = _HEAD.unpack(_read(process.stdout.fileno(), _HEAD.size, seconds))
    return good, _read(process.stdout.fileno(), size, seconds)


def _write(descriptor, data):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view):]


def _read(descriptor, size, seconds):
    pieces = []
    while size:
        if not select.select([descriptor], [], [], seconds)[0]:
            raise MXNetError(f'ONNX import: the ONNX library has not inferred the shapes within {seconds:.0f} s')
        piece = os.read(descriptor, min(size, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b''.join(pieces)
