"""`remx launch --launcher ray`: workers as processes on the machines of a Ray cluster.

RAY_ADDRESS names the cluster; without it there is a new one on this machine.  On each machine the program is expected
in the folder that it was started from here.  The servers of dist_async run on the same cluster.
"""
import contextlib
import logging
import os
import queue
import secrets
import shutil
import signal
import threading
from typing import Any

from ..base import MXNetError
from . import launcher
from .cluster import LOOPBACK, Host, authenticate, keep_to_loopback, own_settings, quietly, ray, scratch

__all__ = ['RayJob', 'cluster']

PLACEMENT_TIMEOUT = 60.0         # seconds until the cluster must have found room


class Runner:
    """An actor that runs one worker."""

    def where(self):
        """(machine, address, a free port there)"""
        import ray
        return ray.get_runtime_context().get_node_id(), ray.util.get_node_ip_address(), launcher.free_port()

    def start(self, command, variables, count, folder):
        """Starts it."""
        if not os.path.isdir(folder):
            raise FileNotFoundError(f'there is no folder {folder} on {os.uname().nodename}')
        self._lines: queue.Queue[Any] = queue.Queue()
        self._process = launcher.begin_here(command, variables, count, folder)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._process.wait()
        self._lines.put(None)

    def more(self):
        """(lines of output, exit status or None while it runs)"""
        found = []
        with contextlib.suppress(queue.Empty):
            found.append(self._lines.get(timeout=1))
            while len(found) < 1000:
                found.append(self._lines.get_nowait())
        if found and found[-1] is None:
            return found[:-1], self._process.returncode
        return found, None

    def signal(self, number):
        """Sends a signal to the process and what it has started."""
        self._process.hand_on(number)


class Remote:
    """A process of an actor, as the launcher sees it."""

    def __init__(self, ray, runner):
        self._ray, self.runner, self.returncode = ray, runner, None
        self.stdout, self.stdin = self, None

    def poll(self):
        """The exit status, or None while it runs."""
        return self.returncode

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __iter__(self):
        status = None
        while status is None:
            try:
                lines, status = self._ray.get(self.runner.more.remote())
                yield from lines
            except self._ray.exceptions.RayError as error:
                yield f'the machine of this worker is gone: {error}'.split('\n')[0].encode()
                status = -signal.SIGKILL
        self.returncode = status


class RayJob(launcher.Job):
    """One run of all workers on a Ray cluster."""

    _here = False

    def __init__(self, command, workers, attempt=0, folder=None, environment=None, **options):
        self._ray = ray()
        remote = self._ray.remote(num_cpus=1, max_concurrency=4)(Runner)
        self._runners = [remote.remote() for _ in range(workers)]
        try:
            found = self._ray.get([runner.where.remote() for runner in self._runners], timeout=PLACEMENT_TIMEOUT)
        except self._ray.exceptions.GetTimeoutError:
            self._end()
            raise MXNetError(f'the Ray cluster has not found room for {workers} workers within '
                             f'{PLACEMENT_TIMEOUT:g} seconds: '
                             f'each takes a CPU, and it has {self._ray.cluster_resources().get("CPU", 0):g}') from None
        # workers of one machine side by side, beginning with the one of the first
        order = sorted(range(workers), key=lambda i: ([f[0] for f in found].index(found[i][0]), i))
        self._runners = [self._runners[i] for i in order]
        found = [found[i] for i in order]
        super().__init__(command, workers, attempt=attempt, address=found[0][1], environment={
            'MASTER_PORT': found[0][2], 'DMLC_PS_ROOT_PORT': found[0][2],
            'RAY_ADDRESS': self._ray.get_runtime_context().gcs_address, **(environment or {})}, **options)
        self.folder = folder or os.getcwd()
        machines = [machine for machine, _, _ in found]
        self.places = [('', machines[:i].count(machine), machines.count(machine)) for i, machine in enumerate(machines)]

    def begin(self, rank, variables):
        """Starts one worker."""
        runner = self._runners[rank]
        if 'PYTHONPATH' in os.environ:
            variables.setdefault('PYTHONPATH', os.environ['PYTHONPATH'])
        try:
            self._ray.get(runner.start.remote(self.command, variables, self.places[rank][2], self.folder))
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, 'cause', None) or error
            raise MXNetError(f'worker {rank} cannot be started: {cause}') from None
        return Remote(self._ray, runner)

    def signal(self, process, number):
        """Sends a signal to a worker."""
        process.runner.signal.remote(number)

    def _join(self):
        super()._join()
        self._end()

    def _end(self):
        for runner in self._runners:
            self._ray.kill(runner)


@contextlib.contextmanager
def cluster(workers):
    """Connected to the cluster of RAY_ADDRESS, or to one of its own."""
    options = {'configure_logging': False, 'logging_level': logging.ERROR, 'log_to_driver': False}
    folder = host = None
    try:
        if not os.environ.get('RAY_ADDRESS'):
            token = None if own_settings() else secrets.token_hex(32)
            folder = scratch()
            host = Host.cluster(folder, workers, LOOPBACK, token)
            if token is not None:
                authenticate(token)
            keep_to_loopback(True)
            try:
                options['address'] = host.address(folder)
            except RuntimeError as error:
                raise MXNetError(f'a Ray cluster cannot be started: {error}') from error
        package = ray()
        with quietly():
            package.init(**options)
        yield
    finally:
        ray().shutdown()
        if host is not None:
            host.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
