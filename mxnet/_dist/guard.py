"""Runs a program and ends with it; whatever it has started ends, too, however it or its launcher ends.

    python guard.py DESCRIPTOR FOLDER PROGRAM ARGUMENT...

- DESCRIPTOR is the end of a pipe that is read.  Whoever started this holds the other one, and the system closes that
  when its process ends, in whatever way.  Then the program and all it has started are killed, and FOLDER is removed,
  with what has a name that begins with its; '' is none.  (A signal at the death of the parent would do for launchers,
  but not for Ray's actors: it comes when the thread that started the program ends.)
- Processes that the program leaves behind become children of the guard (PR_SET_CHILD_SUBREAPER of Linux), also those
  in sessions of their own, and are killed.  Elsewhere those in its process group are.
- The guard is two processes, the outer and the inner one, and the program is the inner one's child.  If the inner one
  is killed, the program and what it has started become the outer one's, which kills them.  If the outer one is killed,
  the inner one kills them: it reads a pipe that only the outer one can write to.  Either can be stopped (SIGSTOP).
- SIGTERM and SIGINT are handed on.  The exit status is that of the program; it is ended by the same signal.

A file that is run by itself: it imports nothing but what it needs, since every worker has one.
"""
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KILL_TIMEOUT = 10.0             # seconds to kill all


def prctl(option, value):
    """Whether the system can do it."""
    if not sys.platform.startswith('linux'):
        return False
    import ctypes
    return ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0


def descendants(root):
    """The numbers of all processes below one; [] where there is no /proc."""
    below: dict[int, list[int]] = {}
    try:
        names = os.listdir('/proc')
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', 'rb') as file:
                    # the name of the program, in parentheses, may have blanks and parentheses
                    parent = int(file.read().rpartition(b')')[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            below.setdefault(parent, []).append(int(name))
    found, ahead = [], [root]
    while ahead:
        ahead = [child for parent in ahead for child in below.get(parent, ())]
        found += ahead
    return found


def kill(number, how):
    """Sends a signal to a process, or to a group (negative)."""
    try:
        os.kill(number, how)
    except (ProcessLookupError, PermissionError):
        pass


def end_all(child):
    """Kills what is left of the program."""
    kill(-child, signal.SIGKILL)
    end = time.monotonic() + KILL_TIMEOUT
    while time.monotonic() < end:
        left = descendants(os.getpid())
        for number in left:
            kill(number, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if not left and not os.path.isdir('/proc/self'):
            return
        time.sleep(0.01)


def become(program, parent):
    """The process that becomes the program."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)         # for who kills both processes of the guard at once
    if os.getppid() != parent:
        os._exit(1)                     # the parent ended before it could be watched
    try:
        os.execvp(program[0], program)
    except OSError as error:
        os.write(2, f'{program[0]}: {error.strerror}\n'.encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def start(target, *arguments):
    """The number of a child in a process group of its own, which runs a function."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        target(*arguments)
        os._exit(1)
    try:
        os.setpgid(child, child)        # whoever comes first
    except OSError:
        pass
    return child


def watch(pipes, target, *arguments):
    """Runs a function in a child; returns its number, and its status as `waitpid` gives it or None if a pipe ends."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    awake, wake = os.pipe()
    os.set_blocking(awake, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signals = []
    for handled in (signal.SIGTERM, signal.SIGINT):
        signal.signal(handled, lambda number, frame: signals.append(number))
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    child = start(target, *arguments)
    while True:
        try:
            while True:
                number, status = os.waitpid(-1, os.WNOHANG)
                if number == child:
                    return child, status
                if not number:
                    break
        except ChildProcessError:
            return child, 0
        while signals:
            kill(-child, signals.pop(0))
        ready = select.select([*pipes, awake], [], [])[0]
        if ended(*(pipe for pipe in pipes if pipe in ready)):
            return child, None
        try:
            os.read(awake, 4096)
        except BlockingIOError:
            pass


def ended(*pipes):
    """Whether who could write to one of them is gone.  Nobody ever writes."""
    return any(not os.read(pipe, 1) for pipe in select.select(pipes, [], [], 0)[0])


def inner(life, folder, program, pipe):
    """The process that starts the program."""
    outer = os.getppid()
    os.close(pipe[1])
    child, status = watch([life, pipe[0]], become, program, os.getpid())
    end_all(child)
    if status is None:
        kill(outer, signal.SIGCONT) if os.getppid() == outer else None     # it has the same to do
        if ended(life):
            clean(folder)
    leave(signal.SIGKILL if status is None else status)


def main(life, folder, program):
    """The process that the launcher has started."""
    os.set_inheritable(life, False)
    pipe = os.pipe()
    child, status = watch([life], inner, life, folder, program, pipe)
    end_all(child)
    if status is None:
        clean(folder)
    leave(signal.SIGKILL if status is None else status)


def clean(folder):
    """Removes the files of a job whose launcher is gone: its folder, and those of its servers in memory."""
    name = os.path.basename(folder)
    if not name.startswith('remx-'):
        return
    import shutil
    for base in (os.path.dirname(folder), '/dev/shm'):
        try:
            names = os.listdir(base)
        except OSError:
            continue
        for found in names:
            path = os.path.join(base, found)
            if (found == name or found.startswith(name + '-')) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)


def leave(status):
    """Ends as the program did."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        # without writing a core once more
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
        time.sleep(1)
    os._exit(os.WEXITSTATUS(status))


if __name__ == '__main__':
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
