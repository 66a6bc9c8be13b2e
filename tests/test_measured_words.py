"""Pages of the documentation say of speeds and errors what the records of benchmarks say."""

from datetime import date
from importlib import import_module
from itertools import pairwise
from statistics import mean

import pytest
from pages import BENCHMARKS, ROOT

benchmarks, experiments = import_module("benchmark_records"), import_module("records")
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS += ("eleven", "twelve", "thirteen", "fourteen")
SCORES = ("Adamic-Adar", "Jaccard", "resource allocation", "preferential attachment")


def results(name):
    """Return what a record of a benchmark holds."""
    return benchmarks.load(name)["results"]


def spams():
    peers, rows = results("peers"), results("coding")["densities"]["0.1"]["rows"]
    first = peers["one_pass"][0]
    yield f"{first['ours']:,.0f} samples a second against {first['spams']:,.0f}"
    yield f"{first['our_error']:.4f} against {first['spams_error']:.4f}"
    ours, theirs = (
        rows[name]["us_per_row"] for name in ("atomstream float64", "SPAMS lasso float64")
    )
    yield f"{ours:.1f} microseconds a row against {theirs:.1f}"
    yield f"{peers['memory']['spams']:.1f} MB beyond the data"
    yield f"against {peers['memory']['atomstream']:.1f} MB"


def sklearn():
    peers = results("peers")
    same = peers["same_time"]
    yield f"is {same['atomstream, defaults']:.4f}"
    for start in ("MiniBatchNMF", "MiniBatchDictionaryLearning"):
        least = min(error for name, error in same.items() if name.startswith(start))
        yield f"`{start}` {least:.4f}"
    yield f"batch `NMF` {same['batch NMF']:.4f}"
    yield f"{peers['time_to_sklearn']['batch NMF']['ours']:.2f} s"


def cnmf():
    _, squared, kl = results("consensus-speed")
    yield f"take {squared['seconds']:.0f} s of one core"
    yield f"take {squared['sklearn_seconds']:.0f} s."
    yield f"{kl['seconds']:.0f} s against {kl['sklearn_seconds']:,.0f} s"


def cnmf_torch():
    yield f"One core here takes {results('consensus-speed')[1]['seconds']:.0f} s for 100 replicates"


def gensim():
    topics = results("divergences")["sparse"]
    for name in ("ours, batches of 256", "gensim Nmf"):
        seconds, loss = topics[name][-1]
        yield f"{loss:.2f} after {seconds:.1f} s"


def passes_over_a_file():
    """Return the least and the most seconds of a pass over a tensor of 4 GB."""
    big = results("tensors")["big"]
    return [
        big[name]["one learning pass, s"] for name in ("from the system's cache", "from the disk")
    ]


def first_calls():
    """Return the seconds of the first fit of two models."""
    found = results("first-use")["estimators"]
    return [found[name]["fit"][0] for name in ("digits, 10 atoms", "convex")]


def five_minutes():
    nmf, convex = first_calls()
    yield f"about {NUMBERS[round(nmf)]} seconds, because"
    yield f"convex model takes {convex:.0f}."


def convex_mf():
    yield f"({first_calls()[1]:.0f} s on two quiet cores)"


def sparse_coding():
    found = results("learning-many")
    few, many = "2048 atoms, on the sphere, batches of 2048", "16384 atoms, batches of 2048"
    yield f"takes {found[few]:.1f} ms a row".replace("0.", ".")
    yield f"one with 16,384 atoms {found[many]:.0f} ms"


def divergences():
    kl = results("divergences")["kl"]
    yield f"held-out divergence of {kl['ours'][7][1]:.1f} after one pass"
    yield f"and {kl['ours'][-1][1]:.1f} after nine"
    yield f"The true atoms have {kl['truth']:.1f}"


def cluster():
    *_, dask, kept = [round(each["rows per second"], -3) for each in results("engine-cost")]
    yield f"learned {kept:,.0f} rows a second instead of {dask:,.0f}"


def ray_and_spark():
    recorded = results("engine-scale")[0]
    yield f"({recorded['bytes sent'] / 1e6:.1f} MB) to every slot"
    yield f"take {recorded['bytes returned'] / 1e6:.1f} MB back"


def sources_of_air():
    days = [
        each["seconds a day"]["online alone"] for each in results("sources-live")["judged"].values()
    ]
    yield f"six sources an hour takes {1000 * mean(days) / 24:.1f} milliseconds"


def network_dictionaries():
    names = [path.stem for path in (BENCHMARKS / "results").glob("links-*.json")]
    tasks = [task for name in names for task in results(name)["tasks"].values()]
    simple = [name for name in tasks[0] if name in SCORES or name.startswith("SVD")]
    below = [max(mean(task[name]) for name in simple) - mean(task["fitted"]) for task in tasks]
    yield f"In {sum(gap <= 0 for gap in below)} of {len(tasks)} tasks of the"
    yield f"at most {max(below):.2f} below"


def tensorly():
    hals = results("tensors")["race"]["table"]["TensorLy HALS, 100 rounds"]
    yield f"HALS takes {hals['seconds']:.2f} s for {hals['above best, %']:.1f} %"
    memory = results("tensors")["big"]["from the disk"]["peak memory, MB"]
    low, high = passes_over_a_file()
    yield f"{low:.1f} to {high:.1f} s a pass and {memory:.0f} MB"


def papers_code():
    networks = results("networks")
    learned = networks["learning"]["contenders"]
    slower = max(learned[f"atomstream, {chain}"]["seconds"] for chain in ("pivot", "glauber"))
    yield f"takes {slower:.1f} s with the pivot chain or with Glauber"
    yield f"against {learned['ndlearn (Glauber)']['seconds']:.1f} s"
    pairs = [(rates, name) for rates in networks.values() for name in rates if "NNetwork" in name]
    faster = [
        rates[mine] / rates[name]
        for rates, name in pairs
        for mine in rates
        if name.startswith(f"{mine.split(',')[0]},") and "NNetwork" not in mine
    ]
    yield f"{min(faster):.0f} to {max(faster):,.0f} times as fast"


def which_model():
    peers, learned = results("peers")["one_pass"], results("networks")["learning"]["contenders"]
    exact = experiments.load("000-2-coding")["results"]["tolerances"]["root"]["patches"]["0"]
    yield f"{round(exact['rows per second'], -3):,.0f} rows of 400 numbers a second"
    sparse = next(each["ours"] for each in peers if each["alpha"] == 0.03)
    yield f"{round(sparse, -4):,.0f} with `alpha=0.03`"
    labels = results("labels")["digits, 10 atoms"]["ours, weight 0.3"]
    yield f"300 passes, {labels['seconds']:.0f} s"
    losses = results("divergences")
    kl, huber = (losses[name]["samples_per_second"] for name in ("kl", "huber"))
    yield f'{round(kl, -4):,.0f} rows of 200 numbers a second under "kl"'
    yield f'{round(huber, -2):,.0f} under "huber"'
    cube = results("unmixing-cubes")["Samson"]["ours after division, 0.0003"]
    yield f"9,000 pixels of 156 bands in {['', 'a second'][round(cube['seconds'])]}"
    yield f"20,000 x 2,000 in {results('consensus-speed')[1]['seconds']:.0f} s"
    yield "4 GB in {:.0f} to {:.0f} s a pass".format(*passes_over_a_file())
    yield f"21 nodes in {learned['atomstream, pivot']['seconds']:.1f} s"
    steps = results("walks")["microseconds per transition"]
    yield f"{steps['2000']:.1f} to {steps['100000']:.1f} microseconds a transition"


def what_may_be_promised():
    for case in ("squared", "kl", "convex", "tensors", "chains", "squared, long", "kl, long"):
        yield from above_serial(case)
    rates = {
        (row["workers"], row["rows of a slot"]): row
        for row in results("engine-scale")
        if "workers" in row
    }
    some, most = rates[64, 16384], rates[1024, 16384]
    yield f"64 workers learn about {some['rows per second'] / 1e6:.1f} million rows a second"
    yield f"1,024 workers {most['rows per second'] / 1e6:.1f} million"
    yield f"at work {100 * most['driver at work']:.0f} %"


def above_serial(case):
    """Yield by how many percent slots end above serial learning, and after how many rounds."""
    rows = [row for row in results("engine-quality") if row["case"] == case]
    serial = {
        row["seed"]: row["error"] for row in rows if row["mode"] == "serial" and row["batch"] != 128
    }
    local = [row for row in rows if row["mode"] == "local"]
    for slots in sorted({row["slots"] for row in local}):
        ours = [row for row in local if row["slots"] == slots]
        above = [f"{100 * (row['error'] / serial[row['seed']] - 1):+.1f}" for row in ours]
        yield f"| {', '.join(above)} ({ours[0]['rounds']}".replace("-0.0", "0.0")


def watching():
    drift = results("drift")
    over = [each["adaptive"] / each["half-life"] for each in drift["errors"]]
    near = sum(ratio <= 1.05 for ratio in over)
    yield f"{min(over):.2f} to {max(over):.2f} times the error"
    yield f"1.05 times in {near} of {len(over)} cases"
    longer = drift["seconds"]["adaptive"] / drift["seconds"]["power"]
    yield f"Learning takes {longer:.1f} times as long"


def streams_that_change():
    streams = results("real-streams")
    for stream in streams.values():
        for law in ("adaptive", "harmonic", "default", "best half-life"):
            digits = 1 if stream["loss, default"] > 10 else 2
            yield f"{stream[f'loss, {law}']:.{digits}f}"
    days = [date.fromisoformat(day) for day in streams["weather"]["takeovers"]]
    gaps = [(later - day).days for day, later in pairwise(days)]
    yield f"every {NUMBERS[min(gaps)]} to {NUMBERS[max(gaps)]} days in winter"


def mutational_signatures():
    runs = results("signatures-published")
    weakest = [100 * run["weakest"][3] for run in runs]
    yield f"found in {min(weakest):.0f} to {max(weakest):.0f} % of the replicates only"
    for words, name in (("published one is", "cosines"), ("ends at", "single")):
        third = [run[name][2] for run in runs]
        yield f"{words} {min(third):.3f} to {max(third):.3f}".replace("0.", ".")


def million_cells():
    found = results("million-cells")[0]
    yield f"| {found['seconds']:.0f} s on one core |"
    yield f"| {found['peak_mb']:.0f} MB, of which {found['before_mb']:.0f} MB are Python"
    yield f"{found['model_mb']:.0f} MB the models"
    yield f"| {found['genes_read_mb'] / 1000:.1f} GB |"
    yield f"| {found['read_mb'] / 1000:.1f} GB, and the same"
    yield f"at least {int(100 * found['worst_cosine']) / 100:.2f} |"


def missing_entries():
    cases = [case for site in results("entry-weights-squared").values() for case in site.values()]
    best, medians, worst = (
        [case[key] - 1 for case in cases] for key in ("our best", "our median", "our worst")
    )
    yield f"at most {100 * max(best):.2f} % above the best of twenty weighted multiplicative runs"
    yield f"within {100 * max(medians):.1f} % of that in the median"
    yield f"within {100 * max(worst):.1f} % at worst"
    cases = [
        case for site in results("entry-weights-other-losses").values() for case in site.values()
    ]
    ratios = [case["huber, auto"]["median"] for case in cases]
    yield f"{min(ratios):.1f} to {max(ratios):.1f} times the least possible"
    left_out = [case["rows left out"]["auto"] for case in cases if "rows left out" in case]
    hidden = [each["hidden"] for each in left_out]
    yield f"{min(hidden):.2f} to {max(hidden):.2f} of the loss of batch atoms"


def labels():
    words = results("labels")["20 newsgroups, 20 atoms"]
    best = max(words[name]["accuracy"] for name in words if name.startswith("logistic"))
    below = round(100 * (best - words["ours, weight 0.3"]["accuracy"]))
    yield f"the defaults stay {NUMBERS[below]} points below"
    found = results("labels-networks")["tasks"]["three networks"]
    without, one, three = (found[f"20 atoms, weight {weight}.0"]["right"][-1] for weight in "013")
    regression = max(
        found[name]["right"][-1] for name in found if name.startswith("logistic regression")
    )
    words = f"{without:.3f} without, {one:.3f} with a weight of 1, {three:.3f} with 3, "
    yield f"{words}regression {regression:.3f}".replace("0.", ".")


def choosing():
    for name, words in (("squared", "loss is between"), ("kl", "and between")):
        tables = results(f"at-hand-{name}").values()
        over = [table["ours"]["loss"] / table["NMF"]["loss"] for table in tables]
        yield f"{words} {min(over):.2f} and {max(over):.3f} times"
    yield f"On {len(over)} tables"
    threads = results("learning-threads")
    faster = [
        case["one"] / case["two"] for name, case in threads.items() if name.startswith("squared")
    ]
    yield f"{min(faster):.1f} to {max(faster):.1f} times as fast as one"


PAGES = {
    "algorithms/convex-mf": convex_mf,
    "algorithms/divergences": divergences,
    "algorithms/network-dictionaries": network_dictionaries,
    "algorithms/sparse-coding": sparse_coding,
    "choosing": choosing,
    "coming-from/cnmf": cnmf,
    "coming-from/cnmf-torch": cnmf_torch,
    "coming-from/gensim": gensim,
    "coming-from/papers-code": papers_code,
    "coming-from/scikit-learn": sklearn,
    "coming-from/spams": spams,
    "coming-from/tensorly": tensorly,
    "five-minutes": five_minutes,
    "how-to/from-a-laptop-to-a-cluster": cluster,
    "how-to/labels": labels,
    "how-to/million-cells": million_cells,
    "how-to/missing-entries": missing_entries,
    "how-to/mutational-signatures": mutational_signatures,
    "how-to/ray-and-spark": ray_and_spark,
    "how-to/sources-of-air": sources_of_air,
    "how-to/streams-that-change": streams_that_change,
    "how-to/watching": watching,
    "what-may-be-promised": what_may_be_promised,
    "which-model": which_model,
}


@pytest.mark.parametrize(
    ("page", "words"), [(page, words) for page, told in PAGES.items() for words in told()]
)
def test_pages_say_what_was_measured(page, words):
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert words in " ".join(text.split())
