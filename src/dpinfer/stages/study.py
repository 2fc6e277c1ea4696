"""Compute a cell that needs neither data nor a fit."""

import argparse
from pathlib import Path

import pandas as pd

from dpinfer import studies
from dpinfer.atomic import from_json, replacing
from dpinfer.provenance import Stamp
from dpinfer.settings.study import Study
from dpinfer.settings.yaml import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer study`."""
    parser.add_argument("job", help="experiment, cell and settings, as JSON")
    parser.add_argument("--output", type=Path, required=True, help="the .csv to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the rows of the study with the cell's labels."""
    stamp = Stamp(arguments.code)
    job = from_json(arguments.job)
    settings: Study = parse(Study, job["settings"], "job")
    constant = {key: job[key] for key in ("experiment", "cell", "arm", "scale")} | job["labels"]
    with replacing(arguments.output) as temporary:
        pd.DataFrame([{**constant, **row} for row in studies.rows(settings)]).to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), **job)
