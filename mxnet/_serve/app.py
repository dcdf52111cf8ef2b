"""The HTTP interfaces: inference (of the old model server and of the Open Inference Protocol) and management."""
import asyncio
import hmac
import json
from pathlib import Path
from urllib.parse import urlsplit

from starlette.routing import Route, Router

from ..base import MXNetError
from .answers import failure
from .endpoint import Endpoint, Gone, TooLarge
from .errors import Failed, Full, Late, Slow, Stopped
from .registry import Unknown
from .tracing import Tracing

LOOPBACK = ('127.0.0.1', 'localhost', '::1')
FORWARDED = ('content-type', 'accept', 'inference-header-content-length')
MOST_WORKERS = 256          # of a model, each a process
PAGE = Path(__file__).with_name('page.html')


class Front:
    """Answers requests with the models of a registry.

    local: the server listens on loopback without a token, so that requests must name a loopback host
    """

    def __init__(self, registry, metrics, *, token=None, local=False, max_body=64 << 20, timeout=60.0, log=None):
        self.registry, self.metrics, self.local = registry, metrics, local
        self.token, self.max_body, self.timeout = token, max_body, timeout
        self.log = log
        self.tracing = Tracing.installed()

    # ------------------------------------------------------------------ applications
    def inference(self):
        plain, guarded = self._plain, self._guarded
        return Router(routes=[
            Route('/predictions/{model}', guarded(self.predict), methods=['POST', 'PUT']),
            Route('/v2/models/{model}/infer', guarded(self.infer), methods=['POST']),
            Route('/', plain(self.page), methods=['GET']),
            Route('/ping', plain(self.ping), methods=['GET']), Route('/health', plain(self.ping), methods=['GET']),
            Route('/v2/health/live', plain(self.live), methods=['GET']),
            Route('/v2/health/ready', plain(self.ready), methods=['GET']),
            Route('/v2', guarded(self.server), methods=['GET']),
            Route('/metrics', guarded(self.show_metrics), methods=['GET']),
            Route('/api-description', guarded(self.api), methods=['GET']),
            Route('/', guarded(self.api), methods=['OPTIONS']),
            Route('/predictions/{model}/{version}', guarded(self.predict), methods=['POST', 'PUT']),
            Route('/{model}/predict', guarded(self.predict), methods=['POST']),
            Route('/v2/models', guarded(self.list_models), methods=['GET']),
            Route('/v2/models/{model}', guarded(self.describe), methods=['GET']),
            Route('/v2/models/{model}/versions/{version}', guarded(self.describe), methods=['GET']),
            Route('/v2/models/{model}/ready', guarded(self.model_ready), methods=['GET']),
            Route('/v2/models/{model}/versions/{version}/ready', guarded(self.model_ready), methods=['GET']),
            Route('/v2/models/{model}/versions/{version}/infer', guarded(self.infer), methods=['POST']),
        ])

    def management(self):
        guarded = self._guarded
        return Router(routes=[
            Route('/ping', self._plain(self.ping), methods=['GET']),
            Route('/models', guarded(self.list_models), methods=['GET']),
            Route('/models', guarded(self.register), methods=['POST']),
            Route('/models/{model}', guarded(self.describe_workers), methods=['GET']),
            Route('/models/{model}', guarded(self.scale), methods=['PUT']),
            Route('/models/{model}', guarded(self.unregister), methods=['DELETE']),
            Route('/models/{model}/reload', guarded(self.reload), methods=['POST']),
            Route('/api-description', guarded(self.api), methods=['GET']),
        ])

    # ------------------------------------------------------------------ around every request
    def _plain(self, handler):
        return Endpoint(self, handler, None)

    def _guarded(self, handler):
        return Endpoint(self, handler, self.token)

    async def answer(self, handler, request, token):
        """(status, content type, body, headers) of a request, also of one that fails."""
        try:
            if not _is_same_site(request, self.local):
                return failure(403, 'requests of pages of other sites are refused')
            if token is not None and not _knows(request, token):
                return failure(401, 'a token is needed: Authorization: Bearer TOKEN', {'WWW-Authenticate': 'Bearer'})
            return await handler(request)
        except Unknown as error:
            return failure(404, str(error))
        except TooLarge as error:
            return failure(413, str(error), {'Connection': 'close'})
        except Slow as error:
            return failure(408, str(error), {'Connection': 'close'})
        except (Full, Stopped, Failed) as error:
            return failure(503, str(error), {'Retry-After': '1'})
        except Late as error:
            return failure(504, str(error))
        except MXNetError as error:
            return failure(400, str(error))
        except Gone:
            return failure(400, 'the client closed the connection')
        except asyncio.CancelledError:
            raise
        except Exception as error:
            if self.log:
                self.log(level='error', event='failure', message=f'{type(error).__name__}: {error}')
            return failure(500, 'the server failed; its log says why')

    # ------------------------------------------------------------------ inference
    async def predict(self, request):
        return await self._submit(request, 'plain')

    async def infer(self, request):
        return await self._submit(request, 'v2')

    async def _whole(self, request):
        """The body, if it arrives in time."""
        try:
            async with asyncio.timeout(self.timeout):
                return await request.body(self.max_body)
        except TimeoutError:
            raise Slow(f'the body did not arrive within {self.timeout:g} s') from None

    async def _submit(self, request, kind):
        name, version = request.path_params['model'], request.path_params.get('version')
        pool = self.registry.find(name, version)
        request.details.update(counted=True, model=name)
        encoding = request.headers.get('content-encoding', 'identity')
        if encoding != 'identity':
            return failure(415, f'the body is encoded with {encoding}; send it without Content-Encoding')
        body = await self._whole(request)
        headers = {k: request.headers[k] for k in FORWARDED if k in request.headers}
        for _ in range(5):
            try:
                *answer, batch = await pool.submit((kind, headers, body), self.timeout)
                request.details['batch'] = batch
                return answer
            except Stopped:
                # the model was replaced in this moment
                before, pool = pool, self.registry.find(name, version)
                if before is pool:
                    raise
        raise Stopped('the model is being replaced')

    # ------------------------------------------------------------------ information
    async def page(self, request):
        return 200, 'text/html; charset=utf-8', PAGE.read_bytes(), {
            'Content-Security-Policy': "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                       "img-src 'self' data: blob:"}

    async def ping(self, request):
        healthy = all(p.ready_count for p in self.registry.pools.values())
        return _json({'status': 'Healthy' if healthy else 'Unhealthy'}, 200 if healthy else 500)

    async def live(self, request):
        return _json({'live': True})

    async def ready(self, request):
        ready = all(p.ready_count for p in self.registry.pools.values())
        return _json({'ready': ready}, 200 if ready else 503)

    async def server(self, request):
        from ..libinfo import __version__
        return _json({'name': 'remx', 'version': __version__, 'extensions': ['binary_tensor_data']})

    async def show_metrics(self, request):
        text = self.metrics.text(self.registry.pools)
        return 200, 'text/plain; version=0.0.4', text.encode(), {}

    async def list_models(self, request):
        return _json({'models': [{'modelName': n, 'modelUrl': p.config.get('archive', p.config['source'])}
                                 for n, p in self.registry.pools.items()]})

    async def describe(self, request):
        pool = self.registry.find(request.path_params['model'], request.path_params.get('version'))
        found = pool.description
        return _json({'name': pool.config['name'], 'versions': [str(pool.config['version'])], 'platform': 'remx',
                      'inputs': found['inputs'], 'outputs': found['outputs'],
                      'parameters': {'layers': found['layers'], 'classes': found['classes'],
                                     'pictures': found['pictures'], 'numbers': found['parameters']}})

    async def model_ready(self, request):
        pool = self.registry.find(request.path_params['model'], request.path_params.get('version'))
        return _json({'name': pool.config['name'], 'ready': bool(pool.ready_count)}, 200 if pool.ready_count else 503)

    async def api(self, request):
        paths = {route.path: {m.lower(): {'responses': {'200': {'description': 'OK'}}} for m in sorted(route.methods)
                              if m != 'HEAD'} for route in self.inference().routes}
        return _json({'openapi': '3.0.1', 'info': {'title': 'remx serve', 'version': '1'}, 'paths': paths})

    # ------------------------------------------------------------------ management
    async def describe_workers(self, request):
        pool = self.registry.find(request.path_params['model'])
        return _json([{'modelName': pool.config['name'], 'modelVersion': str(pool.config['version']),
                       'modelUrl': pool.config.get('archive', pool.config['source']), 'minWorkers': pool.wanted,
                       'maxWorkers': pool.wanted, 'batchSize': pool.max_batch, 'maxBatchDelay': pool.max_delay * 1000,
                       'workers': [{'id': str(n), 'pid': pid, 'status': 'READY'} for n, pid in pool.pids.items()]}])

    async def register(self, request):
        query = request.query
        url = query.get('url', [None])[0]
        if not url:
            raise MXNetError('the query needs url=, the prefix of a checkpoint or a .mar file')
        name = await self.registry.register(url, query.get('model_name', [None])[0],
                                            _number(query, 'initial_workers'), shapes=query.get('shape', []))
        return _json({'status': f'Model "{name}" registered'})

    async def reload(self, request):
        await self.registry.reload(request.path_params['model'])
        return _json({'status': 'reloaded'})

    async def scale(self, request):
        pool = self.registry.find(request.path_params['model'])
        count = _number(request.query, 'min_worker')
        if count is None:
            raise MXNetError('the query needs min_worker=')
        await pool.scale(count)
        return _json({'status': f'{count} workers'})

    async def unregister(self, request):
        await self.registry.unregister(request.path_params['model'])
        return _json({'status': f'Model "{request.path_params["model"]}" unregistered'})


def _json(value, status=200):
    return status, 'application/json', json.dumps(value).encode(), {}


def _number(query, key):
    if key not in query:
        return None
    text = query[key][0]
    if not (text.isdecimal() and len(text) < 10 and 0 < int(text) <= MOST_WORKERS):
        raise MXNetError(f'{key}={text}: it takes a number from 1 to {MOST_WORKERS}')
    return int(text)


def _is_same_site(request, local):
    """Whether a request comes from no web page, or from a page of this server.

    A page that a user of this machine visits could otherwise send requests to a server that listens on loopback:
    directly (browsers then send `Origin`), or under a name of its own that resolves to 127.0.0.1 (DNS rebinding).
    """
    host, origin = request.headers.get('host', ''), request.headers.get('origin')
    try:
        if origin is not None and urlsplit(origin).netloc != host:
            return False
        return not local or urlsplit(f'//{host}').hostname in LOOPBACK
    except ValueError:          # no address at all
        return False


def _knows(request, token):
    scheme, _, given = request.headers.get('authorization', '').partition(' ')
    return hmac.compare_digest(given.encode('latin-1'), token.encode()) and scheme.lower() == 'bearer'
