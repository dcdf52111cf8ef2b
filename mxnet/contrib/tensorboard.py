"""Logs that TensorBoard shows: curves, histograms, pictures, texts, sounds, embeddings, networks.

Programs that said `from mxboard import SummaryWriter` say `from mxnet.contrib.tensorboard import SummaryWriter`.
The event files are written by `torch.utils.tensorboard`; that needs `pip install "remx[tensorboard]"`.
"""
from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._names import suggest_names as _suggest_names
from ..gluon.contrib.estimator import BatchEnd, EpochEnd, TrainBegin, TrainEnd
from ..ndarray import NDArray

if TYPE_CHECKING:
    from .._typing import Path
    from ..gluon.block import Block
    from ..gluon.contrib.estimator import Estimator

__all__ = ['LogMetricsCallback', 'SummaryWriter', 'TensorBoardHandler']

NO_TENSORBOARD = 'logs for TensorBoard need the package tensorboard: pip install "remx[tensorboard]"'


def _torch_writer(*args, **kwargs):
    try:
        from torch.utils.tensorboard import SummaryWriter as Writer
    except ImportError as error:
        raise ImportError(NO_TENSORBOARD) from error
    return Writer(*args, **kwargs)


def _numpy(values):
    if isinstance(values, NDArray):
        return values.asnumpy()
    if hasattr(values, 'detach'):               # a torch tensor
        return values.detach().cpu().numpy()
    return np.asarray(values)


def _number(value, tag):
    array = _numpy(value)
    if array.size != 1:
        raise ValueError(f'add_scalar {tag!r}: a scalar is one number, not an array of shape {array.shape}')
    return float(array.reshape(()))


class SummaryWriter:
    """Writes what TensorBoard shows into a new file in `logdir`, as MXBoard's class of this name did.

    Arrays may be NDArrays, NumPy arrays or torch tensors.  Events wait in a queue of `max_queue` and are on disk after
    `flush_secs` seconds, `flush()` or `close()`.

        with mx.contrib.tensorboard.SummaryWriter('logs') as writer:
            writer.add_scalar('loss', 0.5, global_step=0)
            writer.add_histogram('weights', net.weight.data(), global_step=0)
    """

    def __init__(self, logdir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: Any = None,
                 verbose: bool = True) -> None:
        self._logdir = os.fspath(logdir)
        self._settings = {'max_queue': max_queue, 'flush_secs': flush_secs, 'filename_suffix': filename_suffix or ''}
        self._verbose = verbose
        self._curves: dict[Any, Any] = {}            # writers of folders of their own, for several curves in one plot
        self._scalars: dict[Any, Any] = {}
        self._closed = False
        self._writer = _torch_writer(self._logdir, **self._settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def get_logdir(self) -> Any:
        """The folder of the event file."""
        return self._logdir

    # ------------------------------------------------------------------ numbers
    def add_scalar(self, tag: str, value: Any, global_step: int | None = None) -> None:
        """A point of a curve.  ('name', number), or a dict of names and numbers: several curves in one plot.

        Those have folders of their own, `logdir/tag/name`: TensorBoard draws the same tag of several folders together.
        """
        if not isinstance(value, (tuple, list, dict)):
            self._scalar(self._opened(), f'{self._logdir}/{tag}', tag, value, global_step)
            return
        if not isinstance(value, dict):
            if len(value) != 2:
                raise ValueError(f'add_scalar {tag!r}: a named value is (name, number), not {len(value)} things')
            value = {value[0]: value[1]}
        self._opened()
        for name, number in value.items():
            folder = f'{self._logdir}/{tag}/{name}'
            if folder not in self._curves:
                self._curves[folder] = _torch_writer(folder, **self._settings)
            self._scalar(self._curves[folder], folder, tag, number, global_step)

    def _scalar(self, writer, key, tag, value, step):
        number, now = _number(value, tag), time.time()
        writer.add_scalar(tag, number, step, walltime=now)
        self._scalars.setdefault(key, []).append([now, None if step is None else int(step), number])

    def export_scalars(self, path: Path) -> None:
        """All numbers so far as JSON: {folder/tag: [[time, step, number], ...]}."""
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(self._scalars, file)

    def clear_scalar_dict(self) -> None:
        """Forgets the numbers that `export_scalars` would write."""
        self._scalars = {}

    def add_hparams(self, hparams: Mapping[str, Any], metrics: Mapping[str, Any],
                    global_step: int | None = None) -> None:
        """The settings of a training and what came of it, for TensorBoard's page HParams: a row for each `logdir`.

        Values of `hparams` are numbers, texts or truth values; others are written as text.

            writer.add_hparams({'lr': 0.1, 'optimizer': 'sgd'}, {'accuracy': 0.97})
        """
        from torch.utils.tensorboard.summary import hparams as summaries
        settings = {}
        for name, value in hparams.items():
            if isinstance(value, (NDArray, np.generic)):
                value = _numpy(value).item()
            settings[name] = value if isinstance(value, (bool, str, int, float)) else str(value)
        writer = self._opened()
        numbers = {name: _number(value, name) for name, value in metrics.items()}
        for summary in summaries(settings, numbers):
            writer.file_writer.add_summary(summary)
        for name, number in numbers.items():
            self._scalar(writer, f'{self._logdir}/{name}', name, number, global_step)

    def add_histogram(self, tag: str, values: Any, global_step: int | None = None, bins: Any = 'default') -> None:
        """How values are distributed.  `bins`: 'default' (TensorFlow's), a number, edges, or np.histogram's names.

        NaN and infinite values, as in a training that diverges, are left out; an array of nothing else writes nothing.
        """
        values = _numpy(values)
        if not values.size:
            raise ValueError(f'add_histogram {tag!r}: there are no values in an array of shape {values.shape}')
        values = values.astype(np.float64)
        values = values[np.isfinite(values)]
        if not values.size:
            return
        if isinstance(bins, str) and bins == 'default':
            # TensorFlow's end at 1e20
            bins = 'tensorflow' if abs(values).max() < 1e20 else np.histogram_bin_edges(values, 30)
        elif not isinstance(bins, str):
            # torch's writer takes edges only
            bins = np.histogram_bin_edges(values, _numpy(bins).tolist())
        self._opened().add_histogram(tag, values, global_step, bins)

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, num_thresholds: int = 127,
                     global_step: int | None = None, weights: Any = None) -> None:
        """Precision over recall for thresholds between 0 and 1.  `labels` are 0 or 1, `predictions` between them."""
        labels, predictions = _numpy(labels), _numpy(predictions)
        if num_thresholds < 2:
            raise ValueError(f'add_pr_curve {tag!r}: num_thresholds must be at least 2, not {num_thresholds}')
        if labels.shape != predictions.shape:
            raise ValueError(f'add_pr_curve {tag!r}: labels have shape {labels.shape}, predictions {predictions.shape}')
        if weights is not None:
            weights = np.broadcast_to(_numpy(weights), labels.shape).ravel()
        self._opened().add_pr_curve(tag, labels.ravel(), predictions.ravel(), global_step, num_thresholds, weights)

    # ------------------------------------------------------------------ things to look at and to listen to
    def add_image(self, tag: str, image: Any, global_step: int | None = None, dataformats: Any = None) -> None:
        """A picture (H, W) or (C, H, W), or a grid of pictures (N, C, H, W).

        Bytes are shown as they are, other numbers as shares of full brightness, from 0 to 1.  `dataformats='HWC'` or
        'NHWC' says that colours come last, as in what `mx.image.imread` returns.
        """
        image = _numpy(image)
        if dataformats is None:
            if image.ndim not in (2, 3, 4):
                raise ValueError(f'add_image {tag!r}: a picture has 2, 3 or 4 axes, not the shape {image.shape}')
            dataformats = {2: 'HW', 3: 'CHW', 4: 'NCHW'}[image.ndim]
        if image.dtype == np.float16:
            image = image.astype(np.float32)
        self._opened().add_image(tag, image, global_step, dataformats=dataformats)

    def add_audio(self, tag: str, audio: Any, sample_rate: int = 44100, global_step: int | None = None) -> None:
        """A sound: numbers from -1 to 1, in one axis when axes of length 1 are left out."""
        import torch
        sound = np.squeeze(_numpy(audio)).astype(np.float32)
        if sound.ndim != 1:
            raise ValueError(f'add_audio {tag!r}: a sound has one axis, not the shape {sound.shape}')
        self._opened().add_audio(tag, torch.from_numpy(sound), global_step, sample_rate)

    def add_text(self, tag: str, text: str, global_step: int | None = None) -> None:
        """A text, which TensorBoard reads as Markdown."""
        self._opened().add_text(tag, str(text), global_step)

    def add_embedding(self, tag: str, embedding: Any, labels: Any = None, images: Any = None,
                      global_step: int | None = None) -> None:
        """Points for TensorBoard's projector: a row each, with labels and pictures (N, C, H, W) if there are any."""
        import torch
        points = _numpy(embedding)
        if points.ndim != 2:
            raise ValueError(f'add_embedding {tag!r}: points are rows of a matrix, not of shape {points.shape}')
        if labels is not None:
            labels = [str(label) for label in (labels.asnumpy().tolist() if isinstance(labels, NDArray) else labels)]
        if images is not None:
            images = _numpy(images).astype(np.float32)
            images = torch.from_numpy(images / 255 if images.max(initial=0) > 1 else images)
        for what, given in (('labels', labels), ('images', images)):
            if given is not None and len(given) != len(points):
                raise ValueError(f'add_embedding {tag!r}: {len(points)} points, but {len(given)} {what}')
        self._opened().add_embedding(torch.from_numpy(points.astype(np.float32)), labels, images, global_step, tag)

    def add_graph(self, net: Block, shape: Mapping[str, Sequence[int]] | None = None) -> None:
        """A network: a Symbol, or a HybridBlock that was hybridized and has run.

        With `shape`, a dict of the inputs' shapes, edges are labelled with what flows along them.
        """
        from ._tensorboard_graph import graph
        self._opened().file_writer.add_graph(graph(net, shape))

    # ------------------------------------------------------------------ the files
    def _opened(self):
        if self._closed:
            raise ValueError(f'the writer of {self._logdir} is closed; reopen() begins a new file')
        return self._writer

    def flush(self) -> None:
        """Writes what waits to disk."""
        for writer in (self._writer, *self._curves.values()):
            writer.flush()

    def close(self) -> None:
        """Writes what waits to disk and closes the files."""
        if not self._closed:
            for writer in (self._writer, *self._curves.values()):
                writer.close()
            self._curves = {}
            self._closed = True

    def reopen(self) -> None:
        """After `close`, goes on in a new file of the same folder."""
        if self._closed:
            self._writer = _torch_writer(self._logdir, **self._settings)
            self._closed = False


class LogMetricsCallback:
    """A callback of `fit` that writes metrics for TensorBoard, as points over epochs.

    With `prefix` the curve of a metric is `prefix-name`.  Folders of their own for training and evaluation give two
    curves in one plot.

        model.fit(data, batch_end_callback=[LogMetricsCallback('logs/train')],
                  eval_end_callback=[LogMetricsCallback('logs/eval')])
    """

    def __init__(self, logging_dir: Any, prefix: str | None = None) -> None:
        self.prefix = prefix
        self.summary_writer: Any = SummaryWriter(logging_dir)

    def __call__(self, param: Any) -> None:
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            self.summary_writer.add_scalar(name if self.prefix is None else f'{self.prefix}-{name}', value,
                                           global_step=param.epoch)
        # so that a page that is open shows it
        self.summary_writer.flush()


class TensorBoardHandler(TrainBegin, BatchEnd, EpochEnd, TrainEnd):
    """A handler of `Estimator.fit` that writes metrics for TensorBoard: each epoch, and every `log_interval` batches.

    `fit(..., log_dir='logs')` adds one.  `metrics` are those of the estimator unless given.  The network, once it is
    hybridized and has run, is drawn too; `histograms=True` adds the parameters' distributions after each epoch.
    """

    def __init__(self, log_dir: Path, log_interval: int | None = None, metrics: Any = None, histograms: bool = False,
                 priority: float = np.inf) -> None:
        self.log_dir = log_dir
        self.log_interval = log_interval
        self.metrics = metrics
        self.histograms = histograms
        self.priority = priority
        self.writer: Any = None
        self.batch_index: Any
        self.current_epoch: Any
        self.batch_index = self.current_epoch = 0

    def train_begin(self, estimator: Estimator, *args: Any, **kwargs: Any) -> None:
        self.writer = SummaryWriter(self.log_dir)
        self.batch_index = self.current_epoch = 0

    def _values(self, estimator, parts):
        metrics = self.metrics if self.metrics is not None else [m for part in parts for m in part]
        return [pair for metric in metrics for pair in metric.get_name_value() if pair[1] == pair[1]]

    def batch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> None:
        if self.batch_index == 0 and getattr(estimator.net, '_cached_graph', None):
            self.writer.add_graph(estimator.net)
        if self.log_interval and self.batch_index % self.log_interval == 0:
            for name, value in self._values(estimator, [estimator.train_metrics]):
                self.writer.add_scalar(f'batch/{name}', value, self.batch_index)
        self.batch_index += 1

    def epoch_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> None:
        for name, value in self._values(estimator, [estimator.train_metrics, estimator.val_metrics]):
            self.writer.add_scalar(name, value, self.current_epoch)
        self.writer.add_scalar('learning rate', estimator.trainer.learning_rate, self.current_epoch)
        if self.histograms:
            for name, parameter in estimator.net.collect_params().items():
                self.writer.add_histogram(name, parameter.data(parameter.list_ctx()[0]), self.current_epoch)
        self.writer.flush()
        self.current_epoch += 1

    def train_end(self, estimator: Estimator, *args: Any, **kwargs: Any) -> None:
        self.writer.close()


_suggest_names(globals())
