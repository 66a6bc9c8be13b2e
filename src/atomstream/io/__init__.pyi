"""What there is to read and write with; the names in ``__all__`` are public."""

from .arrays import read_matrix_market as read_matrix_market
from .delimited import DelimitedTable as DelimitedTable
from .feed import MOST_ROWS as MOST_ROWS
from .feed import Feed, Position
from .feed import Holdout as Holdout
from .feed import Piece as Piece
from .feed import bad_rows as bad_rows
from .files import PART as PART
from .files import Place as Place
from .files import Storage as Storage
from .files import Window as Window
from .files import digest as digest
from .files import expanded as expanded
from .files import found as found
from .files import make_folder as make_folder
from .files import naming_if_full as naming_if_full
from .files import place_of as place_of
from .files import sync_folder as sync_folder
from .files import version_of as version_of
from .files import whole_file as whole_file
from .images import LUMA as LUMA
from .images import Pictures as Pictures
from .images import is_color as is_color
from .images import kept_format as kept_format
from .images import load_image as load_image
from .input_options import InputOptions
from .input_options import Naming as Naming
from .input_options import TableOptions as TableOptions
from .inputs import STANDARD_INPUT as STANDARD_INPUT
from .inputs import axes_of as axes_of
from .inputs import check_axes as check_axes
from .inputs import check_used as check_used
from .inputs import images_in, open_inputs, register_reader
from .inputs import reader_of as reader_of
from .outputs import Labels as Labels
from .outputs import check_out as check_out
from .outputs import image_format as image_format
from .outputs import write_image as write_image
from .outputs import write_table as write_table
from .series_table import read_series as read_series
from .source import Block, Source
from .source import Input as Input
from .source import InputFile as InputFile
from .source import allowed as allowed
from .source import existing as existing
from .source import log_guesses as log_guesses
from .source import naming_source as naming_source
from .source import need as need
from .source import numbered as numbered
from .source import reading as reading
from .source import size_of as size_of
from .texts import text_lines as text_lines
from .texts import whole_text as whole_text

__all__ = [
    "Block",
    "Feed",
    "InputOptions",
    "Position",
    "Source",
    "images_in",
    "open_inputs",
    "register_reader",
]
