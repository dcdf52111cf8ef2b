"""What programs do between forward, backward and the update: functions of a `World` (plan_worlds.py), by name.

Looks are in plan_looks.py, changes in plan_changes.py, other computations in plan_calls.py.
"""
import threading


class Actions(dict):
    """{name: action}; decorates actions."""

    def __call__(self, function):
        self[function.__name__] = function
        return function


def in_thread(function):
    """Runs something in a thread, to its end."""
    found = []

    def run():
        try:
            found.append((function(), None))
        except BaseException as error:
            found.append((None, error))
    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    value, error = found[0]
    if error is not None:
        raise error
    return value
