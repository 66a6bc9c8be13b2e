"""Images: pixels, overlapping patches, compressed files, and quality."""

from atomstream.domains.images.compression import decompress
from atomstream.domains.images.jpeg import jpeg_size
from atomstream.domains.images.pixels import first_guess, noise_level, psnr, white
from atomstream.domains.images.reconstruction import reconstruct

__all__ = [
    "decompress",
    "first_guess",
    "jpeg_size",
    "noise_level",
    "psnr",
    "reconstruct",
    "white",
]
