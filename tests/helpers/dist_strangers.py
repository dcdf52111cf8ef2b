"""What somebody who knows no secret can try at a port, and which ports and sockets the processes of a job have."""
import contextlib
import datetime
import os
import pickle
import random
import socket
import struct
import subprocess
import sys
import threading
import time

from mxnet._dist.guard import descendants


def _inodes(process):
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f'/proc/{process}/fd'):
            with contextlib.suppress(OSError):
                link = os.readlink(f'/proc/{process}/fd/{name}')
                if link.startswith('socket:['):
                    found.add(link[8:-1])
    return found


def _host(text):
    data = bytes.fromhex(text)
    words = b''.join(data[i:i + 4][::-1] for i in range(0, len(data), 4))
    return socket.inet_ntop(socket.AF_INET if len(words) == 4 else socket.AF_INET6, words)


def ports(process):
    """{(host, port): number of the process} of all TCP sockets that a process and those below it listen at."""
    found = {}
    for number in [process, *descendants(process)]:
        own = _inodes(number)
        for name in ('tcp', 'tcp6'):
            with contextlib.suppress(OSError), open(f'/proc/{number}/net/{name}') as lines:
                for line in list(lines)[1:]:
                    cells = line.split()
                    if cells[3] == '0A' and cells[9] in own:
                        host, port = cells[1].split(':')
                        found[_host(host), int(port, 16)] = number
    return found


def unix_sockets(process):
    """Paths of the Unix sockets that a process and those below it listen at."""
    found = set()
    for number in [process, *descendants(process)]:
        own = _inodes(number)
        with contextlib.suppress(OSError), open(f'/proc/{number}/net/unix') as lines:
            for line in list(lines)[1:]:
                cells = line.split()
                if len(cells) > 7 and cells[3] == '00010000' and cells[6] in own and cells[7].startswith('/'):
                    found.add(cells[7])
    return found


class Evil:
    """A pickle that leaves a file behind where it is read."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f'touch {self.marker}',)


class Strangers:
    """Everything at once, at one port; `received` is all that anyone was told."""

    def __init__(self, host, port, marker):
        host = host.removeprefix('::ffff:')
        self._place = '127.0.0.1' if host in ('0.0.0.0', '::') else host, port
        self._marker, self.received, self._open = str(marker), b'', []
        self._random = random.Random(port)

    def _dial(self):
        sock = socket.create_connection(self._place, timeout=1)
        self._open.append(sock)
        return sock

    def _say(self, messages):
        """Each on a connection of its own; what comes back within a while is kept."""
        sockets, late = [], 0
        for data in messages:
            try:
                sock = self._dial()
            except TimeoutError:
                late += 1           # the queue of connections is full: that of Ray's processes which accept none, say
                if late == 3:
                    break
                continue
            except OSError:
                continue
            sockets.append(sock)
            with contextlib.suppress(OSError):
                sock.settimeout(0.5)
                sock.sendall(data)
        time.sleep(0.5)
        for sock in sockets:
            sock.setblocking(False)
            with contextlib.suppress(OSError):
                while part := sock.recv(2**16):
                    self.received += part
            sock.close()

    def words(self):
        """Garbage, pickles, lengths that are too large, and what other protocols begin with."""
        evil = pickle.dumps(Evil(self._marker))
        garbage = self._random.randbytes(2**16)
        self._say([b'', b'\0', b'\0' * 64, garbage[:64], garbage, evil, struct.pack('<Q', len(evil)) + evil,
                   struct.pack('!I', len(evil)) + evil, struct.pack('!I', 2**32 - 1) + garbage,
                   *(struct.pack('<q', number) + garbage for number in range(4)),      # where Gloo expects a number
                   b'REMX/1\r\n' + garbage[:56], b'REMX/1\r\n' * 8, evil[:60] + b'.' * 64,
                   b'GET / HTTP/1.1\r\nHost: x\r\n\r\n', b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n',
                   b'POST /get_or_create_runtime_env HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd',
                   b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + garbage[:999],
                   b'\x16\x03\x01\x02\x00\x01\x00' + garbage[:500]])

    def store(self):
        """What the store of earlier versions took: reading, writing and deleting, as torch's TCPStore does it."""
        import torch.distributed as dist
        done = []

        def go():
            with contextlib.suppress(RuntimeError, OSError, dist.DistError):
                store = dist.TCPStore(*self._place, is_master=False, timeout=datetime.timedelta(seconds=1))
                for name in ('common memory', 'the Ray cluster', 'the password of the Ray cluster', 'Server'):
                    store.set(f'pulse0/word {name}', pickle.dumps(Evil(self._marker)))
                    self.received += store.get(f'pulse0/word {name}')
                    store.delete_key(f'pulse0/word {name}')
                    done.append(name)

        # torch waits for ever where nobody answers, as Gloo does not: until the job ends
        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        thread.join(3)
        assert not done, done

    def linger(self, count=200):
        """Connections that say nothing, or a byte now and then."""
        for _ in range(count):
            sock = socket.socket()
            sock.setblocking(False)             # a full queue of connections must not hold up the attack
            self._open.append(sock)
            with contextlib.suppress(OSError):
                sock.connect(self._place)

        def drip():
            end = time.monotonic() + 4
            while time.monotonic() < end:
                for sock in self._open[:20]:
                    with contextlib.suppress(OSError):
                        sock.send(b'R')
                time.sleep(0.2)

        threading.Thread(target=drip, daemon=True).start()

    def flood(self, seconds=1.0):
        """As many connections as possible, each gone at once or left half-way."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                sock = socket.create_connection(self._place, timeout=1)
                sock.send(b'x' * 63)
                # the system sends a reset
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                sock.close()

    def all(self):
        """Everything, before there are many connections and afterwards."""
        self.words()
        self.linger()
        self.words()
        self.flood()
        self.store()

    def close(self):
        """Leaves."""
        for sock in self._open:
            sock.close()


def keep_flooding(kind, *processes):
    """Connections without end to every port that these processes have or get; runs until it is killed.

    kind: 'hold' keeps thousands of them open, 'say' sends a false proof on each
    """
    held, places, looked = [], [], 0.0
    while True:
        if time.monotonic() - looked > 0.02:
            places, looked = [place for number in processes for place in ports(number)], time.monotonic()
        for place in places:
            with contextlib.suppress(OSError):
                sock = socket.socket()
                held.append(sock)
                sock.settimeout(0.2 if kind == 'say' else 0)
                with contextlib.suppress(BlockingIOError):
                    sock.connect(place)
                if kind == 'say':
                    sock.send(b'x' * 64)
        if len(held) > 800:
            for sock in held[:400]:
                sock.close()
            del held[:400]


def ray_strangers(address, marker):
    """Tries to run a task on a Ray cluster, without a token and with a wrong one."""
    code = f'''
import logging, os, sys
import ray
from ray._private import ray_constants
ray_constants.ENABLE_RAY_CLUSTER = False
try:
    ray.init(address={address!r}, _node_ip_address='127.0.0.1', configure_logging=False, logging_level=logging.CRITICAL,
             log_to_driver=False)
    ray.get(ray.remote(lambda: os.system('touch {marker}')).remote(), timeout=5)
    print('it ran')
except BaseException as error:
    print('refused', type(error).__name__)
    os._exit(0)
'''
    for variables in ({'RAY_AUTH_MODE': 'disabled'}, {'RAY_AUTH_MODE': 'token', 'RAY_AUTH_TOKEN': '0' * 64}):
        environment = {**os.environ, **variables, 'RAY_gcs_rpc_server_reconnect_timeout_s': '3',
                       'RAY_gcs_server_request_timeout_seconds': '3', 'RAY_USAGE_STATS_ENABLED': '0'}
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=120,
                              env=environment)
        assert done.stdout.startswith('refused'), done.stdout + done.stderr


def secret_of(process):
    """What a process of this user has in MXNET_KVSTORE_SECRET."""
    with open(f'/proc/{process}/environ', 'rb') as file:
        for entry in file.read().split(b'\0'):
            if entry.startswith(b'MXNET_KVSTORE_SECRET='):
                return entry.partition(b'=')[2]
    return None


def command_lines():
    """Those of all processes."""
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f'/proc/{name}/cmdline', 'rb') as file:
                found.append(file.read())
    return found


def waited(check, seconds=60):
    """What `check()` gives, as soon as it is something."""
    end = datetime.datetime.now() + datetime.timedelta(seconds=seconds)
    while datetime.datetime.now() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f'nothing within {seconds} seconds')
