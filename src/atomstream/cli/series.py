"""``series forecast`` and ``series impute``: what several series do together, and what that says of gaps and ends."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from atomstream.callbacks import LearningBar
from atomstream.cli.running import checked
from atomstream.runs.folder import RunFolder
from atomstream.runs.series import SeriesRun
from atomstream.runs.series_settings import SeriesSettings
from atomstream.runs.settings import read_settings


def learn(
    kind: type[SeriesSettings],
    table: Path | None,
    out: Path,
    config: Path | None,
    given: dict[str, Any],
    as_json: bool,
) -> int:
    """Make a run."""
    folder = RunFolder(out)
    told = {} if config is None else checked(config, lambda: read_settings(config, kind))
    told |= {name: value for name, value in given.items() if value not in (None, ())}
    if given.get("columns"):
        told["columns"] = [
            part.strip() for column in given["columns"] for part in column.split(",")
        ]
    if table is not None:
        told["inputs"] = [str(table)]
    settings = checked("settings", lambda: kind(**told))
    settings = settings.changed(inputs=tuple(map(os.path.abspath, settings.inputs)))
    folder.check_free()
    run = SeriesRun(folder, settings)
    with folder.beginning(settings, run.sources):
        run.run(LearningBar(text="learning"))
        folder.log("end", complete=True)
    facts = {
        "run": str(out),
        "out": str(run.out),
        "times": len(run.table.values),
        "series": len(run.table.names),
        "atoms": settings.atoms,
        "figures": run.figures,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return 0
    for warning in run.warnings:
        click.echo(f"Warning: {warning}", err=True)
    told_figures = "".join(f"\n{name}: {value:.4g}" for name, value in run.figures.items())
    click.echo(
        f"{facts['atoms']} atoms from {facts['times']:,} times of {facts['series']} series: {run.out}{told_figures}"
        f"\nLook at them with: atomstream report {out}"
    )
    return 0
