"""Programs that end with this process, however it ends: see `guard`."""
import contextlib
import os
import signal
import subprocess
import sys
import time

__all__ = ['Guarded']

GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'guard.py')


class Guarded(subprocess.Popen):
    """A program under a guard, which removes `folder` if this process ends before.  `returncode` is the program's."""

    _life = None

    def __init__(self, command, folder='', **options):
        life, self._life = os.pipe()
        try:
            super().__init__([sys.executable, '-I', '-S', GUARD, str(life), folder, *command], pass_fds=(life,),
                             start_new_session=True, **options)
        except BaseException:
            self.let_go()
            raise
        finally:
            os.close(life)

    def let_go(self):
        """Has the program and all that it has started killed."""
        life, self._life = self._life, None
        if life is not None:
            os.close(life)

    def hand_on(self, number):
        """Sends a signal to the program and its process group; SIGKILL to all that it has started."""
        if number == signal.SIGKILL:
            self.let_go()
        elif self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def end(self, grace=15.0):
        """Kills all, and waits until that is done."""
        self.let_go()
        try:
            self.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()

    def wait_or(self, check, pause=0.05):
        """Waits until `check()` gives something, and returns it; None if the program ends before."""
        while True:
            found = check()
            if found is not None or self.poll() is not None:
                return found
            time.sleep(pause)

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.let_go()               # else an error would wait for the end of the program
        super().__exit__(kind, value, trace)

    def __del__(self, *arguments, **options):
        self.let_go()
        super().__del__(*arguments, **options)
