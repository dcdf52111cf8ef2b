"""Hosts with addresses of their own on one machine: Linux namespaces, joined by virtual Ethernet links to a switch.

    with Hosts(3, rate='1gbit', loss=0.01) as hosts:
        hosts[0].run(['ping', '-c', '1', hosts[1].address])
        hosts[1].link(up=False)

- A host has its own network, process numbers, name, /run and /dev/shm.  Other files are those of the machine.  Neither
  the hosts nor the switch has a way out, and the machine's own network is not changed.
- The first process of a host reads a pipe from the process that made it, and the kernel kills all processes of a host
  with its first one.  So nothing is left, in whatever way the owner ends.
- Needs root, `ip`, `unshare` and `nsenter`.  `why_not()` says what is missing.  Rates are those of `tc tbf`.  Delays
  need `netem`, which not every kernel has: `why_no_delay()`.  Lost packets are dropped by a filter on arrival.
"""
import functools
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

__all__ = ['Host', 'Hosts', 'why_no_delay', 'why_not']

PREPARE = '''mount -t tmpfs none /dev/shm && mount -t tmpfs none /run && hostname "$0" || exit
ip link set lo up && echo ready
exec cat >/dev/null'''
UNSHARE = ['unshare', '--net', '--mount', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc']


def _call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f'{" ".join(command)}: {done.stderr.strip() or done.stdout.strip()}')
    return done.stdout


@functools.cache
def why_not():
    """Why hosts cannot be made here; '' if they can."""
    missing = [name for name in ('ip', 'tc', 'unshare', 'nsenter') if shutil.which(name) is None]
    if missing:
        return f'network namespaces need {", ".join(missing)}'
    if os.geteuid():
        return 'network namespaces need root'
    try:
        with Hosts(2, rate='1gbit'):
            return ''
    except OSError as error:
        return f'network namespaces cannot be made: {error}'


@functools.cache
def why_no_delay():
    """Why links cannot have a delay here; '' if they can."""
    found = why_not()
    if found:
        return found
    try:
        with Hosts(1, delay=1e-3):
            return ''
    except OSError as error:
        return f'links have no delay: {error}'


class _Space:
    """Namespaces that live as long as this object."""

    def __init__(self, name):
        self.name = name
        self._holder = subprocess.Popen([*UNSHARE, 'sh', '-c', PREPARE, name], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = self._holder.stdout.readline().strip()
        if said != 'ready':
            self._holder.kill()
            said += self._holder.communicate()[0]
            raise OSError(said.strip() or 'unshare failed')
        children = Path(f'/proc/{self._holder.pid}/task/{self._holder.pid}/children').read_text().split()
        self.pid = int(children[0])

    @property
    def enter(self):
        """The words before a command that runs it inside."""
        return ['nsenter', '--all', '--target', str(self.pid)]

    def call(self, *command):
        """Runs a short command inside; returns its output."""
        return _call(*self.enter, *command)

    def close(self):
        """Kills what runs inside."""
        if self._holder.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self._holder.wait(30)
        self._holder.stdin.close()
        self._holder.stdout.close()


class Host(_Space):
    """One host; `address` is that of its interface `eth0`."""

    def __init__(self, number, address, switch):
        super().__init__(f'host{number}')
        self.address, self._switch, self._port = address, switch, f'port{number}'
        try:
            # process numbers are those outside
            _call('nsenter', '--net', '--target', str(switch.pid), 'ip', 'link', 'add', self._port, 'type', 'veth',
                  'peer', 'name', 'eth0', 'netns', str(self.pid))
            self.call('ip', 'address', 'add', f'{address}/24', 'dev', 'eth0')
            self.call('ip', 'link', 'set', 'eth0', 'up')
            # hosts know their names and each other's; nobody else is known
            self.call('sh', '-c', 'printf "$0" >/run/hosts && mount --bind /run/hosts /etc/hosts',
                      '127.0.0.1 localhost\\n' + ''.join(f'10.77.0.{i + 1} host{i}\\n' for i in range(32)))
            switch.call('ip', 'link', 'set', self._port, 'master', 'switch', 'up')
        except BaseException:
            self.close()
            raise

    def popen(self, command, cwd=None, **options):
        """Starts a command on the host; killing the process that this returns does not kill the command."""
        return subprocess.Popen([*self.enter, 'env', '-C', str(cwd or os.getcwd()), *map(str, command)], **options)

    def run(self, command, timeout=60, check=False, cwd=None, **options):
        """Runs a command on the host; its output is captured as text."""
        return subprocess.run([*self.enter, 'env', '-C', str(cwd or os.getcwd()), *map(str, command)], timeout=timeout,
                              check=check, capture_output=True, text=True, **options)

    def link(self, up):
        """Plugs the cable in, or pulls it out."""
        self._switch.call('ip', 'link', 'set', self._port, 'up' if up else 'down')

    def shape(self, rate=None, delay=0.0, loss=0.0):
        """Sets the link: a rate as `tc` writes it, seconds of delay each way, the share of arriving packets lost."""
        for space, device in ((self, 'eth0'), (self._switch, self._port)):
            self._quietly(space, 'tc', 'qdisc', 'del', 'dev', device, 'root')
            if delay:
                words = ['netem', 'delay', f'{delay * 1e6:.0f}us', 'limit', '100000', *(['rate', rate] if rate else [])]
                space.call('tc', 'qdisc', 'add', 'dev', device, 'root', *words)
            elif rate:
                # a burst holds what comes in one tick of the clock, and several packets before segmentation
                space.call('tc', 'qdisc', 'add', 'dev', device, 'root', 'tbf', 'rate', rate, 'burst', '256kb',
                           'latency', '20ms')
        self._quietly(self, 'tc', 'qdisc', 'del', 'dev', 'eth0', 'ingress')
        if loss:
            self.call('tc', 'qdisc', 'add', 'dev', 'eth0', 'ingress')
            # load a random number; if it is below the limit return 2 (drop), else 0 (go on)
            limit = min(int(loss * 2**32), 2**32 - 1)
            program = f'4,32 0 0 4294963256,53 0 1 {limit},6 0 0 0,6 0 0 2'
            self.call('tc', 'filter', 'add', 'dev', 'eth0', 'ingress', 'bpf', 'da', 'bytecode', program)

    @staticmethod
    def _quietly(space, *command):
        subprocess.run([*space.enter, *command], capture_output=True)

    def counters(self):
        """(bytes sent, bytes received) by the host's interface."""
        found = [line.split() for line in self.call('cat', '/proc/net/dev').splitlines()]
        numbers = next(words for words in found if words and words[0] == 'eth0:')
        return int(numbers[9]), int(numbers[1])

    def processes(self):
        """{number inside: command line} of what runs on the host, but for its first process."""
        listed = self.call('sh', '-c', 'for p in /proc/[0-9]*; do printf "%s " ${p#/proc/}; '
                                       'tr "\\0\\n" "  " <$p/cmdline; echo; done 2>/dev/null')
        found = dict(line.partition(' ')[::2] for line in listed.splitlines())
        return {int(number): command for number, command in found.items()
                if number != '1' and command.strip() and '/proc/[0-9]' not in command}


class Hosts(list):
    """Some hosts, at 10.77.0.1 and so on; see the module.  `OSError` if they cannot be made."""

    def __init__(self, count, rate=None, delay=0.0, loss=0.0):
        super().__init__()
        self._switch = _Space('switch')
        try:
            self._switch.call('ip', 'link', 'add', 'switch', 'type', 'bridge')
            self._switch.call('ip', 'link', 'set', 'switch', 'up')
            for _ in range(count):
                self.add(rate, delay, loss)
        except BaseException:
            self.close()
            raise

    def add(self, rate=None, delay=0.0, loss=0.0):
        """One more host."""
        number = len(self)
        self.append(Host(number, f'10.77.0.{number + 1}', self._switch))
        self[-1].shape(rate, delay, loss)
        return self[-1]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Kills what runs on the hosts, and removes them."""
        for space in [*self, self._switch]:
            space.close()

    def settled(self, seconds=10.0):
        """What still runs on the hosts after some seconds; [] as soon as nothing does."""
        end = time.monotonic() + seconds
        while True:
            left = [(host.name, command) for host in self for command in host.processes().values()]
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)
