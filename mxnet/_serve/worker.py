"""A worker: `python -m mxnet._serve.worker FD`, where the socket FD brings its configuration and then batches."""
import os
import signal
import socket
import sys


def main(descriptor):
    """Answers batches until the front closes the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # the front ends workers, by closing their sockets
    from .link import pack, receive
    sock = socket.socket(fileno=descriptor)
    config = receive(sock)
    if config is None:
        return
    os.environ.setdefault('OMP_NUM_THREADS', str(config['threads']))
    try:
        import torch
        torch.set_num_threads(config['threads'])
        if config.get('handler'):
            from .handlers import HandlerRunner as Kind
        else:
            from .runner import Runner as Kind
        runner = Kind(config)
        ready = {'ready': runner.describe(), 'pid': os.getpid()}
    except Exception as error:
        sock.sendall(pack({'error': str(error) or type(error).__name__}))
        return
    sock.sendall(pack(ready))
    while True:
        batch = receive(sock)
        if batch is None:
            return
        sock.sendall(pack(runner.answer(batch)))


if __name__ == '__main__':
    main(int(sys.argv[1]))
