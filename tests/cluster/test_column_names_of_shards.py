"""Columns of shards are found by their names: in rounds, held out, and coded."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from commands import refused, run
from frames_on_disk import NAMES, TURNED, tables, write, written
from numpy.testing import assert_allclose

from atomstream import Checkpoint, OnlineNMF, load, transform_shards
from atomstream.cluster import Rounds, Shards, shards
from atomstream.exceptions import BadShardError

ROUNDS = Rounds(warmup=256, first=64, batch=32)


@pytest.fixture(scope="module", params=["csv", "jsonl", "parquet", "arrow"])
def folder(request, tmp_path_factory):
    """Return a folder of four files, and of the same with one whose columns are turned."""
    return written(tmp_path_factory.mktemp(request.param), request.param)


def learned(folder, name, **how):
    model = OnlineNMF(3, random_state=0)
    return model.fit_stream(shards(f"{folder}/{name}-*", rows=100), rounds=ROUNDS, **how)


@pytest.mark.parametrize(("slots", "engine"), [(1, None), (2, "threads:2")])
def test_rounds_learn_columns_by_name(folder, slots, engine):
    straight = learned(folder, "straight", slots=slots)
    mixed = learned(folder, "mixed", slots=slots, engine=engine)
    assert_allclose(mixed.components_, straight.components_, rtol=1e-9)
    assert mixed.feature_names_in_.tolist() == NAMES
    new = tables()[1]
    assert_allclose(mixed.transform(new[TURNED]), mixed.transform(new), rtol=1e-9, atol=1e-12)


def test_processes_learn_columns_by_name(tmp_path):
    for number, frame in enumerate(tables()):
        write(frame, tmp_path / f"straight-{number}.parquet")
        write(frame[TURNED] if number == 2 else frame, tmp_path / f"mixed-{number}.parquet")
    found = [
        learned(tmp_path, name, slots=2, engine=engine).components_
        for name, engine in (("straight", None), ("mixed", "processes:2"))
    ]
    assert_allclose(found[0], found[1], rtol=1e-9)


def test_a_model_that_knows_names_learns_shards_by_them(folder, tmp_path):
    models = []
    for name in ("straight", "mixed"):
        kept = Checkpoint(tmp_path / f"{name}.atoms")
        model = OnlineNMF(3, random_state=0).fit(tables(1)[0][TURNED])
        model.fit_stream(shards(f"{folder}/{name}-*"), slots=2, rounds=ROUNDS, checkpoint=kept)
        models.append(model)
        assert load(tmp_path / f"{name}.atoms").feature_names_in_.tolist() == TURNED
    assert_allclose(models[0].components_, models[1].components_, rtol=1e-9)


def test_shards_are_coded_by_name(folder, tmp_path):
    model = learned(folder, "straight", slots=1)
    found = []
    for name in ("straight", "mixed"):
        files = transform_shards(model, shards(f"{folder}/{name}-*"), tmp_path / name)
        found.append(np.concatenate([np.load(file) for file in files]))
    assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_models_of_others_are_handed_arrays_by_name(folder, tmp_path):
    from sklearn.decomposition import NMF

    theirs = NMF(3, random_state=0).fit(tables(1)[0])
    files = transform_shards(theirs, shards(f"{folder}/mixed-*"), tmp_path / "theirs")
    wanted = theirs.transform(tables()[2].to_numpy())
    assert_allclose(np.load(files[2]), wanted, rtol=1e-6, atol=1e-9)


def test_other_names_are_refused_in_one_sentence_or_left_out(folder, tmp_path):
    kind = next(folder.iterdir()).suffix
    for number, frame in enumerate(tables(3)):
        frame = frame.rename(columns={"s1": "other"}) if number == 1 else frame
        write(frame, tmp_path / f"x-{number}{kind}")
    listed = shards(f"{tmp_path}/x-*")
    said = r"missing is 's1' and unexpected is 'other'; give the same ones"
    with pytest.raises(BadShardError, match=said):
        OnlineNMF(3, random_state=0).fit_stream(listed, slots=2, rounds=ROUNDS)
    model = OnlineNMF(3, random_state=0)
    model.fit_stream(listed, slots=2, rounds=ROUNDS, on_bad_shard="skip")
    ((name, reason),) = model.rounds_report_.skipped
    assert "x-1" in name
    assert "unexpected is 'other'" in reason


@dataclass(frozen=True)
class Frames:
    """A shard of one's own, whose rows are frames with columns in any order."""

    number: int
    n_rows: int = 300
    version: str = "1"

    @property
    def name(self):
        return f"frame {self.number}"

    def read(self, first, last):
        whole = tables()[self.number][first:last]
        yield whole[:70][TURNED] if self.number % 2 else whole[:70]
        yield whole[70:][TURNED[1:] + TURNED[:1]]


def test_frames_in_shards_of_ones_own_are_found_by_name(tmp_path):
    for number, frame in enumerate(tables()):
        frame.to_parquet(tmp_path / f"{number}.parquet")
    found = [
        OnlineNMF(3, random_state=0).fit_stream(each, slots=2, rounds=ROUNDS).components_
        for each in (shards(f"{tmp_path}/*"), Shards([Frames(number) for number in range(4)]))
    ]
    assert_allclose(found[0], found[1], rtol=1e-9)


# -- the command line


@pytest.mark.parametrize("rounds", [(), ("--engine", "threads:2", "--slots", 2)])
def test_runs_learn_and_code_by_name(folder, tmp_path, capsys, rounds):
    found = {}
    for name in ("straight", "mixed"):
        files = sorted(folder.glob(f"{name}-*"))
        settings = ("--atoms", 3, "--epochs", 1, "--json", *rounds)
        run("learn", *files, *settings, "--out", tmp_path / name)
        capsys.readouterr()
        model = load(tmp_path / name / "model.atoms")
        assert model.feature_names_in_.tolist() == NAMES
        run("inspect", tmp_path / name, "--json")
        held = json.loads(capsys.readouterr().out)["held_out"]
        found[name] = model.components_, held["mean objective"]
        for source in ("straight", "mixed"):
            out = tmp_path / f"{name}-{source}.csv"
            run("encode", tmp_path / name, next(folder.glob(f"{source}-2.*")), "--out", out)
            codes = np.loadtxt(out, delimiter=",", skiprows=1)
            wanted = model.transform(tables()[2])
            assert_allclose(codes, wanted, rtol=1e-6, atol=1e-9)
        assert "valid feature names" not in capsys.readouterr().err
    assert_allclose(found["mixed"][0], found["straight"][0], rtol=1e-9)
    assert found["mixed"][1] == pytest.approx(found["straight"][1])


def test_encode_names_the_columns_that_differ(folder, tmp_path, capsys):
    files = sorted(folder.glob("straight-*"))
    kind = files[0].suffix
    run("learn", *files, "--atoms", 2, "--epochs", 1, "--out", tmp_path / "run")
    write(tables(1)[0].rename(columns={"s0": "z"}), tmp_path / f"other{kind}")
    said = refused(
        capsys, "encode", tmp_path / "run", tmp_path / f"other{kind}", "--out", "codes.csv"
    )
    assert "missing is 's0' and unexpected is 'z'" in said
    said = refused(capsys, "learn", files[0], tmp_path / f"other{kind}", "--out", tmp_path / "new")
    assert "has different names of columns than" in said
    assert "missing is 's0' and unexpected is 'z'" in said
