"""Points of a history arrive where they are sent, offline."""

import numpy as np
import pytest

from atomstream import MissingLibraryError, OnlineNMF
from atomstream.base import extras
from atomstream.watch import loggers

X = np.random.default_rng(0).random((200, 6))


def learned(logger):
    OnlineNMF(3, batch_size=20, n_epochs=1, random_state=0).set_callbacks(logger).fit(X)
    assert logger.points["step"] == list(range(1, 11))
    return dict(zip(logger.points["step"], logger.objective, strict=True))


class Run:
    """Stands for a run of Weights & Biases."""

    def __init__(self):
        self.logged = {}

    def log(self, figures, step, commit):
        assert commit
        self.logged[step] = figures


def test_known_figures_are_sent_once_for_each_point():
    run = Run()
    objective = learned(loggers.WandbLogger(run, prefix="atoms/"))
    assert {step: sent["atoms/objective"] for step, sent in run.logged.items()} == objective
    assert "atoms/moved" not in run.logged[1]  # not known after one batch
    assert all(np.isfinite(list(sent.values())).all() for sent in run.logged.values())


def test_long_streams_send_fewer_points():
    run = Run()
    logger = loggers.WandbLogger(run, max_points=4)
    model = OnlineNMF(3, batch_size=20, n_epochs=4, random_state=0).set_callbacks(logger)
    model.fit(X)
    assert set(logger.points["step"]) <= set(run.logged)
    assert len(run.logged) < 20


@pytest.mark.slow
def test_mlflow(tmp_path, monkeypatch):
    pytest.importorskip("mlflow", reason="MLflow is not installed")
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file:{tmp_path}")
    mlflow.set_experiment("atoms")
    with mlflow.start_run() as run:
        objective = learned(loggers.MLflowLogger())
    stored = mlflow.MlflowClient().get_metric_history(run.info.run_id, "objective")
    assert {metric.step: metric.value for metric in stored} == objective


@pytest.mark.slow
def test_wandb(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="Weights & Biases is not installed")
    import wandb

    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(mode="offline", dir=str(tmp_path)) as run:
        objective = learned(loggers.WandbLogger(run))
        assert run.summary["objective"] == objective[10]
    assert list(tmp_path.rglob("*.wandb"))


@pytest.mark.slow
def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    objective = learned(loggers.TensorBoardLogger(tmp_path))
    read = EventAccumulator(str(tmp_path)).Reload()
    stored = {event.step: event.value for event in read.Scalars("objective")}
    assert stored == pytest.approx(objective, rel=1e-6)  # of single precision


@pytest.mark.parametrize(
    ("make", "name"),
    [(loggers.MLflowLogger, "mlflow"), (lambda: loggers.TensorBoardLogger("x"), "tensorboard")],
)
def test_what_is_not_installed_is_named(make, name, monkeypatch):
    def absent(module):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(MissingLibraryError, match=r"pip install 'atomstream\[loggers\]'"):
        make()
