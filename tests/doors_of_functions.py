"""Calls of what takes series, times, tables of fields, streams, and what plots draw."""

import numpy as np
import pandas as pd
from doors_of_fields import GRID, of_videos
from doors_of_models import learned, model
from given import (
    ATOMS,
    CLEAN_ERRORS,
    CODES,
    COUNTS,
    DOCUMENTS,
    ERRORS,
    GRAPH,
    HOLED_GRAPH,
    HOURS,
    IMAGE,
    LABELS,
    RNG,
    ROW,
    SPECIES,
    TABLE,
    TENSOR,
    WEIGHTS,
    WHOLE,
    WHOLE_IMAGE,
    WHOLE_VIDEO,
    P,
    holes,
)

import atomstream
from atomstream import series, signatures, sources, streams, tensors
from atomstream.base import checked_array
from atomstream.callbacks import History
from atomstream.looks import plots
from atomstream.losses import Mahalanobis


def of_series():
    settings = {"window": 3, "n_init": 6, "n_init_batches": 1}
    return atomstream.SeriesDictionary(2, random_state=0, **settings)


def species(values=WHOLE, uncertainties=CLEAN_ERRORS, **known):
    table = sources.SpeciesTable(values, uncertainties, SPECIES, **known)
    return np.concatenate([table.values, table.uncertainties], axis=1)


def framed(table):
    """Return a frame as it is; of others one with the columns that frames of `holes` have."""
    if hasattr(table, "columns"):
        return table
    table = np.ma.array(table, float) if isinstance(table, list) else table
    return pd.DataFrame(table, columns=[f"c{number}" for number in range(np.shape(table)[1])])


def read_species(values, uncertainties):
    return sources.read(framed(values), framed(uncertainties)).values


def history_of(held_out):
    history = History(held_out=held_out)
    model("OnlineNMF").set_callbacks(history).fit(WHOLE)
    return history.points["held_out"]


def rows_of(stream):
    return np.concatenate([checked_array(batch, dtype=float) for batch in stream])


TOPICS = atomstream.TopicModel(2, vectorizer="counts", random_state=0, n_epochs=1)
TOPICS.fit(DOCUMENTS)
DOORS = {
    # series
    "SeriesDictionary.fit(Y)": (TABLE, lambda X: of_series().fit(X)),
    "SeriesDictionary.fit(init)": (
        TABLE,
        lambda X: of_series().fit(WHOLE, init=X),
    ),
    "SeriesDictionary.fit(exogenous)": (
        TABLE[:, :2],
        lambda X: of_series().fit(WHOLE[:12], exogenous=X),
    ),
    "SeriesDictionary.partial_fit(Y)": (TABLE, lambda X: of_series().partial_fit(X)),
    "SeriesDictionary.partial_fit(exogenous)": (
        TABLE[:, :2],
        lambda X: of_series().partial_fit(WHOLE[:12], exogenous=X),
    ),
    "SeriesDictionary.impute(Y)": (TABLE, lambda X: of_series().fit(WHOLE).impute(X)),
    "SeriesDictionary.reconstruct(Y)": (TABLE, lambda X: of_series().fit(WHOLE).reconstruct(X)),
    "SeriesDictionary.predict(exogenous)": (
        holes(RNG.random((2, 1)), 1),
        lambda X: of_series().fit(WHOLE[:12], exogenous=WHOLE[:, :1]).predict(2, exogenous=X),
    ),
    "SeriesDictionary.predict_interval(exogenous)": (
        holes(RNG.random((2, 1)), 1),
        lambda X: (
            of_series().fit(WHOLE[:12], exogenous=WHOLE[:, :1]).predict_interval(2, exogenous=X)
        ),
    ),
    "choose_forecaster(Y)": (
        holes(np.tile(WHOLE, (3, 1)), 5),
        lambda X: (
            atomstream.choose_forecaster(
                X, windows=(3,), atoms=(2,), ridges=(0.1,), random_state=0
            ).errors
        ),
    ),
    **{
        f"fields.series.{name}.{method}": (
            TABLE,
            lambda X, name=name, method=method: getattr(
                getattr(series, name)().fit(WHOLE if "fit" not in method else X),
                "transform" if "fit" in method else method[:-3],
            )(X),
        )
        for name in ("Log1p", "MovingAverage", "NonnegativeScaler")
        for method in ("fit(Y)", "fit_transform(X)", "transform(Y)", "inverse_transform(Y)")
    },
    "fields.series.change_points(series)": (
        TABLE,
        lambda X: series.change_points(X, n_draws=99, min_size=3).times,
    ),
    # topics
    "TopicModel.topics_over_time(times)": (
        WEIGHTS + np.arange(14),
        lambda X: TOPICS.topics_over_time(DOCUMENTS, X, bins=3).shares,
    ),
    "TopicModel.topics_over_time(bins)": (
        holes([0, 5, 14], 1),
        lambda X: TOPICS.topics_over_time(DOCUMENTS, np.arange(14.0), bins=X).shares,
    ),
    # signatures and sources
    "fields.signatures.ChannelTable(values)": (
        COUNTS,
        lambda X: signatures.ChannelTable(X, list("abcd"), list("vwxyz")).values,
    ),
    "fields.signatures.read(source)": (COUNTS, lambda X: signatures.read(framed(X)).values),
    "fields.sources.SpeciesTable(values)": (TABLE, species),
    "fields.sources.SpeciesTable(uncertainties)": (ERRORS, lambda X: species(WHOLE, X)),
    "fields.sources.SpeciesTable(total)": (
        WEIGHTS,
        lambda X: sources.SpeciesTable(WHOLE, CLEAN_ERRORS, SPECIES, total=X).total,
    ),
    "fields.sources.SpeciesTable(limits)": (ROW, lambda X: species(limits=X)),
    "fields.sources.SpeciesTable(dates)": (
        WEIGHTS + np.arange(14),
        lambda X: species(dates=X),
    ),
    "fields.sources.read(concentrations)": (TABLE, lambda X: read_species(X, CLEAN_ERRORS)),
    "fields.sources.read(uncertainties)": (ERRORS, lambda X: read_species(WHOLE, X)),
    "fields.sources.per_cent(profiles)": (ATOMS, sources.per_cent),
    "fields.sources.mapped_to(contributions)": (CODES, lambda X: sources.mapped_to(X, WHOLE)),
    "fields.sources.mapped_to(others)": (CODES, lambda X: sources.mapped_to(WHOLE, X)),
    "find_sources(anchors)": (
        ATOMS[:1],
        lambda X: atomstream.find_sources(
            sources.SpeciesTable(WHOLE, CLEAN_ERRORS, SPECIES),
            2,
            anchors=X,
            n_starts=1,
            random_state=0,
        ),
    ),
    # functions of rows and of atoms
    "align(model_a)": (ATOMS, lambda X: atomstream.align(X, WHOLE[:2]).similarity),
    "align(model_b)": (ATOMS, lambda X: atomstream.align(WHOLE[:2], X).similarity),
    "callbacks.History(held_out)": (TABLE, history_of),
    "choose_rank(X)": (
        TABLE,
        lambda X: atomstream.choose_rank(X, [1, 2], n_seeds=2, random_state=0).errors,
    ),
    "online_parafac(X)": (
        TENSOR,
        lambda X: np.concatenate(
            atomstream.online_parafac(X, 2, missing=True, n_epochs=1, random_state=0).factors
        ),
    ),
    "sparse_encode(X)": (TABLE, lambda X: atomstream.sparse_encode(X, WHOLE[:2])),
    "sparse_encode(dictionary)": (ATOMS, lambda X: atomstream.sparse_encode(WHOLE, X)),
    "sparse_encode(start)": (
        CODES,
        lambda X: atomstream.sparse_encode(WHOLE, WHOLE[:2], start=X),
    ),
    "losses.Mahalanobis(A)": (P, lambda X: Mahalanobis(X).A),
    # streams
    "streams.CubeRows(cube)": (TENSOR, lambda X: streams.CubeRows(X, (0, 1))[:]),
    "streams.OnDisk(rows)": (TABLE, lambda X: model("OnlineNMF").fit(streams.OnDisk(X))),
    "streams.Triples(values)": (
        ROW,
        lambda x: np.asarray(streams.Triples(np.arange(len(x)) % 2, np.arange(len(x)), x)),
    ),
    "streams.batches(X)": (TABLE, lambda X: rows_of(streams.batches(X, 5, rng=0))),
    "streams.patches(image)": (IMAGE, lambda X: rows_of(streams.patches([X], 4))),
    "streams.windows(series)": (TABLE, lambda X: rows_of(streams.windows(X, 3))),
    "fields.tensors.Axes.of(X)": (TENSOR, lambda X: tensors.Axes.of(X, None).shape),
    "fields.tensors.Axes.flatten(X)": (
        TENSOR,
        lambda X: tensors.Axes.of_groups((2, 3), None).flatten(X),
    ),
    # what plots draw
    "looks.plots.adjacency_data(before)": (HOLED_GRAPH, lambda X: plots.adjacency_data(X)),
    "looks.plots.adjacency_data(after)": (HOLED_GRAPH, lambda X: plots.adjacency_data(GRAPH, X)),
    "looks.plots.comparison_data(original)": (
        IMAGE,
        lambda X: plots.comparison_data({"a": WHOLE_IMAGE}, X)[0][1],
    ),
    "looks.plots.comparison_data(pictures)": (
        IMAGE,
        lambda X: plots.comparison_data({"a": X})[0][1],
    ),
    "looks.plots.exposures_data(values)": (CODES, lambda X: plots.exposures_data(X)[1]),
    "looks.plots.factor_cycles_data(contributions)": (
        CODES,
        lambda X: plots.factor_cycles_data(X, HOURS)[0][1],
    ),
    "looks.plots.material_map_data(classes)": (
        holes(np.zeros((3, 3)), 4),
        lambda X: plots.material_map_data(X, ["a"])[0],
    ),
    "looks.plots.partition_map_data(labels)": (
        LABELS,
        lambda X: plots.partition_map_data(GRID, np.arange(14), X)[1],
    ),
    "looks.plots.partition_map_data(cells)": (
        WEIGHTS + np.arange(14),
        lambda X: plots.partition_map_data(GRID, X, np.arange(14))[0],
    ),
    "looks.plots.reconstruction_data(image)": (
        IMAGE,
        lambda X: plots.reconstruction_data(X, WHOLE_IMAGE)[2],
    ),
    "looks.plots.reconstruction_data(approximation)": (
        IMAGE,
        lambda X: plots.reconstruction_data(WHOLE_IMAGE, X)[2],
    ),
    "looks.plots.series_forecast_data(observed)": (
        TABLE,
        lambda X: plots.series_forecast_data(X, WHOLE)[0],
    ),
    "looks.plots.series_forecast_data(predicted)": (
        TABLE,
        lambda X: plots.series_forecast_data(WHOLE, X)[1],
    ),
    "looks.plots.series_forecast_data(ahead)": (
        TENSOR[:1, :, :],
        lambda X: plots.series_forecast_data(WHOLE[:, :3], WHOLE[:, :3], X)[2],
    ),
    "looks.plots.triples_data(rows)": (
        TABLE,
        lambda X: plots.triples_data(learned("OnlineNMF"), X, 2)[0],
    ),
    "looks.plots.usage_maps_data(usages)": (
        CODES,
        lambda X: plots.usage_maps_data(X, WHOLE[:, :2])[1],
    ),
    "looks.plots.usage_maps_data(places)": (CODES, lambda X: plots.usage_maps_data(WHOLE, X)[2]),
    "looks.plots.time_courses_data(codes)": (
        CODES,
        lambda X: plots.time_courses_data(of_videos().fit(WHOLE_VIDEO), X),
    ),
}
