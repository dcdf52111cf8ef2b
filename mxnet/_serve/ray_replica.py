"""What runs in the actors of Ray Serve: replicas of a model, and the front that asks them."""
import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ray import serve
from ray.exceptions import RayActorError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError
from starlette.responses import Response

from .errors import Failed, Full, Late
from .registry import Unknown


class Model:
    """A replica: a network that answers requests in batches.

    It computes in one thread of its own, so that requests gather for the next batch meanwhile.
    """

    def __init__(self, config, max_delay):
        self._thread = ThreadPoolExecutor(1)
        self._runner = self._thread.submit(self._load, config).result()
        answer: Any = self.answer           # the decorator gives it these methods
        answer.set_max_batch_size(min(config['max_batch'], getattr(self._runner, 'largest', config['max_batch'])))
        answer.set_batch_wait_timeout_s(max_delay)

    @staticmethod
    def _load(config):
        import torch
        torch.set_num_threads(config['threads'])
        if config.get('handler'):
            from .handlers import HandlerRunner
            return HandlerRunner(config)
        from .runner import Runner
        return Runner(config)

    async def describe(self):
        return self._runner.describe()

    @serve.batch
    async def answer(self, requests):
        """[(status, content type, body, headers, size of the batch)] for [(kind, headers, body)]."""
        loop = asyncio.get_running_loop()
        answers, _, _ = await loop.run_in_executor(self._thread, self._runner.answer, requests)
        return [(*answer, len(requests)) for answer in answers]


class RemotePool:
    """The replicas of a model, as the front sees them; it has the interface of `pool.Pool`."""

    ready_count = 1             # requests wait for replicas that start
    queue = ()                  # Ray's router has it

    def __init__(self, config, handle, description):
        self.config, self.description, self._handle = config, description, handle

    async def submit(self, item, timeout):
        """The answer of a replica; a replica that dies is replaced by another one, once."""
        for last in (False, True):
            response = self._handle.answer.remote(item)
            try:
                return await asyncio.wait_for(_waited(response), timeout)
            except TimeoutError:
                with contextlib.suppress(Exception):
                    response.cancel()
                raise Late(f'no answer within {timeout:g} s') from None
            except BackPressureError:
                raise Full('too many requests wait already') from None
            except (RayActorError, DeploymentUnavailableError) as error:
                if last:
                    raise Failed(f'the replica ended while it computed this request, twice: '
                                 f'{type(error).__name__}') from None
        raise AssertionError


async def _waited(response):
    return await response


class Models:
    """The models of an application, by name; it has the interface of `registry.Registry` as far as requests need it."""

    def __init__(self, pools):
        self.pools = pools

    def find(self, name, version=None):
        pool = self.pools.get(name)
        if pool is None:
            raise Unknown(f'there is no model {name!r}; there are {", ".join(self.pools) or "none"}')
        if version is not None and version != str(pool.config['version']):
            raise Unknown(f'there is no version {version} of {name}; there is {pool.config["version"]}')
        return pool


class Ingress:
    """The front in an actor: HTTP requests of Ray's proxies, answered as `remx serve` does without Ray."""

    async def __init__(self, options, configs, *handles):
        from .app import Front
        from .metrics import Metrics
        from .server import Log
        pools = {}
        for config, handle in zip(configs, handles, strict=True):
            pools[config['name']] = RemotePool(config, handle, await handle.describe.remote())
        front = Front(Models(pools), Metrics(), token=options['token'], local=options['local'],
                      max_body=options['max_body'], timeout=options['timeout'], log=Log(options['log']))
        self._app = front.inference()

    async def __call__(self, request):
        sent: list = []

        async def send(message):
            sent.append(message)
        await self._app(request.scope, request.receive, send)
        head, *bodies = sent
        answer = Response(b''.join(m.get('body', b'') for m in bodies), head['status'])
        answer.raw_headers = head['headers']
        return answer
