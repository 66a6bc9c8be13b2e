"""Law 4 and law 10: files that go on to the bit, and files that are refused."""

import copy
import dataclasses
import hashlib
import io
import json
import pickle
import re
import threading
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from cases import of_fields
from numpy.testing import assert_array_equal

import atomstream
from atomstream import (
    CorruptModelError,
    ModelFileError,
    NewerFormatError,
    NotAModelError,
    OnlineDictionaryLearning,
    OnlineNMF,
)
from atomstream.base.declared import declared
from atomstream.coders import ActiveSet, Auto
from atomstream.coders.tolerances import LogTolerance
from atomstream.files import archive, codec, registry
from atomstream.io import files
from atomstream.memory.gram import Aggregates
from atomstream.penalties import Box
from atomstream.schedules import Constant, Polynomial

RNG = np.random.default_rng(0)
X = RNG.random((90, 8))

MODELS = {
    "plain": lambda: OnlineNMF(4, random_state=0),
    "signed": lambda: OnlineDictionaryLearning(4, alpha=0.1, random_state=np.random.default_rng(3)),
    "parts": lambda: OnlineNMF(
        4,
        codes=Box(0.0, 2.0, l1=0.1),
        coder=ActiveSet(max_rounds=50, tol=LogTolerance()),
        schedule=Constant(half_life=100.0),
        random_state=np.random.RandomState(2),
    ),
    "array": lambda: OnlineNMF(
        4, init=RNG.random((4, 8)), fixed_components=2, schedule=Polynomial(0.6), max_time=9.0
    ),
    "missing": lambda: OnlineNMF(
        4, missing=True, random_state=np.random.Generator(np.random.MT19937(1))
    ),
    "float32": lambda: OnlineNMF(4, random_state=0),
}


@pytest.fixture(params=MODELS)
def model(request):
    rows = X.astype(np.float32) if request.param == "float32" else X
    return MODELS[request.param]().partial_fit(rows[:30])


def shown(model):
    return re.sub("0x[0-9A-F]+", "", repr(sorted(model.get_params().items())))


def test_law_4_save_load_go_on_is_never_stopped(model, tmp_path):
    atomstream.save(model, tmp_path / "model.atoms")
    other = atomstream.load(tmp_path / "model.atoms")
    rows = X.astype(model.components_.dtype)
    for start in (30, 50, 70):
        model.partial_fit(rows[start : start + 20])
        other.partial_fit(rows[start : start + 20])
    assert_array_equal(model.components_, other.components_)
    assert_array_equal(model.memory_.gram, other.memory_.gram)
    assert_array_equal(model.importance_, other.importance_)
    assert vars(model.clock_) == vars(other.clock_)
    assert shown(model) == shown(other)
    assert_array_equal(model.fit(rows).components_, other.fit(rows).components_)


def test_an_unfitted_model_and_names_of_features_are_kept(tmp_path):
    import pandas as pd

    atomstream.save(OnlineNMF(7, alpha=0.25), tmp_path / "new.atoms")
    assert repr(atomstream.load(tmp_path / "new.atoms")) == repr(OnlineNMF(7, alpha=0.25))
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "<ü>"])
    atomstream.save(OnlineNMF(2).fit(frame), tmp_path / "named.atoms")
    assert list(atomstream.load(tmp_path / "named.atoms").feature_names_in_) == ["a", "b", "<ü>"]


def test_what_is_no_part_of_ours_is_not_saved(tmp_path):
    model = OnlineNMF(2, schedule=lambda step, mass, total: 1.0).fit(X)
    with pytest.raises(TypeError, match=r"schedule.*cannot be saved: files hold no function"):
        atomstream.save(model, tmp_path / "model.atoms")
    assert not list(tmp_path.iterdir())


def test_a_snapshot_codes_in_another_thread_while_the_model_learns():
    model, seen, stop = OnlineNMF(4, random_state=0).partial_fit(X), [], threading.Event()

    def code():
        while not stop.is_set():
            twin = copy.copy(model)
            codes = twin.transform(X[:5])
            seen.append(np.array_equal(codes, twin.transform(X[:5])))

    thread = threading.Thread(target=code)
    thread.start()
    model.fit_stream(X for _ in range(100))
    stop.set()
    thread.join()
    assert seen
    assert all(seen)
    assert_array_equal(
        model.components_,
        OnlineNMF(4, random_state=0).fit_stream(X for _ in range(101)).components_,
    )


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.atoms"
    atomstream.save(OnlineNMF(2, random_state=0).fit(X[:, :3]), path)
    assert atomstream.load(path).n_steps_ == 10
    return path


def refused(path, kind=ModelFileError):
    """Return the message; refusing takes under a second, and less memory than twice the file."""
    tracemalloc.start()
    began = time.perf_counter()
    with pytest.raises(kind) as caught:
        atomstream.load(path)
    seconds, peak = time.perf_counter() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 1
    assert peak < 2 * path.stat().st_size + 65_536
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
def test_every_flipped_byte_is_refused(saved):
    whole = saved.read_bytes()
    assert len(whole) < 10_000
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= (0x01, 0x80)[place % 2]
        saved.write_bytes(broken)
        refused(saved)
    saved.write_bytes(whole)
    assert atomstream.load(saved).components_.shape == (2, 3)


def test_every_truncation_and_every_longer_file_is_refused(saved):
    whole = saved.read_bytes()
    for length in range(len(whole)):
        saved.write_bytes(whole[:length])
        refused(saved)
    saved.write_bytes(whole + b"\0")
    refused(saved, CorruptModelError)


def test_other_kinds_of_files_are_refused(saved):
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive_file:
        archive_file.writestr("model", saved.read_bytes())
    for other in (
        pickle.dumps({"a": 1}),
        zipped.getvalue(),
        b"",
        b"\x93NUMPY" + bytes(200),
        b"a,b\n1,2\n",
    ):
        saved.write_bytes(other)
        refused(saved, NotAModelError)


@pytest.mark.parametrize("number", [0, 2])
def test_another_format_is_refused(saved, number):
    whole = bytearray(saved.read_bytes())
    whole[8] = number
    saved.write_bytes(whole)
    assert f"has format {number}, and this release reads format 1 only" in refused(
        saved, NewerFormatError
    )


def forge(path, told, payload=b"", **claims):
    """Write a file whose digest is right and whose claims need not be."""
    header = told if isinstance(told, bytes) else json.dumps(told).encode()
    claims = {"arrays": 0 if claims else len(told["arrays"]), "header": len(header)} | claims
    blank = archive.PREFIX.pack(archive.MAGIC, 1, claims["arrays"], claims["header"], bytes(32))
    digest = hashlib.sha256(blank + header + payload).digest()
    prefix = archive.PREFIX.pack(archive.MAGIC, 1, claims["arrays"], claims["header"], digest)
    path.write_bytes(prefix + header + payload)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "<f8", "shape": [2**59]},  # 2^62 bytes
        {"dtype": "<f8", "shape": [2**62, 2**62]},
        {"dtype": "<f8", "shape": [2**62, 2**62, 0]},
        {"dtype": "<f8", "shape": [-1]},
        {"dtype": "<f8", "shape": [True]},
        {"dtype": "<f8", "shape": [1.0]},
        {"dtype": "<f8", "shape": "8"},
        {"dtype": "<f8", "shape": [1] * 40},
        {"dtype": "|O", "shape": [1]},
        {"dtype": "|V9999999999", "shape": [1]},
        {"dtype": 3, "shape": [1]},
        {"shape": [1]},
        [],
        None,
    ],
)
def test_headers_that_claim_what_cannot_be_are_refused_before_memory_is_spent(tmp_path, entry):
    forge(tmp_path / "forged.atoms", {"arrays": [entry], "content": {}}, bytes(8))
    refused(tmp_path / "forged.atoms", CorruptModelError)


def test_a_million_arrays_and_a_deep_or_endless_header_are_refused(tmp_path):
    path, empty = tmp_path / "forged.atoms", {"dtype": "<f8", "shape": [0]}
    forge(path, {"arrays": [empty] * 300_000, "content": {}})  # ten megabytes of them
    refused(path, CorruptModelError)
    forge(path, {"arrays": [], "content": {}}, arrays=1_000_000)
    refused(path, CorruptModelError)
    forge(path, {"arrays": [], "content": {}}, header=2**62)
    refused(path, CorruptModelError)
    forge(path, b'{"arrays": [], "content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", arrays=0)
    refused(path, CorruptModelError)
    forge(path, b"\xff\xfe", arrays=0)
    refused(path, CorruptModelError)


def tampered(path, change):
    """Load a file whose content was changed by someone who knows how to make a digest."""
    content, arrays = archive.read_archive(path)
    change(content, arrays)
    archive.write_archive(path, content, arrays)
    return refused(path, CorruptModelError)


@pytest.mark.parametrize(
    "change",
    [
        lambda c, a: c.update(model="os.system"),
        lambda c, a: c.update(model=["OnlineNMF"]),
        lambda c, a: c["parameters"].update(schedule={"part": "subprocess.Popen", "fields": {}}),
        lambda c, a: c["parameters"].update(schedule={"part": "Power", "fields": {"p": -1.0}}),
        lambda c, a: c["parameters"].update(schedule={"part": "Power", "fields": {"q": 1.0}}),
        lambda c, a: c["parameters"].update(unheard_of=1),
        lambda c, a: c["parameters"].update(alpha={"eval": "1"}),
        lambda c, a: c["parameters"].update(alpha={}),
        lambda c, a: c["learned"]["run"]["dict"]["state"].update(changing="Clock"),
        lambda c, a: c["learned"]["run"]["dict"]["state"]["fields"].pop("memory"),
        lambda c, a: c["learned"]["run"]["dict"].update(state=7),
        lambda c, a: c["learned"]["run"]["dict"].update(rng=None),
        lambda c, a: c["learned"]["run"]["dict"]["rng"].update(source=99),
        lambda c, a: c["generators"][0].update(bits="SystemRandom"),
        lambda c, a: c["generators"][0]["state"]["dict"].update(state=None),
        lambda c, a: c["learned"].update(n_features_in_=4),
        lambda c, a: c["generators"][0].update(
            bits="MT19937",
            state={
                "dict": {
                    "bit_generator": "MT19937",
                    "state": {"dict": {"key": {"array": 0}, "pos": 2**30}},
                }
            },
        ),
        lambda c, a: c["learned"]["run"]["dict"].pop("n_reseeded"),
        lambda c, a: c.pop("parameters"),
        lambda c, a: a.__setitem__(0, a[0][:, :1]),
        lambda c, a: a.pop(),
    ],
)
def test_content_that_makes_no_sense_is_refused(saved, change):
    tampered(saved, change)


def test_a_full_disk_or_a_crash_leaves_the_old_file_whole(saved, monkeypatch):
    old = saved.read_bytes()
    model = atomstream.load(saved).partial_fit(X[:, :3])

    def fail(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(files.os, name, fail)
            with pytest.raises(OSError, match="No space left"):
                atomstream.save(model, saved)
        assert saved.read_bytes() == old
        assert [path.name for path in saved.parent.iterdir()] == ["model.atoms"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_really_full_says_so(saved, monkeypatch):
    real, model = files.os.open, atomstream.load(saved)

    def full(path, flags, *mode):
        return real(
            "/dev/full" if str(path).endswith(files.PART) else path, flags & ~files.os.O_EXCL, *mode
        )

    old = saved.read_bytes()
    monkeypatch.setattr(files.os, "open", full)
    with pytest.raises(OSError, match="No space left"):
        atomstream.save(model, saved)
    assert saved.read_bytes() == old


def test_the_parts_that_can_be_saved_are_all_there_are():
    from atomstream.estimators import registry as names

    parts = {*registry.library_parts(), *registry.PARTS, *declared("parts")}
    assert len(parts) == 42 + sum(each["parts"] for each in of_fields("counts").values())
    for known in (names.LOSSES, names.SETS, names.SCHEDULES, names.TOLERANCES, names.CODERS):
        for make in known.values():
            assert type(make()).__name__ in parts


def test_names_in_files_are_those_of_classes_and_each_says_what_is_saved():
    for name in registry.models():
        model = registry.model_class(name)
        assert model.__name__ == name
        assert model.LEARNED
        assert registry.tag_of(model()) == "model"
    for name in registry.VALUES.keys() | declared("values").keys():
        assert registry.value_class(name).__name__ == name
        kind = registry.value_class(name)
        assert hasattr(kind, "SAVED") or dataclasses.is_dataclass(kind)


@dataclasses.dataclass(frozen=True)
class Own:
    """A schedule that the library does not know."""

    share: float = 0.5

    def __call__(self, step, mass, total):
        return self.share


class OwnMemory(Aggregates):
    """A memory that the library does not know."""


def test_parts_of_ones_own_are_saved_by_name_and_fields_and_made_from_classes_given(tmp_path):
    path = tmp_path / "model.atoms"
    model = OnlineNMF(3, schedule=Own(0.25), coder=Auto(tol=LogTolerance()), random_state=0).fit(X)
    model.state_.memory.__class__ = OwnMemory
    atomstream.save(model, path)
    with pytest.raises(ModelFileError, match=r"holds a 'Own\w*'.*load\(path, parts=\[Own"):
        atomstream.load(path)
    again = atomstream.load(path, parts=[Own, OwnMemory])
    assert again.schedule == Own(0.25)
    assert again.clock_.schedule == Own(0.25)
    assert type(again.memory_) is OwnMemory
    assert_array_equal(again.memory_.gram, model.memory_.gram)
    assert_array_equal(again.transform(X), model.transform(X))


def test_a_class_of_ones_own_never_stands_for_one_of_the_library(tmp_path):
    path = tmp_path / "model.atoms"
    atomstream.save(OnlineNMF(3, schedule=Polynomial(0.6)).fit(X), path)

    class Polynomial2(Own):
        pass

    Polynomial2.__name__ = "Polynomial"
    assert atomstream.load(path, parts=[Polynomial2]).schedule == Polynomial(0.6)


def test_a_source_that_is_shared_stays_shared(tmp_path):
    model = OnlineNMF(2, random_state=np.random.default_rng(0)).partial_fit(X)
    assert model._learner.rng is model.random_state
    atomstream.save(model, tmp_path / "model.atoms")
    again = atomstream.load(tmp_path / "model.atoms")
    assert again._learner.rng is again.random_state


def test_a_list_of_names_costs_once_however_often_it_is_named(tmp_path):
    path = tmp_path / "model.atoms"
    codec.write_model(path, OnlineNMF(2).fit(X), {"names": np.array(["n" * 9] * 2000, object)})
    content, arrays = archive.read_archive(path)
    one = content["notes"]["names"]
    content["notes"] = {f"n{i}": one for i in range(3000)}
    archive.write_archive(path, content, arrays)
    tracemalloc.start()
    _, notes = codec.read_model(path)
    assert tracemalloc.get_traced_memory()[1] < 8e6
    tracemalloc.stop()
    assert notes["n0"] is notes["n2999"]


def test_arrays_of_every_shape_come_back(tmp_path):
    arrays = [
        np.array(3.5),
        np.zeros((0, 4)),
        np.asfortranarray(X),
        X[::2, ::3],
        np.arange(3, dtype=">i4"),
        X > 0.5,
    ]
    archive.write_archive(tmp_path / "a", {}, arrays)
    for array, read in zip(arrays, archive.read_archive(tmp_path / "a")[1], strict=True):
        assert read.shape == array.shape
        assert_array_equal(read, array)


def test_notes_that_would_write_outside_of_memory_are_refused(tmp_path, capsys):
    from atomstream.cli import main

    path, model = tmp_path / "model.atoms", OnlineNMF(2).fit(X[:, :4])
    keys = np.arange(2, dtype=np.uint64)
    held = {"keys": keys, "labels": None, "n_held": 2}

    def forged(indices, indptr):
        rows = sp.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 4))
        rows.indices, rows.indptr = np.array(indices), np.array(indptr)
        return {"holdout": held | {"rows": rows}}

    for notes in (
        forged([10**9, 2 * 10**9], [0, 1, 2]),
        forged([0, 1], [0, 5, 2]),
        forged([0, 1], [0, 1, -9]),
        {"holdout": held | {"rows": np.ones((2, 5))}},
        {"holdout": held | {"rows": np.ones((3, 4))}},
        {"holdout": held | {"rows": None}},
        {"holdout": {}},
        {"names": 5},
        {"names": np.array(["a"], object)},
        {"shape": [3, 3]},
        {"seconds": "many"},
    ):
        codec.write_model(path, model, notes)
        assert main(["inspect", str(path)]) == 2
        told = capsys.readouterr().err
        assert re.match(r"Error: .*(note that makes no|that do not fit|that makes sense)", told)
        assert told.count("\n") == 1


GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.atoms")), ids=lambda path: path.stem)
def test_files_of_format_1_stay_readable(path):
    model = atomstream.load(path)
    expected = np.load(path.with_suffix(".npz"))
    assert_array_equal(model.components_, expected["components"])
    assert_array_equal(model.memory_.gram, expected["gram"])
    assert model.n_steps_ == expected["n_steps"]
    assert_array_equal(model._learner.rng.integers(2**31, size=4), expected["drawn"])
    before, rows = model.n_steps_, np.ones((3, model.n_features_in_))
    if hasattr(model, "feature_names_in_"):
        rows = pandas.DataFrame(rows, columns=model.feature_names_in_)
    assert model.partial_fit(rows).n_steps_ == before + 1


def test_the_golden_files_are_there():
    assert len(list(GOLDEN.glob("*.atoms"))) == 3


def test_a_model_of_another_kind_is_refused(tmp_path):
    model = atomstream.OnlineNMF(2, random_state=0).fit(np.eye(4))
    atomstream.save(model, tmp_path / "model.atoms")
    loaded = atomstream.load(tmp_path / "model.atoms", kind=atomstream.OnlineNMF)
    assert_array_equal(loaded.components_, model.components_)
    with pytest.raises(ModelFileError, match=r"holds a model of OnlineNMF, not of BatchNMF\."):
        atomstream.load(tmp_path / "model.atoms", kind=atomstream.BatchNMF)


@pytest.mark.parametrize("name", ["clock", "rng", "n_reseeded", "batch_objective", "loss"])
def test_a_model_that_lacks_a_part_of_its_run_is_refused(name):
    X = np.random.default_rng(0).random((20, 4))
    model = OnlineNMF(2, random_state=0).partial_fit(X)
    learned = model.learned_attributes()
    del learned["run"][name]
    with pytest.raises(ValueError, match=f"{name} of Learner|loss"):
        OnlineNMF(2, random_state=0).restore_learned(learned)
