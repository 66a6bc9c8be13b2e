"""Dates as people write them; files and frames of series give the same table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from atomstream.exceptions import InputError
from atomstream.io.dates import DateError, dates_of_texts
from atomstream.io.series_table import read_series
from atomstream.io.time_index import Times, regular_grid


@pytest.mark.parametrize(
    ("texts", "wanted", "zone"),
    [
        (
            ["2022-10-29 20:00:00+02:00", "2022-10-29 21:00:00+02:00"],
            ["29T18:00", "29T19:00"],
            "UTC",
        ),
        (["2022-10-29T20:00:00Z", "2022-10-29T21:00:00Z"], ["29T20:00", "29T21:00"], "UTC"),
        (["2022-10-29 20:00 UTC", "2022-10-29 21:00 UTC"], ["29T20:00", "29T21:00"], "UTC"),
        (["2022-10-29T20:00-0330", "2022-10-29T21:00-0330"], ["29T23:30", "30T00:30"], "UTC"),
        # Local days: 25 hours lie between these.
        (
            ["2022-10-30 00:00:00+02:00", "2022-10-31 00:00:00+01:00"],
            ["30T00:00", "31T00:00"],
            "local",
        ),
        (["2022/10/29 18:00", "2022/10/29 19:00"], ["29T18:00", "29T19:00"], ""),
        (["2022.10.29", "2022.10.30"], ["29", "30"], ""),
        (["29-Oct-2022", "30-OCT-2022"], ["29", "30"], ""),
        (["October 29, 2022", "October 30, 2022"], ["29", "30"], ""),
        (["20221029", "20221030"], ["29", "30"], ""),
        (["10/29/22 11:59 PM", "10/30/22 12:00 AM"], ["29T23:59", "30T00:00"], ""),
        (["29.10.2022", "30.10.2022"], ["29", "30"], ""),
        (["2022-10-29 18:00:00.5", "2022-10-29 18:00:01"], ["29T18:00:00.5", "29T18:00:01"], ""),
    ],
)
def test_forms_of_dates(texts, wanted, zone):
    found = dates_of_texts(texts)
    assert_array_equal(found.labels, np.array([f"2022-10-{day}" for day in wanted], "M8[ms]"))
    assert found.zone == zone


def test_months_quarters_and_weeks():
    for texts, wanted in (
        (["2020-04", "2020-05"], ["2020-04", "2020-05"]),
        (["Apr 2020", "May 2020"], ["2020-04", "2020-05"]),
        (["2020M04", "2020M05"], ["2020-04", "2020-05"]),
        (["202004", "202005"], ["2020-04", "2020-05"]),
        (["2020Q2", "2020-Q3"], ["2020-04", "2020-07"]),
        (["Q2 2020", "Q3 2020"], ["2020-04", "2020-07"]),
    ):
        labels = dates_of_texts(texts).labels
        assert labels.dtype == "M8[M]"
        assert_array_equal(labels, np.array(wanted, "M8[M]"))
    assert_array_equal(
        dates_of_texts(["2020-W05", "2020-W06"]).labels,
        np.array(["2020-01-27", "2020-02-03"], "M8[D]"),
    )


def test_day_and_month_follow_from_the_dates_or_from_the_option():
    for texts, wanted in (
        (["1/31/2022", "2/1/2022"], "2022-01-31"),
        (["31/1/2022", "1/2/2022"], "2022-01-31"),
        (["9/10/2021", "10/10/2021", "1/11/2021"], "2021-10-09"),  # rises by days first alone
    ):
        assert dates_of_texts(texts).labels[0] == np.datetime64(wanted)
        assert "taken for the first number" in dates_of_texts(texts).guess
    with pytest.raises(DateError) as raised:
        dates_of_texts(["1/2/2022", "1/3/2022"])
    assert raised.value.ambiguous
    for order, wanted in (("day-first", "2022-02-01"), ("month-first", "2022-01-02")):
        assert dates_of_texts(["1/2/2022", "1/3/2022"], order).labels[0] == np.datetime64(wanted)


@pytest.mark.parametrize(
    "text", ["2022-02-30", "2022-13-01", "31/31/2022", "noon", "2022-01-01 25:00"]
)
def test_what_is_no_date_is_named(text):
    with pytest.raises(DateError) as raised:
        dates_of_texts(["2022-01-01", text])
    assert str(raised.value).startswith(text.split(" ")[0])


# -- the same table from a file and from a frame

DAYS = pd.date_range("2021-12-30", periods=6, name="day")
HOURS = pd.date_range("2022-10-29 20:00", periods=60, freq="h", tz="Europe/Berlin", name="time")


def frame_of(index):
    values = np.random.default_rng(0).random((len(index), 2)).round(3)
    values[1, 0] = np.nan
    return pd.DataFrame(values, index, columns=["a", "b"])


@pytest.mark.parametrize(
    "frame",
    [
        frame_of(DAYS),
        frame_of(HOURS),
        frame_of(HOURS.tz_convert("UTC")),
        frame_of(DAYS.tz_localize("Europe/Berlin")),
        frame_of(pd.period_range("2020-01", periods=6, freq="M", name="month")),
        frame_of(pd.period_range("2020Q1", periods=6, freq="Q", name="quarter")),
        frame_of(DAYS.astype(str)),
        frame_of(DAYS).reset_index(),
        frame_of(DAYS).reset_index()[["a", "day", "b"]].rename(columns={"day": "Date"}),
        frame_of(pd.Index([2001, 2002, 2003], name="year")),
    ],
    ids=[
        "days",
        "zone",
        "UTC",
        "local days",
        "months",
        "quarters",
        "texts",
        "column",
        "Date",
        "years",
    ],
)
def test_files_and_frames_give_the_same_table(tmp_path, frame):
    path = tmp_path / "x.csv"
    counts = isinstance(frame.index, pd.RangeIndex)
    frame.to_csv(path, index=not counts)
    time = "year" if frame.index.name == "year" else None
    one, other = read_series(path, time=time), read_series(frame)
    assert_array_equal(one.values, other.values)
    assert one.names == other.names
    assert_array_equal(one.labels, other.labels)
    assert (one.time, one.zone, one.labels.dtype) == (other.time, other.zone, other.labels.dtype)
    out = tmp_path / "out.csv"
    one.write(out, one.names, one.labels, one.values)  # a table that was written is read again
    again = read_series(out, time=time)
    assert_array_equal(again.labels, one.labels)
    assert_array_equal(again.values, one.values)


def test_frames_are_read_by_the_options_of_files():
    frame = frame_of(DAYS).astype(object)
    frame.iloc[2, 1], frame.iloc[3, 0], frame.iloc[4, 1] = "<0.5", "-", -99
    table = read_series(frame, missing=("-", "-99"), below_limit="half")
    assert table.values[2, 1] == 0.25
    assert np.isnan(table.values[[3, 4], [0, 1]]).all()
    with pytest.raises(
        InputError, match=r"Row 2 of the frame .* has '<0.5' in column 'b'.*below-limit"
    ):
        read_series(frame, missing=("-",))
    with pytest.raises(InputError, match="delimiter is for files, and a frame was given"):
        read_series(frame, delimiter=";")
    nullable = frame_of(DAYS).convert_dtypes()
    assert_array_equal(read_series(nullable).values, frame_of(DAYS).to_numpy())
    assert_array_equal(
        read_series(pl.from_pandas(frame_of(DAYS).reset_index())).values, frame_of(DAYS).to_numpy()
    )


# -- absent rows, and rows of one time


@pytest.mark.parametrize(
    "index",
    [
        pd.date_range("2021-12-30", periods=12, name="day"),
        HOURS,
        pd.bdate_range("2022-01-03", periods=15, name="day"),
        pd.date_range("2022-01-31", periods=8, freq="ME", name="day"),
        pd.date_range("2022-01-15", periods=8, freq="MS", name="day") + pd.Timedelta(14, "D"),
        pd.date_range("2022-01-01", periods=8, freq="QS", name="day"),
        pd.Index(range(1900, 1990, 10), name="day"),
    ],
    ids=["days", "hours", "business days", "month ends", "the 15th", "quarters", "decades"],
)
def test_absent_rows_are_filled_in_or_named(tmp_path, index):
    frame = frame_of(index)
    path = tmp_path / "x.csv"
    frame.drop(index=[index[2], index[3]]).to_csv(path)
    name = index.name
    table = read_series(path, time=name)
    with pytest.raises(ValueError, match=r"must be evenly spaced.*--regular"):
        Times.of(table.labels)
    table = read_series(path, time=name, regular=True)
    assert_array_equal(table.labels, read_series(frame).labels)
    assert np.isnan(table.values[2:4]).all()
    assert_array_equal(table.values[4:], frame.to_numpy()[4:])
    assert "2 absent rows filled in" in table.guesses["rows"][1]


def test_times_that_follow_no_rule_are_not_filled_in(tmp_path):
    (tmp_path / "x.csv").write_text(
        "day,a\n2022-01-01,1\n2022-01-03,2\n2022-01-08,3\n2022-01-10,1\n"
    )
    with pytest.raises(InputError, match="follow no rule"):
        read_series(tmp_path / "x.csv", regular=True)
    assert_array_equal(regular_grid(np.array([1, 3, 9])), [1, 3, 5, 7, 9])


def test_rows_of_one_time(tmp_path):
    (tmp_path / "x.csv").write_text("day,a,b\n2022-01-01,1,\n2022-01-01,3,4\n2022-01-02,5,6\n")
    for how, wanted in (
        ("mean", [[2, 4], [5, 6]]),
        ("sum", [[4, 4], [5, 6]]),
        ("first", [[1, 4], [5, 6]]),
        ("last", [[3, 4], [5, 6]]),
    ):
        table = read_series(tmp_path / "x.csv", duplicates=how)
        assert_array_equal(table.values, wanted)
    assert len(read_series(tmp_path / "x.csv").values) == 3  # refused by who needs one row of each
    with pytest.raises(InputError, match="duplicates is 'max', needed is one of refuse, mean"):
        read_series(tmp_path / "x.csv", duplicates="max")


def test_a_bad_line_of_series_is_a_row_of_missing_entries_and_a_total_is_none(tmp_path):
    (tmp_path / "x.csv").write_text(
        "day,a\n2022-01-01,1\n2022-01-02,x\n2022-01-03,3\n2022-01-04,4\nTotal,\n"
    )
    with pytest.raises(InputError, match=r"Line 3 of .*'x' in column 'a'"):
        read_series(tmp_path / "x.csv")
    table = read_series(tmp_path / "x.csv", on_bad_line="skip")
    assert_array_equal(table.values, [[1], [np.nan], [3], [4]])
    assert table.labels[-1] == np.datetime64("2022-01-04")


@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("kind", ["dates", "texts", "slashes"])
def test_all_formats_find_the_column_of_times(tmp_path, kind, place):
    pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra io")
    days = pd.date_range("2020-01-01", periods=40)
    slashes = [f"{day.day}/{day.month}/{day.year}" for day in days]
    times = {"dates": days, "texts": days.astype(str), "slashes": slashes}[kind]
    frame = pd.DataFrame(np.random.default_rng(0).random((40, 2)), columns=["x", "y"])
    frame.insert(place, "date", times)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_feather(tmp_path / "x.feather")
    frame.to_json(tmp_path / "x.jsonl", orient="records", lines=True, date_format="iso")
    for source in (frame, *map(tmp_path.joinpath, ("x.csv", "x.parquet", "x.feather", "x.jsonl"))):
        table = read_series(source)
        assert (table.time, table.names) == ("date", ["x", "y"])
        assert (table.labels == days.to_numpy()).all()
        assert_allclose(table.values, frame[["x", "y"]])
    plain = frame.set_index("date").rename_axis(None) if kind == "dates" else None
    if plain is not None:
        plain.to_parquet(tmp_path / "plain.parquet")
        assert read_series(tmp_path / "plain.parquet").time == read_series(plain).time == "time"


@pytest.mark.parametrize("wrong", ["2020-13", "2020-02-30", "soon"])
def test_a_wrong_date_among_dates_is_named(tmp_path, wrong):
    path = tmp_path / "dates.csv"
    dates = [f"2020-{month:02}" for month in range(1, 10)]
    dates[4] = wrong
    frame = pd.DataFrame({"t": dates, "a": range(9)})
    frame.to_csv(path, index=False)
    for source in (path, frame):
        with pytest.raises(InputError, match=f"holds '{wrong}', needed are dates"):
            read_series(source)
