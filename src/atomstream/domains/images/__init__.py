"""Images: pixels, overlapping patches, and quality."""

from atomstream.domains.images.pixels import first_guess, noise_level, psnr, white
from atomstream.domains.images.reconstruction import reconstruct

__all__ = ["first_guess", "noise_level", "psnr", "reconstruct", "white"]
