"""The parameters of a block by name."""
from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

import numpy

from .. import initializer
from .._kinds import explain_methods as _explain_methods
from .._names import near
from .._ops.core.dtypes import dtype_name
from ..base import FileError
from ..ndarray import NDArray
from ._parameter_files import load_arrays, mismatch, names_file, save_arrays
from .parameter import UNIFORM, Constant, Parameter
from .utils import brief_list

if TYPE_CHECKING:
    from .._typing import Contexts, Init, Path
    from ..context import Context


class ParameterDict:
    """Parameters by name, with a common prefix; names that `shared` has are taken from there."""

    __module__ = 'mxnet.gluon.parameter'        # where programs find it

    def __init__(self, prefix: str = '', shared: ParameterDict | None = None) -> None:
        self._prefix = prefix
        self._params: OrderedDict[Any, Any] = OrderedDict()
        self._shared = shared

    def __repr__(self) -> str:
        name = self._prefix + ' ' if self._prefix else ''
        body = '\n'.join('  ' + repr(p).replace('\n', '\n  ') for p in self.values())
        return f'{name}(\n{body}\n)'

    def __getitem__(self, key: str) -> Parameter:
        try:
            return self._params[key]
        except KeyError:
            raise KeyError(f'there is no Parameter {key!r}; there are {brief_list(self._params)}') from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def items(self) -> ItemsView[str, Parameter]:
        return self._params.items()

    def keys(self) -> KeysView[str]:
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        return self._params.values()

    @property
    def prefix(self) -> str:
        """What the names of `get` begin with."""
        return self._prefix

    def _find(self, name):
        if name not in self._params and self._shared is not None and name in self._shared:
            self._params[name] = self._shared[name]
        return self._params.get(name)

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter `prefix + name`: the one that is there, whose attributes must agree, or a new one."""
        name = self._prefix + name
        param = self._find(name)
        if param is None:
            param = self._params[name] = Parameter(name, **kwargs)
            return param
        for key, value in kwargs.items():
            if getattr(param, key, None) is None:
                setattr(param, key, value)
                continue
            existing = getattr(param, key)
            if key == 'shape' and value is not None and existing is not None:
                value = (value,) if isinstance(value, int) else tuple(value)
                if len(value) == len(existing) and all(a == b or a in (0, -1) or b in (0, -1)
                                                       for a, b in zip(value, existing, strict=True)):
                    param._shape = tuple(b if a in (0, -1) else a for a, b in zip(value, existing, strict=True))
                    continue
            elif key == 'dtype' and dtype_name(value) == dtype_name(existing):
                continue
            if value is not None and value != existing:
                raise AssertionError(f"Parameter '{name}' exists with {key}={existing}, but {key}={value} is asked for")
        return param

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant `prefix + name`."""
        name = self._prefix + name
        param = self._find(name)
        if param is None:
            if value is None:
                raise KeyError(f"there is no constant '{name}'; pass its value to create one")
            param = self._params[name] = Constant(name, value)
        elif value is not None:
            if not isinstance(param, Constant):
                raise AssertionError(f"Parameter '{name}' exists, but is not a constant")
            given = value.asnumpy() if isinstance(value, NDArray) else numpy.asarray(value)
            if param.shape != given.shape or not (param.value.asnumpy() == given).all():
                raise AssertionError(f"constant '{name}' exists with another value")
        return param

    def update(self, other: ParameterDict | Mapping[str, Parameter]) -> None:
        """Adds all parameters of another dictionary."""
        for name, param in other.items():
            if name in self._params and self._params[name] is not param:
                raise ValueError(f"there are two different parameters named '{name}'; give one of the blocks another "
                                 'prefix')
            self._params[name] = param

    def initialize(self, init: Init = UNIFORM, ctx: Contexts | None = None, verbose: bool = False,
                   force_reinit: bool = False) -> None:
        """Initializes all parameters."""
        if verbose and isinstance(init, initializer.Initializer):
            init.set_verbosity(verbose=verbose)
        for param in self.values():
            param.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Sets all gradients to 0."""
        for param in self.values():
            param.zero_grad()

    def reset_ctx(self, ctx: Contexts | None) -> None:
        """Moves all parameters to other contexts."""
        for param in self.values():
            param.reset_ctx(ctx)

    def list_ctx(self) -> list[Context]:
        """All contexts that the parameters are on."""
        return list(dict.fromkeys(c for p in self.values() for c in p.list_ctx()))

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all parameters: `net.collect_params('.*weight').setattr('grad_req', 'null')`."""
        if not hasattr(Parameter, name) and any(name not in vars(param) for param in self.values()):
            known = [n for n in dir(Parameter) if not n.startswith('_')]
            warnings.warn(f'setattr: a Parameter has no attribute {name!r}{near(name, known)}; it is set, and has no '
                          'effect', stacklevel=3)
        for param in self.values():
            setattr(param, name, value)

    # ------------------------------------------------------------------ files
    def save(self, filename: Path, strip_prefix: str = '') -> None:
        """Saves the values under their names, less a prefix that all must have."""
        arrays = {}
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ValueError(f"the prefix '{strip_prefix}' is to be stripped, but Parameter '{param.name}' does "
                                 'not begin with it')
            arrays[param.name[len(strip_prefix):]] = param._reduce()
        save_arrays(filename, arrays)

    def load(self, filename: Path, ctx: Contexts | None = None, allow_missing: bool = False, ignore_extra: bool = False,
             restore_prefix: str = '', cast_dtype: bool = False, dtype_source: str = 'current') -> None:
        """Loads values by name; `restore_prefix` is put before the names of the file."""
        if restore_prefix:
            for name in self.keys():
                if not name.startswith(restore_prefix):
                    raise AssertionError(f"restore_prefix is '{restore_prefix}', but Parameter '{name}' does not "
                                         'begin with it')
        loaded = load_arrays(filename) or {}        # a file of no arrays is a list
        self.load_dict(loaded, ctx, allow_missing, ignore_extra, restore_prefix, filename, cast_dtype, dtype_source)

    def load_dict(self, param_dict: Mapping[str, NDArray], ctx: Contexts | None = None, allow_missing: bool = False,
                  ignore_extra: bool = False, restore_prefix: str = '', filename: Path | None = None,
                  cast_dtype: bool = False, dtype_source: str = 'current') -> None:
        """Takes values from a dictionary of arrays by name."""
        where = f'file {filename}' if filename else 'the dictionary'
        if not isinstance(param_dict, dict):
            raise FileError(f'{where} holds arrays without names; parameters need a dict')
        values = {restore_prefix + re.sub('^(arg|aux):', '', k): v for k, v in param_dict.items()}
        if not allow_missing:
            missing = [n for n in self.keys() if n not in values]
            if missing:
                raise FileError(mismatch('missing', missing, where, values, 'allow_missing'))
        extra = [n for n in values if n not in self._params]
        if extra and not ignore_extra:
            raise FileError(mismatch('extra', extra, where, self._params, 'ignore_extra'))
        for name, value in values.items():
            if name in self._params:
                with names_file(filename):
                    self[name]._load_init(value, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)


_explain_methods(ParameterDict, 'get get_constant update initialize setattr save load load_dict reset_ctx')
