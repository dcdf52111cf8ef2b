"""A link with a delay: a server on loopback that hands on what it receives some seconds later, in both directions.

    with SlowLink(('127.0.0.1', 5000), delay=0.025) as link:
        socket.create_connection(link.address)

It stands for `tc netem` where the kernel has none.  Opening a connection takes one round trip, as over a real link.
`bytes_sent` counts what the server behind it has sent.
"""
import asyncio
import contextlib
import threading

__all__ = ['SlowLink']


class SlowLink:
    """See the module."""

    def __init__(self, target, delay):
        self._target, self._delay = target, delay
        self.bytes_sent = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *error):
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self):
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._link, '127.0.0.1', 0)
        self.address = server.sockets[0].getsockname()
        self._ready.set()
        await self._stopping.wait()
        server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _link(self, reader, writer):
        await asyncio.sleep(2 * self._delay)
        there, back = await asyncio.open_connection(*self._target)
        try:
            await asyncio.gather(self._hand_on(reader, back, False), self._hand_on(there, writer, True))
        finally:
            for end in (writer, back):
                end.close()

    async def _hand_on(self, reader, writer, counted):
        pieces = asyncio.Queue(1000)

        async def write():
            while True:
                due, data = await pieces.get()
                await asyncio.sleep(due - self._loop.time())
                if not data:
                    with contextlib.suppress(OSError):
                        writer.write_eof()
                    return
                writer.write(data)
                with contextlib.suppress(ConnectionError):
                    await writer.drain()
        writing = asyncio.create_task(write())
        data = b'.'
        while data:
            try:
                data = await reader.read(1 << 16)
            except ConnectionError:
                data = b''
            self.bytes_sent += len(data) * counted
            await pieces.put((self._loop.time() + self._delay, data))
        await writing
