"""Atoms that differ by their place on the motif are one family."""

from types import SimpleNamespace

import numpy as np

from atomstream import plots
from atomstream.fields.networks import Motif
from atomstream.fields.networks.families import families, family_names, family_sections
from atomstream.fields.networks.look import NetworkLook


def star(k, hub):
    patch = np.zeros((k, k))
    patch[hub] = patch[:, hub] = 1
    patch[hub, hub] = 0
    return patch


def block(k, first, last):
    patch = np.zeros((k, k))
    patch[first:last, first:last] = 1 - np.eye(last - first)
    return patch


def model():
    """Five stars, two blocks of eight nodes, one block of four."""
    k = 21
    atoms = [star(k, hub) for hub in (0, 4, 9, 15, 20)]
    atoms += [block(k, 2, 10), block(k, 12, 20), block(k, 5, 9)]
    path = Motif.of(f"path:{k}")
    atoms = np.maximum(np.array(atoms), path.adjacency() + path.adjacency().T)
    shares = np.array([0.1, 0.2, 0.1, 0.05, 0.05, 0.2, 0.1, 0.2])
    return SimpleNamespace(components_=atoms, motif_=path, importance_=shares)


def test_stars_are_one_family_and_blocks_of_a_size_another():
    stars, blocks, alone = families(model())
    assert (stars.name, stars.atoms, stars.places) == (
        "A",
        (1, 0, 2, 3, 4),
        ("4", "0", "9", "15", "20"),
    )
    assert np.isclose(stars.share, 0.5)
    assert (blocks.atoms, blocks.places) == ((5, 6), ("2-9", "12-19"))
    assert alone.atoms == (7,)


def test_families_stand_in_pictures_and_reports():
    names = family_names(model())
    assert names[1] == "A at 4"
    assert 7 not in names
    [section] = family_sections(model())
    assert section.facts["family A"] == "5 atoms, share 50%, at 0, 4, 9, 15, 20"
    network = model()
    rows = NetworkLook().table(SimpleNamespace(model=network)).rows
    assert [row[-1].partition(":")[0] for row in rows if row[0] in (1, 5)] == ["A at 4", "B at 2-9"]
    figure = plots.network_atoms(model())
    assert "A at 4" in [axes.get_title() for axes in figure.axes]
