"""The protocol of uvicorn with one write for the head and the body of an answer: each write is a call of the system."""
import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol


class Corked:
    """A transport that keeps the head of an answer until its body comes, in the same pass of the loop."""

    __slots__ = ('_transport', '_held', '_loop')

    def __init__(self, transport, loop):
        self._transport, self._held, self._loop = transport, b'', loop

    def __getattr__(self, name):
        return getattr(self._transport, name)

    def write(self, data):
        if self._held:
            held, self._held = self._held, b''
            self._transport.write(held + data)
        elif data[:9] == b'HTTP/1.1 ' and data[9:10] != b'1':          # not 100 Continue: clients wait for that
            self._held = data
            self._loop.call_soon(self.flush)
        else:
            self._transport.write(data)

    def flush(self):
        """Writes what is kept."""
        if self._held:
            self.write(b'')

    def close(self):
        self.flush()
        self._transport.close()


HEAD = 1 << 16          # bytes; what one read of the socket brings may be more
TOO_LARGE = (b'HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n'
             b'content-length: 58\r\nconnection: close\r\n\r\n'
             b'{"error": "the head of a request may have at most 64 KiB"}')
Base: Any = AutoHTTPProtocol            # with httptools or with h11


class Protocol(Base):
    """What uvicorn speaks with a client.

    A client has some time for the head of each request, so that those that send nothing, or a little at a time, do not
    use up the connections.  What httptools reads neither as the end of a head nor as part of a body (an address,
    fields, extensions of chunks, trailers) may have HEAD bytes: it collects them without a limit.  h11 has its own.
    """

    head_seconds = 60.0
    _limit: asyncio.TimerHandle | None = None
    _collected = 0

    def connection_made(self, transport):
        loop = asyncio.get_running_loop()
        super().connection_made(Corked(transport, loop))
        self._limit = loop.call_later(self.head_seconds, transport.close)

    if hasattr(Base, 'on_headers_complete'):
        def on_headers_complete(self):
            """The head is whole."""
            self._collected = 0
            super().on_headers_complete()

        def on_body(self, body):
            """A part of the body, which the application counts."""
            self._collected = 0
            super().on_body(body)

        def on_message_complete(self):
            """All is here."""
            self._collected = 0
            super().on_message_complete()

    def data_received(self, data):
        self._collected += len(data)
        super().data_received(data)
        if self._collected > HEAD and not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete:
                self.transport.write(TOO_LARGE)
            self.transport.close()
            return
        if self.cycle is not None and not self.cycle.response_complete:
            if self._limit is not None:
                self._limit.cancel()            # its head is here
                self._limit = None
        elif self._limit is None:
            self._limit = asyncio.get_running_loop().call_later(self.head_seconds, self.transport.close)

    def connection_lost(self, error):
        if self._limit is not None:
            self._limit.cancel()
        super().connection_lost(error)
