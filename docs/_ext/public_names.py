"""One page for each public name, and a link to it from wherever a page writes the name as code."""

import inspect
import re
from pathlib import Path
from types import ModuleType

from docutils import nodes
from reference import MODULES, NAMES
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import atomstream

SPAN = re.compile(r"(?:atomstream\.)?([A-Za-z_][\w.]*)(?:\(.*\))?")


def leaves(module: str) -> list[str]:
    """Return the names of a public module that have a page: its classes and functions."""
    room = getattr(atomstream, module)
    things = [(key, getattr(room, key)) for key in room.__all__]
    inner = [key for key, it in things if isinstance(it, ModuleType)]
    named = [
        f"{module}.{key}" for key, it in things if inspect.isclass(it) or inspect.isroutine(it)
    ]
    return named + [
        f"{module}.{key}.{name}"
        for key in inner
        for name in getattr(getattr(room, key), "__all__", ())
        if callable(getattr(getattr(room, key), name))
    ]


def names() -> dict[str, list[str]]:
    """Return the public names under the titles of the reference."""
    found = {title: list(inner) for title, inner in NAMES.items()}
    for title, modules in MODULES.items():
        found[title] = [name for module in modules for name in leaves(module)]
    return found


def write(app: Sphinx) -> None:
    """Write the list from which autosummary makes the pages."""
    lines = [":orphan:", "", "Pages of the reference", "======================", ""]
    for title, inner in names().items():
        lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: api", ""]
        lines += [f"   atomstream.{name}" for name in inner] + [""]
    text = "\n".join(lines)
    path = Path(app.srcdir) / "docs/all-names.rst"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


class Linked(SphinxTransform):
    """Make code that is a public name a link to its page."""

    default_priority = 500

    def apply(self, **_: object) -> None:
        """Go through the code of a page."""
        known = self.config.public_names
        for literal in list(self.document.findall(nodes.literal)):
            match = SPAN.fullmatch(literal.astext())
            linked = isinstance(literal.parent, nodes.reference | addnodes.pending_xref)
            if not match or match[1] not in known or linked:
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=f"atomstream.{match[1]}"
            )
            literal.replace_self(link)
            link["refdoc"] = self.env.docname
            link += literal


def foreign(app: Sphinx, what: str, name: str, thing: object, skip: bool, _: object) -> bool | None:
    """Leave out what scikit-learn gives every estimator, and what is not documented."""
    inner = getattr(thing, "fget", thing)
    ours = str(getattr(inner, "__module__", "atomstream")).startswith("atomstream")
    return None if ours and name[0] != "_" else True


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the list before autosummary reads it, and link names as pages are read."""
    known = {name for inner in names().values() for name in inner}
    app.add_config_value("public_names", known, "env")
    app.connect("builder-inited", write, priority=100)
    app.connect("autodoc-skip-member", foreign)
    app.add_transform(Linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
