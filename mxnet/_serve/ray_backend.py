"""`remx serve --backend ray`: the same models as deployments of Ray Serve."""
import logging
import os
import shutil
import signal
import socket
import sys
import time
import warnings

from ..base import MXNetError

NEEDS = "remx serve --backend ray needs Ray Serve: pip install 'remx[ray-serve]'"
NAME = 'remx'               # of the application


def run(options) -> int:
    """Deploys until a signal ends it.

    Without RAY_ADDRESS there is a cluster of this machine's own, which ends with the command.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            from ray import serve
    except ImportError as error:
        raise MXNetError(f'{NEEDS} ({error})') from None
    from .._dist.ray_launcher import cluster
    # actors find the package where this process does
    os.environ['PYTHONPATH'] = os.pathsep.join(p for p in sys.path if p)
    os.environ['RAY_SERVE_LOG_TO_STDERR'] = '0'
    logging.getLogger('ray.serve').setLevel(logging.ERROR)
    ended: list = []
    configs = _configs(options)
    cores = max(1, os.cpu_count() or 1)
    replicas = sum(max(options['workers'], options['max_workers'] or 0) for _ in configs)
    with cluster(max(cores, replicas)):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.append(True))
        port = options['port'] or _free_port(options['host'])
        own = not os.environ.get('RAY_ADDRESS')
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                serve.start(proxy_location='HeadOnly' if own else 'EveryNode',
                            http_options={'host': options['host'], 'port': port})
                serve.run(_application(serve, options, configs), name=NAME, route_prefix='/')
            print(f'serving {", ".join(c["name"] for c in configs)} at http://{options["host"]}:{port} with Ray Serve',
                  flush=True)
            while not ended:
                time.sleep(0.5)                 # a signal ends it early
            return 0
        except RuntimeError as error:
            raise MXNetError(f'Ray Serve: {error}') from None
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                serve.shutdown() if own else serve.delete(NAME)
            for config in configs:
                if 'folder' in config:
                    shutil.rmtree(config['folder'], ignore_errors=True)


def _configs(options):
    """The configurations of the models; an error if one cannot be loaded."""
    from ..cli import _networks
    from ..cli._convert import parse_shapes
    from .registry import Registry
    registry = Registry(options, None, None, devices=(options['device'],))
    configs = [registry.configure(source, name, ()) for source, name in options['models']]
    for config in configs:
        config['version'] = 1
        if not config.get('handler'):
            network = _networks.load(config['source'], config.get('epoch'))
            network.check_shapes(parse_shapes(config['shapes']))
    return configs


def _application(serve, options, configs):
    from .ray_replica import Ingress, Model
    models = []
    for config in configs:
        resources: dict = {'num_cpus': 1}
        if options['device'] != 'cpu':
            resources['num_gpus'] = 1
            config = {**config, 'device': 'gpu'}        # the only one that the actor sees
        settings: dict = {'name': config['name'], 'ray_actor_options': resources,
                          'max_ongoing_requests': 2 * options['max_batch'], 'max_queued_requests': options['max_queue']}
        most = options['max_workers'] or 0
        if most > options['workers']:
            settings['autoscaling_config'] = {
                'min_replicas': options['workers'], 'initial_replicas': options['workers'], 'max_replicas': most,
                'target_ongoing_requests': options['max_batch'], 'upscale_delay_s': 5, 'downscale_delay_s': 120}
        else:
            settings['num_replicas'] = options['workers']
        deployment = serve.deployment(Model).options(**settings)
        models.append(deployment.bind({**config, 'max_batch': options['max_batch']}, options['max_delay']))
    front = {k: options[k] for k in ('token', 'local', 'max_body', 'timeout', 'log')}
    ingress = serve.deployment(Ingress).options(name='front', num_replicas=1, max_ongoing_requests=10_000,
                                                ray_actor_options={'num_cpus': 0})
    return ingress.bind(front, configs, *models)


def _free_port(host):
    with socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET) as sock:
        sock.bind((host, 0))
        return sock.getsockname()[1]
