"""Networks of words: how often one word follows another."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from atomstream.base import check_count
from atomstream.fields.networks.network import Network
from atomstream.fields.text.vocabulary import composed, followed

STOPS = frozenset(".?!;:")
PIECE = 2**20  # tokens that are counted at a time

ENGLISH = """
a an the this that these those each every either neither any some no all both half several many
much more most few fewer less least little enough such other another one two first last same own i
me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers
herself it its itself they them their theirs themselves who whom whose which what whatever whoever
something somebody someone anything anybody anyone nothing nobody none everything everybody
everyone about above across after against along among around as at before behind below beneath
beside besides between beyond by despite down during except for from in inside into like near of
off on onto out outside over past round since than through throughout till to toward towards under
underneath until up upon via with within without and but or nor so yet if unless because although
though while whereas whether once lest am is are was were be been being have has had having do
does did done doing can could may might must shall should will would ought need dare used not
never always ever often seldom sometimes again also almost already away back else even far further
here hence how however indeed instead just merely maybe now only perhaps quite rather really still
then there therefore thus together too very well when whenever where wherever why
"""
FUNCTION_WORDS: tuple[str, ...] = tuple(ENGLISH.split())


def word_adjacency(
    text: str | Iterable[str],
    words: Sequence[str] | None = None,
    window: int = 10,
    *,
    decay: float = 1.0,
) -> Network:
    r"""Return the directed network of how often one word follows another in a sentence.

    Entry (u, v) is :math:`\sum_{d=1}^{window} decay^{d-1} n_d(u, v)` with n_d the number of times v
    comes d words after u in one sentence. Sentences end at . ? ! ; and :, and case does not matter.
    Other words count as words in between.

    Parameters
    ----------
    text : str or iterable of str
        The text, or its lines or other pieces (cut between words), one after the other. They are
        not stored.
    words : sequence of str, optional
        The nodes, in this order and in small letters; by default the English `FUNCTION_WORDS`.
    window : int, default=10
        Number of words after a word that count.
    decay : float, default=1.0
        Factor of the weight for each word further away, above 0 and at most 1; the published
        matrices used 0.75.

    Returns
    -------
    Network
        Directed; ``network.out`` is the matrix, ``network.labels`` the words in small letters.

    Raises
    ------
    ValueError
        If there are no words or words repeat, for settings out of range, and for text in which
        none of the words follows another.

    References
    ----------
    Segarra, Eisen, Ribeiro (2015), "Authorship attribution through function word adjacency
    networks"; Lyu, Needell, Balzano, section 6.2.

    Examples
    --------
    >>> network = word_adjacency("He came and he went. And then?", ["he", "and"], window=2)
    >>> network.out.toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    listed = [_plain(word) for word in (FUNCTION_WORDS if words is None else words)]
    if isinstance(words, str) or not listed or len(set(listed)) < len(listed):
        raise ValueError(f"words must be a sequence of different words, got {words!r:.80}.")
    for word in listed:
        if not re.fullmatch(_word_pattern(), word):
            raise ValueError(
                f"words has {word!r}, which is not one word of letters and inner apostrophes."
            )
    if not isinstance(text, str) and (isinstance(text, bytes) or not isinstance(text, Iterable)):
        raise ValueError(f"text must be a str or pieces of it, got {type(text).__name__}.")
    check_count("window", window)
    if not 0 < decay <= 1:
        raise ValueError(f"decay must be above 0 and at most 1, got {decay!r}.")
    counts: Any = sp.csr_array((len(listed), len(listed)))
    before = np.empty((2, 0), dtype=np.int64)
    pieces = [text] if isinstance(text, str) else text
    numbers = {word: number for number, word in enumerate(listed)}
    for piece in _places(pieces, numbers):
        tokens = np.concatenate([before, piece], axis=1)
        counts = counts + _near(tokens, before.shape[1], window, decay, len(listed))
        # The last words of a piece have their followers in the next one.
        before = tokens[:, -window:]
    if not counts.nnz:
        raise ValueError(
            f"In the text none of the {len(listed)} words follows another within {window} words."
        )
    return Network.of(counts, labels=listed, directed=True)


def _plain(text: object) -> str:
    """Return a text in small letters, with one kind of apostrophe and of accents."""
    if not isinstance(text, str):
        raise ValueError(f"words and text must be str, got {type(text).__name__}.")
    return composed(text.lower()).replace("\u2019", "'")


def _word_pattern() -> str:
    letter = r"[^\W\d_]"
    letters = letter + "+" + followed(letter)
    return rf"{letters}(?:'{letters})*"


def _places(pieces: Iterable[str], numbers: dict[str, int]) -> Iterator[NDArray]:
    """Yield the tokens of a text in blocks: numbers of words (-1 if unknown) and of sentences."""
    found: list[tuple[int, int]] = []
    sentence = 0
    for piece in pieces:
        for token in re.findall(_word_pattern() + "|[.?!;:]", _plain(piece)):
            if token in STOPS:
                sentence += 1
                continue
            found.append((numbers.get(token, -1), sentence))
            if len(found) == PIECE:
                yield np.array(found, dtype=np.int64).T
                found = []
    if found:
        yield np.array(found, dtype=np.int64).T


def _near(tokens: NDArray, n_before: int, window: int, decay: float, n_words: int) -> Any:
    """Return weighted counts of pairs whose second token is not among the first ``n_before``."""
    (word, sentence), parts = tokens, []
    for distance in range(1, min(window, len(word) - 1) + 1):
        start = max(n_before - distance, 0)
        tail, head = word[start:-distance], word[start + distance :]
        together = sentence[start:-distance] == sentence[start + distance :]
        # A pair never reaches across the end of a sentence.
        good = (tail >= 0) & (head >= 0) & together
        parts.append((tail[good], head[good], np.full(int(good.sum()), decay ** (distance - 1))))
    if not parts:
        return sp.csr_array((n_words, n_words))
    tails, heads, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.coo_array((weights, (tails, heads)), (n_words, n_words)).tocsr()
