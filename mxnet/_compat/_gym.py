"""gym for a program's modules: environments as they were before gym 0.26, also those of its successor gymnasium."""

import importlib
import re
import types

from ._report import report
from ._standin import Standin

_DETERMINISTIC = re.compile(r'(\w+)Deterministic-v(\d+)$')    # four frames for an action; gone from ale_py


class _Monitor:
    """`env.monitor` of 2016, which recorded videos and results for a server that is gone."""

    def start(self, directory, *args, **kwargs):
        report.note('gym-monitor', 'recording by gym does nothing: its server is gone')

    def _nothing(self, *args, **kwargs):
        pass

    close = configure = flush = _nothing


class _Spec:
    """What an environment says of itself, with names of 2016."""

    def __init__(self, spec):
        self._spec = spec

    def __getattr__(self, name):
        if name in ('timestep_limit', 'max_episode_steps'):
            return self._spec.max_episode_steps
        if name == 'tags':
            return {'wrapper_config.TimeLimit.max_episode_steps': self._spec.max_episode_steps}
        return getattr(self._spec, name)


def _old_environment(real):
    class OldEnvironment(real.Wrapper):  # type: ignore[name-defined]
        """An environment whose `reset` gives the observation, whose `step` gives four values, and that has `seed`."""

        monitor = _Monitor()

        def __init__(self, env):
            super().__init__(env)
            self._next_seed = None

        def __getattr__(self, name):
            if name == '_max_episode_steps':
                return self.spec.max_episode_steps
            return getattr(self.env, name)

        def __setattr__(self, name, value):
            if name == '_max_episode_steps':
                for layer in _layers(self.env):
                    if isinstance(layer, real.wrappers.TimeLimit):
                        layer._max_episode_steps = value
            elif name in ('env', '_next_seed') or not hasattr(self.__dict__.get('env'), name):
                super().__setattr__(name, value)
            else:
                setattr(self.env.unwrapped, name, value)

        @property
        def spec(self):
            return None if self.env.spec is None else _Spec(self.env.spec)

        @property
        def unwrapped(self):
            return self if self.env is self.env.unwrapped else OldEnvironment(self.env.unwrapped)

        def reset(self, **kwargs):
            if self._next_seed is not None:
                kwargs['seed'] = self._next_seed
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

        def configure(self, *args, **kwargs):
            pass

        def render(self, mode='human', close=False, **kwargs):
            if close:
                return None
            if mode == 'human':
                report.note('gym-render', 'environments are not shown on a screen')
            try:
                found = self.env.render()
            except Exception as error:  # each environment has its own errors where there is no display
                report.say(f'the environment cannot be shown: {error}')
                return None
            return found if mode == 'rgb_array' else True

    return OldEnvironment


def _layers(env):
    """An environment and what it wraps, from the outside."""
    while True:
        yield env
        if env is env.unwrapped or not hasattr(env, 'env'):
            return
        env = env.env


def _made(real, name, kwargs):
    """An environment that can draw pictures, where it has that mode."""
    if 'render_mode' in kwargs:
        return real.make(name, **kwargs)
    try:
        return real.make(name, render_mode='rgb_array', **kwargs)
    except TypeError:           # one of the program's own, without such an argument
        return real.make(name, **kwargs)


def _maker(real, kind):
    def make(name, **kwargs):
        report.note('gym', 'environments as before gym 0.26: reset gives the observation, step four values, seed')
        kwargs.setdefault('disable_env_checker', True)
        try:
            return kind(_made(real, name, kwargs))
        except (real.error.UnregisteredEnv, real.error.DeprecatedEnv):
            _register_games(real)
        fixed = _DETERMINISTIC.match(name)
        if fixed:
            name, kwargs = f'{fixed[1]}NoFrameskip-v{fixed[2]}', {'frameskip': 4, **kwargs}
        try:
            return kind(_made(real, name, kwargs))
        except (real.error.VersionNotFound, real.error.DeprecatedEnv):
            return kind(_made(real, re.sub(r'-v\d+$', '', name), kwargs))      # the version that is there today

    return make


def _register_games(real):
    """Atari games, which were a part of gym and are a package of their own."""
    try:
        games = importlib.import_module('ale_py')
    except ImportError:
        return
    if hasattr(real, 'register_envs'):
        real.register_envs(games)


def _wrappers(real, kind):
    """The classes that programs derive their wrappers from, with the methods of that time."""

    class Wrapper(kind):  # type: ignore[valid-type, misc]
        """A wrapper; before gym 0.9.6 its methods were `_step` and `_reset`."""

        def reset(self, **kwargs):
            if hasattr(type(self), '_reset'):
                return self._reset(**kwargs)
            return self.env.reset(**kwargs) if isinstance(self.env, kind) else super().reset(**kwargs)

        def step(self, action):
            return self._step(action) if hasattr(type(self), '_step') else super().step(action)

        def seed(self, seed=None):
            return self.env.seed(seed) if hasattr(self.env, 'seed') else super().seed(seed)

    class ObservationWrapper(Wrapper):
        def reset(self, **kwargs):
            return self._changed(super().reset(**kwargs))

        def step(self, action):
            observation, *rest = super().step(action)
            return self._changed(observation), *rest

        def _changed(self, observation):
            return getattr(self, '_observation' if hasattr(type(self), '_observation') else 'observation')(observation)

    class RewardWrapper(Wrapper):
        def step(self, action):
            observation, reward, *rest = super().step(action)
            change = self._reward if hasattr(type(self), '_reward') else self.reward
            return observation, change(reward), *rest

    class ActionWrapper(Wrapper):
        def step(self, action):
            return super().step((self._action if hasattr(type(self), '_action') else self.action)(action))

    return {c.__name__: c for c in (Wrapper, ObservationWrapper, RewardWrapper, ActionWrapper)}


def _monitored(env, directory=None, *args, **kwargs):
    """`gym.wrappers.Monitor`."""
    _Monitor().start(directory)
    return env


def _upload(*args, **kwargs):
    report.note('gym-monitor', 'recording by gym does nothing: its server is gone')


def _names(real):
    kind = _old_environment(real)
    bases = _wrappers(real, kind)
    wrappers = importlib.import_module(f'{real.__name__}.wrappers')
    return {
        'make': lambda: _maker(real, kind),
        **{name: lambda c=c: c for name, c in bases.items()},
        'core': lambda: Standin(f'{real.__name__}.core', real.core, {n: lambda c=c: c for n, c in bases.items()}),
        'wrappers': lambda: Standin(f'{real.__name__}.wrappers', wrappers, {
            'Monitor': lambda: _monitored,
            'SkipWrapper': lambda: lambda count: lambda env: env,
            'monitoring': lambda: types.SimpleNamespace(Monitor=_monitored)}),
        'upload': lambda: _upload,
        'scoreboard': lambda: types.SimpleNamespace(api_key=None),
    }


def standin(name):
    """The module for programs; None where it is not installed, or older."""
    try:
        real = importlib.import_module(name)
    except ImportError:
        return None
    version = tuple(int(part) for part in getattr(real, '__version__', '0.0').split('.')[:2] if part.isdigit())
    return Standin(name, real, _names(real)) if version >= (0, 26) else None


def successor(name):
    """gymnasium in the place of gym; None where it is not installed."""
    try:
        real = importlib.import_module('gymnasium')
    except ImportError:
        return None
    report.note('package-gym', 'the package gym: gymnasium')
    return Standin(name, real, _names(real))
