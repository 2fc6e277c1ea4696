"""Summarise an experiment's metrics: one row for each cell and metric, as CSV and Markdown."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from dpinfer.atomic import replacing
from pipeline.provenance import Stamp

PER_SEED = ["seed", "value"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline table`."""
    parser.add_argument("metrics", type=Path, help="the experiment's .csv")
    parser.add_argument("--title", required=True, help="heading of the Markdown table")
    parser.add_argument(
        "--output", type=Path, required=True, help="the .csv to write; .md and .json stand beside it"
    )
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write both forms of the table."""
    stamp = Stamp(arguments.code)
    table = summary(pd.read_csv(arguments.metrics))
    with replacing(arguments.output) as temporary:
        table.to_csv(temporary, index=False)
    shown = table.drop(columns=["experiment", "cell"]).to_markdown(index=False, floatfmt=".4g")
    with replacing(arguments.output.with_suffix(".md")) as temporary:
        temporary.write_text(f"# {arguments.title}\n\n{shown}\n", encoding="utf-8")
    stamp.write(arguments.output.with_suffix(".json"), metrics=arguments.metrics.stem)


def summary(metrics: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard deviation and standard error over seeds; what has no seeds is shown as it is."""
    keys = [column for column in metrics.columns if column not in PER_SEED]
    if "seed" not in metrics:
        return metrics
    groups = metrics.groupby(keys, sort=False, dropna=False)["value"]
    table = groups.agg(seeds="count", mean="mean", sd="std").reset_index()
    return table.assign(sem=table["sd"] / np.sqrt(table["seeds"]))
