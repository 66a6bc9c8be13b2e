"""The package as a whole: light imports, read-only caches, pictures, reports, live source in the documentation."""

import base64
import copy
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from atomstream import OnlineNMF, plots
from atomstream._kernels import active_set, compile
from atomstream.callbacks import History
from atomstream.viz.report import Section, write_report

ROOT = Path(__file__).parents[1]


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
        "import sys, atomstream; print([m for m in ('numpy', 'sklearn', 'numba') if m in sys.modules])"
    )
    assert loaded == "[]"


def test_importing_an_estimator_loads_no_compiler_plots_or_graphs():
    code = (
        "import sys, sklearn.base; before = set(sys.modules)\n"
        "from atomstream import OnlineNMF\n"
        "heavy = {'numba', 'matplotlib', 'pandas', 'networkx', 'jinja2'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    assert run(code) == "[]"


def test_imports_point_one_way():
    """Applications, then models, then the learner, then parts, then kernels."""
    order = ["applications", "models", "learner", "_kernels"]
    for path in (ROOT / "src/atomstream").rglob("*.py"):
        text = path.read_text()
        imported = set(re.findall(r"from atomstream\.?(\w*)", text))
        here = path.relative_to(ROOT / "src/atomstream").parts[0].removesuffix(".py")
        if here == "models":
            assert not imported & {"applications"}, path
        elif here not in (
            *order,
            "__init__",
            "plots",
            "report",
            "callbacks",
            "persistence",
            "runs",
            "cli",
        ):
            assert not imported & {"applications", "models", "learner"}, path


def test_a_change_in_any_kernel_file_compiles_all_kernels_anew(tmp_path):
    """Kernels contain functions of other files, which numba's cache does not watch."""
    for path in Path(compile.__file__).parent.glob("*.py"):
        shutil.copy(path, tmp_path)
    assert compile.source_stamp(tmp_path) == compile.STAMP
    for path in tmp_path.glob("*.py"):
        before = compile.source_stamp(tmp_path)
        path.write_text(path.read_text() + "# changed\n")
        assert compile.source_stamp(tmp_path) != before
    cached = active_set.encode._cache._cache_file
    assert cached._source_stamp == compile.STAMP
    OnlineNMF(2).fit(np.ones((4, 3)))
    assert cached._load_index()
    other = copy.copy(cached)
    other._source_stamp = "another"
    assert not other._load_index()


def test_learning_works_where_no_cache_can_be_written():
    """With no place for numba's cache (read-only package, read-only home) kernels are compiled in memory."""
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "import numpy as np, atomstream\n"
        "print(atomstream.OnlineNMF(3, n_epochs=1).fit(np.random.rand(20, 5)).n_steps_)"
    )
    assert run(code) == "1"


def test_pictures_show_what_their_twins_return():
    X = np.random.default_rng(0).random((100, 16))
    history = History()
    model = OnlineNMF(6, batch_size=20, random_state=0).set_callbacks(history).fit(X)
    images, shares = plots.atoms_data(model, (4, 4))
    assert images.shape == (6, 4, 4)
    assert (np.diff(shares) <= 0).all()
    assert images.min() == 0
    assert images.max() == 1
    drawn = [axes for axes in plots.atoms(model, (4, 4), n_columns=4).axes if axes.images]
    np.testing.assert_array_equal(drawn[0].images[0].get_array(), images[0])
    assert drawn[0].get_title() == f"{100 * shares[0]:.1f} %"
    with pytest.raises(ValueError, match=r"shape=\(3, 3\) has 9 entries, the atoms have 16"):
        plots.atoms(model, (3, 3))
    n_samples, values, _ = plots.objective_data(history)
    line = plots.objective(history).axes[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), n_samples)
    np.testing.assert_array_equal(line.get_ydata(), values)
    image = X[:10]
    _, approximation, error = plots.reconstruction_data(image, image + 2)
    assert approximation.max() == image.max()
    np.testing.assert_allclose(error, approximation - image)
    assert [a.get_title() for a in plots.reconstruction(image, image).axes[:3]] == [
        "original",
        "reconstruction",
        "error",
    ]


def test_a_report_is_one_file_that_escapes_names_and_needs_no_network(tmp_path):
    model = OnlineNMF(3, random_state=0).fit(np.random.default_rng(0).random((30, 4)))
    section = Section("atoms", "<b>Atoms</b>", "shares & more", plots.atoms(model, (2, 2)))
    path = write_report(tmp_path / "run", "<script>alert(1)</script>", {"a<b": "c&d"}, [section])
    page = path.read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "a&lt;b" in page
    assert "http" not in page
    picture = (tmp_path / "run/figures/atoms.png").read_bytes()
    assert base64.b64encode(picture).decode() in page


LIVE = runpy.run_path(str(ROOT / "docs/live_source.py"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def live_sources():
    return [
        (page.name, *match[1:4])
        for page in PAGES
        for match in LIVE["BLOCK"].findall(page.read_text())
    ]


@pytest.mark.parametrize(
    ("page", "place", "name", "shown"), live_sources(), ids=lambda v: str(v)[:40]
)
def test_source_shown_in_the_documentation_is_the_source(page, place, name, shown):
    assert shown == LIVE["source"](place, name)


def test_the_documentation_shows_source():
    assert len(live_sources()) >= 4


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
