"""Where the workers of a job meet, and the first connection to it.

Four cases:

- `remx launch` has started all workers on this machine: a Unix socket in a folder of this user alone.  No port is open.
- torchrun has, all on this machine: the same; worker 0 makes the folder and says in torchrun's store where it is.
  Whoever writes something else there is found out by the owner of the folder.  That store outlives the workers, and
  the agents of several machines count restarts differently, so each worker asks with a word of its own.
- Workers on several machines, by `remx launch` or torchrun: a port of worker 0's machine, at the address that the job
  names.
- Processes that were started by hand with DMLC_ variables: the same, at DMLC_PS_ROOT_URI.
"""
import datetime
import json
import logging
import os
import re
import secrets
import shutil
import threading
from dataclasses import dataclass
from typing import Any

from ..base import MXNetError
from .listener import _outward, bind, shown
from .meeting import Meeting, Member
from .places import new_folder, private
from .secret import SECRET, Refused, derive, make_secret, secret

__all__ = ['Met', 'host', 'meet']

NOTICE = (f'{SECRET} is not set: anyone who can reach %s can join this job, read and change its results and, '
          'with dist_async, run code in it. Use `remx launch`, which sets it, or give all processes the same random '
          'text: python -c "import secrets; print(secrets.token_hex(32))"')


WORD = re.compile(rb'[0-9a-f]{32}')                     # what a worker asks with


@dataclass
class Met:
    """The store of a job, as one process sees it."""

    address: Any
    key: bytes
    member: Member
    meeting: Meeting | None = None      # in the process that has the store
    folder: str = ''                    # of Unix sockets, where all workers share a machine
    own_folder: str = ''                # ... that this process made
    answers: Any = None                 # tells workers that torchrun has started where the store is

    def complete(self):
        """All workers are here."""
        if self.answers is not None:
            self.answers.stop()

    def close(self):
        """Leaves the store, and removes what this process made; the store itself stays as long as the process."""
        self.complete()
        self.member.close()
        if self.own_folder:
            shutil.rmtree(self.own_folder, ignore_errors=True)


def host(address, key):
    """Opens the store at an address; OSError if that cannot be."""
    meeting = Meeting(bind(address), key)
    if not key and not isinstance(address, str):
        logging.warning(NOTICE, shown(address))
    return meeting


def meet(where, seconds) -> Met:
    """The store of small values that all workers see; worker 0 has it, unless another process does."""
    key, folder, own, problem = secret(), '', '', None
    address: Any = (where.host, where.port)
    meeting = answers = None
    if where.path:
        folder, address = private(os.path.dirname(where.path)), where.path
    if where.hosted:
        (address, key, meeting, folder, own), answers = _by_torchrun(where, key, seconds)
    elif where.rank == 0:
        try:
            meeting = host(address, key)
        except (OSError, Refused) as error:
            problem = error             # upstream's scheduler may be there already
    try:
        return Met(address, key, Member(address, key, seconds), meeting, folder, own, answers)
    except Refused as error:
        if answers is not None:
            answers.stop()
        name = '?' if where.rank is None else where.rank
        why = f'; this worker could not open it: {problem}. MXNET_KVSTORE_BIND names the address to listen at if it ' \
              'is another one' if problem else ''
        raise MXNetError(f'worker {name} of {where.size} found no worker at {shown(address)} within '
                         f'{seconds:g} seconds; worker 0 did not start, or cannot be reached there ({error}){why}'
                         ) from error


# ---------------------------------------------------------------------- torchrun

class _Answers:
    """Worker 0 says in torchrun's store where the workers meet, to each that asks: `ask/rank` has a word, the answer
    is at `answer/word`.  What earlier workers have left there is never taken for an answer.
    """

    def __init__(self, agent, size, key, address):
        self._agent, self._size, self._key, self._address = agent, size, key, address
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name='kvstore-answers', daemon=True)
        self._thread.start()

    def _run(self):
        seen: dict[int, bytes] = {}
        strange: set[int] = set()
        try:
            while not self._over.wait(0.02):
                for rank in range(1, self._size):
                    ask = f'remx/ask/{rank}'
                    word = self._agent.get(ask) if self._agent.check([ask]) else None
                    if word is None or word == seen.get(rank):
                        continue
                    seen[rank] = word
                    if WORD.fullmatch(word):
                        text = word.decode()
                        mark = _mark(self._key, self._address, text)
                        self._agent.set(f'remx/answer/{text}', json.dumps([self._address, mark]))
                    elif rank not in strange:
                        # anyone can write into this store: what is not from a worker must not end the answers
                        strange.add(rank)
                        logging.warning("the store of torchrun has %.40r under %s; no worker writes this, and it gets "
                                        "no answer", word, ask)
        except RuntimeError as error:               # the other workers report that they got no answer
            logging.warning('worker 0 of %s can tell no more workers where they meet: %s', self._size, error)

    def stop(self):
        """Ends the thread: all workers have met, or the meeting has failed."""
        self._over.set()
        self._thread.join(5)


def _by_torchrun(where, key, seconds):
    """((address, key, store or None, folder or '', own folder or ''), what answers other workers or None)"""
    import torch.distributed as dist
    try:
        agent = dist.TCPStore(where.host, where.port, is_master=False, timeout=datetime.timedelta(seconds=seconds))
        if where.rank == 0:
            found = _opened(where, key)
            return found, _Answers(agent, where.size, key, found[0])
        word = secrets.token_hex(16)
        name = f'remx/answer/{word}'
        agent.set(f'remx/ask/{where.rank}', word)
        agent.wait([name], datetime.timedelta(seconds=seconds))
        text = agent.get(name)
        agent.delete_key(name)
    except (RuntimeError, OSError) as error:
        raise MXNetError(f'worker {where.rank} of {where.size} found no worker at {where.host}:{where.port} within '
                         f'{seconds:g} seconds; torchrun or worker 0 is gone') from error
    try:
        address, mark = json.loads(text)
        address = address if isinstance(address, str) else (str(address[0]), int(address[1]))
        if mark != _mark(key, address, word):
            raise ValueError('the mark is wrong')
    except (ValueError, TypeError, IndexError) as error:
        raise MXNetError(f'worker {where.rank} of {where.size}: what the store of torchrun says of the meeting is not '
                         f'from a worker of this job ({error}); {SECRET} must be the same for all workers') from None
    if not isinstance(address, str):
        return (address, key, None, '', ''), None
    folder = private(os.path.dirname(address))
    if not key:
        with open(os.path.join(folder, 'secret'), encoding='ascii') as file:
            key = file.read().encode()
    return (address, key, None, folder, ''), None


def _mark(key, address, word):
    return derive(key, 'meeting', word, json.dumps(address)).hex()


def _opened(where, key):
    if where.local_size == where.size:
        folder = new_folder()
        if not key:
            # whoever can read the file is this user
            text = make_secret()
            with open(os.open(os.path.join(folder, 'secret'), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'w',
                      encoding='ascii') as file:
                file.write(text)
            key = text.encode()
        address: Any = os.path.join(folder, 'meet')
        return address, key, host(address, key), folder, folder
    try:
        name = where.host
        sockets = bind((name, 0))
    except (OSError, Refused):
        # the name of another machine's agent, or one that only others know
        name = _outward()
        if name is None:
            raise MXNetError(f'{where.host} is no address of this machine, and it has no other; MXNET_KVSTORE_BIND '
                             'names one') from None
        sockets = bind((name, 0))
    meeting = Meeting(sockets, key)
    address = name, meeting.port
    if not key:
        logging.warning(NOTICE, shown(address))
    return address, key, meeting, '', ''
