"""``walk partition``: cells of a map, or states of a walk, by where they lead."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from atomstream.cli.running import checked
from atomstream.runs.folder import RunFolder
from atomstream.runs.settings import WalkSettings, read_settings
from atomstream.runs.walks import WalkRun


def partition(
    file: Path | None, out: Path, config: Path | None, given: dict[str, Any], as_json: bool
) -> int:
    """Make a run."""
    folder = RunFolder(out)
    told = {} if config is None else checked(config, lambda: read_settings(config, WalkSettings))
    told |= {name: value for name, value in given.items() if value is not None} | {"domain": "walk"}
    for name in ("origin", "destination"):
        if given.get(name) is not None:
            told[name] = [part.strip() for part in given[name].split(",")]
    if file is not None:
        told["inputs"] = [str(file)]
    settings = checked("settings", lambda: WalkSettings(**told))
    settings = settings.changed(inputs=tuple(map(os.path.abspath, settings.inputs)))
    folder.check_free()
    run = WalkRun(folder, settings)
    with folder.beginning(settings, run.sources):
        run.run(lambda text: click.echo(text, err=True))
        folder.log("end", complete=True)
    model = run.model
    facts = {
        "run": str(out),
        "states": len(model.states_),
        "transitions": model.n_steps_,
        "dropped": run.n_dropped,
        "clusters": settings.clusters,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return 0
    click.echo(
        f"{facts['clusters']} clusters of {facts['states']:,} states from {facts['transitions']:,} transitions: {out}"
        f"\nLook at them with: atomstream report {out}"
    )
    return 0
