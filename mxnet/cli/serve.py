"""`remx serve`: serves trained networks over HTTP."""
import argparse
import os
import sys

from ..base import MXNetError
from .predict import add_preprocessing

EXPLAIN = """Serves trained networks over HTTP.

    remx serve lenet --shape data=1,1,28,28
    curl -T digit.png http://127.0.0.1:8080/predictions/lenet

A model is a checkpoint (PREFIX, or NAME=PREFIX), an .onnx file, or a .mar archive of the old model server. Requests
that wait at the same time are computed as one batch. The server listens on this machine only, unless there is a token:
REMX_SERVE_TOKEN or --token-file. A page to try the networks is at http://127.0.0.1:8080/."""

LOOPBACK = ('127.0.0.1', 'localhost', '::1')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    add = parser.add_argument
    add('models', metavar='MODEL', nargs='+', help='PREFIX, NAME=PREFIX, an .onnx file or a .mar archive')
    add('--shape', action='append', default=[], metavar='[MODEL:]NAME=N,C,H,W',
        help='the shape of an input; with several models, MODEL: says which one has it')
    add('--epoch', type=int, help='the epoch of a checkpoint (default: the last one)')
    add('--classes', metavar='FILE', help='names of the classes (default: synset.txt next to the network)')
    add_preprocessing(parser)
    group = parser.add_argument_group('serving')
    add = group.add_argument
    add('--host', default='127.0.0.1', help='the address to listen on (default: 127.0.0.1)')
    add('--port', type=int, default=8080, help='for inference (default: 8080; 0: any)')
    add('--management-port', type=int, help='for management (default: 8081; 0: any; -1: none; Ray Serve has its own)')
    add('--token-file', metavar='FILE', help='a file with the token that clients must send')
    add('--no-token', action='store_true', help='accept requests without a token, even on an address that '
        'other machines can reach')
    add('--backend', choices=('processes', 'ray'), default='processes', help='where models run: in processes of this '
        'machine (default), or on Ray Serve: the cluster of RAY_ADDRESS, or one of this machine')
    add('--workers', type=int, default=1, help='processes for each model (default: 1)')
    add('--max-workers', type=int, metavar='N', help='with --backend ray: the largest number of replicas; '
        'Ray Serve scales with the load')
    add('--max-batch', type=int, default=32, help='the largest batch that is made of waiting requests (default: 32)')
    add('--max-delay', type=float, default=0.0, metavar='MS', help='how long a request waits for others (default: 0: '
        'only while all workers are busy)')
    add('--max-queue', type=int, default=1000, help='requests that may wait; others get 503 (default: 1000)')
    add('--timeout', type=float, default=60.0, metavar='S', help='seconds until a request gets 504 (default: 60)')
    add('--max-body', type=int, default=64 << 20, metavar='BYTES', help='of a request (default: 64 MiB)')
    add('--device', default='cpu', help='cpu, gpu or gpu:1 (default: cpu)')
    add('--reload', action='store_true', help='reload a model when its files change')
    add('--isolate', action='store_true', help='compute in the worker processes only; without it, light networks also '
        'answer in the process that listens')
    add('--trust', action='store_true', help='run the handlers of .mar archives, which are code')
    add('--log', choices=('info', 'error', 'none'), default='info', help='lines of JSON on stderr (default: info)')


def serve(options) -> int:
    """Runs the subcommand."""
    try:
        settings = _settings(options)
        if options.backend == 'ray':
            from .._serve.ray_backend import run
        else:
            from .._serve.server import run
        return run(settings)
    except (MXNetError, OSError) as error:
        print(f'remx serve: {error}', file=sys.stderr)
        return 1


def _settings(options):
    token = os.environ.get('REMX_SERVE_TOKEN') or None
    if options.token_file:
        with open(options.token_file, encoding='utf-8') as file:
            token = file.read().strip()
        if not token:
            raise MXNetError(f'--token-file {options.token_file}: the file is empty')
    if options.host not in LOOPBACK and token is None and not options.no_token:
        raise MXNetError(f'--host {options.host} can be reached by others: set REMX_SERVE_TOKEN or --token-file, or '
                         'pass --no-token')
    for name, least in (('workers', 1), ('max_batch', 1), ('max_queue', 1), ('max_body', 1), ('max_delay', 0),
                        ('timeout', 0.001)):
        if not getattr(options, name) >= least:
            raise MXNetError(f'--{name.replace("_", "-")} {getattr(options, name)}: it takes numbers from {least} on')
    _check_backend(options)
    models = []
    for text in options.models:
        name, _, source = text.rpartition('=')
        models.append((source, name or None))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1
    return {'models': models, 'shapes': options.shape, 'epoch': options.epoch, 'classes': options.classes,
            'scale': options.scale, 'unit': options.unit, 'mean': options.mean, 'std': options.std, 'bgr': options.bgr,
            'invert': options.invert, 'host': options.host, 'port': options.port, 'token': token,
            'local': token is None and options.host in LOOPBACK,
            'management_port': _management_port(options), 'workers': options.workers,
            'max_workers': options.max_workers, 'max_batch': options.max_batch, 'max_delay': options.max_delay / 1000,
            'max_queue': options.max_queue, 'timeout': options.timeout, 'max_body': options.max_body,
            'device': options.device, 'reload': options.reload, 'trust': options.trust, 'isolate': options.isolate,
            'log': options.log, 'threads': max(1, cores // options.workers),
            'max_connections': max(2000, options.max_queue * 2)}


def _management_port(options):
    port = 8081 if options.management_port is None else options.management_port
    return None if port < 0 else port


def _check_backend(options):
    """Refuses options that the other backend has."""
    if options.backend == 'ray':
        if (options.management_port or -1) >= 0:
            raise MXNetError('--management-port: it is not available with --backend ray; deploy again, or use the '
                             'dashboard of Ray')
        if options.reload:
            raise MXNetError('--reload: with --backend ray, deploy again when files have changed')
        if options.max_workers is not None and options.max_workers < options.workers:
            raise MXNetError(f'--max-workers {options.max_workers}: it takes numbers from --workers '
                             f'({options.workers}) on')
    elif options.max_workers is not None:
        raise MXNetError('--max-workers is for --backend ray; --workers is a fixed number of processes')
