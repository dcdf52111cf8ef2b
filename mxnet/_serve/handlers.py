"""Handlers of the old model server: code of an archive, which runs only where the user trusts it."""
import importlib
import json
import os
import sys

from .answers import failure


class _Context:
    """What a handler is told of its surroundings."""

    def __init__(self, config, manifest):
        self.model_name, self.manifest = config['name'], manifest
        self.system_properties = {'model_dir': config['folder'], 'gpu_id': None, 'batch_size': 1,
                                  'server_name': 'remx', 'server_version': '1.0'}
        self.request_processor = [None]
        self.metrics = None

    def get_request_header(self, index, key):
        return None

    def set_response_content_type(self, index, value):
        pass

    def set_response_status(self, code=200, phrase='', idx=0):
        pass


class HandlerRunner:
    """Answers requests by the function of a handler, `module.py:function`."""

    def __init__(self, config):
        self.config = config
        with open(os.path.join(config['folder'], 'MAR-INF', 'MANIFEST.json'), encoding='utf-8') as file:
            manifest = json.load(file)
        module, _, function = config['handler'].partition(':')
        sys.path.insert(0, config['folder'])
        code = importlib.import_module(module.removesuffix('.py').replace('/', '.'))
        self.handle = getattr(code, function or 'handle')
        self.context = _Context(config, manifest)
        self.handle(None, self.context)

    def describe(self):
        return {'inputs': [], 'outputs': [], 'layers': [], 'classes': None, 'parameters': 0, 'pictures': False,
                'files': []}

    def answer(self, requests):
        import time
        started, answers = time.perf_counter(), []
        for _, headers, body in requests:
            data = body
            if headers.get('content-type', '').startswith('application/json'):
                try:
                    data = json.loads(body)
                except ValueError:
                    answers.append(failure(400, 'the body is no JSON'))
                    continue
            try:
                result = self.handle([{'body': data, 'data': data}], self.context)[0]
            except Exception as error:
                answers.append(failure(500, f'the handler failed: {type(error).__name__}: {error}'))
                continue
            if isinstance(result, (bytes, bytearray)):
                answers.append((200, 'application/octet-stream', bytes(result), {}))
            elif isinstance(result, str):
                answers.append((200, 'text/plain; charset=utf-8', result.encode(), {}))
            else:
                answers.append((200, 'application/json', json.dumps(result).encode(), {}))
        return answers, [1] * len(requests), time.perf_counter() - started
