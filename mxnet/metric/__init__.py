"""How good predictions are: metrics that are updated batch by batch.

>>> metric = mx.metric.create('acc')
>>> metric.update(mx.nd.array([0, 1, 1]), mx.nd.array([[0.3, 0.7], [0.1, 0.9], [0.4, 0.6]]))
>>> metric.get()
('accuracy', 0.6666666666666666)

`update` takes a list of arrays of labels and one of predictions (or one array each), on any device.  On a GPU it only
queues work; `get` waits for it.
"""
from .. import ndarray  # programs write mx.metric.ndarray
from .._kinds import explain_methods as _explain_methods
from .._names import suggest_names as _suggest_names
from ._base import CompositeEvalMetric, EvalMetric, alias, check_label_shapes, create, register
from ._classification import (
    F1,
    MCC,
    PCC,
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
)
from ._custom import CustomMetric, np
from ._regression import MAE, MSE, RMSE, Caffe, Loss, PearsonCorrelation, Torch

for _public in (EvalMetric, CompositeEvalMetric, Accuracy, TopKAccuracy, F1, MCC, PCC, Perplexity, CrossEntropy,
                NegativeLogLikelihood, MAE, MSE, RMSE, PearsonCorrelation, Loss, Torch, Caffe, CustomMetric,
                check_label_shapes, create, np):
    _public.__module__ = __name__      # pickles and messages name the path that programs know
    if isinstance(_public, type) and 'update' in vars(_public):
        _explain_methods(_public, 'update')
del _public


_suggest_names(globals())
