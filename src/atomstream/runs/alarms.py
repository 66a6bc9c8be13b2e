"""Alarms of a run reach somebody: facts for the log, a command, and metrics for a collector."""

import json
import logging
import math
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from atomstream.exceptions import InputError
from atomstream.watch import Learner, Trace

log = logging.getLogger(__name__)

THREAD = "atomstream alarm"  # name of the threads that wait for commands
PATIENCE = 60.0  # seconds after which a command that was started is ended

# Names of the metrics, their kinds for Prometheus, and their help.
METRICS = {
    "samples_total": ("counter", "Samples learned from."),
    "steps_total": ("counter", "Batches learned from."),
    "alarms_total": ("counter", "Alarms: the objective rose for good."),
    "reseeded_atoms_total": ("counter", "Atoms that were given a new start."),
    "objective": ("gauge", "Mean objective of the newest batch, before the update."),
    "drift": ("gauge", "How near an alarm is, 0 to 1; above 1 there is one; NaN: not known."),
    "updated_seconds": ("gauge", "Unix time at which these metrics were written."),
}


def alarm_facts(history: Trace, learner: Learner) -> dict[str, int]:
    """Return what is known of an alarm that the newest batch gave.

    Returns
    -------
    dict
        ``step`` and ``n_samples``, batches and samples learned from; ``began_step``, the first
        batch of the change; ``n_alarms``, the number of alarms so far.
    """
    step = int(learner.n_steps_)
    return {
        "step": step,
        "n_samples": int(learner.n_samples_seen_),
        # The detector counts back to where its statistic left zero: that is where the change began,
        # some batches before it could be told from chance.
        "began_step": max(step - history.overlap * history.detector.since + 1, 1),
        "n_alarms": history.n_alarms,
    }


def alarm_sentence(facts: dict[str, int]) -> str:
    """Return an alarm in words."""
    return (
        f"Alarm: the stream changed at step {facts['began_step']:,}, found at step "
        f"{facts['step']:,} ({facts['n_samples']:,} samples)."
    )


def alarm_command(text: str) -> Callable[[dict[str, Any]], None]:
    """Return a function that starts a command with the facts of an alarm on its standard input.

    The words of the command are split as a shell splits them, but no shell runs: they are the
    program and its arguments. Learning goes on meanwhile; after a minute the command is ended.

    Raises
    ------
    InputError
        Where there is no such program.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--on-alarm {text!r} cannot be split into words: {error}.") from None
    # Asked for before anything is learned: after days it is too late for a typing error.
    if not words or shutil.which(words[0]) is None:
        raise InputError(f"--on-alarm names no program that can be found: {text!r}.")

    def start(facts: dict[str, Any]) -> None:
        """Start the command."""
        # Not a daemon: an alarm of the last batch reaches somebody too.
        text = json.dumps(facts) + "\n"
        threading.Thread(target=_run, args=(words, text), name=THREAD).start()

    return start


def _run(words: Sequence[str], text: str) -> None:
    """Run a command to its end; what it prints is not the result of the run."""
    try:
        # Standard output is for the results of the run; the command may complain, though.
        kept: dict[str, Any] = {"stdout": subprocess.DEVNULL, "timeout": PATIENCE}
        code = subprocess.run(words, input=text.encode(), check=False, **kept).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        log.warning("The command of --on-alarm failed: %s", error)
        return
    if code:
        log.warning("The command of --on-alarm ended with %d.", code)


def metrics_text(history: Trace, learner: Learner, run: str) -> str:
    """Return metrics of a run in the text format that collectors of Prometheus read.

    Parameters
    ----------
    history : Trace
    learner : Learner
    run : str
        Name of the run, the label of all metrics.
    """
    values = {
        "samples_total": float(learner.n_samples_seen_),
        "steps_total": float(learner.n_steps_),
        "alarms_total": float(history.n_alarms),
        "reseeded_atoms_total": float(getattr(learner, "n_reseeded_", 0)),
        "objective": float(learner.batch_objective_),
        "drift": math.nan if history.detector.is_blind else history.detector.statistic,
        "updated_seconds": time.time(),
    }
    # The three characters that the text format wants escaped inside a label.
    label = run.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    lines = []
    for name, (kind, text) in METRICS.items():
        # No figure rather than an infinite one: charts leave a gap, and their scale stays.
        value = values[name] if math.isfinite(values[name]) else "NaN"
        full = f"atomstream_{name}"
        lines += [f"# HELP {full} {text}", f"# TYPE {full} {kind}"]
        lines.append(f'{full}{{run="{label}"}} {value}')
    return "\n".join(lines) + "\n"
