"""Colour for grey pictures, from examples of the materials they show."""

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import Choice, RandomSource
from atomstream.estimators._calls import Transaction, blame
from atomstream.estimators._estimator import Estimator, estimator
from atomstream.estimators._learner_inside import drawn_seed
from atomstream.estimators._validation import check_size
from atomstream.estimators.encoding import sparse_encode
from atomstream.fields.images.classifiers import PatchClassifier
from atomstream.fields.images.model import ImageDictionary
from atomstream.fields.images.parameters import COLOR
from atomstream.fields.images.patch_sampling import drawn_patches
from atomstream.io.images import LUMA
from atomstream.io.pixels import as_image, of_type, white
from atomstream.streams.cuts import patch_view
from atomstream.streams.overlaps import strips

LEAST_PATCHES = 10  # of a material: a tenth of all is held out while the classifier learns


class Restored(NamedTuple):
    """A picture in colour, and what it was taken to show.

    Attributes
    ----------
    image : ndarray of shape (height, width, 3)
        Of the type of the grey image; floats are in [0, 1].
    classes : ndarray of int of shape (height, width)
        Number of the material of each pixel, in the order of ``materials_``.
    """

    image: NDArray
    classes: NDArray


@estimator
class ColorRestorer(Estimator):
    r"""Colour for grey pictures, from the colours of atoms whose greys code a patch.

    Every material has a nonnegative dictionary learned from colour examples, and a classifier tells
    from a grey patch which material it shows. A grey patch is coded with the luma of the material's
    atoms, :math:`0.2989 R + 0.5870 G + 0.1140 B`, which is linear: the same code with the atoms
    themselves is the patch in colour. Patches lie at every pixel and are averaged.

    Parameters
    ----------
    n_components : int, default=5
        Atoms per material.
    patch_size : int, default=10
        Height and width of a patch in pixels.
    alpha : float, default=0.0
        Strength of the l1 penalty on the codes; white is 1.
    keep_luma : bool, default=True
        Whether what the atoms miss of the grey is added to all three channels, so that the luma of
        the result is the given picture, as far as [0, 1] has room. Without it the result is all
        that the dictionaries say, as in the thesis.
    n_patches : int, default=20000
        Patches drawn for each material, at least 10.
    n_jobs : int, optional
        The most threads; None takes as many as BLAS may use, -1 all cores. Small batches take one.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    materials_ : list of str
    dictionaries_ : dict of str to ImageDictionary
    classifier_ : PatchClassifier
        A perceptron on Fourier magnitudes, which tells materials apart.

    Raises
    ------
    ValueError
        For settings out of range or changed since `fit`, examples without colour or of one material
        only, pictures that are not grey; the model stays as it was.

    References
    ----------
    Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal
    data", section 3.6.2, where the classifier is a convolutional network.

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import ColorRestorer
    >>> rng = np.random.default_rng(0)
    >>> grass = rng.uniform(0.4, 0.5, (60, 60, 1)) * [0.4, 1.0, 0.2]
    >>> sky = rng.uniform(0.85, 0.9, (60, 60, 1)) * [0.6, 0.8, 1.0]
    >>> model = ColorRestorer(2, 4, n_patches=1000, random_state=0)
    >>> model = model.fit({"grass": grass, "sky": sky})
    >>> image, classes = model.restore(grass[:20] @ [0.2989, 0.5870, 0.1140])
    >>> [model.materials_[i] for i in np.unique(classes)]
    ['grass']
    >>> bool(np.abs(image - grass[:20]).mean() < 0.02)
    True
    """

    ACCEPTS = ("dict",)
    PARAMETERS: ClassVar = COLOR
    SIGNED: ClassVar[str] = "clip what is below 0"
    LEARNED = ("dictionaries_", "classifier_")

    n_components: int = 5
    patch_size: int = 10
    _: KW_ONLY
    alpha: float = 0.0
    keep_luma: bool = True
    n_patches: int = 20_000
    n_jobs: int | None = None
    random_state: RandomSource = None

    def fit(self, examples: Mapping[str, Any], y: object = None) -> Self:
        """Learn what materials look like.

        Parameters
        ----------
        examples : mapping of names to images
            Two materials at least; for each an array of shape (height, width, 3), a path, or a list
            of such.
        y : ignored
        """
        with Transaction(self, anew=True):
            self.check()
            named = isinstance(examples, Mapping) and all(isinstance(n, str) for n in examples)
            if not named or len(examples) < 2:
                raise ValueError(
                    "examples must be a mapping of the names of at least two materials to colour "
                    "images."
                )
            rng = np.random.default_rng(drawn_seed(self.random_state))
            dictionaries, grey = {}, []
            for name, images in examples.items():
                with blame(self):
                    dictionaries[name] = self._dictionary(int(rng.integers(2**31))).fit(images)
                if dictionaries[name].patch_shape_[2:] != (3,):
                    raise ValueError(f"The examples of {name} have no three channels of colour.")
                drawn = drawn_patches(
                    images, self.patch_size, self.n_patches, self.n_patches, rng, True
                )
                rows = next(drawn.batches)
                drawn.batches.close()
                if len(rows) < LEAST_PATCHES:
                    raise ValueError(
                        f"The examples of {name} give {len(rows)} patches, needed are at least "
                        f"{LEAST_PATCHES} to tell materials apart; n_patches is {self.n_patches}."
                    )
                grey.append(rows.reshape(len(rows), -1, 3) @ LUMA.astype(rows.dtype))
            labels = np.repeat(np.arange(len(grey)), [len(rows) for rows in grey])
            seed = int(rng.integers(2**31))
            made = PatchClassifier(self.patch_size)
            self.classifier_ = made.fit(np.concatenate(grey), labels, seed)
            self.dictionaries_ = dictionaries
        return self

    def _choices(self) -> dict[str, Choice]:
        """Return what the settings of the dictionaries became, which have them in common."""
        return next(iter(self.dictionaries_.values()))._choices()

    def restore(self, image: object) -> Restored:
        """Return a grey picture in colour.

        Parameters
        ----------
        image : array of shape (height, width)
            At least as large as a patch.

        Returns
        -------
        Restored
            The colour image and the map of materials.
        """
        check_is_fitted(self)
        self.check()
        self._check_learned()
        image = as_image(image)
        if image.ndim != 2:
            raise ValueError(f"image must be grey, of shape (height, width), got {image.shape}.")
        patch_view(image, self.patch_size)  # refuses what is too small
        shares = self._shares(image)
        strips_made = self._colored(image, patch_view(shares, self.patch_size))
        made = np.concatenate([strip for _, strip in strips_made])
        if self.keep_luma:
            # The same amount in all channels: their colour differences stay.
            lacking = image / made.dtype.type(white(image)) - made @ LUMA.astype(made.dtype)
            made += lacking[:, :, None]
        return Restored(of_type(np.clip(made, 0, 1), image), shares.argmax(axis=2))

    @property
    def materials_(self) -> list[str]:
        """Names of the materials; their places are the numbers in maps."""
        check_is_fitted(self)
        return list(self.dictionaries_)

    def _validate_learned(self) -> None:
        classifier, dictionaries, size = self.classifier_, self.dictionaries_, self.patch_size
        if type(classifier) is not PatchClassifier or not isinstance(dictionaries, dict):
            raise ValueError("parts of other kinds")
        for part in dictionaries.values():
            if type(part) is not ImageDictionary or len(part.components_) != self.n_components:
                raise ValueError("dictionaries of another kind or size")
            if part.patch_shape_ != (size, size, 3):
                raise ValueError(f"patches of shape {part.patch_shape_} where the size is {size!r}")
        if len(dictionaries) < 2:
            raise ValueError("fewer than two materials")
        classifier.validate(size, len(dictionaries))

    def __sklearn_is_fitted__(self) -> bool:
        return "classifier_" in self.__dict__

    # -- the engine room

    def _shares(self, image: NDArray) -> NDArray:
        """Return the probability of each material at each pixel: the mean over patches."""

        def probabilities(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, None]:
            """Return the probabilities of patches, spread over their pixels."""
            chances = self.classifier_.probabilities(rows / white(image))
            return np.repeat(chances[:, None], self.patch_size**2, axis=1), None

        found = strips(image, self.patch_size, 1, probabilities, len(self.dictionaries_))
        return np.concatenate([strip for _, strip in found])

    def _colored(self, image: NDArray, shares: NDArray) -> Any:
        """Return strips in colour; a patch is of the material most probable over its pixels."""
        models, r = self.dictionaries_.values(), self.n_components
        atoms = [model.components_.reshape(r, -1, 3) for model in models]

        def colored(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, None]:
            """Return grey patches in colour."""
            rows = rows / rows.dtype.type(white(image))
            # Averaged first by pixels and then over the patch, so that single patches do not
            # decide.
            kinds = shares[tops, lefts].mean(axis=(2, 3)).argmax(axis=1)
            made = np.empty((*rows.shape, 3), rows.dtype)
            for kind in np.unique(kinds):
                here = kinds == kind
                # Codes of grey patches by grey atoms serve the coloured atoms: the two are linear
                # in each other.
                greys = (atoms[kind] @ LUMA).astype(rows.dtype)
                codes = sparse_encode(rows[here], greys, alpha=self.alpha, n_jobs=self.n_jobs)
                made[here] = np.tensordot(codes, atoms[kind], axes=1)
            return made, None

        return strips(image, self.patch_size, 1, colored, 3)

    def _dictionary(self, seed: int) -> ImageDictionary:
        return ImageDictionary(
            self.n_components,
            self.patch_size,
            alpha=self.alpha,
            nonnegative=True,
            stride=1,
            n_patches=self.n_patches,
            n_jobs=self.n_jobs,
            random_state=seed,
        )

    def _check_learned(self) -> None:
        """Refuse settings that are not those of the dictionaries."""
        check_size(self, next(iter(self.dictionaries_.values())).n_components)
        self._refuse_change(patch_size=self.classifier_.size)
