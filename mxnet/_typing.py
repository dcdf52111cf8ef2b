"""Names of types that many signatures share, for editors and type checkers.

Modules import them below `if TYPE_CHECKING:`, so that nothing here is loaded when a program runs. The one exception
is `any_signature`.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar

if TYPE_CHECKING:
    import logging
    import os
    from types import ModuleType

    import numpy
    from numpy.typing import ArrayLike as ArrayLike

    from .context import Context
    from .gluon.parameter import Parameter, ParameterDict
    from .initializer import Initializer
    from .io import DataDesc
    from .lr_scheduler import LRScheduler
    from .metric import EvalMetric
    from .ndarray import NDArray
    from .symbol import Symbol

    # a shape, a kernel or a stride: one length, or one for each axis
    Shape: TypeAlias = int | Sequence[int]
    # what names a dtype: 'float32', numpy.float32, numpy.dtype('float32')
    DType: TypeAlias = str | type[Any] | numpy.dtype[Any]
    # one device, or one for each copy of the parameters
    Contexts: TypeAlias = Context | Sequence[Context]
    Arrays: TypeAlias = NDArray | Sequence[NDArray]
    NestedArrays: TypeAlias = NDArray | Sequence[NDArray] | Sequence[Sequence[NDArray]]
    # an array or a number, where functions of `mx.np` take both
    Operand: TypeAlias = NDArray | numpy.ndarray[Any, Any] | numpy.generic | float
    Keys: TypeAlias = str | int | Sequence[str] | Sequence[int]
    # an initializer, or its registered name
    Init: TypeAlias = Initializer | str
    Path: TypeAlias = str | os.PathLike[str]
    DataDescs: TypeAlias = Sequence[DataDesc | tuple[str, Sequence[int]]]
    Logger: TypeAlias = logging.Logger | ModuleType
    # a metric, its registered name, a function of labels and predictions, or several of these
    Metric: TypeAlias = EvalMetric | str | Callable[..., Any] | Sequence[Any]
    Callback: TypeAlias = Callable[..., Any]
    Callbacks: TypeAlias = Callback | Sequence[Callback]
    GradReq: TypeAlias = str | Sequence[str] | Mapping[str, str]

    # an array of either kind, or a symbol: what a block takes and returns
    Value = TypeVar('Value', bound=NDArray | Symbol)

    class Gradient(NDArray):
        """What `x.grad` is: an array, dense or `row_sparse`; only the latter has these two."""

        data: NDArray
        indices: NDArray

    class Scalar(float):
        """What `x.asscalar()` is: a NumPy number, whose type depends on the dtype.

        It counts as a float. Arithmetic gives `Any`, since a sum of whole numbers may be used as an index.
        """

        dtype: numpy.dtype[Any]
        shape: tuple[()]
        ndim: int
        size: int
        nbytes: int
        itemsize: int
        T: Any

        def item(self) -> Any: ...
        def tolist(self) -> Any: ...
        def tobytes(self) -> bytes: ...
        def astype(self, dtype: Any) -> Any: ...
        def round(self, decimals: int = 0) -> Any: ...
        def __index__(self) -> int: ...
        def __array__(self, *args: Any) -> numpy.ndarray[Any, Any]: ...
        def __abs__(self) -> Any: ...
        def __neg__(self) -> Any: ...
        def __invert__(self) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any, mod: None = None) -> Any: ...
        def __rpow__(self, other: Any, mod: None = None) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __rand__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __ror__(self, other: Any) -> Any: ...
        def __xor__(self, other: Any) -> Any: ...
        def __lshift__(self, other: Any) -> Any: ...
        def __rshift__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...

    class ReshapeOptions(TypedDict, total=False):
        """The keyword arguments of `x.reshape`."""

        shape: Shape
        reverse: bool

    class NumpyReshapeOptions(TypedDict, total=False):
        """The keyword arguments of `x.reshape` of an array of `mx.np`."""

        newshape: Shape
        shape: Shape
        order: str

    class AugmenterOptions(TypedDict, total=False):
        """The keyword arguments of `mx.image.CreateAugmenter`, which iterators of images take too."""

        resize: int
        rand_crop: bool
        rand_resize: bool
        rand_mirror: bool
        mean: Any
        std: Any
        brightness: float
        contrast: float
        saturation: float
        hue: float
        pca_noise: float
        rand_gray: float
        inter_method: int

    class BlockOptions(TypedDict, total=False):
        """The keyword arguments that every block takes."""

        prefix: str | None
        params: ParameterDict | None

    class ZooOptions(BlockOptions, total=False):
        """The keyword arguments of the model zoo's functions."""

        pretrained: bool
        ctx: Contexts | None
        root: Path
        classes: int
        thumbnail: bool
        batch_norm: bool
        bn_size: int
        dropout: float

    class RecurrentOptions(BlockOptions, total=False):
        """The keyword arguments that every recurrent layer takes."""

        use_sequence_length: bool

    class OptimizerOptions(TypedDict, total=False):
        """The keyword arguments that every optimizer takes, without the learning rate."""

        rescale_grad: float
        param_idx2name: Mapping[int, str] | None
        wd: float
        clip_gradient: float | None
        lr_scheduler: LRScheduler | None
        sym: Symbol | None
        begin_num_update: int
        multi_precision: bool
        param_dict: Mapping[int, Parameter] | None

    class RatedOptimizerOptions(OptimizerOptions, total=False):
        """The keyword arguments of an optimizer that has no learning rate among its own."""

        learning_rate: float | None

    class NameOption(TypedDict, total=False):
        """The name that generated functions of MXNet 1.x take and ignore."""

        name: str | None

    class ResultOptions(NameOption, total=False):
        """Where a function writes its result."""

        out: NDArray | None

    class TransposeOptions(ResultOptions, total=False):
        """The keyword arguments of `x.transpose`."""

        axes: Shape


def any_signature(method: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a method that subclasses override with any number of arguments, such as `forward`.

    A type checker then accepts every signature in a subclass; the names of the parameters still tell an editor what
    a parameter without an annotation is.
    """
    return method
