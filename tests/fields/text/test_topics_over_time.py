"""Topics from the command line: over time, and in each document with its id."""

import csv
import json
import re
from datetime import date, timedelta

import numpy as np
import pytest
from commands import run
from numpy.testing import assert_allclose, assert_array_equal

import atomstream
from atomstream import TopicModel
from atomstream.cli import main
from atomstream.fields.text.topic_shares import fitting
from atomstream.files.codec import read_model
from atomstream.looks.pages import sections_of
from atomstream.runs.record import open_record
from atomstream.watch.lives import lives_of

WORDS = (["cat", "dog", "horse"], ["stock", "bond", "market"], ["goal", "match", "team"])
N = 240
RNG = np.random.default_rng(0)
DAYS = [date(2001, 1, 1) + timedelta(days=3 * i) for i in range(N)]
# The first subject fades, the second comes.
SUBJECTS = [RNG.choice(3, p=[0.8 * (1 - i / N), 0.8 * i / N, 0.2]) for i in range(N)]
TEXTS = [" ".join(RNG.choice(WORDS[subject], 6)) for subject in SUBJECTS]
COMMON = ("--topics", 3, "--epochs", 3, "--batch-size", 40)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("topics")
    days = ["" if i in (5, 7) else str(day) for i, day in enumerate(DAYS)]
    rows = list(zip([f"D,{i:03}" for i in range(N)], days, TEXTS, strict=True))
    with open(folder / "docs.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("key", "when", "body"), *rows])
    lines = (json.dumps(dict(zip(("key", "when", "body"), row, strict=True))) for row in rows)
    (folder / "docs.jsonl").write_text("\n".join(lines))
    named = ("--text", "body", "--date", "when", "--id", "key")
    run("text", "topics", folder / "docs.csv", *named, *COMMON, "--out", folder / "run")
    return folder


def test_a_date_gives_topics_over_time(folder, room):
    model = atomstream.load(folder / "run")
    dated = [i for i in range(N) if i not in (5, 7)]
    expected = model.topics_over_time(
        [TEXTS[i] for i in dated], np.array([DAYS[i] for i in dated], "datetime64[D]"), freq="M"
    )
    head, *rows = read(folder / "run/topics_over_time.csv")
    assert head == ["start", "documents", "topic_0", "topic_1", "topic_2"]
    assert [row[0] for row in rows] == expected.starts.astype(str).tolist()
    assert_array_equal([int(row[1]) for row in rows], expected.n_documents)
    shares = np.array([row[2:] for row in rows], float)
    assert_allclose(shares, expected.shares)
    assert_allclose(shares.sum(axis=1), 1)
    fades = np.argmax([topic[0][0] in WORDS[0] for topic in model.top_words(1)])
    room.share(shares[:4, fades].mean(), at_least=0.5)
    room.error(shares[-4:, fades].mean(), at_most=0.3)


def test_the_report_shows_topics_over_time(folder):
    pytest.importorskip("matplotlib")
    record = open_record(folder / "run")
    section = next(part for part in sections_of(record) if part.name == "over_time")
    assert "each month, by the dates in 'when'" in section.caption
    assert "2 documents without a date left out." in section.caption
    curve = next(a for a in section.figure.axes if a.get_title(loc="left").startswith("topic 0"))
    assert_allclose(curve.lines[0].get_ydata(), 100 * record.notes["time_shares"][:, 0])


def test_lives_have_dates_where_documents_come_by_their_dates(folder, tmp_path):
    named = ("--text", "body", "--date", "when", "--no-shuffle")
    run("text", "topics", folder / "docs.csv", *named, *COMMON, "--out", tmp_path / "run")
    record = open_record(tmp_path / "run")
    kept = [i for i in range(N) if i not in (5, 7)]
    dates = [str(DAYS[i]) for i in kept] + ["NaT"] * 2
    counts = record.model.count([TEXTS[i] for i in (*kept, 5, 7)])
    twin = TopicModel(3, batch_size=40, n_epochs=3, random_state=0)
    twin.begin(TEXTS)
    twin.fit_counts(counts, shuffle=False)
    assert_allclose(twin.components_, record.model.components_)
    lives = lives_of(record.history, record.notes)
    assert len(lives.moments) > 3
    for moment in lives.moments:
        assert moment.when == dates[(moment.n_samples - 1) % N]
    (became,) = (part for part in sections_of(record) if part.name == "became")
    late = [event.when for event in lives.events if event.n_samples > lives.formed]
    assert late
    assert [row[became.columns.index("date")] for row in became.rows] == late[::-1]
    with open(tmp_path / "run/history.jsonl", encoding="utf-8") as file:
        told = [line for line in map(json.loads, file) if "event" in line]
    assert [line["when"] for line in told] == [event.when for event in lives.events]


def test_what_is_learned_does_not_depend_on_dates_and_ids(folder, tmp_path):
    run("text", "topics", folder / "docs.csv", "--column", "body", *COMMON, "--out", tmp_path / "a")
    named = ("--text", "body", "--date", "when", "--freq", "year", "--id", "key")
    run("text", "topics", folder / "docs.jsonl", *named, *COMMON, "--out", tmp_path / "b")
    one, two, three = (atomstream.load(p) for p in (tmp_path / "a", tmp_path / "b", folder / "run"))
    assert_array_equal(one.components_, two.components_)
    assert_array_equal(one.components_, three.components_)
    assert [row[0] for row in read(tmp_path / "b/topics_over_time.csv")[1:]] == [
        "2001-01-01",
        "2002-01-01",
    ]
    assert not (tmp_path / "a/topics_over_time.csv").exists()
    assert "time_shares" not in read_model(tmp_path / "a/model.atoms")[1]


@pytest.mark.parametrize("name", ["docs.csv", "docs.jsonl"])
def test_encode_gives_the_shares_of_each_document_with_its_id_and_date(folder, tmp_path, name):
    run("encode", folder / "run", folder / name, "--out", tmp_path / "s.csv")
    head, *rows = read(tmp_path / "s.csv")
    assert head == ["key", "when", "topic_0", "topic_1", "topic_2"]
    assert [row[0] for row in rows] == [f"D,{i:03}" for i in range(N)]
    assert rows[5][1] == ""
    assert rows[6][1] == str(DAYS[6])
    shares = np.array([row[2:] for row in rows], float)
    assert_allclose(shares, atomstream.load(folder / "run").topic_shares(TEXTS))
    assert_allclose(shares.sum(axis=1), 1)


def test_new_documents_have_shares_too_and_empty_ones_none(folder, tmp_path):
    lines = ["who,body,more", 'a,"cat dog",1', "b,,2", "c,zyzzyva,3", "d,the,4"]
    (tmp_path / "new.csv").write_text("\n".join(lines))
    common = ("encode", folder / "run", tmp_path / "new.csv", "--id", "who", "--id", "more")
    run(*common, "--out", tmp_path / "s.csv")
    head, *rows = read(tmp_path / "s.csv")
    assert head == ["who", "more", "topic_0", "topic_1", "topic_2"]
    assert [row[:2] for row in rows] == [["a", "1"], ["b", "2"], ["c", "3"], ["d", "4"]]
    shares = np.array([row[2:] for row in rows], float)
    assert_allclose(shares[0].sum(), 1)
    assert np.isnan(shares[1:]).all()  # nothing, an unknown word, nothing but a stop word


def test_a_line_of_json_without_text_has_no_shares_and_does_not_end_encode(
    folder, tmp_path, capsys
):
    lines = ['{"body": "cat dog"}', '{"title": "cat"}', '{"body": null}', '{"body": "bond"}']
    (tmp_path / "new.jsonl").write_text("\n".join(lines))
    run("encode", folder / "run", tmp_path / "new.jsonl", "--out", tmp_path / "s.csv")
    shares = np.array([row[-3:] for row in read(tmp_path / "s.csv")[1:]], float)
    assert_array_equal(np.isnan(shares).all(axis=1), [False, True, True, False])
    for line, told in (
        (lines[1], "no line has text in the field 'body'; fields of the last one are title"),
        ('{"body": 5}', "line 1: no text in the field 'body'"),
    ):
        (tmp_path / "new.jsonl").write_text(line)
        command = ("encode", folder / "run", tmp_path / "new.jsonl", "--out", tmp_path / "t.csv")
        assert main([*map(str, command)]) == 2
        assert told in capsys.readouterr().err
        assert not (tmp_path / "t.csv").exists()


def test_files_that_are_documents_are_named(folder, tmp_path):
    (tmp_path / "texts").mkdir()
    for i in range(4):
        (tmp_path / f"texts/{i}.txt").write_text(TEXTS[i])
    run("text", "topics", tmp_path / "texts", "--per", "file", *COMMON, "--out", tmp_path / "run")
    run("encode", tmp_path / "run", tmp_path / "texts", "--out", tmp_path / "s.csv")
    rows = read(tmp_path / "s.csv")
    assert [row[0] for row in rows] == ["file", "0.txt", "1.txt", "2.txt", "3.txt"]


@pytest.mark.parametrize(
    ("lines", "options", "words"),
    [
        (
            ["2001-01-01", "03/02/2003"],
            (),
            "line 3 holds '03/02/2003', .* is not clear; say --dates",
        ),
        (["2001-01-01", "2001-13"], (), r"line 3 holds '2001-13', needed are dates"),
        (["", " "], (), "has no dates in 'when'"),
        (["0001-01-01", "2001-01-01"], ("--freq", "day"), "730,486 spans; correct them"),
        (["2001-01-01"], ("--date", "day"), "no column 'day'; it has 2: 'when', 'body'"),
        (["2001-01-01"], ("--id", "key"), "no column 'key'; it has 2: 'when', 'body'"),
    ],
)
def test_dates_that_cannot_be_are_refused_before_learning(tmp_path, capsys, lines, options, words):
    rows = "\n".join(["when,body", *(f"{line},cat dog" for line in lines)])
    (tmp_path / "docs.csv").write_text(rows)
    command = ["text", "topics", tmp_path / "docs.csv", "--text", "body", "--date", "when"]
    command += [*options, "--out", tmp_path / "run"]
    assert main([*map(str, command)]) == 2
    assert re.search(words, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


def test_dates_of_lines_are_refused(tmp_path, capsys):
    (tmp_path / "docs.txt").write_text("cat dog\nstock bond\n")
    command = ("text", "topics", tmp_path / "docs.txt", "--date", "when", "--out", tmp_path / "run")
    assert main([*map(str, command)]) == 2
    assert "has no columns, so none is called 'when'" in capsys.readouterr().err
    assert main(["text", "topics", str(tmp_path / "docs.txt"), "--freq", "day", "--out", "r"]) == 2
    assert "--freq day needs --date" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("days", "unit"), [(3, "day"), (30, "day"), (60, "week"), (300, "month"), (3000, "year")]
)
def test_spans_suit_the_dates(days, unit):
    times = np.array(["2001-01-01", "2001-01-01"], "datetime64[s]")
    times[1] += np.timedelta64(days, "D")
    assert fitting(times) == unit
