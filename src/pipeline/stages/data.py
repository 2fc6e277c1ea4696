"""Fetch or generate one data set, and write it with its provenance."""

import argparse
from pathlib import Path

from dpinfer.atomic import from_json
from pipeline.datasets import load
from pipeline.datasets.base import save
from pipeline.datasets.fetch import Fetcher
from pipeline.provenance import Stamp
from pipeline.settings.data import Data
from pipeline.settings.yaml import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline data`."""
    parser.add_argument("settings", help='settings as JSON, such as {"name": "abalone"}')
    parser.add_argument("--sources", type=Path, required=True, help="list of files, sums and where to get them")
    parser.add_argument("--data-dir", type=Path, help="folder of your own copies (default: DPINFER_DATA)")
    parser.add_argument("--output", type=Path, required=True, help="the .npz to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the arrays, then the facts about them."""
    stamp = Stamp(arguments.code)
    raw = from_json(arguments.settings)
    settings: Data = parse(Data, raw, "settings")
    dataset = load(settings, Fetcher(arguments.sources, arguments.data_dir))
    save(arguments.output, dataset)
    shapes = {
        part: {key: list(array.shape) for key, array in arrays.items()}
        for part, arrays in (("train", dataset.train), ("test", dataset.test))
    }
    stamp.write(arguments.output.with_suffix(".json"), settings=raw, shapes=shapes, facts=dataset.facts)
