"""The site: examples that run, pages that run, pictures and settings that belong together."""

import ast
import os
import re
import runpy
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "examples/gallery").glob("plot_*.py"))
QUICK = ("data_missing_entries", "image_digits_convex", "network_hidden_edges", "series_drift")
COMING_FROM = runpy.run_path(str(ROOT / "docs/coming-from/run.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# What builds the site installs these; so does every environment in which examples are looked at.
BESIDE = {"skimage", "statsmodels"}


def test_the_gallery_is_large_enough():
    assert len(GALLERY) >= 24


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_every_example_asks_a_question_and_ends_with_a_figure(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, underline, empty, *rest = ast.get_docstring(tree).splitlines()
    assert underline == "=" * len(title)
    assert not empty
    assert "?" in " ".join(rest), "an example begins with the question that it answers"
    assert text.rstrip().endswith("plt.show()")
    assert "\n# %%\n" in text
    compile(tree, str(path), "exec")


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_examples_need_only_what_the_site_installs(path):
    given = {*sys.stdlib_module_names, *BESIDE, "atomstream", "numpy", "scipy", "sklearn", "joblib"}
    given |= {"matplotlib", "networkx"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in names} <= given
    assert "fetch_" not in path.read_text(encoding="utf-8"), "examples download nothing"


def test_every_model_has_an_example():
    """Its page in the reference lists the examples that import it or name it as a class."""
    models = runpy.run_path(str(ROOT / "docs/reference.py"))["NAMES"]["Models"]
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in GALLERY)
    missing = {name for name in models if not re.search(rf"\b{name}\b", scripts)}
    assert missing == {"SktimeForecaster"}, "the site does not install sktime"


@pytest.mark.slow
@pytest.mark.long
def test_quick_examples_run():
    """The others run whenever the site is built."""
    paths = [str(ROOT / f"examples/gallery/plot_{name}.py") for name in QUICK]
    code = (
        "import matplotlib.pyplot as plt, runpy, sys\n"
        "for path in sys.argv[1:]:\n"
        "    print(path)\n"
        "    runpy.run_path(path)\n"
        "    plt.close('all')"
    )
    command = [sys.executable, "-W", "error::UserWarning", "-c", code, *paths]
    headless = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=headless)
    assert done.returncode == 0, done.stdout + done.stderr


# -- pages


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs/coming-from").glob("*.md")), ids=lambda page: page.stem
)
def test_lines_before_and_after_run(page, monkeypatch):
    blocks = COMING_FROM["blocks"](page)
    if not blocks:
        return
    for block in blocks:
        ast.parse(block)
    needed = {
        alias.name if isinstance(node, ast.Import) else node.module
        for block in blocks
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    missing = {name.split(".")[0] for name in needed if find_spec(name.split(".")[0]) is None}
    if missing:
        pytest.skip(f"not installed: {', '.join(sorted(missing))}")
    assert COMING_FROM["run"](page)


def contents():
    """Return every page that the table of contents of some page names."""
    found = set()
    for page in ROOT.glob("docs/**/*.md"):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            for entry in re.findall(r"^[\w./*-]+$", block, re.MULTILINE):
                folder, name = (page.parent / entry).parent, Path(entry).name
                found |= {path.resolve() for path in folder.glob(f"{name}.md")}
    return found


def test_every_page_is_in_the_contents_of_the_site():
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/*.md")]
    pages += [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT")]
    home = ROOT / "docs/index.md"
    # Notes of the laboratory are read from the index of decisions alone.
    pages = [page for page in pages if not page.read_text("utf-8").startswith("---\norphan: true")]
    missing = {page.resolve() for page in pages} - contents() - {home.resolve()}
    assert not missing, "name it in the toctree of a page above it"


def test_pictures_of_pages_are_there_and_small_and_have_a_script():
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    shown = {
        (page.parent / target).resolve()
        for page in pages
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    folder = ROOT / "docs/pictures"
    there = {path for path in folder.iterdir() if path.suffix in {".png", ".gif"}}
    assert there <= shown, "a picture that no page shows"
    assert all(path.stat().st_size < 1_000_000 for path in shown)
    scripts = " ".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    for path in there:
        stem = path.stem.removeprefix("concept-").removeprefix("measured-")
        assert path.name in scripts or f'"{stem}"' in scripts, path.name


TABLES = (
    "coherence",
    "consensus-rival",
    "denoising",
    "drift-searched",
    "entry-weights",
    "etth2",
    "flat-memory",
    "forecasts",
    "guides",
    "labels",
    "labels-words",
    "links",
    "networks-batch",
    "outliers",
    "rare-parts",
    "shared-atoms",
    "signatures",
    "sources",
    "sparse-model-rivals",
    "traffic",
    "unmixing",
    "verdicts",
)  # records that the page shows as tables alone


def test_every_benchmark_has_a_chart():
    """And every chart names the files that it is drawn from: `finish` is given their name."""
    script = (ROOT / "docs/pictures/measured.py").read_text(encoding="utf-8")
    read = set(re.findall(r'(?:read|records)\("([\w*-]+)"\)', script))
    folder = ROOT / "benchmarks"
    drawn = {path for name in read for path in folder.rglob(f"results/{name}.json")}
    tables = {path for name in TABLES for path in folder.rglob(f"results/{name}*.json")}
    assert drawn == {*folder.rglob("results/*.json")} - tables
    named = re.findall(r'(?:finish|chart|alone)\((?:figure, )?"([\w-]+)", "([\w*-]+)"', script)
    assert read == {source for _, source in named}
    there = {path.stem for path in (ROOT / "docs/pictures").glob("measured-*.png")}
    assert there == {f"measured-{chart}" for chart, _ in named}


def test_the_readme_fits_on_a_page():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_links_that_lead_nowhere_are_found(tmp_path):
    checker = runpy.run_path(str(ROOT / "docs/check_links.py"))
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a> <p id="top"> <a href="#top">')
    (tmp_path / "b.html").write_text('<a href="gone.html">x</a> <i id="there">')
    assert sorted(checker["broken"](tmp_path)) == [
        "a.html: no place #here in b.html",
        "b.html: gone.html is not there",
    ]
    (tmp_path / "b.html").write_text('<i id="here"> <script src="https://x.org/y.js"></script>')
    assert list(checker["broken"](tmp_path)) == []
    assert checker["outside"](tmp_path) == {"https://x.org/y.js"}


# -- habits of the project


def yaml_files():
    """Return what is read by services that the tests do not have."""
    found = [*ROOT.glob(".github/**/*.yml"), ROOT / "conda/recipe.yaml"]
    return [*found, ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]


def parsed(path):
    yaml = pytest.importorskip("yaml")

    class Loader(yaml.SafeLoader):
        """Refuses a key that stands twice, as the services do."""

        def construct_mapping(self, node, deep=False):
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            assert len({*keys}) == len(keys), f"a key stands twice in {path.name}: {keys}"
            return super().construct_mapping(node, deep)

    return yaml.load(path.read_text(encoding="utf-8"), Loader)


@pytest.mark.parametrize("path", yaml_files(), ids=lambda path: path.name)
def test_files_for_services_can_be_read(path):
    assert isinstance(parsed(path), dict)
    assert len(yaml_files()) >= 7


def test_the_recipe_for_conda_follows_the_package():
    recipe = parsed(ROOT / "conda/recipe.yaml")
    runs = {line.replace(" >=", ">=") for line in recipe["requirements"]["run"]}
    assert runs == {"python>=${{ python_min }}", *PROJECT["project"]["dependencies"]}
    assert set(PROJECT["build-system"]["requires"]) <= set(recipe["requirements"]["host"])
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/atomstream/__init__.py").read_text())
    assert recipe["context"] == {"version": version[1], "python_min": oldest}
    (script,) = PROJECT["project"]["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(script)]
    assert recipe["about"]["license"] == PROJECT["project"]["license"]
    assert recipe["about"]["summary"] == PROJECT["project"]["description"]


def test_the_release_checks_all_before_it_publishes():
    jobs = parsed(ROOT / ".github/workflows/release.yml")["jobs"]
    build, publish = jobs["build"], jobs["publish"]
    ran = [step["run"] for step in build["steps"] if step.get("run", "").startswith("make ")]
    assert ran == ["make test", "make docs", "make release-check"]
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    sent, taken = (
        next(step["with"] for step in job["steps"] if f"actions/{verb}-artifact" in step["uses"])
        for job, verb in ((build | {"steps": build["steps"][-1:]}, "upload"), (publish, "download"))
    )
    assert sent == taken
    classifiers = PROJECT["project"]["classifiers"]
    python = next(step["with"]["python-version"] for step in build["steps"] if "with" in step)
    assert f"Programming Language :: Python :: {python}" in classifiers


def test_what_the_site_writes_is_no_test():
    """After `make docs` copies of the examples lie in docs, and doctest would import them."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    written = {name.rstrip("/") for name in ignored if name.startswith("docs/")}
    options = PROJECT["tool"]["pytest"]["ini_options"]["addopts"].split()
    folders = {name for name in written if "." not in name}
    assert folders >= {"docs/gallery", "docs/_build"}
    assert {f"--ignore={name}" for name in folders} <= set(options)


def test_the_hook_before_a_commit_is_make_lint():
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert "entry: make lint" in text
    assert "\nlint:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def goals():
    """Return the goals of the Makefile."""
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def commands(job):
    """Return what a job runs, once for each goal where a matrix names goals."""
    named = job.get("strategy", {}).get("matrix", {}).get("goal", [""])
    ran = [step["run"] for step in job["steps"] if "run" in step]
    return [line.replace("${{ matrix.goal }}", goal) for line in ran for goal in named]


WORKFLOWS = {path.stem: parsed(path)["jobs"] for path in ROOT.glob(".github/workflows/*.yml")}


def test_every_job_runs_goals_of_the_makefile_that_run_anywhere():
    for name in ("tests", "weekly"):
        for job in WORKFLOWS[name].values():
            for line in commands(job):
                assert re.fullmatch(r"make [\w-]+( PYTHON=python)?", line), line
                assert line.split()[1] in goals(), line


def test_a_push_is_tested_on_all_systems_and_releases_of_python():
    jobs = WORKFLOWS["tests"]
    named = {line.split()[1] for job in jobs.values() for line in commands(job)}
    wanted = {"lint", "types", "unit", "test-floor", "test-elsewhere", "docs", "release-check"}
    assert named == wanted
    matrix = jobs["unit"]["strategy"]["matrix"]
    assert {name.removesuffix("-latest") for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    assert set(classified) <= set(matrix["python"])
    weekly = {line for job in WORKFLOWS["weekly"].values() for line in commands(job)}
    goals_of_the_week = (
        "test-next",
        "test-long",
        "test-weekly",
        "notebooks",
        "fuzz",
        "bench-guard",
    )
    assert weekly == {f"make {goal}" for goal in goals_of_the_week}
    text = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert re.findall(r"^make ([\w-]+)$", text, re.MULTILINE) == ["test", "test-long", "docs"]


def test_goals_that_pages_name_exist():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
    for page in pages:
        named = re.findall(r"`make ([\w-]+)", page.read_text(encoding="utf-8"))
        assert set(named) <= goals(), page.name
