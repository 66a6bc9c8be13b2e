"""A callback that keeps the codes of the last batch."""

from atomstream.watch.callbacks import Callback


class Last(Callback):
    """Keeps the codes of the last batch."""

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "batch":
            self.codes = estimator._progress.codes.values
