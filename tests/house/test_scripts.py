"""Benchmarks and experiments call functions, each other's too, with what these ask for."""

import os
import re
import subprocess
import sys

import pytest
from pages import ROOT

pytest.importorskip("mypy", reason="mypy is not installed")

WRONG = re.compile(
    r"Missing .*argument|Too few arguments|Unexpected keyword|Module .* no attribute"
)
KNOWN = '"set" of "LayoutEngine"'  # of one kind of engine, which the checker cannot tell


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["benchmarks", "benchmarks/judged", "experiments"])
def test_calls_have_the_arguments_that_functions_ask_for(folder):
    """Most scripts run once in months: here one that no longer fits another's function is found."""
    told = "--check-untyped-defs --ignore-missing-imports --follow-imports=silent"
    told += " --explicit-package-bases --cache-dir .mypy_cache/scripts"
    scripts = [str(path) for path in sorted((ROOT / folder).glob("*.py"))]
    places = "src", "benchmarks", "experiments", folder
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *told.split(), *scripts],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
    )
    assert "source files)" in done.stdout, done.stdout + done.stderr
    wrong = [line for line in done.stdout.splitlines() if WRONG.search(line) and KNOWN not in line]
    assert not wrong, "\n".join(wrong)
