"""The Ray cluster that the servers of dist_async run on.

- RAY_ADDRESS names an existing one; it is used and left as it is, but for the servers.
- Without it, worker 0 starts one on its machine, and the first worker of every other machine adds that machine.  They
  end with the program, also when it is killed, and leave nothing behind (`guard`).
- The program's own `ray.init(...)` counts as well.
- A cluster of the job's own answers only who has its token.  All workers derive it from the secret of the job.  (If the
  job has none, which was said loudly, worker 0 makes it up and tells the others.)  Where all workers share a machine it
  listens on the loopback interface only.
"""
import atexit
import contextlib
import json
import logging
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
import warnings
from typing import Any

from ..base import MXNetError
from .guarded import Guarded
from .places import new_folder, private

__all__ = ['Cluster', 'Host', 'authenticate', 'failed', 'ray']

STARTUP = 300.0         # seconds in which a process must have started
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ray_host.py')
LOOPBACK = '127.0.0.1'
ONE_MACHINE = 'RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER'
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


def authenticate(token):
    """From now on Ray takes part with this token, or with the program's own settings if it is None."""
    for name, value in (('RAY_AUTH_MODE', 'token'), ('RAY_AUTH_TOKEN', token)):
        if token is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    raylet = sys.modules.get('ray._raylet')
    if raylet is None:
        return                  # it will read them when it is imported
    # a program that has imported Ray already: the variables were read then
    try:
        raylet.Config.initialize('')
        raylet.AuthenticationTokenLoader.instance().reset_cache()
    except AttributeError:
        raise MXNetError(f'Ray {ray().__version__} has no tokens, or reads them only when it is imported: dist_async '
                         'needs Ray 2.52 or newer') from None


def keep_to_loopback(alone):
    """Whether the cluster that this process takes part in is on the loopback interface only."""
    # Ray replaces 127.0.0.1 by an address that others reach, unless it believes itself on a system where that asks the
    # user to open the firewall
    if alone:
        os.environ[ONE_MACHINE] = '0'
    else:
        os.environ.pop(ONE_MACHINE, None)
    constants: Any = sys.modules.get('ray._private.ray_constants')
    if hasattr(constants, 'ENABLE_RAY_CLUSTER'):
        constants.ENABLE_RAY_CLUSTER = not alone        # read when it was imported


def own_settings():
    """Whether the program or its user has said how Ray authenticates."""
    return 'RAY_AUTH_MODE' in os.environ or 'RAY_AUTH_TOKEN' in os.environ or 'RAY_AUTH_TOKEN_PATH' in os.environ


def scratch():
    """A new folder for this job's own files; `remx launch` says where, and removes it if the job cannot."""
    place = os.environ.get('REMX_SCRATCH')
    if not place:
        return new_folder()
    os.makedirs(place, mode=0o700, exist_ok=True)       # on another machine than that of the launcher
    return new_folder('', private(place))


class Host:
    """A process that holds a Ray cluster on this machine, or this machine's part of one; see `ray_host`."""

    def __init__(self, options, folder, token=None, remove=True):
        environment = {**os.environ, 'RAY_USAGE_STATS_ENABLED': '0', 'RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO': '0'}
        # where Ray puts what it is not told to put elsewhere; its own choice is /tmp/ray, open to all users
        environment['RAY_TMPDIR'] = folder
        if options.get('_node_ip_address') == LOOPBACK:
            environment[ONE_MACHINE] = '0'
        if token is not None:
            environment |= {'RAY_AUTH_MODE': 'token', 'RAY_AUTH_TOKEN': token}
        # the options are no secret; warnings of Ray's dependencies are nothing for the program's output
        self._process = Guarded([sys.executable, HOST], folder if remove else '', env=environment,
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as file:
            file.write(json.dumps(options).encode())

    @classmethod
    def cluster(cls, folder, cores, address, token):
        """A new cluster with one machine.

        Ray opens its folder to all users, so it is inside one that only this user may enter.  That of `remx launch` is
        inside of one already, and names of sockets must not become longer.
        """
        place = folder if os.environ.get('REMX_SCRATCH') else os.path.join(folder, 'r')
        os.makedirs(place, mode=0o700, exist_ok=True)
        return cls({'num_cpus': cores, 'num_gpus': 0, 'object_store_memory': store_memory(), '_temp_dir': place,
                    '_node_ip_address': address, 'folder': folder}, folder, token)

    def running(self):
        """Whether it has not ended."""
        return self._process.poll() is None

    def address(self, folder):
        """Where the cluster listens, once it does."""
        path, end = os.path.join(folder, 'address'), time.monotonic() + STARTUP
        if not self._process.wait_or(lambda: os.path.exists(path) or (False if time.monotonic() > end else None)):
            how = f'has not started within {STARTUP:g} seconds' if self.running() else \
                f'ended with status {self._process.returncode}'
            raise RuntimeError(f'the process of the Ray cluster {how}')
        with open(path, encoding='utf-8') as file:
            said = json.load(file)
        if 'problem' in said:
            raise RuntimeError(said['problem'])
        return said['address']

    def close(self):
        """Ends it."""
        self._process.end()


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
        self._folder = self._host = None
        self._authenticated = self._loopback = False
        self._single = world.one_machine
        self.ray = ray()
        self._connected: bool | None = not self.ray.is_initialized()
        said = None
        # after those of torch, so it runs before them
        atexit.register(self.close)
        if world.rank == 0:
            try:
                said = self._begin()
            except Exception as error:
                said = {'problem': f'{type(error).__name__}: {error}'}
        said = world.word('the Ray cluster', said)
        if 'problem' in said:
            raise MXNetError(f'worker 0 cannot start or reach a Ray cluster: {said["problem"]}')
        self.namespace = said['namespace']
        if said['own'] and world.rank:
            self._authenticate(said['token'])
        self._join(said['address'], said['own'], said['folder'])

    # ------------------------------------------------------------------ joining
    def _begin(self):
        """Worker 0: a cluster for everyone; what the others have to know."""
        address, token = os.environ.get('RAY_ADDRESS'), None
        own = not address and not self.ray.is_initialized()
        if self.ray.is_initialized():
            address = self.ray.get_runtime_context().gcs_address
        elif own:
            # what all can derive, nobody needs to be told
            token = None if own_settings() or self._world.derived('Ray') else secrets.token_hex(32)
            self._authenticate(token)
            self._folder = scratch()
            self._host = Host.cluster(self._folder, max(1, os.cpu_count() or 1), self._address(),
                                      os.environ.get('RAY_AUTH_TOKEN'))
            address = self._host.address(self._folder)
        job = os.path.basename(os.environ.get('REMX_SCRATCH') or self._folder or 'remx')
        return {'address': address, 'namespace': f'{job}-{uuid.uuid4().hex[:12]}', 'own': own, 'token': token,
                'folder': os.environ.get('REMX_SCRATCH') or self._folder}

    def _address(self):
        """The address of this machine in the job."""
        return LOOPBACK if self._single else self._world.own_host

    def _authenticate(self, token):
        if not own_settings():
            self._authenticated = True
            authenticate(token or self._world.derived('Ray'))

    def _join(self, address, own, folder):
        if self.ray.is_initialized():
            found = self.ray.get_runtime_context().gcs_address
            if found != address:
                raise MXNetError(f'worker {self._world.rank} is connected to the Ray cluster at {found}, and worker 0 '
                                 f'to the one at {address}: call ray.init in all workers with the same address, or in '
                                 'none')
            return
        several = own and not self._single
        if several and self._world.local_rank == 0 and self._world.rank:
            # Ray puts its files where they are on the machine of worker 0
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
                self._folder = folder
            private(folder)
            self._host = Host({'start': ['--address', address, '--disable-usage-stats', '--num-gpus', '0',
                                         '--object-store-memory', str(store_memory()), '--node-ip-address',
                                         self._address()]}, folder=folder, remove=self._folder is not None)
        if own and self._single:
            self._loopback = True
            keep_to_loopback(True)
        end = time.monotonic() + max(STARTUP, self._world.timeout)
        options = {'_node_ip_address': self._address()} if own else {}
        while True:
            try:
                with quietly():
                    self.ray.init(address=address, configure_logging=False, logging_level=logging.ERROR,
                                  log_to_driver=False, **options)
                return
            except (ConnectionError, RuntimeError, ValueError) as error:
                # on another machine than that of worker 0 it takes a while until there is something to connect to
                ended = self._host is not None and not self._host.running()
                if not several or ended or time.monotonic() > end:
                    raise MXNetError(f'worker {self._world.rank} cannot reach the Ray cluster at {address}: '
                                     f'{str(error).strip()}') from error
                time.sleep(0.5)

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
        if self._host is not None:
            self._host.close()
        if self._authenticated:
            authenticate(None)
        if self._loopback:
            keep_to_loopback(False)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def failed():
    """Whether the program ends because of an error."""
    return hasattr(sys, 'last_value')


def store_memory():
    """Bytes of shared memory for arrays on their way: MXNET_KVSTORE_OBJECT_STORE_MB, 1024 if it is not set."""
    return megabytes('MXNET_KVSTORE_OBJECT_STORE_MB', 1024)
