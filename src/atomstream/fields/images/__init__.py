"""Images: dictionaries of patches that reconstruct, denoise, fill in and colour.

Lyu, Needell and Balzano, section 5 (images by their patches), and Strohmeier (2023), section 3.6
(colours). Read `patch_sampling` (streams of patches), `learning` and `model`, the estimator with
its `parameters`, `pixels` (noise, and a first guess at holes), `reconstruction` (patches changed
and averaged where they overlap); `classifiers` and `color` give grey pictures the colours of
materials; then `look`, `run` and `verbs` (``atomstream image``).
"""

from atomstream.fields.images.pixels import first_guess, noise_level
from atomstream.io.pixels import psnr, white
from atomstream.streams.overlaps import reconstruct

__all__ = ["first_guess", "noise_level", "psnr", "reconstruct", "white"]
