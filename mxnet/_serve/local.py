"""Light networks in the front's own process: for them, the way to a worker and back takes longer than computing."""
import math

MOST_HERE = 32          # when more requests wait together, a worker computes some of them meanwhile
LARGEST = 1 << 16       # bytes of a request that is read here


class Local:
    """A network that answers small requests at once, while not too many wait.

    The front does nothing else meanwhile.  So it takes only what is sure to be done soon: few rows, and no pictures,
    which take long to decode.
    """

    def __init__(self, config):
        import torch

        from .runner import PICTURE_MAGIC, Runner
        torch.set_num_threads(1)
        self._runner = Runner({**config, 'threads': 1})
        self._runner.is_light()             # makes the plans
        self.digest = self._runner.digest()
        self._magic = PICTURE_MAGIC
        numbers = sum(max(1, math.prod(s[1:])) for s in self._runner.shapes.values())
        self._most = min(LARGEST, 1024 + 100 * numbers)         # four rows of numbers in decimals

    def takes(self, item):
        """Whether a request is small."""
        _, headers, body = item
        if len(body) > self._most:
            return False
        kind = headers.get('content-type', '')
        return not kind.startswith(('image/', 'multipart/')) and not body.startswith(self._magic)

    def answer(self, items):
        """As that of a runner."""
        return self._runner.answer(items)
