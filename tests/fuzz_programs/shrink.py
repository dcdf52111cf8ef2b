"""Makes a program with a difference shorter, as long as it shows one of the same kind."""
import dataclasses
import re
import time

from .compare import check


def shrunk(program, found, runner, seconds=60):
    """(program, difference, logs) of the smallest program that was found in so many seconds."""
    end = time.monotonic() + seconds
    best = (program, found, None)
    old = any(side.startswith('1.9.1') for side in found.sides)
    tried, again = set(), True
    names = _names(check(_only(program, found), runner, old)[1])
    while again:
        again = False
        for smaller in best[0].smaller():
            if time.monotonic() > end:
                return best
            key = tuple(smaller.sources())
            if key in tried:
                continue
            tried.add(key)
            now, logs = check(_only(smaller, found), runner, old)
            if now is not None and _like(now) == _like(found) and _names(logs) <= names:
                best, again = (smaller, now, logs), True
                break
    return best


def _only(program, found):
    """The program with the modes that matter."""
    modes = tuple(side for side in found.sides if side in program.modes)
    return dataclasses.replace(program, modes=modes)


def _like(found):
    """What must stay: the kind of difference, and the errors in it but for their numbers."""
    errors = [entry[3].split('\n')[-1] for entry in found.seen if isinstance(entry, tuple) and entry[0] == 'error']
    errors = [re.sub(r'[\d(].*', '', text)[:40] for text in errors]
    return found.kind, found.sides, errors


def _names(logs):
    """Names that are missing: if there are new ones, too much was left out."""
    return {entry[3] for log in logs.values() if not isinstance(log, str) for _, entry in log
            if entry[0] == 'error' and entry[1] in ('NameError', 'UnboundLocalError', 'SyntaxError')}
