"""Programs as data: trees of statements that can be left out or simplified one by one, and written as a script."""
import dataclasses
import re
from pathlib import Path

PRELUDE = Path(__file__).with_name('prelude.py')


@dataclasses.dataclass(frozen=True)
class Statement:
    """A line of Python, with a body where it opens one; `simpler` are texts that may take its place."""

    text: str
    body: tuple | None = None
    simpler: tuple = ()
    needed: bool = False            # not to be left out: what follows is undefined without it

    def lines(self, indent=0):
        parts = [' ' * indent + line for line in self.text.split('\n')]
        for part in self.body or ():
            parts += part.lines(indent + 4)
        if self.body == ():
            parts.append(' ' * (indent + 4) + 'pass')
        return parts

    def source(self):
        return '\n'.join(self.lines())

    def smaller(self):
        """Statements that are simpler than this one, the simplest first."""
        if self.body:
            for size in _sizes(len(self.body)):
                for at in range(0, len(self.body), size):
                    rest = self.body[:at] + self.body[at + size:]
                    if rest:
                        yield dataclasses.replace(self, body=rest)
            for at, part in enumerate(self.body):
                for less in part.smaller():
                    yield dataclasses.replace(self, body=(*self.body[:at], less, *self.body[at + 1:]))
        for text in self.simpler:
            yield Statement(text, self.body)


@dataclasses.dataclass(frozen=True)
class Program:
    """Statements before the iterations, iterations, and statements after them."""

    setup: tuple
    iterations: tuple
    final: tuple
    family: str = ''
    random: bool = False            # draws numbers: arrays of another library cannot be compared
    modes: tuple = ('plain', 'hybrid', 'static')
    seed: int = 0

    def statements(self):
        return [*self.setup, *(s for part in self.iterations for s in part), *self.final]

    def sources(self):
        return [s.source() for s in self.statements()]

    def smaller(self):
        """Shorter and simpler programs, those that lack most first."""
        replace = dataclasses.replace
        for size in _sizes(len(self.iterations)):
            for at in range(0, len(self.iterations), size):
                yield replace(self, iterations=self.iterations[:at] + self.iterations[at + size:])
        for name in ('final', 'setup'):
            part = getattr(self, name)
            for size in _sizes(len(part)):
                for at in range(0, len(part), size):
                    rest = tuple(s for s in part[at:at + size] if s.needed)
                    if len(rest) < size:
                        yield replace(self, **{name: part[:at] + rest + part[at + size:]})
        yield from self._alike()
        for number, part in enumerate(self.iterations):
            for size in _sizes(len(part)):
                for at in range(0, len(part), size):
                    yield self._with(number, part[:at] + part[at + size:])
        for number, part in enumerate(self.iterations):
            for at, statement in enumerate(part):
                for less in statement.smaller():
                    yield self._with(number, (*part[:at], less, *part[at + 1:]))
        for name in ('setup', 'final'):
            part = getattr(self, name)
            for at, statement in enumerate(part):
                for less in statement.smaller():
                    yield replace(self, **{name: (*part[:at], less, *part[at + 1:])})

    def _alike(self):
        """The same statement left out of all iterations."""
        seen = dict.fromkeys(s for part in self.iterations for s in part)
        for statement in seen:
            if sum(statement in part for part in self.iterations) > 1:
                yield dataclasses.replace(self, iterations=tuple(
                    tuple(s for s in part if s != statement) for part in self.iterations))

    def _with(self, number, part):
        return dataclasses.replace(self, iterations=(*self.iterations[:number], part, *self.iterations[number + 1:]))

    def script(self, failing=()):
        """The program as a script that either library runs; statements whose numbers are in `failing` are tried."""
        lines, statements = [], self.statements()
        at = 0
        while at < len(statements):
            again = self._repeats(statements, at, failing)
            if again:
                length, times = again
                lines.append(f'for i in range({times}):')
                for statement in statements[at:at + length]:
                    lines += statement.lines(4)
                at += length * times
                continue
            if at in failing:
                lines += ['try:', *statements[at].lines(4), 'except Exception as error:',
                          "    print(type(error).__name__, str(error).split('\\n')[0])"]
            else:
                lines += statements[at].lines()
            at += 1
        text = '\n'.join(lines)
        return prelude_for(text) + '\nCTX.__enter__()\n' + text + '\n'

    @staticmethod
    def _repeats(statements, at, failing):
        for length in range(12, 0, -1):
            part, times = statements[at:at + length], 1
            while len(part) == length and statements[at + length * times:at + length * (times + 1)] == part:
                times += 1
            if times > 1 and not set(range(at, at + length * times)) & set(failing):
                return length, times
        return None


def lines(text):
    """Statements, one a line; a line that begins with | goes on with the one above it."""
    found = []
    for line in filter(None, map(str.strip, text.split('\n'))):
        if line.startswith('|'):
            found[-1] += '\n' + line[2:]
        else:
            found.append(line)
    return found


def table(text):
    """Rows of places, a weight and a statement."""
    rows = []
    for line in lines(text):
        places, weight, statement = line.split(None, 2)
        rows.append((places, int(weight), statement))
    return tuple(rows)


def statements(text):
    """The statements of a text, each with the body that it opens."""
    found, rows, at = [], text.split('\n'), 0
    while at < len(rows):
        end = at + 1
        while end < len(rows) and rows[end].startswith('    '):
            end += 1
        body = '\n'.join(row[4:] for row in rows[at + 1:end])
        found.append(Statement(rows[at], tuple(statements(body)) if body else None))
        at = end
    return found


def _sizes(length):
    """Half, a quarter, ..., 1: how many neighbours are left out together."""
    size = length
    while size > 1:
        size = (size + 1) // 2
        yield size
    if length == 1:
        yield 1


def prelude_for(text):
    """The parts of the prelude that a program uses."""
    head, *parts = re.split(r'\n\n\n', PRELUDE.read_text(encoding='utf-8').split('"""\n', 1)[1].rstrip())
    names = {re.match(r'(?:def|class) (\w+)', part)[1]: part for part in parts}
    used, waiting = set(), [text]
    while waiting:
        words = set(re.findall(r'\w+', waiting.pop()))
        for name, part in names.items():
            if name in words and name not in used:
                used.add(name)
                waiting.append(part)
    kept = [part for name, part in names.items() if name in used]
    whole = '\n'.join([text, *kept, head.split('\n\n', 2)[-1] if head.count('\n\n') > 1 else head])
    lines = []
    for line in head.split('\n'):
        name = re.match(r'import (\w+)$', line)
        constant = re.match(r'([A-Z]+) = ', line)
        if name and name[1] not in ('os', 'sys') and not re.search(rf'\b{name[1]}\.', whole):
            continue
        if constant and constant[1] in ('FOLDER', 'MODE', 'MODES') and not re.search(
                rf'\b{constant[1]}\b', '\n'.join([text, *kept])) and not (constant[1] == 'MODES' and 'H' in used):
            continue
        lines.append(line)
    return '\n\n\n'.join(['\n'.join(lines), *kept]) + '\n\n'
