"""The command line: `python -m pipeline <verb> ...`, one module of `pipeline.stages` for each verb."""

from collections.abc import Sequence

from dpinfer.cli.program import CommandLine, launch

STAGES = {
    "run": "run the pipeline with Snakemake, after clearing a lock that a killed run left behind",
    "data": "fetch or generate a data set",
    "correction": "fit what a normal variable lacks to be logistic, for Barker tests",
    "calibrate": "find the noise for the privacy targets of an experiment's cells",
    "fit": "run the algorithms of an experiment's cells for all their seeds",
    "account": "account for what the fits of an experiment's cells have released",
    "study": "compute an experiment that needs neither data nor a fit",
    "evaluate": "compute the metrics of an experiment's cells",
    "figure": "draw a figure from metrics",
    "table": "summarise an experiment's metrics as a table",
    "scorecard": "hold every claim of the papers against the metrics",
    "report": "write one page with the scorecard and every figure",
    "gallery": "write small pictures of all figures, with their claims",
    "pages": "write the pages of the documentation that are made from code and config",
    "schema": "write the JSON schemas of the config files",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one stage."""
    return launch(
        CommandLine(
            "python -m pipeline", "The stages of the pipeline; Snakemake calls them.", STAGES, "pipeline.stages"
        ),
        arguments,
    )
