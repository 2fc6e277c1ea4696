"""Write the JSON schemas of the config files, by which an editor completes and checks them."""

import argparse
from pathlib import Path

from dpinfer.atomic import write_json
from pipeline.settings.schema import schemas


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer schema`."""
    parser.add_argument("--output", type=Path, required=True, help="folder to write <kind>.schema.json into")


def main(arguments: argparse.Namespace) -> None:
    """Write one file for each kind of config file."""
    for name, schema in schemas().items():
        write_json(arguments.output / f"{name}.schema.json", schema)
