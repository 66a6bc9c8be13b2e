"""Learn 100 atoms online from the patches of a photograph, rebuild it, and write a report."""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_sample_image

from atomstream import OnlineNMF, images, plots, save, streams
from atomstream.looks.report import Section, write_report
from atomstream.watch.callbacks import History, LearningBar

SIZE, N_PATCHES, BATCH = 12, 200_000, 256


def main(folder: Path) -> None:
    # The luma of china.jpg, a photograph that ships with scikit-learn, in [0, 1].
    photograph = (load_sample_image("china.jpg") @ [0.2989, 0.5870, 0.1140] / 255).astype(
        np.float32
    )
    stream = streams.patches(
        photograph, SIZE, BATCH, n_samples=N_PATCHES, rng=np.random.default_rng(0)
    )
    history = History()
    model = OnlineNMF(n_components=100, alpha=0.01, random_state=0).set_callbacks(
        history, LearningBar()
    )
    began = time.perf_counter()
    model.fit_stream(stream, n_batches=-(-N_PATCHES // BATCH))
    seconds = time.perf_counter() - began

    rebuilt = images.reconstruct(model, photograph, SIZE, stride=2)
    quality = images.psnr(photograph, rebuilt)
    facts = {
        "photograph": f"china.jpg, {photograph.shape[1]} x {photograph.shape[0]} pixels, grey",
        "learned": f"{model.n_components} atoms of {SIZE} x {SIZE} pixels, online, in one pass",
        "from": f"{model.n_samples_seen_:,} patches in {seconds:.1f} s, compiling included",
        "reconstruction": f"PSNR {quality:.2f} dB, patches every 2 pixels, "
        "averaged where they overlap",
        "settings": repr(model),
    }
    sections = [
        Section(
            "reconstruction",
            "Reconstruction",
            "Original, reconstruction from the atoms, and their difference.",
            plots.reconstruction(photograph, rebuilt),
        ),
        Section(
            "atoms",
            "Atoms",
            "Sorted by importance, which stands below each: its share of code times length.",
            plots.atoms(model, (SIZE, SIZE)),
        ),
        Section(
            "objective",
            "Learning",
            "Mean objective of each batch before it was learned from.",
            plots.objective(history),
        ),
    ]
    page = write_report(folder, "Atoms of a photograph", facts, sections)
    save(model, folder / "model.atoms")
    print(f"PSNR {quality:.2f} dB from {model.n_samples_seen_:,} patches in {seconds:.1f} s")
    print(f"report: {page}   figures: {page.parent / 'figures'}   model: {folder / 'model.atoms'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
