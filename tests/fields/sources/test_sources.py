"""Sources of air and water: the rules of the field for tables, factors in its words."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from shared import DATA, needs_data

from atomstream import OnlineNMF, bootstrap_sources, find_sources, sources
from atomstream.exceptions import InputError
from atomstream.io.series_table import read_series
from atomstream.schedules import Constant
from atomstream.watch.drift import DriftDetector

SPECIES = [*"abcdefgh"]
HOURS = np.datetime64("2024-01-01T00") + np.arange(400)


def site(seed=0, noise=0.05, **known):
    """A made site with three sources, a total, and the uncertainties that made the noise."""
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.full(8, 0.5), 3) + 0.01
    contributions = rng.gamma(0.7, 1, (400, 3)) + 0.02
    clean = contributions @ profiles
    given = noise * clean + 0.01
    values = np.maximum(clean + given * rng.standard_normal(clean.shape), 0)
    known = {"dates": HOURS, "total": contributions @ [3.0, 1.0, 2.0]} | known
    return sources.SpeciesTable(values, given, SPECIES, **known), profiles, contributions


@pytest.fixture(scope="module")
def found():
    return find_sources(site()[0], 3, n_starts=3, random_state=0)


# -- factors


def test_profiles_contributions_and_residuals_are_the_table(found):
    table = found.table
    made = found.contributions @ found.profiles + found.residuals * table.uncertainties
    assert_allclose(made, table.values, atol=1e-9)
    assert_allclose(found.contributions.mean(axis=0), 1)
    assert_allclose(found.per_cent().sum(axis=0), 100)
    assert_allclose(found.q_true, (found.residuals**2).sum())
    size = np.abs(found.residuals)
    assert_allclose(found.q_robust, np.where(size > 4, 4 * size, size**2).sum())
    assert found.q_expected == 400 * 8 - 3 * 408
    assert_allclose(found.q_by_species().sum(), 8 * found.q_true / found.q_expected)


def test_planted_sources_are_found(room):
    figures = []
    for base in (0, 10, 20):
        table, _, contributions = site(base)
        found = find_sources(table, 3, n_starts=3, random_state=base)
        near = np.corrcoef(found.contributions.T, contributions.T)[:3, 3:]
        missed = np.abs(found.shares[near.argmax(axis=0)] - table_shares(contributions)).max()
        figures.append((near.max(axis=0).min(), found.q_true / found.q_expected, missed))
        assert_allclose(found.of_total.sum(axis=0) / found.of_total.sum(), found.shares)
    nearest, q, missed = np.median(figures, axis=0)
    room.share(nearest, at_least=0.9)
    room.near(q, 1, abs=0.4)
    room.error(missed, at_most=0.1)


def table_shares(contributions):
    parts = (contributions * [3.0, 1.0, 2.0]).sum(axis=0)
    return parts / parts.sum()


def test_contributions_are_scaled_by_regression_on_the_total(found):
    total = found.table.total.copy()
    total[:50] = np.nan
    table, *_ = site(total=total)
    again = sources.Factors(table, found.profiles, found.contributions)
    sizes = nnls(found.contributions[50:], total[50:])[0]
    assert_allclose(again.of_total, found.contributions * sizes)
    assert (
        sources.Factors(site(total=None)[0], found.profiles, found.contributions).of_total is None
    )


def test_the_units_of_a_species_do_not_matter(found):
    table = found.table
    units = np.array([1e6, 1, 1e-3, 1, 1, 1, 50, 1])
    other = sources.SpeciesTable(table.values * units, table.uncertainties * units, SPECIES)
    again = find_sources(other, 3, n_starts=3, random_state=0)
    assert_allclose(again.q_true, found.q_true, rtol=1e-6)
    assert_allclose(again.profiles, found.profiles * units, rtol=1e-4, atol=1e-9)


def test_of_many_starts_the_best_is_kept():
    table = site(noise=0.3)[0]
    singles = [
        find_sources(table, 5, n_starts=1, random_state=rng).q_true
        for rng in np.random.default_rng(3).spawn(4)
    ]
    # A generator that is spawned again gives the seeds of the single starts one after the other.
    best = find_sources(table, 5, n_starts=12, random_state=3).q_true
    assert best <= min(singles) * (1 + 1e-3)
    assert max(singles) > min(singles)


def test_too_many_factors_are_refused():
    with pytest.raises(InputError, match="more than the number of factors, 8"):
        find_sources(site()[0], 8, n_starts=1)


# -- known profiles


def shape_of(profile, like):
    """The largest entry over the smallest of a profile over another: 1 where they are alike."""
    ratio = profile / like
    return ratio.max() / ratio.min()


def test_known_profiles_stay_within_their_ranges(found):
    table, profiles, _ = site()
    other = profiles[1] * np.exp(0.3 * np.random.default_rng(1).standard_normal(8))
    ends = []
    for a_value in (0, 0.1, 0.3, 0.9):
        kept = find_sources(
            table, 3, anchors=7 * other, a_value=a_value, n_starts=3, random_state=0
        )
        assert shape_of(kept.profiles[0], other) <= (1 + a_value) / (1 - a_value) * (1 + 1e-9)
        assert_allclose(kept.contributions.mean(axis=0), 1)
        ends.append(kept.q_true)
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > 1.2 * found.q_true
    # The ranges hold at their ends too: that of a tenth is used.
    kept = find_sources(table, 3, anchors=other, a_value=0.1, n_starts=1, random_state=0)
    assert_allclose(shape_of(kept.profiles[0], other), 1.1 / 0.9)


def test_a_profile_that_is_known_well_costs_little_and_one_known_roughly_is_mended(room):
    costs, errors = [], []
    for base in (0, 10, 20):
        table, profiles, _ = site(base)
        free = find_sources(table, 3, n_starts=3, random_state=base).q_true
        settings = {"n_starts": 3, "random_state": base}
        costs.append(find_sources(table, 3, anchors=profiles[1], **settings).q_true / free)
        rough = profiles[1] * np.exp(0.3 * np.random.default_rng(base).standard_normal(8))
        kept = find_sources(table, 3, anchors=rough, a_value=0.8, **settings)
        errors.append(angle(kept.profiles[0], profiles[1]) / angle(rough, profiles[1]))
    room.ratio(np.median(costs), at_most=1.04)
    room.error(np.median(errors), at_most=0.95)


def angle(a, b):
    return np.arccos(min(a @ b / np.linalg.norm(a) / np.linalg.norm(b), 1))


def test_entries_of_known_profiles_may_be_free_and_bootstraps_keep_them():
    pandas = pytest.importorskip("pandas")
    table, profiles, _ = site()
    frame = pandas.DataFrame(profiles[:2], columns=SPECIES).drop(columns=["a", "d"])
    anchors = frame.reindex(columns=SPECIES)  # NaN where the profiles of a list lack a species
    kept = find_sources(table, 3, anchors=anchors, n_starts=3, random_state=0)
    given = [place for place, name in enumerate(SPECIES) if name not in "ad"]
    for k in range(2):
        assert_allclose(shape_of(kept.profiles[k][given], profiles[k][given]), 1)
    ratios = kept.profiles[:2] / profiles[:2]
    assert_allclose(ratios, np.repeat(ratios[:, [1]], 8, axis=1), rtol=0.2)
    assert not np.allclose(ratios, np.repeat(ratios[:, [1]], 8, axis=1), rtol=1e-3)
    ranges = bootstrap_sources(kept, 4, random_state=0)
    assert_allclose(shape_of(ranges.low[0][given], profiles[0][given]), 1)
    assert_allclose(shape_of(ranges.high[1][given], profiles[1][given]), 1)


def test_where_all_profiles_are_known_contributions_alone_are_found():
    table, profiles, _ = site()
    kept = find_sources(table, 3, anchors=profiles, n_starts=1, random_state=0)
    direct = [
        nnls((profiles / s).T, x / s)[0]
        for x, s in zip(table.values[:20], table.uncertainties[:20], strict=True)
    ]
    scale = (kept.profiles / profiles)[:, 0]
    assert_allclose(kept.contributions[:20] * scale, direct, atol=1e-4)


def test_ranges_hold_where_all_entries_weigh_the_same():
    table, profiles, _ = site()
    even = np.broadcast_to(0.1 * table.scale, table.values.shape)
    table = sources.SpeciesTable(table.values, even, SPECIES)
    kept = find_sources(table, 3, anchors=profiles[0], a_value=0.1, n_starts=3, random_state=0)
    assert shape_of(kept.profiles[0], profiles[0]) <= 1.1 / 0.9 * (1 + 1e-9)
    free = find_sources(table, 3, n_starts=3, random_state=0)
    assert free.q_true <= kept.q_true * (1 + 1e-3)


def test_known_profiles_in_frames_and_files_are_read_by_the_names_of_species(tmp_path):
    pandas = pytest.importorskip("pandas")
    table, profiles, _ = site()
    frame = pandas.DataFrame(profiles[:2], columns=SPECIES)
    mixed = frame[[*"hcbgfe"]].astype(object)
    mixed.loc[0, "c"] = None
    frame.loc[:, ["a", "d"]] = np.nan
    frame.loc[0, "c"] = np.nan
    mixed.to_csv(tmp_path / "known.csv", index=False)
    settings = {"n_starts": 1, "random_state": 0}
    expected = find_sources(table, 3, anchors=frame.to_numpy(), **settings)
    for anchors in (frame, mixed, tmp_path / "known.csv", str(tmp_path / "known.csv")):
        found = find_sources(table, 3, anchors=anchors, **settings)
        assert_array_equal(found.profiles, expected.profiles)
    # Entries of species that are left out of the fit are no entries of the profiles.
    table, *_ = site(kinds={"b": "bad"})
    found = find_sources(table, 3, anchors=frame, **settings)
    assert_allclose(shape_of(found.profiles[1][1:2], profiles[1][2:3]), 1)
    assert found.profiles.shape == (3, 7)
    with pytest.raises(InputError, match="The frame has the species 'Fe', which The table lacks"):
        find_sources(table, 3, anchors=frame.rename(columns={"b": "Fe"}), **settings)


@pytest.mark.parametrize(
    ("anchors", "a_value", "sentence"),
    [
        (np.ones((1, 7)), 0, r"at most 3 profiles of the 8 species .* got the shape \(1, 7\)"),
        (np.ones((4, 8)), 0, r"got the shape \(4, 8\)"),
        (np.ones(8), -0.1, r"an a_value of 0 or more; .* and -0.1"),
        (-np.ones(8), 0, "0 or more but not 0 everywhere, NaN where free"),
        (np.zeros(8), 0, "not 0 everywhere"),
    ],
)
def test_anchors_that_cannot_be_are_refused(anchors, a_value, sentence):
    with pytest.raises(InputError, match=sentence):
        find_sources(site()[0], 3, anchors=anchors, a_value=a_value, n_starts=1)


# -- half-lives


def test_a_time_as_old_as_the_half_life_counts_half(found):
    table, expected = found.table, found.q_expected
    aged = table.with_half_life(np.timedelta64(10, "h"))
    assert_allclose(aged.time_weights[-21::10], [1 / 4, 1 / 2, 1])
    assert_allclose(aged.errors[-11], table.errors[-11] * np.sqrt(2))
    assert_allclose(aged.time_weights[0], 2.0**-39.9)
    assert table.time_weights.min() == 1
    numbered = sources.SpeciesTable(table.values, table.uncertainties, SPECIES)
    assert_allclose(numbered.with_half_life(10).errors, aged.errors)
    again = sources.Factors(table.with_half_life(np.timedelta64(10**6, "W")), *parts(found))
    assert_allclose([again.q_true, again.q_expected], [found.q_true, expected], rtol=1e-3)
    short = sources.Factors(aged, *parts(found))
    assert_allclose(short.q_true, aged.time_weights @ (found.residuals**2).sum(axis=1))
    # Of as many hours as weigh 14.9 together, each entry of a profile takes half of one hour.
    assert_allclose(short.q_expected, 14.93 * (8 - 3) - 3 * 8 * 0.517, rtol=1e-2)


def parts(found):
    return found.profiles, found.contributions


def test_with_a_half_life_profiles_are_those_of_now(room):
    figures, ratios = [], []
    for base in (0, 10, 20):
        steady, profiles, _ = site(base)
        aged = steady.with_half_life(np.timedelta64(2, "D"))
        kept = find_sources(aged, 3, n_starts=3, random_state=base)
        ratios.append(kept.q_true / kept.q_expected)
        _, others, _ = site(base + 1)
        rng = np.random.default_rng(base)
        clean = rng.gamma(0.7, 1, (400, 3)) + 0.02
        now = np.vstack([profiles[:2], others[2:]])
        clean = np.vstack([clean[:250] @ profiles, clean[250:] @ now])
        given = 0.05 * clean + 0.01
        values = np.maximum(clean + given * rng.standard_normal(clean.shape), 0)
        table = sources.SpeciesTable(values, given, SPECIES, dates=HOURS)
        aged = table.with_half_life(np.timedelta64(2, "D"))
        ends = [find_sources(each, 3, n_starts=3, random_state=0) for each in (table, aged)]
        errors = [min(angle(row, now[2]) for row in each.profiles) for each in ends]
        figures.append(errors[1] / errors[0])
    room.error(np.median(figures), at_most=0.75)
    room.error(abs(np.median(ratios) - 1), at_most=0.15)


@pytest.mark.parametrize("half_life", [0, -1, 2.5, np.timedelta64(0, "D"), "60d", None])
def test_half_lives_that_are_no_time_are_refused(half_life):
    with pytest.raises(InputError, match="The table needs a half_life above 0: a duration such"):
        site()[0].with_half_life(half_life)


# -- the rules of the field


def test_species_with_little_signal_weigh_less_or_are_left_out(found):
    table, *_ = site()
    given = table.uncertainties.copy()
    given[:, 2] = table.values[:, 2] * 2 + 0.01  # signal to noise 0
    given[:, 5] = table.values[:, 5] / 1.7  # (1.7 - 1) = 0.7
    noisy = sources.SpeciesTable(table.values, np.maximum(given, 1e-9), SPECIES)
    assert_allclose(noisy.signal_to_noise[[2, 5]], [0, 0.7], atol=1e-6)
    assert [SPECIES[i] for i, kind in enumerate(noisy.kinds) if kind != "strong"] == ["c", "f"]
    assert (noisy.kinds[2], noisy.kinds[5]) == ("bad", "weak")
    assert_allclose(noisy.errors[:, 4], 3 * noisy.uncertainties[:, 5])
    left = find_sources(noisy, 3, n_starts=2, random_state=0)
    assert left.species == [name for name in SPECIES if name != "c"]
    assert left.q_expected == 400 * 6 - 3 * 406
    kept = [i for i in range(8) if i != 2]
    without = sources.SpeciesTable(
        table.values[:, kept], noisy.uncertainties[:, kept], [SPECIES[i] for i in kept]
    )
    again = find_sources(without, 3, n_starts=2, random_state=0)
    assert_array_equal(again.profiles, left.profiles)


def test_kinds_can_be_said():
    table, *_ = site(kinds={"a": "weak", "b": "bad"})
    assert table.kinds == ["weak", "bad", *["strong"] * 6]
    with pytest.raises(InputError, match="has no species 'x'"):
        site(kinds={"x": "weak"})
    with pytest.raises(InputError, match="no species with more signal than noise"):
        site(kinds=dict.fromkeys(SPECIES, "bad"))


def test_values_below_detection_and_missing_ones_follow_the_rules():
    table, *_ = site()
    values, given = table.values.copy(), table.uncertainties.copy()
    limits = np.zeros(8)
    limits[1] = np.quantile(values[:, 1], 0.3)
    values[7, 3], given[7, 3] = np.nan, np.nan
    made = sources.SpeciesTable(values, given, SPECIES, limits=limits)
    below = values[:, 1] < limits[1]
    assert_allclose(made.values[below, 1], limits[1] / 2)
    assert_allclose(made.uncertainties[below, 1], limits[1] * 5 / 6)
    middle = np.nanmedian(values[:, 3])
    assert_allclose([made.values[7, 3], made.uncertainties[7, 3]], [middle, 4 * middle])
    assert_array_equal(made.n_below, [0, below.sum(), *[0] * 6])
    assert_array_equal(made.n_missing, [0, 0, 0, 1, 0, 0, 0, 0])
    untouched = ~below
    assert_array_equal(made.values[untouched, 1], values[untouched, 1])
    values[below, 1], given[below, 1], given[7, 3] = 0.0, 9.9, 5.5  # what stands there is not read
    again = sources.SpeciesTable(values, given, SPECIES, limits=limits)
    assert_array_equal(again.values, made.values)
    assert_array_equal(again.uncertainties, made.uncertainties)
    assert_array_equal(again.signal_to_noise, made.signal_to_noise)


def with_entry(array, row, column, value):
    array = array.copy()
    array[row, column] = value
    return array


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda v, u: (v, u[:, 1:]), r"uncertainties of shape \(400, 7\) and 8 species; every"),
        (lambda v, u: (v, with_entry(u, 3, 2, 0)), "uncertainty of 'c' at 2024-01-01T03 .* is 0;"),
        (lambda v, u: (v, with_entry(u, 3, 2, np.nan)), "uncertainty of 'c' .* is nan; needed is"),
        (lambda v, u: (v, with_entry(u, 3, 2, -1)), "uncertainty of 'c' .* is -1; needed is above"),
        (lambda v, u: (with_entry(v, 3, 2, -0.2), u), "concentration of 'c' .* is -0.2; needed is"),
        (lambda v, u: (with_entry(v, 3, 2, np.inf), u), "of 'c' .* is inf; needed is finite"),
        (lambda v, u: (with_entry(v, slice(None), 4, 2.0), u), "'e' of .* has the same value at"),
        (lambda v, u: (with_entry(v, slice(None), 4, np.nan), u), "'e' of .* or none; leave it"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(change, sentence):
    table, *_ = site()
    with pytest.raises(InputError, match=sentence):
        sources.SpeciesTable(*change(table.values, table.uncertainties), SPECIES, HOURS)


def test_dates_must_rise():
    for dates, sentence in (
        (
            HOURS[::-1],
            r"must rise, one for each row: 2024-01-17T14 \(row 1, counted from 0\) comes after",
        ),
        (np.repeat(HOURS[:200], 2), "keep one of each date"),
        (HOURS[1:], "must rise, one for each row"),
    ):
        with pytest.raises(InputError, match=sentence):
            site(dates=dates)
    site(dates=np.concatenate([HOURS[:100], HOURS[100:] + 3000]))  # gaps are no error


# -- files and frames


def files(folder, table, date=lambda hour: str(hour).replace("T", " ") + ":00"):
    def write(name, values, head):
        rows = [
            ",".join([date(h), *map(repr, r)]) for h, r in zip(HOURS, values.tolist(), strict=True)
        ]
        (folder / name).write_text("\n".join([f"Date,{','.join(head)}", *rows]) + "\n")

    write("con.csv", np.column_stack([table.values, table.total]), [*SPECIES, "Mass"])
    write("unc.csv", table.uncertainties[:, ::-1], SPECIES[::-1])
    return folder / "con.csv", folder / "unc.csv"


def american(hour):
    when = hour.item()
    return f"{when.month}/{when.day}/{when.year} {when.hour}:00"


@pytest.mark.parametrize("date", [None, american])
def test_files_and_frames_are_the_same_table(tmp_path, date):
    pandas = pytest.importorskip("pandas")
    table, *_ = site()
    con, unc = files(tmp_path, table, *([date] if date else []))
    read = sources.read(con, unc, total="Mass")
    assert_array_equal(read.values, table.values)
    assert_array_equal(read.uncertainties, table.uncertainties)
    assert_array_equal(read.dates, HOURS)
    assert_array_equal(read.total, table.total)
    exact = {"float_precision": "round_trip"}
    frames = [pandas.read_csv(name, index_col=0, parse_dates=True, **exact) for name in (con, unc)]
    limits = pandas.DataFrame({"a": [0.3], "b": [0.0]})
    framed = sources.read(*frames, total="Mass", limits=limits, drop=["h"])
    assert framed.species == SPECIES[:-1]
    assert framed.n_below[0] == (table.values[:, 0] < 0.3).sum() > 0
    (tmp_path / "limits.csv").write_text("a,b\n0.3,0\n")
    again = sources.read(con, unc, total="Mass", limits=tmp_path / "limits.csv", drop=["h"])
    assert_array_equal(again.values, framed.values)


def test_tables_that_do_not_fit_together_are_refused(tmp_path):
    table, *_ = site()
    con, unc = files(tmp_path, table)
    with pytest.raises(InputError, match=r"unc.csv has no column 'Mass'"):
        sources.read(con, unc)
    with pytest.raises(InputError, match=r"con.csv has no column 'PM'"):
        sources.read(con, unc, total="PM", drop=["Mass"])
    (tmp_path / "short.csv").write_text("".join(unc.read_text().splitlines(True)[:-1]))
    with pytest.raises(InputError, match="have different dates; every row needs its partner"):
        sources.read(con, tmp_path / "short.csv", total="Mass")


def test_species_are_found_by_name_and_refused_where_they_come_twice():
    dates = pd.date_range("2020-01-01", periods=30)
    values = np.random.default_rng(0).random((30, 3)) + 0.5
    frame = pd.DataFrame(values, index=dates, columns=["Fe", "Zn", "Pb"])
    straight, turned = (
        sources.read(frame, 0.1 * each) for each in (frame, frame[["Pb", "Fe", "Zn"]])
    )
    assert_allclose(turned.uncertainties, straight.uncertainties)
    twice = frame.set_axis(["Fe", "Zn", "Fe"], axis=1)
    with pytest.raises(InputError, match="has the column 'Fe' twice"):
        sources.read(twice, 0.1 * twice)


def test_dates_with_slashes_are_read_where_one_order_makes_them_rise(tmp_path):
    def dates(*fields):
        (tmp_path / "a.csv").write_text("Date,a\n" + "".join(f"{field},1\n" for field in fields))
        return read_series(tmp_path / "a.csv").labels

    for fields in (("1/30/2001", "2/1/2001"), ("30/1/2001", "01/02/2001")):
        assert_array_equal(dates(*fields), np.array(["2001-01-30", "2001-02-01"], "M8[D]"))
    assert dates("1/31/2001 5:30")[0] == np.datetime64("2001-01-31T05:30")
    with pytest.raises(InputError, match="holds '1/2/2001', and which number is the month is not"):
        dates("1/2/2001", "1/3/2001")
    with pytest.raises(InputError, match="holds '2/30/2001', needed are dates such as"):
        dates("2/30/2001", "3/1/2001")


# -- block bootstraps


def test_blocks_are_consecutive_rows():
    rng = np.random.default_rng(0)
    rows = sources.block_rows(100, 6, rng)
    assert len(rows) == 100
    assert (np.diff(rows[:96].reshape(16, 6)) == 1).all()
    assert 0 <= rows.min() < rows.max() < 100
    starts = np.concatenate([sources.block_rows(50, 5, rng)[::5] for _ in range(300)])
    assert_array_equal(np.unique(starts), np.arange(46))
    assert (np.diff(sources.block_rows(64, None, rng)[:4]) == 1).all()


def test_factors_are_mapped_by_the_correlation_of_contributions():
    rng = np.random.default_rng(0)
    base = rng.random((200, 3))
    others = np.column_stack([5 * base[:, 2], rng.random(200), 0.2 * base[:, 0] + 3, base[:, 2]])
    assert_array_equal(sources.mapped_to(base, others), [2, -1, 0, 2])
    mixed = base[:, :1] + base[:, 1:2]  # correlation of about .71 with both
    assert sources.mapped_to(base, mixed)[0] in (0, 1)
    assert_array_equal(sources.mapped_to(base, mixed, 0.9), [-1])


def test_ranges_hold_planted_profiles_and_count_what_is_mapped(found, room):
    ranges = bootstrap_sources(found, 12, random_state=1)
    assert ranges.n_bootstraps == 12
    room.share(ranges.mapped.min() / 12, at_least=0.7)
    assert (ranges.low <= ranges.high).all()
    near = np.abs((ranges.low + ranges.high) / 2 - found.profiles) / found.profiles.max(
        axis=1, keepdims=True
    )
    room.error(near.mean(), at_most=0.15)
    # A factor without any partner has no ranges.
    strange = sources.Factors(
        found.table, found.profiles, np.random.default_rng(9).random((400, 3))
    )
    nothing = sources.Ranges.of(found, [strange])
    assert_array_equal(nothing.mapped, 0)
    assert np.isnan(nothing.low).all()


# -- live: one row an hour


def hours_of(seed, new=40, n_days=60):
    """Hours of a made site with three sources and later a fourth, scaled, and their weights."""
    rng = np.random.default_rng([seed, 1])
    profiles = rng.dirichlet(np.full(10, 0.4), 4) + 0.005
    logs = rng.standard_normal((24 * n_days, 4))
    for before, row in pairwise(logs):  # hours depend on the hour before
        row[:] = 0.9 * before + 0.44 * row
    contributions = np.exp(0.8 * logs)
    contributions[: 24 * new, 3] = 0
    clean = contributions @ profiles
    always = 0.15 * np.quantile(clean, 0.2, axis=0)
    values = clean + (0.08 * clean + always) * rng.standard_normal(clean.shape)
    values = np.maximum(values, 0)
    scale = np.sqrt((values**2).mean(axis=0))
    return values / scale, (scale / (0.08 * values + always)) ** 2


def fitted(X, W):
    schedule = Constant(half_life=30 * 24 * float(W.max(axis=1).mean()))
    return OnlineNMF(4, schedule=schedule, random_state=0).fit(X, entry_weight=W)


def live(X, W, first=20):
    """Return the atoms at each midnight, and the hours of alarms and their dates."""
    model, detector = fitted(X[: 24 * first], W[: 24 * first]), DriftDetector()
    atoms, alarms, due = [], [], []
    for hour in range(24 * first, len(X)):
        if hour % 24 == 0:
            if due and hour // 24 >= due[0]:
                del due[0]
                since = min(alarms[-1][1], hour - 240)
                model = fitted(X[since:hour], W[since:hour])
            atoms.append(model.components_.copy())
        model.partial_fit(X[hour : hour + 1], entry_weight=W[hour : hour + 1])
        q = 2 * model.batch_objective_ * W[hour].max()
        if detector.update(np.log(q)):
            alarms.append((hour, hour - detector.since))
            due = [hour // 24 + days for days in (1, 3, 10)]
    return atoms, alarms


def next_day(atoms, X, W, day):
    rows = slice(24 * day, 24 * day + 24)
    codes = OnlineNMF.from_components(atoms).transform(X[rows], entry_weight=W[rows])
    return (W[rows] * (X[rows] - codes @ atoms) ** 2).sum()


def test_a_new_source_is_dated_and_the_next_day_is_explained_as_by_a_fit_of_its_window(room, seeds):
    figures = []
    for seed in seeds:
        X, W = hours_of(10 * seed)
        atoms, alarms = live(X, W)
        days = range(20, 60, 5)
        ours = sum(next_day(atoms[day - 20], X, W, day) for day in days)
        theirs = 0.0
        for day in days:
            rows = slice(24 * (day - 20), 24 * day)
            theirs += next_day(fitted(X[rows], W[rows]).components_, X, W, day)
        near = [abs(date / 24 - 40) for hour, date in alarms if hour >= 24 * 40]
        figures.append((min(near, default=np.inf), ours / theirs))
    late, ratio = np.median(figures, axis=0)
    room.error(late, at_most=7)
    room.ratio(ratio, at_most=1.1)  # days of a small site scatter: judged/live_sources.py
    # The Q of an hour is that of its contributions before the hour is learned.
    model = fitted(X[:480], W[:480])
    before = model.components_.copy()
    model.partial_fit(X[480:481], entry_weight=W[480:481])
    codes = OnlineNMF.from_components(before).transform(X[480:481], entry_weight=W[480:481])
    q = (W[480] * (X[480] - codes[0] @ before) ** 2).sum()
    assert_allclose(2 * model.batch_objective_ * W[480].max(), q, rtol=0.1)


# -- measured air


@needs_data
def test_measured_air_is_read_and_fitted(room):
    table = sources.read(DATA / "air/StLouis-con.csv", DATA / "air/StLouis-unc.csv", total="Mass")
    assert table.dates[0] == np.datetime64("2001-06-22T00:00")
    assert np.diff(table.dates).max() > np.timedelta64(100, "D")
    bad = [name for name, kind in zip(table.species, table.kinds, strict=True) if kind == "bad"]
    assert bad == ["Cd", "Ni", "Se", "EC"]
    found = find_sources(table, 5, n_starts=4, random_state=0)
    ends = [find_sources(table, 5, n_starts=1, random_state=seed).q_true for seed in range(3)]
    room.ratio(np.median(ends) / found.q_true, at_most=1.02)
    assert 0.5 < found.of_total.sum(axis=1).mean() / table.total.mean() < 1.1


@needs_data
def test_a_second_measured_site_is_read_and_fitted():
    table = sources.read(
        DATA / "air/BatonRouge-con.csv", DATA / "air/BatonRouge-unc.csv", total="TNMOC"
    )
    assert table.values.shape == (307, 40)
    assert table.dates[0] == np.datetime64("2005-06-01T06:00")
    assert table.dates[-1] == np.datetime64("2006-09-28T03:00")
    assert [n for n, k in zip(table.species, table.kinds, strict=True) if k != "strong"] == [
        "Unidentified"
    ]
    found = find_sources(table, 4, n_starts=2, random_state=0)
    assert_allclose(found.per_cent().sum(axis=0), 100)
    assert found.of_total.shape == (307, 4)


@pytest.mark.parametrize("missing", [["-99"], [-99], "-99", -99.0])
def test_frames_are_read_with_the_options_of_files(tmp_path, missing):
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.random((30, 2)) @ rng.random((2, 4)) + 0.1, columns=[*"abcd"])
    values.index = pd.date_range("2020-01-01", periods=30, name="date")
    given = 0.1 * values
    values.iloc[3, 2] = -99
    for name, frame in (("values", values), ("given", given)):
        frame.to_csv(tmp_path / f"{name}.csv")
    expected = sources.read(tmp_path / "values.csv", tmp_path / "given.csv", missing=missing)
    assert expected.n_missing.tolist() == [0, 0, 1, 0]
    for pair in (
        (values, given),
        (values.reset_index(), given.reset_index()),
        (values, tmp_path / "given.csv"),
    ):
        found = sources.read(*pair, missing=missing)
        assert_array_equal(found.values, expected.values)
        assert_array_equal(found.uncertainties, expected.uncertainties)
        assert_array_equal(found.dates, expected.dates)
    with pytest.raises(InputError, match="header is for files, and a frame was given"):
        sources.read(values, given, header="no")
    with pytest.raises(TypeError, match="The reader of tables has no 'mising'; known are columns"):
        sources.read(values, given, mising=missing)


@pytest.mark.parametrize("given", [0.1, None, np.ones((30, 2))])
def test_uncertainties_that_are_no_table_are_refused_in_a_sentence(given):
    values = pd.DataFrame(np.random.default_rng(0).random((30, 2)), columns=["a", "b"])
    with pytest.raises(InputError, match=r"^uncertainties must be a path or a frame .*\.$"):
        sources.read(values, given)
