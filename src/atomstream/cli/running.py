"""``learn`` and ``resume`` for every kind of run: from the settings to what came of them."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from atomstream.base import counted, plural
from atomstream.cli.options import AS_JSON, DURATION, PATH, STOP_AFTER, given, options_of, warn
from atomstream.exceptions import InputError
from atomstream.io.files import only_one
from atomstream.io.inputs import STANDARD_INPUT
from atomstream.io.source import guesses_of
from atomstream.runs import Outcome, Run, RunFolder, StoppedAtOnce, stopped_by_signals
from atomstream.runs.settings import read_settings
from atomstream.runs.task import (
    Task,
    as_input_error,
    forward_warnings,
    making_sense,
    task_named,
    task_of,
)
from atomstream.watch import alarms_of
from atomstream.watch.callbacks import LearningBar

ON_ALARM = (
    "Program and arguments to start at each alarm, without a shell; it reads the alarm as JSON. "
    "In the first 60 batches only a rise of the objective to a hundred times gives one."
)
METRICS = "File of metrics for a Prometheus node collector, such as atomstream.prom."
ESTIMATE = "Say in a few seconds how long it would take, and how much memory; begin no run."
GO_ON = "Continue the run in --out where there is one, with the same settings; else begin it."
HEADER = "Whether the first line of what comes on standard input names its columns (default: auto)."
STOPPING = (
    "Ctrl-C finishes the current step, saves, and stops; `atomstream resume` continues the run."
)


def learning_command(task: str, name: str, summary: str) -> click.Command:
    """Return the command that begins a run of this kind.

    Parameters
    ----------
    task : str
        Name of the task.
    name : str
        Name of the command.
    summary : str
        Its line of help.
    """
    kind = task_named(task)

    def begin(
        out: Path | None,
        config: Path | None,
        max_time: float | None,
        on_alarm: str | None,
        metrics: Path | None,
        as_json: bool,
        resume: bool,
        **options: Any,
    ) -> int:
        """Begin a run: settings from file and options, a free folder, then learn."""
        estimated = options.pop("estimate", False)
        settings = _settings_of(kind, config, options)
        if estimated:
            return _say_estimate(kind, settings, as_json)
        if out is None:
            raise click.UsageError("Missing option '--out'.")
        folder = RunFolder(out)
        if resume and folder.exists:
            with folder.writing(), _saying_how_to_go_on(folder):
                _check_same(folder, kind, settings)
                return _go_on(folder, kind, settings, (on_alarm, metrics), max_time, as_json)
        folder.check_free()  # before inputs are opened, which may take minutes
        run = Run(folder, checked_aloud("settings", lambda: task_of(kind, settings)))
        _listen(run, on_alarm, metrics)
        with folder.beginning(settings, run.task.sources), _saying_how_to_go_on(folder):
            return _learn(run, max_time, as_json)

    command = click.Command(name, callback=begin)
    command.help = f"{summary}\n\n{kind.help}\n\n{STOPPING}"
    n_inputs = -1 if kind.many else 1
    needed = kind.work is Task.work  # without an estimate
    estimate = click.Option(["--estimate"], is_flag=True, help=ESTIMATE)
    command.params = [
        click.Argument([kind.argument], nargs=n_inputs, required=False, type=str),
        click.Option(["--out"], type=PATH, required=needed, help="Folder for the new run."),
        *([] if needed else [estimate]),
        click.Option(["--resume"], is_flag=True, help=GO_ON),
        click.Option(["--config"], type=PATH, help="TOML file of settings; options override it."),
        *options_of(kind.settings_type),
        *_last(),
    ]
    return command


def _settings_of(kind: type[Task], config: Path | None, options: dict[str, Any]) -> Any:
    """Return the settings of a file and of options, which override it; inputs by their paths."""
    names, values = options.pop(kind.argument), dict[str, Any]()
    if config is not None:
        values = as_input_error(config, lambda: read_settings(config, kind.settings_type))
    values |= given(kind.settings_type, options)
    if names not in (None, ()):
        values["inputs"] = list(names) if kind.many else [only_one(names)]
    settings = as_input_error("settings", lambda: kind.settings_type(**values))
    places = (it if _is_anywhere(it) else os.path.abspath(it) for it in settings.inputs)
    return as_input_error("settings", lambda: settings.placed(tuple(places)))


def _say_estimate(kind: type[Task], settings: Any, as_json: bool) -> int:
    """Print how long a run would take, and how much memory; nothing is written."""
    from atomstream.runs.estimate import estimate
    from atomstream.runs.run import explained

    task = checked_aloud("settings", lambda: task_of(kind, settings))
    with explained(task, warn):
        found = estimate(task)
    click.echo(json.dumps(found.facts()) if as_json else found.sentences(task.unit))
    return 0


def _is_anywhere(name: str) -> bool:
    """Return whether an input is the same in every folder: standard input, or in a store."""
    return name == STANDARD_INPUT or "://" in name


def _last() -> list[click.Option]:
    """Return the options that learning and resuming share."""
    return [
        click.Option(["--max-time"], type=DURATION, help=STOP_AFTER),
        click.Option(["--on-alarm"], type=str, metavar="COMMAND", help=ON_ALARM),
        click.Option(["--metrics"], type=PATH, metavar="FILE", help=METRICS),
        click.Option(["--json", "as_json"], is_flag=True, help=AS_JSON),
    ]


def _say_alarm(facts: dict[str, Any]) -> None:
    """Write a line on an alarm to standard error."""
    from atomstream.runs.alarms import alarm_sentence

    click.echo(alarm_sentence(facts), err=True)


def _listen(run: Run, on_alarm: str | None, metrics: Path | None) -> None:
    """Let alarms reach standard error and a command, and metrics a file."""
    run.listeners.append(_say_alarm)
    if on_alarm is not None:
        from atomstream.runs.alarms import alarm_command

        tell = alarm_command(on_alarm)
        path = str(run.folder.path)
        run.listeners.append(lambda facts: tell({"run": path, **facts}))
    # Now rather than as a warning at the first write.
    if metrics is not None and not metrics.parent.is_dir():
        raise InputError(f"--metrics {metrics}: there is no folder {metrics.parent}.")
    run.metrics = metrics


def resume_command(name: str, learning: Mapping[tuple[str, ...], str]) -> click.Command:
    """Return the command that continues a run, with the goal of every kind as an option.

    Parameters
    ----------
    name : str
        Name of the command.
    learning : mapping
        The words of the commands that begin runs, and the name of the task of each.
    """
    # Kinds share goals, such as epochs: one option serves all of them.
    commands: dict[str, list[str]] = {}
    for words, task in learning.items():
        if goal := task_named(task).goal:
            commands.setdefault(goal, []).append(" ".join(words))
    goals = [
        click.Option([f"--{goal}"], type=int, help=f"New value of --{goal} ({', '.join(known)}).")
        for goal, known in sorted(commands.items())
    ]
    command = click.Command(name, callback=_resume)
    command.help = (
        "Continue RUN where it stopped. The result is the same as without the stop.\n\n"
        "Inputs are those of RUN. A run that was begun on - reads standard input again and learns "
        "from what comes; the - may be given once more."
    )
    run = click.Argument(["run"], type=PATH)
    again = click.Argument(["inputs"], nargs=-1, metavar="[-]")
    engine = click.Option(["--engine"], type=str, help="New value of --engine, of runs in rounds.")
    header = click.Option(["--header"], type=str, help=HEADER)
    command.params = [run, again, *goals, engine, header, *_last()]
    return command


def _resume(
    run: Path,
    inputs: tuple[str, ...],
    max_time: float | None,
    on_alarm: str | None,
    metrics: Path | None,
    as_json: bool,
    engine: str | None,
    header: str | None,
    **goals: int | None,
) -> int:
    """Go on with a run, further than it was asked to at first where a goal is given."""
    folder = RunFolder(run)
    folder.check()
    # From the first reading on: another process must not go on with the same run meanwhile.
    with folder.writing(), _saying_how_to_go_on(folder):
        kind, settings = folder.task(), folder.settings()
        if inputs and (inputs != (STANDARD_INPUT,) or STANDARD_INPUT not in settings.inputs):
            raise InputError(
                f"{run} goes on with its own inputs, {', '.join(settings.inputs)}; leave "
                f"{' '.join(inputs)} out."
            )
        for name, value in goals.items():
            # The options of all kinds are there; those not given are None.
            if value is None:
                continue
            if name != kind.goal:
                further = f"continues with --{kind.goal}" if kind.goal else "cannot be made longer"
                raise InputError(f"--{name} is for other kinds of runs; {run} {further}.")
            settings = as_input_error(f"--{name}", lambda: settings.changed(**{name: value}))  # noqa: B023
        if engine is not None:
            if not getattr(settings, "slots", None):
                raise InputError(
                    f"--engine is for runs in rounds; {run} was begun without --slots."
                )
            settings = as_input_error("--engine", lambda: settings.changed(engine=engine))
        reading = settings
        if header is not None:
            if STANDARD_INPUT not in settings.inputs:
                raise InputError(f"--header is for runs on standard input; {run} reads files.")
            reading = as_input_error("--header", lambda: settings.changed(header=header))
        return _go_on(folder, kind, reading, (on_alarm, metrics), max_time, as_json)


def _go_on(
    folder: RunFolder,
    kind: type[Task],
    settings: Any,
    told: tuple[str | None, Path | None],
    max_time: float | None,
    as_json: bool,
) -> int:
    """Go on with a run that is held, with settings of which only free ones may be others."""
    path, before = folder.path, folder.settings()
    resumed = Run(folder, as_input_error(path, lambda: task_of(kind, settings)))
    if STANDARD_INPUT in settings.inputs:
        # Each stream has lines of its own; the settings of the run stay those of its beginning.
        resumed.task.settings = settings = settings.changed(header=before.header)
    found = folder.load()
    _listen(resumed, *told)
    # Before the run is restored: its position counts rows of the inputs as they were.
    folder.check_inputs(resumed.task.sources)
    if found is not None:
        model, notes, complaints = found
        for complaint in complaints:
            click.echo(f"Skipped: {complaint}", err=True)
        with making_sense(path):
            resumed.restore(model, notes)
    _check_goal(path, kind, settings, resumed.task)
    # Only now, when nothing was refused: a mistyped goal leaves the run as it was.
    folder.write_settings(settings)
    if STANDARD_INPUT in settings.inputs:
        click.echo("Standard input cannot be read again: continuing with what comes.", err=True)
    folder.log.write("resume", position=list(resumed.task.position))
    return _learn(resumed, max_time, as_json)


def _check_same(folder: RunFolder, kind: type[Task], settings: Any) -> None:
    """Refuse settings that decide what is learned and are not those of a run."""
    if folder.task() is not kind:
        of = folder.task().settings_type.command()
        raise InputError(f"{folder.path} holds a run of atomstream {of}; choose another --out.")
    before = folder.settings()
    flags = {"inputs": kind.argument}
    differing = [
        f"{flags.get(name, '--' + name.replace('_', '-'))} {_words(was)}, now {_words(now)}"
        for name, was, now in settings.differences(before)
        if not (name == "header" and STANDARD_INPUT in settings.inputs)
    ]
    if differing:
        raise InputError(
            f"{folder.path} was begun with {'; '.join(differing)}. Give the settings that it was "
            "begun with, or choose another --out."
        )


def _words(value: Any) -> str:
    """Return the value of a setting as it is given."""
    return " ".join(value) or "none" if isinstance(value, tuple) else str(value)


def _check_goal(path: Path, kind: type[Task], settings: Any, task: Task) -> None:
    """Raise InputError where a run has gone further than it is asked to."""
    if kind.goal is None or not task.learned:
        return
    goal = getattr(settings, kind.goal)
    # Just at the goal is complete, with nothing in a further pass.
    if goal is not None and (task.position[0], any(task.beyond)) > (goal, False):
        raise InputError(f"{path} has learned further than --{kind.goal} {goal}.")


@contextmanager
def _saying_how_to_go_on(folder: RunFolder) -> Iterator[None]:
    """Let an error of the system say how to continue a run of which something is kept."""
    try:
        yield
    except OSError as error:
        # Without a checkpoint the folder is removed, and the same command begins anew.
        if folder.has_state:
            error.add_note(f"continue with: atomstream resume {folder.path}")
        raise


def _learn(run: Run, max_time: float | None, as_json: bool) -> int:
    if not as_json:
        for sentence in run.warnings:  # those of the sessions before
            warn(sentence)
        run.on_warning = warn
        run.on_guesses = _say_guesses
    with stopped_by_signals(run):
        try:
            unit = plural(run.task.unit)
            outcome = run.run(lambda text: LearningBar(text=text, unit=unit), max_time)
        except StoppedAtOnce:
            outcome = Outcome(complete=False, reason=run.reason)
    if as_json:
        click.echo(json.dumps(_facts(run, outcome)))
        return 0
    if n_skipped := run.task.tallies().get("skipped"):
        warn(f"{counted(n_skipped, run.task.unit)} could not be read or learned from: left out.")
    click.echo(_sentence(run, outcome))
    return 0


def _say_guesses(guesses: Mapping[str, Mapping[str, str]]) -> None:
    """Write a line to standard error on what was guessed of inputs, those alike together."""
    alike: dict[str, list[str]] = {}
    for name, known in guesses.items():
        alike.setdefault("; ".join(known.values()), []).append(name)
    for sentence, names in alike.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        click.echo(f"{names[0]}{more}: {sentence}.", err=True)


def _facts(run: Run, outcome: Outcome) -> dict[str, Any]:
    # A run that stopped before its first batch has no objective.
    learned = run.task.learned and run.history.objective
    return {
        "run": str(run.folder.path),
        "complete": outcome.complete,
        "stopped_by": outcome.reason,
        **run.task.results(),
        "chosen": _chosen(run),
        "seconds": round(run.seconds, 3),
        "objective": run.history.recent if learned else None,
        "position": list(run.task.position),
        "left_out": run.task.left_out(),
        "alarms": alarms_of(run.history),
        "warnings": run.warnings,
        **({"guesses": guesses} if (guesses := guesses_of(run.task.sources)) else {}),
    }


def _chosen(run: Run) -> dict[str, Any]:
    """Return what was chosen for the model, for machines."""
    choices = run.task.model.chosen_ if run.task.learned else {}
    return {name: choice.as_dict() for name, choice in choices.items()}


def _sentence(run: Run, outcome: Outcome) -> str:
    path, goal = run.folder.path, run.task.goal
    if outcome.nothing_left:
        more = f"; to continue: atomstream resume {path} --{goal} N" if goal else ""
        return f"Nothing is left to do in {path}{more}"
    if outcome.complete:
        advice = run.task.advice(run.history)
        if advice is not None:
            warn(advice)
        more = f"Look at it with: atomstream report {path}"
    else:
        more = f"Stopped by {outcome.reason}; continue with: atomstream resume {path}"
    # The file of results, for kinds of runs that say which it is.
    made = path / run.task.results().get("out", "") if outcome.complete else path
    return f"{run.task.headline()} in {run.seconds:.1f} s: {made}\n{more}"


def checked_aloud(what: Any, make: Callable[[], Any]) -> Any:
    """Return what is made as `as_input_error` does, and print its warnings."""
    with forward_warnings(warn):
        return as_input_error(what, make)
