"""What there is to look with, loaded when it is first used."""

import typing

import atomstream.fields.consensus.look
import atomstream.fields.convex.look
import atomstream.fields.images.look
import atomstream.fields.labels.look
import atomstream.fields.networks.look
import atomstream.fields.series.look
import atomstream.fields.signatures.look
import atomstream.fields.sources.look
import atomstream.fields.tensors.look
import atomstream.fields.text.look
import atomstream.fields.video.look
import atomstream.fields.walks.look

from . import live as live
from . import plots as plots
from . import report as report
from .look import FileCoder as FileCoder
from .look import Look as Look
from .look import look_of as look_of
from .look import register_look as register_look
from .record import Encoded as Encoded
from .record import Record as Record
from .record import Table as Table
from .report import Section as Section
from .rows import RowsLook as RowsLook

ConsensusLook: typing.TypeAlias = atomstream.fields.consensus.look.ConsensusLook
ConvexLook: typing.TypeAlias = atomstream.fields.convex.look.ConvexLook
ColorLook: typing.TypeAlias = atomstream.fields.images.look.ColorLook
ImageLook: typing.TypeAlias = atomstream.fields.images.look.ImageLook
LabelsLook: typing.TypeAlias = atomstream.fields.labels.look.LabelsLook
NetworkLook: typing.TypeAlias = atomstream.fields.networks.look.NetworkLook
SeriesLook: typing.TypeAlias = atomstream.fields.series.look.SeriesLook
SignaturesLook: typing.TypeAlias = atomstream.fields.signatures.look.SignaturesLook
SourcesLook: typing.TypeAlias = atomstream.fields.sources.look.SourcesLook
TensorLook: typing.TypeAlias = atomstream.fields.tensors.look.TensorLook
TextLook: typing.TypeAlias = atomstream.fields.text.look.TextLook
VideoLook: typing.TypeAlias = atomstream.fields.video.look.VideoLook
WalkLook: typing.TypeAlias = atomstream.fields.walks.look.WalkLook
