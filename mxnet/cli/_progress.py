"""The progress bar of commands."""
from __future__ import annotations

import sys
import time
from typing import Any


class Bar:
    """tqdm's bar where it is installed, else a line of text; on a terminal only, and on stderr."""

    def __init__(self, total: Any, text: str, quiet: bool = False) -> None:
        self._bar = None
        self._total, self._text, self._done, self._shown = total, text, 0, 0.0
        self._plain = not quiet and bool(total) and sys.stderr.isatty()
        if not self._plain:
            return
        try:
            from tqdm import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=total, desc=text, leave=False)
        self._plain = False

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self._plain and time.monotonic() - self._shown > 0.1:
            self._shown = time.monotonic()
            filled = 30 * min(self._done, self._total) // self._total
            print(f'\r{self._text} [{"#" * filled}{"." * (30 - filled)}] {self._done}/{self._total}', end='',
                  file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Makes room for a line of text."""
        if self._bar is not None:
            self._bar.clear()
        elif self._plain:
            print('\r\033[K', end='', file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self.clear()
