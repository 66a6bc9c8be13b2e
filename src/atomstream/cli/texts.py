"""``text topics``: topics of documents in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from atomstream.callbacks import LearningBar
from atomstream.cli.running import begin_session, resume_session, signals
from atomstream.runs.folder import RunFolder
from atomstream.runs.settings import TextSettings
from atomstream.runs.texts import TextRun


def topics(
    files: tuple[str, ...],
    out: Path,
    config: Path | None,
    given: dict[str, Any],
    max_time: float | None,
    as_json: bool,
) -> int:
    """Begin a run."""
    inputs = {"inputs": list(files)} if files else {}
    kind = (TextSettings, TextRun, "text")
    return begin_session(kind, given | inputs, config, out, lambda run: go(run, max_time, as_json))


def resume(folder: RunFolder, epochs: int | None, max_time: float | None, as_json: bool) -> int:
    """Go on with a run whose folder is held."""
    return resume_session(TextRun, folder, "epochs", epochs, lambda run: go(run, max_time, as_json))


def go(run: TextRun, max_time: float | None, as_json: bool) -> int:
    """Learn, and tell what came of it."""
    before = run.model.n_steps_ if run.learned else 0
    with signals(run):
        outcome = run.run(lambda text: LearningBar(text=text), max_time)
    run.folder.log("end", complete=outcome.complete, reason=outcome.reason)
    model, path = run.model, run.folder.path
    facts = {
        "run": str(path),
        "complete": outcome.complete,
        "stopped_by": outcome.reason,
        "topics": run.settings.topics,
        "documents": run.counts.shape[0],
        "steps": model.n_steps_ if run.learned else 0,
        "seconds": round(run.seconds, 3),
        "objective": run.history.recent if run.history.objective else None,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return 0
    for warning in run.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if outcome.complete and facts["steps"] == before:
        click.echo(
            f"Nothing is left to do in {path}; more passes: atomstream resume {path} --epochs N"
        )
        return 0
    click.echo(
        f"{facts['topics']} topics from {facts['documents']:,} documents in {facts['seconds']:.1f} s: {path}"
        + (
            f"\nLook at them with: atomstream report {path}"
            if outcome.complete
            else f"\nStopped by {outcome.reason}; go on with: atomstream resume {path}"
        )
    )
    return 0
