"""Parts of other packages by their names: in arguments, in saved models, on the command line."""

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import atomstream
from atomstream import ModelFileError, OnlineDictionaryLearning, OnlineNMF, load, save
from atomstream.base import registered
from atomstream.cli import main
from atomstream.files.archive import read_archive, write_archive

X = np.random.default_rng(0).exponential(size=(120, 6))
SOURCE = '''
from dataclasses import dataclass
import numpy as np
from atomstream.coders import Coder, Codes
from atomstream.losses import Entrywise
from atomstream.penalties import Nonnegative

print("tinyparts is imported", flush=True)


@dataclass(frozen=True)
class SoftAbs(Entrywise):
    """A smooth loss of errors."""

    width: float = 1.0

    def __post_init__(self):
        if not self.width > 0:
            raise ValueError(f"SoftAbs needs a width above 0, got {self.width}.")

    def entries(self, x, y):
        return np.sqrt((x - y) ** 2 + self.width**2) - self.width

    def gradient(self, X, Y):
        return (Y - X) / np.sqrt((X - Y) ** 2 + self.width**2)


@dataclass(frozen=True)
class Even:
    pace: float = 0.5

    def __call__(self, step, mass, total):
        return 1.0 if step == 1 else self.pace


@dataclass(frozen=True)
class Lstsq(Coder):
    def encode(self, batch, dictionary, objective, accuracy, start=None):
        values = np.linalg.lstsq(dictionary.atoms().T, batch.X.T, rcond=None)[0].T
        return Codes(values, np.zeros(len(values)))


@dataclass(frozen=True)
class Plus(Nonnegative):
    pass


def build():
    raise SystemExit("called")
'''
POINTS = """[atomstream.parts]
tinyparts-softabs = tinyparts.inner:SoftAbs
tinyparts-even = tinyparts.inner:Even
tinyparts-lstsq = tinyparts.inner:Lstsq
tinyparts-plus = tinyparts.inner:Plus
tinyparts-broken = tinyparts.inner:missing
tinyparts-function = tinyparts.inner:build
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with an installed package, on the path of this process."""
    folder = tmp_path / "site"
    (folder / "tinyparts").mkdir(parents=True)
    (folder / "tinyparts/__init__.py").write_text("")
    (folder / "tinyparts/inner.py").write_text(SOURCE)
    about = folder / "tinyparts-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tinyparts\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in ("tinyparts", "tinyparts.inner"):
        sys.modules.pop(name, None)


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(registered, "_parts", {})


@dataclass(frozen=True)
class Steady:
    pace: float = 0.5

    def __call__(self, step, mass, total):
        return 1.0 if step == 1 else self.pace


# -- in arguments


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("kind", "settings", "role", "shown"),
    [
        (OnlineNMF, {"loss": "tinyparts-softabs:2"}, "loss", "SoftAbs(width=2.0)"),
        (OnlineNMF, {"loss": "tinyparts-softabs"}, "loss", "SoftAbs(width=1.0)"),
        (OnlineNMF, {"codes": "tinyparts-plus:0.1,0.2"}, "codes", "Plus(l1=0.1, l2=0.2)"),
    ],
)
def test_an_installed_part_goes_by_its_name(kind, settings, role, shown):
    model = kind(3, n_epochs=2, random_state=0, **settings).fit(X)
    assert repr(getattr(model.algorithm_.objective, role)) == shown


@pytest.mark.usefixtures("site")
def test_schedules_and_coders_go_by_their_names():
    model = OnlineDictionaryLearning(
        3, alpha=0.0, schedule="tinyparts-even:0.25", coder="tinyparts-lstsq", random_state=0
    )
    model.partial_fit(X).partial_fit(X)
    assert model.clock_.weight == 0.25
    assert type(model.algorithm_.coder).__name__ == "Lstsq"


@pytest.mark.usefixtures("table")
def test_a_part_is_registered_in_python():
    assert atomstream.register(Steady) is Steady
    name = f"{__name__.split('.')[0]}-steady"
    model = OnlineNMF(3, schedule=f"{name}:0.25", random_state=0).partial_fit(X).partial_fit(X)
    assert model.clock_.weight == 0.25
    atomstream.register(Steady, "mine-pace")
    assert OnlineNMF(3, schedule="mine-pace").partial_fit(X).clock_.schedule == Steady()


@pytest.mark.usefixtures("site", "table")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "other-huber:2"}, "is unknown; .* kl, .*registered are: .*tinyparts-softabs"),
        ({"loss": "tinyparts-softabs:-1"}, "cannot be made: SoftAbs needs a width above 0"),
        ({"loss": "tinyparts-softabs:a"}, "cannot be made: could not convert"),
        ({"loss": "tinyparts-softabs:1,2"}, "cannot be made"),
        ({"loss": "tinyparts-even"}, "loss must be a part with a method 'gradient', got Even"),
        ({"loss": "tinyparts-broken"}, "stands for tinyparts.inner:missing, which fails: "),
        ({"loss": "tinyparts-function"}, "stands for tinyparts.inner:build, which is no dataclass"),
    ],
)
def test_names_that_lead_nowhere_end_in_a_sentence(settings, words):
    with pytest.raises((ValueError, TypeError), match=words):
        OnlineNMF(3, **settings).fit(X)


@pytest.mark.usefixtures("table")
def test_what_cannot_be_registered_is_refused():
    with pytest.raises(TypeError, match="register needs a dataclass"):
        atomstream.register(print)
    with pytest.raises(ValueError, match="a hyphen"):
        atomstream.register(Steady, "steady")
    atomstream.register(Steady, "mine-pace")

    @dataclass(frozen=True)
    class Another:
        pass

    with pytest.raises(ValueError, match=r"'mine-pace' is the name of .*:Steady already"):
        atomstream.register(Another, "mine-pace")


# -- in saved models


@pytest.mark.usefixtures("site")
def test_a_saved_model_finds_an_installed_part(tmp_path):
    model = OnlineNMF(3, loss="tinyparts-softabs:2", n_epochs=2, random_state=0).fit(X)
    model.set_params(loss=model.algorithm_.objective.loss)  # the part itself
    save(model, tmp_path / "a.atoms")
    again = load(tmp_path / "a.atoms")
    assert again.loss == model.loss
    assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.usefixtures("table")
def test_a_saved_model_finds_a_registered_part(tmp_path):
    atomstream.register(Steady)
    model = OnlineNMF(3, schedule=Steady(0.25), random_state=0).fit(X)
    save(model, tmp_path / "a.atoms")
    assert load(tmp_path / "a.atoms").clock_.schedule == Steady(0.25)


def test_a_missing_package_is_named(site, tmp_path, monkeypatch):
    from tinyparts.inner import Even

    save(OnlineNMF(3, schedule=Even(), random_state=0).fit(X), tmp_path / "a.atoms")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(site)])
    words = (
        r"holds a 'Even', which is no part of atomstream: install 'tinyparts', call "
        r"atomstream\.register\(Even\), or give its class, as in load\(path, parts=\[Even\]\)\.$"
    )
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "a.atoms")
    assert load(tmp_path / "a.atoms", parts=[Even]).schedule == Even()


@pytest.mark.usefixtures("table")
def test_parts_given_to_load_come_first(tmp_path):
    atomstream.register(Steady)
    save(OnlineNMF(3, schedule=Steady(), random_state=0).fit(X), tmp_path / "a.atoms")

    @dataclass(frozen=True)
    class Other(Steady):
        pass

    Other.__name__ = "Steady"
    assert type(load(tmp_path / "a.atoms", parts=[Other]).schedule) is Other


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("name", ["os-system", "os", "subprocess:Popen", "builtins-eval", 3, ["a"]])
def test_a_file_cannot_name_what_is_not_registered(name, tmp_path):
    atomstream.register(Steady)
    save(OnlineNMF(3, schedule=Steady(), random_state=0).fit(X), tmp_path / "a.atoms")
    content, arrays = read_archive(tmp_path / "a.atoms")
    part = content["parameters"]["schedule"]
    part["own"], part["name"], part["of"] = "system", name, "os"
    write_archive(tmp_path / "b.atoms", content, arrays)
    with pytest.raises(ModelFileError, match="holds a 'system', which is no part of atomstream"):
        load(tmp_path / "b.atoms")


# -- on the command line


def command(site, *arguments):
    paths = [str(site), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, "-m", "atomstream", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("table")
def test_the_command_line_knows_installed_parts(site, tmp_path, capsys, monkeypatch):
    np.save(tmp_path / "X.npy", X)
    run = str(tmp_path / "run")
    settings = ["--atoms", "2", "--epochs", "1", "--loss", "tinyparts-softabs:2"]
    settings += ["--schedule", "tinyparts-even:0.5"]
    code, said = command(site, "learn", str(tmp_path / "X.npy"), "--out", run, *settings)
    assert code == 0, said
    assert main(["inspect", run]) == 0
    assert "tinyparts-softabs" in (tmp_path / "run/run.toml").read_text()
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(site)])
    capsys.readouterr()
    assert main(["inspect", run]) != 0  # without the package
    said = capsys.readouterr().err
    assert "install 'tinyparts', call atomstream.register(" in " ".join(said.split())
    assert "Traceback" not in said


def test_the_command_line_names_the_known_parts_and_no_package(tmp_path, capsys):
    np.save(tmp_path / "X.npy", X)
    arguments = ["learn", str(tmp_path / "X.npy"), "--out", str(tmp_path / "run")]
    assert main([*arguments, "--loss", "absent-huber:2"]) != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "loss='absent-huber:2' is unknown; choose one of hellinger, huber, is, kl, " in said
    assert "(registered are: none; see atomstream.register)" in said
    assert "install" not in said
    assert "Traceback" not in said
    assert not (tmp_path / "run").exists()
