"""Another interpreter that does pieces of work when it is told to, so that both see the same machine in turns."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

from .cores import ALL

# Comes before the code of a peer: reads names of functions and arguments from stdin, writes what the functions return.
_LOOP = '''
import json, os, sys
if {cores!r} is not None:
    os.sched_setaffinity(0, {cores!r})
_answers, sys.stdout = sys.stdout, sys.stderr
{code}
for _line in sys.stdin:
    if not _line.strip():
        break
    _name, *_arguments = json.loads(_line)
    print(json.dumps(globals()[_name](*_arguments)), file=_answers, flush=True)
'''


def upstream_python():
    """The interpreter with MXNet 1.9.1; None if MXNET191_PYTHON does not name one."""
    return os.environ.get('MXNET191_PYTHON') or None


class Peer:
    """A process that runs `code` (which may use sys.argv) and then its functions by name."""

    def __init__(self, python, code, *arguments, threads=None):
        environment = dict(os.environ)
        environment.pop('PYTHONPATH', None)
        if python == sys.executable:
            environment['PYTHONPATH'] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        if threads:
            environment['OMP_NUM_THREADS'] = str(threads)
        # in a folder of its own, or it would import the package that lies in this one
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [python, '-W', 'ignore', '-c', _LOOP.format(code=code, cores=ALL), *map(str, arguments)],
            cwd=self._folder.name, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def __call__(self, name, *arguments):
        """What the function returns."""
        try:
            self._process.stdin.write(json.dumps([name, *arguments]) + '\n')
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ''
        if not answer:
            raise RuntimeError(f'{self._process.args[0]} failed in {name}:\n{self._process.stderr.read()[-2000:]}')
        return json.loads(answer)

    def close(self):
        # told by a line: workers of loaders in this process may hold its input open
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write('\n')
            self._process.stdin.flush()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
