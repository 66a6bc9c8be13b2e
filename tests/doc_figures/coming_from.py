"""Figures on the pages for users of other libraries, as the records have them."""

from doc_figures.recorded import (
    NUMBERS,
    first_calls,
    passes_over_a_file,
    results,
    slower_at_hand,
)


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
    kl, power, squared = map(slower_at_hand, ("kl", "is", "squared"))
    yield f"faster on {kl} under Kullback-Leibler, on {power} under Itakura-Saito and on {squared}"


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
    halves = [results(f"coding-cases-{half}").values() for half in ("others", "tuned")]
    pairs = [pair for half in halves for pair in half]
    faster = sum(pair["SPAMS float32"] < pair["atomstream float32"] for pair in pairs)
    yield f"faster in {faster} of {len(pairs)} cases"


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


PAGES = {
    "coming-from/cnmf": cnmf,
    "coming-from/cnmf-torch": cnmf_torch,
    "coming-from/gensim": gensim,
    "coming-from/papers-code": papers_code,
    "coming-from/scikit-learn": sklearn,
    "coming-from/spams": spams,
    "coming-from/tensorly": tensorly,
}
