"""What runs of series do without optional libraries."""

CASES = {
    "series": {
        "works": ["series forecast @x.csv --window 3 --atoms 2 --init-rows 20 --out @series"],
        "asks": [],
    },
}
