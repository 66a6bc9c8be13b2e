"""Channels of mutations in the classes and colours of the field, of 96, 78 and 83 channels."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SUBSTITUTION = re.compile(r"([ACGT])\[(([CT])>[ACGT])\]([ACGT])")
DOUBLET = re.compile(r"([ACGT]{2})>([ACGT]{2})")
# 2:Del:R:0 of SigProfiler, and DEL:repeats:2:0 or DEL_repeats_2_0 of PCAWG and ICAMS.
INDELS = (
    re.compile(r"(?P<length>[1-5]):(?P<way>Del|Ins):(?P<at>[CTRM]):(?P<number>[0-5])"),
    re.compile(r"(?P<way>DEL|INS)[:_](?P<at>C|T|r|M)\w*[:_](?P<length>\d)\+?[:_](?P<number>\d)\+?"),
)


def _substitution(channel: str) -> tuple[str, str] | None:
    """Return the class of a channel and its three bases; None for channels of other kinds."""
    found = SUBSTITUTION.fullmatch(channel)
    return (found[2], found[1] + found[3] + found[4]) if found else None


def _doublet(channel: str) -> tuple[str, str] | None:
    """Return the two bases before and after."""
    found = DOUBLET.fullmatch(channel)
    return (found[1], found[2]) if found else None


def _indel(channel: str) -> tuple[str, str] | None:
    """Return the class, such as DR2 (deletions of two bases at repeats), and the number in it."""
    found = INDELS[0].fullmatch(channel) or INDELS[1].fullmatch(channel)
    if not found:
        return None
    way, at, number = found["way"][0], found["at"].upper(), int(found["number"])
    # What was deleted is one more of those that are left; an insertion counts those before it.
    label = number + (way == "D" and at != "M")
    return f"{way}{at}{found['length']}", f"{label}+" if number == 5 else str(label)


class Kind(NamedTuple):
    """A kind of mutations: its classes, each with a heading and a colour, and what joins them.

    Attributes
    ----------
    read : callable
        Returns the class of a channel and its label in it.
    classes : dict of str to (heading, colour)
    groups : tuple of (text above, text below, number of classes)
    """

    read: Callable[[str], tuple[str, str] | None]
    classes: dict[str, tuple[str, str]]
    groups: tuple[tuple[str, str, int], ...] = ()


def _classes(names: str, headings: str, colors: str) -> dict[str, tuple[str, str]]:
    """Return the heading and the colour of each class."""
    pairs = zip(headings.split(), colors.split(), strict=True)
    return dict(zip(names.split(), pairs, strict=True))


BASES = "C>A C>G C>T T>A T>C T>G"
PAIRS = "AC AT CC CG CT GC TA TC TG TT"
# Deletions and insertions of one base, of 2 to 5 and more at repeats, deletions at microhomology.
LENGTHS = "DC1 DT1 IC1 IT1 DR2 DR3 DR4 DR5 IR2 IR3 IR4 IR5 DM2 DM3 DM4 DM5"
# Colours of the pages of COSMIC for substitutions, of SigProfilerPlotting for the others.
KINDS = (
    Kind(_substitution, _classes(BASES, BASES, "#1EBFF0 #050708 #E62725 #CBCACB #A1CF64 #EDC8C5")),
    Kind(
        _doublet,
        _classes(
            PAIRS,
            " ".join(f"{pair}>NN" for pair in PAIRS.split()),
            "#03BDEF #0366CC #A2CF63 #016601 #FF9999 #E42926 #FFB266 #FF8001 #CC99FF #4C0199",
        ),
    ),
    Kind(
        _indel,
        _classes(
            LENGTHS,
            "C T C T 2 3 4 5+ 2 3 4 5+ 2 3 4 5+",
            "#FDBE6F #FF8002 #B0DD8B #36A12E #FDCAB5 #FC8A6A #F14432 #BC191A "
            "#D0E1F2 #94C4DF #4A98C9 #1764AB #E2E2EF #B6B6D8 #8683BD #62409B",
        ),
        (
            ("1 bp deletion", "homopolymer length", 2),
            ("1 bp insertion", "homopolymer length", 2),
            ("deletion at repeats (length)", "number of repeat units", 4),
            ("insertion at repeats (length)", "number of repeat units", 4),
            ("microhomology (length)", "microhomology length", 4),
        ),
    ),
)


def classed(channels: Sequence[str]) -> tuple[list[int], list[str], NDArray, Kind | None]:
    """Return channels class by class if all are of one kind, else as they are.

    Returns
    -------
    order : list of int
        Places of the channels in the table.
    labels : list of str
    classes : ndarray of int of shape (n_channels,)
        Numbers of the classes of the kind; -1 for channels of other kinds.
    kind : Kind or None
    """
    for kind in KINDS:
        read, known = [kind.read(channel) for channel in channels], list(kind.classes)
        keys = [(known.index(f[0]), f[1]) for f in read if f and f[0] in kind.classes]
        if keys and len(keys) == len(channels):
            order = sorted(range(len(keys)), key=keys.__getitem__)
            classes = np.array([keys[i][0] for i in order])
            return order, [keys[i][1] for i in order], classes, kind
    n_channels = len(channels)
    return list(range(n_channels)), list(channels), np.full(n_channels, -1), None
