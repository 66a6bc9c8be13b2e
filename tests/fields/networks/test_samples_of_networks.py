"""Cards of runs of networks name the nodes of patches that use each atom most."""

import networkx as nx
import numpy as np
import pytest
from samples_of_atoms import learned

from atomstream.fields.networks import Network
from atomstream.fields.networks.chains.base import patches_of

RNG = np.random.default_rng(0)


def test_patches_of_networks_have_their_nodes(tmp_path):
    graph = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"member {node}")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    words = ["network", "learn", tmp_path / "g.graphml", "--motif", "path:4", "--atoms", 3]
    record, cards = learned(tmp_path / "run", *words, "--batches", 3, "--batch-size", 50)
    network = Network.of(tmp_path / "g.graphml")
    numbers = {label: number for number, label in enumerate(network.labels)}
    seen = set()
    for card in cards.cards:
        assert card.samples
        for sample in card.samples:
            nodes = [numbers[name] for name in sample.text.removeprefix("nodes ").split(", ")]
            (code,) = record.model.learner_.transform(patches_of(network, np.array([nodes])))
            assert sample.share == pytest.approx(code[card.number] / code.sum())
            seen.add((card.number, *sorted(nodes)))
    assert len(seen) == sum(len(card.samples) for card in cards.cards)
