"""Runs on images: a dictionary of their patches that denoises, fills in and restores."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from atomstream.base.parameters import whole
from atomstream.exceptions import InputError
from atomstream.fields.images.model import ImageDictionary
from atomstream.io import Block, InputOptions, Pictures, expanded, open_inputs
from atomstream.looks.samples import Sample, Samples
from atomstream.runs import Pace, Settings, Task, Work, callbacks_set, checkpoints, option, sets

ROUND = 2560  # patches drawn anew at a time: a run rests in between
LOOKED_AT = 10_000  # patches, at least, among which those that use an atom most are found
PATCHES_PER_ROUND = 8  # patches of each image in a round, at least: opening images must pay


@dataclass(frozen=True)
class ImageSettings(checkpoints, Settings):
    """Settings of a run on images."""

    TASK = "image"
    MODEL = ImageDictionary

    atoms: int = sets(ImageDictionary, "n_components")
    patch: int = sets(ImageDictionary, "patch_size")
    patches: int = option(60_000, "Patches to learn from.", whole(), free=True)
    alpha: float = sets(ImageDictionary, "alpha")
    nonnegative: bool = sets(ImageDictionary, "nonnegative")
    batch_size: int = sets(ImageDictionary, "batch_size")
    jobs: int = sets(ImageDictionary, "n_jobs", default=1, free=True)

    def check(self) -> None:
        """Raise ValueError for settings that the model refuses."""
        if not self.inputs:
            raise ValueError("No image was given; name image files or folders of images.")
        super().check()


class ImageTask(Task):
    """A dictionary of patches, and the images from which rounds of patches are drawn."""

    settings_type = ImageSettings
    help = "IMAGES are files or folders of images; all become colour if one of them is."
    argument = "images"
    unit = "patch"
    many = True
    goal = "patches"
    reported: ClassVar = {"atoms": "settings.atoms", "patches": "_n_samples"}
    model: ImageDictionary
    sources: Sequence[Pictures]

    def __init__(self, settings: ImageSettings) -> None:
        super().__init__(settings)
        found = open_inputs(settings.inputs, InputOptions(patch=settings.patch))
        self.sources = [source for source in found if isinstance(source, Pictures)]
        if not self.sources:
            raise InputError(f"{found[0].name} is not an image.")

    @property
    def position(self) -> tuple[int, ...]:
        """Patches learned from."""
        return (self._n_samples,)

    def work(self) -> Work:
        """Return how much there is to learn, from the sizes of the inputs."""
        n_patches, size = self.settings.patches, self.settings.batch_size
        return Work(n_patches, self.sources[0].n_features, batch_size=size)

    def advance(self, pace: Pace) -> None:
        """Draw and learn rounds of patches; each is learned whole, so it can be drawn again."""
        n_images = len(self.sources[0].paths)
        while (left := self.settings.patches - self.position[0]) > 0:
            # Rounds, because a fit may not be left half done: each draws anew from the state of the
            # generator, so a resumed run draws the same patches as one that was never stopped.
            n_patches = min(max(ROUND, PATCHES_PER_ROUND * n_images), left)
            with callbacks_set(self.model.set_params(n_patches=n_patches), pace.bar("learning")):
                self.model.partial_fit(expanded(self.settings.inputs))
            pace.note(self.model.learner_)
            if pace.rest():
                return

    def finish(self, folder: Path) -> dict[str, Any]:
        """Keep the patches that use each atom most, of some that are drawn anew."""
        source, found = self.sources[0], Samples()
        for block in source.blocks(0, 0):
            codes = self.model.learner_.transform(self.model._split(block.X)[0])
            found.look(codes, partial(self._patch, block))
            if found.n_seen >= LOOKED_AT:
                break
        return found.notes()

    def _patch(self, block: Block, i: int) -> Sample:
        """Return a patch of a block, with the place that it lies at."""
        place = self.sources[0].place(int(block.ids[i]))
        return Sample(place, "", block.X[i].reshape(self.model.patch_shape_))
