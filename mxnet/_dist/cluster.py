"""The Ray cluster that the servers of dist_async run on.

- RAY_ADDRESS names an existing one; it is used and left as it is, but for the servers.
- Without it, worker 0 starts one on its machine, and the first worker of every other machine adds that machine.  They
  end with the program, also when it is killed, and leave nothing behind.
- The program's own `ray.init(...)` counts as well.
- A cluster of the job's own has a password of its own, which the workers tell each other.
"""
import atexit
import contextlib
import ctypes
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import warnings

from ..base import MXNetError
from .places import scratch_root

__all__ = ['Cluster', 'failed', 'ray']

STARTUP = 300.0         # seconds in which a process must have started
MISSING = "dist_async runs on Ray, which is not installed: pip install 'remx[ray]'"


def ray():
    """The package."""
    # Ray reports how it is used to its makers, and takes GPUs from programs that ask for none: not ours
    os.environ.setdefault('RAY_USAGE_STATS_ENABLED', '0')
    os.environ.setdefault('RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO', '0')
    try:
        with quietly():
            import ray
    except ImportError as error:
        raise MXNetError(MISSING) from error
    return ray


@contextlib.contextmanager
def quietly():
    """Without warnings of Ray's dependencies, and without its handling of signals, which is the program's."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if main else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def password():
    """Variables with which a new cluster lets nobody else in; none if it is too late, or the user's own are set."""
    # Ray reads them when it is imported
    if 'ray' in sys.modules or 'RAY_AUTH_MODE' in os.environ:
        return {}
    return {'RAY_AUTH_MODE': 'token', 'RAY_AUTH_TOKEN': uuid.uuid4().hex}


def scratch():
    """A new folder for this job's own files; `remx launch` says where, and removes it if the job cannot."""
    place = os.environ.get('REMX_SCRATCH')
    if place:
        os.makedirs(place, mode=0o700, exist_ok=True)
    return tempfile.mkdtemp(prefix='' if place else 'remx-', dir=place or scratch_root())


def megabytes(name, default):
    """The value of a variable, in bytes."""
    text = os.environ.get(name, str(default))
    try:
        size = float(text)
    except ValueError:
        size = 0
    if not size > 0:
        raise MXNetError(f'{name} must be a number above 0, not {text!r}')
    return int(size * 2**20)


class Cluster:
    """This process's connection, the same cluster for all workers of a job."""

    def __init__(self, world):
        self._world = world
        self._folder = self._node = None
        self._password = {}
        common = world.word('the password of the Ray cluster', password())
        if not os.environ.get('RAY_ADDRESS'):
            self._password = common
            os.environ.update(common)
        self.ray = ray()
        self._connected = not self.ray.is_initialized()
        said = None
        if world.rank == 0:
            try:
                said = self._begin()
            except Exception as error:
                said = {'problem': f'{type(error).__name__}: {error}'}
        said = world.word('the Ray cluster', said)
        if 'problem' in said:
            raise MXNetError(f'worker 0 cannot start or reach a Ray cluster: {said["problem"]}')
        self.namespace = said['namespace']
        # after those of torch, so it runs before them
        atexit.register(self.close)
        self._join(said['address'])

    # ------------------------------------------------------------------ joining
    def _begin(self):
        """Worker 0: a cluster for everyone; what the others have to know."""
        address = os.environ.get('RAY_ADDRESS')
        if self.ray.is_initialized():
            address = self.ray.get_runtime_context().gcs_address
        elif not address:
            address = self._start()
        job = os.path.basename(os.environ.get('REMX_SCRATCH') or 'remx')
        return {'address': address, 'namespace': f'{job}-{uuid.uuid4().hex[:12]}'}

    def _start(self):
        self._folder = scratch()
        several = self._world.size > self._world.local_size
        where = {'_node_ip_address': os.environ.get('MASTER_ADDR') or os.environ.get('DMLC_PS_ROOT_URI')} \
            if several else {}
        with quietly():
            found = self.ray.init(address='local', num_cpus=max(1, os.cpu_count() or 1), num_gpus=0,
                                  include_dashboard=False, object_store_memory=store_memory(), _temp_dir=self._folder,
                                  configure_logging=False, logging_level=logging.ERROR, log_to_driver=False, **where)
        return found.address_info['gcs_address']

    def _join(self, address):
        if self.ray.is_initialized():
            return
        several = self._world.size > self._world.local_size and not os.environ.get('RAY_ADDRESS')
        if several and self._world.local_rank == 0:
            self._add_machine(address)
        end = time.monotonic() + max(STARTUP, self._world.timeout)
        while True:
            try:
                with quietly():
                    self.ray.init(address=address, configure_logging=False, logging_level=logging.ERROR,
                                  log_to_driver=False)
                return
            except (ConnectionError, RuntimeError, ValueError) as error:
                # on another machine than that of worker 0 it takes a while until there is something to connect to
                ended = self._node is not None and self._node.poll() is not None
                if not several or ended or time.monotonic() > end:
                    raise MXNetError(f'worker {self._world.rank} cannot reach the Ray cluster at {address}: '
                                     f'{str(error).strip()}') from error
                time.sleep(0.5)

    def _add_machine(self, address):
        """Ray lets programs in only on machines that belong to the cluster."""
        self._node = subprocess.Popen(
            [sys.executable, '-m', 'ray.scripts.scripts', 'start', '--address', address, '--block',
             '--disable-usage-stats', '--num-gpus', '0', '--object-store-memory', str(store_memory())],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=_end_with_parent)

    # ------------------------------------------------------------------ actors
    def actors(self, kind, count, *arguments):
        """`count` actors of a class, made by worker 0; each is told the job's name and its own."""
        names = [f'{kind.__name__}-{number}' for number in range(count)]
        if self._world.rank == 0:
            own = os.environ.get('REMX_SERVER_ENV')         # of `remx launch --env-server`
            options = {'runtime_env': {'env_vars': json.loads(own)}} if own else {}
            remote = self.ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0, **options)(kind)
            made = [remote.options(name=name, namespace=self.namespace, scheduling_strategy='SPREAD')
                    .remote(self.namespace, name, *arguments) for name in names]
            ready = [actor.__ray_ready__.remote() for actor in made]
            try:
                self.ray.get(ready, timeout=max(STARTUP, self._world.timeout))
                problem = None
            except self.ray.exceptions.RayError as error:
                problem = f'{type(error).__name__}: {error}'
            self._world.word(kind.__name__, problem)
        else:
            problem = self._world.word(kind.__name__)
        if problem:
            raise MXNetError(f'the servers did not start: {problem}')
        return made if self._world.rank == 0 else [self.ray.get_actor(name, self.namespace) for name in names]

    # ------------------------------------------------------------------ leaving
    def close(self):
        """Ends what was started; worker 0 waits for the others, who may still need it."""
        if self._connected is None:
            return
        connected, self._connected = self._connected, None
        atexit.unregister(self.close)
        if self._world.rank == 0 and not failed():
            self._world.wait_for_ends()
        if connected:
            self.ray.shutdown()
        if self._node is not None:
            self._node.terminate()
            self._node.wait()
        for name in self._password:
            os.environ.pop(name, None)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _end_with_parent():
    """Linux sends a signal when the process that started this one ends, in whatever way."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    except (AttributeError, OSError):
        pass                            # elsewhere Ray notices after a minute that the cluster is gone


def failed():
    """Whether the program ends because of an error."""
    return hasattr(sys, 'last_value')


def store_memory():
    """Bytes of shared memory for arrays on their way: MXNET_KVSTORE_OBJECT_STORE_MB, 1024 if it is not set."""
    return megabytes('MXNET_KVSTORE_OBJECT_STORE_MB', 1024)
