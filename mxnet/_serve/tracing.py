"""OpenTelemetry: a span for each request, in the trace of the client that sent it."""
import os

from ..base import MXNetError

VARIABLE = 'OTEL_TRACES_EXPORTER'


class Tracing:
    """The tracer of a server."""

    def __init__(self, trace, propagate):
        self._trace, self._propagate = trace, propagate
        self._tracer = trace.get_tracer('remx.serve')

    @classmethod
    def installed(cls):
        """None where OpenTelemetry is not installed, or has nowhere to send spans to.

        Spans are sent by the provider that the process has (of `opentelemetry-instrument`, for example), else by the
        exporters that OTEL_TRACES_EXPORTER names.
        """
        try:
            from opentelemetry import propagate, trace
        except ImportError:
            if _exporters():
                raise MXNetError(f"{VARIABLE} is set, but OpenTelemetry is not installed: "
                                 "pip install opentelemetry-sdk") from None
            return None
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            if not _exporters():
                return None
            _set_up(trace)
        return cls(trace, propagate)

    def span(self, scope, headers):
        """The context manager of a request's span; `traceparent` of the client is its parent."""
        return self._tracer.start_as_current_span(
            f'{scope["method"]} {scope["path"]}', context=self._propagate.extract(headers),
            kind=self._trace.SpanKind.SERVER,
            attributes={'http.request.method': scope['method'], 'url.path': scope['path']})

    def finish(self, span, status, details):
        """Writes what came of the request into its span."""
        span.set_attribute('http.response.status_code', status)
        if 'model' in details:
            span.set_attribute('remx.model', details['model'])
        if 'batch' in details:
            span.set_attribute('remx.batch', details['batch'])
        if status >= 500:
            span.set_status(self._trace.StatusCode.ERROR)


def _exporters():
    return [name.strip() for name in os.environ.get(VARIABLE, '').split(',') if name.strip() not in ('', 'none')]


def _set_up(trace):
    """A provider with the exporters that the environment names; it sends what is left when the process ends."""
    from importlib.metadata import entry_points
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise MXNetError(f'{VARIABLE} is set, but the SDK is not installed: pip install opentelemetry-sdk') from None
    service = os.environ.get('OTEL_SERVICE_NAME', 'remx-serve')
    provider = TracerProvider(resource=Resource.create({'service.name': service}))
    for name in _exporters():
        found = list(entry_points(group='opentelemetry_traces_exporter', name=name))
        if not found:
            raise MXNetError(f'{VARIABLE}={name}: there is no such exporter; console comes with opentelemetry-sdk, '
                             'otlp with opentelemetry-exporter-otlp')
        provider.add_span_processor(BatchSpanProcessor(found[0].load()()))
    trace.set_tracer_provider(provider)
