"""gym for a program's modules: environments as they were before gym 0.26, also those of its successor gymnasium."""

import importlib
import re

from ._report import report
from ._standin import Standin

_DETERMINISTIC = re.compile(r'(\w+)Deterministic-v(\d+)$')    # four frames for an action; gone from ale_py


def _old_environment(real):
    class OldEnvironment(real.Wrapper):  # type: ignore[name-defined]
        """An environment whose `reset` gives the observation, whose `step` gives four values, and that has `seed`."""

        def __init__(self, env):
            super().__init__(env)
            self._next_seed = None

        def __getattr__(self, name):
            if name == '_max_episode_steps':
                return self.spec.max_episode_steps
            return getattr(self.env, name)

        def reset(self, **kwargs):
            if self._next_seed is not None:
                kwargs.setdefault('seed', self._next_seed)
                self._next_seed = None
            found = self.env.reset(**kwargs)
            return found[0] if isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], dict) else found

        def step(self, action):
            found = self.env.step(action)
            if len(found) == 4:
                return found
            observation, reward, terminated, truncated, info = found
            if truncated:
                info = {**info, 'TimeLimit.truncated': not terminated}
            return observation, reward, terminated or truncated, info

        def seed(self, seed=None):
            self._next_seed = seed
            self.action_space.seed(seed)
            return [seed]

        def render(self, mode='human', **kwargs):
            try:
                return self.env.render()
            except Exception as error:  # each environment has its own errors where there is no display
                report.say(f'the environment cannot be shown: {error}')
                return None

    return OldEnvironment


def _maker(real):
    kind = _old_environment(real)

    def make(name, **kwargs):
        report.note('gym', 'environments as before gym 0.26: reset gives the observation, step four values, seed')
        kwargs.setdefault('disable_env_checker', True)
        try:
            return kind(real.make(name, **kwargs))
        except (real.error.UnregisteredEnv, real.error.DeprecatedEnv):
            _register_games(real)
        fixed = _DETERMINISTIC.match(name)
        if fixed:
            name, kwargs = f'{fixed[1]}NoFrameskip-v{fixed[2]}', {'frameskip': 4, **kwargs}
        try:
            return kind(real.make(name, **kwargs))
        except (real.error.VersionNotFound, real.error.DeprecatedEnv):
            return kind(real.make(re.sub(r'-v\d+$', '', name), **kwargs))      # the version that is there today

    return make


def _register_games(real):
    """Atari games, which were a part of gym and are a package of their own."""
    try:
        games = importlib.import_module('ale_py')
    except ImportError:
        return
    if hasattr(real, 'register_envs'):
        real.register_envs(games)


def standin(name):
    """The module for programs; None where it is not installed, or older."""
    try:
        real = importlib.import_module(name)
    except ImportError:
        return None
    version = tuple(int(part) for part in getattr(real, '__version__', '0.0').split('.')[:2] if part.isdigit())
    return Standin(name, real, {'make': lambda: _maker(real)}) if version >= (0, 26) else None


def successor(name):
    """gymnasium in the place of gym; None where it is not installed."""
    try:
        real = importlib.import_module('gymnasium')
    except ImportError:
        return None
    report.note('package-gym', 'the package gym: gymnasium')
    return Standin(name, real, {'make': lambda: _maker(real)})
