"""What is built and declared: complete distributions, metadata, settings of the tests."""

import builtins
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def sources():
    """The files of the repository; where there is none, this is no checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("git does not know this folder")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of both distributions."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return folder


@pytest.mark.slow
def test_the_source_distribution_is_complete(built, sources):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names - {"PKG-INFO"} == sources


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built, sources):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        licence = [name for name in archive.namelist() if name.endswith("/licenses/LICENSE")]
    assert names == {name.removeprefix("src/") for name in sources if name.startswith("src/")}
    assert len(licence) == 1


def test_releases_of_python_are_listed_from_the_oldest_on():
    listed = re.findall(r"Python :: 3\.(\d+)", " ".join(PROJECT["project"]["classifiers"]))
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=3.")
    assert list(map(int, listed)) == list(range(int(oldest), int(oldest) + len(listed)))
    assert len(listed) >= 3


def test_filters_of_warnings_import_no_package():
    filters = PROJECT["tool"]["pytest"]["ini_options"]["filterwarnings"]
    assert filters[0] == "error"
    for line in filters[1:]:
        category = line.split(":")[2]
        assert isinstance(getattr(builtins, category), type), line


@pytest.mark.slow
def test_importing_everything_warns_of_nothing():
    code = "import atomstream; from atomstream import *; print(len(dir(atomstream)))"
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert int(done.stdout) > 40
