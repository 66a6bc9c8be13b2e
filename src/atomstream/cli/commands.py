"""What can be typed, and what each option means."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import atomstream

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class Duration(click.ParamType):
    """Seconds, or a number with the unit s, m, h or d."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return seconds."""
        found = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smhd]?)", str(value).strip())
        if not found:
            self.fail(
                f"{value!r} is no time; give seconds, or a number with s, m, h or d.", param, ctx
            )
        return float(found[1]) * UNITS[found[2]]


def _settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that are settings of a run; none has a default here, so that a config file can speak."""
    options = [
        click.option("--atoms", type=int, help="Number of atoms (20)."),
        click.option(
            "--model",
            help="nmf: nonnegative codes and atoms (default); dictionary: signed; convex: atoms of samples.",
        ),
        click.option(
            "--representatives",
            type=int,
            help="Samples that all atoms are made of, for convex (150).",
        ),
        click.option(
            "--loss",
            help="squared (default), kl, is, hellinger, huber[:DELTA], l1, l2, beta:BETA, alpha:ALPHA.",
        ),
        click.option(
            "--method",
            help="auto (default), majorise, or spsg: projected stochastic subgradient steps.",
        ),
        click.option(
            "--zeros",
            help="Where the loss is infinite at zeros: floor raises them to 1e-8 (default); refuse.",
        ),
        click.option(
            "--alpha",
            type=float,
            help="Strength of the l1 penalty on the codes (0; dictionary: 0.1).",
        ),
        click.option(
            "--schedule",
            help="Weights of the past: power (default), harmonic, polynomial, constant ...",
        ),
        click.option(
            "--half-life",
            type=float,
            help="Samples after which the past weighs half; instead of --schedule.",
        ),
        click.option("--epochs", type=int, help="Passes over the inputs (1)."),
        click.option("--batch-size", type=int, help="Rows per step (256)."),
        click.option(
            "--missing",
            is_flag=True,
            default=None,
            help="Empty fields and NaN are missing entries.",
        ),
        click.option(
            "--columns",
            multiple=True,
            help="Columns of tables: names, numbers from 1, ranges such as 3-7.",
        ),
        click.option("--key", help="Which array of an .npz file or a Zarr group."),
        click.option(
            "--patch", type=int, help="Height and width of the patches of images, in pixels (12)."
        ),
        click.option("--grey", is_flag=True, default=None, help="Turn colour images into grey."),
        click.option(
            "--per-image", type=int, help="Patches drawn from each image in a pass (20000)."
        ),
        click.option(
            "--center",
            is_flag=True,
            default=None,
            help="Take the mean off each patch (--model dictionary).",
        ),
        click.option(
            "--holdout",
            type=float,
            help="Share of the rows kept out of learning for the report (0.05, at most 256 rows).",
        ),
        click.option("--seed", type=int, help="Of all that is random (0)."),
        click.option("--jobs", type=int, help="Threads for coding (1; -1: all)."),
        click.option("--checkpoint-every", type=Duration(), help="Time between checkpoints (1m)."),
        click.option("--keep", type=int, help="How many checkpoints are kept (3)."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_max_time = click.option(
    "--max-time", type=Duration(), help="Stop after this time, at the end of a step."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
_run = click.argument("run", type=click.Path(path_type=Path))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(atomstream.__version__, prog_name="atomstream")
def commands() -> None:
    """Learn interpretable dictionaries from data that never stops.

    A run is a folder: the model, its settings, checkpoints, a log, a report.
    """


@commands.command()
@click.argument("inputs", nargs=-1)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of the run; must hold none yet.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Settings from a TOML file; options go before it.",
)
@_settings
@_max_time
@_json
def learn(
    inputs: tuple[str, ...],
    out: Path,
    config: Path | None,
    max_time: float | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Learn a dictionary from INPUTS.

    Images or folders of images, .npy, .npz (dense or sparse), .csv, .csv.gz, .parquet, .mtx, .zarr,
    or - for lines on standard input. Ctrl-C ends the step in flight, saves, and ends;
    `atomstream resume` goes on.
    """
    from atomstream.cli import running

    return running.learn(inputs, out, config, given, max_time, as_json)


@commands.command()
@_run
@click.option("--epochs", type=int, help="Change how many passes there are in all.")
@click.option("--batches", type=int, help="Of a network: change how many batches there are in all.")
@_max_time
@_json
def resume(
    run: Path, epochs: int | None, batches: int | None, max_time: float | None, as_json: bool
) -> int:
    """Go on with RUN where it stopped, to the bit."""
    from atomstream.cli import running

    return running.resume(run, epochs, batches, max_time, as_json)


@commands.command()
@_run
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="codes.parquet, codes.csv or codes.npz.",
)
@_json
def encode(run: Path, inputs: tuple[str, ...], out: Path, as_json: bool) -> int:
    """Write the codes of INPUTS under the dictionary of RUN (or of a model file)."""
    from atomstream.cli import using

    return using.encode(run, inputs, out, as_json)


@commands.command()
@_run
@click.argument("image", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="PNG to write; by default in the figures of RUN."
)
@click.option(
    "--stride",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Pixels between patches.",
)
@_json
def reconstruct(run: Path, image: Path, out: Path | None, stride: int, as_json: bool) -> int:
    """Rebuild IMAGE from the patches that RUN has learned."""
    from atomstream.cli import using

    return using.reconstruct(run, image, out, stride, as_json)


@commands.command()
@_run
@_json
def inspect(run: Path, as_json: bool) -> int:
    """Say in one screen what RUN has learned, from what, and how far it is."""
    from atomstream.cli import using

    return using.inspect(run, as_json)


@commands.command()
@_run
@_json
def report(run: Path, as_json: bool) -> int:
    """Write RUN/report.html, one page with all pictures inside, and the pictures as PNG and SVG."""
    from atomstream.cli import using

    return using.report(run, as_json)


@commands.command()
@_run
@_json
def plot(run: Path, as_json: bool) -> int:
    """Write the pictures of RUN as PNG and SVG into RUN/figures."""
    from atomstream.cli import using

    return using.plot(run, as_json)


_edges = click.argument("edges", type=click.Path(path_type=Path), required=False)
_steps = click.option(
    "--steps", type=click.IntRange(min=1), default=100_000, show_default=True, help="Copies met."
)
_seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the chain."
)


@commands.group()
def network() -> None:
    """Dictionaries of what a network looks like around a motif."""


@network.command("learn")
@_edges
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of the run; must hold none yet.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Settings from a TOML file; options go before it.",
)
@click.option("--motif", help="path:K, star:K, cycle:K of K nodes, or wedge:DEPTH (path:5).")
@click.option("--atoms", type=int, help="Number of atoms (25).")
@click.option("--alpha", type=float, help="Strength of the l1 penalty on the codes (0).")
@click.option(
    "--chain",
    help="pivot: for trees (default); glauber: any motif; approximate_pivot; all: every copy.",
)
@click.option(
    "--schedule", help="Weights of the past: power (default), harmonic, polynomial, constant ..."
)
@click.option("--batches", type=int, help="Batches of copies (100).")
@click.option("--batch-size", type=int, help="Copies per batch (1000).")
@click.option("--thin", type=int, help="Moves from copy to copy (1).")
@click.option("--seed", type=int, help="Of all that is random (0).")
@click.option("--checkpoint-every", type=Duration(), help="Time between checkpoints (1m).")
@click.option("--keep", type=int, help="How many checkpoints are kept (3).")
@_max_time
@_json
def network_learn(
    edges: Path | None,
    out: Path,
    config: Path | None,
    max_time: float | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Learn the patches of the network in EDGES.

    Lines of two nodes and maybe a weight (.txt, .csv, .gz of these), .npz and .mtx matrices, .gml,
    .graphml.
    """
    from atomstream.cli import networks

    return networks.learn(edges, out, config, given, max_time, as_json)


@network.command("reconstruct")
@_run
@_edges
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="A .csv of pairs or an .npz matrix; by default in RUN.",
)
@_steps
@_seed
@_json
def network_reconstruct(
    run: Path, edges: Path | None, out: Path | None, steps: int, seed: int, as_json: bool
) -> int:
    """Rebuild a network (by default the one learned from) from the atoms of RUN."""
    from atomstream.cli import networks

    return networks.reconstruct(run, edges, out, steps, seed, as_json)


@network.command("denoise")
@_run
@_edges
@click.option(
    "--pairs", type=click.Choice(["edges", "non-edges"]), default="edges", show_default=True
)
@click.option("--out", type=click.Path(path_type=Path), help="A .csv; by default in RUN.")
@_steps
@_seed
@_json
def network_denoise(
    run: Path,
    edges: Path | None,
    pairs: str,
    out: Path | None,
    steps: int,
    seed: int,
    as_json: bool,
) -> int:
    """Rank edges that may be spurious (lowest first), or non-edges that may be missing edges (highest first)."""
    from atomstream.cli import networks

    return networks.denoise(run, edges, out, pairs, steps, seed, as_json)


@commands.group()
def image() -> None:
    """Pictures by a dictionary of their patches: cleaned, completed, packed."""


def _learned(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say whose dictionary is used."""
    options = [
        click.option(
            "--model",
            type=click.Path(path_type=Path),
            help="An ImageDictionary; else one is learned.",
        ),
        click.option(
            "--atoms",
            type=click.IntRange(min=1),
            help="Number of atoms (256; fewer to compress small ones).",
        ),
        click.option(
            "--patch",
            type=click.IntRange(min=2),
            default=8,
            show_default=True,
            help="Pixels of a patch.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Of the patches drawn.",
        ),
        click.option("--jobs", type=int, help="Threads for coding (1; -1: all)."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_picture = click.argument("picture", type=click.Path(path_type=Path))
_out = click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write.")


@image.command("denoise")
@_picture
@_out
@click.option(
    "--sigma",
    type=click.FloatRange(min=0),
    help="Of the noise, in levels of 255; else it is estimated.",
)
@_learned
@_json
def image_denoise(picture: Path, out: Path, sigma: float | None, as_json: bool, **how: Any) -> int:
    """Take the noise off PICTURE."""
    from atomstream.cli import images

    return images.denoise(picture, out, sigma, how, as_json)


@image.command("inpaint")
@_picture
@click.option(
    "--mask",
    type=click.Path(path_type=Path),
    required=True,
    help="Image, white where PICTURE is unknown.",
)
@_out
@_learned
@_json
def image_inpaint(picture: Path, mask: Path, out: Path, as_json: bool, **how: Any) -> int:
    """Fill in missing pixels of PICTURE."""
    from atomstream.cli import images

    return images.inpaint(picture, mask, out, how, as_json)


@image.command("compress")
@_picture
@_out
@click.option(
    "--quality", type=float, default=35.0, show_default=True, help="Decibels (PSNR) to aim at."
)
@click.option(
    "--dictionary/--no-dictionary", default=True, help="Whether the atoms are part of the file."
)
@_learned
@_json
def image_compress(
    picture: Path, out: Path, quality: float, dictionary: bool, as_json: bool, **how: Any
) -> int:
    """Write PICTURE as sparse codes in a small file, with losses."""
    from atomstream.cli import images

    return images.compress(picture, out, quality, dictionary, how, as_json)


@image.command("decompress")
@click.argument("packed", type=click.Path(path_type=Path))
@_out
@click.option(
    "--model", type=click.Path(path_type=Path), help="Whose atoms PACKED needs, where it has none."
)
@_json
def image_decompress(packed: Path, out: Path, model: Path | None, as_json: bool) -> int:
    """Write the picture in PACKED as an image."""
    from atomstream.cli import images

    return images.decompress(packed, out, model, as_json)


@commands.group()
def walk() -> None:
    """Partitions of what is met step by step: trips between places, walks of any kind."""


class Length(click.ParamType):
    """Metres, or a number with the unit m or km."""

    name = "length"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return metres."""
        found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(m|km)?", str(value).strip())
        if not found:
            self.fail(f"{value!r} is no length; give metres, or a number with m or km.", param, ctx)
        return float(found[1]) * (1000 if found[2] == "km" else 1)


@walk.command("partition")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of the run; must hold none yet.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Settings from a TOML file; options go before it.",
)
@click.option(
    "--states",
    is_flag=True,
    default=None,
    help="FILE is a walk: a state per line, or an .npy of numbers.",
)
@click.option(
    "--origin",
    help="Columns of longitude and latitude where trips begin: two names, or numbers from 1.",
)
@click.option("--destination", help="Those where they end.")
@click.option("--cell", type=Length(), help="Side of the cells (250m).")
@click.option("--min-count", type=int, help="Cells met less often are dropped (20).")
@click.option("--rank", type=int, help="Dimensions (10).")
@click.option("--clusters", type=int, help="Parts (10).")
@click.option("--passes", type=int, help="Over the file (1).")
@click.option("--tau", type=int, help="Learn from every so manieth step of a walk (1).")
@click.option("--seed", type=int, help="Of all that is random (0).")
@_json
def walk_partition(
    file: Path | None, out: Path, config: Path | None, as_json: bool, **given: Any
) -> int:
    """Partition the places between which the trips in FILE go, or the states of a walk.

    CSV, Parquet, .npy or .npz with a trip per row. Leaves partition.csv and, of trips,
    partition.geojson.
    """
    from atomstream.cli import walks

    return walks.partition(file, out, config, given, as_json)


@commands.group()
def text() -> None:
    """Topics of documents."""


@text.command("topics")
@click.argument("files", nargs=-1)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of the run; must hold none yet.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Settings from a TOML file; options go before it.",
)
@click.option("--per", help="What a document is in .txt and .md: a line (default) or a file.")
@click.option("--field", help="Of .jsonl: the field with the text (text).")
@click.option("--column", help="Of .csv and .tsv: the column with the text.")
@click.option("--topics", type=int, help="Number of topics (20).")
@click.option("--vectorizer", help="hashing (default), counts, tfidf.")
@click.option(
    "--features", type=int, help="Features of the hash, or the most words that are kept (32768)."
)
@click.option("--stop-words", help="english (default) or none.")
@click.option(
    "--min-df", type=int, help="Of counts and tfidf: documents in which a word must occur (1)."
)
@click.option("--alpha", type=float, help="Strength of the l1 penalty on the codes (0).")
@click.option(
    "--schedule", help="Weights of the past: power (default), harmonic, polynomial, constant ..."
)
@click.option("--batch-size", type=int, help="Documents per step (256).")
@click.option("--epochs", type=int, help="Passes over the documents (10).")
@click.option("--seed", type=int, help="Of all that is random (0).")
@click.option("--checkpoint-every", type=Duration(), help="Time between checkpoints (1m).")
@click.option("--keep", type=int, help="How many checkpoints are kept (3).")
@_max_time
@_json
def text_topics(
    files: tuple[str, ...],
    out: Path,
    config: Path | None,
    max_time: float | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Learn topics from the documents in FILES.

    Text files (a document per line, or --per file), folders of them, JSON lines, tables with a
    header; also with .gz.
    """
    from atomstream.cli import texts

    return texts.topics(files, out, config, given, max_time, as_json)


@commands.group()
def series() -> None:
    """Dictionaries of what several series do together over a window of time."""


def _series(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what both commands on series have in common."""
    options = [
        click.argument("table", type=click.Path(path_type=Path), required=False),
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            required=True,
            help="Folder of the run; not there yet.",
        ),
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            help="Settings from a TOML file; options go first.",
        ),
        click.option(
            "--time",
            help="Column of the times: dates or whole numbers (the first, if it holds dates).",
        ),
        click.option(
            "--columns",
            multiple=True,
            help="Series: names, numbers from 1, ranges (all other columns).",
        ),
        click.option(
            "--log/--no-log", default=None, help="Learn logarithms of one plus the values."
        ),
        click.option(
            "--scale/--no-scale",
            default=None,
            help="Scale each series: forecast by its largest of the first rows (no), impute to 0 to 1 (yes).",
        ),
        click.option("--atoms", type=int, help="Number of atoms (20)."),
        click.option("--window", type=int, help="Times in an atom (12)."),
        click.option("--memory", type=int, help="Rows that are learned at a time (ten windows)."),
        click.option("--alpha", type=float, help="Strength of the l1 penalty on the codes (0)."),
        click.option(
            "--ridge", type=float, help="Strength of the squared l2 penalty on the codes (0.01)."
        ),
        click.option(
            "--weight",
            type=float,
            help="Of the last rows against all before: 1 forgets, 0 does not.",
        ),
        click.option(
            "--init-batches", type=int, help="Batches of random windows to begin with (20)."
        ),
        click.option("--seed", type=int, help="Of all that is random (0)."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@series.command("forecast")
@_series
@click.option("--horizon", type=int, help="Rows to foretell (1).")
@click.option("--coverage", type=float, help="Of the bands, one step ahead (0.9).")
@click.option(
    "--average", type=int, help="Learn and foretell trailing means of so many rows (1: the values)."
)
@click.option("--init-rows", type=int, help="Rows that the beginning sees (four windows).")
@_json
def series_forecast(
    table: Path | None, out: Path, config: Path | None, as_json: bool, **given: Any
) -> int:
    """Foretell the series in TABLE, comma-separated, one row per time.

    Leaves forecast.csv with bands. Empty fields are missing entries.
    """
    from atomstream.cli import series as verbs
    from atomstream.runs.series_settings import ForecastSettings

    return verbs.learn(ForecastSettings, table, out, config, given, as_json)


@series.command("impute")
@_series
@_json
def series_impute(
    table: Path | None, out: Path, config: Path | None, as_json: bool, **given: Any
) -> int:
    """Fill the missing entries of the series in TABLE, comma-separated, one row per time.

    Leaves imputed.csv. Empty fields are missing entries.
    """
    from atomstream.cli import series as verbs
    from atomstream.runs.series_settings import ImputeSettings

    return verbs.learn(ImputeSettings, table, out, config, given, as_json)
