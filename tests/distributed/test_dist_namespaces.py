"""tests/helpers/hosts.py: hosts reach each other and nobody else, links have rate and loss, and nothing is left."""
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / 'tests' / 'helpers'))
import hosts as namespaces

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or '-')]

SERVE = '''import socket, sys
with socket.create_server((sys.argv[1], 7000)) as server:
    print('ready', flush=True)
    other, _ = server.accept()
    while other.recv(2**20):
        pass
    other.sendall(b'.')
'''
SEND = '''import socket, sys, time
other = socket.create_connection((sys.argv[1], 7000))
start = time.monotonic()
for _ in range(40):
    other.sendall(bytes(2**20))
other.shutdown(socket.SHUT_WR)
other.recv(1)
print(40 * 2**23 / (time.monotonic() - start) / 1e9)
'''


def gigabits(a, b):
    """The rate at which 40 MB travel."""
    with b.popen([sys.executable, '-c', SERVE, b.address], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == 'ready\n'
        return float(a.run([sys.executable, '-c', SEND, b.address]).stdout)


def reaches(a, b):
    return 'bytes from' in a.run(['python3', '-c', PING, b.address]).stdout


PING = '''import socket, sys
trial = socket.socket()
trial.settimeout(1)
try:
    trial.connect((sys.argv[1], 9))
except ConnectionRefusedError:          # an answer of that host
    print('bytes from')
except OSError:
    pass
'''


def test_hosts_have_addresses_names_and_links():
    with namespaces.Hosts(3) as hosts:
        assert [host.run(['hostname']).stdout for host in hosts] == ['host0\n', 'host1\n', 'host2\n']
        assert reaches(hosts[0], hosts[1]) and reaches(hosts[2], hosts[0])
        routes = hosts[0].run(['ip', 'route']).stdout.splitlines()
        assert len(routes) == 1 and routes[0].startswith('10.77.0.0/24 dev eth0')      # no way out
        hosts[1].link(up=False)
        assert not reaches(hosts[0], hosts[1]) and reaches(hosts[2], hosts[0])
        hosts[1].link(up=True)
        assert reaches(hosts[0], hosts[1])
        hosts[0].run(['touch', '/dev/shm/own'])
        assert hosts[1].run(['ls', '/dev/shm']).stdout == '' and not os.path.exists('/dev/shm/own')


def test_rate_loss_and_counters():
    with namespaces.Hosts(2, rate='200mbit') as hosts:
        before = hosts[0].counters()[0]
        assert 0.1 < gigabits(*hosts) < 0.25
        assert 40 * 2**20 < hosts[0].counters()[0] - before < 44 * 2**20
        hosts[1].shape(loss=1)
        assert not reaches(*hosts)
        hosts[1].shape(loss=0.3)
        said = hosts[1].call('tc', 'filter', 'show', 'dev', 'eth0', 'ingress')
        assert 'direct-action' in said
        heard = [reaches(*hosts) for _ in range(6)]         # TCP tries again after a second
        assert any(heard)


@pytest.mark.skipif(bool(namespaces.why_no_delay()), reason=namespaces.why_no_delay() or '-')
def test_delay():
    with namespaces.Hosts(2, delay=0.02) as hosts:
        timed = PING.replace('trial.connect', 'import time; start = time.time(); trial.connect').replace(
            "print('bytes from')", 'print(time.time() - start)')
        seconds = float(hosts[0].run([sys.executable, '-c', timed, hosts[1].address]).stdout)
        assert 0.035 < seconds < 0.2


def test_nothing_is_left_after_a_kill():
    program = f'''import sys, time
sys.path.insert(0, {str(ROOT / 'tests' / 'helpers')!r})
from hosts import Hosts
hosts = Hosts(2)
process = hosts[1].popen(['sleep', '4321.5'])
print(*(host.pid for host in hosts), flush=True)
time.sleep(100)
'''
    with subprocess.Popen([sys.executable, '-c', program], stdout=subprocess.PIPE, text=True) as owner:
        pids = [int(word) for word in owner.stdout.readline().split()]
        time.sleep(0.3)
        assert len(sleeping()) == 1
        owner.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while time.monotonic() < end and (sleeping() or any(os.path.exists(f'/proc/{pid}') for pid in pids)):
        time.sleep(0.1)
    assert not sleeping() and not any(os.path.exists(f'/proc/{pid}') for pid in pids)


def sleeping():
    """The processes on hosts that the test has started; nsenter waits for its own outside."""
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/cmdline', 'rb') as file:
                if re.fullmatch(rb'sleep\x004321\.5\x00', file.read()):
                    found.append(int(name))
        except OSError:
            pass
    return found
