"""Figures on the page of what may be promised, as the records have them."""

from doc_figures.recorded import results


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


PAGES = {
    "what-may-be-promised": what_may_be_promised,
}
