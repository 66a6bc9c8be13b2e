"""Every declared field of every class, forged in a file with a right digest, is refused."""

import copy

import numpy as np
import pytest
from golden.every import FILES

import atomstream
from atomstream.base.saved_fields import Field
from atomstream.files import archive, registry


def declared(encoded):
    """Yield the encoded fields of every object in a file that declares them, and one of these."""
    if isinstance(encoded, list):
        for item in encoded:
            yield from declared(item)
    if not isinstance(encoded, dict):
        return
    for tag, inside, fields in (("changing", "fields", "SAVED"), ("model", "learned", "LEARNED")):
        if tag in encoded:
            find = registry.value_class if tag == "changing" else registry.model_class
            for field in getattr(find(encoded[tag]), fields, ()):
                if isinstance(field, Field) and field.name in encoded[inside]:
                    yield encoded[inside], field
    for item in encoded.values():
        yield from declared(item)


@pytest.mark.cover(2)
@pytest.mark.parametrize("name", sorted(FILES))
def test_a_forged_field_is_refused(name, tmp_path):
    path = tmp_path / "forged.atoms"
    whole, arrays = archive.read_archive(FILES[name])
    n_fields = len(list(declared(whole)))
    assert n_fields >= 3
    for number in range(n_fields):
        for value in ("x", {"dict": {}}, {"array": len(arrays)}):
            content = copy.deepcopy(whole)
            fields, field = list(declared(content))[number]
            fields[field.name] = value
            archive.write_archive(path, content, [*arrays, np.zeros((1, 1, 1, 1, 1))])
            with pytest.raises(atomstream.ModelFileError):
                atomstream.load(path)
