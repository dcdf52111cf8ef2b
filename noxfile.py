"""The matrix of the public CI and the pinned PyTorch, locally.

`nox` runs all cells whose interpreter is installed, `nox -s "tests-3.12(torch='', numpy='1.26.*')"` one of them.
`PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu nox` takes PyTorch's CPU builds.
"""
import nox

nox.options.error_on_missing_interpreters = False
nox.options.sessions = ['tests']
PYTHONS = ['3.11', '3.12', '3.13', '3.14']
EXTRAS = '.[image,safetensors,viz,progress,plot]'
TOOLS = ['hypothesis', 'pytest', 'pytest-timeout', 'pytest-xdist', 'scipy']


def pinned(name, version):
    return f'{name}=={version}' if version else name


@nox.session(python=PYTHONS)
@nox.parametrize('numpy', ['1.26.*', ''])
@nox.parametrize('torch', ['2.11.*', '2.13.*', ''])
def tests(session, torch, numpy):
    """The tests that take seconds, with one version of PyTorch and NumPy; '' is the newest."""
    if numpy.startswith('1.') and session.python in ('3.13', '3.14'):
        session.skip(f'NumPy {numpy} has no wheels for Python {session.python}')
    session.install(pinned('torch', torch), pinned('numpy', numpy), 'setuptools')
    session.install('--no-build-isolation', '-e', EXTRAS, *TOOLS, pinned('torch', torch), pinned('numpy', numpy))
    session.run('python', '-m', 'pytest', '-n', 'auto', '--dist', 'loadfile', '-m', 'not slow and not gpu',
                *session.posargs, env={'OMP_NUM_THREADS': '1'})


@nox.session
def lint(session):
    """ruff and mypy in the pinned versions."""
    session.install('-c', 'constraints.txt', 'ruff', 'mypy', 'setuptools')
    session.install('-c', 'constraints.txt', '--no-build-isolation', '-e', '.')
    session.run('ruff', 'check', '.')
    session.run('mypy')


@nox.session
def docs(session):
    """The site and the notebooks."""
    session.install('-c', 'constraints.txt', 'setuptools')
    session.install('-c', 'constraints.txt', '--no-build-isolation', '-e', '.[docs,image,viz]')
    session.run('python', 'docs/tools/build.py', *session.posargs)
