"""Dictionaries of image patches: learned from images, or made of known atoms."""

import math
from contextlib import closing
from copy import copy
from dataclasses import KW_ONLY, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import check_count, checked_array
from atomstream.base.saved_fields import count, each, part
from atomstream.estimators._calls import Transaction
from atomstream.estimators._estimator import estimator
from atomstream.estimators._learner_inside import LEARNER, LearnerInside, drawn_seed
from atomstream.estimators._validation import check_size
from atomstream.estimators.dictionary_learning import OnlineDictionaryLearning
from atomstream.estimators.nmf import OnlineNMF
from atomstream.fields.images.patch_sampling import drawn_patches
from atomstream.fields.images.reconstruction import split_means
from atomstream.streams.overlaps import check_stride


@estimator
class PatchLearning(LearnerInside):
    """A dictionary of image patches that learns."""

    n_components: int = 256
    patch_size: int = 8
    _: KW_ONLY
    stride: int = 2
    alpha: float = 0.02
    nonnegative: bool = False
    n_patches: int = 60_000
    batch_size: int = 256
    n_jobs: int | None = None

    LEARNED = (
        *(LEARNER, each(count("patch_shape_", 1), at_least=2, at_most=3)),
        part("_rng", np.random.Generator),
    )
    SIGNED = "say nonnegative=False"  # for images with negative values

    patch_shape_: tuple[int, ...] = field(init=False)

    # -- learning

    def fit(self, images: object, y: object = None) -> Self:
        """Learn from scratch from ``n_patches`` patches of an image or of several.

        Parameters
        ----------
        images : array of shape (height, width[, n_channels]), path, or list of such
            Arrays may be memory maps; of them only patches are read. A path is a file, or a folder
            of images; files are colour if any of them is, and at most 2^25 of their pixels are in
            memory at a time.
        y : ignored
        """
        with Transaction(self, anew=True):
            self.check()
            self.__dict__.pop("learner_", None)
            self._learn(images)
        return self

    def partial_fit(self, images: object, y: object = None) -> Self:
        """Learn from ``n_patches`` patches of further images.

        Parameters
        ----------
        images : array of shape (height, width[, n_channels]), path, or list of such
            Of as many channels as before; files are read so.
        y : ignored
        """
        with Transaction(self):
            self.check()
            self._learn(images)
        return self

    def _learn(self, images: object) -> None:
        """Draw patches in front of the learner."""
        first = "learner_" not in self.__dict__
        if first:
            self._rng = np.random.default_rng(drawn_seed(self.random_state))
        color = None if first else len(self.patch_shape_) == 3
        drawn = drawn_patches(
            images, self.patch_size, self.n_patches, self.batch_size, self._rng, color
        )
        if first:
            self.patch_shape_ = drawn.shape
            seed = int(self._rng.integers(2**63))
            self.learner_ = self._kind(self.n_components, random_state=seed)
        else:
            check_size(self, self.learner_.n_components)
            self._check_learned(drawn.shape)
        n_batches = -(-drawn.n_rows // self.batch_size)
        with closing(drawn.batches):
            rows = (self._split(batch)[0] for batch in drawn.batches)
            self._teach(rows, n_batches, alpha=self.alpha, n_jobs=self.n_jobs)

    # -- known atoms

    @classmethod
    def from_learner(cls, learner: Any, patch_shape: tuple[int, ...], **params: Any) -> Self:
        """Make a dictionary of patches from a model that has learned patches as rows.

        The atoms serve as they are. White counts as 1 here, whatever it was for the learner: its
        ``alpha`` is taken over and means something else where white was another number, so set
        ``alpha`` anew to learn on. A signed dictionary takes the mean of each channel off every
        patch before it is coded; a learner of patches with their means, or with one mean taken off
        for all channels, may hold atoms for these means, which are then idle.

        Parameters
        ----------
        learner : fitted OnlineNMF or OnlineDictionaryLearning
            Of rows of patch_size * patch_size [* n_channels] entries, channels last: what
            `atomstream.streams.patches` yields. It is copied.
        patch_shape : tuple of int
            (patch_size, patch_size) or (patch_size, patch_size, n_channels).
        **params
            Any other parameters; ``nonnegative`` follows from the learner.
        """
        shape = tuple(check_count("patch_shape", size) for size in patch_shape)
        if len(shape) not in (2, 3) or shape[0] != shape[1]:
            raise ValueError(
                f"patch_shape must be (size, size) or (size, size, n_channels), got {shape}."
            )
        if type(learner) not in (OnlineNMF, OnlineDictionaryLearning):
            raise ValueError(
                "from_learner needs an OnlineNMF or OnlineDictionaryLearning, got "
                f"{type(learner).__name__}."
            )
        check_is_fitted(learner)
        if learner.n_features_in_ != np.prod(shape):
            raise ValueError(
                f"The learner has {learner.n_features_in_} features, patches of shape {shape} have "
                f"{np.prod(shape)}."
            )
        alpha, codes = learner.alpha, learner.algorithm_.objective.codes
        if alpha == "auto":  # a part brings its own strength
            alpha = 0.0 if codes == learner.codes else codes.l1
        # What is given outranks what the learner had.
        known = {"alpha": alpha, "n_jobs": learner.n_jobs, **params}
        known["nonnegative"] = type(learner) is OnlineNMF
        model = cls(learner.n_components, shape[0], **known)
        model.check()
        model.learner_, model.patch_shape_ = copy(learner).set_callbacks(), shape
        model._rng = np.random.default_rng(drawn_seed(model.random_state))
        return model

    @classmethod
    def from_components(cls, components: object, **params: Any) -> Self:
        """Make a dictionary of known atoms, which can go on learning.

        Parameters
        ----------
        components : array-like of shape (n_components, patch_size, patch_size[, n_channels])
            Taken as they are; their set is enforced when they are first updated.
        **params
            Any other parameters.

        Returns
        -------
        ImageDictionary
            With empty memory and the clock at 0.
        """
        atoms = checked_array(components, "components")
        if atoms.ndim not in (3, 4):
            raise ValueError(
                "components must be of shape (n_components, patch_size, patch_size[, n_channels]), "
                f"got {atoms.shape}."
            )
        kind: Any = OnlineNMF if params.get("nonnegative") else OnlineDictionaryLearning
        learner = kind.from_components(atoms.reshape(len(atoms), -1), alpha=cls(**params).alpha)
        return cls.from_learner(learner, atoms.shape[1:], **params)

    # -- what was learned

    @property
    def _atom_shape(self) -> tuple[int, ...]:
        return self.patch_shape_

    def _split(self, rows: NDArray) -> tuple[NDArray, NDArray]:
        """Return patches without the means of their channels, unless atoms are nonnegative."""
        n_channels = self.patch_shape_[2] if len(self.patch_shape_) == 3 else 1
        if self.nonnegative:
            return rows, np.zeros((len(rows), 1, n_channels), rows.dtype)
        return split_means(rows, n_channels)

    # -- checks

    def check(self) -> None:
        """Refuse settings out of range."""
        super().check()
        check_stride(self.stride, self.patch_size)

    def _validate_learned(self) -> None:
        super()._validate_learned()
        shape, n_features = self.patch_shape_, getattr(self.learner_, "n_features_in_", None)
        self._check_learned((self.patch_size, self.patch_size, *shape[2:]))
        if n_features not in (None, math.prod(shape)):
            raise ValueError(f"patches of {n_features} entries for the shape {shape}")

    def _check_learned(self, shape: tuple[int, ...]) -> None:
        """Refuse patches of another shape than was learned, and atoms of the other kind."""
        self._check_kind()
        if shape != self.patch_shape_:
            raise ValueError(
                f"The dictionary has learned patches of shape {self.patch_shape_}, got {shape}."
            )
