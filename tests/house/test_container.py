"""The container: its page shows it, and it builds and runs where there is something to build it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from atomstream.cli import main

ROOT = Path(__file__).parents[2]
BASE = "python:3.12-slim"


def test_the_page_shows_the_file_as_it_is():
    page = (ROOT / "docs/recipes/containers.md").read_text(encoding="utf-8")
    shown = page.split("```dockerfile\n")[1].split("```")[0]
    assert shown == (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert f"FROM {BASE}\n" in shown


def instructions():
    """Return the pairs of instruction and arguments of the Dockerfile, in order."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


def test_the_container_runs_as_a_user_and_says_whether_it_is_healthy(capsys):
    known = instructions()
    last = dict(known)  # of an instruction that is given twice the last one counts
    user, names = last["USER"], [name for name, _ in known]
    assert user not in ("root", "0")
    assert any(f"useradd --uid 1000 {user} " in words for name, words in known if name == "RUN")
    # What comes after a RUN as root would be made as root.
    assert max(i for i, name in enumerate(names) if name == "RUN") < names.index("USER")
    asked, writes = last["HEALTHCHECK"].split("CMD ")[1].split(" && ")
    program, *words = asked.split()
    assert [program] == json.loads(last["ENTRYPOINT"])
    assert main(words) == 0
    assert "atomstream" in capsys.readouterr().out
    assert writes == f"test -w {last['WORKDIR']}"


def test_what_the_package_is_built_from_is_not_ignored():
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in kept
    for name in ("src", "pyproject.toml", "README.md", "LICENSE"):
        assert f"!{name}" in kept
        assert (ROOT / name).exists()


def answers(*command):
    """Return whether a command ends well within ten minutes."""
    try:
        return (
            subprocess.run(command, capture_output=True, timeout=600, check=False).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


@pytest.fixture(scope="module")
def builder():
    """The name of a program that builds and runs images."""
    there = [name for name in ("docker", "podman") if shutil.which(name)]
    if not there:
        pytest.skip("neither docker nor podman is installed")
    able = [name for name in there if answers(name, "info")]
    if not able:
        pytest.skip(f"{there[0]} is installed, but its service does not answer")
    if not answers(able[0], "pull", BASE):
        pytest.skip(f"{BASE} cannot be fetched")
    return able[0]


@pytest.mark.slow
def test_the_image_builds_and_learns(builder, tmp_path):
    subprocess.run([builder, "build", "-t", "atomstream-test", str(ROOT)], check=True)
    np.save(tmp_path / "table.npy", np.random.default_rng(0).random((500, 6)))
    who = ["--user", f"{os.getuid()}:{os.getgid()}"]
    if builder == "podman" and os.getuid():
        who = ["--userns", "keep-id"]
    run = [builder, "run", "--rm", *who, "-v", f"{tmp_path}:/data", "atomstream-test"]
    subprocess.run([*run, "learn", "table.npy", "--atoms", "3", "--out", "run"], check=True)
    subprocess.run([*run, "resume", "run", "--epochs", "30"], check=True)
    assert (tmp_path / "run/model.atoms").stat().st_uid == os.getuid()
