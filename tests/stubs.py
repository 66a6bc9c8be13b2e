"""Write the names that fields declare into the tables of public names.

python tests/stubs.py

Those of the package are lines of its table. Those of its modules are found when they are asked for;
their tables tell them to type checkers.
"""

import re
import subprocess
import sys
from pathlib import Path

from atomstream.base.declared import declared

PACKAGE = Path(__file__).resolve().parents[1] / "src/atomstream"
OF_FIELDS = re.compile(
    r"^(from \.fields.*|import (typing|atomstream\.fields.*)|\w+(: \S+)? = atomstream\.fields.*)\n",
    re.MULTILINE,
)


def stubs():
    """Return the lines on names of fields by the paths of the tables that hold them."""
    tables = (path for path in PACKAGE.rglob("*.pyi") if OF_FIELDS.search(path.read_text("utf-8")))
    found = {path: ([], []) for path in tables}  # those whose last field has gone lose its lines
    for name, place in declared("names", outside=False).items():
        *modules, name = name.split(".")
        module, _, inner = place.partition(":")
        module = module.removesuffix(".")
        path = PACKAGE.joinpath(*modules).with_suffix(".pyi")
        path = path if modules and path.exists() else PACKAGE.joinpath(*modules, "__init__.pyi")
        imports, names = found.setdefault(path, ([], []))
        if modules and name[0].isupper():
            imports.append("import typing")
        if modules:
            imports.append(f"import {module}")
            kind = ": typing.TypeAlias" if name[0].isupper() else ""
            names.append(f"{name}{kind} = {module}{inner and f'.{inner}'}")
        else:
            package = f".{module.partition('.')[2]}" if inner else ".fields"
            imports.append(f"from {package} import {name} as {name}")
    return found


def write():
    """Write the tables, sorted and formatted as all sources are."""
    for path, (imports, names) in stubs().items():
        text = OF_FIELDS.sub("", path.read_text(encoding="utf-8"))
        head, doc, rest = text.partition('"""\n\n')
        body = "\n".join([head + doc + "\n".join(dict.fromkeys(imports)), rest, *names]) + "\n"
        path.write_text(body, encoding="utf-8")
        for command in (["check", "--fix", "--select", "I"], ["format"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, "-q", path], check=True)


if __name__ == "__main__":
    write()
