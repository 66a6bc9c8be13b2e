"""The house: a core, tools on top of it, and fields that can be taken out."""

import ast
import importlib
from pathlib import Path

import pytest
import stubs
from test_package import PACKAGE, imports, modules

from atomstream.base.declared import declarations, declared

ROOT = Path(__file__).resolve().parents[2]
FIELDS = declarations(outside=False)
TOOLS = {"io", "files", "watch", "cluster", "looks", "runs", "cli", "testing", "callbacks"}
TOOLS |= {"changes", "diagnostics", "drift", "history"}
MOVED = sorted(FIELDS)


def field_of(module):
    """The field that a module lies in; None of core and tools."""
    first, *rest = module.split(".")
    return rest[0] if first == "fields" and rest else None


def test_nothing_below_imports_a_field():
    found = {
        (module, other)
        for module in modules()
        if module.split(".")[0] != "fields"
        for other in imports(module)
        if other.split(".")[0] == "fields"
    }
    assert found == set()


def test_a_field_imports_another_only_where_it_says_so():
    arrows = {
        (field_of(module), field_of(other))
        for module in modules()
        for other in imports(module)
        if field_of(module) and field_of(other) and field_of(module) != field_of(other)
    }
    declared_ones = {(name, need) for name, field in FIELDS.items() for need in field.needs}
    assert arrows <= declared_ones
    assert len(declared_ones) <= 15


@pytest.mark.parametrize("name", MOVED)
def test_a_field_that_has_moved_lies_in_its_room_alone(name):
    """All that it declares lies in its folder, and no name of it stands elsewhere."""
    field, package = FIELDS[name], f"atomstream.fields.{name}"
    places = [*field.names.values(), *field.models.values(), *field.values.values()]
    places += [*field.parts.values(), *field.looks.values(), *field.readers.values()]
    places += [it["task"] for it in field.tasks.values()] + [
        it["verb"] for it in field.verbs.values()
    ]
    assert [place for place in places if not place.startswith(package)] == []
    names = {*field.models, *(it["task"].partition(":")[2] for it in field.tasks.values())}
    found = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "fields" not in path.relative_to(PACKAGE).parts
        if names
        & {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        or any(name in path.read_text(encoding="utf-8") for name in names)
    ]
    assert found == []


@pytest.mark.parametrize("name", MOVED)
def test_the_page_of_a_field_is_short_and_names_its_files(name):
    page = ast.get_docstring(ast.parse((PACKAGE / "fields" / name / "__init__.py").read_text()))
    assert 3 <= len(page.splitlines()) <= 12
    files = {path.stem for path in (PACKAGE / "fields" / name).glob("*.py")} - {"__init__"}
    assert [
        each for each in sorted(files) if f"`{each}`" not in page and f"`{each}." not in page
    ] == []


def test_the_tables_of_public_names_are_as_their_script_writes_them():
    wanted = stubs.stubs()
    for path in PACKAGE.rglob("*.pyi"):
        imports_, names = wanted.get(path, ([], []))
        found = [it[0].strip() for it in stubs.OF_FIELDS.finditer(path.read_text(encoding="utf-8"))]
        assert set(found) == {*imports_, *names}, f"{path}: run python tests/stubs.py"


def test_names_of_fields_are_found_where_they_are_declared():
    for name in declared("names", outside=False):
        module, _, inner = f"atomstream.{name}".rpartition(".")
        assert hasattr(importlib.import_module(module), inner), name
