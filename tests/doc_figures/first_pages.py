"""Figures in the README and on the first pages, as the records have them."""

from doc_figures.recorded import NUMBERS, first_calls, passes_over_a_file, results, trials

RIVALS = ("squared", "one atom", "batch Huber", "robust PCA", "online robust PCA", "GoDec")
RIVALS += ("robust NMF", "alternating projections")


def readme():
    same = results("peers")["same_time"]
    spams = min(error for name, error in same.items() if name.startswith("SPAMS"))
    yield f"leave an error of {same['atomstream, defaults']:.3f};"
    yield f"NMF reaches {same['batch NMF']:.3f} and SPAMS {spams:.3f}"


def why():
    first, soon, _, last = results("flat-memory")["MB"].values()
    yield f"memory grew by {last - first:.1f} MB, all of it in the first two million"
    assert last - soon < 0.05


def five_minutes():
    nmf, convex = first_calls()
    yield f"about {NUMBERS[round(nmf)]} seconds, because"
    yield f"convex model takes {convex:.0f}."


def which_model():
    peers, learned = results("peers")["one_pass"], results("networks")["learning"]["contenders"]
    exact = trials("000-2-coding")["tolerances"]["root"]["patches"]["0"]
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


def choosing():
    for name, words in (("squared", "loss is between"), ("kl", "and between")):
        tables = results(f"at-hand-{name}").values()
        over = [table["ours"]["loss"] / table["NMF"]["loss"] for table in tables]
        yield f"{words} {min(over):.2f} and {max(over):.3f} times"
    yield f"On {len(over)} tables"
    for name, of in (("squared", "of the"), ("is", "of")):
        tables = results(f"at-hand-{name}").values()
        ends = [each["ours"]["loss"] / min(each["batch to its end"]["losses"]) for each in tables]
        yield f"on {sum(end > 1.005 for end in ends)} {of} {len(ends)} under"
    yield f"there by up to {100 * (max(ends) - 1):.0f} %"
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
    every = [case for table in tables.values() for case in table.values()]
    nearer, by_median = (
        sum(
            any(case[name][of] < case["ours"][of] for name in RIVALS if name in case)
            for case in every
        )
        for of in ("rmse", "median")
    )
    yield f"In {nearer} of {len(every)} cases a rival is nearer than"
    yield f"by the median in {by_median}:"
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
    "choosing": choosing,
    "five-minutes": five_minutes,
    "which-model": which_model,
    "why": why,
}
