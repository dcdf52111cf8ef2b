"""The functions of `mx.np` by the registered names of their operators: `_np_sum` is `mx.np.sum`."""


def __getattr__(name):
    if not name.startswith('_np_'):
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from .numpy_op_signature import _get_builtin_op
    try:
        return _get_builtin_op(name)
    except ValueError as error:
        raise AttributeError(str(error)) from None
