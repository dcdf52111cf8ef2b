"""What everything else stands on: the error type and a few small helpers.  Imports neither torch nor NumPy."""

__all__ = ['MXNetError']


class MXNetError(RuntimeError):
    """Raised for every mistake that MXNet itself reports."""


error_types: dict[str, type] = {}


def register_error(func_name=None, cls=None):
    """Enters an error class into `error_types`: as a decorator, with or without a name, or as a call with both."""
    if isinstance(func_name, type):
        func_name, cls = func_name.__name__, func_name

    def register(error):
        error_types[func_name or error.__name__] = error
        return error
    return register if cls is None else register(cls)
