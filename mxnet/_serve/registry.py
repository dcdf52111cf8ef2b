"""The models of a server: registered, replaced without losing a request, unregistered."""
import asyncio
import os
import shutil

from ..base import MXNetError
from . import archives
from .errors import Failed
from .pool import Pool


def _stem(source):
    return os.path.basename(source).removesuffix('-symbol.json').removesuffix('.onnx')


def shapes_of(model, others, shapes):
    """The shapes of one model's inputs, from those of all: `lstm:data=3,5` is that of the model `lstm` alone."""
    found = []
    for text in shapes:
        name = text.partition('=')[0]
        owner, colon, _ = name.partition(':')
        if colon and owner == model:
            found.append(text.removeprefix(f'{owner}:'))
        elif not colon or owner not in others:
            found.append(text)
    return found


class Unknown(Exception):
    """There is no model of that name."""


class Registry:
    """Pools by the names of their models."""

    def __init__(self, options, metrics, log, devices=('cpu',)):
        self.options, self.metrics, self.log, self.devices = options, metrics, log, devices
        self.pools: dict[str, Pool] = {}
        self._closing: set = set()
        self._change = asyncio.Lock()

    def find(self, name, version=None):
        pool = self.pools.get(name)
        if pool is None:
            raise Unknown(f'there is no model {name!r}; there are {", ".join(self.pools) or "none"}')
        if version is not None and version != str(pool.config['version']):
            raise Unknown(f'there is no version {version} of {name}; there is {pool.config["version"]}')
        return pool

    async def register(self, source, name=None, workers=None, shapes=()):
        """Loads a model, under its name; one that has this name is replaced when the new one is ready."""
        async with self._change:
            config = self.configure(source, name, shapes)
            return await self._start(config, workers)

    async def reload(self, name):
        """Loads the files of a model again."""
        async with self._change:
            old = self.find(name)
            config = dict(old.config)
            if 'archive' in config:
                config = {**config, **archives.unpack(config['archive'], self.options['trust'])}
            await self._start(config, old.wanted)

    def configure(self, source, name, shapes):
        """The configuration of a model of a file, or of an archive, which is unpacked."""
        options = self.options
        config = {k: options[k] for k in ('scale', 'unit', 'mean', 'std', 'bgr', 'invert', 'classes', 'epoch',
                                          'max_batch') if options.get(k) is not None}
        config |= {'shapes': list(shapes) or options.get('shapes', []), 'threads': options['threads'], 'version': 0,
                   'device': self.devices[0]}
        if source.endswith('.mar'):
            config |= archives.unpack(source, options['trust'])
        else:
            if '://' in source:
                raise MXNetError(f'{source}: models are files of this machine')
            config |= {'source': os.path.abspath(source), 'name': _stem(source)}
        if name:
            config['name'] = name
        if not config['name'] or '/' in config['name']:
            raise MXNetError(f'{config["name"]!r} is not a valid model name')
        others = {given or _stem(path) for path, given in options.get('models', ())} - {config['name']}
        config['shapes'] = shapes_of(config['name'], others, config['shapes'])
        return config

    async def _start(self, config, workers):
        options, name = self.options, config['name']
        config['version'] = (self.pools[name].config['version'] if name in self.pools else 0) + 1
        pool = Pool(config, workers=workers or options['workers'], max_batch=options['max_batch'],
                    max_delay=options['max_delay'], max_queue=options['max_queue'],
                    isolate=options['isolate'], metrics=self.metrics, log=self.log)
        try:
            await pool.start()
        except Failed as error:
            raise MXNetError(str(error)) from None
        old = self.pools.get(name)
        self.pools[name] = pool
        self.log(level='info', event='model ready', model=name, version=config['version'])
        if old is not None:
            self._retire(old)
        return name

    def _retire(self, pool):
        """Lets the workers of a model finish what waits for them, and end."""
        async def stop():
            await pool.stop()
            folder = pool.config.get('folder')
            if folder and all(p.config.get('folder') != folder for p in self.pools.values()):
                shutil.rmtree(folder, ignore_errors=True)
        task = asyncio.create_task(stop())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def unregister(self, name):
        async with self._change:
            pool = self.find(name)
            del self.pools[name]
            self._retire(pool)

    async def stop(self):
        """Ends all workers."""
        for name in list(self.pools):
            self._retire(self.pools.pop(name))
        if self._closing:
            await asyncio.gather(*self._closing, return_exceptions=True)
