"""mxnet.base: error types, helpers for classes, docstrings and C, all without NumPy or torch."""
import array
import copy
import ctypes
import os
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import base
from mxnet.base import MXNetError


def test_base_loads_neither_numpy_nor_torch(run_python):
    run_python('-c', 'import sys, mxnet.base; assert not {"numpy", "torch"} & set(sys.modules), sys.modules.keys()')


def test_types_of_numbers_know_numpys():
    from mxnet.base import integer_types, mx_real_t, numeric_types, string_types
    assert isinstance(np.int64(1), integer_types) and isinstance(3, integer_types)
    assert not isinstance(np.float32(1), integer_types)
    assert all(isinstance(x, numeric_types) for x in (1, 1.5, np.float16(1), np.uint8(1)))
    assert not isinstance('1', numeric_types)
    assert isinstance('1', string_types)
    assert mx_real_t is np.float32


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match='no C library'):
        base._LIB.MXSymbolCreateGroup                      # noqa: B018
    assert not hasattr(base, 'anything_else')


def test_null_is_one_object():
    assert repr(base._Null) == '_Null'
    assert pickle.loads(pickle.dumps(base._Null)) is base._Null
    assert copy.deepcopy(base._Null) is base._Null
    # upstream pickles it as an object of its class
    assert base._NullType() is base._Null
    from mxnet._frontend.binding import _Null
    assert _Null is base._Null
    assert mx.nd.relu(mx.nd.array([-1, 1]), name=base._Null).asnumpy().tolist() == [0, 1]


# ---------------------------------------------------------------------- errors
def test_register_error():
    saved = dict(base.error_types)
    try:
        @base.register_error
        class Plain(MXNetError):
            pass

        @base.register_error('other')
        class Named(MXNetError):
            pass
        base.register_error('third', Named)
        assert base.error_types['Plain'] is Plain
        assert base.error_types['other'] is base.error_types['third'] is Named
    finally:
        base.error_types.clear()
        base.error_types.update(saved)
    assert base.error_types['NotImplementedForSymbol'] is base.NotImplementedForSymbol


@pytest.mark.parametrize('error, text', [
    (base.NotSupportedForSparseNDArray(len, 'al', 1, 2.0),
     'len (operator al), called with <class \'int\'>, <class \'float\'>, is not available for a sparse array. '
     'Convert it with tostype("default")'),
    (base.NotImplementedForSymbol(len, None),
     'len is not available for a Symbol, which has no values. Call it on an NDArray, such as a result of the network'),
])
def test_not_supported(error, text):
    assert str(error) == text
    assert isinstance(error, MXNetError)
    assert error.function == 'len'


def test_c2pyerror_puts_the_trace_first():
    assert base.c2pyerror('ValueError: x\nStack trace:\n  a\n  b\nmore\n') == \
        ('Traceback (most recent call last):\n  b\n  a\nValueError: x\nmore', 'ValueError')
    assert base.c2pyerror('no type here') == ('no type here', None)
    assert base.c2pyerror('not a name: x') == ('not a name: x', None)


def test_check_call():
    assert base.check_call(0) is None
    with pytest.raises(MXNetError, match='.'):
        base.check_call(-1)
    assert isinstance(base.get_last_ffi_error(), MXNetError)


# ---------------------------------------------------------------------- folders
def test_data_dir(monkeypatch):
    monkeypatch.delenv('MXNET_HOME', raising=False)
    if os.name == 'nt':
        assert base.data_dir() == os.path.join(os.environ['APPDATA'], 'mxnet')
    else:
        monkeypatch.setenv('HOME', '/somewhere')
        assert base.data_dir() == base.data_dir_default() == os.path.join('/somewhere', '.mxnet')
    monkeypatch.setenv('MXNET_HOME', 'elsewhere')
    assert base.data_dir() == 'elsewhere'


# ---------------------------------------------------------------------- classes
def test_with_metaclass():
    class Meta(type):
        def __new__(mcs, name, bases, body):
            body['made_by'] = mcs.__name__
            return super().__new__(mcs, name, bases, body)

    class Parent:
        def who(self):
            return 'parent'

    class Child(base.with_metaclass(Meta, Parent)):
        def who(self):
            return super().who() + ' and child'

    assert type(Child) is Meta
    assert Child.__bases__ == (Parent,)
    assert Child.made_by == 'Meta'
    assert Child.__name__ == 'Child' and Child.__module__ == __name__
    assert Child().who() == 'parent and child'


def test_classproperty():
    class Settings(base.with_metaclass(base._MXClassPropertyMetaClass, object)):
        _value = 1

        @base.classproperty
        def value(cls):
            return cls._value

        @value.setter
        def value(cls, new):
            cls._value = new

        @base.classproperty
        @classmethod
        def fixed(cls):
            return cls.__name__

        @base.classproperty
        @staticmethod
        def constant():
            return 7

    assert (Settings.value, Settings.fixed, Settings.constant) == (1, 'Settings', 7)
    Settings.value = 2
    assert Settings.value == Settings().value == 2
    Settings().value = 3
    assert Settings.value == 3
    with pytest.raises(MXNetError, match='Settings has no setter'):
        Settings.fixed = 'x'
    Settings.plain = 5                         # others are set as ever
    assert Settings.plain == 5


# ---------------------------------------------------------------------- docstrings
def test_build_param_doc():
    names, kinds, texts = ['a', 'b', 'a', 'num_args'], ['int', 'str', 'x', 'y'], ['first', '', 'again', 'z']
    assert base.build_param_doc(names, kinds, texts) == 'Parameters\n----------\na : int\n    first\nb : str\n'
    assert base.build_param_doc(names, kinds, texts, remove_dup=False) == \
        'Parameters\n----------\na : int\n    first\nb : str\na : x\n    again\n'


def test_add_fileline_to_docstring(tmp_path, monkeypatch):
    (tmp_path / 'with_docs.py').write_text('def f():\n    "What f does."\n\n\n'
                                           'class A:\n    def g(self):\n        "What g does."\n\n\n'
                                           'def bare():\n    pass\n')
    monkeypatch.syspath_prepend(tmp_path)
    import with_docs
    base.add_fileline_to_docstring('with_docs')
    base.add_fileline_to_docstring(with_docs)                  # once is enough
    where = tmp_path / 'with_docs.py'
    assert with_docs.f.__doc__ == f'What f does.\n\nFrom:{where}:1'
    assert with_docs.A.g.__doc__ == f'What g does.\n\nFrom:{where}:6'
    assert with_docs.bare.__doc__ is None


def test_as_list():
    assert base._as_list(1) == [1]
    assert base._as_list((1, 2)) == (1, 2)


# ---------------------------------------------------------------------- C
def test_c_values():
    assert base.py_str(base.c_str('Grüße').value) == 'Grüße'
    assert list(base.c_str_array(['a', 'bc'])) == [b'a', b'bc']
    assert list(base.c_array(base.mx_float, [1, 2.5])) == [1.0, 2.5]
    numbers = array.array('i', [1, 2, 3])
    shared = base.c_array_buf(base.mx_int, numbers)
    shared[0] = 9
    assert numbers[0] == 9

    class Thing:
        handle = ctypes.c_void_p(5)
    assert list(base.c_handle_array([Thing, Thing])) == [5, 5]


def test_c_pointers():
    text = ctypes.create_string_buffer(b'abcdef')
    assert base.ctypes2buffer(ctypes.cast(text, ctypes.POINTER(ctypes.c_char)), 4) == bytearray(b'abcd')
    with pytest.raises(TypeError, match='c_char'):
        base.ctypes2buffer(text, 4)
    floats = base.c_array(base.mx_float, range(6))
    view = base.ctypes2numpy_shared(ctypes.cast(floats, base.mx_float_p), (2, 3))
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    view[1, 2] = 7
    assert floats[5] == 7
    with pytest.raises(RuntimeError, match='c_float'):
        base.ctypes2numpy_shared(text, (1,))


def test_callback_list():
    kind = ctypes.CFUNCTYPE(ctypes.c_int)
    callbacks = (kind * 1)(kind(lambda: 42))
    entry = base.MXCallbackList(1, callbacks, (ctypes.c_void_p * 1)(None))
    assert entry.num_callbacks == 1 and entry.callbacks[0]() == 42
