"""Declarations of fields: all that they name is there, and a stranger's is read as ours are."""

import sys
from importlib import metadata
from pathlib import Path

import pytest
from cases import of_fields

from atomstream import fields
from atomstream.base import declared as module
from atomstream.base.declared import SLOTS, declarations, declared, find, loaded
from atomstream.base.saved_fields import Field, of_table
from atomstream.cli.commands import commands
from atomstream.exceptions import InputError
from atomstream.files import registry
from atomstream.looks import Look
from atomstream.runs import Task, kinds_of_runs
from atomstream.runs.task import NOTES, note_of, task_named

FIELDS = declarations(outside=False)
COUNTS = of_fields("counts")


@pytest.fixture
def _anew():
    """Nothing that was read before counts, and nothing that a test declares stays."""

    def forget():
        declarations.cache_clear()
        declared.cache_clear()
        sys.modules["atomstream.cli.commands"]._verbs.cache_clear()

    forget()
    yield
    forget()


def test_every_room_of_a_field_is_declared():
    assert FIELDS.keys() == COUNTS.keys()
    rooms = Path(fields.__file__).parent.glob("*/__init__.py")
    assert FIELDS.keys() == {room.parent.name for room in rooms}
    assert {need for each in FIELDS.values() for need in each.needs} <= FIELDS.keys()


@pytest.mark.parametrize("name", FIELDS)
def test_what_a_field_declares_is_there(name):
    field = FIELDS[name]
    for slot, found in (("models", registry.model_class), ("values", registry.value_class)):
        assert [found(each).__name__ for each in getattr(field, slot)] == [*getattr(field, slot)]
    assert [registry.part_class(each).__name__ for each in field.parts] == [*field.parts]
    assert all(issubclass(loaded(place), Look) for place in field.looks.values())
    assert field.looks.keys() == field.models.keys()
    for task, given in field.tasks.items():
        assert issubclass(loaded(given["task"]), Task)
        assert loaded(given["task"]) is task_named(task)
    assert all(callable(loaded(each["verb"])) for each in field.verbs.values())
    assert all(isinstance(note_of(note), Field) for note in field.notes)
    assert not field.notes.keys() & NOTES.keys()
    assert all(callable(loaded(it)) for it in [*field.readers.values(), *field.instead.values()])
    groups = {each["command"].split()[0] for each in field.tasks.values()}
    groups |= {words.split()[0] for words in field.verbs}
    assert field.help.keys() <= groups


def test_kinds_of_runs_are_those_of_rows_and_of_fields():
    n_declared = sum(len(field.tasks) for field in FIELDS.values())
    assert n_declared == sum(each["tasks"] for each in COUNTS.values())
    assert len(kinds_of_runs()) == 1 + n_declared
    n_models = sum(len(field.models) for field in FIELDS.values())
    assert n_models == sum(each["models"] for each in COUNTS.values())
    assert len(registry.models()) == 3 + n_models


def test_a_note_of_an_unknown_kind_is_refused():
    assert of_table("x", {"is": "count", "at_least": 1}).fits(2, {})
    with pytest.raises(KeyError):
        of_table("x", {"is": "picture"})


def offered(monkeypatch, folder, text, name="spectra"):
    """Let a package of somebody else offer a field."""
    for known in (f"{name}_package", f"{name}_package.verbs"):
        monkeypatch.delitem(sys.modules, known, raising=False)
    package = folder / f"{name}_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "verbs.py").write_text(
        "import click\n\n\n@click.command()\ndef shine():\n    click.echo('light')\n"
    )
    (package / "field.toml").write_text(text)
    monkeypatch.syspath_prepend(folder)
    point = metadata.EntryPoint(name, f"{name}_package", module.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point] * (group == module.GROUP))


VERB = """
[verbs."spectra shine"]
summary = "Shine."
verb = ".verbs:shine"

[help]
spectra = "Look at spectra."
"""


@pytest.mark.usefixtures("_anew")
def test_a_field_from_outside_is_read_as_ours_are(monkeypatch, tmp_path, capsys):
    offered(monkeypatch, tmp_path, VERB)
    assert find("verbs", "spectra shine")["verb"] == "spectra_package.verbs:shine"
    commands(["spectra", "shine"], standalone_mode=False)
    assert capsys.readouterr().out == "light\n"
    commands(["--help"], standalone_mode=False)
    assert "Look at spectra." in capsys.readouterr().out


@pytest.mark.usefixtures("_anew")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[models]\nOnlineCPDictionary = 'x'", "'tensors' and 'spectra' both declare 'OnlineCPD"),
        ("[colours]\nred = 'x'", "field.toml is no declaration of a field: .*colours"),
        ("[models", "field.toml is no declaration of a field: "),
    ],
)
def test_a_declaration_that_does_not_fit_gets_one_sentence(monkeypatch, tmp_path, text, told):
    offered(monkeypatch, tmp_path, text)
    with pytest.raises(InputError, match=told):
        declarations()


@pytest.mark.usefixtures("_anew")
def test_what_is_of_this_package_asks_no_other(monkeypatch):
    def fail(group):
        raise AssertionError(group)

    monkeypatch.setattr(metadata, "entry_points", fail)
    for slot in SLOTS:
        for name in declared(slot, outside=False):
            assert find(slot, name) is not None
