"""Series on the command line: what runs write, their reports, pictures, and bad input."""

import csv
import gzip
import json
import re

import numpy as np
import pytest
from commands import plotted, refused, run
from decimal_commas import text_of
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import SeriesDictionary, plots, series
from atomstream.exceptions import InputError
from atomstream.io.series_table import read_series
from atomstream.runs.record import open_record
from atomstream.schedules import Constant
from atomstream.watch.history import alarms_of

NAMES = ["Nord, 1", "Sud", "Ost"]


def waves(n=150):
    t = np.arange(n)[:, None]
    return np.round(
        50 + 20 * np.sin(t / 4 + np.arange(3)) + np.random.default_rng(0).random((n, 3)), 3
    )


def write(path, values, labels, names=NAMES, time="day"):
    with (
        gzip.open(path, "wt", newline="")
        if path.suffix == ".gz"
        else path.open("w", newline="") as file
    ):
        writer = csv.writer(file)
        writer.writerow(([time] if labels is not None else []) + names)
        for i, row in enumerate(values.tolist()):
            fields = ["" if value != value else value for value in row]
            writer.writerow(([labels[i]] if labels is not None else []) + fields)


def read(path):
    with path.open() as file:
        return list(csv.reader(file))


def days(n=150, start="2021-01-01"):
    return (np.datetime64(start) + np.arange(n)).astype(str).tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series")
    values = waves()
    write(folder / "whole.csv", values, days())
    write(folder / "numbers.csv.gz", values, None)
    holes = np.where(np.random.default_rng(1).random(values.shape) < 0.2, np.nan, values)
    write(
        folder / "holes.csv",
        holes,
        (np.datetime64("2001-03") + np.arange(150)).astype(str),
        time="month",
    )
    settings = ("--window", 6, "--atoms", 8)
    run(
        "series",
        "forecast",
        folder / "whole.csv",
        *settings,
        "--horizon",
        5,
        "--out",
        folder / "run",
    )
    run("series", "impute", folder / "holes.csv", *settings, "--out", folder / "filled")
    return folder


def test_a_forecast_is_that_of_the_class(folder):
    model = SeriesDictionary(8, 6, schedule=Constant(weight=1.0), random_state=0).fit(waves())
    header, *rows = read(folder / "run/forecast.csv")
    assert header == ["day", *[f"{name}{end}" for name in NAMES for end in ("", "_low", "_high")]]
    assert [row[0] for row in rows] == days(155)[150:]
    table = np.array([row[1:] for row in rows], float).reshape(5, 3, 3)
    band = model.predict_interval(5, 0.9)
    assert_array_equal(table[:, :, 0], model.predict(5))
    assert_array_equal(table[:, :, 1], band.low)
    assert_array_equal(table[:, :, 2], band.high)
    again = atomstream.load(folder / "run")
    assert_array_equal(again.atoms_, model.atoms_)
    assert_array_equal(again.predict(5), model.predict(5))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The honest one-step errors")
def test_preparation_is_undone(folder, tmp_path, capsys):
    run(
        *(
            "series",
            "forecast",
            folder / "whole.csv",
            "--window",
            6,
            "--horizon",
            2,
            "--out",
            tmp_path / "run",
        ),
        *("--head", "ridge", "--log", "--scale", "--average", 3, "--coverage", 0.5, "--json"),
    )
    told = json.loads(capsys.readouterr().out)
    steps = [series.MovingAverage(3), series.Log1p(), series.NonnegativeScaler(shift=False)]
    values = waves()
    for step in steps:
        values = step.fit(values[:24]).transform(values)
    model = SeriesDictionary(20, 6, head="ridge", random_state=0).fit(values)
    ahead = steps[1].inverse_transform(steps[2].inverse_transform(model.predict(2)))
    table = np.array([row[1::3] for row in read(tmp_path / "run/forecast.csv")[1:]], float)
    assert_allclose(table, ahead)
    assert read(tmp_path / "run/forecast.csv")[0][1:3] == ["Nord, 1_mean3", "Nord, 1_mean3_low"]
    run("report", tmp_path / "run")
    page = (tmp_path / "run/report.html").read_text()
    assert "each series divided by the largest value of its first 24 rows" in page
    error = model.one_step_ - values[-60:]
    figures = told["figures"]
    assert figures["RMSE one row ahead"] == pytest.approx(np.sqrt(np.mean(error**2)))
    last = values[-61:-1] - values[-60:]
    assert figures["RMSE one row ahead, by the last row"] == pytest.approx(
        np.sqrt(np.mean(last**2))
    )
    # from fifty origins, two rows ahead, each by a model that has seen earlier rows only
    rolling, missed = SeriesDictionary(20, 6, head="ridge", random_state=0).fit(values[:99]), []
    for origin in range(99, 149):
        missed.append(rolling.predict(2)[1] - values[origin + 1])
        rolling.partial_fit(values[origin : origin + 1])
    assert figures["RMSE 2 rows ahead"] == pytest.approx(np.sqrt(np.mean(np.square(missed))))
    last = values[98:148] - values[100:150]
    assert figures["RMSE 2 rows ahead, by the last row"] == pytest.approx(np.sqrt(np.mean(last**2)))
    season, error = next(
        (int(name.split()[-2]), value)
        for name, value in figures.items()
        if "2 rows ahead, by the row" in name
    )
    ago = [values[o - season + 1 % season] - values[o + 1] for o in range(99, 149)]
    assert error == pytest.approx(np.sqrt(np.mean(np.square(ago))))
    assert season > 1
    assert told["times"] == 150


def test_scales_do_not_look_ahead(tmp_path):
    fall = 400 - 2 * np.arange(150)[:, None] + waves() / 5
    changed = fall.copy()
    changed[-5:] = [[0.5, 900, 30]]
    shown = []
    for name, values in (("fall", fall), ("changed", changed)):
        write(tmp_path / f"{name}.csv", values, days())
        run(
            *(
                "series",
                "forecast",
                tmp_path / f"{name}.csv",
                "--window",
                6,
                "--atoms",
                8,
                "--scale",
            ),
            *("--out", tmp_path / name),
        )
        shown.append(open_record(tmp_path / name).notes["predicted"])
    assert_array_equal(shown[0][:-4], shown[1][:-4])


def test_an_offset_does_not_ruin_a_forecast(tmp_path, room):
    values = 280 + 5 * np.sin(np.arange(150)[:, None] / 4) + [[0, 1]]
    write(tmp_path / "kelvin.csv", values[:138], days(138), ["a", "b"])
    arguments = ("--window", 10, "--atoms", 10, "--horizon", 12, "--out", tmp_path / "run")
    run("series", "forecast", tmp_path / "kelvin.csv", *arguments)
    ahead = np.array([row[1::3] for row in read(tmp_path / "run/forecast.csv")[1:]], float)
    room.error(np.abs(ahead - values[138:]).mean(), at_most=1.2)


def test_a_series_that_ends_in_gaps_is_named(tmp_path, capsys):
    values = waves() + 230
    values[-40:, 1] = np.nan
    write(tmp_path / "silent.csv", values, days())
    arguments = ("--window", 6, "--atoms", 8, "--horizon", 3, "--out", tmp_path / "run")
    run("series", "forecast", tmp_path / "silent.csv", *arguments)
    told = capsys.readouterr().err
    assert told.count("Forecast at the last observed value") == 1
    assert "then: 'Sud' (40 rows ago)." in told
    table = np.array([row[1:] for row in read(tmp_path / "run/forecast.csv")[1:]], float)
    middle, low, high = np.moveaxis(table.reshape(3, 3, 3), 2, 0)
    assert_array_equal(middle[:, 1], np.full(3, values[-41, 1]))
    assert np.isfinite(table).all()
    wide = (high - low)[:, 1] / (high - low)[0, 1]
    assert_allclose(wide, np.sqrt(np.array([41, 42, 43]) / 41))
    assert atomstream.load(tmp_path / "run").form_.names == tuple(NAMES)


@pytest.mark.usefixtures("undrawn")
def test_signed_series_are_forecast_and_filled(folder, tmp_path):
    holes = np.where(np.random.default_rng(1).random((150, 3)) < 0.1, np.nan, waves() - 50)
    write(tmp_path / "signed.csv", holes, days())
    settings = ("--window", 6, "--atoms", 8)
    for verb in ("forecast", "impute"):
        run("series", verb, tmp_path / "signed.csv", *settings, "--out", tmp_path / verb)
    run("report", tmp_path / "forecast")
    page = (tmp_path / "forecast/report.html").read_text()
    assert "each series relative to its offset and in its own scale" in page
    filled = np.array([row[1:] for row in read(tmp_path / "impute/imputed.csv")[1:]], float)
    gone = np.isnan(holes)
    assert np.sqrt(np.mean((filled - waves() + 50)[gone] ** 2)) < 0.3 * waves().std()


def test_gaps_are_filled_and_all_else_is_as_it_was(folder, room):
    before, after = read(folder / "holes.csv"), read(folder / "filled/imputed.csv")
    assert before[0] == after[0]
    n_filled = 0
    for old, new in zip(before[1:], after[1:], strict=True):
        assert old[0] == new[0]
        for was, now in zip(old[1:], new[1:], strict=True):
            assert float(now) == float(was) if was else np.isfinite(float(now))
            n_filled += not was
    assert n_filled > 60
    filled = np.array([row[1:] for row in after[1:]], float)
    hidden = np.array([[not field for field in row[1:]] for row in before[1:]])
    room.error(np.sqrt(np.mean((filled - waves())[hidden] ** 2)), at_most=0.35 * waves().std())


def test_a_head_a_season_and_columns_known_ahead(tmp_path, room):
    """The table goes on with the rows to be forecast, in which only the known column is filled."""
    on = np.random.default_rng(2).integers(0, 2, 156).astype(float)
    table = np.full((156, 2), np.nan)
    table[:150, 0] = waves()[:, 0] + 30 * on[:150]
    table[:, 1] = on
    write(tmp_path / "table.csv", table, days(156), ["sales", "on"])
    more = ("--window", 6, "--atoms", 4, "--head", "ridge", "--season", 25, "--horizon", 6)
    made = {}
    for name, how in (("run", ("--exogenous", "on")), ("blind", ("--columns", "sales"))):
        path = tmp_path / "table.csv"
        if name == "blind":
            path = tmp_path / "short.csv"
            write(path, table[:150], days(150), ["sales", "on"])
        run("series", "forecast", path, *more, *how, "--out", tmp_path / name)
        rows = read(tmp_path / name / "forecast.csv")
        assert rows[0] == ["day", "sales", "sales_low", "sales_high"]
        assert [row[0] for row in rows[1:]] == days(156)[150:]
        made[name] = np.array([float(row[1]) for row in rows[1:]])
    model = SeriesDictionary(4, 6, head="ridge", season=25, random_state=0)
    wanted = model.fit(table[:150, :1], exogenous=table[:, 1:])
    assert_array_equal(made["run"], wanted.predict(6, exogenous=table[150:, 1:])[:, 0])
    t = np.arange(150, 156)
    truth = 50.5 + 20 * np.sin(t / 4) + 30 * on[150:]
    missed = {name: np.sqrt(np.mean((values - truth) ** 2)) for name, values in made.items()}
    room.error(missed["run"], at_most=0.5 * missed["blind"])


def test_columns_known_ahead_must_be_known(tmp_path, capsys):
    table = np.full((152, 2), np.nan)
    table[:150], table[150:, 1] = waves()[:, :2], 1.0
    write(tmp_path / "table.csv", table, days(152), ["sales", "on"])
    more = ("series", "forecast", tmp_path / "table.csv", "--out", tmp_path / "run")
    told = refused(capsys, *more, "--exogenous", "on", "--horizon", 3)
    assert "need a value in each of 153 rows, the 3 to be forecast" in told
    assert "table.csv has" in told
    told = refused(capsys, *more, "--exogenous", "on", "--head", "atoms")
    assert "--exogenous is for a head" in told
    told = refused(capsys, *more, "--exogenous", "sales,on")
    assert "has no column of numbers beside those" in told
    assert "needs season" in refused(capsys, *more, "--columns", "sales", "--head", "seasonal")


@pytest.mark.usefixtures("undrawn")
def test_too_few_rows_make_no_bands(tmp_path, capsys):
    write(tmp_path / "short.csv", waves(30), days(30))
    more = ("--window", 6, "--head", "atoms", "--out", tmp_path / "run")
    run("series", "forecast", tmp_path / "short.csv", *more)
    assert "Warning: No bands: coverage=0.9 needs at least 9 honest" in capsys.readouterr().err
    assert read(tmp_path / "run/forecast.csv")[0] == ["day", *NAMES]
    run("report", tmp_path / "run")


def test_rows_without_times_are_numbered(folder, tmp_path):
    run(
        "series",
        "forecast",
        folder / "numbers.csv.gz",
        "--window",
        6,
        "--atoms",
        8,
        "--out",
        tmp_path / "run",
    )
    rows = read(tmp_path / "run/forecast.csv")
    assert rows[1][0] == "151"
    assert rows[1][1:] == read(folder / "run/forecast.csv")[1][1:]


def test_columns_and_times_are_chosen(tmp_path):
    write(
        tmp_path / "table.csv", waves(20), [str(2 * i) for i in range(20)], ["a", "b", "c"], "week"
    )
    table = read_series(tmp_path / "table.csv", time="week", columns=("c", "2"))
    assert table.names == ["c", "a"]
    assert_array_equal(table.labels, 2 * np.arange(20))
    assert_array_equal(table.values, waves(20)[:, [2, 0]])
    assert read_series(tmp_path / "table.csv").names == ["week", "a", "b", "c"]
    write(
        tmp_path / "hours.csv",
        waves(3),
        ["2020-01-01 10:00", "2020-01-01 11:00", "2020-01-01T12:00"],
    )
    assert str(read_series(tmp_path / "hours.csv").labels[2]) == "2020-01-01T12:00"


def test_report_inspect_and_plot_show_the_run(folder, capsys, monkeypatch):
    for name, words in (
        (
            "run",
            [
                "8 atoms of 6 times x 3 series",
                "Before and after the online phase",
                "bands of 90 %",
                "nothing",
            ],
        ),
        (
            "filled",
            [
                "Observed and rebuilt",
                "scaled by its range in the table",
                "missing entries",
                "RMSE of observed entries, in-sample",
            ],
        ),
    ):
        run("report", folder / name)
        page = (folder / name / "report.html").read_text()
        for word in words:
            assert word in page
        assert len(re.findall("<img", page)) == 4
        plotted(monkeypatch, folder / name)
        run("inspect", folder / name)
        told = capsys.readouterr().out
        assert "SeriesDictionary, 8 atoms" in told
        assert "Ost" in told
        run("inspect", folder / name, "--json")
        facts = json.loads(capsys.readouterr().out)
        assert facts["components"] == 8
        assert facts["complete"] is True
        assert len(facts["atoms"]) == 8
    assert open_record(folder / "run").complete


@pytest.mark.usefixtures("undrawn")
def test_a_model_alone_is_reported_and_inspected(folder):
    atomstream.save(atomstream.load(folder / "run"), folder / "alone.atoms")
    run("report", folder / "alone.atoms")
    run("inspect", folder / "alone.atoms")


def test_the_same_again_from_its_settings(folder, tmp_path):
    run("series", "forecast", "--config", folder / "run/run.toml", "--out", tmp_path / "again")
    assert (tmp_path / "again/forecast.csv").read_text() == (
        folder / "run/forecast.csv"
    ).read_text()


def test_a_complete_run_has_nothing_left_to_do(folder, capsys):
    run("resume", folder / "run")
    assert "Nothing is left to do" in capsys.readouterr().out
    with pytest.raises(InputError, match="There is no"):
        read_series(folder / "none.csv")


def test_pictures_show_what_their_twins_return(folder):
    model = atomstream.load(folder / "run")
    curves, shares = plots.series_atoms_data(model, 4)
    assert curves.shape == (4, 6, 3)
    assert (np.diff(shares) <= 0).all()
    figure = plots.series_atoms(model, names=NAMES, n_atoms=4)
    assert_array_equal(figure.axes[0].lines[1].get_ydata(), curves[0, :, 1])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == NAMES
    share = 100 * model.importance_.max()
    assert figure.axes[0].get_title() == f"atom {model.importance_.argmax()}: {share:.1f} %"
    before, after, moved = plots.series_change_data(model, 3)
    assert_array_equal(moved, np.sort(moved)[::-1])
    lines = plots.series_change(model, n_atoms=3).axes[0].lines
    assert_array_equal(lines[0].get_ydata(), after[0, :, 0])
    assert_array_equal(lines[1].get_ydata(), before[0, :, 0])
    with pytest.raises(ValueError, match="no atoms before the online phase"):
        plots.series_change(SeriesDictionary(3, 4, n_init_batches=0, random_state=0).fit(waves(20)))
    observed = waves(20)
    seen, _, ahead = plots.series_forecast_data(observed, observed + 1, np.ones((3, 4, 3)))
    assert seen.shape == (24, 3)
    assert ahead.shape == (3, 24, 3)
    assert np.isnan(ahead[:, :20]).all()
    lines = (
        plots.series_forecast(observed, observed + 1, np.ones((3, 4, 3)), labels=range(24))
        .axes[2]
        .lines
    )
    assert_array_equal(lines[0].get_ydata(), seen[:, 2])
    assert len(plots.series_forecast(observed, observed).axes[0].lines) == 2
    holed = observed.copy()
    holed[3:6, 0] = np.nan
    for axes, x in zip(
        plots.series_forecast(holed, observed).axes, ([3, 4, 5], [], []), strict=False
    ):
        assert_array_equal(axes.lines[2].get_xdata(), x)


def test_windows_that_share_rows_give_no_false_alarms(tmp_path, capsys):
    """At each row a batch of all windows of the last 120 rows: its objective hardly moves."""
    noise = np.random.default_rng(2).normal(0, 4, (500, 3))
    write(tmp_path / "waves.csv", waves(500) + noise, days(500))
    words = ("series", "impute", tmp_path / "waves.csv", "--window", 12, "--atoms", 3)
    run(*words, "--out", tmp_path / "full")
    said = capsys.readouterr()
    assert open_record(tmp_path / "full").history.n_alarms == 0
    assert "Alarm" not in said.err
    assert f": {tmp_path / 'full/imputed.csv'}\n" in said.out


def test_a_change_is_an_alarm_where_windows_share_rows(tmp_path):
    values = waves(2200)
    values[1800:] += 40 * np.random.default_rng(1).random((400, 3))
    write(tmp_path / "waves.csv", values, days(2200))
    words = ("series", "forecast", tmp_path / "waves.csv", "--window", 4, "--atoms", 3)
    run(*words, "--head", "atoms", "--memory", 8, "--out", tmp_path / "run")
    places = alarms_of(open_record(tmp_path / "run").history)
    steps = [json.loads(line) for line in (tmp_path / "run/log.jsonl").read_text().splitlines()]
    began = [entry["began_step"] for entry in steps if entry.get("event") == "alarm"]
    assert len(places) == len(began) == 1
    assert 1700 < began[0] <= 1900


def test_a_first_series_that_counts_is_told(tmp_path, capsys):
    values = np.column_stack([np.arange(1700, 1850), waves()])
    write(tmp_path / "years.csv", values, None, ["year", *NAMES])
    words = ("series", "impute", tmp_path / "years.csv", "--window", 4, "--atoms", 3)
    run(*words, "--out", tmp_path / "as-series")
    assert "The first series counts evenly: as times it is --time year." in capsys.readouterr().err
    run(*words, "--time", "year", "--out", tmp_path / "as-times")
    assert "counts evenly" not in capsys.readouterr().err


def test_a_sentinel_gets_no_advice_to_add_a_constant(tmp_path, capsys):
    values = np.arange(1.0, 61)
    lines = ["day,x", *(f"{1900 + i},{value}" for i, value in enumerate(values))]
    (tmp_path / "t.csv").write_text("\n".join([*lines, "1960,-99.9"]) + "\n")
    (tmp_path / "u.csv").write_text("\n".join([*lines, "1960,-7"]) + "\n")
    end = ("--time", "day", "--scale", "--out", tmp_path / "run")
    told = refused(capsys, "series", "forecast", tmp_path / "t.csv", *end)
    assert "if -99.9 stands for missing entries, give --na -99.9." in told
    assert "constant" not in told
    told = refused(capsys, "series", "forecast", tmp_path / "u.csv", *end)
    assert "add a constant" in told


def test_series_may_have_decimal_commas(tmp_path):
    for name, decimal in (("commas", ","), ("points", ".")):
        lines = text_of(";", decimal, dates=True).splitlines()
        (tmp_path / f"{name}.csv").write_text("\n".join([lines[0], *lines[7:]]))
        settings = ("--atoms", 2, "--window", 3, "--decimal", decimal)
        run("series", "impute", tmp_path / f"{name}.csv", *settings, "--out", tmp_path / name)
    one, other = (atomstream.load(tmp_path / name) for name in ("commas", "points"))
    assert_array_equal(one.components_, other.components_)
