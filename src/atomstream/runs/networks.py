"""Learning from a network as a run: batches along the chain, checkpoints, an end whenever one is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from atomstream.domains.networks.network import Network
from atomstream.estimators.network import NetworkDictionary
from atomstream.exceptions import InputError
from atomstream.io.source import fingerprint
from atomstream.runs.folder import RunFolder
from atomstream.runs.record import Record
from atomstream.runs.session import Session
from atomstream.runs.settings import NetworkSettings

__all__ = ["EdgeFile", "NetworkRun", "read_network"]


class EdgeFile:
    """A file that holds a network.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = str(path)

    def fingerprint(self) -> str:
        """Return what changes when the content does."""
        return fingerprint([self.path])


def read_network(path: str | Path) -> Network:
    """Return the network in a file.

    Raises
    ------
    InputError
        Where there is none.
    """
    try:
        return Network.of(Path(path))
    except FileNotFoundError:
        raise InputError(f"There is no {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}).") from None
    except (ValueError, EOFError) as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def network_of(record: Record) -> Network:
    """Return the network that a run has learned from.

    Raises
    ------
    InputError
        Where it cannot be read any more, or has changed since.
    """
    edges = EdgeFile(record.settings.inputs[0])
    network = read_network(edges.path)
    RunFolder(record.path).check_inputs([edges])
    return network


class NetworkRun(Session):
    """A network dictionary, what it learns from, and what is kept beside it for the report.

    Parameters
    ----------
    folder : RunFolder
    settings : NetworkSettings
    """

    model: NetworkDictionary

    def __init__(self, folder: RunFolder, settings: NetworkSettings) -> None:
        super().__init__(folder, settings)
        self.sources = [EdgeFile(settings.inputs[0])]
        self.network = read_network(settings.inputs[0])

    @property
    def complete(self) -> bool:
        """Whether all batches were learned from."""
        return self.learned and self.model.n_steps_ >= self.settings.batches

    def restore(self, model: NetworkDictionary, notes: dict[str, Any]) -> None:
        """Go on from a file."""
        super().restore(model, notes)
        self.model = model.set_params(n_batches=self.settings.batches)

    def advance(self) -> None:
        """Learn from the batches that are left."""
        left = max(1, self.settings.batches - (self.model.n_steps_ if self.learned else 0))
        self.model.partial_fit(self.network, n_batches=left)
