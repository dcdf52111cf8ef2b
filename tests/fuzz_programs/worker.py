"""Runs programs in one process that has imported the library once: messages come in at stdin, logs go out at stdout.

Each message is a pickle of (statements, mode, np): sources that are run one after the other; an error ends only its
statement.  A log is a list of (statement, what): values as plain bytes, since the two sides have different versions of
NumPy.
"""
import gc
import os
import pickle
import re
import shutil
import struct
import sys
import warnings

RAW = re.compile(r'torch|aten::|grad_fn|is a view|inplace operation|size of tensor|mat1|invalid for input of size'
                 r'|\bc10\b|Expected all tensors|must match the (existing )?size|non-singleton|element 0 of tensors'
                 r'|leaf Variable|CUDA error|saved tensor|detach_|version counter|backward through the graph', re.I)

OURS = re.compile('operator |node |an array that the gradient computation needs|cannot store a value of shape')


class Log:
    """What a program has seen."""

    def __init__(self, library):
        self.mx, self.entries, self.statement = library, [], 0

    def see(self, *values):
        for value in values:
            self.entries.append((self.statement, self.plain(value)))

    def plain(self, value):
        if hasattr(value, 'asnumpy'):
            kind = type(value).__name__
            value = value.asnumpy()
            return ('array', str(value.dtype), tuple(value.shape), value.tobytes(), kind)
        if isinstance(value, (list, tuple)):
            return ('list', [self.plain(v) for v in value])
        if hasattr(value, 'tobytes') and hasattr(value, 'dtype'):
            return ('array', str(value.dtype), tuple(value.shape), value.tobytes(), 'numpy')
        if isinstance(value, type):
            return ('type', value.__name__)
        if value is None or isinstance(value, (bool, int, str)):
            return ('same', value)
        if isinstance(value, float):
            return ('float', value)
        return ('same', repr(value))

    def failed(self, error):
        kind = 'MXNetError' if isinstance(error, self.mx.base.MXNetError) else type(error).__name__
        text = str(error)
        # torch's words after ours, which name the operator and its arguments, are an explanation
        raw = kind not in ('AttributeError', 'NameError') and RAW.search(text) and not OURS.match(text)
        self.entries.append((self.statement, ('error', kind, bool(raw), text[:300])))


def prepared(path):
    """The names that programs begin with."""
    with open(path, encoding='utf-8') as file:
        code = compile(file.read(), path, 'exec')
    names = {'__name__': 'program'}
    exec(code, names)
    return names


def run(prelude, sources, mode, np):
    mx = prelude['mx']
    log = Log(mx)
    names = prepared(prelude['path'])           # anew: programs may change what they find
    mode, _, disturbed = mode.partition(' disturbed ')
    names['see'], names['MODE'], names['DISTURBED'] = log.see, names['MODES'][mode], int(disturbed or 0)
    mx.random.seed(7)
    names['np'].random.seed(7)
    if np:
        mx.npx.set_np()
    try:
        with names['CTX'], mx.name.NameManager(), warnings.catch_warnings():
            warnings.simplefilter('ignore')
            for number, source in enumerate(sources):
                log.statement = number
                try:
                    exec(compile(source, f'<statement {number}>', 'exec'), names)
                except Exception as error:
                    log.failed(error)
    finally:
        mx.npx.reset_np()
        mx.autograd.set_recording(False)
        mx.autograd.set_training(False)
        shutil.rmtree(names['FOLDER'], ignore_errors=True)
    names.clear()
    return log.entries


def main():
    out = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)                               # what programs print is no message
    path = sys.argv[1]
    sys.argv = sys.argv[:1]
    prelude = dict(prepared(path), path=path)
    if os.environ.get('FUZZ_CTX') == 'gpu':
        import torch
        torch.backends.cudnn.allow_tf32 = False         # its ten bits are not what is compared
    if os.environ.get('FUZZ_FORWARD') == '1':
        from mxnet._ops.core.moves import FORWARD
        FORWARD.add('cpu')
    count = 0
    while True:
        head = sys.stdin.buffer.read(8)
        if len(head) < 8:
            return
        sources, mode, np = pickle.loads(sys.stdin.buffer.read(struct.unpack('<q', head)[0]))
        answer = pickle.dumps(run(prelude, sources, mode, np), protocol=4)
        out.write(struct.pack('<q', len(answer)) + answer)
        out.flush()
        count += 1
        if count % 20 == 0:
            gc.collect()


if __name__ == '__main__':
    main()
