"""Experiments 000-7 to 000-10: word adjacency networks, rebuilt; and who wrote a novel.

Lyu, Needell and Balzano (2020), section 7.2, Figs. 10 to 12: the function-word network of
"Adventures of Huckleberry Finn" (211 words, divided by its largest entry), wedges of depth 1, 2 and
3, 45 atoms, 50,000 steps of reconstruction; the Frobenius norms of network, reconstruction and
difference are compared with the published ones. Then the error against the number of atoms and the
size of the patches (section 7.2's text, 000-10).

Authorship: 25 novels of five authors, each a network scaled to sum to one. Each novel is left out
in turn; a dictionary is learned for every author from the other novels of that author, one after
the other, and the novel goes to the author whose dictionary leaves the smallest loss on 20,000 of
its patches, or the smallest in proportion to the mean loss of that dictionary on all novels.
Patches do not know which words they stand for; how far counts of words alone get is told beside
(nearest mean of the shares of each author, cosine).

Leaves ``results/000-7.png``, ``results/000-10.png`` and ``results/000-7.json``.
"""

from __future__ import annotations

import numpy as np
from pictures import save_rows
from records import DATA, save

from atomstream import NetworkDictionary, plots
from atomstream.fields.networks import motifs
from atomstream.fields.networks.network import Network
from atomstream.fields.networks.reconstruction import Reconstruction
from atomstream.samplers import MotifPivot

N_ATOMS, STEPS, SIZES = 45, 50_000, (9, 25, 45, 100)
PUBLISHED = {1: 1.0275, 2: 1.7241, 3: 2.4928}
PUBLISHED_NORMS = {1: 3.0494, 2: 3.4296, 3: 4.0459}


def connected(matrix: np.ndarray) -> np.ndarray:
    """Return the rows and columns of words that stand near any other."""
    keep = (matrix.sum(axis=0) + matrix.sum(axis=1)) > 0
    return matrix[np.ix_(keep, keep)]


def rebuild(
    matrix: np.ndarray, depth: int, n_atoms: int, chain: str
) -> tuple[dict, NetworkDictionary, Reconstruction]:
    """Return (norms, model, reconstruction) of a network learned and rebuilt with a wedge."""
    model = NetworkDictionary(
        f"wedge:{depth}", n_atoms, chain=chain, n_batches=100, random_state=0
    ).fit(matrix)
    rebuilt = model.reconstruct(matrix, chain=chain, n_steps=STEPS)
    diagonal = np.arange(len(matrix))
    told = {
        "norm of the reconstruction": float(np.linalg.norm(rebuilt.matrix.data)),
        "norm of the difference": rebuilt.error,
        "of it on edges not visited": rebuilt.unvisited_norm,
        "coverage": rebuilt.coverage,
        "of it on the diagonal": float(
            np.linalg.norm((rebuilt.matrix - rebuilt.network.out)[diagonal, diagonal])
        ),
        "atoms with importance": int((model.importance_ > 0).sum()),
    }
    return told, model, rebuilt


def filled_in(rebuilt: Reconstruction) -> dict[str, float]:
    """Return how many pairs without an edge get a weight, of all such pairs, and its norm."""
    before, after = rebuilt.network.out.toarray(), rebuilt.matrix.toarray()
    extra = np.where(before == 0, after, 0)
    return {
        "share": float((extra > 0).sum() / (before == 0).sum()),
        "norm": float(np.linalg.norm(extra)),
    }


def authorship(matrices: np.ndarray, authors: np.ndarray, motif: str) -> dict:
    """Return how many novels of the five authors go to their author, each left out in turn."""
    networks = [Network.of(matrix / matrix.sum() * 1e4) for matrix in matrices]
    patches = []
    for network in networks:
        chain, rng = MotifPivot(network, motifs.Motif.of(motif)), np.random.default_rng(0)
        patches.append(chain.patches(chain.run(rng, chain.init(rng), 20_000)[0]))
    names = sorted(set(authors))

    def dictionary(novels: list[int]) -> NetworkDictionary:
        """Learn from some novels, one after the other, three times."""
        model = NetworkDictionary(motif, 16, random_state=0)
        for _ in range(3):
            for novel in novels:
                model.partial_fit(networks[novel], n_batches=5)
        return model

    whole = {
        name: dictionary([i for i in range(len(authors)) if authors[i] == name]) for name in names
    }
    right, losses = [], []
    for novel in range(len(authors)):
        found = {}
        for name in names:
            rest = [i for i in range(len(authors)) if authors[i] == name and i != novel]
            if rest:
                model = dictionary(rest) if authors[novel] == name else whole[name]
                found[name] = -model.learner_.score(patches[novel])
        losses.append(found)
        right.append(min(found, key=found.get) == authors[novel])
    table = np.array([[found.get(name, np.nan) for name in names] for found in losses])
    fair = (table / table.mean(axis=0)).argmin(
        axis=1
    )  # a dictionary that explains every novel better proves little
    return {
        "right": int(sum(right)),
        "right, losses over their means by dictionary": int(
            (np.array(names)[fair] == authors).sum()
        ),
        "of": len(right),
    }


def by_counts(matrices: np.ndarray, authors: np.ndarray) -> dict:
    """Return how many novels go to their author by the shares of their words alone."""
    shares = matrices.sum(axis=2) + matrices.sum(axis=1)
    shares = shares / shares.sum(axis=1, keepdims=True)
    right = 0
    for novel in range(len(authors)):
        others = np.arange(len(authors)) != novel
        names = sorted(set(authors[others]))
        means = np.array([shares[others & (authors == name)].mean(axis=0) for name in names])
        cosine = means @ shares[novel] / np.linalg.norm(means, axis=1)
        right += names[int(np.argmax(cosine))] == authors[novel]
    return {"right": int(right), "of": len(authors)}


def rebuilt_by_both(matrix: np.ndarray, depth: int, report: dict) -> list:
    """Rebuild the novel along either chain, report it, and draw atoms and network of the second."""
    for chain in ("glauber", "pivot"):
        told, model, rebuilt = rebuild(matrix, depth, N_ATOMS, chain)
        report[f"wedge of depth {depth}, {chain}"] = told | {
            "published difference": PUBLISHED[depth],
            "published norm of the reconstruction": PUBLISHED_NORMS[depth],
            "pairs filled in": filled_in(rebuilt),
        }
        print(depth, chain, told, flush=True)
    titles = ("network", f"depth {depth}: difference {told['norm of the difference']:.3f}")
    return [
        plots.network_atoms(model, n_atoms=12, n_columns=3),
        plots.adjacency(rebuilt.network.out, rebuilt.matrix, titles=titles),
    ]


def rebuilt_by_few_and_many(matrix: np.ndarray) -> tuple[dict, list[list]]:
    """Return differences by depth and number of atoms, and what wedges of depth 1 look like."""
    differences: dict[int, dict[int, float]] = {depth: {} for depth in PUBLISHED}
    rows = []
    for depth in PUBLISHED:
        for n_atoms in SIZES:
            told, model, rebuilt = rebuild(matrix, depth, n_atoms, "pivot")
            differences[depth][n_atoms] = difference = told["norm of the difference"]
            if depth == 1:
                titles = ("network", f"{n_atoms} atoms: difference {difference:.3f}")
                atoms = plots.network_atoms(model, n_atoms=9, n_columns=3)
                rows.append(
                    [atoms, plots.adjacency(rebuilt.network.out, rebuilt.matrix, titles=titles)]
                )
    return differences, rows


def main() -> None:
    """Rebuild the novel, vary atoms and patches, ask who wrote what; draw, write the numbers."""
    with np.load(DATA / "word_adjacency/wan_matrices.npz") as stored:
        matrices, names, authors = (
            stored["matrices"].astype(float),
            stored["name"],
            stored["author"],
        )
    full = matrices[list(names).index("twain_1")]
    matrix = connected(full / full.max())
    report: dict = {
        "norm": float(np.linalg.norm(matrix)),
        "published norm": 2.8317,
        "words": len(matrix),
    }
    save_rows([rebuilt_by_both(matrix, depth, report) for depth in PUBLISHED], "000-7", 1300)
    report["difference by depth and atoms"], rows = rebuilt_by_few_and_many(matrix)
    save_rows(rows, "000-10", 1300)
    report["authorship"] = {
        "novels": dict(
            zip(*(part.tolist() for part in np.unique(authors, return_counts=True)), strict=True)
        ),
        "counts of words": by_counts(matrices, authors),
        **{
            motif: authorship(matrices, authors, motif)
            for motif in ("path:2", "wedge:1", "path:5", "wedge:3")
        },
    }
    save("000-7", report)


if __name__ == "__main__":
    main()
