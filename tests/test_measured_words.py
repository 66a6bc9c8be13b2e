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


def trials(name):
    """Return what a record of an experiment holds."""
    return experiments.load(name)["results"]


def per_cent(values, below=1.0):
    """Return the least and the greatest of ratios, as per cent above or below one, rounded."""
    return [f"{100 * abs(value - below):.0f}" for value in (min(values), max(values))]


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
    yield f"compiles for about {NUMBERS[round(first_calls()[0])]} seconds"


def readme():
    same = results("peers")["same_time"]
    spams = min(error for name, error in same.items() if name.startswith("SPAMS"))
    yield f"leave an error of {same['atomstream, defaults']:.3f};"
    yield f"NMF reaches {same['batch NMF']:.3f} and SPAMS {spams:.3f}"


def cnmf():
    _, squared, kl = results("consensus-speed")
    yield f"take {squared['seconds']:.0f} s of one core"
    yield f"take {squared['sklearn_seconds']:.0f} s."
    yield f"{kl['seconds']:.0f} s against {kl['sklearn_seconds']:,.0f} s"
    yield f"[{results('million-cells')[0]['seconds']:.0f} s](../how-to/million-cells.md)"
    large = results("cells")["cases"][4]
    seconds, hours = large["matched"]["starts alone"]["seconds"], large["sklearn_seconds"] / 3600
    yield f"{large['shape'][0]:,} cells {seconds:.0f} s, where 100 runs take about an hour"
    assert round(hours) == 1  # "an hour"
    yield matched_programs()


def matched_programs():
    worst = min(each["worst_cosine"] for each in results("consensus-speed")[:2])
    return f"a cosine of at least {worst - worst % 0.005:.3f}"


def cnmf_torch():
    yield f"One core here takes {results('consensus-speed')[1]['seconds']:.0f} s for 100 replicates"
    yield matched_programs()


def gensim():
    topics = results("divergences")["sparse"]
    for name in ("ours, batches of 256", "gensim Nmf"):
        seconds, loss = topics[name][-1]
        yield f"{loss:.2f} after {seconds:.1f} s"
    yield f"({topics['truth']:.2f} for the true topics)"
    best = min(topics[name][-1][1] for name in topics if name.startswith(("Mini", "gensim")))
    ours, theirs = (
        next(seconds for seconds, loss in topics[name] if loss <= 1.01 * best)
        for name in ("ours, batches of 256", "gensim Nmf")
    )
    yield f"to within 1 % of the best peer in {ours:.1f} s against {theirs:.1f} s"


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


def why():
    first, soon, _, last = results("flat-memory")["MB"].values()
    yield f"memory grew by {last - first:.1f} MB, all of it in the first two million"
    assert last - soon < 0.05


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
    coding = trials("000-2-coding")
    yield f"NMF {coding['batch on digits']:.3f})"
    root, log = (coding["tolerances"][name]["patches"] for name in ("root", "log"))
    longer = [root[l1]["rows per second"] / log[l1]["rows per second"] for l1 in ("0", "0.03")]
    yield f"takes up to {NUMBERS[round(max(longer))]} times as long as"


def random_walks():
    conductance = trials("002-1")["merging conductance (the paper: roughly 0.06)"]
    yield f"merging conductance of the example is {conductance:.3f}"


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


def cluster():
    *_, dask, kept = [round(each["rows per second"], -3) for each in results("engine-cost")]
    yield f"learned {kept:,.0f} rows a second instead of {dask:,.0f}"
    rows = [row for row in results("engine-quality") if row["mode"] != "serial"]
    places = {(row["case"], row["seed"], row["slots"], row["mode"]): row["error"] for row in rows}
    frozen = {place: error for place, error in places.items() if place[3] == "frozen"}
    worse = sum(error > places[(*place[:3], "local")] for place, error in frozen.items())
    yield f"It was worse than local steps in {worse} of {len(frozen)} cases"


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
    table = results("tensors")["race"]["table"]
    hals = table["TensorLy HALS, 100 rounds"]
    yield f"HALS takes {hals['seconds']:.2f} s for {hals['above best, %']:.1f} %"
    online = table["online, 10 passes"]
    yield f"ten passes take {online['seconds']:.2f} s and end {online['above best, %']:.1f} % above"
    ours, als = (
        min(
            row["seconds"]
            for name, row in table.items()
            if name.startswith(start) and row["above best, %"] <= 1
        )
        for start in ("online", "ALS")
    )
    yield f"takes {als / ours:.1f} of our time to within 1 %"
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
    tensors = results("tensors")["batches"]["20 x 100 x 100"]["ms"]
    yield f"20 tensors of 100 x 100 in {tensors:.1f} ms"
    each_row = 1000 * results("forecasts-speed")["11,000 rows of ETTh2"] / 11_000
    yield f"about {each_row:.1f} ms a row of seven series"
    seconds = [
        task[f"6 atoms, weight {weight}.0"]["seconds"]
        for task in results("labels-networks")["tasks"].values()
        for weight in "13"
    ]
    yield f"8 nodes in {min(seconds):.1f} to {max(seconds):.1f} s with 6 atoms"


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
    most_helpful = next(
        row["more stop to help after"]
        for row in results("engine-scale")
        if row.get("rows of a slot") == 4096 and "workers" not in row
    )
    yield f"more than {most_helpful} workers hardly help"
    yield from beside_one_worker()
    yield from above_small_steps()


def errors_of(mode, case, slots, batch=128):
    """Return the errors of serial learning or of rounds over slots, by seed."""
    return {
        row["seed"]: row["error"]
        for row in results("engine-quality")
        if (row["mode"], row["case"], row["slots"], row["batch"]) == (mode, case, slots, batch)
    }


def above(ours, serial):
    """Return by how many per cent errors are above those of serial learning from the same rows."""
    return [f"{100 * (error / serial[seed] - 1):+.1f}" for seed, error in ours.items()]


def above_small_steps():
    """Yield how far slots end above serial learning in steps of 128, and frozen rounds of 256."""
    four, sixteen, kl_four, kl_sixteen = (
        " and ".join(above(errors_of("local", case, slots), errors_of("serial", case, 1)))
        for case in ("squared", "kl")
        for slots in (4, 16)
    )
    yield f"is at {four} % with 4 slots and at {sixteen} % with 16; Kullback-Leibler at "
    yield f"Kullback-Leibler at {kl_four} and {kl_sixteen} %."
    frozen = above(errors_of("frozen", "squared", 64), errors_of("serial", "squared", 1, 256))
    yield f"with 64 slots they ended {' and '.join(frozen)} % above serial learning"


def beside_one_worker():
    over = [
        100 * (min(row["one worker"].values()) / row["error"] - 1)
        for row in results("engine-quality")
        if row["mode"] == "local"
    ]
    lower = sum(value <= 0 for value in over)
    yield f"it ends lower in {lower} of {len(over)} lines of these tables"
    yield f"(by up to {-min(over):.0f} %)"
    near = sum(0 < value < 1 for value in over)
    yield f"in the others at most {max(over):.0f} % higher, in {near} of them by less than one"


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
    yield f"left its past behind {NUMBERS[len(days)]} times"
    counts = [streams[name]["batches"] for name in ("headlines", "weather", "epidemic")]
    for words in ("in {} batches of 50", "in {} batches of half", "one batch a day, {} days"):
        yield words.format(counts.pop(0))
    month, day, _ = streams["epidemic"]["takeovers"][0].split("/")
    yield f"it took over on {day} {date(2020, int(month), 1):%B}"
    yield f"half-lives, {streams['weather']['best half-life']} rows, has"
    yield from alarms(streams)


def alarms(streams):
    """Yield the words of the alarms in headlines, and the dates of those of the loss in weather."""
    for alarm in streams["headlines"]["alarms"]:
        name, before, after = alarm["atoms"][0]
        atom = f'"{", ".join(name.split(", ")[:4])}"'
        dates = [spoken(alarm[when]) for when in ("date", "began")]
        use = "use of a topic" if alarm["cause"] == "usage" else "loss"
        yield f"| {dates[0]} | {use} | {dates[1]} | "
        if use == "loss":
            word, low, high = alarm["features"][0]
            yield f"errors of *{word}* ({low:.2f} to {high:.2f}), "
            yield f"topic {atom} from {before:.2f} to {after:.2f}"
        else:
            yield f"{atom}: share from {before:.2f} to {after:.2f}"
    first, second = (
        spoken(alarm["date"].replace("-", ""))
        for alarm in streams["weather"]["alarms"]
        if alarm["cause"] == "loss"
    )
    yield f"alarm on {first}, for"
    yield f"and on {second}, for"


def spoken(day):
    """Return a day of eight digits as it is written on pages."""
    when = date.fromisoformat(day)
    return f"{when.day} {when:%B}"


def mutational_signatures():
    runs = results("signatures-published")
    weakest = [100 * run["weakest"][3] for run in runs]
    yield f"found in {min(weakest):.0f} to {max(weakest):.0f} % of the replicates only"
    for words, name in (("published one is", "cosines"), ("ends at", "single")):
        third = [run[name][2] for run in runs]
        yield f"{words} {min(third):.3f} to {max(third):.3f}".replace("0.", ".")
    assert round(mean(run["seconds"] for run in runs) / 30) == 3
    yield "about a minute and a half of one core"


def million_cells():
    found = results("million-cells")[0]
    yield f"| {found['seconds']:.0f} s on one core |"
    yield f"| {found['peak_mb']:.0f} MB, of which {found['before_mb']:.0f} MB are Python"
    yield f"{found['model_mb']:.0f} MB the models"
    yield f"| {found['genes_read_mb'] / 1000:.1f} GB |"
    yield f"| {found['read_mb'] / 1000:.1f} GB, and the same"
    yield f"at least {int(100 * found['worst_cosine']) / 100:.2f} |"
    yield f"lie in a file of {found['file_mb'] / 1000:.1f} GB"
    yield f"| programs chosen | {found['chosen']} |"
    yield f"| stability | {min(found['stability']):.1f} for all of them |"
    models = len(found["ranks"]) * found["replicates"]
    yield f"a model of 20 programs takes {found['model_mb'] / models:.1f} MB"


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
    weather = trials("003-14")
    atoms = weather["(a) cities, hours, measurements"]["rank 25"]["relative_error_on_hidden"]
    interpolated = weather["interpolation, relative_error_on_hidden"]
    yield f"{interpolated / atoms:.1f} of the error of 25 atoms"
    sites = results("entry-weights-stream").values()
    ends = [end for site in sites for case in site.values() for end in case["one pass"]]
    yield "one pass ends {} to {} % above the atoms".format(*per_cent(ends))
    yield from hidden_entries()


def several_data_sets():
    found = results("shared-atoms-planted")["atoms"]
    words = "an own atom that nothing needs takes {:.1f} to {:.0f} % of the codes"
    yield words.format(*least_and_most(found["noise 0.05"]))
    yield "half the mean it takes {:.0f} to {:.0f} %".format(*least_and_most(found["noise 0.5"]))


def least_and_most(found):
    shares = [100 * share for share in found["share of an own atom that nothing needs"]]
    return min(shares), max(shares)


def consensus():
    independent = results("consensus-choices")["independent"]
    none = NUMBERS[independent["structured"]]
    yield f"Of {independent['seeds']} tables with independent columns {none} was taken"


def hidden_entries():
    found, better = results("guides-missing"), []
    noisy, clean = (found["errors by noise"][noise] for noise in ("0.05", "0.0"))
    for share, each in noisy.items():
        ours = [each[f"ridge {ridge}"]["median"] for ridge in ("0", "0.0001", "0.01", "0.1")]
        rivals = [each[name]["median"] for name in ("IterativeImputer", "means of columns")]
        cells = " | ".join(map(two_digits, (*ours, *rivals, alternating(each))))
        yield f"| {100 * float(share):.0f} % | {cells} |"
        if max(rivals) < min(ours):
            better.append(f"{100 * float(share):.0f} %")
    yield f"with {' and '.join(better)} missing the means of columns and scikit-learn's"
    few = [each["median"] for name, each in clean["0.3"].items() if name.startswith("ridge")]
    yield f"have less: {two_digits(alternating(clean['0.3']))} against {two_digits(min(few))}"
    yield f"medians of {NUMBERS[found['seeds']]} seeds"
    means = [two_digits(each["mean of all"]["median"]) for each in noisy.values()]
    yield f"mean of all observed entries has an error of {min(means)} to {max(means)}"
    for share in ("0.3", "0.7", "0.9"):
        least, none = (two_digits(clean[share][f"ridge {r}"]["median"]) for r in ("0.0001", "0"))
        yield f"{least} and {none} at {100 * float(share):.0f} %"
    yield f"blurs ({two_digits(clean['0.3']['ridge 0.01']['median'])} at 30 %)"
    complete, holed, _ = found["microseconds a row"].values()
    yield f"{holed / complete:.1f} times as long as a complete row"


def alternating(errors):
    """Return the error of alternating ridge regressions with the best of their penalties."""
    return min(each["median"] for name, each in errors.items() if name.startswith("alternating"))


def two_digits(value):
    """Return a number with two significant digits."""
    return f"{value:.2g}".replace("e+", "e")


MOVIES = {
    "as recorded, scikit-learn's FastICA": "recorded, FastICA",
    "the same, images cut off at zero": "recorded, FastICA, positive",
    'as recorded, `mode="pixels"`': "recorded, pixels",
    'dF/F clipped at zero, `mode="pixels"`': "clipped, pixels",
    "dF/F clipped at zero, scikit-learn's `NMF`": "clipped, NMF",
    'as recorded, `mode="frames"`, `n_epochs=10`': "recorded, frames, ten passes",
    "as recorded, scikit-learn's `NMF`": "recorded, NMF",
    'as recorded, `mode="frames"`': "recorded, frames",
    'signed dF/F, `mode="pixels"`, `nonnegative=False`': "signed, pixels",
}


def videos():
    found = results("guides-movies")
    rival, ours = (found["finders"][f"recorded, {name}"]["found"] for name in ("FastICA", "pixels"))
    yield f"finds {'more' if rival > ours else 'fewer'} of these cells"
    yield f"| cells found, of {found['cells']} |"
    for words, name in MOVIES.items():
        row = found["finders"][name]
        yield f"| {words} | {row['found']} | {row['cosine']:.2f} | {row['seconds']:.1f} |"
    change = experiments.load("003-7")["results"]
    yield "On {0} frames of a flame and {0} of noise".format(change["planted_at"])
    yield f"found the change with {change['found_within_a_frame']} of {change['seeds']} seeds"


def time_series():
    epidemic, sets = experiments.load("003-1")["results"], experiments.load("003-1-forecasts")
    late, starts = epidemic["honest, from day 40"], epidemic["variants, in-sample"]
    follows, thesis = late["following, best on days 20 to 39"], late["thesis"]
    yield f"means of {thesis['runs']} runs: {follows['mean']:.3f} with settings that follow"
    yield f"the last rows, {thesis['mean']:.3f} with those of the thesis"
    yield f"chosen on {NUMBERS[len(sets['results']['chosen on'])]} other sets"
    filled, names = experiments.load("003-5")["results"], "LA, SD, SF"
    yield f"three cities have {filled['ours, 6 months'][names]:.2f} of the error"
    rival = filled["IterativeImputer, 3 months, departures"][names]
    yield f"is better, {rival:.2f}, if it gets departures"
    without = [starts[f"online only, {law}"]["mean"] for law in ("1/t", "t^-4")]
    whole = [starts[name]["mean"] for name in ("whole, 1/t", "whole")]
    pairs = [f"{one:.2f} and {two:.2f}" for one, two in (without, whole)]
    yield f"{pairs[0]} without, {pairs[1]} with initialisation"
    yield f"an error of {follows['least']:.3f} to {follows['largest']:.3f}"
    yield f"the mean of {follows['runs']} has {follows['of the mean prediction of all runs']:.3f}"
    yield f"is better there: {epidemic['regression']['from day 40']:.3f}"


def labels():
    words = results("labels")["20 newsgroups, 20 atoms"]
    best = max(words[name]["accuracy"] for name in words if name.startswith("logistic"))
    below = round(100 * (best - words["ours, weight 0.3"]["accuracy"]))
    yield f"the defaults stay {NUMBERS[below]} points below"
    chosen = results("labels-words")["tf-idf"]
    every = chosen["logistic regression on all words"]["accuracy"]
    gap = every - chosen["ours, nonnegative codes"]["accuracy"]
    yield f"comes within {'a point' if gap <= 0.01 else 'more than a point'} of logistic"
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
    coding = [case["coding"]["one"] / case["coding"]["two"] for case in threads.values()]
    yield f"code {min(coding):.1f} to {max(coding):.1f} times as fast"
    seconds = results("drift")["seconds"]
    yield f"A step takes {seconds['adaptive'] / seconds['power']:.1f} times as long"
    yield from outliers()


def outliers():
    rows = ("paper", "gamma", "dense", "bumps", "days", "levels", "decays")
    tables = {name: results(f"outliers-{name}")["shares"] for name in rows}
    cases = [case for table in tables.values() for share, case in table.items() if share != "0.0"]
    *kept, lost = sorted(cases, key=lambda case: case["ours"]["rmse"])
    ours, squared = ([case[name]["rmse"] for case in cases] for name in ("ours", "squared"))
    low, high = min(ours), kept[-1]["ours"]["rmse"]
    yield f"ends at {low:.1f} to {high:.0f} on rows where the squared loss leaves "
    yield f"leaves {min(squared):.0f} to {max(squared):.0f} ("
    error, median = lost["ours"]["rmse"], lost["ours"]["median"]
    yield f"In one case of {len(cases)}, held out, it loses some rows: the error over all rows is "
    yield f"all rows is {error:.0f}, and the median {median:.1f};"
    trimmed = [case["ours"]["rmse"] for share, case in tables["paper"].items() if share != "0.0"]
    found = trials("004-1-outliers")
    robust = [
        run["ours, 10 passes"]
        for loss in ("huber", "l1")
        for runs in found[loss].values()
        for run in runs
    ]
    words = f'Huber and l1 leave {min(robust):.0f} to {max(robust):.0f}, and "trimmed" '
    yield f"{words}{min(trimmed):.1f} to {max(trimmed):.1f}."
    worst = tables["paper"]["0.3"]
    projections = worst["alternating projections"]["rmse"]
    yield f"far off {projections:.1f}, where nonnegative atoms leave {worst['ours']['rmse']:.1f}."


PAGES = {
    "../README": readme,
    "algorithms/convex-mf": convex_mf,
    "algorithms/divergences": divergences,
    "algorithms/network-dictionaries": network_dictionaries,
    "algorithms/random-walks": random_walks,
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
    "how-to/consensus": consensus,
    "how-to/from-a-laptop-to-a-cluster": cluster,
    "how-to/labels": labels,
    "how-to/million-cells": million_cells,
    "how-to/missing-entries": missing_entries,
    "how-to/mutational-signatures": mutational_signatures,
    "how-to/ray-and-spark": ray_and_spark,
    "how-to/several-data-sets": several_data_sets,
    "how-to/sources-of-air": sources_of_air,
    "how-to/streams-that-change": streams_that_change,
    "how-to/time-series": time_series,
    "how-to/videos-and-text": videos,
    "how-to/watching": watching,
    "what-may-be-promised": what_may_be_promised,
    "which-model": which_model,
    "why": why,
}


@pytest.mark.parametrize(
    ("page", "words"), [(page, words) for page, told in PAGES.items() for words in told()]
)
def test_pages_say_what_was_measured(page, words):
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert words in " ".join(text.split())
