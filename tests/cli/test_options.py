"""Options of the command line: made from settings, with their defaults, told by the help."""

import inspect
import re
import threading
import typing
from dataclasses import fields

import click
import numpy as np
import pytest
from cases import of_fields

import atomstream
from atomstream.base.declared import declared
from atomstream.cli import main
from atomstream.cli.commands import commands, learning
from atomstream.cli.options import given, options_of
from atomstream.cluster.gathering import ROUND_LIMIT
from atomstream.estimators.registry import DEFAULT_ALPHA
from atomstream.runs import kinds_of_runs, settings
from atomstream.runs.run import PAUSE
from atomstream.runs.settings import read_settings, write_settings
from atomstream.runs.task import task_named

KINDS = list(kinds_of_runs())
SETTINGS = [task_named(name).settings_type for name in KINDS]
# Of fields, by kinds of runs or ways of learn: the estimators, the least inputs besides defaults,
# deliberate differences from the defaults of estimators, settings that may be left out, what the
# help shows for None, and commands that are unknown or nearly known.
OPTIONS = of_fields("options")
WAYS = {
    name: way["model"] for name, way in declared("rows", outside=False).items() if "model" in way
}
ESTIMATORS = {name: case["estimators"] for name, case in OPTIONS.items() if "estimators" in case}
ESTIMATORS[""] = [*WAYS.values(), "OnlineDictionaryLearning", "OnlineNMF"]


def told(what):
    """Return what all fields tell of one thing."""
    return [each for case in OPTIONS.values() for each in case.get(what, ())]


# Deliberate differences between the default of a setting and that of the estimator.
DIFFERENT = told("different")
ALWAYS_DIFFERENT = {
    "seed": "a run can be repeated: its seed is 0, not random",
    "jobs": "a run takes one core unless told otherwise",
}
# Settings that are simply not given; every other default is told.
NOT_GIVEN = {"half_life", "key", "id", "engine", "drop", "na", *told("not_given")}


def setting(kind):
    return pytest.mark.parametrize(
        ("name", "each"),
        [(name, each) for name in KINDS for each in fields(task_named(name).settings_type)],
        ids=lambda value: value if isinstance(value, str) else value.name,
    )(kind)


def defaults(estimator):
    found = inspect.signature(getattr(atomstream, estimator)).parameters
    return {name: parameter.default for name, parameter in found.items()}


def estimators(name, each):
    """Return those that a setting of a kind of run can stand for: of several, which it names."""
    model = each.metadata.get("model")
    if model is None or model.__name__ in ESTIMATORS[name]:
        return [kind for kind in ESTIMATORS[name] if each.metadata["sets"] in defaults(kind)]
    return [model.__name__]


@setting
def test_the_default_of_a_setting_is_that_of_the_estimator(name, each):
    parameter = each.metadata.get("sets")
    for estimator in estimators(name, each) if parameter else ():
        known = defaults(estimator)
        different = {(estimator, each.name), (name, each.name)} & set(DIFFERENT)
        if each.name in ALWAYS_DIFFERENT or different:
            assert each.default != known[parameter]
        elif each.default is not None:  # None leaves the parameter out
            assert each.default == known[parameter]


def test_defaults_that_pass_through_code_are_those_of_the_estimator():
    rows = task_named("").settings_type
    core = {"nmf": "OnlineNMF", "dictionary": "OnlineDictionaryLearning"}
    for name, estimator in (core | WAYS).items():
        model, known = rows(model=name).new_model(), defaults(estimator)
        for parameter, value in model.get_params(deep=False).items():
            setting = {"n_components": "atoms", "random_state": "seed", "n_jobs": "jobs"}
            each = setting.get(parameter, parameter)
            if each not in ALWAYS_DIFFERENT and (estimator, each) not in DIFFERENT:
                assert value == known[parameter] or isinstance(value, type(known[parameter]))


@setting
def test_the_help_of_a_setting_ends_with_its_default(name, each):
    if each.name == "inputs":
        return
    text = next(
        option.help
        for option in options_of(task_named(name).settings_type)
        if option.name == each.name
    )
    assert len(text) > 9
    assert text[0].isupper() or text.split()[0].rstrip(":,") in str(each.metadata)
    assert text.endswith(".")
    told = re.search(r"\(default: ([^()]+)\)\.$", text)
    if each.default in (None, ()):
        free = each.name in NOT_GIVEN
        assert free == (told is None) == ("shown" not in each.metadata)
        return
    words = {True: "yes", False: "no"}
    value = words[each.default] if isinstance(each.default, bool) else each.default
    value = ",".join(value) if isinstance(value, tuple) else value
    assert told[1] == (f"{value:g}m" if each.metadata.get("length") else str(value))


def shown(kind):
    """Return what the help shows where the default of a setting is None."""
    metadata = {each.name: each.metadata for each in fields(kind)}
    return {name: known["shown"] for name, known in metadata.items() if "shown" in known}


def test_what_the_help_shows_for_none_is_what_happens():
    rows = task_named("").settings_type
    found = shown(rows)
    assert found["alpha"] == "0 for nmf, 0.1 for the others"
    alphas = [rows(model=name).new_model().alpha for name in ("nmf", "dictionary", *WAYS)]
    assert alphas == [0, "auto", *["auto"] * len(WAYS)]
    assert DEFAULT_ALPHA == 0.1
    # tests/estimators/test_missing_ridge.py
    assert found["ridge"] == "0; with --missing what predicts hidden entries best"
    assert (found["checkpoint_every"], PAUSE) == ("1m", 60)
    none_with_epochs = "as many as passes; none with --epochs, or after one pass"
    assert found["settle"] == none_with_epochs  # tests/runs/test_runs.py
    assert found["sample_axes"] == "the first one"  # tests/runs/test_cube_runs.py
    assert found["delimiter"] == "the sign that the first lines have"  # tests/io/test_layouts.py
    assert (found["slots"], rows(engine="threads").slots) == ("4 with --engine", 4)
    assert (found["round_timeout"], ROUND_LIMIT) == ("1h", 3600)
    assert set(found) == {
        *("alpha", "ridge", "checkpoint_every", "settle", "sample_axes", "delimiter", "slots"),
        *("round_timeout", "epochs", "columns", "comment", "thousands", "skip_lines", "encoding"),
        "below_limit",
    }


@pytest.mark.parametrize("name", [name for name in KINDS if name])
def test_what_the_help_of_fields_shows_for_none_is_told(name):
    known = shown(task_named("").settings_type)
    found = shown(task_named(name).settings_type)
    more = {each: text for each, text in found.items() if known.get(each) != text}
    assert more == OPTIONS[name].get("shown", {})


@pytest.mark.parametrize("name", KINDS)
def test_options_toml_keys_and_fields_have_the_same_names(name, tmp_path):
    kind = task_named(name).settings_type
    names = [each.name for each in fields(kind) if each.name != "inputs"]
    flags = [f"--{each.replace('_', '-')}" for each in names]
    assert [option.opts[0] for option in options_of(kind)] == flags
    settings = kind(("x",), **OPTIONS.get(name, {}).get("inputs", {}))
    (tmp_path / "run.toml").write_text(write_settings(settings))
    found = read_settings(tmp_path / "run.toml", kind)
    assert kind(**found) == settings
    assert set(found) <= {"inputs", *names}


def test_lists_are_parted_at_commas():
    rows = task_named("").settings_type
    assert given(rows, {"columns": ("a, b", "3-5")}) == {"columns": ["a", "b", "3-5"]}
    assert given(rows, {"id": ("a, b", "c")})["id"] == ("a, b", "c")  # but for names of columns


def all_commands(group=commands, words=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        domain = (*words, name) in {(words[0],) for words in learning() if len(words) > 1}
        command = None
        try:
            command = group.get_command(context, name)
        except ModuleNotFoundError:
            assert (*words, name) in {("tensor", "learn"), ("video", "learn")}
        if domain:
            yield from all_commands(command, (*words, name))
        if command is not None:
            yield (*words, name)


COMMANDS = [" ".join(words) for words in all_commands()]


def test_all_commands_are_found():
    tasks = [task["command"] for task in declared("tasks").values()]
    known = {*tasks, *declared("verbs"), *declared("help")}
    assert known <= {*COMMANDS}
    assert {*COMMANDS} - known == {
        *("edit", "encode", "inspect", "learn", "plot", "reconstruct", "report", "resume"),
        "watch",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_its_help(command, capsys):
    group = [*command.split(), "--help"]
    assert main(group) == 0
    told = capsys.readouterr().out
    assert "Usage: " in told
    task = learning().get(tuple(command.split()))
    assert told.count("--max-memory") == ("Commands:" not in told)
    if task is None:
        return
    kind = task_named(task).settings_type
    words = " ".join(told.split())
    for option in options_of(kind):
        assert re.search(rf"{option.opts[0]}[ ,]", told)
        assert " ".join(option.help.split()) in words


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_unknown_options_and_commands_are_refused(command, capsys):
    assert main([*command.split(), "--colour", "red"]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("Error: ")
    assert "--colour" in told.err
    assert not told.out


@pytest.mark.parametrize("words", ["", *declared("help")])
def test_a_group_alone_shows_its_help(words, capsys):
    assert main(words.split()) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Usage: ")
    assert "Commands:" in lines


@pytest.mark.parametrize("words", ["forget", *told("unknown")])
def test_unknown_commands_are_refused(words, capsys):
    assert main(words.split()) == 2
    assert f"No such command '{words.split()[-1]}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "like"),
    [("lern", "learn"), ("Inspect", "inspect"), ("xyz", None), *told("alike")],
)
def test_an_unknown_command_is_answered_with_its_like(words, like, capsys):
    assert main(words.split()) == 2
    told = capsys.readouterr().err
    assert (f"Did you mean {like!r}?" in told) if like else ("Did you mean" not in told)


def of_passes(name):
    return task_named(name).goal == "epochs"


def test_resume_knows_the_goals_of_all_kinds_of_runs():
    goals = {task_named(name).goal for name in KINDS} - {None}
    resume = commands.get_command(click.Context(commands), "resume")
    told = {each.name: getattr(each, "help", "") for each in resume.params}
    assert goals == told.keys() - (
        {"run", "inputs", "engine", "header", "max_time", "max_memory", "on_alarm", "metrics"}
        | {"as_json"}
    )
    passes = [" ".join(words) for words, name in learning().items() if of_passes(name)]
    assert passes[0] == "learn"
    assert told["epochs"] == f"New value of --epochs ({', '.join(passes)})."
    assert all(each.type is click.INT for each in resume.params if each.name in goals)
    assert all(task_named(name).goal in (None, "epochs") for name in {"tensor", "video"} & {*KINDS})


def test_the_command_line_works_in_a_thread(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((60, 4)))
    codes = []
    arguments = ["learn", str(tmp_path / "x.npy"), "--atoms", "2", "--out", str(tmp_path / "run")]
    thread = threading.Thread(target=lambda: codes.append(main(arguments)))
    thread.start()
    thread.join(timeout=60)
    assert codes == [0]
    assert atomstream.load(tmp_path / "run").n_components == 2


@pytest.mark.parametrize("kind", SETTINGS, ids=KINDS)
def test_defaults_are_of_the_kind_that_is_asked_of_others(kind):
    """Settings take them unseen."""
    hints = typing.get_type_hints(kind)
    for each in fields(kind):
        made = settings._converted(each.default, hints[each.name])
        assert (made, type(made)) == (each.default, type(each.default))
        if made is not None:
            settings._check_bounds(each, made)
