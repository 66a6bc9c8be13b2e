"""Write ``RESULTS.md`` from ``results.json``: ``python benchmarks/tables.py``."""

import json
from pathlib import Path

HERE = Path(__file__).parent

HEAD = """# Measured

`make bench` makes an environment with the peers, runs everything below in one run (contenders
interleaved, one thread each) and writes `results.json`; `python benchmarks/tables.py` writes this
page from it and from `notes.md`. Absolute times belong to the machine named here; the ratios are
what counts.

Workload: 100,000 random 20 x 20 grey patches of scikit-learn's two photographs (float32, [0, 1]),
100 nonnegative atoms and codes, the same starting atoms for all that take any.
Error: ||X - HD|| / ||X|| on 1,500 other patches with exact nonnegative least-squares codes, the
same coder for every contender.
"""


EXACT = """## Exact codes

50,000 of the patches under a dictionary learned from them (100 x 400, Gram matrix of condition
{condition:.0e}), nonnegative lasso, `benchmarks/coding.py`. Gap: (objective - dual) / objective in
float64, the same dual values for all (from exact codes); a contender is admitted if its worst row
is at most 1e-4. Medians of five interleaved rounds (scikit-learn: three, on 500 rows).
"""


def table(titles, rows):
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return (
        "\n".join([*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)])
        + "\n"
    )


def coding():
    """Return the section on exact codes under a fixed dictionary."""
    results = json.loads((HERE / "coding.json").read_text())
    parts = [EXACT.format(**results)]
    for density, result in results["densities"].items():
        ours = (
            result["rows"]["atomstream float32"]["us_per_row"],
            result["rows"]["atomstream float64"]["us_per_row"],
        )
        rows = []
        for name, r in result["rows"].items():
            admitted = "" if r["worst_gap"] <= 1e-4 else f"no: {r['share_above']:.3%} of the rows"
            ratio = r["us_per_row"] / ours["float64" in name]
            rows.append(
                (name, f"{r['us_per_row']:.1f}", f"{ratio:.2f}", f"{r['worst_gap']:.0e}", admitted)
            )
        titles = ["contender", "us per row", "times ours of that type", "worst gap", "admitted"]
        threads = result["threads"]
        parts.append(
            f"About {float(density):.0%} of the codes nonzero (alpha {result['alpha']}):\n"
        )
        parts.append(table(titles, rows))
        parts.append(
            f"Two threads: {threads['idle']:.2f} times one on an idle machine of two cores, "
            f"{threads['other core busy']:.2f} times with the other core busy.\n"
        )
    return "\n".join(parts)


FILES = """## Reading

The {rows:,} patches (float32; lines of text become float64) as a run from a file against
`fit_stream` on an array, one pass, `benchmarks/files.py`: medians of pairs out of five interleaved
rounds, files in the system's cache. Sizes in MB: {sizes}. A checkpoint takes {checkpoint:.1f} ms,
{share:.3%} of the time at the default of one a minute; it never takes more than 2 %, for the next
one waits fifty times as long as the last one took.
"""


def files():
    """Return the section on reading."""
    results = json.loads((HERE / "files.json").read_text())
    sizes = ", ".join(f"{kind} {size}" for kind, size in results["megabytes"].items())
    share = results["checkpoint_share"]
    text = FILES.format(
        rows=results["rows"],
        sizes=sizes,
        checkpoint=1e3 * results["checkpoint_seconds"],
        share=share,
    )
    ratios = results["ratios"]
    rows = [
        (pair, *(f"{ratios[alpha][pair]:.2f}" for alpha in ratios))
        for pair in next(iter(ratios.values()))
    ]
    return text + "\n" + table(["seconds / seconds", *(f"alpha {alpha}" for alpha in ratios)], rows)


DIVERGENCES = """## Divergences

One thread each; dictionaries judged by one exact coder on held-out samples; clocks run while
learning only.

**Sparse counts** (`divergences.py`): {documents:,} documents, 5,000 words, 20 topics,
Kullback-Leibler; MiniBatchNMF with its default start, gensim's Nmf with chunks of 2,000 (it
minimises the squared loss). The true topics have {truth:.2f}; {goal:.2f} is 1 % above the best that
MiniBatchNMF reaches ({best:.2f}). Memory beyond the data, ours: {memory:.1f} MB.
"""

DENSE = """
**Dense data of the paper** (`experiments/synthetic.py`: 20,000 samples, 200 features, 40 atoms):
batch is 200 rounds of multiplicative updates (scikit-learn's where it has the loss), ours ten
passes with defaults, MiniBatchNMF the best of 10, 100 and 300 passes. Seconds are those to within 1
% of the batch's end. Under Huber, l1 and l2, where 30 % of the entries are outliers, all figures
are judged on clean rows: they are the root mean squared error against the held-out rows without
outliers, because atoms that copy outliers lower the loss of contaminated rows.
"""
ROBUST = ("huber", "l1", "l2")


def _time_to(curve, goal):
    """Return the seconds of the first point at or below a value."""
    return next((f"{seconds:.3f}" for seconds, value in curve if value <= goal), "never")


def divergences():
    """Return the section on divergences."""
    results = json.loads((HERE / "divergences.json").read_text())
    sparse = results.pop("sparse")
    curves = {name: curve for name, curve in sparse.items() if isinstance(curve, list) and curve}
    best = min(
        value for name, curve in curves.items() if name.startswith("Mini") for _, value in curve
    )
    text = DIVERGENCES.format(
        documents=20_000,
        truth=sparse["truth"],
        best=best,
        goal=1.01 * best,
        memory=sparse["memory_mb"],
    )
    rows = [
        (name, _time_to(curve, 1.01 * best), f"{curve[-1][1]:.2f}", f"{curve[-1][0]:.2f}")
        for name, curve in curves.items()
    ]
    text += (
        "\n"
        + table(["contender", "seconds to 1 %", "at the end", "after seconds"], rows)
        + DENSE
        + "\n"
    )
    rows = []
    for loss, told in results.items():
        truth, (seconds, end), (ours_seconds, ours_end) = (
            told["truth"],
            told["batch"][-1],
            told["ours"][-1],
        )
        there = _time_to(told["ours"], 1.01 * end)
        peer = min((value for _, value in told.get("MiniBatchNMF", [])), default=None)
        rows.append(
            (
                loss,
                f"{truth:.4g}",
                f"{end:.4g}",
                f"{seconds:.1f}",
                there,
                "-" if there == "never" else f"{seconds / float(there):.0f}",
                f"{ours_end:.4g}",
                f"{ours_seconds:.1f}",
                "-" if loss in ROBUST else f"{ours_end - truth:.3g} / {end - truth:.3g}",
                "-" if peer is None else f"{peer:.4g}",
                f"{told['samples_per_second']:,.0f}",
                f"{told['memory_mb']:.1f}",
            )
        )
    titles = ["loss", "true atoms", "batch", "its s", "ours there, s", "ratio", "ours", "its s"]
    titles += [
        "excess over true atoms, ours / batch",
        "MiniBatchNMF",
        "ours, samples/s",
        "memory, MB",
    ]
    return text + table(titles, rows)


NETWORKS = """## Chains and networks

`networks.py`, one thread each, contenders in turns, medians of five rounds. `NNetwork` and
`ndlearn` are the published packages, pure Python. Moves (or updates, or moves with a patch after
each) per second:
"""

LEARNED = """
Learning {atoms} atoms on a path of 21 nodes in {network} from {patches:,} patches, sampling
included. Errors are those of 3,000 patches under either law, exact codes, relative to their norm.
"""

REBUILT = """
Reconstruction of a random network of 20,000 nodes and 200,000 edges, dictionaries of 25 atoms; each
line is a process of its own, of which the peak is told with interpreter, libraries and network.
"""


def networks():
    """Return the section on chains and network dictionaries."""
    results = json.loads((HERE / "networks.json").read_text())
    learning = results.pop("learning")
    rebuilt = results.pop("reconstruction of 20,000 nodes, 200,000 edges")
    rows = []
    for task, rates in results.items():
        for name, rate in rates.items():
            family = name.split(",")[0]
            peer = next(
                (v for n, v in rates.items() if "NNetwork" in n and n.startswith(family + ",")),
                None,
            )
            shown = "" if peer is None or "NNetwork" in name else f"{rate / peer:,.0f}"
            rows.append((task, name, f"{rate:,.0f}", shown))
    text = NETWORKS + "\n" + table(["task", "chain", "per second", "times NNetwork"], rows)
    text += (
        LEARNED.format(atoms=25, network=learning["network"], patches=learning["patches"]) + "\n"
    )
    told = learning["contenders"]
    slowest = max(one["seconds"] for one in told.values())
    rows = [
        (
            name,
            f"{one['seconds']:.2f}",
            f"{slowest / one['seconds']:.0f}",
            *(f"{one[k]:.3f}" for k in one if "error" in k),
        )
        for name, one in told.items()
    ]
    text += table(
        [
            "contender",
            "seconds",
            "times faster than ndlearn",
            "error, exact law",
            "error, approximate law",
        ],
        rows,
    )
    rows = [
        (
            name,
            f"{one['seconds']:.1f}",
            f"{one['peak_mb']:.0f}",
            f"{one['pairs'] / 1e6:.1f}",
            f"{one['coverage']:.0%}",
        )
        for name, one in rebuilt.items()
    ]
    titles = [
        "task",
        "seconds",
        "peak of the process, MB",
        "pairs visited, million",
        "edges visited",
    ]
    return text + REBUILT + "\n" + table(titles, rows)


def walks():
    """Return the section on random walks."""
    results = json.loads((HERE / "walks.json").read_text())
    times = results.pop("microseconds per transition")
    rows = [
        (f"{name} states" if "dense" not in name else name, f"{value:.2f}")
        for name, value in times.items()
    ]
    text = "## Random walks\n\n`walks.py`, rank 10, one thread, medians of five rounds; "
    text += "dense is the paper's update in NumPy.\n\n"
    text += table(["states", "us per transition"], rows) + "\n"
    rows = [
        (
            name,
            value
            if isinstance(value, float)
            else "; ".join(f"{k}: {v:.4g}" for k, v in value.items()),
        )
        for name, value in results.items()
    ]
    return text + table(["what", "measured"], rows)


TENSORS = """## CP dictionaries

One thread, `benchmarks/tensors.py`. The race: synthetic 100 x 100 x 100 tensors of the thesis
(three of them), R = 5; seconds are medians over interleaved rounds, errors relative to the best
that many starts of any method have found ({best}).
"""


def engine():
    """Return the section on rounds over slots."""
    lines = json.loads((HERE / "engine-quality.json").read_text())
    serial = {(r["case"], r["seed"], r["batch"]): r["error"] for r in lines if r["slots"] == 1}
    found = {}
    for r in lines:
        if r["slots"] > 1:
            key = (r["case"], r["seed"], r["slots"], f"{r['rows']:,}", r["rounds"])
            against = (serial[r["case"], r["seed"], batch] for batch in (256, 128))
            found.setdefault(key, {})[r["mode"]] = " / ".join(
                f"{100 * (r['error'] / error - 1):+.1f} %" for error in against
            )
    refused = {"convex": "refused"}
    rows = [
        (*key, modes["local"], modes.get("frozen", refused.get(key[0], "")))
        for key, modes in found.items()
    ]
    parts = [
        "## Rounds over slots\n",
        "Errors on held-out samples against serial learning from the same rows in steps of 256 / "
        "of 128, slots played one after the other in one process, `benchmarks/engine.py quality`. "
        "Squared loss: the workload above, 131,072 rows. KL: 40 atoms. Convex: 10 atoms of 200 "
        "representatives. Tensors: 20 x 20 patches, 25 rank-one atoms. Chains: 16 atoms of a "
        "planted network of 600 nodes, each shard a chain of its own of 512 steps. Long: patches "
        "that workers draw, 100 atoms (KL: 40).\n",
        table(["case", "seed", "slots", "rows", "rounds", "local", "frozen"], rows),
    ]
    costs = json.loads((HERE / "engine-cost.json").read_text())
    rows = [
        (
            r["engine"],
            f"{r['rows per second']:,}",
            r["busy over whole"],
            r["adding a round, ms"],
            r["serialising a round, ms"],
            f"{r['bytes sent a round'] / 1e6:.2f}",
            f"{r['bytes returned a round'] / 1e6:.2f}",
        )
        for r in costs
    ]
    titles = ["engine", "rows/s", "work / time", "adding, ms", "serialising, ms", "MB sent", "back"]
    parts += [
        "Two slots of 16,384 rows of 400 a round, 100 atoms, alpha 0.03, `benchmarks/engine.py "
        "cost`, on two cores that hardly anything else used. Work over time: seconds of reading "
        "and coding over those of the whole.\n",
        table(titles, rows),
        *engine_scale(),
    ]
    return "\n".join(parts)


def engine_scale():
    """Return the tables of many workers, and of a terabyte."""
    lines = json.loads((HERE / "engine-scale.json").read_text())
    model = [r for r in lines if r["kind"] == "model"]
    sizes = sorted({r["rows of a slot"] for r in model})
    rates = {(r["workers"], r["rows of a slot"]): r for r in model if "workers" in r}
    rows = []
    for n in sorted({n for n, _ in rates}):
        known = [rates[n, size] for size in sizes]
        rows.append((n, *(f"{r['rows per second']:,} ({r['driver at work']:.2f})" for r in known)))
    ends = [r["more stop to help after"] or "not yet" for r in model if "workers" not in r]
    rows.append(("more stop to help after", *ends))
    told = next(r for r in lines if r["kind"].startswith("terabyte"))
    whole = (
        f"A list of {told['rows']:,} rows of 400 float32 ({told['terabytes']} TB in "
        f"{told['shards']:,} shards), drawn where they are read, was learned by two processes for "
        f"{told['seconds']:.0f} s: {told['rows learned']:,} rows, {told['rows per second']:,} a "
        f"second, held-out error {told['held-out error']}, the driver's memory "
        f"{told['memory of the driver, MB']} MB. Extrapolated, not run: all rows take these "
        f"processes {told['hours of all rows on two processes']} hours, and "
        f"{told['processor hours of all rows']} hours of a processor, reading (drawing) included.\n"
    )
    return [
        "### Many workers: a model\n",
        "Rows per second, and in brackets the share of time in which the driver is at work, by a "
        "discrete-event replay of times recorded on one core; as many slots as workers, links of "
        "10 Gbit/s, 1 ms a message and 1 ms for giving out a task are assumed. No such cluster was "
        "there. More workers stop to help where twice as many gain less than a tenth.\n",
        table(["workers", *(f"{size:,} rows a slot" for size in sizes)], rows),
        "### A terabyte, extrapolated\n",
        whole,
    ]


def consensus():
    """Return the section on consensus of replicates."""
    results = json.loads((HERE / "consensus.json").read_text())
    rows = [
        (
            r["kind"],
            r["noise"],
            f"{r['right']} of {results['seeds']}",
            f"{r['worst_cosine']:.3f}",
            f"{r['coverage_of_zeros']:.0%} / {r['coverage_of_others']:.0%}",
            f"{r['seconds']:.1f}",
        )
        for r in results["planted"]
    ]
    titles = ["atoms", "noise", "right rank", "worst cosine", "intervals hold zeros / others", "s"]
    parts = [
        "## Consensus of replicates\n",
        f"600 x 40, 5 planted atoms, ranks 3 to 8 with {results['replicates']} replicates each; "
        "intervals from 100 replicates at the planted rank, `benchmarks/consensus.py`. Uniform "
        "noise is not centred: its mean is a constant part of its own, which counts as a sixth "
        "atom where it is large, and which no interval knows. Process seconds are those of the "
        "choice.\n",
        table(titles, rows),
    ]
    if "independent" in results:
        found = results["independent"]
        parts.append(
            f"With independent columns {found['structured']} of {found['seeds']} data sets were "
            "said to have structure.\n"
        )
    parts += [
        f"100 replicates of rank 20 on 20,000 x 2,000 counts, {r.get('loss', 'squared')} loss, "
        f"passes: {r['passes']:g}; process seconds: {r['seconds']:.0f}. 100 runs of scikit-learn's "
        f"NMF (random starts, extrapolated from {r['runs']}): {r['sklearn_seconds']:.0f}, "
        f"{r['ratio']:.1f} times as many. Worst cosine of matched atoms: "
        f"{r['worst_cosine']:.3f}.\n"
        for r in results.get("speed", [])
    ]
    return "\n".join(parts)


def gene_programs():
    """Return the section on programs of cells."""
    results = json.loads((HERE / "cells.json").read_text())
    rows = [
        (
            f"{r['cells']}, {r['shape'][0]:,} x {r['shape'][1]:,}",
            r["loss"],
            r["rank"],
            f"{r['seconds']:.1f}",
            f"{r['sklearn_seconds']:.1f} ({r['sklearn_runs']})",
            " ".join(f"{cosine:.2f}" for cosine in r["cosines"]),
            f"{min(r['stability']):.2f} / {min(r['sklearn_stability']):.2f}",
        )
        for r in results["cases"]
    ]
    titles = ["cells", "loss", "programs", "s", "s of scikit-learn (runs)", "cosines"]
    parts = [
        "## Programs of cells\n",
        f"{results['replicates']} replicates against as many runs of scikit-learn's NMF (random "
        "starts; where fewer were made, their number is told, and seconds are those of "
        f"{results['replicates']}), matched by the same clusters; process seconds, "
        "`benchmarks/cells.py`.\n",
        table([*titles, "lowest stability, ours / theirs"], rows),
    ]
    parts += [
        f"{r['cells']:,} cells x 2,000 genes, {r['file_mb']:,.0f} MB on disk, "
        f"{' '.join(map(str, r['ranks']))} programs with {r['replicates']} replicates each: "
        f"{r['seconds']:.0f} process seconds, at most {r['peak_mb']:.0f} MB in memory, which is "
        f"{r['beyond_mb']:.0f} MB beyond the libraries and the model; {r['read_mb']:,.0f} MB read "
        "to learn.\n"
        for r in results["million"]
    ]
    return "\n".join(parts)


def tensors():
    """Return the section on CP dictionaries."""
    results = json.loads((HERE / "tensors.json").read_text())
    best = ", ".join(f"{value:.4f}" for value in results["race"]["best relative errors"])
    rows = [
        (
            name,
            f"{r['seconds']:.3f}",
            f"{r['above best, %']:.2f}",
            f"{r['worst above best, %']:.2f}",
        )
        for name, r in results["race"]["table"].items()
    ]
    parts = [
        TENSORS.format(best=best),
        table(["contender", "s", "above the best, %", "worst, %"], rows),
    ]
    rows = [
        (name, f"{r['ms']:.2f}", f"{r['published steps, ms']:.2f}", f"{r['times faster']:.1f}")
        for name, r in results["batches"].items()
    ]
    parts.append(
        "Batches (samples first), R = 5; the published code's steps are written anew in NumPy:\n"
    )
    parts.append(table(["batch", "ms", "published steps, ms", "times faster"], rows))
    rows = [(name, *(f"{ms:.3f}" for ms in r.values())) for name, r in results["sparse"].items()]
    parts.append(
        "Sparse batches of 20 x 400 x 400: coding and accumulating follow the entries, "
        "the sweep not:\n"
    )
    parts.append(table(["entries", "coding, ms", "accumulating, ms", "sweep, ms"], rows))
    big = results["big"]
    rows = [
        (where, *(f"{value:.2f}" for value in r.values()))
        for where, r in big.items()
        if isinstance(r, dict)
    ]
    titles = ["read", *next(r for r in big.values() if isinstance(r, dict))]
    parts.append(f"A tensor of {big['GB']:.1f} GB in a file, R = 5, batches of 20 slices:\n")
    parts.append(table(titles, rows))
    return "\n".join(parts)


SHARE = "of HALS's time, where both arrive"
GROUND = """## Ground that was not tuned on

`ground.py`, one thread each, contenders in turns, medians of ratios of processor times
({versions}).
Bare loops are compiled by numba and draw from its own source. Of a speed more is better, of a
time less. In the races of tensors each side has the quickest of several efforts that arrives, timed
once; seeds where one does not arrive are left out (decision 019 says how far that carries).
Where the last state is kept, the bare chain grows all copies and ours only that one.
"""


def ground():
    """Return the section on chains, tensors, short texts and wide dictionaries."""
    results = json.loads((HERE / "ground.json").read_text())
    texts = results["texts"]
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    rows = [
        (f"dense network of 211 nodes, {path}, of a bare loop's speed", f"{r['times as fast']:.2f}")
        for path, r in results["motifs"].items()
    ]
    rows += [
        (
            f"exact pivot chain, 21 nodes, {what}, of a bare approximate one's",
            f"{r['times as fast']:.2f}",
        )
        for what, r in results["pivots"].items()
    ]
    rows += [
        (f"{what}, of the time of TensorLy's HALS", f"{results[name][share]:.2f}")
        for what, name, share in (
            ("word counts, 40 x 5,000 x 26, to HALS's end + 0.5 %", "words", SHARE),
            ("100 x 100 x 100, to HALS's end + 1 %", "cubes", SHARE),
        )
    ]
    rows += [
        (
            "d = 30,000, r = 100, of the speed of three products",
            f"{results['wide']['times as fast']:.2f}",
        )
    ]
    rows += [(f"short texts, 32,768 features: {name}", f"{texts[name]:,.0f}") for name in texts]
    return "\n".join([GROUND.format(versions=versions), table(["what", "measured"], rows)])


def main():
    """Turn the results into tables and put the notes below them."""
    results = json.loads((HERE / "results.json").read_text())
    best = min(
        error for name, error in results["same_time"].items() if not name.startswith("atomstream")
    )
    parts = [HEAD]
    machine, versions = results["machine"], results["versions"]
    parts.append(
        f"Machine: {machine['processor']}, {machine['cores']} cores; Python {machine['python']}; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + ".\n"
    )
    parts.append("## The same 6 seconds\n\nMedians of three interleaved rounds.\n")
    same = sorted(results["same_time"].items(), key=lambda item: item[1])
    parts.append(
        table(
            ["contender", "error", "to the best peer"],
            [(n, f"{e:.4f}", f"{e / best:.3f}") for n, e in same],
        )
    )
    peer = results["time_to_best_peer"]
    parts.append("## Time to a peer's error\n")
    targets = {"SPAMS's end + 1 %": peer | {"peer": peer["spams"]}}
    targets |= {
        f"{name}'s end": r | {"peer": r["sklearn"]}
        for name, r in results["time_to_sklearn"].items()
    }
    rows = [
        (name, f"{r['target']:.4f}", f"{r['ours']:.2f}", f"{r['peer']:.2f}", f"{r['ratio']:.1f}")
        for name, r in targets.items()
    ]
    parts.append(table(["target", "error", "atomstream, s", "peer, s", "ratio"], rows))
    parts.append("## One pass at equal alpha\n")
    rows = [
        (r["alpha"], r["spams_batch"], f"{r['ours']:,.0f}", f"{r['spams']:,.0f}",
         f"{r['ratio']:.2f}",
         f"{r['our_error']:.4f}", f"{r['spams_error']:.4f}")
        for r in results["one_pass"]
    ]  # fmt: skip
    titles = [
        "alpha",
        "SPAMS's batch",
        "ours, samples/s",
        "SPAMS, samples/s",
        "ratio",
        "our error",
        "its error",
    ]
    parts.append(table(titles, rows))
    parts.append("## After equal numbers of samples\n")
    rows = [
        (f"{r['n_samples']:,}", f"{r['ours']:.4f}", f"{r['spams_best']:.4f}")
        for r in results["equal_samples"]
    ]
    parts.append(table(["samples", "ours, defaults", "SPAMS, best of six settings"], rows))
    parts.append(coding())
    parts.append(files())
    parts.append(divergences())
    parts.append(networks())
    parts.append(walks())
    parts.append(tensors())
    parts.append(ground())
    parts.append(consensus())
    parts.append(gene_programs())
    parts.append(engine())
    parts.append("## Memory, imports\n")
    rows = [
        (f"memory beyond the data, one pass: {name}", f"{mb:.2f} MB")
        for name, mb in results["memory"].items()
    ]
    rows += [(name, f"{seconds:.3f} s") for name, seconds in results["imports"].items()]
    parts.append(table(["what", "measured"], rows))
    parts.append((HERE / "notes.md").read_text())
    (HERE / "RESULTS.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
