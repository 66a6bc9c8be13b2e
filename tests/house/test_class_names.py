"""Every class has the standard name of the field or of software, or stands in the glossary."""

import ast
import re
from pathlib import Path

from cases import of_fields

import atomstream
from atomstream.base.declared import declarations

GLOSSARY = Path(__file__).parents[2] / "docs/glossary.md"
# Of core and tools; those of fields are told by the fields.
# fmt: off
CORE = [
    "ActiveSet", "Adaptive", "Alignment", "Alpha", "ArrayLike", "ArrowTable", "AtomSet",
    "AtomstreamWarning", "Auto", "Axes", "BadShardError", "BatchNMF", "Beta", "Block",
    "BlockCoordinate", "Box", "Callback", "CallbackSupportMixin", "Chain", "ChainLike", "Change",
    "ChangeWatch", "ChangedFeature", "ChangedShardError", "Checkpoint", "Clusters", "Coder",
    "Coding", "Conditions", "Constant", "CorruptModelError", "CubeRows", "DataWarning", "DateError",
    "Decay", "Declaration", "Decoder", "DelimitedTable", "Delta", "DenseProducts", "Dependence",
    "Dialect", "Dictionary", "DriftDetector", "EarlyStopping", "ElasticNetOnSet", "Encoder",
    "EngineError", "Entrywise", "Estimator", "FileShard", "Fitting", "Free", "GramDelta",
    "GramSums", "HalfLife", "Harmonic", "Hellinger", "History", "Huber", "IncompatiblePartsError",
    "Input", "InputError", "InputFile", "InputOptions", "ItakuraSaito", "Job", "JsonTable",
    "KullbackLeibler", "L1", "L2", "LearnSettings", "LearningBar", "LiveFigure", "Log",
    "LogPolynomial", "LogTolerance", "Loss", "MLflowLogger", "Mahalanobis", "MajorantSums",
    "Majorise", "MatchingPursuit", "Memory", "MissingLibraryError", "ModelFileError",
    "Multiplicative", "NetworkWarning", "NewerFormatError", "Nonnegative", "NonnegativeBall",
    "NormBall", "NotAModelError", "NotConvergedWarning", "NumberFormat", "Objective", "OnDisk",
    "OnlineDictionary", "OnlineDictionaryLearning", "OnlineNMF", "Parameter", "ParquetTable",
    "PassesTask", "Penalty", "Picture", "Pictures", "PixelFormat", "Place", "PlainContext",
    "Polynomial", "Pool", "Power", "Progress", "ProjectedGradient", "ProjectedSubgradient",
    "RemovalWarning", "RootTolerance", "Rounds", "RoundsReport", "RowsCoder", "RowsLook",
    "RowsSettings", "RowsTask", "Run", "RunFolder", "Sample", "SampleReport", "Samples",
    "ScaledTable", "ScheduleWarning", "Section", "Seen", "SeriesTable", "ServedModel", "Settings",
    "Settling", "Shaped", "Shard", "Shards", "ShardsTask", "Shares", "Simplex", "Sliced", "Slot",
    "SparseProducts", "Squared", "Starting", "StoppedAtOnce", "Subgradient", "SubgradientDelta",
    "SubgradientStep", "Subgradients", "Table", "TableOptions", "Task", "TaskContext",
    "TensorBoardLogger", "Terminated", "TextFile", "TextTable", "Times", "TopK", "Trimmed",
    "TrimmedAggregates", "TrimmedDelta", "TrimmedDescent", "TrimmedSums", "Trimming", "TripleRows",
    "Triples", "UnitBall", "UnitSphere", "Updater", "WandbLogger", "checkpoints", "entry_reading",
    "number_reading", "series_reading", "table_reading", "text_reading", "triple_reading",
]
# fmt: on
STANDARD = {*CORE, *of_fields("class_names")}


def classes():
    """The names of all classes of the package that do not begin with an underscore."""
    return {
        node.name
        for path in Path(atomstream.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }


def explained():
    """The rows of the glossary about classes that are there: place, name, and what they say."""
    rows = re.findall(r"^\| `([\w.]+)\.(\w+)` \|(.*)", GLOSSARY.read_text(encoding="utf-8"), re.M)
    gone = re.compile(rf"fields\.(?!({'|'.join(declarations(outside=False))})\.)")
    return [row for row in rows if not gone.match(row[0])]


def test_a_class_has_a_standard_name_or_stands_in_the_glossary():
    names = {name for _, name, _ in explained()}
    assert not names & STANDARD
    assert names | STANDARD == classes()


def test_an_explanation_says_what_the_class_is():
    rows = [said for *_, said in explained()]
    assert len(rows) > 60
    assert all(len(cell.strip()) > 3 for row in rows for cell in row.rstrip("|").split("|"))
