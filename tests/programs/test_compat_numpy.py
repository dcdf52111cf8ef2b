"""`remx run`: what NumPy 1.8 to 1.26 had and NumPy 2 refuses: names, modules and behaviours."""
import numpy as np
import pytest
from test_compat_packages import run

# names of NumPy 1.23 that programs use, by module; "numpy.core" and most modules of "numpy.lib" are gone or moved
NAMES = {
    'numpy': 'math os sys warnings AxisError VisibleDeprecationWarning ComplexWarning RankWarning '
             'ModuleDeprecationWarning TooHardError CLIP WRAP RAISE MAXDIMS BUFSIZE ERR_IGNORE FPE_INVALID compat '
             'MachAr lookfor source who DataSource format_parser chararray unique1d intersect1d_nu setmember1d '
             'getbuffer newbuffer add_docstring add_newdoc geterrobj seterrobj set_numeric_ops deprecate_with_doc '
             'get_array_wrap alterdot tracemalloc_domain float int bool object product cumproduct mat Inf',
    'numpy.lib': 'pad average interp histogram split vstack trapz in1d index_exp s_ tri unique load arraysetops',
    'numpy.lib.function_base': 'average interp percentile trapz bincount add_newdoc',
    'numpy.lib.index_tricks': 'r_ c_ s_ mgrid ndindex ravel_multi_index',
    'numpy.lib.arraysetops': 'unique intersect1d in1d union1d setdiff1d',
    'numpy.lib.shape_base': 'tile kron array_split vstack row_stack',
    'numpy.lib.twodim_base': 'eye diag tri vander',
    'numpy.lib.nanfunctions': 'nanmean nanmax',
    'numpy.lib.npyio': 'load savetxt loadtxt recfromcsv',
    'numpy.lib.utils': 'who source lookfor deprecate safe_eval',
    'numpy.lib.polynomial': 'polyfit poly1d RankWarning',
    'numpy.lib.type_check': 'isreal nan_to_num asfarray',
    'numpy.core': 'array umath multiarray numeric AxisError MachAr',
    'numpy.core.numeric': 'asarray newaxis array ComplexWarning Inf sctypeDict',
    'numpy.core.multiarray': 'array concatenate dot ERR_IGNORE',
    'numpy.core.umath_tests': '',
    'numpy.core.defchararray': 'array unicode_ string_',
    'numpy.core.getlimits': 'finfo MachAr NaN',
    'numpy.linalg.linalg': 'norm svd LinAlgError',
    'numpy.fft.fftpack': 'fft ifft',
    'numpy.dual': 'norm svd inv fft',
    'numpy.compat': 'asbytes asstr long basestring py3k',
    'numpy.compat.py3k': 'asbytes unicode',
    'numpy.testing.utils': 'assert_allclose assert_array_equal',
    'numpy.testing.decorators': 'skipif slow',
    'numpy.testing': 'dec Tester rand run_module_suite raises',
    'numpy.matlib': 'rand repmat Inf mat',
}


def test_names_and_modules(tmp_path):
    lines = [f'''
try:
    import {module} as found
    missing = [name for name in {names.split()} if not hasattr(found, name)]
except ImportError as error:
    missing = [str(error)]
if missing:
    print({module!r}, missing)
''' for module, names in NAMES.items()]
    out, _ = run(tmp_path, {'main.py': ''.join(lines) + '''
import numpy as np
from numpy.lib.arraysetops import unique
from numpy.core.numeric import *
np.warnings.filterwarnings('ignore', category=np.VisibleDeprecationWarning)
print(np.math.sqrt(4), unique([2, 1, 2]).tolist(), array([1]).tolist(), np.compat.asbytes('a'), np.MachAr().eps)
try:
    np.no_such_name
except AttributeError as error:
    print('no such name')
'''})
    assert out.splitlines() == ["numpy.core.umath_tests ['numpy.core.umath_tests has been removed']",
                                f"2.0 [1, 2] [1] b'a' {np.finfo(float).eps}", 'no such name']


# an expression with `np`, and the text of its value
BEHAVIOURS = [
    ("np.set_printoptions(threshold=np.nan)", "None"),
    ("np.set_printoptions(threshold='nan')", "None"),
    ("np.unique(np.array([[1, 2], [2, 3]]), return_inverse=True)[1].tolist()", "[0, 1, 1, 2]"),
    ("np.unique(np.array([[1, 2], [1, 2]]), return_inverse=True, axis=0)[0].tolist()", "[[1, 2]]"),
    ("np.percentile([1, 2, 3, 4], 50, interpolation='lower')", "2"),
    ("np.quantile([1, 2, 3, 4], 0.5, interpolation='higher')", "3"),
    ("type(np.meshgrid([1], [2])).__name__", "list"),
    ("type(np.broadcast_arrays([1], [2])).__name__", "list"),
    ("type(np.atleast_1d(1, 2)).__name__, type(np.atleast_2d(1)).__name__", "('list', 'ndarray')"),
    ("np.uint8(300), np.uint8(-1), np.int8(200), np.uint16(70000), np.uint8(7)", "(44, 255, -56, 4464, 7)"),
    ("str(np.uint8([300, -1]))", "[ 44 255]"),
    ("(np.zeros(2, 'uint8') + 300).tolist(), (np.zeros(2, 'uint8') + 300).dtype.name", "([300, 300], 'uint16')"),
    ("(np.ones(2, 'uint8') * -1).tolist(), (1000 - np.ones(2, 'uint8')).tolist()", "([-1, -1], [999, 999])"),
    ("(np.zeros(2, 'uint8') + 200).dtype.name", "uint8"),
    ("np.reshape(np.arange(4), newshape=(2, 2)).tolist()", "[[0, 1], [2, 3]]"),
    ("np.histogram([1, 2], bins=2, normed=True)[0].tolist()", "[1.0, 1.0]"),
    ("np.histogram2d([1, 2], [1, 2], bins=1, normed=True)[0].tolist()", "[[1.0]]"),
    ("np.bincount([1, 2], minlength=None).tolist()", "[0, 1, 1]"),
    ("np.nonzero(np.array(3))[0].tolist()", "[0]"),
    ("np.eye(2.0).tolist(), np.random.randn(3.0).shape, np.random.uniform(size=(3.0, 2)).shape",
     "([[1.0, 0.0], [0.0, 1.0]], (3,), (3, 2))"),
    ("np.random.normal(0.5, 1.5, 3.0).shape, np.random.choice(5, 3.0).shape", "((3,), (3,))"),
    ("np.zeros((3, 4))[index].shape", "(1, 4)"),
    ("np.fromstring(struct.pack('f', np.array([2.0])), 'f')[0]", "2.0"),
]


def test_behaviours(tmp_path):
    lines = [f'print(({expression}))\n' for expression, _ in BEHAVIOURS]
    out, report = run(tmp_path, {'main.py': 'import struct\nimport numpy as np\n'
                                            'index = [slice(0, 1), slice(None)]\n' + ''.join(lines) + """
values = np.zeros((2, 3))
values[index] = 1
print(values.sum())
np.save('ragged.npy', [[1], [1, 2]])
np.savez('ragged.npz', a=[[1], [1, 2]])
print(np.load('ragged.npy').shape, np.load('ragged.npz')['a'].tolist())
"""})
    expected = [value for _, value in BEHAVIOURS] + ['3.0', '(2,) [[1], [1, 2]]']
    assert out.splitlines() == expected
    assert 'list of slices' in report and 'wider type' in report


@pytest.mark.parametrize('mistake', ['np.uint8("a")', 'np.zeros(2, "uint8") + "a"', 'np.random.normal("a", 1.5)',
                                     'np.percentile([1], 50, interpolation="x")', 'np.zeros(3)[[slice, 1]]'])
def test_mistakes_stay_mistakes(tmp_path, mistake):
    out, report = run(tmp_path, {'main.py': f"""
import numpy as np
slice(1)
try:
    {mistake}
except (TypeError, ValueError, IndexError) as error:
    print('refused')
"""})
    assert out.strip() == 'refused' and 'restored' not in report.replace('interpolation', '') or 'interpol' in mistake


def test_arrays_of_truth_values_and_integers_in_python_2(tmp_path):
    out, report = run(tmp_path, {'main.py': """
        import numpy as np
        mask = np.array([True, False])
        print (-mask).tolist(), -np.array([1, 2])[0], -len('ab')
        count = np.array([1, 2])
        same = count
        count += np.array([0.5, 1.9])
        count -= np.ones(2)
        count *= np.array([2.5, 2.5])
        print same.tolist(), count is same
        total = 1
        total += len('abc')
        text = 'a'
        text += str(total)
        print text
        try:
            count += 'a'
        except TypeError:
            print 'refused'
        """})
    assert out.splitlines() == ['[False, True] -1 -2', '[0, 5] True', 'a4', 'refused']
    assert 'inverts it' in report and 'changed in place by floats' in report


def test_arrays_in_conditions(tmp_path):
    """An array was not equal to None before NumPy 1.13, and an empty one was false before NumPy 2.2."""
    out, report = run(tmp_path, {'main.py': '''
        import mxnet as mx, numpy as np
        class Other:
            def __eq__(self, other): return other is None
        image, none, empty, texts = np.ones((2, 3)), None, np.array([]), np.array(['a', ''])
        label = mx.nd.ones((2,))
        if image == None or not image != None: print('wrong 1')
        if image == [] or image == '' or 'x' == image: print('wrong 2')
        if image != None and not image == {}: print('there')
        print('none' if none == None else 'wrong 3', 'other' if Other() == None else 'wrong 4')
        if empty: print('wrong 5')
        while empty: print('wrong 6')
        assert not empty and not (empty or none)
        if label == None: print('wrong 7')
        if [] == []: print('equal')
        for wrong in (image, texts == ''):
            try:
                if wrong: print('wrong 8')
            except ValueError as error:
                print(str(error)[:16])
        print((image == 1).all(), (texts == '').tolist())
        '''})
    assert out.splitlines() == ['there', 'none other', 'equal', 'The truth value ', 'The truth value ',
                                'True [False, True]']
    for text in ('not equal to None', 'an empty array is false', 'an NDArray is not equal'):
        assert text in report
