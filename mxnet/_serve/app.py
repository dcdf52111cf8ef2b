"""The HTTP interfaces: inference (of the old model server and of the Open Inference Protocol) and management."""
import asyncio
import hmac
import json
import time
import uuid
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from ..base import MXNetError
from .answers import failure
from .errors import Failed, Full, Late, Stopped
from .registry import Unknown

LOOPBACK = ('127.0.0.1', 'localhost', '::1')
FORWARDED = ('content-type', 'accept', 'inference-header-content-length')
PAGE = Path(__file__).with_name('page.html')


class Front:
    """Answers requests with the models of a registry.

    local: the server listens on loopback without a token, so that requests must name a loopback host
    """

    def __init__(self, registry, metrics, *, token=None, local=False, max_body=64 << 20, timeout=60.0, log=None):
        self.registry, self.metrics, self.local = registry, metrics, local
        self.token, self.max_body, self.timeout = token, max_body, timeout
        self.log = log or (lambda **_: None)
        self._tracer = _tracer()

    # ------------------------------------------------------------------ applications
    def inference(self):
        plain, guarded = self._plain, self._guarded
        return Starlette(routes=[
            Route('/', plain(self.page)),
            Route('/ping', plain(self.ping)), Route('/health', plain(self.ping)),
            Route('/v2/health/live', plain(self.live)), Route('/v2/health/ready', plain(self.ready)),
            Route('/v2', guarded(self.server)),
            Route('/metrics', guarded(self.show_metrics)),
            Route('/api-description', guarded(self.api)), Route('/', guarded(self.api), methods=['OPTIONS']),
            Route('/predictions/{model}', guarded(self.predict), methods=['POST', 'PUT']),
            Route('/predictions/{model}/{version}', guarded(self.predict), methods=['POST', 'PUT']),
            Route('/{model}/predict', guarded(self.predict), methods=['POST']),
            Route('/v2/models', guarded(self.list_models)),
            Route('/v2/models/{model}', guarded(self.describe)),
            Route('/v2/models/{model}/versions/{version}', guarded(self.describe)),
            Route('/v2/models/{model}/ready', guarded(self.model_ready)),
            Route('/v2/models/{model}/versions/{version}/ready', guarded(self.model_ready)),
            Route('/v2/models/{model}/infer', guarded(self.infer), methods=['POST']),
            Route('/v2/models/{model}/versions/{version}/infer', guarded(self.infer), methods=['POST']),
        ])

    def management(self):
        guarded = self._guarded
        return Starlette(routes=[
            Route('/ping', self._plain(self.ping)),
            Route('/models', guarded(self.list_models), methods=['GET']),
            Route('/models', guarded(self.register), methods=['POST']),
            Route('/models/{model}', guarded(self.describe_workers), methods=['GET']),
            Route('/models/{model}', guarded(self.scale), methods=['PUT']),
            Route('/models/{model}', guarded(self.unregister), methods=['DELETE']),
            Route('/models/{model}/reload', guarded(self.reload), methods=['POST']),
            Route('/api-description', guarded(self.api)),
        ])

    # ------------------------------------------------------------------ around every request
    def _plain(self, handler):
        return self._logged(handler, None)

    def _guarded(self, handler):
        return self._logged(handler, self.token)

    def _logged(self, handler, token):
        async def run(request):
            started = time.perf_counter()
            number = request.headers.get('x-request-id') or uuid.uuid4().hex
            model = request.path_params.get('model', '')
            details: dict = {}
            request.state.details = details
            span = self._tracer.start_as_current_span(f'{request.method} {request.url.path}') if self._tracer else None
            try:
                if span is not None:
                    span.__enter__()
                status, kind, body, headers = await self._answer(handler, request, token)
            finally:
                if span is not None:
                    span.__exit__(None, None, None)
            seconds = time.perf_counter() - started
            if model and details.get('counted'):
                self.metrics.answered(model, status, seconds)
            self.log(level='info' if status < 500 else 'error', event='request', method=request.method,
                     path=request.url.path, status=status, ms=round(seconds * 1000, 3), id=number,
                     **{k: v for k, v in details.items() if k != 'counted'})
            return Response(body, status, {**headers, 'X-Request-Id': number}, kind)
        return run

    async def _answer(self, handler, request, token):
        try:
            if not _is_same_site(request, self.local):
                return failure(403, 'requests of pages of other sites are refused')
            if token is not None and not _knows(request, token):
                return failure(401, 'a token is needed: Authorization: Bearer TOKEN', {'WWW-Authenticate': 'Bearer'})
            return await handler(request)
        except Unknown as error:
            return failure(404, str(error))
        except _TooLarge as error:
            return failure(413, str(error))
        except (Full, Stopped) as error:
            return failure(503, str(error), {'Retry-After': '1'})
        except Late as error:
            return failure(504, str(error))
        except Failed as error:
            return failure(503, str(error), {'Retry-After': '1'})
        except MXNetError as error:
            return failure(400, str(error))
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self.log(level='error', event='failure', message=f'{type(error).__name__}: {error}')
            return failure(500, 'the server failed; its log says why')

    async def _body(self, request):
        length = request.headers.get('content-length')
        if length is not None and length.isdigit() and int(length) > self.max_body:
            raise _TooLarge(f'the body has {length} bytes; {self.max_body} are accepted')
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self.max_body:
                raise _TooLarge(f'the body has more than {self.max_body} bytes')
            parts.append(part)
        return parts[0] if len(parts) == 1 else b''.join(parts)

    # ------------------------------------------------------------------ inference
    async def predict(self, request):
        return await self._submit(request, 'plain')

    async def infer(self, request):
        return await self._submit(request, 'v2')

    async def _submit(self, request, kind):
        name = request.path_params['model']
        self.registry.find(name, request.path_params.get('version'))
        request.state.details.update(counted=True, model=name)
        body = await self._body(request)
        headers = {k: request.headers[k] for k in FORWARDED if k in request.headers}
        for _ in range(5):
            pool = self.registry.find(name, request.path_params.get('version'))
            try:
                *answer, batch = await pool.submit((kind, headers, body), self.timeout)
                request.state.details['batch'] = batch
                return answer
            except Stopped:
                # the model was replaced in this moment
                if self.registry.find(name) is pool:
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
        query = request.query_params
        url = query.get('url')
        if not url:
            raise MXNetError('the query needs url=, the prefix of a checkpoint or a .mar file')
        name = await self.registry.register(url, query.get('model_name'), _number(query, 'initial_workers'),
                                            shapes=query.getlist('shape'))
        return _json({'status': f'Model "{name}" registered'})

    async def reload(self, request):
        await self.registry.reload(request.path_params['model'])
        return _json({'status': 'reloaded'})

    async def scale(self, request):
        pool = self.registry.find(request.path_params['model'])
        count = _number(request.query_params, 'min_worker')
        if count is None or count < 1:
            raise MXNetError('the query needs min_worker=, a number from 1 on')
        await pool.scale(count)
        return _json({'status': f'{count} workers'})

    async def unregister(self, request):
        await self.registry.unregister(request.path_params['model'])
        return _json({'status': f'Model "{request.path_params["model"]}" unregistered'})


class _TooLarge(Exception):
    """A body over the limit."""


def _json(value, status=200):
    return status, 'application/json', json.dumps(value).encode(), {}


def _number(query, key):
    text = query.get(key)
    if text is None:
        return None
    if not text.isdigit():
        raise MXNetError(f'{key}={text}: it takes a number')
    return int(text)


def _is_same_site(request, local):
    """Whether a request comes from no web page, or from a page of this server.

    A page that a user of this machine visits could otherwise send requests to a server that listens on loopback:
    directly (browsers then send `Origin`), or under a name of its own that resolves to 127.0.0.1 (DNS rebinding).
    """
    host, origin = request.headers.get('host', ''), request.headers.get('origin')
    if origin is not None and urlsplit(origin).netloc != host:
        return False
    return not local or urlsplit(f'//{host}').hostname in LOOPBACK


def _knows(request, token):
    scheme, _, given = request.headers.get('authorization', '').partition(' ')
    return hmac.compare_digest(given.encode(), token.encode()) and scheme.lower() == 'bearer'


def _tracer():
    """OpenTelemetry's, where it is installed with an SDK that is set up."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer('remx.serve')
