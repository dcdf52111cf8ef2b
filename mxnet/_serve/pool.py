"""The workers of a model and the requests that wait for them."""
import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections import deque

from .errors import Failed, Full, Late, Stopped
from .link import pack, receive_async

RESTARTS = 0.5          # seconds before a worker that died is started again; doubled each time, to 30


class Request:
    """A request that waits for its answer."""

    __slots__ = ('item', 'future', 'arrived', 'tries')

    def __init__(self, item, future):
        self.item, self.future = item, future
        self.arrived, self.tries = time.perf_counter(), 0


class Pool:
    """Workers of one version of a model.

    A free worker takes what waits, up to `max_batch` requests, at once; with `max_delay` it first waits that long for
    more, counted from the arrival of the oldest.  So batches grow with the load.
    """

    def __init__(self, config, *, workers, max_batch=32, max_delay=0.0, max_queue=1000, metrics=None, log=None):
        self.config, self.wanted = config, workers
        self.max_batch, self.max_delay, self.max_queue = max_batch, max_delay, max_queue
        self.metrics, self.log = metrics, log or (lambda **_: None)
        self.queue: deque[Request] = deque()
        self.description: dict = {}
        self.workers: dict[int, asyncio.Task] = {}
        self.pids: dict[int, int] = {}
        self.ready_count = 0
        self.busy = 0
        self._number = 0
        self._arrival = asyncio.Event()
        self._stopping = False
        self._idle = asyncio.Event()

    # ------------------------------------------------------------------ life
    async def start(self):
        """Starts the workers; an error if the first cannot load the model."""
        first = asyncio.get_running_loop().create_future()
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
        self._arrival.set()

    async def stop(self):
        """Answers what waits, then ends the workers."""
        self._stopping = True
        self._arrival.set()
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
        request = Request(item, asyncio.get_running_loop().create_future())
        self.queue.append(request)
        self._arrival.set()
        try:
            return await asyncio.wait_for(request.future, timeout)
        except TimeoutError:
            with contextlib.suppress(ValueError):
                self.queue.remove(request)
            raise Late(f'no answer within {timeout:g} s') from None

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

    def _leaves(self, number):
        return len(self.workers) > self.wanted and number == max(self.workers)

    async def _run(self, number, ready):
        ours, theirs = socket.socketpair()
        environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(p for p in sys.path if p)}
        process = subprocess.Popen([sys.executable, '-m', 'mxnet._serve.worker', str(theirs.fileno())],
                                   pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 22)
        counted = False
        try:
            writer.write(pack(self.config))
            answer = await receive_async(reader)
            if answer is None or 'error' in answer:
                raise Failed(answer['error'] if answer else 'the worker ended while it loaded the model')
            self.pids[number] = answer['pid']
            self.ready_count += 1
            counted = True
            if ready is not None:
                ready.set_result(answer['ready'])
            self.log(level='info', event='worker ready', model=self.config['name'], pid=answer['pid'])
            await self._serve(number, reader, writer)
        finally:
            if counted:
                self.ready_count -= 1
            self.pids.pop(number, None)
            writer.close()
            with contextlib.suppress(Exception):
                await asyncio.to_thread(process.wait, 5)
            if process.poll() is None:
                process.kill()
                await asyncio.to_thread(process.wait)

    async def _serve(self, number, reader, writer):
        while True:
            batch = await self._batch(number, reader)
            if batch is None:
                return
            self.busy += 1
            try:
                writer.write(pack([r.item for r in batch]))
                answer = await receive_async(reader)
            except (ConnectionError, OSError):
                answer = None
            finally:
                self.busy -= 1
            if answer is None:
                self._again(batch)
                raise Failed('a worker ended while it computed')
            answers, sizes, seconds = answer
            if self.metrics:
                self.metrics.computed(self.config['name'], sizes, seconds)
            for request, one in zip(batch, answers):
                if not request.future.done():
                    request.future.set_result((*one, len(batch)))

    def _again(self, batch):
        """Requests of a worker that died: once more, by another worker; then they have failed."""
        for request in reversed(batch):
            if request.future.done():
                continue
            request.tries += 1
            if request.tries > 1:
                request.future.set_exception(Failed('the worker ended while it computed this request, twice'))
            else:
                self.queue.appendleft(request)
        self._arrival.set()

    async def _batch(self, number, reader):
        """The next requests for a worker; None when it is to end, an error when it has."""
        while True:
            while self.queue and self.queue[0].future.done():
                self.queue.popleft()            # timed out, or its client is gone
            if self._leaves(number) or self._stopping and not self.queue:
                return None
            if reader.at_eof():
                raise Failed('a worker ended')
            if self.queue:
                wait = self.max_delay - (time.perf_counter() - self.queue[0].arrived)
                if wait <= 0 or len(self.queue) >= self.max_batch or self._stopping:
                    count = min(len(self.queue), self.max_batch)
                    found = [r for r in (self.queue.popleft() for _ in range(count)) if not r.future.done()]
                    if found:
                        return found
                    continue
                await asyncio.sleep(wait)
                continue
            self._arrival.clear()
            arrival = asyncio.ensure_future(self._arrival.wait())
            ended = asyncio.ensure_future(_closed(reader))
            try:
                await asyncio.wait((arrival, ended), return_when=asyncio.FIRST_COMPLETED)
            finally:
                arrival.cancel()
                ended.cancel()


async def _closed(reader):
    """Waits until the other side has closed; a worker that computes nothing sends nothing."""
    while not reader.at_eof():
        await asyncio.sleep(0.2)
