"""Chains on networks and lattices, and dictionaries of networks, against the published packages.

``python benchmarks/networks.py`` writes ``results/networks.json``, and ``python
benchmarks/networks.py batch`` writes ``results/networks-batch.json``: scikit-learn's NMF, run to
its end on as many patches of the same chain. One thread each; contenders take turns. The packages
are ``NNetwork`` (sampling) and ``ndlearn`` (learning), pure Python. ``ego-Facebook`` is read from
the folder that the variable ATOMSTREAM_DATA names, by default ``shared/data`` beside the checkout;
without it a random graph of its size stands in.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import networkx as nx
import numpy as np
import scipy.sparse as sp
from benchmark_records import DATA, save

from atomstream import NetworkDictionary, OnlineNMF
from atomstream.fields.networks import motifs
from atomstream.fields.networks.network import Network
from atomstream.samplers import IsingGibbs, MotifGlauber, MotifPivot

ROUNDS = 5
K, N_ATOMS, N_BATCHES, BATCH = (
    21,
    25,
    100,
    500,
)  # of the learning task; the package's own defaults are 500 and 1000


def facebook() -> tuple[str, Network]:
    """Return ego-Facebook, or a random graph with as many nodes and edges and many triangles."""
    path = DATA / "networks" / "snap_ego_facebook.txt.gz"
    if path.exists():
        return "ego-Facebook", Network.of(path)
    return "power-law graph", Network.of(nx.powerlaw_cluster_graph(4039, 22, 0.9, seed=0))


def peer_network(network: Network) -> Any:
    """Return a network of NNetwork."""
    from NNetwork.NNetwork import NNetwork

    made, pairs = NNetwork(), network.out.tocoo()
    keep = pairs.row < pairs.col
    ends = zip(
        pairs.row[keep].tolist(), pairs.col[keep].tolist(), pairs.data[keep].tolist(), strict=True
    )
    made.add_edges([[str(u), str(v), weight] for u, v, weight in ends])
    return made


def rate(run: Callable[[int], Any], least: float = 0.5) -> float:
    """Return calls per second of what makes n of them, n so large that it takes a while."""
    n = 1
    while True:
        begin = time.perf_counter()
        run(n)
        seconds = time.perf_counter() - begin
        if seconds > least:
            return n / seconds
        n = max(2 * n, int(1.2 * least * n / max(seconds, 1e-9)))


def interleaved(contenders: dict[str, Callable[[int], Any]]) -> dict[str, float]:
    """Return the median rate of each contender out of rounds in which they take turns."""
    for run in contenders.values():
        run(1)
    rounds = [{name: rate(run) for name, run in contenders.items()} for _ in range(ROUNDS)]
    return {name: float(np.median([one[name] for one in rounds])) for name in contenders}


def mover(chain: Any) -> Callable[[int], Any]:
    """Return what makes n moves of a chain of ours, from where the last call ended."""
    rng = np.random.default_rng(0)
    place = [chain.init(rng)]

    def move(n: int) -> None:
        """Move."""
        _, place[0] = chain.run(rng, place[0], 1, n)

    return move


def patcher(chain: Any) -> Callable[[int], Any]:
    """Return what makes n moves and a patch after each."""
    rng = np.random.default_rng(0)
    place = [chain.init(rng)]

    def move(n: int) -> None:
        """Move and extract."""
        for start in range(0, n, 10_000):
            states, place[0] = chain.run(rng, place[0], min(10_000, n - start))
            chain.patches(states)

    return move


def peer_mover(network: Any, k: int, step: Callable[[Any, Any, Any], Any]) -> Callable[[int], Any]:
    """Return what makes n moves of a chain of NNetwork."""
    np.random.seed(0)  # noqa: NPY002 - the package draws from there
    motif = network.path_adj(k)
    place = [network.tree_sample(motif)]

    def move(n: int) -> None:
        """Move."""
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in range(n):
                place[0] = step(network, motif, place[0])

    return move


def chains(results: dict[str, Any]) -> None:
    """Measure moves per second on a sparse and on dense networks, and on a lattice."""
    graph = Network.of(nx.powerlaw_cluster_graph(4000, 22, 0.5, seed=0))
    peer = peer_network(graph)
    path = motifs.path(21)
    results["sparse graph, path of 21"] = interleaved(
        {
            "Glauber": mover(MotifGlauber(graph, path)),
            "Glauber, NNetwork": peer_mover(peer, 21, lambda g, b, x: g.glauber_update(b, x)),
            "pivot, exact": mover(MotifPivot(graph, path)),
            "pivot, approximate": mover(MotifPivot(graph, path, approximate=True)),
            "pivot, NNetwork (approximate)": peer_mover(
                peer, 21, lambda g, b, x: g.Pivot_update(x)
            ),
            "Glauber and patch": patcher(MotifGlauber(graph, path)),
            "Glauber and patch, NNetwork": peer_mover(peer, 21, _peer_patch),
        }
    )
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((211, 211)) * (rng.random((211, 211)) < 0.9), 1)
    dense = Network.of(weights + weights.T)
    peer = peer_network(dense)
    for k in (3, 5, 7):
        results[f"dense 211 nodes, path of {k}"] = interleaved(
            {
                "Glauber": mover(MotifGlauber(dense, motifs.path(k))),
                "Glauber, NNetwork": peer_mover(peer, k, lambda g, b, x: g.glauber_update(b, x)),
            }
        )
    sites = interleaved(
        {
            "random sites": mover(IsingGibbs((200, 200), temperature=2.26, sweep="random")),
            "checkerboard": mover(IsingGibbs((200, 200), temperature=2.26, sweep="checkerboard")),
        }
    )
    sites["checkerboard"] *= 200 * 200  # a step is a sweep
    results["Ising 200 x 200, T = 2.26, updates"] = sites


def _peer_patch(network: Any, motif: Any, place: Any) -> Any:
    place = network.glauber_update(motif, place)
    network.emb2adj(place)
    return place


def peer_learned(network: Network) -> tuple[float, np.ndarray]:
    """Return the seconds and the atoms of ndlearn."""
    from ndl import NetDictLearner
    from ndl.NNetwork import Wtd_NNetwork

    pairs = network.out.tocoo()
    keep = pairs.row < pairs.col
    ends = zip(pairs.row[keep].tolist(), pairs.col[keep].tolist(), strict=True)
    peer = Wtd_NNetwork()
    peer.add_edges([[str(u), str(v)] for u, v in ends])
    np.random.seed(0)  # noqa: NPY002
    learner = NetDictLearner(
        peer,
        n_components=N_ATOMS,
        MCMC_iterations=N_BATCHES,
        sample_size=BATCH,
        sub_iterations=20,
        batch_size=20,
        k=K,
    )
    begin = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        learner.train_dict(verbose=False)
    return time.perf_counter() - begin, learner.W.T


def learned(network: Network, chain: str) -> tuple[float, np.ndarray]:
    """Return our seconds and atoms with a chain."""
    model = NetworkDictionary(
        f"path:{K}", N_ATOMS, chain=chain, n_batches=N_BATCHES, batch_size=BATCH, random_state=0
    )
    model.fit(network)  # compiles
    begin = time.perf_counter()
    model.fit(network)
    return time.perf_counter() - begin, model.learner_.components_


def judged(network: Network, rows: np.ndarray) -> dict[str, float]:
    """Return the relative errors that atoms leave of patches under both laws."""
    found, coder = {}, OnlineNMF.from_components(rows)
    for law in ("exact law", "approximate pivot chain"):
        judge = MotifPivot(network, motifs.path(K), approximate=law != "exact law")
        rng = np.random.default_rng(1)
        states, _ = judge.run(rng, judge.init(rng), 3000, thin=5)
        patches = judge.patches(states)
        rebuilt = coder.inverse_transform(coder.transform(patches))
        error = float(np.linalg.norm(rebuilt - patches) / np.linalg.norm(patches))
        found[f"relative error of patches, {law}"] = error
    return found


def batch() -> dict[str, Any]:
    """Return the seconds and errors of scikit-learn's NMF on patches of the pivot chain."""
    from sklearn.decomposition import NMF

    _, network = facebook()
    begin, rng = time.process_time(), np.random.default_rng(0)
    chain = MotifPivot(network, motifs.path(K))
    states, _ = chain.run(rng, chain.init(rng), N_BATCHES * BATCH)
    model = NMF(N_ATOMS, init="nndsvda", max_iter=1000, random_state=0).fit(chain.patches(states))
    atoms = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    seconds = time.process_time() - begin
    return {"seconds": seconds, "rounds": model.n_iter_} | judged(network, atoms)


def learning(results: dict[str, Any]) -> None:
    """Measure sampling and learning from as many patches as ndlearn, judged by the exact law."""
    name, network = facebook()
    runs = {"ndlearn (Glauber)": peer_learned(network)}
    runs |= {f"atomstream, {chain}": learned(network, chain) for chain in ("pivot", "glauber")}
    found = {who: {"seconds": runs[who][0]} | judged(network, runs[who][1]) for who in runs}
    results["learning"] = {"network": name, "patches": N_BATCHES * BATCH, "contenders": found}


def large(results: dict[str, Any]) -> None:
    """Measure seconds and peak memory of rebuilding a large network, each in its own process."""
    found = {}
    for k, chain, steps in [
        (21, "glauber", 100_000),
        (21, "pivot", 100_000),
        (5, "glauber", 2_000_000),
        (5, "glauber", 1_000_000),
        (5, "pivot", 2_000_000),
        (5, "pivot", 1_000_000),
    ]:
        line = [sys.executable, __file__, "--one", str(k), chain, str(steps)]
        told = subprocess.run(line, capture_output=True, text=True, check=True)
        found[f"path of {k}, {chain}, {steps:,} steps"] = json.loads(told.stdout.splitlines()[-1])
    results["reconstruction of 20,000 nodes, 200,000 edges"] = found


def one(k: int, chain: str, steps: int) -> None:
    """Reconstruct once and print what it took."""
    rng = np.random.default_rng(0)
    n, keys = 20_000, np.empty(0, np.int64)
    while len(keys) < 200_000:
        ends = rng.integers(0, n, (400_000, 2))
        ends = ends[ends[:, 0] < ends[:, 1]]
        keys = np.unique(np.concatenate([keys, ends @ [n, 1]]))
    tails, heads = np.divmod(rng.permutation(keys)[:200_000], n)
    matrix = sp.csr_array((np.ones(200_000), (tails, heads)), (n, n))
    network = Network.of(matrix + matrix.T)
    model = NetworkDictionary(f"path:{k}", N_ATOMS, chain=chain, n_batches=10, random_state=0).fit(
        network
    )
    model.reconstruct(network, chain=chain, n_steps=100)
    begin = time.perf_counter()
    rebuilt = model.reconstruct(network, chain=chain, n_steps=steps)
    told = {
        "seconds": time.perf_counter() - begin,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "pairs": rebuilt.matrix.nnz,
        "coverage": rebuilt.coverage,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1:] == ["batch"]:
        save("networks-batch", batch())
    else:
        measured: dict[str, Any] = {}
        for part in (large, chains, learning):
            part(measured)
            print(part.__name__, json.dumps(measured, indent=1)[-800:], flush=True)
        save("networks", measured)
