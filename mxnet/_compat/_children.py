"""Python programs that a program starts by a command: they run by `remx run`, as the program itself does."""

import os
import re
import shlex
import sys

from ._report import report

options: list[str] = []  # of `remx run`, for what is started; the runner sets them
_PYTHON = re.compile(r'python([23](\.\d+)?)?(\.exe)?$')
_ALONE = ('-u', '-O', '-OO', '-B', '-E', '-s', '-W', '-tt', '-t', '-3')  # options that change nothing for `remx run`
_SIGNS = re.compile(r'(\s*(?:&&|\|\||[;|\n&])\s*)')


def command(args, shell=False):
    """The command, with `python PROGRAM` replaced by `python -m mxnet.cli run PROGRAM`."""
    if isinstance(args, (list, tuple)) and not shell:
        words = [os.fspath(word) if isinstance(word, os.PathLike) else word for word in args]
        return _changed(words) or args
    if isinstance(args, str) and shell:
        return _line(args)
    return args


def _line(text):
    parts = _SIGNS.split(text)
    for i, part in enumerate(parts):
        match = re.match(r'\s*((?:\w+=\S*\s+)*)(\S+)\s', part)  # after assignments such as A=1
        if match is None or not _is_python(match[2]):
            continue
        rest = part[match.end(2) :]
        if rest.lstrip().startswith(('-m mxnet', '-c')):
            continue
        try:
            changed = _changed([match[2], *shlex.split(rest)])
        except ValueError:
            continue
        if changed:  # quotes, variables and redirections in the rest stay as they are
            program = re.sub(r'\A\s*(?:-\w+\s+)*', '', rest)
            start = ' '.join(shlex.quote(word) for word in _start())
            parts[i] = f'{match[1]}{start} {program}'
    return ''.join(parts)


def _is_python(word):
    return isinstance(word, str) and (word == sys.executable or bool(_PYTHON.match(os.path.basename(word))))


def _changed(words):
    """The changed words of a command; None for one that starts no Python file."""
    if not words or not _is_python(words[0]):
        return None
    i = 1
    while i < len(words) and words[i] in _ALONE:
        i += 1
    if i >= len(words) or not isinstance(words[i], str) or not words[i].endswith(('.py', '.ipynb')):
        return None
    report.note('started', 'Python programs that the program starts run by `remx run`, too')
    return [*_start(), *words[i:]]


def _start():
    return [sys.executable, '-m', 'mxnet.cli', 'run', *options]
