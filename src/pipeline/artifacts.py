"""Where artifacts are kept below the folder of results: a place for each kind, by names."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Artifacts:
    """The artifacts of a run.

    Attributes:
        results: The folder that holds them all.
    """

    results: Path

    def data(self, name: str) -> Path:
        """The records of a data set; what is known about them stands beside it."""
        return self.results / "data" / f"{name}.npz"

    def facts(self, name: str) -> Path:
        """What is known about a data set."""
        return self.results / "data" / f"{name}.json"

    def correction(self, name: str) -> Path:
        """What the noise of a test lacks to be logistic."""
        return self.results / "corrections" / f"{name}.json"

    def calibration(self, experiment: str, cell: str) -> Path:
        """The noise that was found for a cell; only where there was something to find."""
        return self.results / "calibration" / experiment / f"{cell}.json"

    def fit(self, experiment: str, cell: str) -> Path:
        """The states that a cell's runs ended with."""
        return self.results / "fits" / experiment / cell / "fit.npz"

    def stamp(self, experiment: str, cell: str) -> Path:
        """What was fitted: the cell's complete settings, and what its runs released."""
        return self.results / "fits" / experiment / cell / "stamp.json"

    def account(self, experiment: str, cell: str) -> Path:
        """The ledger of one run of a cell."""
        return self.results / "accounts" / experiment / f"{cell}.json"

    def rows(self, experiment: str, cell: str) -> Path:
        """The metrics of a cell, before they are gathered into those of its experiment."""
        return self.results / "metrics" / experiment / f"{cell}.json"

    def tasks(self, experiment: str) -> Path:
        """What the stages are to do for the cells of an experiment."""
        return self.results / "tasks" / f"{experiment}.json"

    def index(self, stage: str, experiment: str, shard: str) -> Path:
        """The cells of a shard that a stage has made."""
        return self.results / "index" / stage / experiment / f"{shard}.json"
