"""``learn`` and ``resume``: a run from its settings to its end, with signals heeded."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from atomstream.callbacks import LearningBar
from atomstream.exceptions import InputError
from atomstream.io.inputs import STANDARD_INPUT, open_inputs
from atomstream.runs.folder import RunFolder
from atomstream.runs.learning import Learning, Outcome
from atomstream.runs.series_settings import SeriesSettings
from atomstream.runs.settings import (
    NetworkSettings,
    Settings,
    TextSettings,
    WalkSettings,
    read_settings,
)


def learn(
    inputs: tuple[str, ...],
    out: Path,
    config: Path | None,
    given: dict[str, Any],
    max_time: float | None,
    as_json: bool,
) -> int:
    """Begin a run."""
    folder = RunFolder(out)
    settings = _settings(inputs, config, given)
    folder.check_free()
    sources = open_inputs(settings.inputs, settings.wanted())
    learning = Learning(folder, settings, sources)
    with folder.beginning(settings, sources):
        return _run(learning, max_time, as_json)


def resume(
    run: Path, epochs: int | None, batches: int | None, max_time: float | None, as_json: bool
) -> int:
    """Go on with a run, of rows or of a network."""
    folder = RunFolder(run)
    folder.check()
    with folder.writing():
        folder.clean()
        settings = checked(run, lambda: folder.settings())
        if isinstance(settings, NetworkSettings):
            from atomstream.cli import networks

            if epochs is not None:
                raise InputError("--epochs is for rows; a network is learned from in --batches.")
            return networks.resume(folder, batches, max_time, as_json)
        if isinstance(settings, TextSettings) and batches is None:
            from atomstream.cli import texts

            return texts.resume(folder, epochs, max_time, as_json)
        if isinstance(settings, WalkSettings | SeriesSettings):
            raise InputError(
                f"{run} is complete; begin another run with: atomstream {settings.COMMAND}"
            )
        if batches is not None:
            raise InputError("--batches is for networks; rows are learned from in --epochs.")
        if epochs is not None:
            settings = checked("--epochs", lambda: settings.changed(epochs=epochs))
        sources = open_inputs(settings.inputs, settings.wanted())
        folder.check_inputs(sources)
        learning, found = Learning(folder, settings, sources), folder.load()
        if found is not None:
            model, notes, complaints = found
            for complaint in complaints:
                click.echo(f"Passed over: {complaint}", err=True)
            learning.restore(model, notes)
        if learning.position.epoch > settings.epochs:
            raise InputError(
                f"{run} has made {learning.position.epoch} passes, --epochs is {settings.epochs}."
            )
        folder.write_settings(settings)
        if STANDARD_INPUT in settings.inputs:
            click.echo("Standard input cannot be gone back to: going on with what comes.", err=True)
        folder.log("resume", position=list(learning.position))
        return _run(learning, max_time, as_json)


def begin_session(kind: Any, given: dict[str, Any], config: Path | None, out: Path, go: Any) -> int:
    """Begin a run of a domain: settings from file and options, a free folder, then ``go``.

    Parameters
    ----------
    kind : (type of settings, type of run, name of the domain)
    given : dict
        Options, None where they were not given.
    config, out : path
    go : callable
        Learns, and tells what came of it: run -> exit code.
    """
    settings_of, run_of, domain = kind
    folder = RunFolder(out)
    told = {} if config is None else checked(config, lambda: read_settings(config, settings_of))
    told |= {name: value for name, value in given.items() if value is not None} | {"domain": domain}
    settings = checked("settings", lambda: settings_of(**told))
    settings = settings.changed(inputs=tuple(map(os.path.abspath, settings.inputs)))
    folder.check_free()
    run = run_of(folder, settings)
    with folder.beginning(settings, run.sources):
        return go(run)


def resume_session(run_of: Any, folder: RunFolder, name: str, value: Any, go: Any) -> int:
    """Go on with a run of a domain whose folder is held, with one setting changed, or none where it is None."""
    settings = folder.settings()
    if value is not None:
        settings = checked(f"--{name}", lambda: settings.changed(**{name: value}))
    run, found = run_of(folder, settings), folder.load()
    folder.check_inputs(run.sources)
    if found is not None:
        model, notes, complaints = found
        for complaint in complaints:
            click.echo(f"Passed over: {complaint}", err=True)
        run.restore(model, notes)
    folder.write_settings(settings)
    folder.log("resume", step=run.model.n_steps_ if run.learned else 0)
    return go(run)


def _settings(inputs: tuple[str, ...], config: Path | None, given: dict[str, Any]) -> Settings:
    """Put options before the config file, and that before the defaults; name inputs so that they are found again."""
    told = {} if config is None else checked(config, lambda: read_settings(config, Settings))
    told |= {name: value for name, value in given.items() if value not in (None, ())}
    if given.get("columns"):
        told["columns"] = [
            part.strip() for column in given["columns"] for part in column.split(",")
        ]
    if inputs:
        told["inputs"] = list(inputs)
    settings = checked("settings", lambda: Settings(**told))
    if STANDARD_INPUT in settings.inputs and settings.epochs > 1:
        raise InputError(f"Standard input can be read once, --epochs is {settings.epochs}.")
    found = [name if name == STANDARD_INPUT else os.path.abspath(name) for name in settings.inputs]
    return settings.changed(inputs=tuple(found))


def checked(what: Any, make: Any) -> Any:
    """Return what is made, turning a bad setting or an unreadable file into a sentence."""
    try:
        return make()
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None


def heeded(what: Any, make: Any) -> Any:
    """Return what is made as `checked` does; warnings are sentences too."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        made = checked(what, make)
    for warning in heard:
        warn(str(warning.message))
    return made


def warn(sentence: str) -> None:
    """Tell what a result is not."""
    click.echo(f"Warning: {sentence}", err=True)


def _run(learning: Learning, max_time: float | None, as_json: bool) -> int:
    before = learning.model.n_steps_ if learning.learned else 0
    with signals(learning):
        outcome = learning.run(lambda text: LearningBar(text=text), max_time)
    learning.folder.log("end", complete=outcome.complete, reason=outcome.reason)
    _tell(learning, outcome, as_json, before)
    return 0


@contextmanager
def signals(learning: Any) -> Iterator[None]:
    """End cleanly at the first Ctrl-C or SIGTERM; a second one ends at once."""
    before: dict[signal.Signals, Any] = {}

    def heed(number: int, _frame: Any) -> None:
        learning.stop(signal.Signals(number).name)
        for known, handler in before.items():
            signal.signal(known, handler)

    for known in (signal.SIGINT, signal.SIGTERM):
        before[known] = signal.signal(known, heed)
    try:
        yield
    finally:
        for known, handler in before.items():
            signal.signal(known, handler)


def _tell(learning: Learning, outcome: Outcome, as_json: bool, before: int) -> None:
    model, path = learning.model, learning.folder.path
    learned = learning.learned
    facts = {
        "run": str(path),
        "complete": outcome.complete,
        "stopped_by": outcome.reason,
        "atoms": learning.settings.atoms,
        "samples": model.n_samples_seen_ if learned else 0,
        "steps": model.n_steps_ if learned else 0,
        "seconds": round(learning.seconds, 3),
        "objective": learning.history.recent if learned else None,
        "position": list(learning.position),
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    if outcome.complete and facts["steps"] == before:
        click.echo(
            f"Nothing is left to do in {path}; more passes: atomstream resume {path} --epochs N"
        )
        return
    click.echo(
        f"{facts['atoms']} atoms from {facts['samples']:,} samples in {facts['seconds']:.1f} s: {path}"
        + (
            f"\nLook at them with: atomstream report {path}"
            if outcome.complete
            else f"\nStopped by {outcome.reason}; go on with: atomstream resume {path}"
        )
    )
    sys.stdout.flush()
