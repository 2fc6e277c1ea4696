"""Fit the correction of the logistic noise that Barker tests need, once for all cells that share it."""

import argparse
from pathlib import Path

from dpinfer.atomic import from_json
from dpinfer.inference import correction
from pipeline.provenance import Stamp
from pipeline.settings.chain import CorrectionFitting
from pipeline.settings.yaml import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline correction`."""
    parser.add_argument("settings", help="settings of the correction, as JSON")
    parser.add_argument("--output", type=Path, required=True, help="the .json to write")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the mixture, and how far its sum with the normal part is from logistic."""
    stamp = Stamp(arguments.code)
    settings: CorrectionFitting = parse(CorrectionFitting, from_json(arguments.settings), "settings")
    fitted = correction.fit(settings)
    stamp.write(
        arguments.output,
        settings=from_json(arguments.settings),
        mixture=correction.to_dict(fitted),
        diagnostics=correction.diagnostics(fitted, settings.variance),
    )
