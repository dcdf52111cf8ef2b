"""`remx doctor`: what there is on this machine, and what to type for what there is not.

The report is one dictionary; `--json` prints it as it is. Nothing here needs more than the standard library, so that it
also works where torch or NumPy is missing or broken: that is when one asks a doctor.
"""
from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

from ..base import MXNetError
from ..context import num_gpus
from ..libinfo import __version__, remx_version

NEEDED = {'torch': '2.11', 'numpy': '1.23'}

# extra: (module, distribution) that it installs, and what they are for
OPTIONAL = {
    'image': ([('cv2', 'opencv-python-headless')], 'decoding and encoding images'),
    'remote': ([('fsspec', 'fsspec'), ('s3fs', 's3fs')], 'files on s3:// and other remote stores'),
    'safetensors': ([('safetensors', 'safetensors')], 'reading and writing .safetensors files'),
    'viz': ([('graphviz', 'graphviz')], 'drawing networks'),
    'progress': ([('tqdm', 'tqdm')], 'progress bars with times, and in notebooks'),
    'plot': ([('matplotlib', 'matplotlib')], 'learning curves as images'),
    'tensorboard': ([('tensorboard', 'tensorboard')], 'logs that TensorBoard shows'),
    'notebook': ([('bokeh', 'bokeh'), ('IPython', 'ipython'), ('ipywidgets', 'ipywidgets'), ('pandas', 'pandas')],
                 'live charts and bars in notebooks'),
    'onnx': ([('onnx', 'onnx')], 'networks to and from ONNX'),
    'ray': ([('ray', 'ray')], 'the servers of dist_async, and jobs on Ray clusters'),
    'old': ([('fissix', 'fissix')], 'programs in Python 2, for remx run and remx check'),
    'tune': ([('optuna', 'optuna'), ('cmaes', 'cmaes')], 'search for hyper-parameters (remx tune)'),
    'serve': ([('starlette', 'starlette'), ('uvicorn', 'uvicorn'), ('httptools', 'httptools')],
              'serving networks over HTTP (remx serve)'),
}


def doctor(as_json: bool = False) -> int:
    """Prints the report; returns 1 if something that remx cannot do without is missing or broken."""
    found = report()
    print(json.dumps(found, indent=2) if as_json else render(found))
    return 1 if found['problems'] else 0


def report() -> dict:
    problems: list[str] = []
    hints: list[str] = []
    modules = {name: _needed(name, oldest, problems) for name, oldest in NEEDED.items()}
    _other_mxnet(problems)
    return {
        'versions': {
            'remx': remx_version,
            'mxnet': __version__,
            'python': platform.python_version(),
            **{name: getattr(module, '__version__', None) for name, module in modules.items()},
            'cuda': getattr(getattr(modules['torch'], 'version', None), 'cuda', None),
            'build': modules['torch'] and _build(modules['torch']),
            'system': platform.platform(),
        },
        'paths': {'mxnet': str(Path(__file__).resolve().parent.parent), 'python': sys.executable},
        'devices': _devices(modules['torch'], problems, hints),
        'threads': _threads(modules['torch']),
        'caches': _caches(),
        # what it prints is sent to others
        'environment': {name: '(set, not shown)' if 'SECRET' in name else value
                        for name, value in sorted(os.environ.items()) if name.startswith('MXNET_')},
        'optional': {extra: _optional(extra) for extra in OPTIONAL},
        'hints': hints,
        'problems': problems,
    }


def _needed(name, oldest, problems):
    try:
        module = importlib.import_module(name)
    except Exception as error:  # a broken install fails in many ways; each belongs into the report
        problems.append(f'{name} cannot be imported ({type(error).__name__}: {error}): pip install "{name}>={oldest}"')
        return None
    if _numbers(module.__version__) < _numbers(oldest):
        problems.append(f'{name} {module.__version__} is too old: pip install "{name}>={oldest}"')
    return module


def _numbers(version):
    return tuple(int(part) for part in re.findall(r'\d+', version)[:2])


def _other_mxnet(problems):
    """Apache MXNet's own wheels install a package of the same name: whichever came last wins, file by file."""
    names = {str(found.metadata['Name']) for found in importlib.metadata.distributions()}
    for name in sorted(name for name in names if re.fullmatch(r'mxnet([-_].*)?', name, re.IGNORECASE)):
        problems.append(f'{name} is installed beside remx and overwrites its files: '
                        f'pip uninstall {name} && pip install --force-reinstall --no-deps remx')


def _devices(torch, problems, hints):
    devices: dict[str, Any] = {'cpu': {'name': _cpu_name(), 'cores': os.cpu_count()}, 'gpus': [],
               'virtual_gpus': None}
    if torch is None:
        return devices
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    problems.extend(f'CUDA: {warning.message}' for warning in caught)
    devices['gpus'] = [_gpu(torch, number) for number in range(count)]
    if not count and torch.backends.mps.is_available():
        devices['gpus'] = [_mac_gpu(torch)]
    hint = _build_hint(_build(torch), _cards(), bool(devices['gpus']))
    if hint:
        hints.append(hint)
    if 'MXNET_VIRTUAL_GPUS' in os.environ:
        try:
            devices['virtual_gpus'] = num_gpus()
        except MXNetError as error:
            problems.append(str(error))
    return devices


def _build(torch):
    """What torch was built for: 'CUDA 12.8', 'ROCm 6.4', 'cpu'."""
    version = torch.version
    if version.cuda:
        return f'CUDA {version.cuda}'
    return f'ROCm {version.hip}' if getattr(version, 'hip', None) else 'cpu'


def _cards():
    """Kinds of GPUs that the operating system knows, whether torch can use them or not."""
    found = []
    if os.path.exists('/proc/driver/nvidia/version') or os.path.exists('/dev/nvidiactl') or shutil.which('nvidia-smi'):
        found.append('NVIDIA')
    if os.path.exists('/dev/kfd'):
        found.append('AMD')
    return found


def _build_hint(build, cards, usable):
    """What to install where the build of torch does not suit the machine; '' where it does."""
    index = 'https://download.pytorch.org/whl/'
    if build == 'cpu' and cards:
        kind, what = ('cu128', 'CUDA') if 'NVIDIA' in cards else ('rocm6.4', 'ROCm')
        return (f'this machine has an {cards[0]} GPU, but torch is a CPU build. For the GPU: pip install '
                f'--force-reinstall torch --index-url {index}{kind}  (the selector on pytorch.org has the {what} '
                'version for your driver)')
    if build != 'cpu' and not cards and not usable:
        return (f'torch is a build for {build}, but this machine has no GPU. The CPU build does the same in a fraction '
                f'of the disk space: pip install --force-reinstall torch --index-url {index}cpu')
    if build != 'cpu' and cards and not usable:
        return (f'this machine has an {" and ".join(cards)} GPU and torch is a build for {build}, but torch cannot use '
                'the GPU: check that the driver is installed, new enough, and visible in this container')
    return ''


def _cpu_name():
    try:
        found = re.search(r'^model name\s*: (.*)', Path('/proc/cpuinfo').read_text(), re.MULTILINE)
    except OSError:  # not Linux
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _gpu(torch, number):
    name = torch.cuda.get_device_name(number)
    try:
        free, total = torch.cuda.mem_get_info(number)
    except RuntimeError as error:  # a card that others use up, or that is set to exclusive mode
        return {'name': name, 'error': str(error).splitlines()[0]}
    return {'name': name, 'free_bytes': free, 'total_bytes': total}


def _mac_gpu(torch):
    total = torch.mps.recommended_max_memory()
    return {'name': f'{platform.processor() or platform.machine()} (Metal)',
            'free_bytes': max(0, total - torch.mps.driver_allocated_memory()), 'total_bytes': total}


def _threads(torch):
    return {
        'OMP_NUM_THREADS': os.environ.get('OMP_NUM_THREADS'),
        'MKL_NUM_THREADS': os.environ.get('MKL_NUM_THREADS'),
        'within_operators': torch.get_num_threads() if torch else None,
        'between_operators': torch.get_num_interop_threads() if torch else None,
    }


def _caches():
    home = Path(os.environ.get('MXNET_HOME') or Path.home() / '.mxnet')
    sizes = []
    for folder, _, names in os.walk(home):
        for name in names:
            try:
                sizes.append(os.lstat(os.path.join(folder, name)).st_size)
            except OSError:  # removed by another process in the meantime
                continue
    return {'home': str(home), 'exists': home.is_dir(), 'files': len(sizes), 'bytes': sum(sizes)}


def _optional(extra):
    needs, purpose = OPTIONAL[extra]
    versions = {name: _version(name) for module, name in needs if importlib.util.find_spec(module)}
    there = len(versions) == len(needs)
    if extra == 'viz' and there and shutil.which('dot') is None:
        purpose += ' (only as text until the program dot of graphviz.org is installed)'
    return {'purpose': purpose, 'present': there, 'versions': versions,
            'install': None if there else f'pip install "remx[{extra}]"'}


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:  # the module came with another distribution (opencv has four)
        return 'of another distribution'


def render(found: Any) -> str:
    """The report as text."""
    versions, threads, caches = found['versions'], found['threads'], found['caches']
    sections = {
        'versions': [
            ('remx', f'{versions["remx"]}, with the API of mxnet {versions["mxnet"]}  ({found["paths"]["mxnet"]})'),
            ('python', f'{versions["python"]}  ({found["paths"]["python"]})'),
            ('torch', 'missing' if versions['torch'] is None else
             f'{versions["torch"]} ' + ('without CUDA' if versions['build'] == 'cpu' else f'with {versions["build"]}')),
            ('numpy', versions['numpy'] or 'missing'),
            ('system', versions['system'])],
        'devices': _render_devices(found['devices']),
        'threads': [
            ('within an operator', _or_unknown(threads['within_operators'])),
            ('between operators', _or_unknown(threads['between_operators'])),
            *((name, threads[name] or 'not set') for name in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS'))],
        'caches': [(caches['home'], f'{caches["files"]} files, {_size(caches["bytes"])}' if caches['exists']
                    else 'not created yet')],
        'environment': list(found['environment'].items()) or [('MXNET_*', 'nothing set')],
        'optional parts': [(extra, _render_optional(part)) for extra, part in found['optional'].items()],
        'hints': [(f'{number}.', text) for number, text in enumerate(found['hints'], 1)] or [('none', '')],
        'problems': [(f'{number}.', text) for number, text in enumerate(found['problems'], 1)] or [('none', '')],
    }
    lines = []
    for title, rows in sections.items():
        width = max(len(name) for name, _ in rows)
        lines += [title, *(f'  {name:{width}}  {text}'.rstrip() for name, text in rows), '']
    return '\n'.join(lines).rstrip()


def _render_devices(devices):
    rows = [('cpu', f'{devices["cpu"]["name"]}, {devices["cpu"]["cores"]} cores')]
    for number, gpu in enumerate(devices['gpus']):
        memory = gpu.get('error') or f'{_size(gpu["total_bytes"])}, {_size(gpu["free_bytes"])} free'
        rows.append((f'gpu({number})' if devices['virtual_gpus'] is None else f'card {number}',
                     f'{gpu["name"]}, {memory}'))
    if devices['virtual_gpus'] is not None:
        rows.append(('virtual', f'{devices["virtual_gpus"]} GPUs on '
                                + ('the cards above' if devices['gpus'] else 'CPU memory')))
    elif not devices['gpus']:
        rows.append(('gpu', 'none that torch can use'))
    return rows


def _render_optional(part):
    versions = ', '.join(f'{name} {version}' for name, version in part['versions'].items())
    return f'{versions}: {part["purpose"]}' if part['present'] else f'missing: {part["purpose"]}; {part["install"]}'


def _or_unknown(value):
    return 'unknown' if value is None else str(value)


def _size(count: float) -> str:
    for unit in ('bytes', 'KiB', 'MiB'):
        if count < 1024:
            return f'{count:.4g} {unit}'
        count /= 1024
    return f'{count:.4g} GiB'
