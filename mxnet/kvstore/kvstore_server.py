"""Old job scripts start `python train.py` as servers and as a scheduler too; what those do here.

The workers of dist_sync need no servers.  A scheduler is where workers meet, as they did upstream; a server has nothing
to do and ends.
"""
import datetime
import logging
import os
import sys
import time

from ..base import MXNetError

__all__ = ['KVStoreServer']


class KVStoreServer:
    """What a process runs whose DMLC_ROLE is server or scheduler."""

    def __init__(self, kvstore):
        self.kvstore = kvstore
        self.handle = getattr(kvstore, 'handle', None)

    def run(self):
        """Serves until the job is over."""
        role = os.environ.get('DMLC_ROLE')
        if role != 'scheduler':
            logging.info('DMLC_ROLE=%s: this job needs no servers of its own', role)
            return
        import torch.distributed as dist

        from .._dist.places import place, timeout
        where = place()
        seconds = timeout()
        try:
            store = dist.TCPStore(where.host, where.port, is_master=True, wait_for_workers=False, multi_tenant=True,
                                  timeout=datetime.timedelta(seconds=seconds))
        except (RuntimeError, OSError) as error:
            raise MXNetError(f'the scheduler cannot listen at {where.host}:{where.port}: {error}') from error
        _until_over(dist.PrefixStore(f'pulse{where.attempt}', store), where.size, seconds)


def _until_over(store, size, timeout):
    """Returns once all workers have ended, or none has given a sign of life for a while."""
    last, changed = None, time.monotonic()
    while time.monotonic() - changed < timeout:
        signs = [store.get(str(rank)) if store.check([str(rank)]) else b'' for rank in range(size)]
        if all(sign.endswith(b'|ended its program') for sign in signs):
            return
        if signs != last:
            last, changed = signs, time.monotonic()
        time.sleep(min(0.2, timeout / 10))


def serve_if_asked():
    """Where DMLC_ROLE says that this process is no worker: serves, and ends the program."""
    if os.environ.get('DMLC_ROLE', 'worker') in ('server', 'scheduler'):
        KVStoreServer(None).run()
        sys.exit(0)
