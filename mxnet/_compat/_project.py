"""The project of a program: its folders, and modules and files that are elsewhere in it than the program says."""

import os
import sys

from ._report import report

_TOP = ('.git', '.hg', '.idea', 'setup.py', 'pyproject.toml', 'requirements.txt')     # in the top folder of a project
_LEVELS = 4             # folders above the program's that are searched at most


def folders():
    """The folders of the program's project: the program's own, and those above it up to the top folder."""
    folder = os.path.dirname(os.path.realpath(report.program or ''))
    found: list[str] = []
    while report.program and len(found) <= _LEVELS:
        try:
            files = os.listdir(folder)
        except OSError:
            break
        above = os.path.dirname(folder)
        if above == folder or folder == os.path.expanduser('~'):
            break
        found.append(folder)
        if any(file in _TOP or file.lower().startswith('readme') for file in files):
            break
        folder = above
    return found


def folder_above(name):
    """The folder above the program, within its project, that has a module of this name; None where there is none."""
    for folder in folders()[1:]:
        if _has_module(folder, name):
            return folder
    return None


def folder_of_missing_path(name):
    """The folder of the project that an entry of `sys.path` which does not exist names, if it has the module.

    Programs add folders of their author's machine to `sys.path`, `/home/somebody/project/lib` for example, or folders
    relative to the place where the author started them.  The end of such a path is looked for in the project.
    """
    every = folders()
    for entry in sys.path:
        if not isinstance(entry, str) or not entry or entry.endswith('.zip') or os.path.isdir(entry):
            continue
        parts = _parts(entry)
        for start in range(len(parts)):
            for folder in every:
                found = os.path.join(folder, *parts[start:])
                if _has_module(found, name):
                    return found
    return None


def _has_module(folder, name):
    return os.path.isfile(os.path.join(folder, f'{name}.py')) or _has_modules(os.path.join(folder, name))


def _has_modules(folder):
    try:
        return any(file.endswith('.py') for file in os.listdir(folder))
    except OSError:                 # there is none, or it may not be read
        return False


def _parts(path):
    """The parts of a path, which may be one of Windows."""
    return [part for part in path.replace('\\', '/').split('/') if part not in ('', '.', '..')]


def file(path):
    """The file of the project that a path names which does not exist; None where there is none.

    The path is one of the author's machine, `/home/somebody/project/data/names.txt` or `C:\\project\\data\\names.txt`,
    whose end is looked for, or relative to another folder of the project than the one in which the program was started.
    """
    every, parts = folders(), _parts(path)
    absolute = path.startswith(('/', '\\', '~')) or path[1:2] == ':'
    # a name alone would be found by chance, so at least its folder is compared as well
    for start in range(max(len(parts) - 1, 0) if absolute else 1):
        for folder in every:
            found = os.path.join(folder, *parts[start:])
            if os.path.isfile(found):
                return found
    return None
