"""Draw the charts of docs/measured.md from the JSON files of the benchmarks.

``python docs/pictures/measured.py`` writes measured-*.png into this folder.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
OURS, PEER = "#d95f02", "#7f8c9b"


def read(name):
    """Return the results of a benchmark."""
    return json.loads((BENCHMARKS / f"{name}.json").read_text(encoding="utf-8"))


def bars(axis, values, unit, digits, log=False):
    """Draw named numbers as bars, ours in colour, the first one on top."""
    names = list(values)
    colours = [OURS if name.startswith(("atomstream", "online")) else PEER for name in names]
    axis.barh(range(len(names)), values.values(), color=colours, log=log)
    axis.bar_label(
        axis.containers[0], [f"{value:,.{digits}f}" for value in values.values()], padding=3
    )
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlabel(unit)
    axis.margins(x=0.16)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def chart(name, values, title, unit, digits=0, log=False, height=None):
    """Write one chart."""
    figure, axis = plt.subplots(
        figsize=(8, height or 1.1 + 0.33 * len(values)), layout="constrained"
    )
    bars(axis, values, unit, digits, log)
    axis.set_title(title, loc="left", fontsize=11)
    figure.savefig(HERE / f"measured-{name}.png", dpi=100, pil_kwargs={"optimize": True})
    plt.close(figure)


def best(values, start):
    """Return the smallest number among the contenders whose name starts like this."""
    return min(value for name, value in values.items() if name.startswith(start))


def main():
    """Draw all charts."""
    same = read("results")["same_time"]
    peers = {
        "atomstream, defaults": same["atomstream, defaults"],
        "scikit-learn NMF": same["batch NMF"],
        "SPAMS, best of six settings": best(same, "SPAMS"),
        "scikit-learn MiniBatchNMF": best(same, "MiniBatchNMF"),
        "scikit-learn MiniBatchDictionaryLearning": best(same, "MiniBatchDict"),
    }
    chart(
        "peers", peers, "Error on new patches after the same 6 seconds", "error, lower is better", 4
    )

    rows = read("coding")["densities"]["0.1"]["rows"]
    exact = {name: row["us_per_row"] for name, row in rows.items() if row["worst_gap"] <= 1e-4}
    chart(
        "coding", exact, "Exact codes, a tenth of them not zero", "microseconds a row", 1, log=True
    )

    sparse = read("divergences")["sparse"]
    ours, theirs = sparse["ours, batches of 256"], sparse["MiniBatchNMF, batches of 256"]
    figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
    for label, points, colour in (
        ("atomstream", ours, OURS),
        ("scikit-learn MiniBatchNMF", theirs, PEER),
        ("gensim Nmf (minimises the squared loss)", sparse["gensim Nmf"], "#b8a9c9"),
    ):
        axis.plot(*zip(*points, strict=True), marker="o", markersize=3, color=colour, label=label)
    axis.axhline(sparse["truth"], color="black", linestyle="--", label="the true topics")
    axis.set(xlabel="seconds", ylabel="loss on new documents", xlim=(0, 9))
    axis.set_title("Topics of 20,000 documents, Kullback-Leibler", loc="left", fontsize=11)
    axis.legend()
    figure.savefig(HERE / "measured-topics.png", dpi=100, pil_kwargs={"optimize": True})

    learning = read("networks")["learning"]["contenders"]
    seconds = {name: each["seconds"] for name, each in learning.items()}
    chart("networks", seconds, "25 atoms of ego-Facebook from 50,000 patches", "seconds", 1)

    race = read("tensors")["race"]["table"]
    shown = (
        "online, 5 passes",
        "online, 10 passes",
        "online, 20 passes",
        "TensorLy HALS, 30 rounds",
    )
    shown += ("TensorLy HALS, 100 rounds", "TensorLy multiplicative, 100 rounds")
    labels = {
        f"{name} ({race[name]['above best, %']:.1f} % above the best)": 1000 * race[name]["seconds"]
        for name in shown
    }
    chart("tensors", labels, "A tensor of 100 x 100 x 100, rank 5", "milliseconds")

    speed = read("consensus")["speed"]
    cells = {f"atomstream, passes: {each['passes']}": each["seconds"] for each in speed}
    cells["scikit-learn NMF, 100 runs"] = speed[0]["sklearn_seconds"]
    chart(
        "consensus", cells, "100 replicates of 20 programs, 20,000 cells x 2,000 genes", "seconds"
    )


if __name__ == "__main__":
    main()
