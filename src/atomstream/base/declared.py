"""What fields declare of themselves, found in the package and by entry points of others.

A field is a folder that can be taken out. Its ``field.toml`` names what it adds: data, of which
nothing is loaded before it is used. A place such as ``.model:Walk`` is a name in a module, and one
that begins with a dot lies in the package of the field.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from atomstream.exceptions import InputError

GROUP = "atomstream.fields"  # of entry points; a line of it is ``spectra = "my_package.spectra"``
FILE = "field.toml"
WITHIN = re.compile(r'= "\.')  # a place within the package of the field
Table: TypeAlias = Mapping[str, Any]
# The `__getattr__`, `__dir__` and `__all__` of a module.
LazyNames: TypeAlias = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


@dataclass(frozen=True)
class Declaration:
    """What one field adds to the package; each name is mapped to its place.

    Attributes
    ----------
    package : str
        In which the field lies.
    needs : tuple of str
        Other fields that it imports.
    names : mapping of str to str
        Public names: "X" of the package, "looks.X" of one of its modules.
    models, values, parts : mapping of str to str
        Classes that model files may name, and their modules.
    looks : mapping of str to str
        Models, and the looks of them.
    tasks : mapping of str to table
        Kinds of runs: ``command``, ``summary`` and ``task``.
    rows : mapping of str to table
        Further ways of ``learn``: ``settings``, a class whose fields are further options, and for
        another choice of ``--model``, by this name, ``model``, its class, and ``help``.
    verbs : mapping of str to table
        Further commands: ``summary`` and ``verb``.
    help : mapping of str to str
        Groups of commands, and the line of help about each.
    notes : mapping of str to table or str
        What checkpoints of its runs keep, as `atomstream.base.saved_fields` calls it.
    readers : mapping of str to str
        Endings of files of rows.
    instead : mapping of str to str
        Libraries whose objects are no arrays, and functions that say what to give of them.
    """

    package: str
    needs: tuple[str, ...] = ()
    names: Table = field(default_factory=dict)
    models: Table = field(default_factory=dict)
    values: Table = field(default_factory=dict)
    parts: Table = field(default_factory=dict)
    looks: Table = field(default_factory=dict)
    tasks: Table = field(default_factory=dict)
    rows: Table = field(default_factory=dict)
    verbs: Table = field(default_factory=dict)
    help: Table = field(default_factory=dict)
    notes: Table = field(default_factory=dict)
    readers: Table = field(default_factory=dict)
    instead: Table = field(default_factory=dict)


SLOTS = [each.name for each in fields(Declaration) if each.name not in ("package", "needs")]


@cache
def declarations(*, outside: bool = True) -> dict[str, Declaration]:
    """Return what each field declares, by the names of the fields.

    Parameters
    ----------
    outside : bool, default=True
        Whether those of other packages are among them; looking for these takes some time.

    Raises
    ------
    InputError
        For a declaration that cannot be read, and for a name that two fields declare.
    """
    places = [*_own(), *(_of_others() if outside else ())]
    found = {name: _read(name, package, path) for name, package, path in places}
    for slot in SLOTS:
        owners: dict[str, str] = {}
        for name, declaration in found.items():
            for key in getattr(declaration, slot):
                if owners.setdefault(key, name) != name:
                    raise InputError(
                        f"The fields {owners[key]!r} and {name!r} both declare {key!r} in {slot}; "
                        "uninstall one of them."
                    )
    return found


@cache
def declared(slot: str, *, outside: bool = True) -> dict[str, Any]:
    """Return what all fields declare in one slot, such as "models", by its names."""
    found = declarations(outside=outside).values()
    return {name: given for each in found for name, given in getattr(each, slot).items()}


def find(slot: str, name: str) -> Any:
    """Return what a field declares by a name; None where none does.

    Other packages are only asked for what is not of this one.
    """
    own = declared(slot, outside=False)
    return own[name] if name in own else declared(slot).get(name)


def loaded(place: str) -> Any:
    """Return what lies at a place such as "package.module:Name", or the module at "package."."""
    module, _, name = place.partition(":")
    found = import_module(module.removesuffix("."))
    return getattr(found, name) if name else found


def with_names(module: str, lazy: LazyNames) -> LazyNames:
    """Return what makes a module lazy, with the names that fields declare for it.

    Parameters
    ----------
    module : str
        Such as "atomstream.looks".
    lazy : tuple
        What `lazy_loader.attach_stub` returns.
    """
    of_module, names, public = lazy
    prefix = module.partition(".")[2] + "."
    own = declared("names", outside=False)
    more = [name.removeprefix(prefix) for name in own if name.startswith(prefix)]
    more = [name for name in more if "." not in name]

    def attribute(name: str) -> Any:
        """Return what has this name, in the module or in a field."""
        return loaded(own[prefix + name]) if name in more else of_module(name)

    return attribute, lambda: sorted([*names(), *more]), sorted([*public, *more])


def _own() -> Iterator[tuple[str, str, Path]]:
    """Yield name, package and declaration of each field of this package."""
    for path in sorted((Path(__file__).parents[1] / "fields").glob(f"*/{FILE}")):
        yield path.parent.name, f"atomstream.fields.{path.parent.name}", path


def _of_others() -> Iterator[tuple[str, str, Path]]:
    """Yield name, package and declaration of each field of other packages."""
    from importlib.metadata import entry_points  # here, for it loads what reads mail

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        spec = find_spec(point.value)
        folders = (spec.submodule_search_locations if spec is not None else None) or []
        path = next((Path(folder, FILE) for folder in folders), Path(FILE))
        if not path.is_file():
            raise InputError(
                f"The field {point.name!r} should declare itself in {FILE} of {point.value}, and "
                "there is no such file."
            )
        yield point.name, point.value, path


def _read(name: str, package: str, path: Path) -> Declaration:
    text = path.read_text(encoding="utf-8")
    try:
        # Places within the package of the field become absolute.
        given = tomllib.loads(WITHIN.sub(f'= "{package}.', text))
        return Declaration(package, **given | {"needs": tuple(given.get("needs", ()))})
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is no declaration of a field: {error}.") from None
