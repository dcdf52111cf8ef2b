"""Thread-local scopes: NumPy semantics, names, attributes, bulk size."""
import threading

import pytest

import mxnet as mx
from mxnet import attribute, engine, name, util
from mxnet.base import MXNetError


@pytest.fixture(autouse=True)
def switches_are_off_again():
    yield
    assert (util.is_np_shape(), util.is_np_array()) == (False, False), 'the test left NumPy semantics on'


def in_thread(function, *args):
    """The result of `function` in a new thread."""
    result = []
    thread = threading.Thread(target=lambda: result.append(function(*args)))
    thread.start()
    thread.join()
    return result[0]


def semantics():
    return util.is_np_shape(), util.is_np_array()


# --- NumPy semantics as functions ---

def test_set_np_and_reset_np():
    util.set_np()
    assert semantics() == (True, True)
    assert in_thread(semantics) == (False, False)
    util.reset_np()
    assert semantics() == (False, False)
    util.set_np(array=False)
    assert semantics() == (True, False)
    util.reset_np()


def test_set_np_shape_returns_what_was_before():
    assert [util.set_np_shape(active) for active in (True, True, False, False)] == [False, True, True, False]
    assert mx.is_np_shape() is False


def test_arrays_need_shapes():
    with pytest.raises(ValueError, match='array=True'):
        util.set_np(shape=False, array=True)
    util.set_np()
    for turn_off in (lambda: util.set_np_shape(False), lambda: util.np_shape(False).__enter__()):
        with pytest.raises(ValueError, match='reset_np'):
            turn_off()
    assert semantics() == (True, True)
    util.reset_np()


@pytest.mark.parametrize('active, error', [(None, TypeError), ('on', TypeError), (1.0, TypeError), (3, ValueError),
                                           (-1, ValueError)])
def test_set_np_shape_refuses_other_values(active, error):
    with pytest.raises(error):
        util.set_np_shape(active)


def test_two_means_all_threads():
    here, there = threading.Event(), threading.Event()
    seen = []

    def watch():
        seen.append(util.is_np_shape())
        with util.np_shape():
            pass
        here.set()
        there.wait(10)
        seen.append(util.is_np_shape())
        with util.np_shape(False):
            seen.append(util.is_np_shape())
        seen.append(util.is_np_shape())

    watcher = threading.Thread(target=watch)
    watcher.start()
    here.wait(10)
    util.set_np_shape(2)
    try:
        there.set()
        watcher.join()
        assert seen == [False, True, False, True]
        assert util.is_np_shape() and in_thread(util.is_np_shape)
    finally:
        assert util.set_np_shape(False) is True
    assert not util.is_np_shape() and not in_thread(util.is_np_shape)


# --- NumPy semantics as scopes ---

def test_scopes_nest_and_restore():
    with mx.np_shape(), mx.np_array():
        assert semantics() == (True, True)
        with mx.np_array(False), mx.np_shape(False):
            assert semantics() == (False, False)
            assert in_thread(semantics) == (False, False)
        assert semantics() == (True, True)
    assert semantics() == (False, False)


def test_scopes_restore_after_an_error():
    with pytest.raises(KeyError), mx.np_shape(), mx.np_array():
        raise KeyError
    assert semantics() == (False, False)


def test_one_scope_object_can_be_entered_twice():
    shape, array = mx.np_shape(True), mx.np_array(True)
    with shape, array:
        with shape, array:
            pass
        assert semantics() == (True, True)
    assert semantics() == (False, False)


def test_np_shape_none_changes_nothing():
    with mx.np_shape(None):
        assert not mx.is_np_shape()
    with mx.np_shape(True), mx.np_shape(None):
        assert mx.is_np_shape()


def test_a_scope_of_one_thread_is_not_seen_by_another():
    inside, checked = threading.Event(), threading.Event()

    def hold():
        with mx.np_shape(), mx.np_array():
            inside.set()
            checked.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(10)
    assert semantics() == (False, False)
    checked.set()
    holder.join()


# --- NumPy semantics as decorators ---

def test_decorated_functions():
    assert mx.use_np_shape(semantics)() == (True, False)
    assert mx.use_np_array(semantics)() == (False, True)
    assert mx.use_np(semantics)() == (True, True)
    assert mx.use_np(semantics).__name__ == 'semantics'
    assert in_thread(mx.use_np(semantics)) == (True, True)


def test_a_decorated_function_restores_what_was_before():
    @mx.use_np
    def turns_off():
        util.reset_np()

    util.set_np()
    turns_off()
    assert semantics() == (True, True)
    util.reset_np()

    @mx.use_np
    def fails():
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert semantics() == (False, False)


class Base:
    def __init__(self):
        self.at_init = semantics()

    def inherited(self):
        return semantics()


def test_decorated_class():
    @mx.use_np
    class Net(Base):
        constant = 3

        def __call__(self, extra=()):
            return semantics() + extra

        @property
        def value(self):
            """Documented."""
            return semantics()

        @value.setter
        def value(self, given):
            self.at_set = (given, semantics())

        @staticmethod
        def static():
            return semantics()

        @classmethod
        def kind(cls):
            return cls, semantics()

    class Child(Net):
        def plain(self):
            return semantics()

    on = (True, True)
    net = Net()
    assert net.at_init == net() == net.inherited() == net.value == net.static() == Net.static() == on
    assert net(extra=(1,)) == (True, True, 1)
    net.value = 5
    assert net.at_set == (5, on)
    assert Net.value.__doc__ == 'Documented.'
    assert Net.kind() == net.kind() == (Net, on)
    assert Child.kind() == (Child, on)
    assert Child().plain() == (False, False)
    assert Net.constant == 3
    assert Base().inherited() == Base().at_init == (False, False), 'the base class itself must stay as it was'


def test_a_decorated_subclass_wraps_only_what_is_not_in_scope_yet():
    @mx.use_np
    class Parent(Base):
        pass

    @mx.use_np
    class Child(Parent):
        def own(self):
            return semantics()

    assert 'inherited' not in vars(Child)
    assert Child().own() == Child().inherited() == (True, True)

    @mx.use_np_shape
    class ShapeOnly(Base):
        pass

    @mx.use_np
    class Both(ShapeOnly):
        pass

    assert ShapeOnly().inherited() == (True, False)
    assert Both().inherited() == (True, True)


@pytest.mark.parametrize('decorator', [mx.use_np, mx.use_np_array, mx.use_np_shape])
def test_what_cannot_be_decorated(decorator):
    with pytest.raises(TypeError, match=f'{decorator.__name__} decorates'):
        decorator(3)


# --- names ---

def test_names_are_counted_per_hint():
    manager = name.NameManager()
    assert [manager.get(given, 'fc') for given in (None, '', 'mine', None)] == ['fc0', 'fc1', 'mine', 'fc2']
    assert manager.get(None, 'conv') == 'conv0'


def test_prefix_goes_before_all_names():
    with name.Prefix('stage_') as prefix:
        assert name.NameManager.current is prefix
        assert prefix.get(None, 'fc') == 'stage_fc0'
        assert prefix.get('mine', 'fc') == 'stage_mine'
        with name.Prefix('inner_') as inner:
            assert name.NameManager.current is name.Prefix.current is inner
        assert name.NameManager.current is prefix


def test_a_subclass_can_name_in_its_own_way():
    class Upper(name.NameManager):
        def get(self, name, hint):
            return super().get(name, hint).upper()

    with Upper():
        assert name.NameManager.current.get(None, 'fc') == 'FC0'


def test_current_can_be_assigned():
    outer = name.NameManager.current
    with name.NameManager():
        name.NameManager.current = assigned = name.Prefix('a_')
        assert name.NameManager.current is assigned
    assert name.NameManager.current is outer


def test_names_are_of_one_thread():
    hint = 'only_in_this_test'
    with name.Prefix('main_') as prefix:
        assert prefix.get(None, hint) == f'main_{hint}0'
        assert in_thread(lambda: name.NameManager.current.get(None, hint)) == f'{hint}0'
        assert in_thread(lambda: name.NameManager.current.get(None, hint)) == f'{hint}0', 'each thread counts anew'
        assert name.NameManager.current is prefix


def test_one_scope_in_two_threads_at_once():
    prefix = name.Prefix('p_')
    both_inside = threading.Barrier(2, timeout=10)

    def enter():
        before = name.NameManager.current
        with prefix:
            both_inside.wait()
        both_inside.wait()
        return name.NameManager.current is before

    results = []
    other = threading.Thread(target=lambda: results.append(enter()))
    other.start()
    results.append(enter())
    other.join()
    assert results == [True, True]


# --- attributes ---

def test_attributes_of_nested_scopes():
    with mx.AttrScope(__group__='4', __data__='great'):
        with mx.AttrScope(__group__='5') as inner:
            assert inner is mx.AttrScope.current
            assert inner.get(None) == {'__group__': '5', '__data__': 'great'}
            assert inner.get({'__data__': 'mine', 'lr_mult': '1'}) == {
                '__group__': '5', '__data__': 'mine', 'lr_mult': '1'}
        assert mx.AttrScope.current.get({}) == {'__group__': '4', '__data__': 'great'}
    assert mx.AttrScope.current.get(None) == {}


def test_a_scope_gives_back_what_the_outer_one_lent():
    scope = mx.AttrScope(a='1')
    with mx.AttrScope(b='2'), scope, scope:
        assert scope.get(None) == {'a': '1', 'b': '2'}
    assert scope.get(None) == {'a': '1'}


def test_get_does_not_hand_out_the_scopes_own_dict():
    scope = mx.AttrScope(a='1')
    scope.get(None)['a'] = 'changed'
    given = {'b': '2'}
    scope.get(given)['b'] = 'changed'
    assert scope.get(given) == {'a': '1', 'b': '2'}


def test_attributes_are_strings():
    with pytest.raises(ValueError, match='lr_mult must be a string, not 2'):
        mx.AttrScope(lr_mult=2)


def test_attributes_are_of_one_thread():
    before = attribute.AttrScope.current
    attribute.AttrScope.current = attribute.AttrScope(y='hi')
    try:
        assert in_thread(lambda: attribute.AttrScope.current.get(None)) == {}
        assert attribute.AttrScope.current.get(None) == {'y': 'hi'}
    finally:
        attribute.AttrScope.current = before


def test_names_and_attributes_do_not_mix():
    with name.Prefix('a_'), mx.AttrScope(x='1'):
        assert isinstance(name.NameManager.current, name.Prefix)
        assert isinstance(mx.AttrScope.current, mx.AttrScope)


# --- bulk size ---

def test_bulk_size_is_remembered_per_thread():
    start = in_thread(engine.set_bulk_size, 7)
    before = engine.set_bulk_size(20)
    try:
        assert engine.set_bulk_size(0) == 20
        assert engine.set_bulk_size(15) == 0
        assert in_thread(engine.set_bulk_size, 3) == start
        scope = engine.bulk(10)
        with scope, engine.bulk(11):
            assert engine.set_bulk_size(12) == 11
        assert engine.set_bulk_size(15) == 15
    finally:
        engine.set_bulk_size(before)


@pytest.mark.parametrize('size, error', [(-1, MXNetError), (2.5, TypeError), (None, TypeError)])
def test_bulk_size_is_a_count(size, error):
    with pytest.raises(error):
        engine.set_bulk_size(size)
