"""Holds a Ray cluster, or one machine of it, until it is killed: a program that `guard` runs.

    python ray_host.py < OPTIONS

OPTIONS is JSON: either the arguments of `ray.init(address='local')`, after which the address is written to the file
`address` in the folder of the cluster; or {"start": [arguments of the command `ray start`]}.

A worker that started Ray's processes itself would leave some of them behind when it is killed.
"""
import json
import logging
import os
import signal
import sys


def main():
    """Starts, and waits."""
    options = json.load(sys.stdin)
    if 'start' in options:
        os.execv(sys.executable, [sys.executable, '-m', 'ray.scripts.scripts', 'start', '--block', *options['start']])
    import ray
    folder = options.pop('folder')             # where the address is said
    try:
        found = ray.init(address='local', include_dashboard=False, configure_logging=False,
                         logging_level=logging.ERROR, log_to_driver=False, **options)
        said = {'address': found.address_info['gcs_address']}   # type: ignore[attr-defined]  # of a local cluster
    except Exception as error:
        said = {'problem': f'{type(error).__name__}: {error}'}
    path = os.path.join(folder, 'address')
    with open(os.open(f'{path}.new', os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'w', encoding='utf-8') as file:
        json.dump(said, file)
    os.rename(f'{path}.new', path)
    if 'problem' not in said:
        signal.pause()


if __name__ == '__main__':
    main()
