"""Runs on documents: what they read, that they can be stopped, and their report."""

import csv
import gzip
import json
import re

import numpy as np
import pytest
from commands import plotted, refused, run
from numpy.testing import assert_array_equal

import atomstream
from atomstream import TopicModel
from atomstream.cli import main
from atomstream.fields.text.documents import DocumentFile, DocumentOptions, open_documents
from atomstream.fields.text.run import TextSettings, TextTask
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import open_record
from atomstream.runs.run import Run
from atomstream.watch.callbacks import History

COMMON = ("--topics", 3, "--batch-size", 30, "--epochs", 3)
WORDS = (
    ["cat", "dog", "horse", "mouse"],
    ["stock", "bond", "market", "trade"],
    ["goal", "match", "team", "league"],
)


def corpus():
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS[rng.integers(3)], 6)) for _ in range(100)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, documents = tmp_path_factory.mktemp("texts"), corpus()
    lines = "\n".join(documents) + "\n"
    (folder / "lines.txt").write_text(lines.replace("\n", "\n\n", 3))
    (folder / "lines.txt.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "rows.jsonl").write_text(
        "\n".join(json.dumps({"id": 1, "text": text}) for text in documents)
    )
    (folder / "table.csv").write_text(
        "id,body\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(documents))
    )
    (folder / "table.tsv").write_text(
        "id\tbody\n" + "".join(f"{i}\t{text}\n" for i, text in enumerate(documents))
    )
    (folder / "one.csv").write_text("body\n" + lines)
    (folder / "many").mkdir()
    for number, text in enumerate(documents):
        (folder / f"many/{number:03}.txt").write_text(text.replace(" ", "\n"))
    np.save(folder / "x.npy", np.random.default_rng(0).random((30, 4)))
    run("text", "topics", folder / "lines.txt", *COMMON, "--out", folder / "run")
    run("learn", folder / "x.npy", "--atoms", 2, "--out", folder / "rows")
    return folder


@pytest.mark.slow
def test_a_run_holds_what_the_class_learns(folder):
    model = TopicModel(3, batch_size=30, n_epochs=3, random_state=0).fit(corpus())
    again = atomstream.load(folder / "run")
    assert_array_equal(again.components_, model.components_)
    assert again.top_words() == model.top_words()


@pytest.mark.parametrize(
    "given",
    [
        ("lines.txt.gz",),
        ("rows.jsonl",),
        ("table.csv", "--column", "body"),
        ("table.tsv", "--column", "body"),
        ("one.csv",),
        ("many", "--per", "file"),
    ],
)
def test_documents_are_read_from_other_files(folder, given, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    run("text", "topics", *given, *COMMON, "--out", tmp_path / "run")
    again, model = atomstream.load(tmp_path / "run"), atomstream.load(folder / "run")
    assert_array_equal(again.components_, model.components_)


def test_several_files_are_one_after_the_other(folder):
    files = open_documents((str(folder / "one.csv"), str(folder / "lines.txt")), DocumentOptions())
    assert [text.strip() for file in files for text in file] == corpus() * 2


def test_a_run_that_was_stopped_goes_on_to_the_bit(folder, tmp_path, capsys):
    settings = TextSettings(
        (str(folder / "lines.txt"),), topics=3, batch_size=30, epochs=3, checkpoint_every=0.0
    )
    begun = RunFolder(tmp_path / "run")
    with begun.writing():
        session = Run(begun, TextTask(settings))
        begun.begin(settings, session.task.sources)
        saves = []
        save, begun.save = (
            begun.save,
            lambda *a: (save(*a), saves.append(1), len(saves) == 5 and session.stop("test")),
        )
        outcome = session.run(lambda text: History())
    assert not outcome.complete
    assert outcome.reason == "test"
    assert atomstream.load(tmp_path / "run").n_steps_ == 5
    run("inspect", tmp_path / "run")
    assert "1 of 3 passes complete" in capsys.readouterr().out
    run("resume", tmp_path / "run", "--json")
    assert json.loads(capsys.readouterr().out)["steps"] == 12
    assert_array_equal(
        atomstream.load(tmp_path / "run").components_, atomstream.load(folder / "run").components_
    )
    run("resume", tmp_path / "run")
    assert "Nothing is left to do" in capsys.readouterr().out
    run("resume", tmp_path / "run", "--epochs", 4)
    assert atomstream.load(tmp_path / "run").n_steps_ == 16


def test_rounds_after_the_passes_are_made_anew_where_they_were_stopped(folder, tmp_path):
    lines = str(folder / "lines.txt")
    run("text", "topics", lines, "--topics", 3, "--batch-size", 50, "--out", tmp_path / "whole")
    settings = TextSettings((lines,), topics=3, batch_size=50, checkpoint_every=0.0)
    begun = RunFolder(tmp_path / "run")
    seen = []

    class Stop(History):
        def on_fit_task_end(self, estimator, context):
            if context.task_name == "batch" and estimator.n_steps_ == 20:
                seen.append(estimator.n_steps_)
                if len(seen) == 3:  # the second of the rounds: the first was the last batch
                    session.stop("test")

    with begun.writing():
        session = Run(begun, TextTask(settings))
        begun.begin(settings, session.task.sources)
        outcome = session.run(lambda text: Stop())
    assert not outcome.complete
    assert len(seen) == 3
    stopped = atomstream.load(tmp_path / "run")
    assert not hasattr(stopped, "settled_")
    passes = TopicModel(3, batch_size=50, n_epochs=10, random_state=0).fit(corpus())
    assert_array_equal(stopped.components_, passes.components_)
    run("resume", tmp_path / "run")
    whole = atomstream.load(tmp_path / "whole")
    assert whole.settled_
    assert_array_equal(atomstream.load(tmp_path / "run").components_, whole.components_)


def test_a_config_does_the_same_again(folder, tmp_path):
    run("text", "topics", "--config", folder / "run/run.toml", "--out", tmp_path / "again")
    assert_array_equal(
        atomstream.load(tmp_path / "again").components_, atomstream.load(folder / "run").components_
    )


@pytest.mark.slow
def test_the_report_and_inspect(folder, capsys, monkeypatch):
    run("inspect", folder / "run")
    told = capsys.readouterr().out
    assert "3 topics of 32,768 features" in told
    assert "words by hashing" in told
    assert max(map(len, told.splitlines())) <= 118
    for words in WORDS:
        assert any(all(word in line for word in words) for line in told.splitlines())
    run("inspect", folder / "run", "--json")
    assert len(json.loads(capsys.readouterr().out)["topics"]) == 3
    run("report", folder / "run")
    page = (folder / "run/report.html").read_text()
    assert page.count("<figure>") == 2
    for told in (
        "Topics of lines.txt",
        "What was learned",
        "From what",
        "100",
        "features with a word",
        *WORDS[0],
    ):
        assert told in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    assert (folder / "run/figures/topics.png").exists()
    plotted(monkeypatch, folder / "run")


def test_models_without_a_run(folder, capsys):
    run("inspect", folder / "run/model.atoms")
    assert "3 topics of 32,768 features" in capsys.readouterr().out


def test_stop_words_come_from_files_and_best_documents_are_a_table(tmp_path, capsys):
    pets, money = ["cat", "dog", "horse"], ["stock", "bond", "market"]
    texts = [
        " ".join(["Mr", *np.random.default_rng(i).choice([pets, money][i % 2], 9)])
        for i in range(60)
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (tmp_path / "stop.txt").write_text("Mr\nMrs\n")
    words = f"english,dog,{tmp_path / 'stop.txt'}"
    settings = ("--topics", 2, "--vectorizer", "counts", "--ngrams", 2, "--stop-words", words)
    run("text", "topics", tmp_path / "d.jsonl", *settings, "--out", tmp_path / "run")
    names = atomstream.load(tmp_path / "run").vocabulary_.names
    assert not {"mr", "dog"} & {part for name in names for part in name.split()}
    assert "stock bond" in names
    with (tmp_path / "run/top_documents.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["topic"] for row in rows] == ["0"] * 4 + ["1"] * 4
    assert all(texts[int(row["document"])] == row["text"] for row in rows)
    assert all(float(row["share"]) > 0.9 for row in rows)
    capsys.readouterr()
    run("inspect", tmp_path / "run")
    assert "coherence" in capsys.readouterr().out


def test_paragraphs_are_documents_and_lines_of_paragraphs_are_told(tmp_path, capsys):
    blocks = [f"cat dog{n}\nhorse cow{n}\n  pig hen{n}\n" for n in range(9)]
    (tmp_path / "novel.txt").write_text("\n" + "\n \n".join(blocks))
    (tmp_path / "list.txt").write_text("\n\n".join(" ".join(block.split()) for block in blocks))
    words = ("text", "topics", "--topics", 2, "--vectorizer", "counts", "--epochs", 1)
    found, told = {}, {}
    for name, per in (("novel", "line"), ("novel", "paragraph"), ("list", "line")):
        out = tmp_path / f"{name}-{per}"
        run(*words, tmp_path / f"{name}.txt", "--per", per, "--out", out)
        told[out.name] = "--per paragraph" in capsys.readouterr().err
        found[out.name] = open_record(out).notes["n_documents"]
    assert found == {"novel-line": 27, "novel-paragraph": 9, "list-line": 9}
    assert told == {"novel-line": True, "novel-paragraph": False, "list-line": False}
    read = DocumentFile(tmp_path / "novel.txt", DocumentOptions(per="paragraph"))
    places, texts, _ = zip(*read.entries(), strict=True)
    assert places == tuple(f"line {2 + 5 * n}" for n in range(9))
    assert list(texts) == blocks
    run("encode", tmp_path / "novel-paragraph", tmp_path / "novel.txt", "--out", tmp_path / "c.csv")
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 10


def test_a_spreadsheet_of_answers_is_read_and_what_is_left_out_is_said(tmp_path, capsys):
    answers = [*corpus()[:20], "", "NA", " ", *corpus()[20:]]
    rows = [
        f'{n};"caf\u00e9 {text}"' if " " in text.strip() else f"{n};{text}"
        for n, text in enumerate(answers)
    ]
    rows[5] = rows[5].replace(";", ";\u2019")  # of cp1252 alone
    table = ("nr;answer\r\n" + "\r\n".join(rows) + "\r\n").encode("cp1252")
    (tmp_path / "a.csv").write_bytes(table)
    told = [None if not text.strip() else text for text in answers]
    told[3] = float("nan")  # as json.dumps writes it
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"answer": text}) + "\n" for text in told))
    (tmp_path / "b.csv").write_text("nr;answer;when\n1;a cat;2003-02-19\n2;the dog;\n")
    words = ("--column", "answer", "--topics", 2, "--epochs", 1, "--json")
    for name, more, n_empty in (("a.csv", ("--na", "NA"), 3), ("a.jsonl", (), 3)):
        skip = ("--on-bad-line", "skip", *more, "--out", tmp_path / f"run-{name}")
        run("text", "topics", tmp_path / name, *words, *skip)
        facts = json.loads(capsys.readouterr().out)
        assert facts["documents"] == len(answers) - n_empty
        why = "empty (--on-bad-line skip)"
        assert facts["left_out"] == [{"what": "documents", "count": n_empty, "why": why}]
        assert facts["alarms"] == []
        assert facts["warnings"] == []
        line = 22 if name == "a.csv" else 4
        told = ("text", "topics", tmp_path / name, *words[:-1], "--out", tmp_path / "none")
        sentence = refused(capsys, *told)
        assert f"{name}, line {line}: the document is empty" in sentence
    run("text", "topics", tmp_path / "b.csv", *words, "--date", "when", "--out", tmp_path / "dates")
    undated = {
        "what": "documents",
        "count": 1,
        "why": "without a date: not in the topics over time",
    }
    assert json.loads(capsys.readouterr().out)["left_out"] == [undated]


def test_stop_words_mean_the_same_as_words_and_in_a_file(tmp_path, capsys):
    (tmp_path / "t.txt").write_text("Mr. Cat didn't see the dog, of course\n" * 3)
    (tmp_path / "stop.txt").write_text("Mr.\ndidn't\nof course\n")
    words = ("text", "topics", tmp_path / "t.txt", "--topics", 1, "--vectorizer", "counts")
    for number, stop in enumerate(
        ("Mr.,didn't,of course", "mr,didn,of,course", tmp_path / "stop.txt")
    ):
        run(*words, "--epochs", 1, "--stop-words", stop, "--out", tmp_path / f"run{number}")
        names = atomstream.load(tmp_path / f"run{number}").vocabulary_.names
        assert [*names] == ["cat", "dog", "see", "the"]
    model = TopicModel(1, vectorizer="counts", stop_words=["Mr.", "didn't", "of course"])
    model.fit(["Mr. Cat didn't see the dog, of course"])
    assert [*model.vocabulary_.names] == ["cat", "dog", "see", "the"]
    assert "words such as" in refused(
        capsys, *words, "--stop-words", "german", "--out", tmp_path / "no"
    )


def test_runs_on_other_data_refuse_the_option(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("a cat\na dog\n" * 20)
    run = str(tmp_path / "run")
    arguments = ["text", "topics", str(tmp_path / "a.txt"), "--topics", "2", "--out", run]
    assert main([*arguments, "--epochs", "1"]) == 0
    arguments = ["encode", run, str(tmp_path / "a.txt"), "--out", str(tmp_path / "codes.csv")]
    assert main([*arguments, "--on-bad-line", "skip"]) == 2
    assert "--on-bad-line is for rows of numbers, and" in capsys.readouterr().err
