"""The workers' own store for torch.distributed, in place of torch's TCPStore, which everyone may write to."""
import datetime

import torch.distributed as dist

__all__ = ['TorchStore']


class TorchStore(dist.Store):
    """What `init_process_group` takes, on a `Member`."""

    def __init__(self, member, prefix, seconds):
        super().__init__()
        self._member, self._prefix, self._seconds = member, prefix, seconds
        self.said = b''             # the values that this process has stored

    def _key(self, key):
        return f'{self._prefix}/{key}'

    def set(self, key, value):
        """Stores a value."""
        self.said += value.encode() if isinstance(value, str) else value
        self._member.set(self._key(key), value)

    def get(self, key):
        """Waits for a value."""
        self.wait([key])
        return self._member.get(self._key(key))

    def add(self, key, value):
        """Adds to a number."""
        return self._member.add(self._key(key), value)

    def check(self, keys):
        """Whether all keys are there."""
        return self._member.check([self._key(key) for key in keys])

    def compare_set(self, key, expected_value, desired_value):
        """Replaces a value."""
        encoded = [v.encode() if isinstance(v, str) else v for v in (expected_value, desired_value)]
        return self._member.compare_set(self._key(key), *encoded)

    def delete_key(self, key):
        """Removes a key."""
        return self._member.delete(self._key(key))

    def num_keys(self):
        """How many keys there are."""
        return self._member.count()

    def wait(self, keys, timeout=None):
        """Waits for keys."""
        seconds = self._seconds if timeout is None else timeout.total_seconds()
        if not self._member.wait([self._key(key) for key in keys], seconds):
            raise dist.DistStoreError(f'nothing was said of {", ".join(keys)} within {seconds:g} seconds')

    def set_timeout(self, timeout):
        """How long to wait."""
        self._seconds = timeout.total_seconds()

    @property
    def timeout(self):
        """How long to wait."""
        return datetime.timedelta(seconds=self._seconds)
