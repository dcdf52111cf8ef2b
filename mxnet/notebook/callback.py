"""Callbacks of `fit` for notebooks: statistics as pandas' data frames, and charts that grow while a network learns.

They need `pip install "remx[notebook]"` (pandas for the frames, Bokeh and IPython for the charts).  Outside a notebook
a chart is not shown, but has its data: `chart.save('curve.html')` writes it as a page.
"""
from __future__ import annotations

import collections
import datetime
import time
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._typing import Path

__all__ = ['LiveBokehChart', 'LiveLearningCurve', 'LiveTimeSeries', 'PandasLogger', 'args_wrapper']

NEEDS = '{what} needs the package {package}: pip install "remx[notebook]"'


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise ImportError(NEEDS.format(what='PandasLogger', package='pandas')) from error
    return pandas


def _bokeh():
    try:
        import bokeh.io
        import bokeh.models
        import bokeh.plotting
        import bokeh.resources
    except ImportError as error:
        raise ImportError(NEEDS.format(what='a live chart', package='bokeh')) from error
    return bokeh


def _in_notebook():
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and getattr(shell, 'kernel', None) is not None


# metric -> (epoch, batch, values) when it was last read
_READ: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _values(param):
    """The metrics of a callback, which begin anew."""
    metric = param.eval_metric
    if metric is None:
        return {}
    values = dict(metric.get_name_value())
    epoch, batch, before = _READ.get(metric, (None, None, None))
    if (epoch, batch) == (param.epoch, param.nbatch) and all(value != value for value in values.values()):
        return dict(before)              # another callback has read it just now, and so it is empty
    _READ[metric] = param.epoch, param.nbatch, values
    metric.reset()
    return values


class PandasLogger:
    """Collects statistics of a run in three data frames: `train_df`, `eval_df` and `epoch_df`.

    Training is looked at every `frequent` batches; the metric begins anew then.

        log = mx.notebook.callback.PandasLogger(batch_size=32)
        module.fit(data, eval_data=test, **log.callback_args())
        log.train_df.plot('elapsed', 'accuracy')
    """

    last_epoch_time: Any

    def __init__(self, batch_size: int, frequent: int = 50) -> None:
        self.batch_size = batch_size
        self.frequent = frequent
        pandas = _pandas()
        self._dataframes = {name: pandas.DataFrame() for name in ('train', 'eval', 'epoch')}
        self.last_time = time.time()
        self.start_time: Any = datetime.datetime.now()
        self.last_epoch_time = self.start_time

    @property
    def train_df(self) -> Any:
        """A row every `frequent` batches of training."""
        return self._dataframes['train']

    @property
    def eval_df(self) -> Any:
        """A row for each evaluation."""
        return self._dataframes['eval']

    @property
    def epoch_df(self) -> Any:
        """A row for each epoch: how long it took."""
        return self._dataframes['epoch']

    @property
    def all_dataframes(self) -> Any:
        """The three frames by name."""
        return self._dataframes

    def elapsed(self) -> Any:
        """The time since the logger was made."""
        return datetime.datetime.now() - self.start_time

    def append_metrics(self, metrics: Any, df_name: Any) -> None:
        """Adds a row to a frame; a metric that is new to it becomes a column, empty so far."""
        pandas = _pandas()
        before = self._dataframes[df_name]
        row = pandas.DataFrame([metrics])
        self._dataframes[df_name] = pandas.concat([before, row], ignore_index=True) if len(before) else row

    def train_cb(self, param: Any) -> None:
        """After a batch of training."""
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, 'train')

    def eval_cb(self, param: Any) -> None:
        """After an evaluation."""
        self._process_batch(param, 'eval')

    def _process_batch(self, param, dataframe):
        now = time.time()
        speed = self.frequent / max(now - self.last_time, 1e-9)
        # upstream has the two speeds the wrong way round
        self.append_metrics({**_values(param), 'batches_per_sec': speed, 'records_per_sec': speed * self.batch_size,
                             'elapsed': self.elapsed(), 'minibatch_count': param.nbatch, 'epoch': param.epoch},
                            dataframe)
        self.last_time = now

    def epoch_cb(self, *args: Any) -> None:
        """After an epoch."""
        now = datetime.datetime.now()
        self.append_metrics({'elapsed': self.elapsed(), 'epoch_time': now - self.last_epoch_time}, 'epoch')
        self.last_epoch_time = now

    def callback_args(self) -> Any:
        """The keywords that tell `fit` of all callbacks: `fit(data, **log.callback_args())`."""
        return {'batch_end_callback': self.train_cb, 'eval_end_callback': self.eval_cb,
                'epoch_end_callback': self.epoch_cb}


class LiveBokehChart:
    """The base of charts that grow during training, every `display_freq` seconds and after each evaluation.

    A chart makes its figure in `setup_chart`, which returns what `_show` returned, and brings it up to date in
    `update_chart_data`.
    """

    fig: Any            # of a subclass

    def __init__(self, pandas_logger: Any, metric_name: Any, display_freq: int = 10, batch_size: Any = None,
                 frequent: int = 50) -> None:
        self.pandas_logger: Any = pandas_logger or PandasLogger(batch_size=batch_size, frequent=frequent)
        self.display_freq = display_freq
        self.last_update = time.time()
        self.metric_name = metric_name
        bokeh = _bokeh()
        if _in_notebook():
            # the script comes with the page: a notebook may have no way to the internet
            bokeh.io.output_notebook(bokeh.resources.INLINE, hide_banner=True)
        self.handle: Any = self.setup_chart()

    def setup_chart(self) -> Any:
        """Makes and shows the figure; returns the handle by which it is brought up to date."""
        raise NotImplementedError(f'{type(self).__name__} has no setup_chart')

    def update_chart_data(self) -> Any:
        """Brings the data of the figure up to date."""
        raise NotImplementedError(f'{type(self).__name__} has no update_chart_data')

    def _show(self, figure):
        return _bokeh().io.show(figure, notebook_handle=True) if _in_notebook() else None

    def interval_elapsed(self) -> bool:
        """Whether it is time to bring the chart up to date."""
        return time.time() - self.last_update > self.display_freq

    def _push_render(self):
        if self.handle is not None:
            _bokeh().io.push_notebook(handle=self.handle)
        self.last_update = time.time()

    def _do_update(self):
        self.update_chart_data()
        self._push_render()

    def batch_cb(self, param: Any) -> None:
        """After a batch of training."""
        if self.interval_elapsed():
            self._do_update()

    def eval_cb(self, param: Any) -> None:
        """After an evaluation."""
        self._do_update()

    def callback_args(self) -> Any:
        """The keywords that tell `fit` of the chart: `fit(data, **chart.callback_args())`."""
        return {'batch_end_callback': self.batch_cb, 'eval_end_callback': self.eval_cb}

    def save(self, path: Path) -> None:
        """Writes the chart as a page that needs nothing else."""
        from bokeh.embed import file_html
        with open(path, 'w', encoding='utf-8') as file:
            file.write(file_html(self.fig, _bokeh().resources.INLINE, title=self.metric_name or 'remx'))


class LiveTimeSeries(LiveBokehChart):
    """A line of values over time: `chart.update_chart_data(value)` adds a point.  Keywords are of Bokeh's figure."""

    fig: Any

    def __init__(self, **fig_params: Any) -> None:
        self._fig_params = fig_params
        super().__init__(None, None)

    def setup_chart(self) -> Any:
        bokeh = _bokeh()
        self.start_time: Any = datetime.datetime.now()
        self.fig = bokeh.plotting.figure(**{'x_axis_label': 'seconds', 'height': 350, **self._fig_params})
        self.source: Any = bokeh.models.ColumnDataSource({'x': [], 'y': []})
        self.fig.line('x', 'y', source=self.source)
        return self._show(self.fig)

    def elapsed(self) -> Any:
        """The time since the chart was made."""
        return datetime.datetime.now() - self.start_time

    def update_chart_data(self, value: Any = None) -> None:
        if value is not None:
            self.source.stream({'x': [self.elapsed().total_seconds()], 'y': [float(value)]})
        self._push_render()

    def _do_update(self):
        self._push_render()


class LiveLearningCurve(LiveBokehChart):
    """A learning curve: a metric on training and held-out data over time, while the network trains.

        curve = mx.notebook.callback.LiveLearningCurve('accuracy', display_freq=2, frequent=10)
        module.fit(data, eval_data=test, **curve.callback_args())
    """

    fig: Any

    LINES = {'train': ('training', '#1f77b4'), 'eval': ('validation', '#2ca02c')}

    def __init__(self, metric_name: Any, display_freq: int = 10, frequent: int = 50) -> None:
        self.frequent = frequent
        self.start_time: Any = datetime.datetime.now()
        self._data: Any = {name: {'elapsed': []} for name in self.LINES}
        super().__init__(None, metric_name, display_freq, frequent=frequent)

    def setup_chart(self) -> Any:
        bokeh = _bokeh()
        self.fig = bokeh.plotting.figure(x_axis_label='seconds', y_axis_label=self.metric_name, height=350, width=600)
        self.sources: Any = {}
        for name, (label, color) in self.LINES.items():
            source = self.sources[name] = bokeh.models.ColumnDataSource({'x': [], 'y': []})
            self.fig.line('x', 'y', source=source, color=color, legend_label=label, line_width=2)
            self.fig.scatter('x', 'y', source=source, color=color, size=4)
        self.fig.legend.location = 'bottom_right'
        return self._show(self.fig)

    def batch_cb(self, param: Any) -> None:
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, 'train')
        if self.interval_elapsed():
            self._do_update()

    def eval_cb(self, param: Any) -> None:
        self._process_batch(param, 'eval')
        self._do_update()

    def _process_batch(self, param, df_name):
        data = self._data[df_name]
        for key, value in _values(param).items():
            data.setdefault(key, []).append(value)
        data['elapsed'].append((datetime.datetime.now() - self.start_time).total_seconds())

    def update_chart_data(self) -> None:
        for name, source in self.sources.items():
            data = self._data[name]
            times = data['elapsed']
            if not times:
                continue
            if self.metric_name not in data:
                known = ', '.join(key for key in data if key != 'elapsed') or 'none'
                raise ValueError(f'LiveLearningCurve: there is no metric {self.metric_name!r}, only {known}')
            shown = len(source.data['x'])
            source.stream({'x': times[shown:], 'y': data[self.metric_name][shown:]})


def args_wrapper(*args: Any) -> Any:
    """The keywords for `fit` of several callback objects: `fit(data, **args_wrapper(log, curve))`."""
    together = collections.defaultdict(list)
    for callback in args:
        for name, function in callback.callback_args().items():
            together[name].append(function)
    return dict(together)
