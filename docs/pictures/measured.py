"""Draw the charts of docs/measured.md from the JSON files of the benchmarks.

``python docs/pictures/measured.py`` writes measured-*.png into this folder. Each chart says at its
foot which files it shows, the commit and date of their runs, and the machine. Ours is orange.
"""

import json
import sys
from math import floor, log10
from pathlib import Path
from statistics import median
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from write_page import below_ours, ends, time_to

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OURS, PEER, OTHER = "#d95f02", "#7f8c9b", "#b8a9c9"


def files_of(pattern):
    """Return the files of benchmarks whose names match a pattern: both folders have results."""
    return sorted((ROOT / "benchmarks").rglob(f"results/{pattern}.json"))


def records(pattern):
    """Return the records of benchmarks whose names match a pattern, by name."""
    paths = files_of(pattern)
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def read(name):
    """Return the results of a benchmark."""
    return records(name)[name]["results"]


def origin(pattern):
    """Return the files of a benchmark, the commits and dates of their runs, and the machine."""
    told = records(pattern).values()
    runs = {f"{each['commit']} of {each['date']}" for each in told}
    machines = {"{processor}, {cores} cores".format(**each["machine"]) for each in told}
    folder = files_of(pattern)[0].parent.relative_to(ROOT).as_posix()
    files = f"{folder}/{pattern}.json"
    return f"{files}, commit {', '.join(sorted(runs))}; {', '.join(sorted(machines))}"


def finish(figure, name, source, title):
    """Write the title above a chart and where its numbers come from under it, and save it."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    for axis in figure.axes:
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    figure.supxlabel(origin(source), x=0.99, ha="right", fontsize=7, color="#555555")
    figure.savefig(HERE / f"measured-{name}.png", dpi=100, pil_kwargs={"optimize": True})
    plt.close(figure)


def is_ours(name):
    """Return whether a contender is ours by its name."""
    return name.startswith(("atomstream", "online"))


def bars(axis, values, unit, digits, log=False, ours=is_ours):
    """Draw named numbers as bars, ours in colour, the first one on top."""
    colours = [OURS if ours(name) else PEER for name in values]
    axis.barh(range(len(values)), values.values(), color=colours, log=log)
    labels = [f"{value:,.{digits}f}" for value in values.values()]
    axis.bar_label(axis.containers[0], labels, padding=3)
    axis.set_yticks(range(len(values)), values)
    axis.invert_yaxis()
    axis.set_xlabel(unit)
    axis.margins(x=0.2)


def chart(name, source, values, title, unit, digits=0, log=False):
    """Write one chart of bars, of which the shortest is the best; its title says whose that is."""
    figure, axis = plt.subplots(figsize=(8, 1.4 + 0.33 * len(values)), layout="constrained")
    bars(axis, values, unit, digits, log)
    finish(figure, name, source, f"{title}\nfirst: {min(values, key=values.get)}")


def alone(name, source, values, title, unit, digits=0, equal=None):
    """Write one chart of bars that are all ours, with a line where two things are equal."""
    figure, axis = plt.subplots(figsize=(8, 1.4 + 0.33 * len(values)), layout="constrained")
    bars(axis, values, unit, digits, ours=lambda name: True)
    if equal is not None:
        axis.axvline(equal, color="black", linestyle="--", linewidth=1)
    finish(figure, name, source, title)


def peers():
    """Errors after the same time, and the memory that it takes."""
    results = read("peers")
    same = results["same_time"]

    def least(start):
        return min(value for name, value in same.items() if name.startswith(start))

    values = {
        "atomstream, defaults": same["atomstream, defaults"],
        "scikit-learn NMF": same["batch NMF"],
        "SPAMS, best of six settings": least("SPAMS"),
        "scikit-learn MiniBatchNMF": least("MiniBatchNMF"),
        "scikit-learn MiniBatchDictionaryLearning": least("MiniBatchDict"),
    }
    title = "Error on new patches after the same 6 seconds"
    chart("peers", "peers", values, title, "error, lower is better", 4)
    memory = {"atomstream": results["memory"]["atomstream"], "SPAMS": results["memory"]["spams"]}
    chart("memory", "peers", memory, "Memory beyond the data in one pass", "megabytes", 1)


def coding():
    """Microseconds to code a row exactly."""
    rows = read("coding")["densities"]["0.1"]["rows"]
    exact = {name: row["us_per_row"] for name, row in rows.items() if row["worst_gap"] <= 1e-4}
    title = "Exact codes, a tenth of them not zero"
    chart("coding", "coding", exact, title, "microseconds a row, lower is better", 1, log=True)


def coding_cases():
    """Exact codes under many dictionaries: a point for each, above the line where ours leads."""
    pairs = [
        (each["atomstream float64"], each["SPAMS float64"])
        for record in records("coding-cases-*").values()
        for each in record["results"].values()
    ]
    ahead = sum(ours < theirs for ours, theirs in pairs)
    figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
    for ours, theirs in pairs:
        axis.loglog(ours, theirs, "o", color=OURS if ours < theirs else PEER)
    ends = [0.8 * min(map(min, pairs)), 1.25 * max(map(max, pairs))]
    axis.plot(ends, ends, color="black", linestyle="--", linewidth=1)
    axis.set(xlabel="atomstream, microseconds a row", ylabel="SPAMS, microseconds a row")
    title = f"Exact codes under {len(pairs)} pairs of dictionary and density, float64"
    first = f"first: atomstream in {ahead}, above the line; SPAMS in {len(pairs) - ahead}"
    finish(figure, "coding-cases", "coding-cases-*", f"{title}\n{first}")


def topics():
    """Draw the loss of topics along the time of learning."""
    found = records("divergences*")
    sparse = found["divergences"]["results"]["sparse"]
    sparse["batch"] = found["divergences-batch"]["results"]["sparse"]
    figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
    ours, peer = "ours, batches of 256", "MiniBatchNMF, batches of 256"
    for label, name, colour in (
        ("atomstream", ours, OURS),
        ("scikit-learn MiniBatchNMF", peer, PEER),
        ("scikit-learn NMF (seconds of the processor)", "batch", "#1b9e77"),
        ("gensim Nmf (minimises the squared loss)", "gensim Nmf", OTHER),
    ):
        points = zip(*sparse[name], strict=True)
        axis.plot(*points, marker="o", markersize=3, color=colour, label=label)
    axis.axhline(sparse["truth"], color="black", linestyle="--", label="the true topics")
    axis.set(xlabel="seconds", ylabel="loss on new documents", xscale="log")
    axis.set_xticks([0.2, 1, 5, 20, 80], [0.2, 1, 5, 20, 80])
    axis.legend()
    end = sparse[ours][-1]
    names = {"batch": "NMF", peer: "MiniBatchNMF", "gensim Nmf": "gensim"}
    times = {label: time_to(sparse[name], end[1]) for name, label in names.items()}
    lower = [f"{label} after {s:.0f} seconds" for label, s in times.items() if s]
    title = "Topics of 20,000 documents, Kullback-Leibler; "
    title += f"atomstream ends at {end[1]:.2f} after {end[0]:.0f} seconds\nlower: "
    finish(figure, "topics", "divergences*", f"{title}{', '.join(lower) or 'none'}")


def overtaken():
    """Return the seconds after which ours has found more of the atoms than SPAMS."""
    found = read("sparse-model")
    times, shares = zip(*found["spams"], strict=True)
    ahead = [s for s, share in found["atomstream"] if share > np.interp(s, times, shares)]
    return min(ahead)


def sparse_model():
    """Draw the share of the true atoms found while learning with codes of five entries."""
    names = {"atomstream": OURS, "spams": PEER, "sklearn": OTHER}
    labels = {"spams": "SPAMS trainDL", "sklearn": "scikit-learn MiniBatchDictionaryLearning"}
    figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for name, colour in names.items():
        course = zip(*read("sparse-model")[name], strict=True)
        label = labels.get(name, name)
        axis.plot(*course, marker="o", markersize=3, color=colour, label=label)
    axis.set(xlabel="seconds of one core", ylabel="share of the atoms found", ylim=(0, 1.02))
    axis.legend(loc="lower right")
    title = "Which of 2,048 true atoms were found: 60,000 samples of five atoms each"
    first = f"first: SPAMS for {overtaken():.0f} seconds, then atomstream"
    finish(figure, "sparse-model", "sparse-model", f"{title}\n{first}")


def losses():
    """Draw the ends of learning under six losses, with what the true atoms have."""
    found = {name: each["results"] for name, each in records("divergences*").items()}
    names = {"is": "Itakura-Saito", "kl": "Kullback-Leibler", "squared": "squared"}
    names |= {"huber": "Huber", "l1": "l1", "l2": "l2"}
    figure, axes = plt.subplots(2, 3, figsize=(10, 4.6), layout="constrained")
    told = {}
    for axis, (key, label) in zip(axes.flat, names.items(), strict=True):
        each = found["divergences"][key]
        longer = found["divergences-batch"].get(key)
        told[label] = values = ends(each, longer, found["divergences-one-atom"][key])
        bars(axis, values, "", max(0, 2 - floor(log10(min(values.values())))))
        axis.axvline(each["truth"], color="black", linestyle="--", linewidth=1)
        axis.margins(x=0.35)
        axis.set_title(label, loc="left", fontsize=10)
    title = "Six losses: divergence of new samples (above), or distance from them without outliers"
    lower = below_ours(told) or "none"
    first = f"lower than atomstream: {lower}\ndashed: the true atoms, which leave nothing under l1"
    finish(figure, "losses", "divergences*", f"{title}\n{first}")


def networks():
    """Seconds to learn atoms of a network."""
    learning = read("networks")["learning"]["contenders"]
    seconds = {
        name.replace("ndlearn", "ndlearn, the published package"): each["seconds"]
        for name, each in learning.items()
    }
    title = "25 atoms of ego-Facebook from 50,000 patches"
    chart("networks", "networks", seconds, title, "seconds", 1)


def walks():
    """Microseconds to learn from a transition."""
    found = read("walks")["microseconds per transition"]
    values = {
        "atomstream, 2,017 states, rank 10": found["2017"],
        "atomstream, 100,000 states, rank 10": found["100000"],
        "the paper's update in NumPy, 2,017 states, rank 10": found["dense 2017"],
    }
    for name, each in read("walks").items():
        if name.startswith("lumpable"):
            size = name.split(", ")[1]
            values[f"atomstream, lumpable chain of {size}"] = each["seconds"] / 10
            values[f"counting and SVD, the same, {size}"] = each["seconds of counting and SVD"] / 10
    title = "One transition of a walk; of the lumpable chains ten million, rank 5"
    chart("walks", "walks", values, title, "microseconds", 2, log=True)


def tensors():
    """Milliseconds of CP decompositions, with the error at their end."""
    race = read("tensors")["race"]["table"]
    shown = [f"online, {passes} passes" for passes in (5, 10, 20)]
    shown += [f"ALS, {rounds} rounds" for rounds in (5, 10, 20)]
    shown += [f"ALS to 1e-2, {rounds} rounds" for rounds in (10, 20, 40)]
    shown += ["TensorLy HALS, 30 rounds", "TensorLy HALS, 100 rounds"]
    shown += ["TensorLy multiplicative, 100 rounds"]
    figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
    labels = {
        f"{name} ({race[name]['above best, %']:.1f} % above the best)": 1000 * race[name]["seconds"]
        for name in shown
    }
    bars(axis, labels, "milliseconds", 0)
    near = [name for name in shown if race[name]["above best, %"] <= 1]
    first = min(near, key=lambda name: race[name]["seconds"])
    title = f"A tensor of 100 x 100 x 100, rank 5\nfirst of these within 1 % of the best: {first}"
    finish(figure, "tensors", "tensors", title)


def ground():
    """How many times as fast as a peer or a bare loop, on ground that came later."""
    found = {name: record["results"] for name, record in records("ground-*").items()}
    values = {}
    for part, label in (("cubes", "a tensor"), ("words", "counts of words as a tensor")):
        for rival in ("ALS", "HALS"):
            values[f"{label}, time of {rival}"] = 1 / found[f"ground-{part}"][EQUAL.format(rival)]
    texts = found["ground-texts"]["contenders"]
    ours, peer = (texts[name] for name in ("ours", "scikit-learn's MiniBatchNMF"))
    values["a first pass over short texts, MiniBatchNMF"] = ours["first pass"] / peer["first pass"]
    for part, label in (("motifs", "Glauber chain, {}"), ("pivots", "pivot chain, {}")):
        for name, each in found[f"ground-{part}"].items():
            values[f"{label.format(name)}, bare loop"] = each["times as fast"]
    values["30,000 features, three products"] = found["ground-wide"]["times as fast"]
    figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
    unit = "times as fast as what is named (dashed: equal)"
    bars(axis, values, unit, 1, log=True, ours=lambda name: values[name] > 1)
    axis.axvline(1, color="black", linestyle="--", linewidth=1)
    behind = ", ".join(name for name, value in values.items() if value < 1)
    first = fill(f"first: atomstream, except in: {behind}", 95)
    title = f"Chains, tensors, short texts, many features\n{first}"
    finish(figure, "ground", "ground-*", title)


EQUAL = "of {}'s time, where both arrive"


def at_hand():
    """Loss and time of tables in memory, over those of scikit-learn's NMF."""
    found = {name: record["results"] for name, record in records("at-hand-*").items()}
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 4), layout="constrained", sharey=True)
    titles = {"squared": "squared loss", "kl": "Kullback-Leibler", "is": "Itakura-Saito"}
    for axis, (loss, title) in zip(axes, titles.items(), strict=True):
        tables = found[f"at-hand-{loss}"].values()
        for tuned, colour in ((False, OURS), (True, PEER)):
            some = [each for each in tables if each["tuned on"] == tuned]
            times = [each["ours"]["seconds"] / each["NMF"]["seconds"] for each in some]
            losses = [each["ours"]["loss"] for each in some]
            label = "tuned on" if tuned else "not tuned on"
            axis.loglog(times, losses, "o", color=colour, label=label)
        for line in (axis.axvline, axis.axhline):
            line(1, color="black", linestyle="--", linewidth=1)
        axis.set_xticks([0.01, 0.1, 1, 10], [0.01, 0.1, 1, 10])
        axis.set_yticks([0.1, 0.3, 1], [0.1, 0.3, 1])
        lower = sum(each["ours"]["loss"] < 1.005 for each in tables)
        axis.set_title(f"{title}\nas low or lower: {lower} of {len(tables)}", fontsize=10)
        axis.set_xlabel("time over NMF's")
    axes[0].set_ylabel("loss over NMF's")
    axes[0].legend()
    title = "Tables that fit in memory: fit() beside scikit-learn's NMF with 500 rounds"
    finish(figure, "at-hand", "at-hand-*", title)


def learning():
    """Microseconds of a step with one row, with the error held out."""
    rows = records("learning-*")["learning-rows"]["results"]
    values = {
        f"{name}: error {each['error']:.3f}": each["us"]
        for name, each in rows.items()
        if each["us"] is not None
    }
    figure, axis = plt.subplots(figsize=(8, 2.6), layout="constrained")
    bars(axis, values, "microseconds", 0, ours=lambda name: name.startswith("ours"))
    lowest = min(rows, key=lambda name: rows[name]["error"])
    title = "A step of learning from one row (144 features, 20 atoms; NMF: all rows, a row)"
    first = min(values, key=values.get).split(":")[0]
    title += f"\nfirst: {first}; lowest error: {lowest}"
    finish(figure, "learning", "learning-*", title)


def first_use():
    """Seconds of the first use of estimators and commands."""
    found = read("first-use")
    figure, axes = plt.subplots(1, 2, figsize=(9, 5), layout="constrained")
    for axis, kind in zip(axes, ("estimators", "commands"), strict=True):
        names = list(found[kind])
        times = [each["fit"] if kind == "estimators" else each for each in found[kind].values()]
        for place, label, colour in ((0, "first", PEER), (1, "second", OURS)):
            axis.barh(names, [each[place] for each in times], color=colour, label=label)
        axis.invert_yaxis()
        axis.set_title(f"{kind}, fit" if kind == "estimators" else kind, fontsize=10)
        axis.set_xlabel("seconds")
    axes[0].legend()
    title = "First use, where no kernel is compiled yet, and the second time"
    finish(figure, "first-use", "first-use", title)


GROWING = {
    "n": "samples",
    "d": "features",
    "r": "atoms",
    "batch": "rows of a batch",
    "density": "density",
    "N": "representatives",
    "k": "nodes of the motif",
    "nodes": "nodes",
}


def growing(kind, title):
    """Return a figure of what four models take as one quantity grows."""
    models = {name: each["results"] for name, each in records("cost-*").items()}
    names = {"cost-nmf": "OnlineNMF", "cost-convex": "OnlineConvexMF"}
    names |= {"cost-cp": "OnlineCPDictionary", "cost-network": "NetworkDictionary"}
    figure, axes = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
    for axis, (name, model) in zip(axes.flat, names.items(), strict=True):
        for colour, (quantity, each) in zip(COLOURS, models[name][kind].items(), strict=False):
            grown = [value / each["values"][0] for value in each["values"]]
            label = f"{GROWING[quantity]}: {each['fitted']:.2f} ({each['theory']:z.2f})"
            axis.loglog(grown, each["costs"], "o-", base=2, color=colour, label=label)
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
        axis.set(title=model, xlabel="what grows, times its first value", ylabel=title)
        axis.legend(fontsize=8, title="exponent (theory's)", title_fontsize=8)
    return figure


def cost():
    """Seconds and memory as one quantity grows; and what was said of runs beforehand."""
    title = "Learning as one quantity grows: "
    figure = growing("seconds", "seconds of the processor")
    finish(figure, "cost-seconds", "cost-*", f"{title}seconds")
    figure = growing("megabytes", "megabytes")
    finish(figure, "cost-memory", "cost-*", f"{title}memory")
    cases = read("cost-estimates")["cases"]
    figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
    for kind, colour in (("seconds", OURS), ("megabytes", PEER)):
        ratios = [said / taken for said, taken in (each[kind] for each in cases.values())]
        axis.plot(ratios, list(cases), "o", color=colour, label=kind)
    axis.axvspan(1 / 1.5, 1.5, color="#eeeeee", zorder=0)
    axis.set_xscale("log", base=2)
    axis.set_xticks([0.5, 1 / 1.5, 1, 1.5, 2], ["0.5", "0.67", "1", "1.5", "2"])
    axis.set_xlabel("what --estimate said, over what the run took")
    axis.invert_yaxis()
    axis.legend()
    title = "Said before a run and taken by it; grey: within a factor of 1.5"
    finish(figure, "cost-estimates", "cost-estimates", title)


def consensus():
    """Seconds of many replicates, on random counts and on cells."""
    speed = read("consensus-speed")
    values = {}
    for each in speed:
        case = f"{each['loss']}, passes: {each['passes']:.0f}"
        values[f"atomstream, {case}"] = each["seconds"]
        values[f"scikit-learn NMF, {each['loss']}"] = each["sklearn_seconds"]
    title = "100 replicates of 20 programs, 20,000 cells x 2,000 genes"
    chart("consensus", "consensus-speed", values, title, "seconds")
    found, values, first = read("cells"), {}, 0
    for case in found["cases"]:
        size = "{:,} cells x {:,} genes, ".format(*case["shape"])
        size += f"{case['rank']} programs, {case['loss']}"
        ours = case["matched"]["bootstrap"]["seconds"]
        first += ours < case["sklearn_seconds"]
        values[f"atomstream, {size}"] = ours
        values[f"scikit-learn NMF, {size}"] = case["sklearn_seconds"]
    title = f"{found['replicates']} replicates of programs of cells"
    cases = len(found["cases"])
    title += f"\nfirst: atomstream in {first} of {cases}, scikit-learn in {cases - first}"
    figure, axis = plt.subplots(figsize=(8, 1.4 + 0.33 * len(values)), layout="constrained")
    bars(axis, values, "seconds", 1, log=True)
    finish(figure, "cells", "cells", title)


def ranks():
    """Draw how often the planted number of atoms is chosen."""
    found = read("consensus-choices")
    values = {f"{each['kind']}, {each['noise']}": each["right"] for each in found["planted"]}
    title = f"The planted number of atoms is chosen, of {found['seeds']} data sets each"
    alone("ranks", "consensus-choices", values, title, "data sets", equal=found["seeds"])


def intervals():
    """Draw how many true entries the intervals hold."""
    found = read("consensus-intervals")
    figure, axes = plt.subplots(1, 2, figsize=(8, 4.4), sharey=True, layout="constrained")
    labels = [f"{each['kind']}, {each['noise']}" for each in found]
    for axis, (start, label) in zip(
        axes, (("", "what was planted"), ("limit_", "what many rows lead to")), strict=True
    ):
        for entries, mark, colour in (("zeros", "o", OURS), ("others", "s", PEER)):
            shares = [100 * each[f"{start}{entries}"] for each in found]
            axis.plot(shares, range(len(found)), mark, color=colour, label=entries)
        axis.axvline(95, color="black", linestyle="--", linewidth=1)
        axis.set(xlim=(45, 102), xlabel="percent of the entries inside")
        axis.set_title(label, loc="left", fontsize=10)
    axes[0].set_yticks(range(len(found)), labels)
    axes[0].invert_yaxis()
    axes[0].legend(loc="upper left", title="entries planted as")
    title = "Intervals of 95 % for the entries of atoms, from 100 replicates"
    finish(figure, "intervals", "consensus-intervals", title)


def million():
    """Draw the memory that a million cells need."""
    values = {
        f"{' '.join(map(str, each['ranks']))} programs, {each['replicates']} replicates each": (
            each["beyond_mb"]
        )
        for each in read("million-cells")
    }
    title = "A million cells x 2,000 genes from a file: memory beyond the libraries and the model"
    alone("million-cells", "million-cells", values, title, "megabytes")


def drift():
    """How late alarms come, and how often they are false."""
    delays = [each for each in read("drift")["delays"] if each["dependence"] == 0]
    figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
    for each in delays:
        quiet = each["batches per false alarm"] or each["quiet batches"]
        late = [each[f"{kind}: median delay"] for kind in ("abrupt", "gradual")]
        colour = OURS if is_ours(each["detector"]) else PEER
        axis.loglog([quiet, quiet], late, color=colour, linewidth=1)
        axis.loglog(quiet, late[0], "o", quiet, late[1], "s", color=colour)
        label = each["detector"] + ("" if each["batches per false alarm"] else ",\nno false alarm")
        where = (quiet, max(late)), (0, 8)
        axis.annotate(label, *where, textcoords="offset points", ha="center", fontsize=8)
    axis.loglog([], [], "ko", label="abrupt change")
    axis.loglog([], [], "ks", label="gradual change")
    axis.legend(loc="upper right")
    axis.set(xlabel="batches between false alarms, more is better", ylabel="batches of delay")
    axis.set(xlim=(110, 60_000), ylim=(2, 200))
    title = "Alarms of drift: those further down are sooner, those further right more often true"
    both = "Defaults of river; with a searched threshold Page-Hinkley is sooner on abrupt changes"
    finish(figure, "drift", "drift", f"{title}\n{both}")


def streams():
    """Draw the loss before learning, with and without the adaptive schedule, on real streams."""
    values = {
        name: each["loss, adaptive"] / each["loss, harmonic"]
        for name, each in read("real-streams").items()
    }
    worse = ", ".join(name for name, value in values.items() if value > 1)
    title = "Forgetting on real streams: adaptive schedule against harmonic weights\n"
    title += f"first: the adaptive schedule, except on: {worse}"
    unit = "loss on batches to come, over that of harmonic weights"
    alone("streams", "real-streams", values, title, unit, 2, equal=1)


def engine():
    """Draw what rounds over slots cost in rows a second, and in error."""
    rows = {each["engine"]: each["rows per second"] for each in read("engine-cost")}
    title = "Rows a second on two cores"
    alone("engine-cost", "engine-cost", rows, title, "rows a second, more is better")
    found = read("engine-quality")
    figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
    for case, colour in zip(sorted({each["case"] for each in found}), COLOURS, strict=True):
        runs = [each for each in found if each["case"] == case and each["mode"] != "frozen"]
        slots = sorted({each["slots"] for each in runs})
        errors = [median(e["error"] for e in runs if e["slots"] == n) for n in slots]
        ratios = [error / errors[0] for error in errors]
        axis.semilogx(slots, ratios, "o-", base=2, color=colour, label=case)
    axis.axhline(1, color="black", linestyle="--", linewidth=1)
    slots = sorted({each["slots"] for each in found})
    axis.set_xticks(slots, slots)
    axis.set(xlabel="slots that learn at the same time", ylabel="error over that of one learner")
    axis.legend()
    title = "The error after equal numbers of rows: more learners at the same time cost accuracy"
    finish(figure, "engine-quality", "engine-quality", title)


def engine_scale():
    """Draw the rows a second of many workers, by the model."""
    found = [each for each in read("engine-scale") if "workers" in each]
    figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
    sizes = sorted({each["rows of a slot"] for each in found})
    for size, colour in zip(sizes, COLOURS, strict=False):
        runs = [each for each in found if each["rows of a slot"] == size]
        workers = [each["workers"] for each in runs]
        rates = [each["rows per second"] for each in runs]
        axis.loglog(workers, rates, "o-", base=2, color=colour, label=f"{size:,} rows a slot")
    axis.set_xticks(workers, workers)
    axis.set_yticks([2**power * 1e5 for power in range(1, 9, 2)])
    axis.yaxis.set_major_formatter(lambda rate, _: f"{rate:,.0f}")
    axis.set(xlabel="workers", ylabel="rows a second")
    axis.legend()
    title = "A model, not a measurement: recorded times played for many workers"
    finish(figure, "engine-scale", "engine-scale", title)


COLOURS = (OURS, PEER, "#1b9e77", "#7570b3", "#e7298a", "#e6ab02", "#1f78b4")


def files():
    """Draw what reading from files adds to learning."""
    ratios = read("files")["ratios"]["0.03"]
    values = {name.replace(" / ", " over "): ratio for name, ratio in ratios.items()}
    title = "A pass over a file, in multiples of a pass over an array (alpha 0.03)"
    alone("files", "files", values, title, "times as long", 2, equal=1)


CHARTS = (
    *(peers, coding, coding_cases, sparse_model, topics, losses, networks, walks, tensors),
    *(
        ground,
        at_hand,
        learning,
        first_use,
        cost,
        consensus,
        ranks,
        intervals,
        million,
        drift,
        streams,
        engine,
        engine_scale,
        files,
    ),
)

if __name__ == "__main__":
    for draw in CHARTS:
        draw()
