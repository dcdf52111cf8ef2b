"""`remx check`: what has gone since a program was written, by file and line, without running it."""

import difflib
import json
import os
import sys

from ..base import MXNetError
from ..libinfo import __version__

EXPLAIN = '''\
Analyses programs (files, notebooks, folders of them) without running them, and lists what no longer works:
removed names of Python, NumPy and other packages with their replacements, Python 2 syntax, names of MXNet that are
missing or behave differently, downloads, GPU contexts.

--fix shows the changes that can be made automatically as a diff; with --write they are made, and each original is kept
as FILE.orig. The exit status is 1 when there are errors.'''

# the fixers of fissix that make Python 3 of Python 2, in files that --fix writes
FIXERS = (
    'apply',
    'basestring',
    'buffer',
    'dict',
    'except',
    'exec',
    'execfile',
    'filter',
    'funcattrs',
    'getcwdu',
    'has_key',
    'import',
    'imports',
    'imports2',
    'input',
    'intern',
    'itertools',
    'itertools_imports',
    'long',
    'map',
    'metaclass',
    'methodattrs',
    'ne',
    'next',
    'nonzero',
    'numliterals',
    'paren',
    'print',
    'raise',
    'raw_input',
    'reduce',
    'repr',
    'throw',
    'tuple_params',
    'types',
    'unicode',
    'urllib',
    'xrange',
    'zip',
    'ws_comma',
)


def add_arguments(parser):
    """Adds the arguments of the command."""
    parser.add_argument('paths', nargs='+', metavar='PATH', help='a program, a notebook, or a folder of them')
    parser.add_argument('--format', choices=('text', 'json', 'sarif'), default='text', help='output format')
    parser.add_argument('--fix', action='store_true', help='show changes as a diff')
    parser.add_argument('--write', action='store_true', help='with --fix: write the changes; originals are kept')
    parser.add_argument('--errors-only', action='store_true', help='omit notes about code that runs but behaves '
                                                                   'differently')
    parser.add_argument('--python2', action='store_true', default=None, help='all files are Python 2')


def check(options):
    """Runs the command; returns the exit status."""
    from ._findings import check_file, files_of

    if options.write and not options.fix:
        print('remx check: --write requires --fix', file=sys.stderr)
        return 2
    found = []
    try:
        for path in files_of(options.paths):
            if options.fix:
                _fix(path, options)
            found += check_file(path, options.python2)
    except OSError as error:
        print(f'remx check: {error}', file=sys.stderr)
        return 2
    if options.errors_only:
        found = [f for f in found if f.level == 'error']
    if options.format == 'json':
        print(json.dumps([_plain(f) for f in found], indent=2))
    elif options.format == 'sarif':
        print(json.dumps(sarif(found), indent=2))
    elif not options.fix or options.write:
        _print(found)
    return int(any(f.level == 'error' for f in found))


def _print(found):
    for f in found:
        print(f'{f.path}:{f.line}:{f.column}: {"note: " if f.level == "note" else ""}{f.message} [{f.rule}]')
    errors = sum(f.level == 'error' for f in found)
    print(f'{errors} errors, {len(found) - errors} notes in {len({f.path for f in found})} files')


def _plain(finding):
    return {
        'path': finding.path,
        'line': finding.line,
        'column': finding.column,
        'rule': finding.rule,
        'level': finding.level,
        'message': finding.message,
        'fixable': finding.fix is not None,
    }


def sarif(found):
    """Findings in the form of SARIF 2.1.0, which code hosts and editors show."""
    rules = sorted({f.rule for f in found})
    return {
        '$schema': 'https://json.schemastore.org/sarif-2.1.0.json',
        'version': '2.1.0',
        'runs': [
            {
                'tool': {'driver': {'name': 'remx check', 'version': __version__, 'rules': [{'id': r} for r in rules]}},
                'results': [
                    {
                        'ruleId': f.rule,
                        'ruleIndex': rules.index(f.rule),
                        'level': f.level,
                        'message': {'text': f.message},
                        'locations': [
                            {
                                'physicalLocation': {
                                    'artifactLocation': {'uri': f.path.partition('[cell ')[0].replace(os.sep, '/')},
                                    'region': {'startLine': f.line, 'startColumn': f.column},
                                }
                            }
                        ],
                    }
                    for f in found
                ],
            }
        ],
    }


def _fix(path, options):
    if path.endswith('.ipynb'):
        print(f'remx check: notebooks are not rewritten: {path}', file=sys.stderr)
        return
    from .._compat import _python2

    with open(path, 'rb') as file:
        before = _python2.read(file.read())
    try:
        after = fixed(before, path, options.python2)
    except MXNetError as error:
        print(f'remx check: {error}', file=sys.stderr)
        return
    if after == before:
        return
    if options.format == 'text':
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), path, path))
    if options.write:
        kept = path + '.orig'
        if os.path.exists(kept):
            raise FileExistsError(f'{kept} already exists; remove it first')
        os.rename(path, kept)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(after)


def fixed(text, path, python2=None):
    """A program's text with all changes that can be written."""
    from .._compat import _python2
    from ._findings import check_text

    try:
        _, is_two, error = _python2.parse(text, path, python2)
    except SyntaxError as wrong:
        raise MXNetError(f'{path} cannot be parsed: {wrong.msg} (line {wrong.lineno})') from None
    if is_two:
        text = _python2.converted_text(text, path, error, FIXERS)
    elif error is not None:
        text = _python2.renamed_async(_python2.untabbed(text))
    for _ in range(4):
        edits = [f for f in check_text(text, path, False) if f.fix is not None]
        if not edits:
            break
        text = _edited(text, edits)
    return text


def _edited(text, findings):
    """The text with the findings' replacements; of two that overlap the first is made."""
    lines = [line.encode() for line in text.split('\n')]
    made: list[tuple] = []
    for finding in sorted(findings, key=lambda f: (f.line, f.column), reverse=True):
        end_line, end_column, new = finding.fix
        begin, end = (finding.line - 1, finding.column - 1), (end_line - 1, end_column)
        if any(begin < other_end and other < end for other, other_end in made):
            continue
        made.append((begin, end))
        head, tail = lines[begin[0]][: begin[1]], lines[end[0]][end[1] :]
        lines[begin[0] : end[0] + 1] = [head + new.encode() + tail]
    return b'\n'.join(lines).decode()
