"""Figures in the guides, as the records have them."""

from datetime import date
from itertools import pairwise
from statistics import mean

from doc_figures.recorded import NUMBERS, per_cent, results, trials

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


def consensus():
    rows = results("verdicts")["rows"]
    planted, none = ([row for row in rows if row["planted"] == kind] for kind in (True, False))
    counted = [sum(row["counted"] for row in part) for part in (planted, none)]
    found, taken = (sum(row["structured"]["yes"] for row in part) for part in (planted, none))
    empty = sum(row["structured"]["no"] for row in none)
    yield f"structure in {found} of {counted[0]} made tables whose planted atoms can be found"
    yield f"of {counted[1]} tables without structure {empty} were said to have none, and {taken}"


def cluster():
    *_, dask, kept = [round(each["rows per second"], -3) for each in results("engine-cost")]
    yield f"learned {kept:,.0f} rows a second instead of {dask:,.0f}"
    rows = [row for row in results("engine-quality") if row["mode"] != "serial"]
    places = {(row["case"], row["seed"], row["slots"], row["mode"]): row["error"] for row in rows}
    frozen = {place: error for place, error in places.items() if place[3] == "frozen"}
    worse = sum(error > places[(*place[:3], "local")] for place, error in frozen.items())
    yield f"It was worse than local steps in {worse} of {len(frozen)} cases"


def labels():
    words = results("labels")["20 newsgroups, 20 atoms"]
    best = max(words[name]["accuracy"] for name in words if name.startswith("logistic"))
    below = round(100 * (best - words["ours, weight 0.3"]["accuracy"]))
    yield f"the defaults stay {NUMBERS[below]} points below"
    chosen = results("labels-words")["tf-idf"]
    every = chosen["logistic regression on all words"]["accuracy"]
    gap = every - chosen["ours, nonnegative codes"]["accuracy"]
    yield f"comes within {'a point' if gap <= 0.01 else 'more than a point'} of logistic"


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
    pairs = [
        pair
        for site in sites
        for case in site.values()
        for pair in zip(case["one pass"], case["alternation"], strict=True)
    ]
    yield f"nearer from {sum(batch < ours for ours, batch in pairs)} of {len(pairs)} starts"
    yield from hidden_entries()


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


def mutational_signatures():
    runs = results("signatures-published")
    weakest = [100 * run["weakest"][3] for run in runs]
    yield f"found in {min(weakest):.0f} to {max(weakest):.0f} % of the replicates only"
    for words, name in (("published one is", "cosines"), ("ends at", "single")):
        third = [run[name][2] for run in runs]
        yield f"{words} {min(third):.3f} to {max(third):.3f}".replace("0.", ".")
    assert round(mean(run["seconds"] for run in runs) / 30) == 3
    yield "about a minute and a half of one core"


def ray_and_spark():
    recorded = results("engine-scale")[0]
    yield f"({recorded['bytes sent'] / 1e6:.1f} MB) to every slot"
    yield f"take {recorded['bytes returned'] / 1e6:.1f} MB back"


def several_data_sets():
    found = results("shared-atoms-planted")["atoms"]
    words = "an own atom that nothing needs takes {:.1f} to {:.0f} % of the codes"
    yield words.format(*least_and_most(found["noise 0.05"]))
    yield "half the mean it takes {:.0f} to {:.0f} %".format(*least_and_most(found["noise 0.5"]))


def least_and_most(found):
    shares = [100 * share for share in found["share of an own atom that nothing needs"]]
    return min(shares), max(shares)


def sources_of_air():
    days = [
        each["seconds a day"]["online alone"] for each in results("sources-live")["judged"].values()
    ]
    yield f"six sources an hour takes {1000 * mean(days) / 24:.1f} milliseconds"


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


def time_series():
    epidemic, sets = trials("003-1"), trials("003-1-forecasts")
    late, starts = epidemic["honest, from day 40"], epidemic["variants, in-sample"]
    follows, thesis = late["following, best on days 20 to 39"], late["thesis"]
    yield f"means of {thesis['runs']} runs: {follows['mean']:.3f} with settings that follow"
    yield f"the last rows, {thesis['mean']:.3f} with those of the thesis"
    yield f"chosen on {NUMBERS[len(sets['chosen on'])]} other sets"
    filled, names = trials("003-5"), "LA, SD, SF"
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


def videos():
    found = results("guides-movies")
    rival, ours = (found["finders"][f"recorded, {name}"]["found"] for name in ("FastICA", "pixels"))
    yield f"finds {'more' if rival > ours else 'fewer'} of these cells"
    yield f"| cells found, of {found['cells']} |"
    for words, name in MOVIES.items():
        row = found["finders"][name]
        yield f"| {words} | {row['found']} | {row['cosine']:.2f} | {row['seconds']:.1f} |"
    change = trials("003-7")
    yield "On {0} frames of a flame and {0} of noise".format(change["planted_at"])
    yield f"found the change with {change['found_within_a_frame']} of {change['seeds']} seeds"


def watching():
    drift = results("drift")
    over = [each["adaptive"] / each["half-life"] for each in drift["errors"]]
    near = sum(ratio <= 1.05 for ratio in over)
    yield f"{min(over):.2f} to {max(over):.2f} times the error"
    yield f"1.05 times in {near} of {len(over)} cases"
    longer = drift["seconds"]["adaptive"] / drift["seconds"]["power"]
    yield f"Learning takes {longer:.1f} times as long"


PAGES = {
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
}
