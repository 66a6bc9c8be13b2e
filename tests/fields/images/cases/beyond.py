"""Settings of images that need a number."""

from no_numbers import data

from atomstream import ImageDictionary

IMAGE = ImageDictionary(4, 4, n_patches=50, random_state=0).fit(data(20, 20))
CASES = {"noise": lambda value: IMAGE.denoise(data(20, 20), value)}
