"""The package as a whole: light imports, and kernels that are kept on disk."""

import ast
import collections
import copy
import functools
import graphlib
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from cases import of_fields

import atomstream
from atomstream import OnlineNMF
from atomstream._kernels import compile, descent
from atomstream.base.declared import declared

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/atomstream"


def run(code, **env):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_loads_nothing_heavy():
    loaded = run(
        "import sys, atomstream\n"
        "print([m for m in ('numpy', 'sklearn', 'numba') if m in sys.modules])"
    )
    assert loaded == "[]"


GROUPS = [[name, "--help"] for name in declared("help", outside=False)]
WRONG = of_fields("wrong_arguments")


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["lern", "x"], ["--colour"], *GROUPS], ids=" ".join
)
def test_help_and_unknown_commands_load_nothing_heavy(words):
    """They answer within a tenth of a second; scikit-learn alone takes more than one to load."""
    loaded = run(
        "import sys; from atomstream.cli import main\n"
        f"code = main({words!r})\n"
        "heavy = ('sklearn', 'scipy', 'numba', 'pandas', 'rich')\n"
        "print(code, [name for name in heavy if name in sys.modules])\n"
        "print(len([name for name in sys.modules if name.startswith('atomstream')]) <= 12)"
    )
    code = 0 if words[-1] in ("--help", "--version") else 2
    assert loaded.splitlines()[-2:] == [f"{code} []", "True"]


def test_commands_load_pandas_and_others_when_they_are_used():
    """Whoever imports one of them afterwards gets the module itself, and no stand-in."""
    tasks = [task["command"].split() for task in declared("tasks", outside=False).values()]
    shown = run(
        "import sys; from importlib.util import find_spec; from atomstream.cli import main\n"
        "from atomstream.cli.commands import DEFERRED as names\n"
        f"for words in {[['learn'], *tasks]}:\n"
        "    main([*words, '--help'])\n"
        "print([name for name in names if name in sys.modules])\n"
        "print(find_spec('scipy.stats').name)\n"
        "import sklearn.utils.validation as checks, sklearn.utils.fixes as held\n"
        "import numpy as np, scipy.sparse, scipy.stats._distn_infrastructure as inside\n"
        "rows = scipy.sparse.csr_array(np.eye(2))\n"
        "print(held._sparse_linalg_cg(rows, np.ones(2))[0], held.laplacian(rows).sum())\n"
        "print(isinstance(held.scipy.stats.norm, inside.rv_generic))\n"
        "print(held.pd is None or held.pd.DataFrame is __import__('pandas').DataFrame)\n"
        "print(type(np.testing.assert_equal).__name__, checks.column_or_1d(np.ones(2)))\n"
        "import narwhals.stable.v2, numpy.testing\n"
        "print(not hasattr(checks, 'nw') or checks.nw.DataFrame is narwhals.stable.v2.DataFrame)\n"
        "print({type(sys.modules[name]).__name__ for name in names if name in sys.modules})\n"
        "print(np.testing is sys.modules['numpy.testing'])"
    )
    expected = ["[]", "scipy.stats", "[1. 1.] 0.0", "True", "True", "function [1. 1.]", "True"]
    assert shown.splitlines()[-9:] == [*expected, "{'module'}", "True"]


def test_only_a_process_for_one_command_searches_no_cycles_among_modules():
    """A program that calls the command line keeps its own garbage collection."""
    code = "import gc, sys; from atomstream.cli import main; sys.argv[1:] = ['inspect', '--help']\n"
    code += "main({}); print(gc.get_freeze_count() > 10_000, gc.isenabled())"
    assert run(code.format("")).splitlines()[-1] == "True True"
    assert run(code.format("sys.argv[1:]")).splitlines()[-1] == "False True"


@pytest.mark.slow
def test_a_run_on_rows_loads_at_most_138_modules(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((100, 4)))
    words = ["learn", str(tmp_path / "x.npy"), "--out", str(tmp_path / "run"), "--epochs", "1"]
    code = f"import sys; from atomstream.cli import main; assert main({words!r}) == 0\n"
    code += "print(len([name for name in sys.modules if name.startswith('atomstream')]))"
    assert int(run(code).splitlines()[-1]) <= 138


@pytest.mark.slow
def test_no_cell_of_a_table_is_a_call_of_ours_before_the_loop(tmp_path):
    rows = np.random.default_rng(0).random((20_000, 8))
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",", header=",".join("abcdefgh"), comments="")
    words = ["learn", str(tmp_path / "x.csv"), "--out", str(tmp_path / "run"), "--epochs", "1"]
    code = (
        "import os, sys, atomstream; from atomstream.cli import main\n"
        "root, found = os.path.dirname(atomstream.__file__), []\n"
        "def count(frame, event, _):\n"
        "    name = frame.f_code.co_filename\n"
        "    if event == 'call' and name.startswith(root):\n"
        "        if name.endswith('online.py') and frame.f_code.co_name == 'learn':\n"
        "            sys.setprofile(None)\n"
        "        found.append(name)\n"
        f"sys.setprofile(count); main({words!r}); print(len(found))"
    )
    assert int(run(code).splitlines()[-1]) <= 2500


HEAVY = (
    *("numba", "pandas", "matplotlib", "networkx", "jinja2", "scipy.stats", "scipy.optimize"),
    *("scipy.cluster", "narwhals", "numpy.f2py", "asyncio", "sklearn.decomposition"),
    *("scipy.special", "scipy.linalg", "psutil"),
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")
@pytest.mark.slow
def test_looking_at_runs_and_wrong_arguments_load_no_compiler_and_plots(tmp_path):
    """They answer in half a second of processor time; the compiler alone takes .3 to load.

    A run that was stopped is looked at like a complete one, and so is one in rounds over shards.
    """
    from atomstream.cli import main

    table, learned = str(tmp_path / "x.csv"), str(tmp_path / "run")
    stopped, in_rounds = learned + "-stopped", learned + "-in-rounds"
    np.savetxt(table, np.random.default_rng(0).random((100, 4)), delimiter=",", header="a,b,c,d")
    begin = ["learn", table, "--atoms", "3", "--out"]
    for words in (
        [*begin, learned],
        [*begin, in_rounds, "--slots", "2"],
        [*begin, stopped, "--epochs", "100000", "--max-time", "0s"],
    ):
        assert main(words) == 0
    missing, other = str(tmp_path / "missing.csv"), ["--out", str(tmp_path / "other")]
    cases = (
        *(["inspect", folder] for folder in (learned, stopped, in_rounds)),
        *(["watch", learned], ["learn", "--help"], ["learn", "--wrong"]),
        *(["learn", missing, *other], ["learn", table, "--columns", "z", *other]),
        *([*words(missing, table), *other] for words in WRONG.values()),
    )
    # Each in a copy of a process that has loaded what all of them load, and shown help.
    shown = run(
        "import os, sys; from atomstream.cli import main\n"
        "main(['learn', '--help'])\n"
        "sys.stdout.flush()\n"
        f"for words in {cases!r}:\n"
        "    if not os.fork():\n"
        "        main(words)\n"
        f"        print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "        print(len([name for name in sys.modules if name.startswith('atomstream')]))\n"
        "        print('end of', words, flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()"
    )
    for words in cases:
        text, shown = shown.split(f"end of {words}")
        *said, heavy, n_modules = text.splitlines()
        assert heavy == "[]", words
        assert int(n_modules) <= 183, words
        if words[0] == "inspect":
            assert any("held-out rows" in line for line in said)


@pytest.mark.slow
def test_a_model_of_rows_loads_neither_much_nor_what_other_models_need():
    """To learn takes more, but no field."""
    shown, fields = run(
        "import sys, sklearn.base; before = set(sys.modules)\n"
        "from atomstream import OnlineNMF\n"
        "print(*(set(sys.modules) - before))\n"
        "OnlineNMF(1).fit([[1.0, 2.0], [2.0, 1.0]])\n"
        "print([name for name in sys.modules if name.startswith('atomstream.fields')])"
    ).splitlines()
    loaded = set(shown.split())
    assert fields == "[]"
    ours = {name for name in loaded if name.partition(".")[0] == "atomstream"}
    assert len(ours) <= 90
    assert not {name for name in ours if name.startswith("atomstream.looks")}
    assert not {name for name in ours if name.startswith("atomstream.fields")}
    assert loaded.isdisjoint({"numba", "matplotlib", "pandas", "networkx", "jinja2"})


def test_a_change_in_any_kernel_file_compiles_all_kernels_anew(tmp_path):
    """Kernels contain functions of other files, which numba's cache does not watch."""
    for path in Path(compile.__file__).parent.glob("*.py"):
        shutil.copy(path, tmp_path)
    assert compile.source_stamp(tmp_path) == compile.STAMP
    for path in tmp_path.glob("*.py"):
        before = compile.source_stamp(tmp_path)
        path.write_text(path.read_text() + "# changed\n")
        assert compile.source_stamp(tmp_path) != before
    cached = descent.encode._cache._cache_file
    assert cached._source_stamp == compile.STAMP
    OnlineNMF(2).fit(np.ones((4, 3)))
    assert cached._load_index()
    other = copy.copy(cached)
    other._source_stamp = "another"
    assert not other._load_index()


@pytest.mark.slow
def test_learning_works_where_no_cache_can_be_written():
    """With no place for numba's cache (read-only package, read-only home) kernels live in memory.

    All of them can be made, and the one that compiles fastest is compiled.
    """
    code = (
        "import numba.core.caching as caching, pkgutil, importlib\n"
        "caching.CacheImpl._locator_classes = []\n"
        "import numpy as np, atomstream._kernels as kernels\n"
        "made = [importlib.import_module('atomstream._kernels.' + module.name)\n"
        "        for module in pkgutil.iter_modules(kernels.__path__)]\n"
        "from atomstream._kernels.sums import blend\n"
        "total = np.empty(3); blend(total, np.ones(3), 0.5, np.ones(3), 2.0)\n"
        "print(len(made) > 15, blend.stats.cache_path, len(blend.signatures), total)"
    )
    assert run(code) == "True None 1 [2.5 2.5 2.5]"


# -- one house: docs/lab/010-one-house.md
#
# The floors, from the bottom. A folder's name stands for every module in it that is not named
# itself. Modules of one floor may import each other only within their folder.

FLOORS = [
    # the table of public names, which loads lazily; compiled twins of plain functions
    {"atomstream", "_kernels", "exceptions"},
    # what is not about learning: checks, matrices, threads, parameters, saved fields
    {"base"},
    # the nouns of the formula, as far as they know no batch
    {"penalties", "samplers", "schedules", "streams"},
    {"dictionaries", "io"},
    {"losses", "files"},
    # what is given and what is minimised; rounds over shards for learners that can learn apart
    {"problem", "cluster"},
    # the parts that work on it
    {"coders"},
    {"memory"},
    {"updates"},
    # the loop itself
    {"loop"},
    # what follows a fit, and the public names of some of it
    {"watch", "testing"},
    # how models are looked at; looks know of a model what it shows, never its class
    {"callbacks", "changes", "diagnostics", "drift", "history", "looks"},
    # what people use
    {"estimators"},
    {"runs"},
    {"cli"},
    # what is of one kind of data or one paper; found by what it declares, named by nothing below
    {"fields", "__main__"},
]
FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}


def paths():
    """The file of every module of the package, by its name within the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        found[name or "atomstream"] = path
    return found


@functools.cache
def modules():
    """The tree of every module of the package, by its name within the package."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths().items()}


@functools.cache
def public():
    """The table of public names, ``__init__.pyi``: the module and the name there of each."""
    table = {}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == alias.name, "a table lists names as they are"
                table[alias.name] = (node.module or "", alias.name)
    return table


def floor(module):
    """The number of a module's floor: that of the longest name that stands for it."""
    parts = module.split(".")
    known = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((FLOOR_OF[name] for name in known if name in FLOOR_OF), None)


def target(module, name):
    """The module that ``from module import name`` leads to; both within the package."""
    if not module and name in public():
        module, name = public()[name]
    longer = f"{module}.{name}" if module else name
    return longer if longer in modules() else module or "atomstream"


def found(module):
    """All that a module imports of the package: on top, in functions, for types, by attribute."""
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports hide the floor"
            if node.module.split(".")[0] == "atomstream":
                inner = node.module.partition(".")[2]
                yield from (target(inner, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "atomstream":
                    yield alias.name.partition(".")[2] or "atomstream"
        elif isinstance(node, ast.Attribute):  # atomstream.load, after "import atomstream"
            if isinstance(node.value, ast.Name) and node.value.id == "atomstream":
                yield target("", node.attr)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            assert called not in {"import_module", "__import__"}, f"{module} hides an import"


@functools.cache
def imports(module):
    return frozenset(found(module))


def test_every_module_has_one_floor():
    assert sum(map(len, FLOORS)) == len(FLOOR_OF), "no name stands on two floors"
    assert len(FLOORS) <= 16
    assert [module for module in modules() if floor(module) is None] == []
    folders = {module.rpartition(".")[0] for module in modules()}
    assert [name for name in FLOOR_OF if name not in modules() and name not in folders] == []


@pytest.mark.parametrize("module", paths())
def test_imports_point_down(module):
    for other in imports(module):
        assert other in modules(), f"{module} imports {other}, which is no module"
        same_folder = module.split(".")[0] == other.split(".")[0]
        assert floor(other) < floor(module) or (floor(other) == floor(module) and same_folder), (
            f"{module} on floor {floor(module)} imports {other} on floor {floor(other)}"
        )


def test_the_layering_test_sees_every_kind_of_import():
    assert "cli.commands" in imports("cli")  # in a function
    assert "runs" in {other.split(".")[0] for other in imports("cli.running")}
    assert "loop.online" in {other for module in modules() for other in imports(module)}
    assert target("", "load") == "files.codec"  # through the table
    assert target("losses", "Squared") == "losses"


def test_no_module_imports_itself_by_a_detour():
    sorter = graphlib.TopologicalSorter({module: imports(module) for module in modules()})
    sorter.prepare()  # raises CycleError, which names the modules of the circle


def test_the_rooms_are_few_and_small():
    at_the_root = [path for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert len(at_the_root) <= 8
    long = {}
    for path in PACKAGE.rglob("*.py"):
        n_lines = len(path.read_text(encoding="utf-8").splitlines())
        if n_lines > 400:
            long[str(path.relative_to(PACKAGE))] = n_lines
    assert long == {}


def body_lines(function):
    """Lines from the first statement after the docstring to the end."""
    documented = ast.get_docstring(function, clean=False) is not None
    first = function.body[0].end_lineno + 1 if documented else function.body[0].lineno
    return function.end_lineno - first + 1


def test_constants_say_what_they_limit():
    vague = {"MOST", "LEAST", "FEW", "MANY", "SHARE", "ENOUGH", "NEAR", "FAR", "SMALL", "BLOCK"}
    found = [
        (module, target.id)
        for module, tree in modules().items()
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in ast.walk(node)
        if isinstance(target, ast.Name) and target.id in vague
    ]
    assert found == []


def test_no_function_is_longer_than_a_screen():
    long = {
        f"{module}:{node.name}": body_lines(node)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and body_lines(node) > 45
    }
    assert long == {}


# Modules that share their name with another, because they are about the same thing from the side of
# their folder. A name that stands here needs its reason; a name that is not shared any more leaves.
SHARED_NAMES = {
    "base": "what is below all parts; and the protocol, or shared half, of the parts of a folder",
    "callbacks": "what follows a fit (watch), and its public name",
    "changes": "what follows a fit (watch), and its public name",
    "diagnostics": "what follows a fit (watch), and its public name",
    "drift": "what follows a fit (watch), and its public name",
    "history": "what follows a fit (watch), and its public name",
    "files": "model files, and how files of any kind are written (io)",
    "registry": "the names by which people (estimators) or files ask for parts",
    "record": "what is known of a model: the value, and how it is read from a run",
    # a kernel is the compiled twin of the plain function of its name
    "block_coordinate": "the update of atoms one at a time, and its kernel",
    "pursuit": "codes with few entries, and their kernel",
    "simplex": "the set of shares, and its kernel",
    # one part of the method seen by several roles
    "subgradient": "the method of subgradients: its codes, its memory, its update",
    # one kind of data seen by several roles: how it is learned from, run and looked at
    "rows": "rows of numbers: their atoms, their runs, how they are looked at",
    "shards": "parts of files for workers: listed, and learned from in a run",
}


def test_no_name_of_a_module_means_two_things():
    # Within the room of a field a file is called by its role.
    named = (name.rpartition(".")[2] for name in modules() if not name.startswith("fields."))
    counts = collections.Counter(named)
    assert {name for name, count in counts.items() if count > 1} == set(SHARED_NAMES)


# -- the public names: one table


@pytest.mark.parametrize("name", [*public()])
def test_a_public_name_is_there_and_is_told_in_the_reference(name):
    module, inner = public()[name]
    place = f"atomstream.{module}".rstrip(".")
    if target(module, inner) == f"{module}.{inner}".lstrip("."):
        there = import_module(f"{place}.{inner}")
    else:
        there = getattr(import_module(place), inner)
    assert getattr(atomstream, name) is there
    assert f"`{name}`" in (ROOT / "docs/reference.md").read_text(encoding="utf-8")


def test_the_table_is_all_that_is_public():
    assert sorted(dir(atomstream)) == sorted(atomstream.__all__) == sorted(public())
    assert [name for name in public() if name.startswith("_")] == []


def test_public_names_are_loaded_when_they_are_used():
    """The names are listed without loading anything; using one loads what it needs alone."""
    code = (
        "import sys, atomstream; dir(atomstream)\n"
        "ours = lambda: {name for name in sys.modules if name.startswith('atomstream.')}\n"
        "before = ours(); atomstream.InputError\n"
        "print(sorted(before), sorted(ours()))"
    )
    assert run(code) == "[] ['atomstream.exceptions']"


def test_every_public_module_is_there_without_any_other():
    """A name that works only once something else was imported is not there."""
    names = [
        name for name, place in public().items() if target(*place) == ".".join(place).strip(".")
    ]
    code = (
        f"import sys\nfor name in {names}:\n"
        "    for old in [one for one in sys.modules if one.startswith('atomstream')]:\n"
        "        del sys.modules[old]\n"
        "    import atomstream\n"
        "    getattr(atomstream, name)\n"
        "print('all')"
    )
    assert "tolerances" in names
    assert run(code) == "all"
