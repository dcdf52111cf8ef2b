"""A worker: `python -m mxnet._serve.worker FD`, where the socket FD brings its configuration and then batches."""
import os
import signal
import socket
import sys
from typing import Any


def main(descriptor):
    """Answers batches until the front closes the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # the front ends workers, by closing their sockets
    from .link import Unpacker, pack, pack_answers, receive, requests_of
    sock = socket.socket(fileno=descriptor)
    unpacker = Unpacker()
    message = receive(sock, unpacker)
    if message is None:
        return
    config = message[0]
    os.environ.setdefault('OMP_NUM_THREADS', str(config['threads']))
    try:
        import torch
        torch.set_num_threads(config['threads'])
        if config.get('handler'):
            from .handlers import HandlerRunner
            runner: Any = HandlerRunner(config)
            light, largest, digest = False, None, None         # its code stays out of the front
        else:
            from .runner import Runner
            runner = Runner(config)
            light, largest, digest = runner.is_light(), runner.largest, runner.digest()
        ready = {'ready': runner.describe(), 'light': light, 'largest': largest, 'digest': digest, 'pid': os.getpid()}
    except Exception as error:
        sock.sendall(pack({'error': str(error) or type(error).__name__}))
        return
    try:
        sock.sendall(pack(ready))
    except ConnectionError:         # the server has stopped meanwhile
        return
    while True:
        message = receive(sock, unpacker)
        if message is None:
            return
        sock.sendall(pack_answers(*runner.answer(requests_of(message))))


if __name__ == '__main__':
    main(int(sys.argv[1]))
