"""Runs many old programs by `remx run`, one after the other, and says what happens to each.

    python tests/scripts/old_programs.py TABLE.json --results RESULTS.jsonl [--data DIR] [--made-up-data]
                                         [--limit 60] [--only REGEX]

TABLE.json is a list of {"name": ..., "path": ...} with, where wanted, "arguments" (a list), "folder" (where it
runs; that of its file else), "module" (it is run by `-m`), "before" (a shell command), "environment", "input"
(that of the program), "limit" and "whole" (it is not stopped before the limit).  An argument of the form
["--option", "value"] is given only if a file beside the program mentions the option: one entry serves several
versions of a program.  A program whose name is in RESULTS.jsonl is not run again, so an interrupted run goes on
where it was.

Classes: `finishes` (status 0), `works` (stopped at the limit, and it reports steps of its work by then), `silent`
(stopped at the limit, without such a report), `fails` (the last line of the error is kept; also a program that has
printed a traceback by the limit).
"""

import argparse
import collections
import json
import os
import re
import signal
import subprocess
import sys
import time

_WORK = re.compile(
    r'(epoch|batch|iter|loss|acc|speed|samples/s|perplexity|episode|step|reward|round|mse|nll|img/s|images/s)\D{0,24}\d',
    re.IGNORECASE,
)
_TRACEBACK = b'Traceback (most recent call last)'
_ENOUGH = 3         # lines that report work
_FIRST = 0.25       # the part of the limit after which a program that reports work is stopped


def arguments_of(entry):
    """The arguments of an entry, without the options that the program does not have."""
    folder = os.path.dirname(entry['path'])
    text = None
    found = []
    for argument in entry.get('arguments', ()):
        if isinstance(argument, str):
            found.append(argument)
            continue
        if text is None:
            text = ''
            for where, folders, names in os.walk(folder):
                folders[:] = folders[:20]
                for name in names:
                    if name.endswith('.py'):
                        with open(os.path.join(where, name), encoding='utf-8', errors='replace') as file:
                            text += file.read()
        if re.search(re.escape(argument[0]) + r"['\"]", text):
            found += argument
    return found


def run(entry, command, limit):
    """-> a record of what happens; options that the program's parser does not know are left out."""
    given = arguments_of(entry)
    while True:
        found = _run_once(entry, command, limit, given)
        unknown = re.search(r'(?:unrecognized arguments|no such option): (.*)', found['output'])
        words = unknown.group(1).split() if unknown else []
        first = words[0] if words else None
        if first not in given:
            return found
        at = given.index(first)
        given = given[:at] + given[at + (2 if given[at + 1 : at + 2] and not given[at + 1].startswith('-') else 1) :]


def _run_once(entry, command, limit, given):
    folder = entry.get('folder') or os.path.dirname(entry['path'])
    if entry.get('before'):
        subprocess.run(entry['before'], shell=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = time.monotonic()
    program = ['-m', entry['module']] if 'module' in entry else [os.path.relpath(entry['path'], folder)]
    process = subprocess.Popen(
        [*command, *program, *given],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, **entry.get('environment', {})},
    )
    assert process.stdin is not None and process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    os.set_blocking(process.stdin.fileno(), False)
    try:
        process.stdin.write(entry.get('input', '').encode())
        process.stdin.close()
    except OSError:
        pass
    output = b''
    stopped = False
    while True:
        time.sleep(0.2)
        output += process.stdout.read() or b''
        passed = time.monotonic() - started
        if process.poll() is not None:
            output += process.stdout.read() or b''
            break
        failing = _TRACEBACK in output[-20000:]
        busy = not entry.get('whole') and passed > _FIRST * limit and work(output) >= _ENOUGH and not failing
        if passed > limit or busy:
            stopped = True
            break
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    status = process.wait()
    lines = [line for line in re.split(r'[\r\n]+', output.decode('utf-8', 'replace')) if line.strip()]
    if stopped:
        kind = 'fails' if _TRACEBACK in output[-20000:] else 'works' if work(output) else 'silent'
    else:
        kind = 'finishes' if status == 0 else 'fails'
    return {
        'name': entry['name'],
        'class': kind,
        'status': None if stopped else status,
        'seconds': round(time.monotonic() - started, 1),
        'arguments': given,
        'error': error_of(lines) if kind == 'fails' else '',
        'output': '\n'.join(lines[-25:]),
    }


def work(output):
    """The number of lines that report a step."""
    return sum(bool(_WORK.search(line)) for line in re.split(r'[\r\n]+', output[-20000:].decode('utf-8', 'replace')))


def error_of(lines):
    """The line that names the error."""
    for line in reversed(lines):
        if re.match(r'[\w.]*(Error|Exception|Exit|Interrupt|Warning)\b', line) or 'error:' in line:
            return line[:300]
    return lines[-1][:300] if lines else ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('table')
    parser.add_argument('--results', required=True)
    parser.add_argument('--data', action='append', default=[])
    parser.add_argument('--limit', type=float, default=60)
    parser.add_argument('--only', default='', help='programs whose names match; they are run even if there is a result')
    parser.add_argument('--made-up-data', action='store_true', help='with random data where published data is missing')
    parser.add_argument('--plain', action='store_true', help='with plain python')
    options = parser.parse_args()
    with open(options.table) as file:
        table = json.load(file)
    done = {}
    if os.path.exists(options.results):
        with open(options.results) as file:
            done = {(found := json.loads(line))['name']: found for line in file}
    command = [sys.executable] if options.plain else [sys.executable, '-m', 'mxnet.cli', 'run']
    if not options.plain:
        for folder in options.data:
            command += ['--data', os.path.abspath(folder)]
        if options.made_up_data:
            command.append('--made-up-data')
    for entry in table:
        name = entry['name']
        if not re.search(options.only, name) if options.only else name in done:
            continue
        done[name] = found = run(entry, command, entry.get('limit', options.limit))
        print(f'{found["class"]:9} {found["seconds"]:6} {name}  {found["error"][:150]}', flush=True)
        with open(options.results, 'a') as file:
            file.write(json.dumps(found) + '\n')
    print(dict(collections.Counter(found['class'] for found in done.values())))


if __name__ == '__main__':
    main()
