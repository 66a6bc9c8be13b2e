"""Figures on the pages of algorithms, as the records have them."""

from statistics import mean

from doc_figures.recorded import NUMBERS, first_calls, per_cent, results, trials
from pages import BENCHMARKS

SCORES = ("Adamic-Adar", "Jaccard", "resource allocation", "preferential attachment")


def convex_mf():
    yield f"({first_calls()[1]:.0f} s on two quiet cores)"


def sparse_coding():
    found = results("learning-many")
    few, sphere, many = (
        f"{case}, batches of 2048"
        for case in ("2048 atoms", "2048 atoms, on the sphere", "16384 atoms")
    )
    yield f"takes {found[few]:.1f} ms a row".replace("0.", ".")
    yield f"({found[sphere]:.1f} ms with atoms on the sphere)".replace("0.", ".")
    yield f"one with 16,384 atoms {found[many]:.0f} ms"
    coding = trials("000-2-coding")
    yield f"NMF {coding['batch on digits']:.3f})"
    root, log = (coding["tolerances"][name]["patches"] for name in ("root", "log"))
    longer = [root[l1]["rows per second"] / log[l1]["rows per second"] for l1 in ("0", "0.03")]
    yield f"takes up to {NUMBERS[round(max(longer))]} times as long as"


def random_walks():
    conductance = trials("002-1")["merging conductance (the paper: roughly 0.06)"]
    yield f"merging conductance of the example is {conductance:.3f}"


def network_dictionaries():
    names = [path.stem for path in BENCHMARKS.rglob("results/links-*.json")]
    tasks = [task for name in names for task in results(name)["tasks"].values()]
    simple = [name for name in tasks[0] if name in SCORES or name.startswith("SVD")]
    below = [max(mean(task[name]) for name in simple) - mean(task["fitted"]) for task in tasks]
    yield f"In {sum(gap <= 0 for gap in below)} of {len(tasks)} tasks of the"
    yield f"at most {max(below):.2f} below"


def divergences():
    kl = results("divergences")["kl"]
    yield f"held-out divergence of {kl['ours'][7][1]:.1f} after one pass"
    yield f"and {kl['ours'][-1][1]:.1f} after nine"
    yield f"The true atoms have {kl['truth']:.1f}"
    yield from steps_of_subgradients()


def steps_of_subgradients():
    losses = trials("004-2")
    for label, unit in (("as printed", "printed"), ("in units of the curvature", "curvature")):
        by_loss = [best_step(losses[name], unit, "divergence") for name in ("is", "kl", "squared")]
        clean = ", ".join(best_step(losses[name], unit, "clean") for name in ("huber", "l1", "l2"))
        yield f"| {label} | {' | '.join(by_loss)} | {clean} |"
    ends = {name: losses[name] for name in ("is", "kl", "squared")}
    begun = [each["start"]["divergence"] for each in ends.values()]
    found = [each["curvature"]["a / b"] for each in ends.values()]
    shares = [runs["1"]["divergence"] / start for runs, start in zip(found, begun, strict=True)]
    yield f"ends at {min(shares):.2f} to {max(shares):.2f} of its start"
    printed = losses["squared"]["printed"]["a / b"]["1"]["divergence"]
    yield f"Itakura-Saito: {printed / begun[-1]:.1f} times under the squared"
    long = losses["squared"]["long"]
    near, far = ("0.32", "1", "3.2"), ("0.1", "0.32", "1", "3.2", "10")
    low, high = per_cent([spread(runs, near) for runs in found])
    yield f"differ by {low} to {high} % after 10,000 samples, and by "
    yield f"and by {per_cent([spread(long, near)])[0]} % after 100,000 (squared loss)"
    wide = [spread(runs, far) for runs in found]
    yield f"is {min(wide):.1f} to {max(wide):.1f} times the best after 10,000 samples, and "
    yield f"and {spread(long, far):.1f} times after 100,000."
    huber, l1 = losses["huber"], losses["l1"]
    start, steady, falling = (
        huber[name] for name in ("start", "constant, Algorithm 2", "falling, Algorithm 2")
    )
    yield f"at a loss of {steady['divergence']:,.0f}, just above the start"
    yield f"the start ({start['divergence']:,.0f}), and {steady['clean']:.1f} from the clean rows"
    yield f"further than the start ({start['clean']:.1f})"
    yield f"they end at {falling['divergence']:,.0f} and {falling['clean']:.1f}."
    yield f"(a = 0.1 b: {l1['curvature']['a / b']['0.1']['clean']:.1f})"
    race = trials("004-1")
    *_, (_, last) = race["huber"]["spsg, falling"]
    seconds, best = min(race["huber"]["spsg, falling"], key=lambda point: point[1])
    yield f"best after {seconds:.1f} s ({best:.1f}) and end at {last:.1f} after 15 s"
    huber, l1, l2 = (race[name]["ours"][-1][1] for name in ("huber", "l1", "l2"))
    yield f"ends there at {huber:.1f} (Huber), {l1:.1f} (l1) and {l2:.1f} (l2)"


def best_step(loss, unit, by):
    """Return the ratio a / b of the best end, or none where no end is better than the start."""
    runs = loss[unit]["a / b"]
    best = min(runs, key=lambda ratio: runs[ratio][by])
    return f"{float(best):g}".replace("e-0", "e-") if runs[best][by] < loss["start"][by] else "none"


def spread(runs, ratios):
    """Return by how much the worst of some runs ends above the best."""
    ends = [runs[ratio]["divergence"] for ratio in ratios]
    return max(ends) / min(ends)


PAGES = {
    "algorithms/convex-mf": convex_mf,
    "algorithms/divergences": divergences,
    "algorithms/network-dictionaries": network_dictionaries,
    "algorithms/random-walks": random_walks,
    "algorithms/sparse-coding": sparse_coding,
}
