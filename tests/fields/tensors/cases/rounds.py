"""A model of tensors that learns in rounds, and rows as small tensors."""

from strange import ATOMS, Drawn

from atomstream import OnlineCPDictionary


class Cubes(Drawn):
    """Rows as small tensors."""

    def read(self, first, last):
        for block in super().read(first, last):
            yield block.reshape(-1, 3, 4)


CASES = {"tensors": (OnlineCPDictionary(ATOMS, random_state=0), Cubes, ("local", "frozen"))}
