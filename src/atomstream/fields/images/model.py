"""Images by the patches they are made of: reconstructed, denoised, inpainted."""

from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from atomstream.base import ArrayLike, threads, track
from atomstream.estimators._calls import blame
from atomstream.fields.images.learning import PatchLearning
from atomstream.fields.images.parameters import IMAGE
from atomstream.fields.images.pixels import fill, noise_level, with_holes
from atomstream.fields.images.reconstruction import add_means, complete_image, denoise_image
from atomstream.io.pixels import as_image, check_white, of_type, white
from atomstream.streams.cuts import patch_view, patches
from atomstream.streams.overlaps import whole

# Found by measuring (docs/how-to/pictures.md); white is 1.
NOISE_ALPHA = (2.0, 3.0)  # alpha over the noise, in patches without noise and of half noise
N_LOOKED_AT = 4096  # patches that tell which share of them is noise
HOLES_ALPHA = 0.1  # alpha, where a dictionary adapts to an image with holes
HOLES_STRIDES = (2, 2, 1)  # of rounds that each learn from what the one before has filled in


class ImageDictionary(PatchLearning):
    r"""A dictionary of image patches, and what can be done to an image with it.

    Patches are drawn at random places of the images and teach an `OnlineDictionaryLearning` (or an
    `OnlineNMF`); afterwards all patches of an image are coded, decoded, and averaged where they
    overlap. The mean of each channel is taken off a patch before and put back after. White counts
    as 1 for every type of image: integers are divided by their largest value, floats are taken to
    lie in [0, 1]. Pictures that plainly take 255 for white in a type other than uint8 are refused.

    Parameters
    ----------
    n_components : int, default=256
        Number of atoms.
    patch_size : int, default=8
        Height and width of a patch in pixels.
    stride : int, default=2
        Pixels between neighbouring patches in `reconstruct`; 1 is smoothest, ``patch_size`` is
        fastest and blocky.
    n_patches : int, default=60000
        Patches that `fit` and each `partial_fit` draw.
    batch_size : int, default=256
        Patches per step.
    n_jobs : int, optional
        The most threads; None takes as many as BLAS may use, -1 all cores. Small batches take one.
    alpha : float, default=0.02
        Strength of the l1 penalty on the codes, while learning and in `reconstruct`.
    random_state : int, Generator, RandomState or None, default=None
    nonnegative : bool, default=False
        Whether atoms and codes are nonnegative and patches keep their means: atoms are then parts
        of pictures, to be looked at. Signed ones reconstruct, denoise and inpaint better.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, patch_size, patch_size[, n_channels])
        The atoms.
    importance_ : ndarray of shape (n_components,)
        Share of each atom in the absolute codes, times its length; those of long ago have faded,
        as in the memory.
    learner_ : OnlineDictionaryLearning or OnlineNMF
        Codes patches as rows of patch_size * patch_size * n_channels entries, channels last.
    patch_shape_ : tuple of int
        (patch_size, patch_size) or (patch_size, patch_size, n_channels).
    n_steps_ : int
        Batches learned from.

    Raises
    ------
    ValueError
        For settings out of range, inputs that are not images, not finite or smaller than a patch;
        the model stays as it was.
    InputError
        For files that cannot be read as images.

    References
    ----------
    Strohmeier (2023), "Online nonnegative CP-dictionary learning with applications to multimodal
    data", section 3.6.1;
    Elad, Aharon (2006), "Image denoising via sparse and redundant representations over learned
    dictionaries"; Mairal, Elad, Sapiro (2008), "Sparse representation for color image restoration".

    Examples
    --------
    >>> import numpy as np
    >>> from atomstream import ImageDictionary, images
    >>> picture = np.add.outer(np.sin(np.arange(64) / 5), np.cos(np.arange(64) / 7)) / 4 + 0.5
    >>> noisy = picture + 0.1 * np.random.default_rng(0).standard_normal(picture.shape)
    >>> model = ImageDictionary(32, 8, n_patches=5000, random_state=0).fit(noisy)
    >>> images.psnr(picture, model.denoise(noisy)) > images.psnr(picture, noisy) + 8
    True
    """

    ACCEPTS = ("three_d_array", "string")
    PARAMETERS: ClassVar = IMAGE
    OVERLAPS: ClassVar = (
        "the patches of one image overlap",
        "give its patches in their order (skimage.util.view_as_windows) to an OnlineNMF, with "
        "block_size= ten rows of them",
    )

    def reconstruct(self, image: ArrayLike, *, out: NDArray | None = None) -> NDArray:
        """Return an image made of the atoms.

        All its patches are coded, decoded, and averaged where they overlap. Beyond the result only
        a strip of the image and one tile of patches are in memory.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, n_channels)
            Of as many channels as were learned; may be a memory map.
        out : array of the shape and type of ``image``, optional
            Where to write: a memory map for images larger than memory.

        Returns
        -------
        ndarray of the shape and type of ``image``
        """
        image = self._validated(image)
        coder = copy(self.learner_).set_params(alpha=self.alpha, n_jobs=self.n_jobs)

        def decoded(rows: NDArray, tops: NDArray, lefts: NDArray) -> tuple[NDArray, None]:
            """Return what the dictionary makes of patches."""
            rows, means = self._split(rows / rows.dtype.type(white(image)))
            with blame(self):
                codes = coder.transform(rows)
            return add_means(coder.inverse_transform(codes), means), None

        if out is not None and (out.shape != image.shape or out.dtype != image.dtype):
            raise ValueError(
                f"out must be {image.dtype} of shape {image.shape}, got {out.dtype} of {out.shape}."
            )
        return whole(
            image, self.patch_size, self.stride, decoded, lambda strip: of_type(strip, image), out
        )

    def denoise(
        self, image: ArrayLike, sigma: float | None = None, *, adapt: bool = True
    ) -> NDArray:
        r"""Return an image without its noise.

        Each patch is made of the fewest atoms that explain it up to the noise. The code of a patch
        of n entries ends when its squared error is at most :math:`n (1.1 \sigma)^2`; patches lie at
        every pixel.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, n_channels)
        sigma : float, optional
            Standard deviation of the noise in the units of the image, one for all of it; by default
            estimated (`atomstream.images.noise_level`).
        adapt : bool, default=True
            Whether the dictionary first learns from ``n_patches`` patches of the noisy image
            itself, in a copy. The model stays as it is.

        Returns
        -------
        ndarray of the shape and type of ``image``

        References
        ----------
        Elad, Aharon (2006), section III: a dictionary learned on the noisy image, errors as goals;
        ours is learned online, with an l1 penalty of two to three times the noise, patches made of
        few atoms count more, and the noisy image is not mixed in at the end.
        """
        image = self._validated(image)
        unit = white(image)
        noise = (noise_level(image) if sigma is None else _check_sigma(sigma, 100 * unit)) / unit
        if noise == 0:
            return np.array(image)
        atoms = self.learner_.components_
        if adapt:
            atoms = self._adapted(image, self._noise_alpha(image, noise))
        with threads(self.n_jobs):
            return denoise_image(image, atoms, noise, self.patch_size, centred=not self.nonnegative)

    def inpaint(self, image: ArrayLike, missing: object = None, *, adapt: bool = True) -> NDArray:
        """Return an image whose missing pixels are filled in by the dictionary.

        All other pixels stay as they are. Each patch is coded by its known pixels alone; patches
        lie at every pixel and count by how much of them is known. Where no patch knows anything
        (inside of large holes) the mean of the surroundings remains.

        Parameters
        ----------
        image : array of shape (height, width) or (height, width, n_channels)
            What is NaN or masked is missing too.
        missing : array of bool of shape (height, width), or of the shape of ``image``, optional
            True where a pixel is unknown.
        adapt : bool, default=True
            Whether the dictionary first learns from the image itself, its holes filled roughly, in
            a copy; done three times, each from what the one before has filled in. The model stays
            as it is.

        Returns
        -------
        ndarray of the shape and type of ``image``

        References
        ----------
        Mairal, Elad, Sapiro (2008), section III-C: masked coding.
        """
        check_is_fitted(self)
        image, observed = with_holes(image, missing)
        check_white(image, observed.reshape(image.shape))
        if observed.all():
            return np.array(image)
        dtype = np.float64 if image.dtype == np.float64 else np.float32
        unit: NDArray = image.reshape(observed.shape).astype(dtype)
        filled = fill(unit / unit.dtype.type(white(image)), observed)
        self._validated(filled.reshape(image.shape))
        known = filled.copy()
        for stride in HOLES_STRIDES if adapt else HOLES_STRIDES[-1:]:
            start = filled.reshape(image.shape)
            atoms = self._adapted(start, HOLES_ALPHA) if adapt else self.learner_.components_
            size, step = self.patch_size, min(stride, self.patch_size)
            # Each round learns from what the last one filled in, the last round at every pixel.
            with threads(self.n_jobs):
                made = complete_image(start, observed, atoms, size, stride=step)
            filled = np.where(observed, known, made.reshape(observed.shape))
        made = of_type(filled.reshape(image.shape), image)
        return np.where(observed.reshape(image.shape), image, made)

    # -- the engine room

    def _validated(self, image: ArrayLike) -> NDArray:
        """Return an image to work on, checked."""
        check_is_fitted(self)
        self.check()
        image = as_image(image)
        self._check_learned((self.patch_size, self.patch_size, *image.shape[2:]))
        patch_view(image, self.patch_size)  # refuses what is too small
        return image

    def _noise_alpha(self, image: NDArray, noise: float) -> float:
        """Return alpha for a noisy image: where patches have more detail, a weaker one keeps it."""
        drawn = next(patches(image, self.patch_size, N_LOOKED_AT, n_samples=N_LOOKED_AT, rng=0))
        spread = float((drawn / white(image)).var(axis=1).mean())
        share = min(2 * noise**2 / spread, 1.0) if spread > 0 else 1.0
        return float(np.interp(share, (0, 1), NOISE_ALPHA)) * noise

    def _adapted(self, image: NDArray, alpha: float) -> NDArray:
        """Return the atoms after learning from patches of an image, from an empty memory."""
        # From an empty memory: what the dictionary learned from other images is only the start.
        learner = type(self.learner_).from_components(
            self.learner_.components_, alpha=alpha, n_jobs=self.n_jobs, random_state=0
        )
        drawn = patches(image, self.patch_size, self.batch_size, n_samples=self.n_patches, rng=0)
        unit, n_batches = white(image), -(-self.n_patches // self.batch_size)
        with blame(self):
            learner.fit_stream(
                self._split(rows / rows.dtype.type(unit))[0]
                for rows in track(drawn, n_batches, "learning from the image")
            )
        return learner.components_


def _check_sigma(sigma: Any, most: float) -> float:
    """Return the noise as a number, at most ``most``: beyond it nothing of an image is left."""
    real = isinstance(sigma, int | float | np.number) and not isinstance(sigma, bool)
    if not real or not 0 <= sigma <= most:
        raise ValueError(
            f"sigma must be a number from 0 to {most:g}, or None, got {sigma!r:.80}; it is in the "
            "units of the image."
        )
    return float(sigma)
