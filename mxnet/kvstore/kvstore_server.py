"""Old job scripts start `python train.py` as servers and as a scheduler too; what those do here.

The workers of dist_sync need no servers.  A scheduler is where workers meet, as they did upstream; a server has nothing
to do and ends.
"""
from __future__ import annotations

import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from .._names import suggest_names as _suggest_names
from ..base import MXNetError

if TYPE_CHECKING:
    from ..kvstore import KVStore

__all__ = ['KVStoreServer']


class KVStoreServer:
    """What a process runs whose DMLC_ROLE is server or scheduler."""

    def __init__(self, kvstore: KVStore | None) -> None:
        self.kvstore = kvstore
        self.handle: Any = getattr(kvstore, 'handle', None)

    def run(self) -> None:
        """Serves until the job is over."""
        role = os.environ.get('DMLC_ROLE')
        if role != 'scheduler':
            logging.info('DMLC_ROLE=%s: this job needs no servers of its own', role)
            return
        from .._dist.joining import host
        from .._dist.meeting import Member
        from .._dist.places import place, timeout
        from .._dist.secret import Refused, secret
        where = place()
        seconds, address = timeout(), (where.host, where.port)
        try:
            meeting = host(address, secret())
            member = Member(address, secret(), seconds)
        except (Refused, OSError) as error:
            raise MXNetError(f'the scheduler cannot listen at {where.host}:{where.port}: {error}') from error
        _until_over(member, where, seconds)
        meeting.stop()


def _until_over(member, where, timeout):
    """Returns once all workers have ended, or none has given a sign of life for a while."""
    from .._dist._pulse import sign_of
    from .._dist.meeting import ENDED
    last, changed = None, time.monotonic()
    questions = [('get', sign_of(where.attempt, rank)) for rank in range(where.size)]
    while time.monotonic() - changed < timeout:
        signs = member.many(*questions)
        if all(sign is not None and sign.endswith(f'|{ENDED}'.encode()) for sign in signs):
            return
        if signs != last:
            last, changed = signs, time.monotonic()
        time.sleep(min(0.2, timeout / 10))


def serve_if_asked() -> None:
    """Where DMLC_ROLE says that this process is no worker: serves, and ends the program."""
    if os.environ.get('DMLC_ROLE', 'worker') in ('server', 'scheduler'):
        KVStoreServer(None).run()
        sys.exit(0)


_suggest_names(globals())
