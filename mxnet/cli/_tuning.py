"""`remx train --tune`: a search for the options of `remx train`."""
from __future__ import annotations

import argparse
import difflib
import json
import os
import shlex
import sys
from typing import Any

from ..base import MXNetError
from . import train as training

# what a search does not choose: where things are, how much is printed, how trials are compared
NOT_TUNED = ('help', 'data', 'out', 'resume', 'tensorboard', 'quiet', 'validation', 'ctx', 'workers', 'tune')
VALUE = 'validation accuracy'
HELD_BACK = 0.2


def options_of() -> dict[str, argparse.Action]:
    """The options of `remx train` that a search may choose, by name."""
    parser = argparse.ArgumentParser(add_help=False)
    training.add_arguments(parser)
    group = next(g for g in parser._action_groups if g.title and g.title.startswith('search'))
    return {a.option_strings[0].removeprefix('--'): a for a in parser._actions
            if a.dest not in NOT_TUNED and a not in group._group_actions}


def _kind(action: argparse.Action) -> Any:
    if isinstance(action, argparse.BooleanOptionalAction):
        def truth(text):
            if text.lower() not in ('true', 'false'):
                raise ValueError('it is true or false')
            return text.lower() == 'true'
        return truth
    if action.type is training.sizes:
        def size(text):
            return int(training.sizes(text)) if text.isdigit() else training.sizes(text)
        size.__name__ = 'int'
        return size
    check = {'optimizer': _check_optimizer, 'model': _check_model}.get(action.dest)
    return check or action.type or str


def parse(text: str) -> dict[str, Any]:
    """The ranges of --tune; a misspelt option is an error with the nearest name."""
    from ..contrib.tune import parse_space
    actions = options_of()

    def explain(name):
        near = difflib.get_close_matches(name, actions, 1, 0.5) or _known_as(name, actions)
        if name in NOT_TUNED:
            return f'--{name} is no setting to compare'
        return f'remx train has no option {name!r}' + (f'; did you mean {near[0]}?' if near else
                                                       f'; it has {", ".join(actions)}')
    return parse_space(text, {name: _kind(action) for name, action in actions.items()}, explain)


def _known_as(name: str, actions: Any) -> list[str]:
    """Names that other libraries have for an option."""
    other = {'learning-rate': 'lr', 'learningrate': 'lr', 'weight-decay': 'wd', 'units': 'hidden',
             'num-hidden': 'hidden', 'epoch': 'epochs', 'batch': 'batch-size', 'opt': 'optimizer',
             'network': 'model', 'net': 'model'}
    return [other[name]] if other.get(name) in actions else []


def _check_optimizer(name: str) -> str:
    from .. import optimizer
    optimizer.Optimizer.create_optimizer(name)          # raises with the nearest names
    return name


def _check_model(name: str) -> str:
    from ..gluon.model_zoo import vision
    if name not in ('mlp', 'lenet', *vision._MODELS):
        training.build(name)            # raises with the nearest names
    return name


def has_momentum(optimizer: str) -> bool:
    """Whether an optimizer takes a momentum."""
    import inspect

    from .. import optimizer as optimizers
    cls = optimizers.Optimizer.opt_registry.get(optimizer.lower())
    return cls is not None and 'momentum' in inspect.signature(cls).parameters


def objective(options: dict[str, Any], tune: str) -> Any:
    """The objective of a search: a function of a trial that trains and returns the accuracy on what is held back."""
    from ..contrib.tune import folder, report
    ranges = parse(tune)
    cache: dict = {}

    def run(trial):
        chosen = argparse.Namespace(**options)
        for name, values in ranges.items():
            if name != 'momentum':
                setattr(chosen, name.replace('-', '_'), values.draw(trial))
        if 'momentum' in ranges and has_momentum(chosen.optimizer):         # the others have none to choose
            chosen.momentum = ranges['momentum'].draw(trial)
        chosen.hidden = str(chosen.hidden)
        chosen.out = folder(trial)
        results = []

        def after_epoch(result):
            results.append(result['validation'])
            report(trial, result['validation'], result['epoch'])
        training.fit(chosen, after_epoch, cache)
        return results[-1]
    return run


def tune(options: Any) -> int:
    """Searches, then says what the best trial does on the test digits."""
    from ..contrib.tune import _optuna, _run
    from ..contrib.tune._storage import folder_name
    from ..contrib.tune._worker import Search
    from .tune import conclude, given
    named = options.data
    try:
        _optuna.optuna()
        _optuna.make_sampler(options.sampler, options.seed)
        ranges = parse(options.tune)
        if options.resume:
            raise MXNetError('--resume goes without --tune: a search goes on by itself')
        options.validation = HELD_BACK if options.validation is None else options.validation
        if not options.validation:
            raise MXNetError('--validation must be above 0 with --tune: settings are compared on digits that are held '
                             'back')
        training.contexts(options.ctx)
        data, said = training.find_data(options.data)
        if not options.quiet:
            print(said)
        options.data = data
        fixed = {name: getattr(options, action.dest) for name, action in options_of().items() if name not in ranges}
        fixed |= {'validation': options.validation, 'data': os.path.basename(os.path.abspath(data))}
        study = options.study or (f'train-{folder_name(options.model)}' if 'model' not in ranges else 'train')
        settings = given(options, 20)
        others = ('run', 'command', 'tune', 'study', 'time', 'report', 'backend', 'behind')
        kept = {k: v for k, v in vars(options).items() if k not in settings and k not in others}
        kept['data'] = os.path.abspath(data)
        search = Search(
            objective={'module': __name__, 'function': 'objective',
                       'arguments': {'options': kept, 'tune': options.tune}},
            maker={'objective': 'remx train', 'parameters': {n: str(r) for n, r in ranges.items()},
                   'fixed': fixed},
            value=VALUE, first=_defaults(options, ranges),
            **_run.settings(study=study, out=options.out, direction='maximize', seed=options.seed, **settings))
        status = conclude(search, options, 'remx train')
    except (MXNetError, OSError, ValueError) as error:
        print(f'remx train: {error}', file=sys.stderr)
        return 1
    if status == 0:
        _test_best(options, search, fixed, named)
    return status


def _defaults(options: Any, ranges: dict[str, Any]) -> list[dict[str, Any]]:
    """The first trial has the values that the options have without a search, if all of them are in their ranges."""
    first = {}
    for name, values in ranges.items():
        value = getattr(options, name.replace('-', '_'))
        if name == 'hidden':
            value = int(value) if str(value).isdigit() else value
        if name == 'momentum' and not has_momentum(options.optimizer):
            continue
        if values.choices is not None:
            if value not in values.choices:
                return []
        elif not isinstance(value, (int, float)) or not values.low <= value <= values.high \
                or values.step and (value - values.low) % values.step:
            return []
        first[name] = value
    return [first]


def _test_best(options: Any, search: Any, fixed: dict[str, Any], given: str | None) -> None:
    """What the network of the best trial does on digits that the search has not seen, and how to train it again."""
    from .. import gluon
    from ..contrib.tune import best
    found = best(search.out)
    values = {**{k: v for k, v in fixed.items() if k != 'data'}, **found['params']}
    words = [f'--{k}' if v is True else f'--no-{k}' if v is False else f'--{k} {shlex.quote(str(v))}'
             for k, v in values.items() if k != 'validation' and v is not None]
    if found['folder'] is not None:
        net, shape = training.build(values['model'], str(values['hidden']))
        net.load_parameters(os.path.join(found['folder'], f'{values["model"]}.params'))
        test = gluon.data.DataLoader(training.pictures(options.data, 'test', shape), 512)
        from ..context import cpu
        score = float(training.accuracy(net, test, [cpu()]))
        print(f'test accuracy of the best trial: {score:.4f}')
        with open(os.path.join(search.out, 'test.json'), 'w', encoding='utf-8') as file:
            json.dump({'trial': found['trial'], 'test': score}, file)
    print('train it on all digits with: remx train ' + ' '.join(words)
          + (f' --data {shlex.quote(given)}' if given else ''))
