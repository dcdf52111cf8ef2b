"""The workers of a model and the requests that wait for them."""
import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections import deque
from typing import Any

from .errors import Failed, Full, Late, Stopped
from .link import Broken, Unpacker, answers_of, pack, pack_requests
from .local import MOST_HERE, Local

RESTARTS = 0.5          # seconds before a worker that died is started again; doubled each time, to 30


class Request:
    """A request that waits for its answer."""

    __slots__ = ('item', 'future', 'arrived', 'tries')

    def __init__(self, item, future, arrived):
        self.item, self.future, self.arrived = item, future, arrived
        self.tries = 0


class Worker(asyncio.Protocol):
    """The front's side of a worker: its process, its socket and the batch that it computes.

    Answers are handed out where they arrive, in the callback of the socket, and the next batch is sent from there: no
    task has to be scheduled in between.
    """

    def __init__(self, pool, number, process):
        self.pool, self.number, self.process = pool, number, process
        loop = asyncio.get_running_loop()
        self.loaded, self.ended = loop.create_future(), loop.create_future()
        self.batch: list[Request] | None = None
        self.transport: Any = None          # the asyncio.Transport, once there is a connection
        self._unpacker = Unpacker()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self._unpacker.feed(data)
        try:
            while (message := self._unpacker.message()) is not None:
                if not self.loaded.done():
                    self.loaded.set_result(message[0])
                else:
                    batch, self.batch = self.batch, None
                    self.pool._answered(self, batch, *answers_of(message))
        except (Broken, ValueError, TypeError):
            # it is ended like a worker that died
            self.transport.abort()

    def connection_lost(self, error):
        if not self.loaded.done():
            self.loaded.set_result(None)
        if not self.ended.done():
            self.ended.set_result(None)
        self.pool._lost(self)

    def send(self, batch):
        self.batch = batch
        self.transport.write(pack_requests([r.item for r in batch]))

    def close(self):
        self.transport.close()


class Pool:
    """Workers of one version of a model.

    Free workers get what waits, up to `max_batch` requests each (fewer where the first worker finds that larger batches
    gain nothing), at once; with `max_delay` requests first wait that long for more, counted from the arrival of the
    oldest.  So batches grow with the load.  A light network is also in this process (`local`), and answers here while
    not too many requests wait.
    """

    def __init__(self, config, *, workers, max_batch=32, max_delay=0.0, max_queue=1000, isolate=True, metrics=None,
                 log=None):
        self.config, self.wanted, self.isolate = config, workers, isolate
        self.max_batch, self.max_delay, self.max_queue = max_batch, max_delay, max_queue
        self.metrics, self.log = metrics, log or (lambda **_: None)
        self.queue: deque[Request] = deque()
        self.description: dict = {}
        self.workers: dict[int, asyncio.Task] = {}
        self.pids: dict[int, int] = {}
        self._free: list[Worker] = []
        self._number = 0
        self._stopping = False
        self._awaited = False           # whether a call of `_dispatch` is scheduled
        self.local: Local | None = None
        self._digests: set = set()      # of what the workers have loaded
        self._loading: asyncio.Task | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def ready_count(self):
        """How many workers have loaded the model."""
        return len(self.pids)

    # ------------------------------------------------------------------ life
    async def start(self):
        """Starts the workers; an error if the first cannot load the model."""
        first = self._loop.create_future()
        self._spawn(first)
        self.description = await first
        for _ in range(self.wanted - 1):
            self._spawn()

    def _spawn(self, ready=None):
        number = self._number
        self._number += 1
        self.workers[number] = asyncio.create_task(self._keep(number, ready))

    async def scale(self, count):
        """Another number of workers; those that are too many finish what they compute."""
        self.wanted = count
        while len(self.workers) < count:
            self._spawn()
        self._dispatch()

    async def stop(self):
        """Answers what waits, then ends the workers."""
        self._stopping = True
        if self._loading is not None:
            await asyncio.gather(self._loading, return_exceptions=True)
        self._dispatch()
        tasks = list(self.workers.values())
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
        self._refuse()

    def _refuse(self):
        while self.queue:
            request = self.queue.popleft()
            if not request.future.done():
                request.future.set_exception(Stopped('the model was unloaded'))

    # ------------------------------------------------------------------ requests
    async def submit(self, item, timeout):
        """The answer of a worker."""
        if self._stopping:
            raise Stopped('the model is being unloaded')
        if len(self.queue) >= self.max_queue:
            raise Full(f'{len(self.queue)} requests wait already')
        request = Request(item, self._loop.create_future(), self._loop.time())
        self.queue.append(request)
        if not self._awaited and (self._free or self.local is not None):
            # after all that has arrived with it, so that they are one batch
            self._awaited = True
            self._loop.call_soon(self._dispatch)
        limit = self._loop.call_later(timeout, self._late, request, timeout)
        try:
            return await request.future
        finally:
            limit.cancel()

    def _late(self, request, timeout):
        if not request.future.done():
            request.future.set_exception(Late(f'no answer within {timeout:g} s'))
            with contextlib.suppress(ValueError):
                self.queue.remove(request)

    def _dispatch(self):
        """Gives what waits to the workers that are free, or computes it here."""
        self._awaited = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self.queue:
            first = self.queue[0]
            if first.future.done():             # timed out, or its client is gone
                self.queue.popleft()
                continue
            waiting = len(self.queue)
            if self.max_delay and waiting < self.max_batch and not self._stopping:
                due = first.arrived + self.max_delay
                if due > self._loop.time():
                    self._timer = self._loop.call_at(due, self._dispatch)
                    return
            local = self.local
            here = local is not None and (waiting <= MOST_HERE or not self.pids) and local.takes(first.item)
            if local is not None and here:
                batch = self._taken(MOST_HERE, local.takes)
                answers, sizes, seconds = local.answer([r.item for r in batch])
                self._hand_out(batch, answers, sizes, seconds)
            elif self._free:
                batch = self._taken(min(self.max_batch, -(-waiting // len(self._free))))
                self._free.pop().send(batch)
            else:
                break
        for worker in list(self._free):
            if self._leaves(worker.number) or self._stopping and not self.queue:
                self._free.remove(worker)
                worker.close()

    def _taken(self, most, wanted=None):
        """Up to so many of the first requests that wait."""
        batch: list[Request] = []
        while self.queue and len(batch) < most:
            if not self.queue[0].future.done():
                if wanted is not None and not wanted(self.queue[0].item):
                    break
                batch.append(self.queue[0])
            self.queue.popleft()
        return batch

    def _answered(self, worker, batch, answers, sizes, seconds):
        self._free.append(worker)
        if self.queue or self._stopping or len(self.workers) > self.wanted:
            self._dispatch()                    # before the answers are sent: the worker computes meanwhile
        self._hand_out(batch, answers, sizes, seconds)

    def _hand_out(self, batch, answers, sizes, seconds):
        if self.metrics:
            self.metrics.computed(self.config['name'], sizes, seconds)
        for request, answer in zip(batch, answers, strict=True):
            if not request.future.done():
                request.future.set_result((*answer, len(batch)))

    # ------------------------------------------------------------------ one worker
    async def _keep(self, number, ready):
        """Runs a worker, and another when it dies."""
        pause = RESTARTS
        try:
            while not self._leaves(number):
                started = time.monotonic()
                try:
                    await self._run(number, ready)
                except Failed as error:
                    if ready is not None and not ready.done():
                        ready.set_exception(error)
                        return
                    self.log(level='error', event='worker', model=self.config['name'], message=str(error))
                ready = None
                if self._leaves(number) or self._stopping and not self.queue:
                    return
                if self.metrics:
                    self.metrics.restarted(self.config['name'])
                if time.monotonic() - started > 30:
                    pause = RESTARTS
                await asyncio.sleep(0 if self.ready_count == 0 and pause == RESTARTS else pause)
                pause = min(30.0, pause * 2)
        finally:
            self.workers.pop(number, None)
            if not self.workers and not self._stopping:
                self._refuse()
            self._dispatch()                    # another worker may be the next that leaves

    def _leaves(self, number):
        return len(self.workers) > self.wanted and number == max(self.workers)

    async def _run(self, number, ready):
        ours, theirs = socket.socketpair()
        environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(p for p in sys.path if p)}
        with theirs:
            process = subprocess.Popen([sys.executable, '-m', 'mxnet._serve.worker', str(theirs.fileno())],
                                       pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        worker = Worker(self, number, process)
        transport, _ = await self._loop.create_connection(lambda: worker, sock=ours)
        try:
            transport.write(pack(self.config))
            answer = await worker.loaded
            if not answer or 'error' in answer:
                raise Failed(answer['error'] if answer else 'the worker ended while it loaded the model')
            self.pids[number] = answer['pid']
            if ready is not None:
                self.max_batch = min(self.max_batch, answer['largest'] or self.max_batch)
                ready.set_result(answer['ready'])
            self._loaded(answer['digest'])
            self.log(level='info', event='worker ready', model=self.config['name'], pid=answer['pid'])
            self._free.append(worker)
            self._dispatch()
            if answer['light'] and not self.isolate and self._loading is None:
                self._loading = asyncio.create_task(self._load_here())
            await worker.ended
            if not (self._leaves(number) or self._stopping):
                raise Failed('a worker ended')
        finally:
            self.pids.pop(number, None)
            transport.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, 5)
            if process.poll() is None:
                process.kill()
                await asyncio.to_thread(process.wait)

    async def _load_here(self):
        """Loads a light network into this process as well; workers answer meanwhile."""
        try:
            local = await asyncio.to_thread(Local, self.config)
        except Exception as error:              # the files may have changed since; workers have what they loaded
            self.log(level='info', event='not local', model=self.config['name'], message=str(error))
            return
        if self._digests == {local.digest}:
            self.local = local
        else:
            self.log(level='info', event='not local', model=self.config['name'],
                     message='the files have changed since the workers loaded them')

    def _loaded(self, digest):
        """Notes what a worker has loaded; this process does not answer from other files than the workers."""
        self._digests.add(digest)
        if len(self._digests) > 1:
            self.local = None
            self.log(level='error', event='files changed', model=self.config['name'],
                     message='a worker has loaded other files than those before it; reload the model')

    def _lost(self, worker):
        """A worker has ended: its requests are computed once more, by another worker; then they have failed."""
        self.pids.pop(worker.number, None)
        if worker in self._free:
            self._free.remove(worker)
        batch, worker.batch = worker.batch, None
        for request in reversed(batch or ()):
            if request.future.done():
                continue
            request.tries += 1
            if request.tries > 1:
                request.future.set_exception(Failed('the worker ended while it computed this request, twice'))
            else:
                self.queue.appendleft(request)
        self._dispatch()
