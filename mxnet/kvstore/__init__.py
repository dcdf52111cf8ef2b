"""Stores that add up gradients of devices and workers, and update weights with them: `mx.kv.create('local')`."""
from .._names import suggest_names as _suggest_names
from . import base, kvstore, kvstore_server
from .base import *
from .kvstore import *
from .kvstore_server import *

__all__ = [*base.__all__, *kvstore.__all__, *kvstore_server.__all__]


# Stores of several processes are loaded when a program asks for one: they load torch.distributed, or Ray.
def _workers(name):
    kvstore_server.serve_if_asked()
    if name in base.ASYNC:
        from .dist_async import AsyncKVStore
        return AsyncKVStore(name)
    from .dist import DistKVStore
    return DistKVStore(name)


def _horovod(name):
    from .horovod import Horovod
    return Horovod()


base.MAKERS.update(dict.fromkeys(base.LOCAL, kvstore.KVStore) | dict.fromkeys(base.DIST + base.ASYNC, _workers)
                   | {'horovod': _horovod})
_suggest_names(globals())
