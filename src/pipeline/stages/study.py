"""Compute all cells of an experiment that needs neither data nor a fit; they are too quick for own jobs."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from dpinfer.atomic import from_json, replacing
from pipeline import registry
from pipeline.provenance import Stamp
from pipeline.settings.study import Study
from pipeline.settings.yaml import parse
from pipeline.studies import Row


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline study`."""
    parser.add_argument("jobs", help="experiment, cell and settings of every cell, as a JSON list")
    parser.add_argument("--output", type=Path, required=True, help="the .csv to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the rows of every cell with its labels."""
    stamp = Stamp(arguments.code)
    jobs = from_json(arguments.jobs)
    rows = [row for job in jobs for row in _rows(job)]
    with replacing(arguments.output) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), cells=jobs)


def _rows(job: dict[str, Any]) -> Iterator[Row]:
    settings: Study = parse(Study, job["settings"], "jobs")
    constant = {key: job[key] for key in ("experiment", "cell", "arm", "scale")} | job["labels"]
    return ({**constant, **row} for row in registry.study_rows(settings))
