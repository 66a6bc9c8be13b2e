"""Runs on tables of mutations: what they find and leave, stops, and how they are looked at."""

import csv
import json

import numpy as np
import pytest
from commands import plotted, refused, run
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from shared import DATA, needs_data

from atomstream import ConsensusNMF, align, extract_signatures, load, plots, signatures
from atomstream.fields.signatures.run import SignaturesSettings, SignaturesTask
from atomstream.runs.folder import RunFolder
from atomstream.runs.run import Run

rng = np.random.default_rng(0)
CHANNELS = [f"{a}[{m}]{b}" for a in "ACGT" for m in ("C>T", "C>A", "T>G") for b in "ACGT"]
KNOWN = signatures.ChannelTable(
    rng.dirichlet(np.full(48, 0.2), 6), [f"K{i}" for i in range(6)], CHANNELS
)
SHARES = rng.dirichlet([0.6, 0.6, 0.6], 80)
BURDENS = np.where(np.arange(80) == 7, 90_000, 3000)[:, None]
COUNTS = signatures.ChannelTable(
    rng.poisson(BURDENS * SHARES @ KNOWN.values[:3]), [f"S{i}" for i in range(80)], CHANNELS
)
SETTINGS = ("--signatures", "1-4", "--replicates", 10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signatures")
    COUNTS.write(folder / "counts.txt")
    KNOWN.write(folder / "known.txt")
    known = ("--catalogue", folder / "known.txt")
    run("signatures", folder / "counts.txt", *known, *SETTINGS, "--out", folder / "run")
    return folder


def test_samples_without_mutations_are_skipped_where_asked(folder, capsys):
    values = COUNTS.values[:20].copy()
    values[3] = 0
    path = folder / "empty.txt"
    signatures.ChannelTable(values, COUNTS.names[:20], CHANNELS).write(path)
    words = ("signatures", path, "--signatures", "2", "--replicates", 3, "--out")
    assert "'S3' of" in refused(capsys, *words, folder / "refused")
    run(*words, folder / "skipped", "--on-bad-line", "skip", "--json")
    assert json.loads(capsys.readouterr().out)["skipped"] == 1
    names = [row[0] for row in table(folder / "skipped/samples.csv")[1:]]
    assert names == [name for name in COUNTS.names[:20] if name != "S3"]


def table(path, delimiter=","):
    with path.open() as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_a_run_is_what_python_finds(folder, room):
    model = extract_signatures(COUNTS, range(1, 5), n_replicates=10, random_state=0)
    found = load(folder / "run/model.atoms")
    assert_array_equal(found.components_, model.components_)
    assert found.choice_.reason == model.choice_.reason
    assert found.n_components_ == model.n_components_
    room.share(align(found.dictionary(3), KNOWN.values[:3]).similarity.min(), at_least=0.97)


def test_tables_are_those_that_the_field_reads(folder):
    found = signatures.read(folder / "run/signatures.txt")
    assert found.names == ["CH48A", "CH48B", "CH48C"]
    assert_allclose(found.values.sum(axis=1), 1)
    head, *rows = table(folder / "run/activities.txt", "\t")
    assert head == ["Samples", *found.names]
    assert [row[0] for row in rows] == COUNTS.names
    values = np.array([row[1:] for row in rows], float)
    assert_allclose(values, signatures.refit(COUNTS, found).values, rtol=1e-6, atol=1e-5)
    matches = table(folder / "run/matches.csv")[1:]
    assert {known for _, known, _ in matches} == {"K0", "K1", "K2"}
    sums = table(folder / "run/decomposition.csv")[1:]
    assert all(float(cosine) > 0.97 for *_, cosine in sums)
    assert table(folder / "run/known_activities.txt", "\t")[0][0] == "Samples"
    samples = table(folder / "run/samples.csv")[1:]
    assert [name for name, _, over, *_ in samples if over == "True"] == ["S7"]
    assert [row[0] for row in table(folder / "run/ranks.csv")[1:]] == ["1", "2", "3", "4"]


def test_a_run_that_was_stopped_goes_on_to_the_bit(folder, tmp_path):
    settings = SignaturesSettings(
        (str(folder / "counts.txt"),),
        signatures="1-4",
        replicates=10,
        catalogue=str(folder / "known.txt"),
    )
    place = RunFolder(tmp_path / "run")
    first, joined = Run(place, SignaturesTask(settings)), ConsensusNMF.joined

    def stop(model, other):
        first.stop("test")
        return joined(model, other)

    with pytest.MonkeyPatch.context() as patch, place.beginning(settings, first.task.sources):
        patch.setattr(ConsensusNMF, "joined", stop)
        assert not first.run(lambda text: None).complete
    assert load(tmp_path / "run/model.atoms").ensemble_.ranks == [1, 2]
    run("resume", tmp_path / "run")
    again, whole = load(tmp_path / "run/model.atoms"), load(folder / "run/model.atoms")
    for rank in (1, 2, 3, 4):
        assert_array_equal(again.consensus(rank).atoms, whole.consensus(rank).atoms)
    assert (tmp_path / "run/matches.csv").read_text() == (folder / "run/matches.csv").read_text()


def test_a_run_is_inspected_coded_and_reported_by_the_same_verbs(folder, capsys, monkeypatch):
    run("inspect", folder / "run", "--json")
    shown = json.loads(capsys.readouterr().out)["signatures"]
    assert [row["signature"] for row in shown] == [0, 1, 2]
    assert [row["features"].split()[:2] for row in shown] == [
        [f"CH48{letter}:", "100%"] for letter in "ABC"
    ]
    run("encode", folder / "run", folder / "counts.txt", "--out", folder / "codes.csv")
    head, *rows = table(folder / "codes.csv")
    assert head == ["sample", "signature_0", "signature_1", "signature_2"]
    activities = np.array(
        [row[1:] for row in table(folder / "run/activities.txt", "\t")[1:]], float
    )
    assert_allclose(np.array([row[1:] for row in rows], float), activities, rtol=1e-6, atol=1e-4)
    run("report", folder / "run")
    page = (folder / "run/report.html").read_text()
    assert "Signatures of" in page
    assert "Hypermutated: S7." in page
    assert {path.stem for path in (folder / "run/figures").glob("*.png")} >= {
        "profiles",
        "exposures",
    }
    plotted(monkeypatch, folder / "run")


@pytest.mark.parametrize("cap", [True, False])
def test_hypermutated_samples_weigh_less_where_they_are_capped(folder, tmp_path, cap):
    flags = ["--cap"] if cap else ["--no-cap"]
    few = ("--signatures", "3", "--replicates", 4)
    run("signatures", folder / "counts.txt", *few, *flags, "--out", tmp_path / "run")
    assert not (tmp_path / "run/matches.csv").exists()
    held = load(tmp_path / "run/model.atoms").ensemble_.held
    limit = signatures.hypermutated(COUNTS)[0]
    assert (held.sum(axis=1).max() <= 1.001 * limit) == cap


def test_hidden_counts_alone_may_choose(folder, tmp_path):
    few = ("--signatures", "3-4", "--replicates", 4, "--rule", "error")
    run("signatures", folder / "counts.txt", *few, "--out", tmp_path / "run")
    choice = load(tmp_path / "run/model.atoms").choice_
    assert choice.rule == "error"
    assert choice.rank == choice.by_error
    assert load(folder / "run/model.atoms").choice_.rule == "reproducibility"


def test_bad_input_ends_with_a_sentence(folder, tmp_path, capsys):
    counts, known = folder / "counts.txt", folder / "known.txt"
    out = ("--out", tmp_path / "new")
    assert "holds fractions" in refused(capsys, "signatures", known, *out)
    other = signatures.ChannelTable(KNOWN.values, KNOWN.names, ["A[C>T]N", *CHANNELS[1:]])
    other.write(tmp_path / "other.txt")
    sentence = refused(capsys, "signatures", counts, "--catalogue", tmp_path / "other.txt", *out)
    assert "has the channel 'A[C>T]A', which" in sentence
    sentence = refused(capsys, "signatures", counts, "--signatures", "0-3", *out)
    assert "signatures is '0-3', needed are numbers of signatures such as" in sentence
    assert "There is no" in refused(capsys, "signatures", tmp_path / "gone.txt", *out)
    empty = COUNTS.values.copy()
    empty[3] = 0
    signatures.ChannelTable(empty, COUNTS.names, CHANNELS).write(tmp_path / "empty.txt")
    sentence = refused(capsys, "signatures", tmp_path / "empty.txt", *out)
    assert "The sample 'S3' of" in sentence
    assert "has no mutations; leave it out." in sentence


# -- pictures


def test_profiles_are_drawn_class_by_class():
    shares, labels, classes = plots.mutation_profiles_data(COUNTS)
    assert labels[:5] == ["ACA", "ACC", "ACG", "ACT", "CCA"]
    assert_array_equal(np.unique(classes), [0, 2, 5])
    assert (np.diff(classes) >= 0).all()
    place = CHANNELS.index("C[T>G]G")
    at = next(
        i for i, (k, c) in enumerate(zip(labels, classes, strict=True)) if (k, c) == ("CTG", 5)
    )
    assert_allclose(shares[:, at], COUNTS.values[:, place] / COUNTS.values.sum(axis=1))


def test_other_channels_stay_in_their_order():
    mixed = signatures.ChannelTable(np.ones((1, 2)), ["a"], ["TT>AA", "A[C>A]A"])
    shares, labels, classes = plots.mutation_profiles_data(mixed)
    assert labels == ["TT>AA", "A[C>A]A"]
    assert_array_equal(classes, [-1, -1])
    assert_allclose(shares, 0.5)


# Alternatives of a doublet that is its own reverse complement come in pairs that are the same.
TURNED = {"AT": "CA CC CG GA GC TA", "CG": "AT GC GT TA TC TT", "GC": "AA AG AT CA CG TA"}
TURNED["TA"] = "AT CG CT GC GG GT"
DOUBLETS = [
    f"{pair}>{a}{b}"
    for pair in ("AC", "AT", "CC", "CG", "CT", "GC", "TA", "TC", "TG", "TT")
    for a in "ACGT"
    for b in "ACGT"
    if a != pair[0] and b != pair[1] and a + b in TURNED.get(pair, a + b)
]
INDELS = [
    *(f"1:{way}:{base}:{n}" for way in ("Del", "Ins") for base in "CT" for n in range(6)),
    *(f"{size}:{way}:R:{n}" for way in ("Del", "Ins") for size in range(2, 6) for n in range(6)),
    *(f"{size}:Del:M:{n}" for size in range(2, 6) for n in range(1, size + (size == 5))),
]
DOUBLET_COLORS = "03bdef 0366cc a2cf63 016601 ff9999 e42926 ffb266 ff8001 cc99ff 4c0199"
INDEL_COLORS = (
    "fdbe6f ff8002 b0dd8b 36a12e fdcab5 fc8a6a f14432 bc191a "
    "d0e1f2 94c4df 4a98c9 1764ab e2e2ef b6b6d8 8683bd 62409b"
)


@pytest.mark.parametrize(
    ("channels", "sizes", "colors", "heads"),
    [
        (DOUBLETS, [9, 6, 9, 6, 9, 6, 6, 9, 9, 9], DOUBLET_COLORS, ["AC>NN", "TT>NN"]),
        (INDELS, [6] * 12 + [1, 2, 3, 5], INDEL_COLORS, ["5+", "microhomology length"]),
    ],
)
def test_doublets_and_indels_have_the_colours_of_their_classes(channels, sizes, colors, heads):
    order = np.random.default_rng(0).permutation(len(channels))
    counts = np.arange(len(channels), dtype=float)[order] + 1
    table = signatures.ChannelTable([counts], ["a"], [channels[i] for i in order])
    shares, _, classes = plots.mutation_profiles_data(table)
    assert_array_equal(np.bincount(classes), sizes)
    assert (np.diff(shares[0]) > 0).all()  # channels are in the order of the field again
    (axes,) = plots.mutation_profiles(table).axes
    drawn = [to_hex(bar.get_facecolor())[1:] for bar in axes.patches]
    assert drawn == [
        color for color, n in zip(colors.split(), sizes, strict=True) for _ in range(n)
    ]
    assert set(heads) <= {text.get_text() for text in axes.texts}


def test_indels_are_labelled_by_what_is_repeated():
    table = signatures.ChannelTable(np.ones((1, 83)), ["a"], INDELS)
    labels = plots.mutation_profiles_data(table)[1]
    deleted, inserted = ["1", "2", "3", "4", "5", "6+"], ["0", "1", "2", "3", "4", "5+"]
    assert labels[:24] == 2 * deleted + 2 * inserted
    assert labels[24:72] == 4 * deleted + 4 * inserted
    assert labels[72:] == ["1", "1", "2", "1", "2", "3", "1", "2", "3", "4", "5+"]


@pytest.mark.parametrize("sign", ":_")
def test_indels_may_be_named_as_in_other_tools(sign):
    kinds = {"C": "C", "T": "T", "R": "repeats", "M": "MH"}
    parts = [channel.split(":") for channel in INDELS]
    names = [
        sign.join([way.upper(), kinds[at], size.replace("5", "5+"), n.replace("5", "5+")])
        for size, way, at, n in parts
    ]
    found, known = (
        plots.mutation_profiles_data(signatures.ChannelTable(np.ones((1, 83)), ["a"], channels))
        for channels in (names, INDELS)
    )
    assert found[1] == known[1]
    assert_array_equal(found[2], known[2])


def test_exposures_are_drawn_with_the_largest_sample_first():
    order, shares = plots.exposures_data(np.array([[1.0, 1.0], [6.0, 2.0]]))
    assert_array_equal(order, [1, 0])
    assert_allclose(shares, [[0.75, 0.25], [0.5, 0.5]])


# -- how many


def test_of_two_signatures_that_all_samples_share_no_half_is_counted(room, seeds):
    """Halves of a signature come back in the bootstraps, but predict hidden counts worse."""
    chosen, back = [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, 2, 60, 12, 2000])
        profiles = rng.dirichlet(np.full(12, 0.3), 2)
        counts = rng.poisson(2000 * rng.dirichlet([1, 1], 60) @ profiles)
        table = signatures.ChannelTable(counts, [f"S{i}" for i in range(60)], list("abcdefghijkl"))
        choice = extract_signatures(table, range(1, 6), n_replicates=10, random_state=seed).choice_
        chosen.append(choice.by_reproducibility)
        back.append(choice.ranks[choice.weakest >= 0.7].max())
    assert np.median(back) >= 3
    room.error(abs(np.median(chosen) - 2), at_most=0.5)


# -- the published example


@needs_data
def test_three_signatures_of_the_published_example_are_found(room):
    place = DATA / "signatures"
    table = signatures.read(place / "scenario_8_counts.txt.gz")
    some = signatures.ChannelTable(table.values[:250], table.names[:250], table.channels)
    published = signatures.read(place / "scenario_8_published_de_novo.txt").like(some)
    model = extract_signatures(some, [2, 3, 4], n_replicates=12, random_state=0)
    near = align(published.values, model.consensus(3).atoms).similarity
    room.share(near.min(), at_least=0.99)
    assert model.n_components_ == 3
    found = signatures.de_novo(model, some.channels)
    known = signatures.read(place / "COSMIC_v3.4_SBS_GRCh37.txt")
    assert {"SBS3", "SBS5"} < {pair.known for pair in signatures.match(found, known)}
