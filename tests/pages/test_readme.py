"""What the README says is what happens: its numbers, and the first line of each of its commands."""

import re
import runpy
import shlex
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from commands import run
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits

from atomstream import OnlineNMF, RandomWalkFactorization, samplers

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = re.search(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[1]
COMMANDS = [line.partition("#")[::2] for line in SHELL.splitlines()]


def pattern(line):
    """Return what a line may look like elsewhere.

    Seconds depend on the machine, and each release of Python has another manual.
    """
    timed = re.sub(r"[\d.]+ s:", "SECONDS", line)
    counted = re.escape(re.sub(r"[\d,]+ documents", "COUNT", timed))
    return counted.replace("SECONDS", r"[\d.]+ s:").replace("COUNT", r"[\d,]+ documents")


def test_the_readme_shows_ten_commands():
    assert len(COMMANDS) == 10
    assert all(line.strip() for _, line in COMMANDS)


def test_patterns_of_lines_see_wrong_ones():
    wanted = pattern("8 topics from 1,318 documents in 12.7 s: topics")
    assert re.fullmatch(wanted, "8 topics from 1,402 documents in 3 s: topics")
    assert not re.fullmatch(wanted, "9 topics from 1,318 documents in 12.7 s: topics")


@pytest.mark.long
def test_commands_of_the_readme_print_what_it_says(tmp_path, monkeypatch, capsys):
    for needed in ("PIL", "matplotlib", "networkx", "jinja2"):
        pytest.importorskip(needed)
    runpy.run_path(str(ROOT / "examples/first_files.py"))["main"](tmp_path)
    monkeypatch.chdir(tmp_path)
    wrong = []
    for command, line in COMMANDS:
        name, *arguments = shlex.split(command)
        assert name == "atomstream"
        capsys.readouterr()
        run(*arguments)
        printed = capsys.readouterr().out.splitlines()[0]
        if not re.fullmatch(pattern(line.strip()), printed):
            wrong.append((command, line, printed))
    assert wrong == []


def test_strokes_of_digits_explain_what_the_readme_says(room):
    digits = load_digits().data / 16
    values = np.linalg.svd(digits, compute_uv=False) ** 2
    least = np.sqrt(values[16:].sum() / values.sum())
    assert f"{least:.0%}" == "22%"
    assert "an error of 26 %; no 16 patterns of any sign can go below 22 %" in README
    for seed in range(3):
        model = OnlineNMF(16, random_state=seed).fit(digits)
        rest = digits - model.inverse_transform(model.transform(digits))
        room.near(np.linalg.norm(rest) / np.linalg.norm(digits), 0.26, abs=0.02)


def test_sides_of_the_karate_club_are_those_of_spectral_clustering(room):
    club = nx.karate_club_graph()
    ties, n_members = nx.to_numpy_array(club), len(club)
    true = np.array([club.nodes[member]["club"] == "Officer" for member in club])

    def right(found):
        return max((found == true).mean(), (found != true).mean())

    spectral = SpectralClustering(2, affinity="precomputed", random_state=0)
    assert round(right(spectral.fit_predict(ties)) * n_members) == 33
    for seed in range(3):
        chain, rng = samplers.RandomWalk(ties), np.random.default_rng(seed)
        walk, _ = chain.run(rng, np.array([0]), 100_000)
        model = RandomWalkFactorization(2, n_states=n_members, random_state=seed).fit(walk)
        room.share(right(model.partition()), at_least=0.95)
