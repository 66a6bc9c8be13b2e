"""Settings of series that need a number."""

from no_numbers import data

from atomstream import SeriesDictionary

CASES = {"correction": lambda value: SeriesDictionary(3, correction=value).fit(data())}
