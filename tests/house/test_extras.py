"""With the core alone installed, all that needs more says in one sentence what to install."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cases import of_fields

from atomstream.base.extras import EXTRAS, library
from atomstream.exceptions import InputError, MissingLibraryError

WORKS = {
    *("learn @x.npy --atoms 3 --out @rows", "learn @x.csv --atoms 3 --out @table"),
    *("encode @rows @x.npy --out @codes.csv", "inspect @rows"),
    *(line for case in of_fields("bare").values() for line in case["works"]),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    script = Path(__file__).parents[1] / "without_extras.py"
    folder = tmp_path_factory.mktemp("bare")
    done = subprocess.run(
        [sys.executable, script, folder], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_all_modules_and_names_are_imported_or_name_what_they_lack(found):
    imports = {what: error for what, error in found.items() if what.startswith(("import", "atom"))}
    assert len(imports) > 200
    lacking = {what for what, error in imports.items() if error}
    assert lacking <= {"import atomstream.fields.series.forecaster", "atomstream.SeriesForecaster"}
    assert all("pip install" in imports[what] for what in lacking)


@pytest.mark.slow
def test_every_command_works_or_says_what_to_install(found):
    commands = {what: error for what, error in found.items() if not what.startswith("import")}
    for what, error in commands.items():
        if what.startswith("atomstream.") or what in WORKS:
            continue
        assert error is not None, what
        assert error.startswith(("2 Error: ", "MissingLibraryError: ")), (what, error)
        assert "pip install '" in error or "no NetCDF" in error, (what, error)
    assert not any(commands[what] for what in WORKS), {what: commands[what] for what in WORKS}


def test_the_error_can_be_caught_as_bad_input_and_as_a_failed_import(monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    for kind in (InputError, ImportError, MissingLibraryError):
        with pytest.raises(kind, match=r"Zarr stores need zarr: pip install 'atomstream\[io\]'"):
            library("zarr", "Zarr stores")


def test_every_extra_is_one_of_the_package():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    text = pyproject.read_text()
    assert all(f"\n{extra} = [" in text for extra in EXTRAS.values())
