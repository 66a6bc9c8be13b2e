"""Draw the picture of docs/five-minutes.md: ``python docs/pictures/five_minutes.py``."""

from pathlib import Path

from sklearn.datasets import load_digits

from atomstream import OnlineNMF, plots

if __name__ == "__main__":
    model = OnlineNMF(n_components=16, random_state=0).fit(load_digits().data / 16)
    figure = plots.atoms(model, (8, 8), n_columns=8)
    figure.savefig(Path(__file__).with_name("five-minutes.png"), dpi=80, bbox_inches="tight")
