"""Mutational signatures: tables as the field writes them, matches, sums, exposures."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from scipy.special import kl_div

from atomstream import signatures
from atomstream.exceptions import DataWarning, InputError
from atomstream.fields.signatures.few_atoms import few_codes

ChannelTable = signatures.ChannelTable
CHANNELS = [
    f"{a}[{m}]{b}"
    for m in ("C>A", "C>G", "C>T", "T>A", "T>C", "T>G")
    for a in "ACGT"
    for b in "ACGT"
]


def catalogue(n=12, seed=0):
    """Sparse profiles, as most known ones are."""
    profiles = np.random.default_rng(seed).dirichlet(np.full(96, 0.15), n)
    return ChannelTable(profiles, [f"K{i}" for i in range(n)], CHANNELS, "known.txt")


def genomes(known, n_samples=40, n_active=3, seed=1):
    rng = np.random.default_rng(seed)
    exposures = np.zeros((n_samples, len(known.names)))
    for row in exposures:
        active = rng.choice(len(row), n_active, replace=False)
        row[active] = 4000 * rng.dirichlet(np.ones(n_active))
    counts = rng.poisson(exposures @ known.values).astype(float)
    names = [f"S{i}" for i in range(n_samples)]
    return ChannelTable(counts, names, known.channels, "counts.txt"), exposures


# -- tables


def test_a_table_is_read_as_it_was_written(tmp_path):
    table = genomes(catalogue(), 3)[0]
    table.write(tmp_path / "counts.txt")
    text = (tmp_path / "counts.txt").read_text()
    assert text.startswith("MutationType\tS0\tS1\tS2\nA[C>A]A\t")
    (tmp_path / "counts.txt.gz").write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    for name in ("counts.txt", "counts.txt.gz"):
        again = signatures.read(tmp_path / name)
        assert_array_equal(again.values, table.values)
        assert (again.names, again.channels) == (table.names, table.channels)


def test_frames_and_anndata_are_the_same_table():
    pandas, anndata = pytest.importorskip("pandas"), pytest.importorskip("anndata")
    table = genomes(catalogue(), 3)[0]
    frame = pandas.DataFrame(table.values.T, table.channels, table.names)
    named = frame.rename_axis("MutationType").reset_index()
    cells = anndata.AnnData(pandas.DataFrame(table.values, table.names, table.channels))
    for source in (frame, named, cells):
        found = signatures.read(source)
        assert_array_equal(found.values, table.values)
        assert (found.names, found.channels) == (table.names, table.channels)


def test_a_polars_frame_is_the_same_table():
    polars = pytest.importorskip("polars")
    found = signatures.read(polars.DataFrame({"MutationType": ["a", "b"], "S": [1, 2]}))
    assert_array_equal(found.values, [[1, 2]])
    with pytest.raises(InputError, match="first column 'MutationType'"):
        signatures.read(polars.DataFrame({"S": [1, 2]}))


CHANGES, CONTEXTS = [it[2:5] for it in CHANNELS], [it[0] + it[2] + it[6] for it in CHANNELS]
HEADS = {
    "SigProfiler": {"MutationType": CHANNELS},
    "SigProfiler, older": {"Mutation Types": CHANNELS},
    "COSMIC 3.2": {"Type": CHANNELS},
    "COSMIC 3": {"Type": CHANGES, "SubType": CONTEXTS},
    "PCAWG": {"Mutation type": CHANGES, "Trinucleotide": CONTEXTS},
    "turned": {"context": CONTEXTS, "substitution": CHANGES},
    "COSMIC 2": {
        "Substitution Type": CHANGES,
        "Trinucleotide": CONTEXTS,
        "Somatic Mutation Type": CHANNELS,
    },
    "without a name": {"": CHANNELS},
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("sign", ["\t", ","])
def test_heads_of_all_tools_are_read_from_files_and_frames(tmp_path, head, sign):
    pandas, table = pytest.importorskip("pandas"), genomes(catalogue(), 3)[0]
    numbers = pandas.DataFrame(table.values.T, columns=table.names)
    frame = pandas.concat([pandas.DataFrame(HEADS[head]), numbers], axis=1)
    path = tmp_path / "counts.txt"
    frame.to_csv(path, sep=sign, index=False)
    indexed = frame.set_index([*HEADS[head]])
    for source in (path, frame, indexed, pandas.read_csv(path, sep=sign)):
        found = signatures.read(source)
        assert (found.names, found.channels) == (table.names, CHANNELS)
        assert_array_equal(found.values, table.values)


def test_columns_that_name_no_channels_together_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"Strand": ["T", "U"], "Type": ["C>A", "C>A"], "S": [1, 2]})
    with pytest.raises(InputError, match="begins with 2 columns of texts, needed is one with"):
        signatures.read(frame)


def test_samples_without_mutations_are_left_out_where_asked(tmp_path, caplog):
    pandas, table = pytest.importorskip("pandas"), genomes(catalogue(), 3)[0]
    empty = ChannelTable(table.values * [[1], [0], [1]], table.names, CHANNELS)
    empty.write(tmp_path / "counts.txt")
    frame = pandas.DataFrame(empty.values.T, CHANNELS, empty.names)
    for source in (tmp_path / "counts.txt", frame):
        assert signatures.read(source).names == ["S0", "S1", "S2"]
        caplog.clear()
        with caplog.at_level("INFO", "atomstream.fields.signatures"):
            found = signatures.read(source, on_bad_line="skip")
        assert found.names == ["S0", "S2"]
        assert "1 sample without mutations left out" in caplog.text
        signatures.check_counts(found)
    with pytest.raises(InputError, match="--delimiter is for tables of text, and what was given"):
        signatures.read(frame, delimiter=",")
    with pytest.raises(TypeError, match=r"signatures\.read has no 'sep'; known are columns"):
        signatures.read(tmp_path / "counts.txt", sep=",")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no lines"),
        ("MutationType\nx\n", "no column of numbers"),
        ("MutationType\ta\nx\t1\t2\n", "Line 1 of .* has 2 fields, .* lines below have 3"),
        ("MutationType\ta\nx\tmany\n", "column 'a' is not numeric .'a' holds 'many'"),
        ("MutationType\ta\nx\t-1\n", "numbers of at least 0"),
        ("MutationType\ta\nx\tnan\n", "numbers of at least 0|finite"),
        ("MutationType\ta\nx\t1\nx\t1\n", "has the channel 'x' twice"),
        ("MutationType\ta\ta\nx\t1\t1\n", "signature 'a' twice"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(tmp_path, text, sentence):
    path = tmp_path / "counts.txt"
    path.write_text(text)
    with pytest.raises((InputError, ValueError), match=sentence):
        signatures.read(path)


def test_bad_counts_are_named():
    known = catalogue()
    counts, _ = genomes(known, 3)
    shares = ChannelTable(known.values, known.names, CHANNELS, "shares.txt")
    with pytest.raises(InputError, match=r"shares.txt holds fractions .the sample 'K0' sums to 1"):
        signatures.refit(shares, known)
    empty = ChannelTable(counts.values * [[1], [0], [1]], counts.names, CHANNELS, "counts.txt")
    with pytest.raises(InputError, match=r"'S1' of counts.txt has no mutations; leave it out"):
        signatures.refit(empty, known)
    other = ChannelTable(known.values, known.names, ["A[C>A]N", *CHANNELS[1:]], "known.txt")
    with pytest.raises(InputError, match=r"has the channel 'A.C>A.A', which known.txt does not"):
        signatures.refit(counts, other)
    with pytest.raises(InputError, match=r"known.txt has the channel 'A.C>A.N', which the table"):
        ChannelTable(counts.values, counts.names, CHANNELS).like(other)


def test_channels_may_stand_in_another_order():
    known = catalogue()
    counts, _ = genomes(known, 5)
    order = np.random.default_rng(0).permutation(96)
    turned = ChannelTable(known.values[:, order], known.names, [CHANNELS[i] for i in order])
    assert_array_equal(
        signatures.refit(counts, turned).values, signatures.refit(counts, known).values
    )


# -- matches and sums


def test_each_found_signature_has_a_partner_of_its_own():
    known = catalogue(5)
    # Both are nearest to K0; one to one, the second one has to take another.
    found = ChannelTable(
        np.array([known.values[0], 0.8 * known.values[0] + 0.2 * known.values[3]]),
        ["A", "B"],
        CHANNELS,
    )
    first, second = signatures.match(found, known)
    assert (first.known, second.known) == ("K0", "K3")
    assert first.cosine == pytest.approx(1)
    one = ChannelTable(known.values[:1], ["K0"], CHANNELS)
    assert [pair.known for pair in signatures.match(found, one)] == ["K0", ""]


def test_sums_of_known_signatures_are_found_with_their_shares():
    known = catalogue(20)
    mixed = 0.5 * known.values[3] + 0.3 * known.values[7] + 0.2 * known.values[11]
    found = ChannelTable(np.array([mixed, known.values[5]]), ["A", "B"], CHANNELS)
    first, second = signatures.decompose(found, known)
    assert first.known == ("K3", "K7", "K11")
    assert_allclose(first.shares, (0.5, 0.3, 0.2), atol=1e-6)
    assert first.cosine == pytest.approx(1)
    assert (second.known, second.shares) == (("K5",), (1.0,))
    assert len(signatures.decompose(found, known, 2)[0].known) == 2


# -- exposures


def test_refit_needs_few_signatures_where_least_squares_take_many(room):
    known = catalogue(40, seed=3)
    counts, true = genomes(known, 30, seed=4)
    fitted = signatures.refit(counts, known)
    plain = np.array([nnls(known.values.T, x)[0] for x in counts.values])
    lost = [np.abs(values - true).sum() / true.sum() for values in (fitted.values, plain)]
    false = [((values > 0) & (true == 0)).sum() for values in (fitted.values, plain)]
    room.error(false[0] / false[1], at_most=0.5)
    room.error(lost[0] / lost[1], at_most=1.0)
    assert fitted.cosine.min() > 0.98
    assert_allclose(fitted.values.sum(axis=1), counts.values.sum(axis=1), rtol=0.02)


def test_a_signature_stays_where_the_divergence_without_it_rises_by_more_than_its_price():
    known, rng = catalogue(3), np.random.default_rng(0)
    for weak, stays in ((300.0, True), (3.0, False)):
        x = rng.poisson(known.values[0] * 5000 + known.values[1] * weak).astype(float)[None]
        code = few_codes(x, known.values)[0]
        without = few_codes(x, known.values, np.array([[True, False, False]]))[0]
        within = few_codes(x, known.values, np.array([[True, True, False]]))[0]
        rise = divergence(x, without @ known.values) - divergence(x, within @ known.values)
        assert (rise > np.log(x.sum()) / 2) == stays == (code[1] > 0)
        assert code[2] == without[1] == 0  # not a little: it is out


def divergence(x, y):
    return float(kl_div(x, y).sum())


def test_a_code_on_all_atoms_is_where_the_divergence_is_least():
    known = catalogue(6)
    counts, _ = genomes(known, 4)
    codes = few_codes(counts.values, known.values, np.ones((4, 6), bool))
    made = codes @ known.values
    slope = 1 - (counts.values / made) @ known.values.T
    # At the minimum slopes vanish where the code does not, and are not negative elsewhere.
    assert np.abs(slope[codes > 1]).max() < 1e-3
    assert slope.min() > -1e-3


def with_empty(table, n=6):
    """Return a table with more channels, of which all rows have nothing."""
    values = np.hstack([table.values, np.zeros((len(table.values), n))])
    more = [f"N[{number}]N" for number in range(n)]
    return ChannelTable(values, table.names, [*table.channels, *more], table.source)


def planted(n_samples=40, seed=5):
    """Known signatures, and samples that have three of the last ones, two of them rarely."""
    known, rng = catalogue(20, seed), np.random.default_rng(seed)
    exposures = np.zeros((n_samples, 20))
    for row in exposures:
        row[rng.choice(np.arange(3, 20), 3, replace=False)] = [600, 300, 100]
    counts = rng.poisson(exposures @ known.values).astype(float)
    names = [f"S{i}" for i in range(n_samples)]
    return known, ChannelTable(counts, names, CHANNELS, "counts.txt"), exposures


def test_channels_that_no_signature_has_say_nothing_of_exposures():
    known, counts, true = planted()
    plain = signatures.refit(counts, known)
    assert not plain.left_out.any()
    with np.errstate(all="raise"):
        empty = signatures.refit(with_empty(counts), with_empty(known))
    assert_array_equal(empty.values, plain.values)
    assert not empty.left_out.any()
    more = with_empty(counts)
    more.values[4:, 98] = 5
    told = r"^0\.\d+ % of the mutations of 'S4' are in channels .* 'N.2.N'.*36 of 40 samples"
    with pytest.warns(DataWarning, match=told), np.errstate(all="raise"):
        found = signatures.refit(more, with_empty(known))
    assert_array_equal(found.values, plain.values)
    assert_allclose(found.left_out, more.values[:, 98] / more.values.sum(axis=1))
    assert (found.values[true > 0] > 0).all()
    for share in (1e-300, 1e-12):  # as good as nothing
        barely = with_empty(known)
        barely.values[:, 96:] = share
        with pytest.warns(DataWarning, match="are left out"):
            found = signatures.refit(more, barely)
        assert_array_equal(found.values > 0, plain.values > 0)


def test_samples_that_have_only_impossible_channels_have_no_exposures():
    known, counts, _ = planted(3)
    more = with_empty(counts)
    more.values[1] = 0
    more.values[1, 97] = 40
    with pytest.warns(DataWarning, match="^100 % of"):
        found = signatures.refit(more, with_empty(known))
    assert not found.values[1].any()
    assert (found.left_out == [0, 1, 0]).all()
    assert found.cosine[1] == 0
    low, high = signatures.exposure_intervals(more, with_empty(known), found, n_resamples=5)
    assert not low[1].any()
    assert not high[1].any()


def test_a_signature_that_a_sample_has_nothing_of_stops_no_other_one():
    known, counts, _ = planted()
    # A first signature whose channels no sample has: 0/0 in what it would gain.
    foreign = ChannelTable(
        np.vstack([np.eye(102)[100], with_empty(known).values]),
        ["none", *known.names],
        with_empty(known).channels,
    )
    with np.errstate(all="raise"):
        found = signatures.refit(with_empty(counts), foreign)
    assert_allclose(found.values[:, 1:], signatures.refit(counts, known).values, rtol=1e-12)
    assert not found.values[:, 0].any()


@pytest.mark.parametrize("n_own", [1, 8])
def test_few_mutations_that_one_signature_alone_can_make_delete_no_other_one(n_own):
    known, counts, true = planted()
    values = with_empty(known).values.copy()
    # A weak signature, below the least share, is the only one that has some of the mutations.
    values[0], values[0, 96] = 0, 1.0
    own = ChannelTable(values, known.names, with_empty(known).channels)
    more = with_empty(counts)
    more.values[:, 96] = n_own
    with np.errstate(all="raise"):
        found = signatures.refit(more, own)
    kept = signatures.refit(counts, known).values > 0
    assert_array_equal(found.values[:, 1:] > 0, kept[:, 1:])
    assert_allclose(found.values[:, 0], n_own, rtol=1e-3)
    rare = with_empty(counts)
    rare.values[:] *= 100
    rare.values[:, 96] = n_own  # a share of the sample below the least one of a first code
    with np.errstate(all="raise"):
        found = signatures.refit(rare, own)
    assert_allclose(found.values[:, 0], n_own, rtol=1e-2)
    assert (found.values[true > 0] > 0).all()


def test_a_profile_without_known_channels_is_a_sum_of_nothing():
    known = with_empty(catalogue(5))
    found = ChannelTable(np.eye(102)[[97]], ["A"], known.channels)
    with np.errstate(all="raise"):
        (nothing,) = signatures.decompose(found, known)
    assert (nothing.known, nothing.shares, nothing.cosine) == ((), (), 0.0)


def test_intervals_hold_the_exposures_of_the_signatures_that_were_chosen(room):
    known = catalogue(8)
    counts, true = genomes(known, 30)
    fitted = signatures.refit(counts, known)
    low, high = signatures.exposure_intervals(counts, known, fitted, random_state=0)
    chosen = (fitted.values > 0) & (true > 0)
    room.share(((low <= true) & (true <= high))[chosen].mean(), at_least=0.8)
    assert (low <= high).all()
    assert not high[fitted.values == 0].any()


def test_hypermutated_samples_are_named_and_capped():
    counts = genomes(catalogue(), 20)[0]
    counts.values[4] *= 50
    limit, names = signatures.hypermutated(counts)
    assert names == ["S4"]
    scaled = signatures.capped(counts)
    assert scaled.values.sum(axis=1).max() == pytest.approx(limit)
    assert_array_equal(scaled.values[:4], counts.values[:4])
