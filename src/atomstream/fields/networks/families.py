"""Families of atoms of a network: the same structure at different places of the motif."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atomstream.base import counted, lettered
from atomstream.looks.canvas import BLUE, ORANGE, Axes
from atomstream.looks.report import Section

# Cosine between atoms of one family. A star and the same star elsewhere have at least 0.99, blocks
# of five and of seven nodes 0.85.
MIN_COSINE = 0.95
HEAVY = 0.5  # of the largest sum of a row: nodes that hold an atom's structure


@dataclass(frozen=True)
class Family:
    """Atoms that show one structure at different places of the motif.

    Attributes
    ----------
    name : str
        A letter: A has the largest share.
    atoms : tuple of int
        Most important first.
    places : tuple of str
        Of each atom the nodes of the motif that its structure is at, such as "4" or "3-7".
    share : float
        Of the codes of the second half of the run.
    """

    name: str
    atoms: tuple[int, ...]
    places: tuple[str, ...]
    share: float


def families(model: Any) -> list[Family]:
    """Return the families of the atoms of a network dictionary, largest share first.

    Atoms are of one family if their edges beyond the motif agree up to the order of the nodes, as
    far as sorted degrees and singular values tell.

    Parameters
    ----------
    model : fitted NetworkDictionary
    """
    beyond = _beyond_the_motif(model)
    marks = [_marks(patch) for patch in beyond]
    groups: list[list[int]] = []
    # From the most important on: it leads its family, and others are compared with it alone, so
    # that families do not drift.
    for atom in np.argsort(-model.importance_, kind="stable").tolist():
        for group in groups:
            leader = marks[group[0]]
            if all(_cosine(*pair) >= MIN_COSINE for pair in zip(leader, marks[atom], strict=True)):
                group.append(atom)
                break
        else:
            groups.append([atom])

    def share(group: list[int]) -> float:
        return float(model.importance_[group].sum())

    groups.sort(key=share, reverse=True)
    places = [tuple(_place(beyond[atom]) for atom in group) for group in groups]
    return [
        Family(lettered(number), tuple(group), at, share(group))
        for number, (group, at) in enumerate(zip(groups, places, strict=True))
    ]


def family_names(model: Any) -> dict[int, str]:
    """Return for each atom that is not alone its family and its place, such as "A at 4"."""
    return {
        atom: f"{family.name} at {place}"
        for family in families(model)
        if len(family.atoms) > 1
        for atom, place in zip(family.atoms, family.places, strict=True)
    }


def family_sections(model: Any) -> list[Section]:
    """Return the section of a report that lists families of several atoms, or none."""
    facts = {
        f"family {family.name}": f"{counted(len(family.atoms), 'atom')}, share {family.share:.0%}, "
        f"at {', '.join(sorted(set(family.places), key=_first))}"
        for family in families(model)
        if len(family.atoms) > 1
    }
    caption = (
        "Atoms that show the same structure at different places of the motif, with the nodes of "
        "the motif, counted from 0, that it is at."
    )
    return [Section("families", "Families of atoms", caption, facts=facts)] if facts else []


def _beyond_the_motif(model: Any) -> NDArray:
    """Return the atoms in both directions, without loops and the edges of the motif."""
    # What every copy has would make all atoms alike.
    motif = model.motif_.adjacency() > 0
    free = ~(motif | motif.T | np.eye(model.motif_.size, dtype=bool))
    return np.where(free, model.components_ + model.components_.swapaxes(1, 2), 0)


def _marks(patch: NDArray) -> tuple[NDArray, NDArray]:
    """Return what does not change with the order of the nodes: degrees and singular values."""
    # The same structure at other nodes has the same of both; two structures with the same of both
    # would be hard to tell apart in a picture as well.
    return np.sort(patch.sum(axis=1))[::-1], np.linalg.svd(patch, compute_uv=False)


def _cosine(one: NDArray, other: NDArray) -> float:
    """Return the cosine between nonnegative vectors; two of zeros are alike."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else float(one.any() == other.any())


def _place(patch: NDArray) -> str:
    """Return the nodes that hold most of an atom, as numbers and ranges."""
    sums = patch.sum(axis=1)
    nodes = np.flatnonzero((sums >= HEAVY * sums.max()) & (sums > 0))
    runs = np.split(nodes, np.flatnonzero(np.diff(nodes) > 1) + 1)
    named = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs if len(run)]
    return " ".join(named) or "no node"


def _first(place: str) -> int:
    """Return the number that a place begins with."""
    digits = place.split(" ")[0].split("-")[0]
    return int(digits) if digits.isdigit() else -1


def draw_graph(axes: Axes, patch: NDArray, joined: NDArray) -> None:
    """Draw a patch as a graph; of two directions the heavier one counts."""
    from matplotlib.collections import LineCollection

    angles = np.pi / 2 - 2 * np.pi * np.arange(len(patch)) / len(patch)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    weights = np.maximum(patch, patch.T)
    tails, heads = np.nonzero(np.triu(weights, 1) > 0.02)
    # Heavy edges last, so that they lie on top.
    order = np.argsort(weights[tails, heads], kind="stable")
    tails, heads = tails[order], heads[order]
    strength = weights[tails, heads]
    if len(tails):  # an atom of zeros has no edges
        lines = LineCollection(
            list(zip(places[tails], places[heads], strict=True)),
            linewidths=0.3 + 1.7 * strength,
            colors=[BLUE if joined[u, v] else ORANGE for u, v in zip(tails, heads, strict=True)],
            alpha=np.clip(0.15 + 0.85 * strength, 0, 1),
        )
        axes.add_collection(lines)
    axes.scatter(places[:, 0], places[:, 1], s=max(3, 60 / len(patch)), color="0.15", zorder=3)
    x, y = 1.22 * places[np.diag(patch) > 0.02].T  # rings for loops
    axes.scatter(x, y, s=9, facecolors="none", edgecolors=ORANGE, linewidths=0.8)
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
