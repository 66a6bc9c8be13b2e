"""Take a field out, with what needs it, and run what is left.

python tests/without_field.py NAME [PATH ...]    # only tests there, without lint and types
python tests/without_field.py --each

The sources are copied; the rooms of the field and of those that need it go, with their tests; the
tables of public names are written anew. Then lint, types and all fast tests run, but those of
pages, which tell of all fields, and those of two fields of which neither needs the other.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from atomstream.base.declared import declarations

ROOT = Path(__file__).resolve().parents[1]


def with_needing(name):
    """A field, and all fields that need it, directly or not."""
    found, fields = {name}, declarations(outside=False)
    while more := {other for other, each in fields.items() if found & {*each.needs}} - found:
        found |= more
    return sorted(found)


def copied(folder):
    """Copy what git knows of, and the compiled kernels, which need not be compiled anew."""
    known = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    kernels = (path.relative_to(ROOT) for path in (ROOT / "src").rglob("*.nb[ic]"))
    for name in [*filter(None, known.split("\0")), *map(str, kernels)]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def take_out(folder, names):
    """Remove fields from a copy, with their tests, and the pages, which name them."""
    for name in names:
        shutil.rmtree(folder / "src/atomstream/fields" / name)
        shutil.rmtree(folder / "tests/fields" / name, ignore_errors=True)
    for pages in ("tests/pages", "tests/doc_figures", "tests/together"):
        shutil.rmtree(folder / pages)


def rest_passes(name, paths):
    """Whether lint, types and tests pass without a field."""
    names = with_needing(name)
    print(f"without {', '.join(names)}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "atomstream"
        copied(folder)
        take_out(folder, names)
        python = [sys.executable, "-m"]
        tests = ["pytest", "-q", "-n", "2", "--dist", "loadfile", "-m", "not slow and not long"]
        checks = [[*python, "ruff", "check", "-q", "src", "tests"], [*python, "mypy"]]
        commands = [
            [sys.executable, "tests/stubs.py"],
            *([] if paths else checks),
            [*python, *tests, *(paths or ["tests", "src"])],
        ]
        where = {"cwd": folder, "env": os.environ | {"PYTHONPATH": str(folder / "src")}}
        codes = [subprocess.run(command, check=False, **where).returncode for command in commands]
    return not any(codes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="?", choices=[*declarations(outside=False)])
    parser.add_argument("paths", nargs="*", help="only these tests")
    parser.add_argument("--each", action="store_true", help="take out one field after another")
    given = parser.parse_args()
    chosen = [*declarations(outside=False)] if given.each else [given.name]
    failed = [name for name in chosen if name and not rest_passes(name, given.paths)]
    print(f"fails without: {', '.join(failed)}" if failed else "passes")
    sys.exit(bool(failed))
