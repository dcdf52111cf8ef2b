"""Puts back what Python, NumPy and other packages have dropped since MXNet 1.x, for programs of that time.

`remx run PROGRAM` uses this.  `import mxnet.compat` does the same for modules of the program that are imported after it
(the module that imports it runs on as it is), which serves programs that start others:

    python -c "import mxnet.compat, old_program"
    python -c "import mxnet.compat; mxnet.compat.run_path('old_program.py', ['--epochs', '1'])"

Installed packages are left alone.
"""

import json as _json
import os as _os

from ._compat._importing import install, uninstall
from ._compat._report import report
from ._compat._runner import run_module, run_path, start

__all__ = ['install', 'report', 'run_module', 'run_path', 'start', 'uninstall']

_state = _json.loads(_os.environ.get('REMX_RUN', '{}'))
_state.pop('program', None)
_state.pop('package', None)
start(**{'quiet': True, **_state})
