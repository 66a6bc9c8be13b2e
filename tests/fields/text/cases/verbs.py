"""Files that runs of texts read, and what is read of them."""

import pandas as pd


def write_texts(path, entry, _):
    """Write documents."""
    texts = [entry, "a book about boats|birds", "big blue balls"]
    frame = pd.DataFrame({"a": texts, "b": ["x", "y", "z"]})
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        path.write_text("\n".join(texts))


def documents(kind, settings):
    """Return the documents."""
    return [*kind(settings).sources[0]]


MORE = {".csv": {"column": "a"}, ".jsonl": {"field": "a"}, ".txt": {}}
CASES = {"text": ((*MORE,), write_texts, documents, lambda path: MORE[path.suffix])}
