"""Helpers for training loops: splitting batches, clipping gradients, downloading files."""
from __future__ import annotations

import math
import os
import shutil
import socket
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy

from .. import ndarray
from .._array import before_write, wrap
from .._files import downloading, downloads
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of, not_an_array
from .._names import suggest_names as _suggest_names
from .._ops.core import checks
from ..base import MXNetError
from ..util import is_np_array, is_np_shape

if TYPE_CHECKING:
    from .._typing import Path
    from ..context import Context
    from ..ndarray import NDArray

__all__ = ['check_sha1', 'clip_global_norm', 'download', 'replace_file', 'split_and_load', 'split_data']


def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[NDArray]:
    """Splits an array into `num_slice` parts along an axis.

    If `even_split` is False, the first parts may be one longer than the others.

    >>> [part.shape for part in mx.gluon.utils.split_data(mx.nd.zeros((5, 2)), 2, even_split=False)]
    [(3, 2), (2, 2)]
    """
    if not isinstance(num_slice, (int, numpy.integer)):
        raise TypeError(f'split_data: num_slice must be an int, not {kind_of(num_slice)}')
    if not hasattr(data, 'shape'):
        raise TypeError(not_an_array('split_data: data', data))
    if num_slice < 1:
        raise ValueError(f'data cannot be split into {num_slice} parts; is the list of contexts empty?')
    if not -data.ndim <= batch_axis < data.ndim:
        raise ValueError(f'batch_axis={batch_axis} is out of range: the data have the shape {data.shape}')
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ValueError(f'data of shape {data.shape} cannot be split evenly into {num_slice} parts along axis '
                         f'{batch_axis}; use a batch size that is a multiple of {num_slice}, or pass even_split=False')
    if num_slice > size and not even_split:
        num_slice = size
    each, left = divmod(size, num_slice)
    ends = [(i + 1) * each + min(i + 1, left) for i in range(num_slice)]
    starts = [0, *ends[:-1]]
    if batch_axis == 0:
        return [data[a:b] for a, b in zip(starts, ends, strict=True)]
    if is_np_array():
        index = [slice(None)] * data.ndim
        return [data[(*index[:batch_axis], slice(a, b), *index[batch_axis + 1:])]
                for a, b in zip(starts, ends, strict=True)]
    return [ndarray.slice_axis(data, batch_axis, a, b) for a, b in zip(starts, ends, strict=True)]


def split_and_load(data: Any, ctx_list: Sequence[Context], batch_axis: int = 0,
                   even_split: bool = True) -> list[NDArray]:
    """Splits an array and puts the parts on the contexts, one each."""
    if not isinstance(ctx_list, (list, tuple)) or not ctx_list:
        raise ValueError(f'split_and_load: ctx_list must be a list of one Context or more, not {ctx_list!r}')
    if not isinstance(data, ndarray.NDArray):
        if is_np_array():
            from .. import numpy as np
            data = np.array(data, ctx=ctx_list[0])
        else:
            data = ndarray.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [p.as_in_context(ctx) for p, ctx in zip(parts, ctx_list, strict=False)]


def clip_global_norm(arrays: Sequence[Any], max_norm: float, check_isfinite: bool = True) -> Any:
    """Scales arrays in place so that the norm of all of them together is at most `max_norm`; returns the norm before.

    With `check_isfinite` the norm is a number, and a warning is given if it is not finite; without, nothing waits and
    the norm is an array.
    """
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(f'clip_global_norm: arrays must be a list of NDArrays, not {kind_of(arrays)}')
    if not arrays:
        raise ValueError('clip_global_norm needs at least one array')
    for i, array in enumerate(arrays):
        if not isinstance(array, ndarray.NDArray):
            raise TypeError(not_an_array(f'clip_global_norm: array {i}', array))
    if not isinstance(max_norm, (int, float)) and not hasattr(max_norm, '__float__'):
        raise TypeError(f'clip_global_norm: max_norm must be a number, not {kind_of(max_norm)}')
    import torch
    tensors = [a._parts()[0] if a._sparse else a.materialize().detach() for a in arrays]
    home = tensors[0].device
    norms = torch.stack([torch.linalg.vector_norm(t, dtype=torch.float32).to(home) for t in tensors])
    total = torch.linalg.vector_norm(norms)
    scale = torch.clamp(max_norm / (total + 1e-8), max=1.0)
    if check_isfinite:
        value = total.cpu().numpy()[()]
        if checks.records:
            checks.look()
        if not math.isfinite(value):
            warnings.warn('the norm is nan or inf, so clipping gives nonsense', UserWarning, stacklevel=2)
    for array, tensor in zip(arrays, tensors, strict=True):
        own_scale = scale.to(tensor.device, tensor.dtype)
        if array._sparse:
            array._take(array._like((tensor * own_scale, *array._parts()[1:])))
        else:
            before_write(tensor)
            tensor.mul_(own_scale)
    if check_isfinite:
        return value
    return wrap(total.reshape(() if is_np_shape() else (1,)), arrays[0]._ctx, arrays[0]._dense)


# ---------------------------------------------------------------------- files
def check_sha1(filename: Path, sha1_hash: str) -> bool:
    """Whether a file's content has this SHA-1 sum."""
    return downloading.check_sha1(os.fspath(filename), sha1_hash)


def replace_file(src: Path, dst: Path) -> None:
    """Moves a file over another in one step."""
    os.replace(src, dst)


def download(url: str, path: Path | None = None, overwrite: bool = False, sha1_hash: str | None = None,
             retries: int = 5, verify_ssl: bool = True) -> str:
    """Downloads a file and returns its path; nothing is done if it is there with the right sum.

    `path` is a file or a folder.  `MXNET_GLUON_REPO` replaces the host of files that upstream published.  The file
    appears whole or not at all; where `sha1_hash` is given, a download that broke off is gone on with, even by another
    program, from the `.part` file beside it.
    """
    if not isinstance(url, str):
        raise TypeError(f'download: url must be a str, not {kind_of(url)}')
    _check_scheme(url)
    name = url.split('/')[-1]
    if not name:
        raise ValueError(f'the address {url} names no file')
    if path is None:
        target = name
    else:
        path = os.path.expanduser(path)
        target = os.path.join(path, name) if os.path.isdir(path) else path
    if retries < 0:
        raise ValueError(f'retries must not be negative, it is {retries}')
    if not overwrite and os.path.exists(target) and (not sha1_hash or check_sha1(target, sha1_hash)):
        return target
    folder = os.path.dirname(os.path.abspath(target))
    os.makedirs(folder, exist_ok=True)
    if not verify_ssl:
        warnings.warn('the certificate of the server is not checked (verify_ssl=False)', stacklevel=2)
    last = None
    for attempt in range(retries + 1):
        try:
            print(f'Downloading {target} from {url}...', flush=True)
            downloading.fetch(url, target, sha1_hash, verify_ssl=verify_ssl, files=url.startswith('file://'),
                              tell=_say)
            return target
        except Exception as error:          # a network has many ways to fail; the last one is told
            last = error
            if _is_offline(error, attempt):
                break
            if attempt < retries:
                print(f'download of {url} failed ({error}); {retries - attempt} more to try', flush=True)
                time.sleep(min(2 ** attempt * 0.1, 5))
    found = downloads.stand_in(url)
    if found is not None:
        shutil.copyfile(found, target)
        return target
    raise DownloadError(f'{url} could not be downloaded to {target}: {last}') from last


def _check_scheme(url):
    """Refuses what is not fetched from a server: `file://` would read whatever the address names on this machine.

    A folder that MXNET_GLUON_REPO names stands for a server.
    """
    scheme = url.partition('://')[0].lower() if '://' in url else ''
    repo = os.environ.get('MXNET_GLUON_REPO', '')
    if scheme == 'file' and repo.startswith('file://') and url.startswith(_get_repo_url()) \
            and '..' not in url.split('/'):
        return
    if scheme not in ('http', 'https'):
        raise DownloadError(f'{url} is not downloaded: only http:// and https:// are. Local files need no download; '
                            's3:// and other stores are read by the functions that load files')


def _say(line):
    print(line, flush=True)


class DownloadError(MXNetError, OSError):
    """A file that cannot be had; MXNet raised an OSError of the library that it downloaded with."""


def _is_offline(error, attempt):
    """Whether the host is unknown, or there is no network; a name server that does not answer is asked twice."""
    reason = getattr(error, 'reason', None)
    return isinstance(reason, socket.gaierror) and (attempt > 0 or reason.errno == socket.EAI_NONAME)


def _get_repo_url():
    """Where pretrained files come from."""
    url = os.environ.get('MXNET_GLUON_REPO', 'https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/')
    return url if url.endswith('/') else url + '/'


def _get_repo_file_url(namespace, filename):
    return f'{_get_repo_url()}{namespace}/{filename}'


# ---------------------------------------------------------------------- small things
class HookHandle:
    """What registering a hook returns; `detach` takes the hook away."""

    def __init__(self) -> None:
        self._hooks: Any = None
        self._id: Any = None

    def attach(self, hooks_dict: MutableMapping[int, Any], hook: Callable[..., Any]) -> None:
        """Puts a hook into a dictionary of hooks."""
        if self._hooks is not None:
            raise AssertionError('this handle has a hook already')
        self._id = id(hook)
        hooks_dict[self._id] = hook
        self._hooks = weakref.ref(hooks_dict)

    def detach(self) -> None:
        """Takes the hook away."""
        hooks = self._hooks() if self._hooks is not None else None
        if hooks is not None and self._id in hooks:
            del hooks[self._id]

    def __getstate__(self) -> Any:
        return self._hooks() if self._hooks is not None else None, self._id

    def __setstate__(self, state: Any) -> None:
        self._hooks = None if state[0] is None else weakref.ref(state[0])
        self._id = state[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, ptype: Any, value: Any, trace: Any) -> None:
        self.detach()


def shape_is_known(shape: Sequence[int] | None) -> bool:
    """Whether every length of a shape is known."""
    if shape is None:
        return False
    unknown = -1 if is_np_shape() else 0
    if len(shape) == 0:
        return unknown == -1
    return all(n != unknown and n >= 0 for n in shape)


def brief_list(names: Iterable[str], limit: int = 7) -> str:
    """The first and last of many names."""
    names = list(names)
    if len(names) > limit:
        return brief_list(names[:limit // 2], limit) + ', ..., ' + brief_list(names[-(limit // 2):], limit)
    return ', '.join(f"'{n}'" for n in names)


def indent(text: str, width: int) -> str:
    """A text with all lines but the first indented."""
    first, *rest = text.split('\n')
    return '\n'.join([first, *[' ' * width + line for line in rest]])


_explain_kinds(globals(), __all__)
_suggest_names(globals())
