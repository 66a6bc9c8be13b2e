"""Every class has the standard name of the field or of software, or stands in the glossary."""

import ast
import re
from pathlib import Path

import atomstream

GLOSSARY = Path(__file__).parents[2] / "docs/glossary.md"
# fmt: off
STANDARD = [
    "ActiveSet", "Adaptive", "Alignment", "Alpha", "ArrayLike", "ArrowTable",
    "AtomstreamWarning", "Auto", "Axes", "BadShardError", "Baselines", "BatchNMF",
    "Beta", "BetterLag", "Block", "BlockCoordinate", "Box", "CPTensor", "Callback",
    "CallbackSupportMixin", "Cells", "Chain",
    "ChainShard", "Change", "ChangePoints", "ChangeWatch", "ChangedFeature", "ChangedShardError",
    "Checkpoint", "Clusters", "CodedBlock", "Coder", "Coding", "ColorLook", "ColorRestorer",
    "Conditions",
    "Consensus", "ConsensusLearning", "ConsensusLook", "ConsensusNMF", "ConsensusSettings",
    "ConsensusTask", "Constant", "ConvexLook", "CorruptModelError",
    "CubeRows", "DataWarning", "Decay", "Decoder", "DelimitedTable", "Delta", "DenseProducts",
    "Dependence", "Dictionary", "DocumentFile", "DocumentOptions", "Documents", "DriftDetector",
    "EarlyStopping", "EdgeMeans", "EdgeOptions", "EdgeTable", "ElasticNetOnSet", "Encoder",
    "EngineError", "Entries", "Entry", "Entrywise", "Estimator", "Evidence",
    "FileShard", "Fitting",
    "ForecastSettings", "ForecastTask", "ForecasterChoice", "Free", "Genes", "GramDelta",
    "GramSums", "Grid", "HalfLife", "Harmonic", "HebbianFactor", "Hellinger", "History",
    "Huber", "HullUpdate", "ImageCoder", "ImageDictionary", "ImageLook", "ImageSettings",
    "ImageTask", "ImputeSettings", "ImputeTask", "IncompatiblePartsError", "Input",
    "InputError", "InputFile", "InputOptions", "Interval", "IsingGibbs", "ItakuraSaito", "Job",
    "ExponentialSmoothing", "LagRegression", "Regressors",
    "JsonTable", "KullbackLeibler", "L1", "L2", "LastKnown", "LearnSettings", "LearningBar",
    "Level", "Levels", "LinkFit", "LiveFigure", "LoadingSweep", "Log", "Log1p", "LogPolynomial",
    "LogTolerance", "Loss", "MLflowLogger", "Mahalanobis", "MajorantSums", "Majorise",
    "MatchingPursuit", "Memory", "MissingLibraryError", "ModelFileError", "Motif", "MotifChain",
    "MotifGlauber", "MotifPivot", "MovingAverage", "Multiplicative", "Network", "NetworkCoder",
    "NetworkDictionary", "NetworkLook", "NetworkReconstruction", "NetworkSettings",
    "NetworkTask", "NetworkWarning", "NewerFormatError", "Nonnegative", "NonnegativeBall",
    "NonnegativeScaler", "NormBall", "NotAModelError", "NotConvergedWarning", "Objective",
    "ChainLike", "Declaration", "AtomSet", "OnDisk", "ScaledTable", "TripleRows", "Triples",
    "triple_reading", "Seen", "Settling", "Starting", "WalkTheorem", "ConvexTheorem",
    "ConvexRows", "LabelRows", "CPTheorem",
    "OnlineCPDictionary", "OnlineConvexMF", "OnlineDictionary", "OnlineDictionaryLearning",
    "OnlineNMF", "Parameter", "ParquetTable", "PassesTask", "PairProposals", "PatchClassifier",
    "PatchLearning", "Family", "Significance",
    "Penalty", "Picture", "Pictures", "PixelFormat", "Place", "PlainContext", "Polynomial",
    "Pool", "Power", "Progress", "ProjectedGradient", "ProjectedSubgradient", "Proposals",
    "RandomWalk",
    "RandomWalkFactorization", "RankChoice", "Ranking", "Reconstruction", "RemovalWarning",
    "Restored", "RootTolerance", "Rounds", "RoundsReport", "RowsCoder", "RowsLook",
    "RowsSettings", "RowsTask", "Run", "RunFolder", "Sample", "SampleReport", "Samples",
    "ScheduleWarning", "Scores", "Section", "SeriesDictionary", "SeriesForecast",
    "SeriesLook", "SeriesReconstruction", "SeriesSettings", "SeriesTable", "ServedModel",
    "Settings", "Shaped", "Shard", "Shards", "ShardsTask", "Shares", "Shrinkage", "Simplex",
    "SktimeForecaster", "Sliced", "Slices", "Slot", "SparseProducts", "Squared", "StateIndex",
    "StoppedAtOnce", "Subgradient", "SubgradientDelta", "SubgradientStep",
    "Subgradients", "Table", "Task", "TaskContext", "Tensor", "TensorBoardLogger",
    "TensorCoder", "TensorLook", "TensorSettings", "TensorTask", "Terminated", "TextCoder",
    "TextLook", "TextSettings", "TextTable", "TextTask", "Times", "TopK", "TopicModel",
    "TopicMerging",
    "TopicsOverTime", "Trimmed", "TrimmedAggregates", "TrimmedDelta", "TrimmedDescent",
    "TrimmedSums", "Trimming", "UnitBall", "UnitSphere", "Updater", "Video", "VideoCoder",
    "VideoCoding",
    "VideoDictionary", "VideoLook", "VideoSettings", "VideoTask", "Vocabulary", "WalkFactors",
    "WalkLearning", "WalkLook", "WalkSettings", "WalkTask", "WandbLogger", "checkpoints",
"edge_reading", "DateError", "Dialect", "TableOptions", "TextFile", "entry_reading",
    "number_reading", "series_reading", "table_reading", "text_reading", "ChannelTable",
    "Decomposition", "Exposures", "Match", "SignatureCoder",
    "Ranges", "SourcesCoder", "SourcesLook", "SourcesSettings", "SourcesTask", "SpeciesTable",
    "Compared",
    "SignaturesLook", "SignaturesSettings", "SignaturesTask", "NumberFormat",
    "SupervisedDictionary", "LabelLoss", "Logistic", "Poisson", "SquaredError", "LabelledDelta",
    "LabelledSums", "LabelTerms", "LabelledAggregates", "LabelledDescent",
    "LabelsLook", "PredictingFromCodes",
]
# fmt: on


def classes():
    """The names of all classes of the package that do not begin with an underscore."""
    return {
        node.name
        for path in Path(atomstream.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }


def test_a_class_has_a_standard_name_or_stands_in_the_glossary():
    explained = set(
        re.findall(r"^\| `[\w.]+\.(\w+)` \|", GLOSSARY.read_text(encoding="utf-8"), re.M)
    )
    assert not explained & set(STANDARD)
    assert explained | set(STANDARD) == classes()


def test_an_explanation_says_what_the_class_is():
    rows = re.findall(r"^\| `[\w.]+` \|(.*)", GLOSSARY.read_text(encoding="utf-8"), re.M)
    assert len(rows) > 60
    assert all(len(cell.strip()) > 3 for row in rows for cell in row.rstrip("|").split("|"))
