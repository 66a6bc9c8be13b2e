"""Take a field out, with what needs it, and run what is left.

python tests/without_field.py NAME [-k EXPRESSION]
python tests/without_field.py --each

The sources are copied; the rooms of the field and of those that need it go, with their tests and
the pages that name them; the tables of public names are written anew. Then all tests but the long
ones run, and before them lint and types.
"""

import argparse
import os
import re
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
    """Remove fields from a copy, with their tests and the pages that name what they declare."""
    fields, gone = declarations(outside=False), set()
    for name in names:
        gone |= {public.split(".")[-1] for public in fields[name].names}
        shutil.rmtree(folder / "src/atomstream/fields" / name)
        shutil.rmtree(folder / "tests/fields" / name, ignore_errors=True)
    word = re.compile(rf"\b(atomstream\.|import |`)({'|'.join(sorted(gone))})\b")
    for page in [*(folder / "docs").rglob("*.md"), *(folder / "docs").rglob("*.py")]:
        if word.search(page.read_text(encoding="utf-8")) and page.name != "reference.md":
            page.unlink()


def rest_passes(name, more):
    """Whether lint, types and tests pass without a field."""
    names = with_needing(name)
    print(f"without {', '.join(names)}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "atomstream"
        copied(folder)
        take_out(folder, names)
        python = [sys.executable, "-m"]
        tests = ["pytest", "-q", "-n", "2", "--dist", "loadfile", "-m", "not long", "tests", "src"]
        commands = [
            [sys.executable, "tests/stubs.py"],
            [*python, "ruff", "check", "-q", "src", "tests"],
            [*python, "mypy"],
            [*python, *tests, *more],
        ]
        where = {"cwd": folder, "env": os.environ | {"PYTHONPATH": "src"}}
        codes = [subprocess.run(command, check=False, **where).returncode for command in commands]
    return not any(codes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", nargs="?", choices=[*declarations(outside=False)])
    parser.add_argument("--each", action="store_true", help="take out one field after another")
    parser.add_argument("-k", dest="expression", help="only tests that match")
    given = parser.parse_args()
    chosen = [*declarations(outside=False)] if given.each else [given.name]
    beside = ["-k", given.expression] if given.expression else []
    failed = [name for name in chosen if name and not rest_passes(name, beside)]
    print(f"fails without: {', '.join(failed)}" if failed else "passes")
    sys.exit(bool(failed))
