"""Processes that run programs, each in one library and with deferral on or off."""
import os
import pickle
import re
import select
import struct
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAIVE = {'MXNET_ENGINE_TYPE': 'NaiveEngine'}        # turns all deferral, remembering and capturing off

BROKEN = 'could not execute a primitive'            # all that a process of 1.9.1 says from some error on
RECURRENT = re.compile(r'rnn\.(LSTM|GRU|RNN)\(')


class Process:
    """One worker; it is started when needed, and again after a crash."""

    def __init__(self, python=sys.executable, timeout=60, environment=None, path=None):
        self.python, self.timeout, self.environment, self.path = python, timeout, environment or {}, path
        self.process = None

    def start(self):
        # programs are full of errors that a library writes about: only the log counts
        variables = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'MXNET_ENGINE_TYPE')}
        variables.update({'OMP_NUM_THREADS': '1', 'MXNET_CPU_WORKER_NTHREADS': '1', **self.environment})
        if self.path:
            variables['PYTHONPATH'] = str(self.path)
        command = [self.python, str(HERE / 'worker.py'), str(HERE / 'prelude.py')]
        self.process = subprocess.Popen(command, env=variables, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def run(self, program, mode):
        """The log of a program, or a string that says how the process ended."""
        if self.process is None:
            self.start()
        np = program.family.startswith('np')
        message = pickle.dumps((program.sources(), mode, np), protocol=4)
        try:
            self.process.stdin.write(struct.pack('<q', len(message)) + message)
            self.process.stdin.flush()
            end = time.monotonic() + self.timeout
            head = self._read(8, end)
            return pickle.loads(self._read(struct.unpack('<q', head)[0], end))
        except (OSError, EOFError) as error:
            status = self.process.poll()
            self.close()
            if isinstance(error, TimeoutError):
                return f'no answer within {self.timeout} s'
            return f'crashed, status {status}'

    def _read(self, count, end):
        parts, fd = [], self.process.stdout.fileno()
        while count:
            if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError
            part = os.read(fd, min(count, 1 << 20))
            if not part:
                self.process.wait(10)
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b''.join(parts)

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                pipe.close()
            self.process = None


class Runner:
    """Runs programs on all sides: `logs(program)` is {side: log}.

    Sides are 'reference' (plain blocks, all deferral off), 'plain', 'hybrid', 'static', and those of MXNet 1.9.1 where
    MXNET191_PYTHON says which Python has it.  'reference disturbed 1' starts from numbers that are off by one unit in
    the last place, 'reference disturbed 2' from others.

    forward: BatchNorm moves its averages in the forward pass, which without this only happens on a GPU
    """

    def __init__(self, path=None, old=None, ctx='cpu', timeout=60, forward=False):
        path = path or os.environ.get('PYTHONPATH') or HERE.parent.parent
        # workers run in another folder
        path = os.pathsep.join(map(os.path.abspath, str(path).split(os.pathsep)))
        context = {'FUZZ_CTX': ctx, 'FUZZ_FORWARD': str(int(forward))}
        self.ours = Process(environment=context, path=path, timeout=timeout)
        self.naive = Process(environment={**context, **NAIVE}, path=path, timeout=timeout)
        # NAIVE: its errors come at the call that caused them then, as ours do. With oneDNN, gradients of biases whose
        # weight has none are whatever the memory held, as are those of poolings recorded with train_mode=False; without
        # it, recurrent layers do not run.
        without = {'MXNET_MKLDNN_ENABLED': '0', 'MXNET_STORAGE_FALLBACK_LOG_VERBOSE': '0'}
        self.old = Process(old, timeout=timeout, environment={**NAIVE, **without}) if old else None
        self.recurrent = Process(old, timeout=timeout, environment=NAIVE) if old else None

    def log(self, program, side):
        if side.startswith('reference'):
            return self.naive.run(program, side.replace('reference', 'plain'))
        if side.startswith('naive '):
            return self.naive.run(program, side[6:])
        if side.startswith('1.9.1 '):
            old = self.recurrent if any(RECURRENT.search(source) for source in program.sources()) else self.old
            found = old.run(program, side[6:])
            if BROKEN in str(found):
                old.close()
                found = old.run(program, side[6:])
                old.close()
            return found
        return self.ours.run(program, side)

    def sides(self, program):
        found = ['reference', *program.modes]
        if self.old:
            found += [f'1.9.1 {mode}' for mode in program.modes if mode != 'hybrid']
        return found

    def logs(self, program):
        return {side: self.log(program, side) for side in self.sides(program)}

    def close(self):
        for process in (self.ours, self.naive, self.old, self.recurrent):
            if process:
                process.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
