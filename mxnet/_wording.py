"""What torch, NumPy and Python complain about, in the words of arrays, axes, shapes and numbers.

Kernels are torch's, and so are the errors of what no check of ours has caught.  Their texts speak of `mat1`, of tensor
a and tensor b, or of the allocator: `plain` says the same in the terms of the program that was wrong.  Texts and files
are converted by Python, whose errors speak of `int()` and of unpacking.
"""
import re

__all__ = ['plain', 'translated']

_DTYPES = {'Float': 'float32', 'Double': 'float64', 'Half': 'float16', 'BFloat16': 'bfloat16', 'Int': 'int32',
           'Long': 'int64', 'Short': 'int16', 'Char': 'int8', 'Byte': 'uint8', 'Bool': 'bool',
           'ComplexFloat': 'complex64', 'ComplexDouble': 'complex128'}
_DTYPES |= {f'c10::{name}': dtype for name, dtype in _DTYPES.items()}


def _dtype(name):
    return _DTYPES.get(name, name)


def _size(text):
    """'4503599627370496' -> '4503599627370496 bytes (4.0 PiB)'."""
    count = int(text)
    value: float = count
    for unit in ('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'):
        if value < 1024 or unit == 'EiB':
            break
        value /= 1024
    return f'{count} bytes' if unit == 'bytes' else f'{count} bytes ({value:.1f} {unit})'


def _shape(text):
    """'2, 3' or '2x3' -> '(2, 3)'."""
    lengths = [n.strip() for n in re.split('[x,]', text) if n.strip()]
    return f'({", ".join(lengths)}{"," if len(lengths) == 1 else ""})'


def _matrices(found):
    one, other = found[1].split('x'), found[2].split('x')
    return f'matrices of shapes {_shape(found[1])} and {_shape(found[2])} cannot be multiplied: the first has ' \
           f'{one[1]} columns, the second {other[0]} rows'


def _gpu_memory(found):
    free = f', {found[3]} of {found[2]} are free' if found[2] else ''
    graphs = re.search(r'with ([\d.]+ \w+) allocated in private pools', found[0])
    held = f', {graphs[1]} are held by CUDA graphs' if graphs else ''
    return f'the GPU has not enough memory: {found[1]} are needed{free}{held}. {_LESS_MEMORY}'


_LESS_MEMORY = 'A smaller batch needs less, as do hybridize() and mixed precision (mx.contrib.amp); ' \
               'grad_req="add" makes one step of several small batches'
_PRODUCT = r'mat1 and mat2 shapes cannot be multiplied \((\d+x\d+) and (\d+x\d+)\)'
_NUMBERS = r'([\d\s,]*)'
def _factorized(text):
    """What torch says of a factorization, without the name of its function and without its word for the matrix."""
    found = re.match(r'\(Batch element (\d+)\): (.*)', text, re.DOTALL)
    where, text = (f'matrix {found[1]}: ', found[2]) if found else ('', text)
    return where + text.replace('the input matrix', 'the matrix').replace('the input is', 'the matrix is').rstrip('.')


_RULES = [(re.compile(pattern, re.DOTALL), said) for pattern, said in (
    (r'.*DefaultCPUAllocator: (?:can.t allocate|not enough) memory: you tried to allocate (\d+) bytes.*',
     lambda m: f'there is not enough memory: {_size(m[1])} are needed'),
    (r'.*CUDA out of memory\. Tried to allocate ([\d.]+ \w+)\.(?: GPU \d+ has a total capacity of ([\d.]+ \w+) of '
     r'which '
     r'([\d.]+ \w+) is free\.)?.*',
     _gpu_memory),
    (rf'.*Storage size calculation overflowed with sizes=\[{_NUMBERS}\].*',
     lambda m: f'an array of shape {_shape(m[1])} is larger than any memory'),
    (r'.*(?:integer multiplication overflow|numel: .*overflow|Overflow when unpacking long|Invalid size, possible '
     r'overflow'
     r'|maximum supported dimension|Python int too large).*',
     lambda m: 'the array would be larger than any memory'),
    (r'.*register_meta function for .*|.*data-independent implementation.*',
     lambda m: 'the shape of its result follows from values, which are not known here'),
    (r'.*SymIntArrayRef expected to contain only concrete integers.*',
     lambda m: 'a length is below 0, or larger than any memory'),
    (rf'.*Trying to create tensor with negative dimension (-?\d+): \[{_NUMBERS.replace("[", "[-")}\].*',
     lambda m: f'a length is negative: {m[1]}'),
    (r'Attempting to broadcast a dimension with negative length!', lambda m: 'a length is negative'),
    (r'einsum\(\): subscript (\w) has size (\d+) for operand (\d+) which does not broadcast with previously seen size '
     r'(\d+)',
     lambda m: f'axis {m[1]} has length {m[2]} in operand {m[3]}, but length {m[4]} in an operand before it'),
    (r'einsum\(\): (.*)', lambda m: m[1]),
    (_PRODUCT, _matrices),
    (r'.*(?:mat1 and mat2|self and mat2|expected m1 and m2) (?:must have|to have) the same dtype, but got:? (\S+?) '
     r'and (\S+?)',
     lambda m: f'the dtypes differ: {_dtype(m[1])} and {_dtype(m[2])}; convert one with astype'),
    (r'size mismatch, got input \((\d+)\), mat \((\d+x\d+)\), vec \((\d+)\)',
     lambda m: f'a matrix of shape {_shape(m[2])} and a vector of length {m[3]} cannot be multiplied'),
    (r'inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\] to have the same number of elements.*',
     lambda m: f'vectors of lengths {m[1]} and {m[2]} have no product'),
    (rf'Expected size for first two dimensions of batch2 tensor to be: \[{_NUMBERS}\] but got: \[{_NUMBERS}\]\.?',
     lambda m: f'the second batch of matrices must begin with the lengths {_shape(m[1])}, but has {_shape(m[2])}'),
    (r'batch1 and batch2 must have same number of batches, got (\d+) and (\d+)',
     lambda m: f'the batches have {m[1]} and {m[2]} matrices'),
    (r'The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)',
     lambda m: f'the shapes do not fit together: along axis {m[3]} of the result one has length {m[1]}, the other '
               f'{m[2]}'),
    (rf'The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\) at non-singleton dimension '
     rf'(\d+)\.\s+'
     rf'Target sizes: \[{_NUMBERS}\]\.\s+Tensor sizes: \[{_NUMBERS}\]\.?',
     lambda m: f'an array of shape {_shape(m[5])} does not fit into {_shape(m[4])}: along axis {m[3]} it has length '
               f'{m[2]}, '
               f'not {m[1]}'),
    (r'Sizes of tensors must match except in dimension (\d+)\. Expected size (\d+) but got size (\d+) for tensor '
     r'number (\d+) '
     r'in the list\.?',
     lambda m: f'all arrays must have the same lengths along all axes but {m[1]}; number {m[4]} has {m[3]} where the '
               f'first has '
               f'{m[2]}'),
    (r'Tensors must have same number of dimensions: got (\d+) and (\d+)',
     lambda m: f'all arrays must have the same number of axes; there are some with {m[1]} and with {m[2]}'),
    (rf'stack expects each tensor to be equal size, but got \[{_NUMBERS}\] at entry (\d+) and \[{_NUMBERS}\] at entry '
     rf'(\d+)',
     lambda m: f'all arrays must have one shape; number {m[2]} has {_shape(m[1])}, number {m[4]} has {_shape(m[3])}'),
    (r'.*Expected all tensors to be on the same device,.*?(?:found at least two devices, |is on '
     r')?((?:cuda|cpu)\S*)(?: and |, )'
     r'.*?((?:cuda|cpu)[:\d]*).*',
     lambda m: f'the arrays are on different devices, {m[1].rstrip("!,")} and {m[2]}; bring them together with '
               f'as_in_context'),
    (r'.*Expected all tensors to be on the same device.*',
     lambda m: 'the arrays are on different devices; bring them together with as_in_context'),
    (r'Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)',
     lambda m: f'axis {m[3]} is out of range: axes go from {m[1]} to {m[2]}'),
    (r'Dimension specified as (-?\d+) but tensor has no dimensions',
     lambda m: f'axis {m[1]} is out of range: there are no axes'),
    (r"shape '\[([-\d\s,]*)\]' is invalid for input of size (\d+)",
     lambda m: f'{m[2]} values do not fit into the shape {_shape(m[1])}'),
    (r'.*Calculated padded input size per channel: \(([\d x]+)\)\. Kernel size: \(([\d x]+)\)\..*',
     lambda m: f'the kernel {_shape(m[2].replace(" ", ""))} is larger than the data with their padding, '
               f'{_shape(m[1].replace(" ", ""))}'),
    (r'.*Given input size: \(([\dx]+)\)\. Calculated output size: \(([-\dx]+)\)\. Output size is too small.*',
     lambda m: f'the window is larger than the data: of {_shape(m[1])} (channels first) nothing would be left'),
    (rf'Given groups=(\d+), weight of size \[{_NUMBERS}\], expected input\[{_NUMBERS}\] to have (\d+) channels, but '
     rf'got (\d+) '
     r'channels instead',
     lambda m: f'data of shape {_shape(m[3])} have {m[5]} channels, weights of shape {_shape(m[2])} take {m[4]}'),
    (rf'Expected weight to be of same shape as normalized_shape, but got weight of shape \[{_NUMBERS}\] and '
     rf'normalized_shape = '
     rf'\[{_NUMBERS}\]',
     lambda m: f'gamma has shape {_shape(m[1])}, but the axis that is normalized has {_shape(m[2])}'),
    (rf'Given weight of size \[{_NUMBERS}\], expected bias to be 1-dimensional with (\d+) elements, but got bias of '
     rf'size '
     rf'\[{_NUMBERS}\] instead',
     lambda m: f'bias has shape {_shape(m[3])}, but with a weight of shape {_shape(m[1])} it must have ({m[2]},)'),
    (r'too many indices for tensor of dimension (\d+)', lambda m: f'too many indices: the array has {m[1]} axes'),
    (r'contracted dimensions need to match, but first has size (\d+) in dim (-?\d+) and second has size (\d+) in dim '
     r'(-?\d+)',
     lambda m: f'the axes that are summed over differ in length: {m[1]} and {m[3]}'),
    (r'running_\w+ should contain (\d+) elements not (\d+)',
     lambda m: f'data have {m[1]} channels, the moving averages {m[2]}'),
    (r'.*?"?(?:\w+)"? not implemented for \'(\w+)\'.*', lambda m: f'it is not defined for {_dtype(m[1])}'),
    (r'expected (?:m1 and m2 to have the same dtype|scalar type (\w+) but found (\w+)).*',
     lambda m: f'the dtype must be {_dtype(m[1])}, not {_dtype(m[2])}' if m[1] else 'the dtypes differ'),
    (r'Found dtype (\w+) but expected (\w+)', lambda m: f'the dtype must be {_dtype(m[2])}, not {_dtype(m[1])}'),
    (r"result type (\w+) can't be cast to the desired output type (\w+)",
     lambda m: f'the result is {_dtype(m[1])}, which cannot be stored as {_dtype(m[2])}'),
    (r'index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)',
     lambda m: f'index {m[1]} is out of bounds: axis {m[2]} has length {m[3]}'),
    (rf'The shape of the mask \[{_NUMBERS}\] at index (\d+) does not match the shape of the indexed \w+ '
     rf'\[{_NUMBERS}\] at index (\d+)',
     lambda m: f'a mask of shape {_shape(m[1])} does not fit: axis {m[4]} of the array has length '
               f'{_shape(m[3]).strip("()").split(",")[int(m[4])].strip()}'),
    (r'index out of range in self', lambda m: 'an index is out of range'),
    (r'.*Could not run \'aten::(\w+).*', lambda m: f'{m[1]} cannot be computed for arrays of this kind'),
    (r'.*linalg\.?\w*: (\(Batch element \d+\): )?(The )((?:diagonal element|solver|factorization|algorithm|input).*)',
     lambda m: _factorized((m[1] or '') + m[2].lower() + m[3])),
)]
# what Python says of texts and numbers, wherever it stands in an error
_PYTHON = [(re.compile(pattern), said) for pattern, said in (
    (r"invalid literal for int\(\) with base \d+: b?(.*)", r'\1 is not a whole number'),
    (r"could not convert string to (?:float|complex): (.*)", r'\1 is not a number'),
    (r"could not convert string (.*) to \w+ at row (\d+), column (\d+)\.", r'\1 is not a number (row \2, column \3)'),
    (r'Exceeds the limit \(\d+ digits\) for integer string conversion[^\n]*', 'a number has too many digits'),
    (r'not enough values to unpack \(expected (?:at least )?(\d+), got (\d+)\)', r'it has \2 parts, not \1'),
    (r'too many values to unpack \(expected (\d+)(?:, got \d+)?\)', r'it has more than \1 parts'),
    (r'cannot convert float (NaN|infinity) to integer', r'\1 is not a whole number'),
    (r'(?:\w+\.)*(?:__init__|(\w+))\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)',
     r'it needs the argument \2'),
    (r'embedded null (?:byte|character)(?: in \w+)?', 'a name has the character NUL in it'),
    (r'zip\(\) argument \d+ is (?:shorter|longer) than arguments? [\d-]+', 'keys and values are not equally many'),
    (r'(?:Python )?int(?:eger)? (?:-?\d+ )?(?:is )?too (?:large|big) to (?:be )?convert\w*[^,;\n]*',
     'a number is too large'),
    (r'Python integer (-?\d+) out of bounds for (\w+)', r'\1 does not fit into \2'),
)]
_KERNEL = re.compile(r'[a-z_]\w*(?:\.\w+)?(?:\(\))?: ')
_FRAGMENTS = [(re.compile(pattern), said) for pattern, said in (
    (r'\[enforce fail at [^\]]*\]\s*', ''), (r'\bat::native::|\baten::|\bat::|\bc10::|\btorch\.(?=[A-Z])', ''),
    (r'\n?Exception raised from .*', ''), (r'\n?(?:CUDA kernel errors|For debugging consider|Compile with '
                                           r'`TORCH)[^\n]*', ''),
    (r'\btensors\b', 'arrays'), (r'\bTensors\b', 'Arrays'), (r'\btensor\b', 'array'), (r'\bTensor\b', 'Array'),
)]


def is_out_of_memory(text):
    """Whether a text of torch speaks of too little memory."""
    return 'out of memory' in text or 'not enough memory' in text or "can't allocate memory" in text


def translated(text, op=''):
    """What a text of torch says, in our words; None for one that is not known."""
    found = _translated(text, op)
    if found is None and _KERNEL.match(text):           # torch 2.15 and later: `addmm: mat1 and mat2 ...`
        found = _translated(_KERNEL.sub('', text, 1), op)
    return found


def _translated(text, op):
    if op == 'FullyConnected':
        found = re.fullmatch(_PRODUCT, text)
        if found is not None:
            return f'each row of data has {found[1].split("x")[1]} values, but weight takes {found[2].split("x")[0]}'
    for pattern, said in _RULES:
        found = pattern.fullmatch(text)
        if found is not None:
            return None if said is None else said(found)
    return None


def plain(error, op=''):
    """The text of an error, without the terms of torch's inside; `op` is the operator that raised it."""
    if isinstance(error, OSError) and error.strerror and not isinstance(error, RuntimeError):
        return error.strerror                   # without the number, and what names the file says the caller
    text = str(error)
    found = translated(text, op)
    if found is not None:
        return found
    for pattern, said in _FRAGMENTS:
        text = pattern.sub(said, text)
    for pattern, said in _PYTHON:
        text = pattern.sub(said, text)
    return text.strip() or type(error).__name__
