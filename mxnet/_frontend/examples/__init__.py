"""A runnable example for every public operator and function, in the text files of this folder.

A file has sections: `=== ` and the name of an operator of the table, or the full name of a function (`np.add`,
`nd.sparse.dot`), then lines as in an interactive session.  They may use `mx`, `nd`, `np`, `npx` and `autograd`; those
whose name begins with `np` run in np mode.  `attach` puts them into docstrings;
`tests/repo/test_reference.py` runs them.
"""
import functools
import pathlib
import types
from collections.abc import Mapping

FOLDER = pathlib.Path(__file__).parent


@functools.cache
def examples() -> dict[str, str]:
    """name -> session."""
    found: dict[str, str] = {}
    for path in sorted(FOLDER.glob('*.txt')):
        for section in ('\n' + path.read_text(encoding='utf-8')).split('\n=== ')[1:]:
            name, _, session = section.partition('\n')
            if name in found:
                raise ValueError(f'{path.name}: a second example for {name}')
            found[name] = session.strip('\n')
    return found


def example_of(function, name: str, place: str) -> str | None:
    """The example of a function that programs call `place.name`: its own, else that of its operator."""
    known = examples()
    own = known.get(f'{place}.{name}')
    operator = getattr(function, 'derived_from', None)
    return own if own is not None or operator is None else known.get(operator[0].name)


def attach(names: Mapping, place: str) -> None:
    """Adds examples to the docstrings of the functions of a module or class: `names`, `place` is what programs call it.

    Functions whose docstring has one already are left alone, and so are those of other packages.
    """
    for name, function in list(names.items()):
        if type(function) is not types.FunctionType or name.startswith('_') \
                or not (function.__module__ or '').startswith('mxnet'):
            continue
        if '>>> ' in (function.__doc__ or ''):
            continue
        session = example_of(function, name, place)
        if session is not None:
            function.__doc__ = f'{function.__doc__ or ""}\n\nExamples\n--------\n{session}'.lstrip('\n')
