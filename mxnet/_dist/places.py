"""Which worker of which job this process is, from the variables of whoever started it.

Three families are understood, the first that is complete counts: torchrun's (RANK, WORLD_SIZE, MASTER_ADDR,
MASTER_PORT), those of upstream's launcher (DMLC_NUM_WORKER, DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT, DMLC_WORKER_ID), and
Slurm's.
"""
import os
import stat
import tempfile
from dataclasses import dataclass

from ..base import MXNetError

__all__ = ['MEETING', 'Place', 'new_folder', 'place', 'private', 'scratch_root', 'timeout']

MEETING = 'REMX_MEETING'        # host:port=path: where the workers of a job on one machine meet instead


@dataclass(frozen=True)
class Place:
    """One worker of a job.  `rank` is None where the job leaves numbering to the workers."""

    rank: int | None = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    host: str = ''
    port: int = 0
    hosted: bool = False        # whether another process (torchrun's agent) already listens at host:port
    attempt: int = 0            # how often the job was started anew
    path: str = ''              # of a Unix socket, where `remx launch` has started all workers on this machine


def _number(name, default=None):
    text = os.environ.get(name)
    if text in (None, ''):
        return default
    try:
        return int(text)
    except ValueError:
        raise MXNetError(f'{name} must be a number, not {text!r}') from None


def _address(host_name, port_name, size):
    host, port = os.environ.get(host_name), _number(port_name)
    if not host or port is None:
        raise MXNetError(f'{size} workers are announced, but {host_name} and {port_name} do not say where they meet; '
                         'start them with `remx launch` or torchrun')
    return host, port


def place() -> Place:
    """This process's place."""
    attempt = _number('TORCHELASTIC_RESTART_COUNT', 0)
    size = _number('WORLD_SIZE')
    if size is not None and _number('RANK') is not None:
        host, port = ('', 0) if size == 1 else _address('MASTER_ADDR', 'MASTER_PORT', size)
        # a program of such a job may start another one by other means, which gets this variable, too
        name, _, path = os.environ.get(MEETING, '').partition('=')
        hosted = os.environ.get('TORCHELASTIC_USE_AGENT_STORE') == 'True'
        if os.environ.get('TORCHELASTIC_RUN_ID'):
            attempt = 0         # torchrun's agents count for themselves, and the workers' store is a new one each time
        return _checked(Place(_number('RANK'), size, _number('LOCAL_RANK', 0), _number('LOCAL_WORLD_SIZE', 1), host,
                              port, hosted, attempt,
                              path if size > 1 and name == f'{host}:{port}' else ''))
    size = _number('DMLC_NUM_WORKER')
    if size is not None:
        host, port = ('', 0) if size == 1 else _address('DMLC_PS_ROOT_URI', 'DMLC_PS_ROOT_PORT', size)
        rank = _number('DMLC_WORKER_ID', _number('DMLC_TASK_ID', 0 if size == 1 else None))
        return _checked(Place(rank, size, _number('DMLC_LOCAL_ID', 0), 1, host, port, False, attempt))
    size = _number('SLURM_NTASKS')
    if size is not None and size > 1 and _number('SLURM_PROCID') is not None:
        host, port = _address('MASTER_ADDR', 'MASTER_PORT', size)
        return _checked(Place(_number('SLURM_PROCID'), size, _number('SLURM_LOCALID', 0),
                              _number('SLURM_NTASKS_PER_NODE', 1), host, port, False, attempt))
    return Place()


def _checked(found):
    if found.size < 1 or not (found.rank is None or 0 <= found.rank < found.size):
        raise MXNetError(f'worker {found.rank} of {found.size} is impossible; workers count from 0')
    return found


def timeout() -> float:
    """Seconds to wait for other workers before they count as lost: MXNET_KVSTORE_TIMEOUT, 300 if it is not set."""
    text = os.environ.get('MXNET_KVSTORE_TIMEOUT', '300')
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not seconds > 0:
        raise MXNetError(f'MXNET_KVSTORE_TIMEOUT must be a number of seconds above 0, not {text!r}')
    return seconds


def private(folder) -> str:
    """A folder that exists and is nobody's but ours: whoever can write there could take part in the job."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise MXNetError(f'{folder} is no folder that belongs to this user alone (owner {found.st_uid}, mode '
                         f'{stat.S_IMODE(found.st_mode):o}): it is not used')
    return folder


def new_folder(prefix='remx-', inside=None) -> str:
    """A new folder of this user alone, under a name that nobody can guess."""
    return private(tempfile.mkdtemp(prefix=prefix, dir=inside or scratch_root()))


def scratch_root() -> str:
    """Where files of a job may lie: the folder for temporary ones, if its name leaves room for those of sockets."""
    found = tempfile.gettempdir()
    return found if len(found) <= 20 or not os.path.isdir('/tmp') else '/tmp'
