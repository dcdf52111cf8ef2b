"""The process that listens: two ports, signals, logs, reloads."""
import asyncio
import contextlib
import json
import os
import signal
import sys
import time

from ..base import MXNetError
from .metrics import Metrics
from .registry import Registry

NEEDS = ("remx serve needs starlette and uvicorn: pip install 'remx[serve]'")


def run(options) -> int:
    """Serves until a signal ends it."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MXNetError(f'{NEEDS} ({error})') from None
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_serve(options))


def _loop_factory():
    """uvloop's event loop where it is installed: it is faster."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


class Log:
    """Lines of JSON on stderr."""

    LEVELS = {'debug': 0, 'info': 1, 'error': 2, 'none': 3}

    def __init__(self, level):
        self._least = self.LEVELS[level]

    def takes(self, level):
        """Whether entries of this level are written."""
        return self.LEVELS[level] >= self._least

    def __call__(self, level='info', **entry):
        if self.takes(level):
            stamp = time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime()) + f'.{int(time.time() * 1000) % 1000:03d}Z'
            print(json.dumps({'time': stamp, 'level': level, **entry}, ensure_ascii=False), file=sys.stderr, flush=True)


async def _serve(options):
    from .app import Front
    log = Log(options['log'])
    metrics = Metrics()
    registry = Registry(options, metrics, log, devices=(options['device'],))
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    front = Front(registry, metrics, token=options['token'], local=options['local'], max_body=options['max_body'],
                  timeout=options['timeout'], log=log)
    tasks = []
    try:
        for source, name in options['models']:
            await registry.register(source, name)
        servers = [_server(front.inference(), options['host'], options['port'], options['max_connections'],
                           options['timeout'])]
        if options['management_port'] is not None:
            servers.append(_server(front.management(), options['host'], options['management_port'], 100,
                                   options['timeout']))
        tasks = [asyncio.create_task(s.serve()) for s in servers]
        while not all(s.started for s in servers):
            if any(t.done() for t in tasks):
                raise MXNetError(f'port {options["port"]} or {options["management_port"]} of {options["host"]} is '
                                 'taken')
            await asyncio.sleep(0.01)
        ports = [s.servers[0].sockets[0].getsockname()[1] for s in servers]
        print(f'serving {", ".join(registry.pools)} at http://{options["host"]}:{ports[0]}'
              + (f', management at http://{options["host"]}:{ports[1]}' if len(ports) > 1 else ''), flush=True)
        watch = asyncio.create_task(_watch(registry, log)) if options['reload'] else None
        await ended.wait()
        log(level='info', event='stopping')
        if watch is not None:
            watch.cancel()
        for server in servers:
            server.should_exit = True           # no new connections; requests on the way are answered
        await asyncio.gather(*tasks, return_exceptions=True)
        return 0
    finally:
        for task in tasks:
            if not task.done():
                task.cancel()
        await registry.stop()


def _server(app, host, port, limit, timeout):
    import uvicorn

    from .writing import Protocol

    class Timed(Protocol):
        head_seconds = timeout

    class Quiet(uvicorn.Server):
        """Signals are ours."""

        @contextlib.contextmanager
        def capture_signals(self):
            yield

    return Quiet(uvicorn.Config(app, host=host, port=port, log_level='critical', access_log=False, lifespan='off',
                                limit_concurrency=limit, timeout_graceful_shutdown=30, backlog=2048,
                                server_header=False, proxy_headers=False, http=Timed, ws='none'))


async def _watch(registry, log):
    """Reloads a model when its files change."""
    known: dict = {}
    while True:
        await asyncio.sleep(1)
        for name, pool in list(registry.pools.items()):
            stamp = _stamp(pool)
            before = known.setdefault(name, stamp)
            if stamp != before:
                known[name] = stamp
                try:
                    await registry.reload(name)
                except (MXNetError, OSError) as error:
                    log(level='error', event='reload failed', model=name, message=str(error))


def _stamp(pool):
    """When the files of a model were last written; of a checkpoint with any epoch, also of new ones."""
    from ..cli._networks import _all_files
    files = [*pool.description.get('files', ()), pool.config.get('archive') or '']
    if pool.config.get('epoch') is None and 'archive' not in pool.config:
        files += _all_files(pool.config['source'].removesuffix('-symbol.json'))
    found = []
    for file in sorted({f for f in files if f}):
        with contextlib.suppress(OSError):
            state = os.stat(file)
            found.append((file, state.st_mtime_ns, state.st_size))
    return found
