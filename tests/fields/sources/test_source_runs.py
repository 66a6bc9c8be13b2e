"""Runs on concentrations with uncertainties: what they find and leave, how they are looked at."""

import csv
import json

import numpy as np
import pytest
from commands import refused, run
from numpy.testing import assert_allclose, assert_array_equal

from atomstream import load, plots, sources
from atomstream.fields.sources.apportionment import chosen_number, compared

rng = np.random.default_rng(0)
SPECIES = [*"abcdefgh"]
PROFILES = rng.dirichlet(np.full(8, 0.4), 3) + 0.01
GIVEN = rng.gamma(0.7, 1, (300, 3)) + 0.02
CLEAN = GIVEN @ PROFILES
ERRORS = 0.05 * CLEAN + 0.01
VALUES = np.maximum(CLEAN + ERRORS * rng.standard_normal(CLEAN.shape), 0)
TOTAL = GIVEN @ [3.0, 1.0, 2.0]
DATES = np.datetime64("2024-01-01T00") + np.arange(300)


def write(path, values, head, dates=DATES):
    rows = [
        [str(date).replace("T", " ") + ":00", *row] for date, row in zip(dates, values, strict=True)
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["Date", *head], *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    write(folder / "con.csv", np.column_stack([VALUES, TOTAL]).tolist(), [*SPECIES, "Mass"])
    write(folder / "unc.csv", ERRORS.tolist(), SPECIES)
    few = ("--factors", "2-3", "--starts", 3, "--bootstraps", 4, "--total", "Mass")
    tables = (folder / "con.csv", "--uncertainty", folder / "unc.csv")
    run("sources", *tables, *few, "--units", "ng/m3", "--weak", "d", "--out", folder / "run")
    return folder


def table(path):
    with path.open() as file:
        head, *rows = list(csv.reader(file))
    return head, [row[0] for row in rows], np.array([row[1:] for row in rows])


def test_tables_hold_what_was_found(folder):
    head, species, profiles = table(folder / "run/profiles.csv")
    assert species == SPECIES
    assert head[:4] == ["species", "factor_0", "factor_1", "factor_2"]
    profiles = profiles.astype(float).reshape(8, 4, 3)
    assert_allclose(profiles[:, 1].sum(axis=1), 100)
    assert (profiles[:, 2] <= profiles[:, 3]).all()
    head, dates, given = table(folder / "run/contributions.csv")
    assert dates[0] == "2024-01-01T00:00"
    assert head[4] == "factor_0_of_total"
    given = given.astype(float)
    assert_allclose(given[:, :3].mean(axis=0), 1)
    near = np.corrcoef(given[:, :3].T, GIVEN.T)[:3, 3:].max(axis=0)
    assert near.min() > 0.9
    left = table(folder / "run/residuals.csv")[2].astype(float)
    weights = ERRORS * np.where(np.array(SPECIES) == "d", 3, 1)
    assert_allclose(given[:, :3] @ profiles[:, 0].T + left * weights, VALUES, atol=1e-9)
    _, species, facts = table(folder / "run/species.csv")
    assert facts[species.index("d"), 0] == "weak"
    assert_allclose(facts[:, 4].astype(float) * (300 * 7 - 3 * 307) / 7, (left**2).sum(axis=0))
    assert load(folder / "run/model.atoms").n_components == 3


def test_a_run_is_inspected_and_reported_by_the_same_verbs(folder, capsys):
    run("inspect", folder / "run", "--json")
    shown = json.loads(capsys.readouterr().out)["factors"]
    assert [row["code_share"] for row in shown] == sorted(r["code_share"] for r in shown)[::-1]
    assert " % of " in shown[0]["features"]
    run("report", folder / "run")
    assert "Bars are concentrations" in (folder / "run/report.html").read_text()
    drawn = {path.stem for path in (folder / "run/figures").glob("*.png")}
    assert drawn >= {"numbers", "profiles", "series", "cycles"}


def encoded(folder, values, errors, out, dates=DATES):
    """Return the contributions that a run has at further times."""
    values = [["" if np.isnan(entry) else entry for entry in row] for row in values]
    write(out / "more.csv", values, SPECIES, dates)
    write(out / "errors.csv", errors.tolist(), SPECIES, dates)
    words = ("--uncertainty", out / "errors.csv", "--out", out / "given.csv")
    run("encode", folder / "run", out / "more.csv", *words)
    head, times, given = table(out / "given.csv")
    assert head == ["date", "factor_0", "factor_1", "factor_2"]
    return times, given.astype(float)


def test_further_times_have_contributions_of_the_same_factors(folder, tmp_path):
    times, given = encoded(folder, VALUES, ERRORS, tmp_path)
    _, dates, known = table(folder / "run/contributions.csv")
    assert times == dates
    assert_allclose(given, known[:, :3].astype(float), rtol=1e-6, atol=1e-8)
    # Without weights, or with the weak species taken for a strong one, they would be others.
    _, even = encoded(folder, VALUES, np.ones(VALUES.shape), tmp_path)
    assert abs(even - given).max() > 0.01


def test_one_row_is_coded_as_beside_others_by_the_rules_of_the_table(folder, tmp_path):
    holed = VALUES.copy()
    holed[7, 2] = np.nan
    _, whole = encoded(folder, holed, ERRORS, tmp_path)
    times, row = encoded(folder, holed[7:8], ERRORS[7:8], tmp_path, DATES[7:8])
    assert times == ["2024-01-01T07:00"]
    assert_allclose(row[0], whole[7], rtol=1e-9, atol=1e-12)
    # What is missing stands at the median of the table that was learned from, and four times that.
    filled, errors = VALUES[7:8].copy(), ERRORS[7:8].copy()
    filled[0, 2] = np.median(VALUES[:, 2])
    errors[0, 2] = 4 * filled[0, 2]
    _, same = encoded(folder, filled, errors, tmp_path, DATES[7:8])
    assert_allclose(row, same, rtol=1e-6, atol=1e-8)


def test_further_times_that_cannot_be_coded_are_refused(folder, tmp_path, capsys):
    out = ("--out", tmp_path / "given.csv")
    con, unc = folder / "con.csv", folder / "unc.csv"
    assert "with --uncertainty" in refused(capsys, "encode", folder / "run", con, *out)
    both = ("--uncertainty", unc, *out)
    assert "with --uncertainty" in refused(capsys, "encode", folder / "run", con, con, *both)
    write(tmp_path / "few.csv", VALUES[:, :4].tolist(), SPECIES[:4])
    sentence = refused(capsys, "encode", folder / "run", tmp_path / "few.csv", *both)
    assert "has no column 'e'" in sentence
    write(tmp_path / "low.csv", (VALUES - 10).tolist(), SPECIES)
    sentence = refused(capsys, "encode", folder / "run", tmp_path / "low.csv", *both)
    assert "needed is at least 0" in sentence
    np.save(tmp_path / "rows.npy", VALUES)
    rows = (tmp_path / "rows.npy", "--atoms", "2", "--epochs", "1", "--out", tmp_path / "rows")
    run("learn", *rows)
    sentence = refused(capsys, "encode", tmp_path / "rows", tmp_path / "rows.npy", *both)
    assert "--uncertainty is for concentrations" in sentence


def test_known_profiles_and_a_half_life_are_those_of_python(folder, capsys):
    known = ",".join(SPECIES[1:]) + "\n" + ",".join(map(str, PROFILES[1, 1:])) + "\n"
    (folder / "known.csv").write_text(known)
    tables = (folder / "con.csv", "--uncertainty", folder / "unc.csv", "--total", "Mass")
    few = ("--factors", "3", "--starts", 2, "--bootstraps", 1, "--half-life", "3d")
    anchors = ("--anchors", folder / "known.csv", "--a-value", 0.1)
    run("sources", *tables, *few, *anchors, "--out", folder / "kept")
    table_ = sources.read(folder / "con.csv", folder / "unc.csv", total="Mass")
    aged = table_.with_half_life(np.timedelta64(3, "D"))
    _, _, profiles = table(folder / "kept/profiles.csv")
    ratio = profiles.astype(float)[1:, 0] / PROFILES[1, 1:]
    assert 1 < ratio.max() / ratio.min() <= 1.1 / 0.9 * (1 + 1e-9)
    given = table(folder / "kept/contributions.csv")[2].astype(float)[:, :3]
    q = (((aged.values - given @ profiles.astype(float)[:, :3].T) / aged.errors) ** 2).sum()
    _, _, numbers = table(folder / "kept/numbers.csv")
    assert_allclose(float(numbers[0, 0]), q)
    assert load(folder / "kept/model.atoms").updater == "auto"
    out = ("--out", folder / "none")
    sentence = refused(capsys, "sources", *tables, *few, "--a-value", 0.1, *out)
    assert "give --anchors TABLE" in sentence
    (folder / "wrong.csv").write_text("Fe\n1\n")
    sentence = refused(capsys, "sources", *tables, "--anchors", folder / "wrong.csv", *out)
    assert "has the species 'Fe', which" in sentence
    (folder / "many.csv").write_text("a,b\n" + "1,2\n" * 4)
    sentence = refused(capsys, "sources", *tables, "--anchors", folder / "many.csv", *out)
    assert "at most 3 profiles" in sentence


def test_the_number_is_the_largest_whose_factors_are_mapped():
    facts = [{"factors": n, "weakest_in_bootstraps": s} for n, s in ((3, 0.9), (4, 0.8), (5, 0.7))]
    assert chosen_number(facts)[0] == 4
    best, why = chosen_number(facts[2:] + [{"factors": 6, "weakest_in_bootstraps": 0.2}])
    assert best == 5
    assert "Of no number" in why


def test_figures_of_a_number_count_starts_and_bootstraps():
    table = sources.SpeciesTable(VALUES, ERRORS, SPECIES)
    good = sources.Factors.of(table, PROFILES / table.scale, GIVEN)
    lost = np.column_stack([GIVEN[:, :2], np.random.default_rng(1).random(300)])
    poor = sources.Factors.of(table, PROFILES / table.scale, lost)
    found = compared([poor, good, good], [good, poor, poor, good])
    assert found.start == 1
    assert_allclose(found.facts["starts_near_best"], 2 / 3)
    assert_allclose(found.facts["weakest_in_starts"], 2 / 3)
    assert found.facts["weakest_in_bootstraps"] == 0.5
    assert_array_equal(found.ranges.mapped, [4, 4, 2])


def test_bad_input_ends_with_a_sentence(folder, tmp_path, capsys):
    con, unc, out = folder / "con.csv", folder / "unc.csv", ("--out", tmp_path / "new")
    total = ("--total", "Mass")
    assert "give --uncertainty TABLE" in refused(capsys, "sources", con, *out)
    given = (con, "--uncertainty", unc, *out)
    assert "no column 'Mass'" in refused(capsys, "sources", *given)
    assert "factors is '0', needed" in refused(capsys, "sources", *given, "--factors", "0")
    sentence = refused(capsys, "sources", *given, *total, "--factors", "8")
    assert "more than the number of factors, 8" in sentence
    assert "There is no" in refused(capsys, "sources", con, "--uncertainty", "gone.csv", *out)
    zeros = ERRORS.copy()
    zeros[5, 1] = 0
    write(tmp_path / "zeros.csv", zeros.tolist(), SPECIES)
    sentence = refused(
        capsys, "sources", con, "--uncertainty", tmp_path / "zeros.csv", *total, *out
    )
    assert "The uncertainty of 'b' at 2024-01-01T05:00" in sentence
    back = DATES[::-1]
    for name, values, head in (
        ("c", np.column_stack([VALUES, TOTAL]), [*SPECIES, "Mass"]),
        ("u", ERRORS, SPECIES),
    ):
        write(tmp_path / f"{name}.csv", values.tolist(), head, back)
    pair = (tmp_path / "c.csv", "--uncertainty", tmp_path / "u.csv")
    assert "must rise" in refused(capsys, "sources", *pair, *total, *out)


def test_days_and_hours_are_counted():
    dates = np.datetime64("2024-01-01T00") + np.arange(24 * 14)  # a Monday
    hours = (np.arange(24 * 14) % 24 == 7).astype(float)
    days = (np.arange(24 * 14) // 24 % 7 == 5).astype(float)
    (number, means, errors), (hour, by_hour, _) = plots.factor_cycles_data(
        np.column_stack([days, hours]), dates
    )
    assert_array_equal(number, np.arange(7))
    assert_allclose(means[:, 0], np.arange(7) == 5)
    assert_allclose(by_hour[:, 1], hour == 7)
    assert_allclose(errors[0, 1], np.sqrt(1 / 24 * 23 / 24 / 48))
