"""Word adjacency against counting by hand, and against the published matrix of a novel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from shared import DATA, needs_data

from atomstream import text
from atomstream.fields.text import word_network
from atomstream.fields.text.word_network import FUNCTION_WORDS, word_adjacency

WORDS = ["a", "b", "c"]


def slow(tokens, window, decay):
    matrix = np.zeros((3, 3))
    for i, tail in enumerate(tokens):
        for distance in range(1, window + 1):
            if i + distance >= len(tokens) or tokens[i + distance] == ".":
                break
            head = tokens[i + distance]
            if tail in WORDS and head in WORDS:
                matrix[WORDS.index(tail), WORDS.index(head)] += decay ** (distance - 1)
    return matrix


tokens_of = st.lists(st.sampled_from(["a", "b", "c", "x", "."]), min_size=2, max_size=40)


@given(tokens_of, st.integers(1, 6), st.sampled_from([1.0, 0.75]), st.integers(1, 9))
def test_counts_are_those_of_counting_by_hand_however_the_text_comes(tokens, window, decay, piece):
    expected = slow(tokens, window, decay)
    pieces = [" ".join(tokens[start : start + piece]) for start in range(0, len(tokens), piece)]
    whole, before = " ".join(tokens), word_network.PIECE
    if not expected.any():
        with pytest.raises(ValueError, match="none of the 3 words"):
            word_adjacency(whole, WORDS, window, decay=decay)
        return
    assert_allclose(word_adjacency(whole, WORDS, window, decay=decay).out.toarray(), expected)
    try:
        word_network.PIECE = piece  # blocks so small that windows reach over several
        assert_allclose(
            word_adjacency(iter(pieces), WORDS, window, decay=decay).out.toarray(), expected
        )
    finally:
        word_network.PIECE = before


def test_case_apostrophes_and_signs():
    network = word_adjacency("He DON'T, he don\u2019t - he_2 don't!", ["he", "don't"], window=1)
    assert_array_equal(network.out.toarray(), [[0, 3], [2, 0]])
    assert list(network.labels) == ["he", "don't"]


def test_accents_are_one_letter_however_they_are_written():
    assert (
        word_adjacency("cafe\u0301 nai\u0308f", ["caf\u00e9", "na\u00eff"], window=np.int64(1)).out[
            0, 1
        ]
        == 1
    )


def test_the_function_words_are_many_and_different():
    assert 200 <= len(FUNCTION_WORDS) == len(set(FUNCTION_WORDS))
    assert not {"whale", "huck"} & set(FUNCTION_WORDS)
    assert word_adjacency("It was the best of times, it was the worst of times.").out.nnz > 5


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("a b", "ab"), "words"),
        (("a b", []), "words"),
        (("a b", ["a", "A"]), "words"),
        (("a b", ["a"], 0), "window"),
        (("a b", ["x", "y"]), "none of the 2 words"),
        (("a b", ["of course"]), "of course"),
        (("a b", ["covid19"]), "covid19"),
        (("a b", [1, 2]), "must be str"),
        ((b"a b", ["a"]), "text must be"),
        (([b"a b"], ["a"]), "must be str"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, told):
    with pytest.raises(ValueError, match=told):
        word_adjacency(*arguments)
    with pytest.raises(ValueError, match="decay"):
        word_adjacency("a b", ["a"], decay=0)


@needs_data
def test_a_novel_gives_the_published_matrix_up_to_its_edition():
    matrices, stream = (
        np.load(DATA / "word_adjacency" / name)
        for name in ("wan_matrices.npz", "huckleberry_finn_stream.npz")
    )
    words = [str(word) for word in stream["words"]]
    signs = {-1: "zzz", -2: "."} | dict(enumerate(words))
    tokens = " ".join(signs[int(token)] for token in stream["tokens"])
    network = word_adjacency(tokens, words, 10, decay=0.75)
    published = matrices["matrices"][list(matrices["name"]).index("twain_1")] / 100
    ours = network.out.toarray()
    ours *= np.vdot(ours, published) / np.vdot(
        ours, ours
    )  # 1.029: the editions differ in length too
    assert (
        np.linalg.norm(ours - published) / np.linalg.norm(published) < 0.066
    )  # as the note on the data says


def test_marks_belong_to_the_words_of_a_network():
    words = ["\u0939\u093f\u0928\u094d\u0926\u0940", "\u092d\u093e\u0937\u093e"]
    network = word_adjacency(f"{words[0]} {words[1]}. {words[0]} cafe\u0301", [*words, "caf\u00e9"])
    assert_array_equal(network.out.toarray(), [[0, 1, 1], [0, 0, 0], [0, 0, 0]])


def test_a_network_of_words_has_directions_even_where_it_is_symmetric():
    assert text.word_adjacency("He and he. And he.", ["he", "and"], window=1).directed
