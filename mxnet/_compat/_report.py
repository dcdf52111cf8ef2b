"""What was put back for a program, and where: collected while it runs, told at its end."""
import json
import os
import sys
from types import FrameType

_MOST = 20  # places that are kept for one entry


class Report:
    """Notes about a run: `texts` has {code: text}, `places` {code: {(file, line): None}}, in their order."""

    def __init__(self):
        self.texts: dict[str, str] = {}
        self.places: dict[str, dict] = {}
        self.counts: dict[str, int] = {}
        self.quiet = False
        self.program = ''

    def note(self, code, text, place=None):
        """Notes that something was put back; the place is that of the program's innermost frame, unless given."""
        known = self.places.setdefault(code, {})
        self.texts.setdefault(code, text)
        self.counts[code] = self.counts.get(code, 0) + 1
        if len(known) < _MOST:
            known[place or _place()] = None

    def say(self, text):
        """Tells something at once, on stderr."""
        if not self.quiet:
            print(f'remx run: {text}', file=sys.stderr, flush=True)

    def entries(self):
        """[{'code', 'text', 'places': ['file:line', ...]}, ...]."""
        return [
            {'code': code, 'text': text, 'places': [_shown(p) for p in self.places[code] if p]}
            for code, text in self.texts.items()
        ]

    def lines(self):
        """The report as lines of text."""
        found = []
        for entry in self.entries():
            places = entry['places']
            more = f' and {len(places) - 3} more places' if len(places) > 3 else ''
            found.append(entry['text'] + (f' ({", ".join(places[:3])}{more})' if places else ''))
        return found

    def tell(self):
        """Prints the report on stderr."""
        lines = self.lines()
        if lines and not self.quiet:
            print('remx run: restored for this program:', file=sys.stderr)
            for line in lines:
                print(f'  - {line}', file=sys.stderr)
            sys.stderr.flush()

    def write(self, path, status):
        """Writes the report as JSON."""
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'program': self.program, 'status': status, 'put_back': self.entries()}, file, indent=2)
            file.write('\n')


report = Report()


def _place():
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if '__remx_attr__' in frame.f_builtins:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def _shown(place):
    path, line = place
    short = os.path.relpath(path) if os.path.isabs(path) else path
    return f'{path if short.startswith("..") else short}:{line}'
