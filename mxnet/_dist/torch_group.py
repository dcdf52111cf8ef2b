"""torch's process group for the workers of a job, where NCCL or Gloo carries tensors.

torch makes its connections without asking who is on the other side.  So:

- the addresses travel by the workers' own store, or by a file of this user alone where all share a machine;
- Gloo listens on the interface of the job only (the loopback one where all share a machine);
- the workers prove over each of Gloo's connections that they know the secret, before anything else is sent there;
- Gloo's port is closed afterwards.  Gloo would listen as long as the job runs, keep every connection of a stranger, and
  end the process when it has no descriptors left.
  (NCCL has a random number of its own in what is told by the store, and refuses who does not know it.)
"""
import datetime
import fcntl
import os
import secrets
import socket
import stat
import struct

import torch
import torch.distributed as dist

from ..base import MXNetError
from .secret import derive
from .torch_store import TorchStore

__all__ = ['interface_of', 'make']

SIOCGIFADDR = 0x8915            # of Linux: the IPv4 address of an interface


def interface_of(address):
    """The name of the interface that has an IPv4 address, or None."""
    for _, name in socket.if_nameindex():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
            try:
                found = fcntl.ioctl(trial, SIOCGIFADDR, struct.pack('256s', name.encode()[:15]))
            except OSError:
                continue
        if socket.inet_ntoa(found[20:24]) == address:
            return name
    return None


def make(backend, met, rank, size, attempt, timeout, word):
    """Makes the group; `word(name, value)` returns what worker 0 said."""
    interface = interface_of(met.member.own_host or '127.0.0.1')
    if interface is not None:
        os.environ.setdefault('GLOO_SOCKET_IFNAME', interface)
    seconds = datetime.timedelta(seconds=timeout)
    path = os.path.join(met.folder, f'torch{attempt}') if met.folder else ''
    store = dist.FileStore(path, size) if path else TorchStore(met.member, f'group{attempt}', timeout)
    before = _ports()
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=seconds)
    if 'gloo' in backend:
        _verify(met.key, rank, size, word('a number of the process group', secrets.token_hex(16)))
        if isinstance(store, TorchStore):
            said = store.said
        else:
            with open(path, 'rb') as file:
                said = file.read()
        _close_port(said, before)


def _ports():
    """{descriptor: (host, port)} of the IPv4 sockets of this process that listen; {} where there is no /proc."""
    found = {}
    for name in os.listdir('/proc/self/fd') if os.path.isdir('/proc/self/fd') else ():
        try:
            if not stat.S_ISSOCK(os.stat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as sock:
                if sock.family == socket.AF_INET and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    found[int(name)] = sock.getsockname()
        except OSError:
            continue            # it was closed meanwhile
    return found


def _close_port(said, before):
    """Closes the port of Gloo, which is new and has told its address to the store.

    Its descriptor becomes that of a socket that is not connected: Gloo closes it at its end, and a number that
    something else has got meanwhile must not be closed.
    """
    for number, (host, port) in _ports().items():
        if before.get(number) != (host, port) and struct.pack('!H', port) + socket.inet_aton(host) in said:
            with socket.socket() as unconnected:
                os.dup2(unconnected.fileno(), number, inheritable=False)


def _verify(key, rank, size, number):
    """Compares what only members can send, over each connection."""
    def expected(sender, receiver):
        return torch.frombuffer(bytearray(derive(key, 'process group', number, sender, receiver)), dtype=torch.uint8)

    others = [other for other in range(size) if other != rank]
    found = {other: torch.zeros(32, dtype=torch.uint8) for other in others}
    works = [dist.isend(expected(rank, other), other) for other in others]
    works += [dist.irecv(found[other], other) for other in others]
    for work in works:
        if work is not None:
            work.wait()
    wrong = [other for other in others if not torch.equal(found[other], expected(other, rank))]
    if wrong:
        raise MXNetError(f'worker {rank} of {size}: what is connected as worker {wrong[0]} does not know the secret of '
                         'this job')
