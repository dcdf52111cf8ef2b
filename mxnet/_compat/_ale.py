"""`ale_python_interface`, the Atari emulator's own package until 2020: the interface of its successor `ale_py`.

Names of settings and paths were bytes, actions were an array of numbers, the dimensions of the screen were its width
and its height, and games were files of the user.  `ale_py` contains the games; one that is not there is taken from it.
"""

import importlib
import os
import re

from ._report import report

_SETTINGS = ('setInt', 'setBool', 'setFloat', 'setString', 'getInt', 'getBool', 'getFloat', 'getString')


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _game(path):
    """The file of a game: that of the program, or the one of its name in `ale_py`."""
    path = os.fspath(_text(path))
    if os.path.exists(path):
        return path
    roms = importlib.import_module('ale_py.roms')
    name = re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', os.path.splitext(os.path.basename(path))[0]).lower()
    found = roms.get_rom_path(name) if name in roms.get_all_rom_ids() else None
    if found is None:
        return path
    report.note(f'ale-game-{name}', f'the game {os.path.basename(path)} of ale_py')
    return str(found)


def names():
    """What the package had."""
    import numpy

    real = importlib.import_module('ale_py').ALEInterface

    class ALEInterface(real):  # type: ignore[misc, valid-type]
        def loadROM(self, path):
            return super().loadROM(_game(path))

        def getMinimalActionSet(self):
            return numpy.array([action.value for action in super().getMinimalActionSet()], 'intc')

        def getLegalActionSet(self):
            return numpy.array([action.value for action in super().getLegalActionSet()], 'intc')

        def getScreenDims(self):
            rows, columns = super().getScreenDims()
            return columns, rows

        def act(self, action):
            return super().act(int(action))

    for name in _SETTINGS:
        setattr(ALEInterface, name, _with_texts(getattr(real, name)))
    return {'ALEInterface': ALEInterface}


def _with_texts(method):
    def call(self, *values):
        return method(self, *map(_text, values))

    return call
