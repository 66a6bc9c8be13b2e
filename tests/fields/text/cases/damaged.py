"""Files of documents, damaged by `fuzz.py`, and how each is read."""

from atomstream.fields.text.documents import DocumentOptions, open_documents

CASES = {
    "documents": (
        "x.jsonl",
        lambda: [b'{"text": "a rose"}\n{"text": "the sea"}\n'],
        lambda path: len(list(open_documents((str(path),), DocumentOptions())[0])),
        None,
    ),
    "table of documents": (
        "x.csv",
        lambda: [b'text,x\n"a, rose",1\nthe sea,2\n'],
        lambda path: len(list(open_documents((str(path),), DocumentOptions(column="text"))[0])),
        None,
    ),
}
