"""Where translations of ONNX operators are found."""
from collections.abc import Callable

TRANSLATIONS: dict[str, Callable] = {}


def translates(*kinds):
    """Registers a function of a `Node` that returns its symbol, or a list of them."""
    def register(function):
        for kind in kinds:
            TRANSLATIONS[kind] = function
        return function
    return register
