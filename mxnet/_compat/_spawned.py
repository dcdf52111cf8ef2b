"""What a process that multiprocessing spawned runs in the place of the program's main module, with its names."""

import json
import os

if __name__ == '__mp_main__':
    from mxnet._compat import _importing, _runner

    _state = json.loads(os.environ[_runner.STATE])
    __file__ = _state.pop('program')
    __package__ = _state.pop('package')
    __spec__ = None  # type: ignore[assignment]
    _runner.start(**_state)
    _runner._tell_children(__file__, __package__)
    with open(__file__, 'rb') as _source:
        _code, _two = _importing.code_of(_source.read(), __file__)
    _importing.prepare(globals(), _two)
    exec(_code, globals())
