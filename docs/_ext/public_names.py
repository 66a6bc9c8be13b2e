"""One page for each public name, and a link to it from wherever a page writes the name as code."""

import inspect
import re
import sys
from collections import Counter
from operator import attrgetter
from pathlib import Path
from types import ModuleType

from docutils import nodes
from reference import MODULES, NAMES, public
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import atomstream

SPAN = re.compile(r"(?:atomstream\.)?([A-Za-z_][\w.]*)(?:\(.*\))?")


def inside(room: str) -> list[str]:
    """Return the public names in a module, those of the modules in it included."""
    names, module = [], attrgetter(room)(atomstream)
    for key in public(module):
        thing = getattr(module, key)
        if isinstance(thing, ModuleType):
            if not thing.__name__.startswith(module.__name__):
                continue  # its names have their pages where they are defined
            sys.modules.setdefault(f"atomstream.{room}.{key}", thing)
            names += inside(f"{room}.{key}")
        elif inspect.isclass(thing) or inspect.isroutine(thing):
            names.append(f"{room}.{key}")
    return names


def listed() -> dict[str, list[str]]:
    """Return the public names under the titles of the reference.

    Some modules are attributes of the package alone; autodoc asks for them as modules.
    """
    found = {title: list(names) for title, names in NAMES.items()}
    for title, rooms in MODULES.items():
        for room in rooms:
            sys.modules.setdefault(f"atomstream.{room}", getattr(atomstream, room))
        found[title] = [name for room in rooms for name in inside(room)]
    return found


def door(name: str) -> str:
    """Return the module under which a public name is listed: empty for the package itself."""
    return name.rpartition(".")[0]


def elsewhere(name: str) -> tuple[bool, int]:
    """Return a key by which the best name of a thing comes first.

    A name in the module that defines the thing is best. Else one door serves all things of a file
    of sources, for a page of sources links back to one module alone.
    """
    thing = attrgetter(name)(atomstream)
    room = attrgetter(door(name))(atomstream) if door(name) else atomstream
    return thing.__module__ != room.__name__, -DOORS[thing.__module__, door(name)]


LISTED = listed()
ALL = [name for names in LISTED.values() for name in names]
DOORS = Counter((attrgetter(name)(atomstream).__module__, door(name)) for name in ALL)
FIRST = {}  # the name under which each thing has its page
for _name in sorted(ALL, key=elsewhere):
    FIRST.setdefault(attrgetter(_name)(atomstream), _name)
PAGE = {name: FIRST[attrgetter(name)(atomstream)] for names in LISTED.values() for name in names}


def write(app: Sphinx) -> None:
    """Write the list from which autosummary makes the pages."""
    lines = [":orphan:", "", "Pages of the reference", "======================", ""]
    for title, names in LISTED.items():
        lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: api", ""]
        lines += [f"   atomstream.{name}" for name in names if PAGE[name] == name] + [""]
    text = "\n".join(lines)
    path = Path(app.srcdir) / "docs/all-names.rst"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


class Linked(SphinxTransform):
    """Make code that is a public name a link to its page."""

    default_priority = 500

    def apply(self, **_: object) -> None:
        """Go through the code of a page."""
        for literal in list(self.document.findall(nodes.literal)):
            match = SPAN.fullmatch(literal.astext())
            linked = isinstance(literal.parent, nodes.reference | addnodes.pending_xref)
            if not match or match[1] not in PAGE or linked:
                continue
            target = f"atomstream.{PAGE[match[1]]}"
            link = addnodes.pending_xref("", refdomain="py", reftype="obj", reftarget=target)
            literal.replace_self(link)
            link["refdoc"] = self.env.docname
            link += literal


def foreign(app: Sphinx, what: str, name: str, thing: object, skip: bool, _: object) -> bool | None:
    """Leave out what scikit-learn gives every estimator."""
    inner = getattr(thing, "fget", thing)
    ours = str(getattr(inner, "__module__", "atomstream")).startswith("atomstream")
    return None if ours and name[0] != "_" else True


# What stays as it is in a docstring: examples, formulas, code, the heads of parameters.
KEPT = re.compile(
    r"(^ *>>>.*(?:\n.+)*|^( *)\.\. math::.*\n(?:(?:\2 +.*)?\n)*|`+[^`]*`+|^ *[\w, ]+(?: : |$))",
    re.MULTILINE,
)


def plain(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list) -> None:
    """Take names that end in an underscore, and bars, for what they are; in RST they are marks.

    Pages that are named by their path become links.
    """
    text, end, parts = "\n".join(lines) + "\n", 0, []
    for match in [*KEPT.finditer(text), None]:
        between = text[end : match.start() if match else None]
        between = re.sub(r"\bdocs/([\w/-]+)\.md", r":doc:`\1 </docs/\1>`", between)
        parts.append(re.sub(r"(?<=\w)_(?=\W|$)|\||(?<=, )\*(?=\w)", r"\\\g<0>", between))
        parts.append(match[0] if match else "")
        end = match.end() if match else end
    lines[:] = "".join(parts).split("\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the list of names, and link names as pages are read."""
    things = {name: attrgetter(name)(atomstream) for name in PAGE}
    places = {
        f"atomstream.{name}": f"{thing.__module__}.{name.rpartition('.')[2]}"
        for name, thing in things.items()
    }
    app.config.autosummary_context = {"places": places}  # where the examples are searched for it
    write(app)  # now: autosummary looks through the files that are there when the build begins
    app.connect("autodoc-skip-member", foreign)
    app.connect("autodoc-process-docstring", plain, priority=100)  # before numpydoc
    app.add_transform(Linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
