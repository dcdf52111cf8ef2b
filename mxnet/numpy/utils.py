"""Constants and dtypes under the names that NumPy gives them."""
import numpy

__all__ = ['NAN', 'NINF', 'NZERO', 'NaN', 'PINF', 'PZERO', 'bool', 'bool_', 'e', 'finfo', 'float16', 'float32',
           'float64', 'iinfo', 'inf', 'int16', 'int32', 'int64', 'int8', 'nan', 'newaxis', 'pi', 'uint16', 'uint32',
           'uint64', 'uint8']

float16, float32, float64 = numpy.float16, numpy.float32, numpy.float64
int8, int16, int32, int64 = numpy.int8, numpy.int16, numpy.int32, numpy.int64
uint8, uint16, uint32, uint64 = numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64
bool_ = numpy.bool_
bool = bool
finfo, iinfo = numpy.finfo, numpy.iinfo

pi, e, inf, nan = numpy.pi, numpy.e, numpy.inf, numpy.nan
PINF, NINF, PZERO, NZERO = inf, -inf, 0.0, -0.0
NAN = NaN = nan
newaxis = None
