"""Layouts of files as people hand them over: eight of each kind, each with its right answer."""

import bz2
import gzip
from typing import Any, NamedTuple

import numpy as np

X = np.array(
    [
        [0.512, 0.25, 0.125],
        [0.75, 0.031, 0.5],
        [0.25, 0.875, 0.002],
        [0.1, 0.2, 0.3],
        [0.625, 0.7, 0.999],
        [0.4, 0.05, 0.6],
    ]
)
ABC = ["a", "b", "c"]
ROWS = [[f"{value:g}" for value in row] for row in X]
NAN = float("nan")


class Layout(NamedTuple):
    """A file, the options that it needs, and what its maker means, or the sentence about it."""

    data: bytes
    names: Any = None  # of the columns that are learned; None where the file has none
    rows: Any = X
    labels: Any = None  # what the rows are called
    options: Any = {}  # noqa: RUF012 - read only
    guessed: Any = ()  # options that were guessed and are to be told
    sentence: str = ""  # a pattern, where the file is refused
    ending: str = ".csv"


def table(*heads, rows=ROWS, sign=",", end="\n", last="\n"):
    """Return lines of text: the heads as they are, and rows."""
    return (end.join([*heads, *(sign.join(row) for row in rows)]) + last).encode()


def with_names(names, rows=ROWS):
    """Return rows with a name in front of each."""
    return [[str(name), *row] for name, row in zip(names, rows, strict=True)]


def changed(row, column, text):
    """Return the rows with another text in one field."""
    rows = [list(fields) for fields in ROWS]
    rows[row][column] = text
    return rows


def numbers(row, column, value):
    """Return the numbers of these rows."""
    found = X.copy()
    found[row, column] = value
    return found


NUMBERED = list(range(6))
LETTERS = [*"uvwxyz"]
COUNTS = np.array([[3, 0, 5], [1, 8, 2], [0, 0, 7], [4, 1, 1]], float)
COUNT_ROWS = [[f"{value:.0f}" for value in row] for row in COUNTS]
GRID = np.arange(18.0).reshape(6, 3)
COUNTRIES = ["Norway", "Peru", "Chad", "Laos", "Fiji", "Oman"]

HEADER = {
    "names": Layout(table("a,b,c"), ABC, guessed=("header",)),
    "none": Layout(table()),
    "range of pandas": Layout(table("0,1,2"), ["0", "1", "2"], guessed=("header",)),
    "range above counts": Layout(
        table("0,1,2", rows=COUNT_ROWS), ["0", "1", "2"], COUNTS, guessed=("header",)
    ),
    "wavelengths": Layout(table("400,450,500"), ["400", "450", "500"], guessed=("header",)),
    "falling wavenumbers": Layout(
        table("3998.5,2100.25,811.75"), ["3998.5", "2100.25", "811.75"], guessed=("header",)
    ),
    "years beside countries": Layout(
        table("country,2001,2002,2003", rows=with_names(COUNTRIES)),
        ["2001", "2002", "2003"],
        labels=COUNTRIES,
        options={"index": "country"},
        guessed=("header",),
    ),
    "a grid without header": Layout(
        table(rows=[[f"{value:.0f}" for value in row] for row in GRID]), None, GRID
    ),
}
INDEX = {
    "of pandas": Layout(
        table(",a,b,c", rows=with_names(NUMBERED)),
        ABC,
        labels=[*map(str, NUMBERED)],
        guessed=("header", "index"),
    ),
    "and range of pandas": Layout(
        table(",0,1,2", rows=with_names(NUMBERED)),
        ["0", "1", "2"],
        labels=[*map(str, NUMBERED)],
        guessed=("header", "index"),
    ),
    "of R's write.csv": Layout(
        table('"","a","b","c"', rows=with_names([f'"{name}"' for name in LETTERS])),
        ABC,
        labels=LETTERS,
        guessed=("header", "index"),
    ),
    "of R's write.table": Layout(
        table('"a" "b" "c"', rows=with_names([f'"row {i}"' for i in NUMBERED]), sign=" "),
        ABC,
        labels=[f"row {i}" for i in NUMBERED],
        guessed=("header", "index", "delimiter"),
    ),
    "by name": Layout(
        table("a,id,b,c", rows=[[r[0], n, *r[1:]] for r, n in zip(ROWS, LETTERS, strict=True)]),
        ABC,
        labels=LETTERS,
        options={"index": "id"},
    ),
    "none, though the first column has no name": Layout(
        table(",a,b,c", rows=with_names(NUMBERED)),
        ["", *ABC],
        np.column_stack([NUMBERED, X]),
        options={"index": "no"},
    ),
    "two levels": Layout(
        table(
            ",,a,b,c", rows=[[n, *r] for n, r in zip("ppqqrr", with_names("121212"), strict=True)]
        ),
        ABC,
        labels=[*"ppqqrr"],
        guessed=("header", "index"),
    ),
    "of text with a name": Layout(
        table("sample,a,b,c", rows=with_names(LETTERS)),
        sentence=r"column 'sample' is not numeric.*'u'.*--index sample",
    ),
}
COMMAS = [[field.replace(".", ",") for field in row] for row in ROWS]
DELIMITER = {
    "semicolons": Layout(table("a;b;c", sign=";", rows=ROWS), ABC, guessed=("header", "delimiter")),
    "tabs": Layout(table("a\tb\tc", sign="\t"), ABC, guessed=("header", "delimiter")),
    "blanks, as np.savetxt writes": Layout(table(sign=" "), None, guessed=("delimiter",)),
    "blanks that align": Layout(
        table(
            "    a      b   c", rows=[[f"{field:>7}" for field in row] for row in ROWS], sign=" "
        ),
        ABC,
        guessed=("header", "delimiter"),
    ),
    "named by the first line": Layout(table("sep=;", "a;b;c", sign=";"), ABC),
    "decimal commas": Layout(table("a;b;c", rows=COMMAS, sign=";"), ABC, options={"decimal": ","}),
    "decimal commas, not told": Layout(
        table("a;b;c", rows=COMMAS, sign=";"), sentence=r"decimal commas.*--decimal ,"
    ),
    "thousands": Layout(
        table("a,b,c", rows=changed(2, 1, '"12,345.5"')),
        ABC,
        numbers(2, 1, 12345.5),
        options={"thousands": ","},
    ),
}
ACCENTS = ["caf\u00e9", "na\u00efve", "\u20ac"]
ENCODING = {
    "byte order mark": Layout(b"\xef\xbb\xbf" + table("a,b,c"), ABC),
    "UTF-16 of Excel": Layout(
        b"\xff\xfe" + table("\t".join(ACCENTS), sign="\t").decode().encode("utf-16-le"), ACCENTS
    ),
    "UTF-16, the large end first": Layout(
        b"\xfe\xff" + table(",".join(ACCENTS)).decode().encode("utf-16-be"), ACCENTS
    ),
    "UTF-16 without a mark": Layout(
        table("a,b,c").decode().encode("utf-16-le"), sentence=r"zero bytes.*--encoding utf-16"
    ),
    "UTF-8": Layout(table(",".join(ACCENTS)), ACCENTS),
    "cp1252": Layout(
        table(",".join(ACCENTS)).decode().encode("cp1252"), ACCENTS, guessed=("encoding", "header")
    ),
    "told": Layout(
        table("\u010d,b,\u0142").decode().encode("cp1250"),
        ["\u010d", "b", "\u0142"],
        options={"encoding": "cp1250"},
    ),
    "told, and wrong": Layout(
        table("caf\u00e9,b,c").decode().encode("cp1252"),
        options={"encoding": "utf-8"},
        sentence=r"is not utf-8.*another --encoding",
    ),
}
MISSING = {
    "empty": Layout(table("a,b,c", rows=changed(2, 1, "")), ABC, numbers(2, 1, NAN)),
    "NA": Layout(table("a,b,c", rows=changed(2, 1, "NA")), ABC, numbers(2, 1, NAN)),
    "words of spreadsheets": Layout(
        table("a,b,c", rows=changed(2, 1, " #N/A")), ABC, numbers(2, 1, NAN)
    ),
    "a dash": Layout(
        table("a,b,c", rows=changed(2, 1, "-")),
        ABC,
        numbers(2, 1, NAN),
        options={"missing": ("-",)},
    ),
    "a dash, not told": Layout(
        table("a,b,c", rows=changed(2, 1, "n.d.")),
        sentence=r"[Ll]ine 4 of .*'n\.d\.' in column 'b'.*--na n\.d\.",
    ),
    "a number": Layout(
        table("a,b,c", rows=changed(2, 1, "-99.0")),
        ABC,
        numbers(2, 1, NAN),
        options={"missing": ("-99",)},
    ),
    "below a limit": Layout(
        table("a,b,c", rows=changed(2, 1, "<0.01")),
        ABC,
        numbers(2, 1, 0.005),
        options={"below_limit": "half"},
    ),
    "below a limit, not told": Layout(
        table("a,b,c", rows=changed(2, 1, "< 0.01")),
        sentence=r"[Ll]ine 4 of .*'< 0\.01' in column 'b'.*--below-limit",
    ),
}
QUOTING = {
    "numbers": Layout(table('"a","b","c"', rows=[[f'"{f}"' for f in row] for row in ROWS]), ABC),
    "a delimiter in a name": Layout(table('"a,1",b,c'), ["a,1", "b", "c"]),
    "a line end in a name": Layout(table('"a\n(m)",b,c'), ["a\n(m)", "b", "c"]),
    "line ends in names of rows": Layout(
        table("id,a,b,c", rows=with_names([f'"{n}\nof two"' for n in LETTERS])),
        ABC,
        labels=[f"{n}\nof two" for n in LETTERS],
        options={"index": "id"},
    ),
    "quotes in quotes": Layout(table('"a ""x""",b,c'), ['a "x"', "b", "c"]),
    "a quote that is not closed": Layout(
        table("a,b,c", rows=changed(2, 1, '"0.8')), sentence=r"[Ll]ine 4 of .*quot"
    ),
    "a quote within a field": Layout(
        table("id,a,b,c", rows=with_names([f'{i}" pipe' for i in NUMBERED])),
        ABC,
        labels=[f'{i}" pipe' for i in NUMBERED],
        options={"index": "id"},
    ),
    "both ends of lines, and a blank": Layout(
        table('"a", "b", "c"', end="\r\n", last="\r\n"), ["a", "b", "c"]
    ),
}
UNITS = "m,kg,%"
LINES = {
    "blank lines between": Layout(table("a,b,c", end="\n\n"), ABC),
    "blank lines at both ends": Layout(b"\n \n" + table("a,b,c", last="\n\n \n"), ABC),
    "blank lines in one column": Layout(
        b"level\n0.5\n\n0.25\n\n\n0.75\n\n",
        ["level"],
        np.array([[0.5], [NAN], [0.25], [NAN], [NAN], [0.75]]),
    ),
    "units below the header": Layout(
        table("a,b,c", UNITS), sentence=r"[Ll]ine 2 of .*'m' in column 'a'.*--skip-lines 2-2"
    ),
    "comments above": Layout(
        table("# logger 7", "# site 3", "a,b,c"), ABC, guessed=("skip_lines",)
    ),
    "a header behind a comment sign": Layout(table("# a,b,c"), ABC, guessed=("header",)),
    "a second header": Layout(
        table("a,b,c", rows=[*ROWS[:3], ABC, *ROWS[3:]]),
        sentence=r"[Ll]ine 5 of .*'a' in column 'a'.*--skip-lines 5-5",
    ),
    "a total": Layout(
        table("a,b,c", rows=[*ROWS, ["Total", "", ""]]),
        sentence=r"[Ll]ine 8 of .*'Total' in column 'a'.*--skip-lines 8-8",
    ),
}
DOUBLES = {
    "both are learned": Layout(table("a,a,c"), ["a", "a", "c"]),
    "chosen by name": Layout(
        table("a,a,c"), options={"columns": ("a",)}, sentence=r"two columns.* 'a'.*1 and 2"
    ),
    "left out by name": Layout(
        table("a,b,a"), options={"drop": ("a",)}, sentence=r"two columns.* 'a'.*1 and 3"
    ),
    "chosen by number": Layout(
        table("a,a,c"), ["a", "c"], X[:, 1:], options={"columns": ("2", "3")}
    ),
    "left out by number": Layout(table("a,a,c"), ["a", "c"], X[:, 1:], options={"drop": ("1",)}),
    "in a range": Layout(
        table("a,b,a"), options={"columns": ("b-a",)}, sentence=r"two columns.* 'a'.*1 and 3"
    ),
    "as an index": Layout(
        table("a,a,c"), options={"index": "a"}, sentence=r"two columns.* 'a'.*1 and 2"
    ),
    "without a name": Layout(
        table("a,b,c,", rows=[[*row, ""] for row in ROWS]), ABC, guessed=("header",)
    ),
}
PACKED = {
    "names": Layout(gzip.compress(table("a,b,c")), ABC, ending=".csv.gz"),
    "numbers above": Layout(gzip.compress(table("0,1,2")), ["0", "1", "2"], ending=".csv.gz"),
    "two members": Layout(
        gzip.compress(table("a,b,c", rows=ROWS[:3])) + gzip.compress(table(rows=ROWS[3:])),
        ABC,
        ending=".csv.gz",
    ),
    "UTF-16": Layout(
        gzip.compress(b"\xff\xfe" + table("a,b,c").decode().encode("utf-16-le")),
        ABC,
        ending=".csv.gz",
    ),
    "tabs": Layout(gzip.compress(table("a\tb\tc", sign="\t")), ABC, ending=".tsv.gz"),
    "cut off": Layout(
        gzip.compress(table("a,b,c", rows=ROWS * 50))[:-20],
        ending=".csv.gz",
        sentence=r"x\.csv\.gz cannot be read",
    ),
    "not packed": Layout(table("a,b,c"), ending=".csv.gz", sentence=r"x\.csv\.gz cannot be read"),
    "packed otherwise": Layout(
        bz2.compress(table("a,b,c")), ending=".csv.bz2", sentence="ending that is not known"
    ),
}
DAYS = np.arange("2021-12-30", "2022-01-05", dtype="M8[D]")
HOURS = np.arange("2022-01-31T09", "2022-01-31T15", dtype="M8[h]")


def dated(times, head="time,a,b,c"):
    """Return rows with their times in front."""
    return table(head, rows=with_names(times))


def european(day):
    """Return a date such as 01-Jun-2001."""
    return day.astype(object).strftime("%d-%b-%Y")


DATES = {
    "Z": Layout(dated([f"{t}:00:00Z" for t in HOURS]), ABC, labels=HOURS),
    "a zone": Layout(dated([f"{t}:00:00+02:00" for t in HOURS]), ABC, labels=HOURS - 2),
    "slashes, the year first": Layout(
        dated([f"{t.astype(object):%Y/%m/%d %H:%M}" for t in HOURS]), ABC, labels=HOURS
    ),
    "AM and PM, two digits of the year": Layout(
        dated([f"{t.astype(object):%m/%d/%y %I:%M %p}" for t in HOURS]), ABC, labels=HOURS
    ),
    "names of months": Layout(dated([*map(european, DAYS)]), ABC, labels=DAYS),
    "digits alone": Layout(dated([f"{d.astype(object):%Y%m%d}" for d in DAYS]), ABC, labels=DAYS),
    "quarters": Layout(
        dated([f"20{20 + i // 4}Q{i % 4 + 1}" for i in range(6)]),
        ABC,
        labels=np.arange("2020-01", "2021-07", 3, dtype="M8[M]"),
    ),
    "in a column called Date": Layout(
        table("a,Date,b,c", rows=[[r[0], str(d), *r[1:]] for r, d in zip(ROWS, DAYS, strict=True)]),
        ABC,
        labels=DAYS,
    ),
}
KINDS = {
    "header": HEADER,
    "index": INDEX,
    "delimiter": DELIMITER,
    "encoding": ENCODING,
    "missing": MISSING,
    "dates": DATES,
    "quoting": QUOTING,
    "lines": LINES,
    "doubles": DOUBLES,
    "packed": PACKED,
}
LAYOUTS = {f"{kind}: {name}": each for kind, all_ in KINDS.items() for name, each in all_.items()}
