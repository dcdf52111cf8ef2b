"""`remx launch -n 4 python train.py`: the options of upstream's tools/launch.py, for today's jobs."""
from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from .._dist import launcher
from .._dist.secret import SECRET, make_secret
from ..base import MXNetError

DESCRIPTION = '''Starts a program several times, as the workers of one job: mx.kv.create("dist_sync") connects them.
The output of worker 1 is shown with [1] in front. When a worker fails, the others are stopped, and its last lines are
shown again.

    remx launch -n 4 python train.py --epochs 10        four workers on this machine
    remx launch -n 4 -H hosts.txt python train.py       on the hosts of the file, by ssh'''


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the subcommand."""
    add = parser.add_argument
    add('-n', '--num-workers', type=int, required=True, metavar='N', help='number of workers')
    add('-s', '--num-servers', type=int, default=0, metavar='N',
        help='number of servers of dist_async (default: one per machine); dist_sync needs none')
    add('-H', '--hostfile', metavar='FILE',
        help='hosts for --launcher ssh, one in a line: `name`, `name:2` or `name slots=2`')
    add('--launcher', choices=['local', 'ssh', 'ray', 'slurm', 'mpi', 'sge', 'yarn'], metavar='local|ssh|ray|slurm',
        help='where workers run: here, on the hosts, on the Ray cluster of RAY_ADDRESS, or as tasks of srun (ssh if '
             'there are hosts, else local)')
    add('--rsh', metavar='COMMAND',
        help='what starts `sh` on a host instead of ssh; the name of the host is put at the end, or at {host}: '
             '"ssh -p 2222", "ip netns exec", "kubectl exec -i {host} --"')
    add('--address', help='the address at which other workers reach the host of worker 0')
    add('--elastic', action='store_true',
        help='restart all workers when one fails; the program resumes from its checkpoint')
    add('--max-restarts', type=int, metavar='N', help='maximum number of restarts with --elastic (default: 3)')
    add('--env', action='append', default=[], metavar='NAME:VALUE', help='a variable for all workers')
    add('--env-worker', action='append', default=[], metavar='NAME:VALUE', help='the same as --env')
    add('--env-server', action='append', default=[], metavar='NAME:VALUE',
        help='a variable for the servers of dist_async')
    add('--p3', action='store_true', help='accepted for job scripts that have it: priorities are not needed here')
    add('--sync-dst-dir', metavar='DIR', help='copy the current folder to DIR of each host by rsync first (ssh)')
    add('program', nargs=argparse.REMAINDER, help='the program and its arguments')


def launch(options: Any) -> int:
    """Runs the job; returns the exit status of the worker that failed first, or 0."""
    command = options.program[1:] if options.program[:1] == ['--'] else options.program
    if not command:
        return _wrong('there is no program to start; write it at the end: remx launch -n 4 python train.py')
    if options.num_workers < 1 or options.num_servers < 0:
        return _wrong('-n must be at least 1, and -s must not be negative')
    if options.max_restarts is not None and not options.elastic:
        return _wrong('--max-restarts goes with --elastic')
    restarts = (3 if options.max_restarts is None else options.max_restarts) if options.elastic else 0
    how = options.launcher or ('ssh' if options.hostfile else 'local')
    if how in ('mpi', 'sge', 'yarn'):
        return _wrong(f'--launcher {how} is no longer supported; start `python train.py` with it yourself, with the '
                      'variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, or use ssh, ray or slurm')
    if (how == 'ssh') != bool(options.hostfile):
        return _wrong('-H goes with --launcher ssh, and the other way round')
    if options.rsh is not None and (how != 'ssh' or not options.rsh.split()):
        return _wrong('--rsh needs a command, and a file of hosts: -H FILE')
    if options.sync_dst_dir and how != 'ssh':
        return _wrong('--sync-dst-dir goes with --launcher ssh')
    if options.sync_dst_dir and '{host}' in (options.rsh or ''):
        return _wrong('--sync-dst-dir is done by rsync, which puts the name of the host at the end of --rsh')
    try:
        environment = dict(_variable(text) for text in [*options.env, *options.env_worker])
        servers = dict(_variable(text) for text in [*options.env, *options.env_server])
        if servers:
            environment['REMX_SERVER_ENV'] = json.dumps(servers)
        if how == 'slurm':
            return _slurm(command, options, environment)
        if how == 'ray':
            return _ray(command, options, environment, restarts)
        hosts = launcher.hosts_of(options.hostfile) if how == 'ssh' else []
        folder = options.sync_dst_dir
        return launcher.launch(command, options.num_workers, restarts, servers=options.num_servers, hosts=hosts,
                               environment=environment, address=options.address, folder=folder, rsh=options.rsh)
    except (MXNetError, OSError) as error:
        return _wrong(str(error))


def _variable(text):
    """NAME:VALUE or NAME=VALUE, or NAME alone: its value here."""
    ends = [i for i in (text.find(':'), text.find('=')) if i > 0]
    if ends:
        return text[:min(ends)], text[min(ends) + 1:]
    if text not in os.environ:
        raise MXNetError(f'--env {text}: this variable is not set here; write NAME:VALUE')
    return text, os.environ[text]


def _ray(command, options, environment, restarts):
    from .._dist import ray_launcher
    with ray_launcher.cluster(options.num_workers):
        return launcher.launch(command, options.num_workers, restarts, kind=ray_launcher.RayJob,
                               servers=options.num_servers, environment=environment)


def _slurm(command, options, environment):
    """Worker 0 is on the first host of the allocation; srun shows output by task and ends the others on a failure."""
    if options.elastic:
        raise MXNetError('--elastic does not go with slurm; use `sbatch --requeue`')
    first = options.address or os.environ.get('SLURM_LAUNCH_NODE_IPADDR')
    if not first:
        raise MXNetError('SLURM_LAUNCH_NODE_IPADDR is not set: this is not a Slurm allocation; give --address')
    variables = {'MASTER_ADDR': first, 'MASTER_PORT': str(launcher.free_port()),
                 'DMLC_NUM_SERVER': str(options.num_servers), SECRET: os.environ.get(SECRET) or make_secret(),
                 **environment}
    os.environ.update(variables)
    os.execvp('srun', ['srun', '--label', '--kill-on-bad-exit=1', '-n', str(options.num_workers), *command])


def _wrong(text) -> int:
    print(f'remx launch: {text}', file=sys.stderr)
    return 2
