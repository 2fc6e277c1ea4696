"""Cells that tests take through the stages by hand."""

from pathlib import Path
from typing import Any

from dpinfer.atomic import write_json
from pipeline import cli
from pipeline.artifacts import Artifacts


class Cell:
    """A cell of an experiment of its own, in a folder of results.

    Args:
        results: The folder.
        experiment: The name of the experiment.
        settings: The cell's settings, as plain data.
        data: The name of its data set.
        others: What tasks have besides: calibrated, correction, start, along, metrics.
    """

    def __init__(
        self, results: Path, experiment: str, settings: dict[str, Any], data: str = "data", **others: Any
    ) -> None:
        self.artifacts, self.names = Artifacts(results), (experiment, "main")
        named = {"experiment": experiment, "cell": "main", "code": "none"}
        given = {"calibrated": False, "correction": None, "start": None, "along": True, "metrics": []} | others
        task = {
            **named, **given, "settings": settings, "data": data, "seed": 0, "arm": "main", "labels": {},
            "scale": "smoke",
        }  # fmt: skip
        stages = ("calibrate", "fit", "account", "evaluate")
        write_json(self.artifacts.tasks(experiment), {stage: [task] for stage in stages})

    def make(self, *stages: str) -> None:
        """Run stages, which must succeed."""
        for stage in stages:
            assert self.code(stage) == 0, stage

    def code(self, stage: str) -> int:
        """Run a stage; returns its exit code."""
        return cli.main([stage, str(self.artifacts.tasks(self.names[0])), "--output", str(self.output(stage))])

    def output(self, stage: str) -> Path:
        """What a stage writes when it has made the cell."""
        if stage == "evaluate":
            return self.artifacts.results / "metrics" / f"{self.names[0]}.csv"
        return self.artifacts.index(stage, self.names[0], "1of1")
