"""Arrow, pandas and the definition of a field: the same numbers to the bit, or the same refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from atomstream.exceptions import InputError, MissingLibraryError
from atomstream.io import InputOptions, Naming, delimited, open_inputs

CONVERTERS = ("arrow", "pandas", "definition")
ODD = (
    *("", " ", "NA", " NA", "nan", "-nan", "nan(ind)", "-nan(1)", "NULL", "<NA>", "None", "#N/A"),
    *("1.#IND", "inf", "-Infinity", "+INF", "infinit", "True", "false", "yes", "1e400", "1e-400"),
    *("0x10", "1_000", "1d5", "1E", "1e+", ".5", "5.", ".", "-", "+", "+1", "--1", " 1.5 ", "1 2"),
    *("1,5", "1.234.5", "00012", "-0", "-0.0", "12345678901234567890", "0.1e-310", "1e5x"),
    *("\uff11", "\u2212" + "1", "<0.1", "#1", "1\t", "1;2", "1|2"),
)
numbers = st.floats(allow_nan=False).map(repr) | st.integers(-(10**20), 10**20).map(str)
digits = st.from_regex(r"[+-]?[0-9]{1,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,3})?", fullmatch=True)
fields = st.one_of(numbers, digits, st.sampled_from(ODD))
quoted = st.tuples(fields, st.booleans()).map(lambda pair: f'"{pair[0]}"' if pair[1] else pair[0])
NAMES = (
    "n",
    " n ",
    '"a, b"',
    '"a ""b"""',
    'a"b',
    '"a"b',
    "",
    "NA",
    '" n"',
    "caf\u00e9",
    '"two\nlines"',
)


def read_by(converter, path, options):
    """Return rows and names as one converter alone reads them, or the sentence."""
    with pytest.MonkeyPatch.context() as patch:
        if converter != "arrow":

            def missing(module, purpose):
                raise MissingLibraryError(module)

            patch.setattr(delimited, "library", missing)
        if converter == "definition":
            patch.setattr(delimited.DelimitedTable, "_converted", lambda self, part: None)
        try:
            blocks = [*open_inputs([str(path)], options)[0].blocks(0, 0)]
        except InputError as error:
            return str(error), None
    labels = [label for block in blocks for part in block.labels for label in part]
    X = np.concatenate([block.X for block in blocks])
    X[np.isnan(X)] = np.nan  # whose sign says nothing
    return X.tobytes(), labels


def check_same(path, **options):
    told = InputOptions(header="yes", naming=Naming(("name",), kept=True), **options)
    found = [read_by(converter, path, told) for converter in CONVERTERS]
    assert found[0] == found[1] == found[2]
    return found[0]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("converters") / "x.csv"


@given(rows=st.lists(st.tuples(st.sampled_from(NAMES), quoted, quoted), min_size=1, max_size=6))
def test_all_converters_give_the_same_bits(path, rows):
    lines = "\n".join(",".join(row) for row in [("name", "a", "b"), *rows])
    path.write_text(lines, encoding="utf-8")
    check_same(path)
    check_same(path, on_bad_line="skip")


@given(rows=st.lists(st.tuples(st.just("n"), fields, fields), min_size=1, max_size=6))
def test_all_converters_give_the_same_bits_with_decimal_commas(path, rows):
    lines = (";".join(field.replace(".", ",") for field in row) for row in rows)
    path.write_text("\n".join(["name;a;b", *lines]), encoding="utf-8")
    check_same(path, decimal=",", delimiter=";", on_bad_line="skip")


@pytest.mark.parametrize("field", ODD)
def test_fields_that_are_hardly_numbers(path, field):
    path.write_text(f'name,a,b\nn,"{field}",1\nm,2,3\n', encoding="utf-8")
    check_same(path)


@pytest.mark.parametrize(
    "line", ["n,1", "n,1,2,3", "n", ",,", "n,1,2,", 'n,"1,2', 'n,1,"2"x', "  ", "\t", '"n,1,2']
)
def test_lines_of_another_width(path, line):
    path.write_text(f"name,a,b\nm,2,3\n{line}\no,4,5\n", encoding="utf-8")
    check_same(path)
    rows, names = check_same(path, on_bad_line="skip")
    assert len(names) == 3 - (not line.strip(" "))
    assert_array_equal(np.frombuffer(rows).reshape(-1, 2)[[0, -1]], [[2, 3], [4, 5]])


@pytest.mark.parametrize("text", ["1\n\n2\n", '1\n""\n2\n', "1\n \n2\n", "1\r\n\r\n2\r\n\r\n"])
def test_blank_lines_of_one_column_are_missing_entries(path, text):
    path.write_bytes(b"a\n" + text.encode())
    for converter in CONVERTERS:
        rows, _ = read_by(converter, path, InputOptions(header="yes"))
        assert_array_equal(np.frombuffer(rows), [1, np.nan, 2])
