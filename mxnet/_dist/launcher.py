"""Starts the workers of a job, shows what they print with their numbers in front, and ends them together.

Every run has a new secret, by which its workers know each other (`secret`).  They find it in their environment; to
other hosts it travels by the standard input of a shell, since everyone on a machine may read command lines.
Nothing outlives the launcher, in whatever way that ends (`guard`).

Only the standard library is used: a launcher that needs seconds to load is noticed each time.
"""
import collections
import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from ..base import MXNetError
from .guarded import Guarded
from .places import MEETING, new_folder, scratch_root
from .secret import SECRET, make_secret

__all__ = ['Job', 'hosts_of', 'launch']

HOST = re.compile(r'(?:[\w.+][\w.+-]*@)?\w[\w.-]*')      # of a host file, with a user before it or without
COUNT = re.compile(r'[0-9]{1,6}')
TAIL = 40           # how many of a failed worker's last lines are shown again


def hosts_of(path):
    """[(host, workers or None)] of a file with a host in each line: `name`, `name:2` or `name slots=2`."""
    found = []
    try:
        with open(path, encoding='utf-8') as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise MXNetError(f'{path}: cannot read: {error.strerror}') from None
    except UnicodeDecodeError as error:
        raise MXNetError(f'{path}: byte {error.start} is not UTF-8; a host file has the name of a host in each '
                         'line') from None
    for number, line in enumerate(lines, 1):
        text = line.split('#')[0].split()
        if not text:
            continue
        name, _, count = text[0].partition(':')
        for word in text[1:]:
            key, _, value = word.partition('=')
            if key == 'slots':
                count = value
        # a name that begins with - would be an option of ssh, and can name a command there
        if not HOST.fullmatch(name) or count and not COUNT.fullmatch(count):
            raise MXNetError(f'{path}, line {number}: {line.strip()[:100]!r} is not a host; write `name`, `name:2` or '
                             '`name slots=2`')
        found.append((name, int(count) if count else None))
    if not found:
        raise MXNetError(f'{path} names no host')
    return found


def places_of(workers, hosts):
    """[(host, number on that host, workers on that host)] of each worker."""
    if not hosts:
        return [('', i, workers) for i in range(workers)]
    given = [count for _, count in hosts]
    if None in given:
        share, more = divmod(workers, len(hosts))
        given = [share + (i < more) for i in range(len(hosts))]
    elif sum(given) < workers:
        raise MXNetError(f'the hosts have room for {sum(given)} workers, not for {workers}')
    found: list[Any] = []
    for (host, _), count in zip(hosts, given, strict=True):
        count = min(count, workers - len(found))
        found += [(host, i, count) for i in range(count)]
    return found


def free_port():
    """A port that nobody listens at now."""
    with socket.socket() as trial:
        trial.bind(('', 0))
        return trial.getsockname()[1]


def cores():
    """The numbers of the cores that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else list(range(os.cpu_count() or 1))


def threads(local, count):
    """Variables by which `count` workers of a machine do not get in each other's way; `local` is the number of one."""
    found = cores()
    share = max(1, len(found) // count)
    wanted = {'OMP_NUM_THREADS': str(share)}            # each process of torch would take all cores
    if os.environ.get('OMP_PROC_BIND', 'false').lower() != 'false' and count > 1:
        # threads are bound to cores: without it the first thread of every worker to the same one
        first = local * share % len(found)
        wanted['OMP_PLACES'] = ','.join(f'{{{core}}}' for core in found[first:first + share])
    return wanted


def begin_here(command, variables, count=None, folder=None, stdin=subprocess.DEVNULL, scratch=None):
    """Starts a process whose output is read, with variables of its own; `count` is how many share the machine."""
    _look_for(command[0], {**os.environ, **variables}.get('PATH'), folder or os.curdir)
    environment = {**os.environ, **variables, 'PYTHONUNBUFFERED': '1'}
    if count is not None:
        for name, value in threads(int(variables['LOCAL_RANK']), count).items():
            environment.setdefault(name, value)
    # without it, torch shows C++ stacks when a worker is gone, around the line that says so
    environment.setdefault('TORCH_CPP_LOG_LEVEL', 'ERROR')
    return Guarded(command, scratch or variables.get('REMX_SCRATCH', ''), env=environment, cwd=folder, stdin=stdin,
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _look_for(program, path, folder):
    """The guard could only say it in the worker's output."""
    if os.path.dirname(program):
        place = os.path.join(folder, program)
        if os.path.exists(place) and not os.access(place, os.X_OK):
            raise PermissionError(f'{program} is not an executable program')
        found = os.path.exists(place)
    else:
        found = shutil.which(program, path=path) is not None
    if not found:
        raise FileNotFoundError(f'there is no program {program}')


# The whole standard input of a shell on the host, but for its end.  A shell reads a group of commands before it runs
# the first.  The worker, and what it has started, ends when the input does: with the launcher or the connection.
REMOTE = """{{
cd {folder} || exit
exec 3<&0 </dev/null
{variables}
(trap '' TERM; cat <&3 >/dev/null 2>&1; kill -TERM 0; sleep 3; kill -KILL 0) >/dev/null 2>&1 &
watch=$!
trap : TERM
{command} 3<&- &
worker=$!
wait $worker
status=$?
while kill -0 $worker 2>/dev/null; do wait $worker; status=$?; done
kill -KILL $watch 2>/dev/null
exit $status
}}
"""
SSH = 'ssh -o BatchMode=yes'


def rsh_command(rsh, host):
    """The words that run `sh` on a host; `{host}` in `rsh` stands for its name, which else comes last."""
    words = shlex.split(rsh)
    if any('{host}' in word for word in words):
        return [*(word.replace('{host}', host) for word in words), 'sh']
    return [*words, host, 'sh']


def remote_script(command, variables, count, folder):
    """What `sh` on a host gets as standard input.  Nothing is on a command line: everyone there could read it."""
    # a shell takes no others; these are no secrets
    odd = {name: value for name, value in variables.items() if not re.fullmatch(r'[A-Za-z_][A-Za-z_0-9]*', name)}
    text = ''.join(f'export {name}={shlex.quote(value)}\n' for name, value in variables.items() if name not in odd)
    # how many cores there are is known there
    text += f'export OMP_NUM_THREADS="${{OMP_NUM_THREADS:-$(expr $(nproc) / {count} \\| 1)}}"'
    inner = [*(['env', *(f'{name}={value}' for name, value in odd.items())] if odd else []), *command]
    return REMOTE.format(folder=shlex.quote(folder), variables=text, command=shlex.join(inner)).encode()


class Job:
    """One run of all workers."""

    _here = True            # whether workers without a host are on this machine

    def __init__(self, command, workers, servers=0, hosts=(), environment=None, address=None, attempt=0, grace=6.0,
                 output=None, folder=None, rsh=None):
        self.command, self.grace = list(command), grace
        self.folder = folder or os.getcwd()         # on other hosts
        self.rsh = rsh or SSH                       # by what a shell on a host is started
        self.output = output or sys.stdout
        self.places = places_of(workers, list(hosts))
        host = address or (self.places[0][0] if hosts else '127.0.0.1')
        port = free_port()
        # for files that a killed worker cannot remove itself
        self.scratch = new_folder()
        self.common = {
            'WORLD_SIZE': workers, 'MASTER_ADDR': host, 'MASTER_PORT': port, 'TORCHELASTIC_RESTART_COUNT': attempt,
            'DMLC_ROLE': 'worker', 'DMLC_NUM_WORKER': workers, 'DMLC_NUM_SERVER': servers, 'DMLC_PS_ROOT_URI': host,
            'DMLC_PS_ROOT_PORT': port, 'REMX_SCRATCH': self.scratch, SECRET: os.environ.get(SECRET) or make_secret(),
            **(environment or {}),
        }
        if self._here and not hosts and hasattr(socket, 'AF_UNIX'):
            # nobody else can reach a socket in there
            self.common[MEETING] = f'{host}:{port}={self.scratch}/meet'
        self.processes = []
        self._threads = []
        self._tails = []
        self._print_lock = threading.Lock()

    def variables(self, rank):
        """What worker `rank` finds in its environment."""
        _, local, count = self.places[rank]
        return {**self.common, 'RANK': rank, 'LOCAL_RANK': local, 'LOCAL_WORLD_SIZE': count, 'DMLC_WORKER_ID': rank,
                'DMLC_LOCAL_ID': local}

    def start(self):
        """Starts all workers."""
        for rank in range(len(self.places)):
            process = self.begin(rank, {name: str(value) for name, value in self.variables(rank).items()})
            tail: collections.deque[str] = collections.deque(maxlen=TAIL)
            thread = threading.Thread(target=self._show, args=(rank, process, tail), daemon=True)
            thread.start()
            self.processes.append(process)
            self._threads.append(thread)
            self._tails.append(tail)

    def begin(self, rank, variables):
        """Starts one worker: here, or on its host."""
        host, _, count = self.places[rank]
        if not host:
            return begin_here(self.command, variables, count)
        data = remote_script(self.command, variables, count, self.folder)
        process = begin_here(rsh_command(self.rsh, host), {}, stdin=subprocess.PIPE, scratch=self.scratch)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(data)           # and it stays open: its end is that of the worker
            process.stdin.flush()
        return process

    def signal(self, process, number):
        """Sends a signal to a worker, and to what it has started."""
        process.hand_on(number)

    def _show(self, rank, process, tail):
        with process.stdout as lines:
            for line in lines:
                text = line.decode(errors='replace').rstrip('\n')
                tail.append(text)
                self._say(f'[{rank}] {text}')

    def _say(self, text):
        with self._print_lock:
            print(text, file=self.output, flush=True)

    def wait(self):
        """Waits for the end; returns (exit status, number of the worker that failed first or None)."""
        first = None
        while True:
            states = [process.poll() for process in self.processes]
            failed = [rank for rank, state in enumerate(states) if state]
            if failed:
                first = failed[0]
                break
            if None not in states:
                break
            time.sleep(0.02)
        if first is None:
            self._join()
            return 0, None
        # the others notice by themselves and say what they were doing; after a while they are stopped
        end = time.monotonic() + self.grace
        while time.monotonic() < end and any(process.poll() is None for process in self.processes):
            time.sleep(0.02)
        self.stop()
        status = self.processes[first].returncode
        how = f'was ended by {signal.Signals(-status).name}' if status < 0 else f'ended with status {status}'
        host = self.places[first][0]
        self._say(f'worker {first}{host and f" on {host}"} failed first: it {how}. Its last lines:')
        for line in self._tails[first]:
            self._say(f'    {line}')
        return (128 - status if status < 0 else status), first

    def stop(self, grace=3.0):
        """Ends workers that still run, and what they started."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            running = [process for process in self.processes if process.poll() is None]
            for process in running:
                try:
                    self.signal(process, number)
                except ProcessLookupError:
                    pass
            end = time.monotonic() + grace + 2 * (number == signal.SIGKILL)
            while any(process.poll() is None for process in running) and time.monotonic() < end:
                time.sleep(0.02)
        self._join()

    def _join(self):
        for process in self.processes:
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
        for thread in self._threads:
            thread.join(2)
        name = os.path.basename(self.scratch)
        for base in (scratch_root(), '/dev/shm'):
            for left in [os.path.join(base, n) for n in (os.listdir(base) if os.path.isdir(base) else [])
                         if n == name or n.startswith(f'{name}-')]:
                shutil.rmtree(left, ignore_errors=True)


class _Interrupts:
    """Turns SIGINT and SIGTERM into KeyboardInterrupt, but for moments in which a worker could be forgotten."""

    def __init__(self):
        self.number = None              # of the signal that came first
        self._held = False
        self._before = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error):
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number, frame):
        self.number = self.number or number
        if not self._held:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def held(self):
        """What comes meanwhile is raised at the end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self.number is not None:
            raise KeyboardInterrupt


def launch(command, workers, restarts=0, kind=Job, **options):
    """Runs a job, anew after a failure if `restarts` allows it; returns its exit status."""
    with _Interrupts() as interrupts:
        if options.get('folder'):
            for host, _ in options['hosts']:
                target = f'{host}:{options["folder"]}'
                rsh = ['-e', options['rsh']] if options.get('rsh') else []
                subprocess.run(['rsync', '-a', '--delete', *rsh, f'{os.getcwd()}/', target], check=True)
        for attempt in range(restarts + 1):
            job = kind(command, workers, attempt=attempt, **options)
            try:
                with interrupts.held():             # between the start of a worker and its place in the list
                    job.start()
                status, failed = job.wait()
            except BaseException:
                with contextlib.suppress(KeyboardInterrupt), interrupts.held():
                    job.stop()
                if interrupts.number is not None:
                    return 128 + interrupts.number
                raise
            if failed is None:
                return 0
            if attempt < restarts:
                job._say(f'starting all {workers} workers again ({attempt + 1} of {restarts})')
        return status
