"""The engine of runs where things go wrong: no progress, errors, warnings, early ends."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from cases import of_fields
from numpy.testing import assert_array_equal

from atomstream import OnlineNMF
from atomstream.cli import main
from atomstream.exceptions import InputError
from atomstream.io.source import InputFile
from atomstream.runs import run as engine
from atomstream.runs.folder import RunFolder
from atomstream.runs.run import Run
from atomstream.runs.settings import Settings, checkpoints, option
from atomstream.runs.task import Task
from atomstream.runs.tasks._rows_settings import RowsSettings
from atomstream.runs.tasks.rows import RowsTask
from atomstream.watch.callbacks import Callback

X = np.random.default_rng(0).random((60, 4))


@dataclass(frozen=True)
class StepsSettings(checkpoints, Settings):
    epochs: int = option(4, "Steps.", least=1, free=True)

    def new_model(self):
        return OnlineNMF(2, random_state=0)


class Steps(Task):
    """A task that learns the same rows again and again, and fails where a test wants it to."""

    settings_type = StepsSettings
    help = "Learn."
    fails: Exception | None = None  # in the third step
    results_fail: BaseException | None = None
    idle = False
    warns = ""

    def __init__(self, settings):
        super().__init__(settings)
        self.sources = [InputFile(settings.inputs[0])]

    @property
    def position(self):
        return (self.model.n_steps_ if self.learned else 0,)

    def advance(self, pace):
        while not self.complete and not self.idle:
            if self.warns:
                warnings.warn(f"{self.warns} {self.position[0] % 2}", UserWarning, stacklevel=1)
            if self.fails is not None and self.position == (2,):
                raise self.fails
            self.model.partial_fit(X)
            pace.note(self.model)
            if pace.rest():
                return

    def explained(self, error):
        return f"In other words: {error}"

    def finish(self, folder):
        if self.results_fail is not None:
            raise self.results_fail
        (folder / "results.txt").write_text("done")
        return {"figures": {"rmse": 1.0}}

    def results(self):
        return {}

    def headline(self):
        return "Steps"


@pytest.fixture
def begin(tmp_path):
    """Return a function that begins or continues a run of `Steps`, and a function that runs it."""
    (tmp_path / "x.txt").write_text("x")
    folder = RunFolder(tmp_path / "run")

    def make(**settings):
        made = StepsSettings((str(tmp_path / "x.txt"),), **settings)
        run = Run(folder, Steps(made))
        if (folder.path / "run.toml").exists():
            run.restore(*folder.load()[:2])
        else:
            folder.path.mkdir()
            folder.begin(made, run.task.sources)
        return run

    return make


def learn(run, **known):
    return run.run(lambda _text: Callback(), **known)


def saved(run):
    model, notes, complaints = run.folder.load()
    assert not complaints
    return model, notes


def test_a_run_from_begin_to_end(begin):
    run = begin()
    outcome = learn(run)
    assert (outcome.complete, outcome.reason, outcome.nothing_left) == (True, None, False)
    model, notes = saved(run)
    assert model.n_steps_ == 4
    assert notes["finished"]
    assert notes["figures"] == {"rmse": 1.0}
    assert len(notes["history"]["objective"]) == 4
    assert run.folder.log.events()[-1]["complete"]
    assert learn(begin()).nothing_left


def test_a_task_that_makes_no_progress_ends_with_a_sentence(begin):
    run = begin()
    run.task.idle = True
    with pytest.raises(InputError, match=r"x\.txt has nothing to learn from"):
        learn(run)
    assert run.folder.load() is None


@pytest.mark.parametrize(
    ("error", "raised", "sentence"),
    [
        (ValueError("bad row"), InputError, "In other words: bad row"),
        (InputError("no file"), InputError, "^no file$"),
        (OSError("full"), OSError, "full"),
        (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    ],
)
def test_an_error_while_learning_keeps_the_last_good_state(begin, error, raised, sentence):
    run = begin()
    run.task.fails = error
    with pytest.raises(raised, match=sentence):
        learn(run)
    model, notes = saved(run)
    assert model.n_steps_ == 2
    assert notes["position"] == [2]
    assert not notes["finished"]
    again = begin()
    assert learn(again).complete
    whole = OnlineNMF(2, random_state=0)
    for _ in range(4):
        whole.partial_fit(X)
    assert_array_equal(saved(again)[0].components_, whole.components_)
    assert len(saved(again)[1]["history"]["objective"]) == 4


def test_warnings_are_kept_once_and_over_all_sessions(begin):
    for session in range(2):
        run = begin(epochs=3 * (session + 1))
        run.task.warns = "careful"
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # none escapes
            learn(run)
    assert list(saved(run)[1]["warnings"]) == ["careful 0", "careful 1"]


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_a_run_that_ends_between_learning_and_its_results_is_finished_later(begin, error):
    run = begin()
    run.task.results_fail = error
    with pytest.raises(type(error)):
        learn(run)
    model, notes = saved(run)
    assert model.n_steps_ == 4
    assert not notes["finished"]
    assert not (run.folder.path / "results.txt").exists()
    outcome = learn(again := begin())
    assert outcome.complete
    assert not outcome.nothing_left
    assert (run.folder.path / "results.txt").read_text() == "done"
    assert saved(again)[1]["finished"]
    assert saved(again)[0].n_steps_ == 4


def test_settings_that_allow_no_results_refuse_a_new_run_but_keep_checkpoints(begin):
    run = begin()
    run.task.results_fail = ValueError("too many clusters")
    with pytest.raises(InputError, match="In other words: too many clusters"):
        learn(run)
    assert run.folder.load() is None
    run = begin_again(run, checkpoint_every=0.0)
    run.task.results_fail = ValueError("too many clusters")
    with pytest.raises(InputError):
        learn(run)
    assert saved(run)[0].n_steps_ == 4
    assert not saved(run)[1]["finished"]


def begin_again(run, **settings):
    return Run(run.folder, Steps(run.task.settings.changed(**settings)))


def test_a_run_made_longer_is_not_finished_until_its_results_are_written_again(begin):
    learn(begin())
    longer = begin(epochs=6)
    longer.stop("test")
    outcome = learn(longer)
    assert (outcome.complete, outcome.reason) == (False, "test")
    longer = begin(epochs=6)
    assert learn(longer).complete
    assert saved(longer)[0].n_steps_ == 6


def test_max_time_stops_between_steps_and_counts_over_sessions(begin):
    run = begin(epochs=50)
    assert learn(run, max_time=0.0).reason == "max-time"
    assert saved(run)[0].n_steps_ == 1
    before = run.seconds
    again = begin(epochs=50)
    learn(again, max_time=0.0)
    assert saved(again)[0].n_steps_ == 2
    assert again.seconds > before


KILLED = {
    "": (RowsTask, "learn x.npy --atoms 2 --epochs 2", None),
    **of_fields("killed"),
}


@pytest.mark.parametrize("name", KILLED)
def test_resume_finishes_a_run_that_was_killed_before_its_results(
    tmp_path, monkeypatch, capsys, name
):
    kind, command, written = KILLED[name]
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    (tmp_path / "docs.txt").write_text("cat dog\ndog horse\n" * 20)
    (tmp_path / "walk.txt").write_text("\n".join("abcdcbab" * 30))

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(kind, "finish", full)
        assert main([*command.split(), "--out", "run"]) == 1
    assert "No space left" in capsys.readouterr().err
    assert main(["resume", "run"]) == 0
    assert "Look at it with" in capsys.readouterr().out
    assert written is None or (tmp_path / "run" / written).exists()
    assert main(["resume", "run"]) == 0
    assert "Nothing is left to do" in capsys.readouterr().out


def test_a_checkpoint_at_the_end_of_a_session_is_not_written_twice(begin, monkeypatch):
    saves = []
    real = RunFolder.save
    monkeypatch.setattr(RunFolder, "save", lambda self, *a: (saves.append(1), real(self, *a)))
    monkeypatch.setattr(engine, "PAUSE", 1e9)
    learn(begin(epochs=9, checkpoint_every=0.0), max_time=0.0)
    assert len(saves) == 1


def test_a_run_stopped_while_it_waits_for_rows_has_not_ended_its_pass(tmp_path):
    """A signal that comes before the first rows have been read must not count them as learned."""
    np.save(tmp_path / "x.npy", X)
    settings = RowsSettings((str(tmp_path / "x.npy"),), batch_size=20, epochs=2, holdout=0.0)
    folder = RunFolder(tmp_path / "run")
    stopped = Run(folder, RowsTask(settings))
    stopped.stop("SIGINT")
    with folder.writing():
        outcome = stopped.run(lambda text: Callback())
    assert (outcome.complete, stopped.task.position) == (False, (0, 0, 0))
    task = RowsTask(settings)
    task._feed.stop()
    assert list(task._feed.batches(task.at)) == []
    assert not task._feed.ended
    again = RowsTask(settings)
    assert [len(piece.X) for piece in again._feed.batches(again.at)] == [20, 20, 20]
    assert again._feed.ended


def test_a_run_killed_before_its_last_state_became_the_model_has_it_after_resume(tmp_path):
    """Between a checkpoint and its link a kill leaves an older model beside a complete state."""
    np.save(tmp_path / "x.npy", X)
    every = ["--epochs", "2", "--batch-size", "20", "--checkpoint-every", "0", "--atoms", "2"]
    begin = ["learn", tmp_path / "x.npy", *every, "--out", tmp_path / "run"]
    assert main([str(word) for word in begin]) == 0
    model = tmp_path / "run/model.atoms"
    last, older = model.read_bytes(), sorted((tmp_path / "run/checkpoints").iterdir())[0]
    model.unlink()
    model.write_bytes(older.read_bytes())
    assert model.read_bytes() != last
    assert main(["resume", str(tmp_path / "run")]) == 0
    assert model.read_bytes() == last
