"""Why a request has no answer of a worker."""


class Full(Exception):
    """Too many requests wait."""


class Late(Exception):
    """There was no answer in time."""


class Slow(Exception):
    """A request did not arrive in time."""


class Failed(Exception):
    """A worker could not be started, or ended."""


class Stopped(Exception):
    """The model is being unloaded."""
