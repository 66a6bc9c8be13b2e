"""Files that runs of signatures read, and what is read of them."""

from written import table


def write_channels(path, entry, _):
    """Write a table of mutations."""
    frame = table("0.5" if entry == "oops" else entry)
    frame["d"] = "0" if entry == "oops" else frame["d"]  # a sample without mutations
    frame.insert(0, "MutationType", [f"channel{i}" for i in range(len(frame))])
    frame.to_csv(path, index=False, sep="\t")


def mutations(kind, settings):
    """Return a table of mutations."""
    return kind(settings).mutations.values


CASES = {"signatures": ((".tsv",), write_channels, mutations, lambda path: {})}
