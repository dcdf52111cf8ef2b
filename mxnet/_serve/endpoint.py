"""An ASGI endpoint: a request with its headers and body, and around it the log, the metrics and the trace."""
import itertools
import os
import time
from urllib.parse import parse_qs

_FIRST, _NUMBERS = os.urandom(8).hex(), itertools.count(1)      # identifiers of requests


class TooLarge(Exception):
    """A body over the limit."""


class Gone(Exception):
    """The client has closed the connection before its request was complete."""


class Request:
    """What handlers read of a request."""

    __slots__ = ('scope', 'receive', 'headers', 'details')

    def __init__(self, scope, receive):
        self.scope, self.receive = scope, receive
        self.headers = {name.decode('latin-1'): value.decode('latin-1') for name, value in scope['headers']}
        self.details: dict = {}

    @property
    def path_params(self):
        return self.scope['path_params']

    @property
    def query(self):
        """{key: values} of the query."""
        return parse_qs(self.scope['query_string'].decode('latin-1'), keep_blank_values=True)

    async def body(self, largest):
        """The body, unless it has more bytes than that."""
        length = self.headers.get('content-length')
        if length is not None and length.isdigit() and int(length) > largest:
            raise TooLarge(f'the body has {length} bytes; {largest} are accepted')
        parts, size, more = [], 0, True
        while more:
            message = await self.receive()
            if message['type'] == 'http.disconnect':
                raise Gone
            part, more = message.get('body', b''), message.get('more_body', False)
            size += len(part)
            if size > largest:
                raise TooLarge(f'the body has more than {largest} bytes')
            parts.append(part)
        return parts[0] if len(parts) == 1 else b''.join(parts)


class Endpoint:
    """Answers the requests of a route.

    It is an ASGI application, so that Starlette neither wraps the request nor the answer: that would take as long as
    the rest of the front.
    """

    def __init__(self, front, handler, token):
        self.front, self.handler, self.token = front, handler, token

    async def __call__(self, scope, receive, send):
        started = time.perf_counter()
        front, request = self.front, Request(scope, receive)
        number = request.headers.get('x-request-id') or f'{_FIRST}{next(_NUMBERS):016x}'
        if front.tracing is None:
            answer = await front.answer(self.handler, request, self.token)
        else:
            with front.tracing.span(scope, request.headers) as span:
                answer = await front.answer(self.handler, request, self.token)
                front.tracing.finish(span, answer[0], request.details)
        status, kind, body, headers = answer
        seconds = time.perf_counter() - started
        if 'counted' in request.details:
            front.metrics.answered(request.details['model'], status, seconds)
        level = 'info' if status < 500 else 'error'
        if front.log is not None and front.log.takes(level):
            front.log(level=level, event='request', method=scope['method'], path=scope['path'], status=status,
                      ms=round(seconds * 1000, 3), id=number,
                      **{k: v for k, v in request.details.items() if k != 'counted'})
        head = [(b'content-length', b'%d' % len(body)), (b'content-type', kind.encode('latin-1')),
                (b'x-request-id', number.encode('latin-1', 'replace'))]
        for name, value in headers.items():
            head.append((name.lower().encode('latin-1'), value.encode('latin-1')))
        await send({'type': 'http.response.start', 'status': status, 'headers': head})
        await send({'type': 'http.response.body', 'body': body})
