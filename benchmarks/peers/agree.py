"""Write the test losses of a small private auto-encoder, trained by d3p and by us, side by side."""

import argparse
import json
import subprocess
from pathlib import Path

import pandas as pd

from dpinfer.atomic import replacing

HERE = Path(__file__).parent


def main() -> None:
    """Train with d3p in its own environment; ours are metrics of the pipeline."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path, help="the .json of d3p's environment")
    parser.add_argument("data", type=Path, help="the .npz of MNIST")
    parser.add_argument("ours", type=Path, help="the .csv of small_vae")
    parser.add_argument("--output", type=Path, required=True, help="the .csv to write")
    arguments = parser.parse_args()
    report = json.loads(arguments.environment.read_text(encoding="utf-8"))
    losses = [("dpinfer", value) for value in pd.read_csv(arguments.ours)["value"]]
    if "python" in report:
        command = [report["python"], HERE / "d3p_loss.py", arguments.data]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        losses.append(("d3p", float(done.stdout)))
    with replacing(arguments.output) as temporary:
        pd.DataFrame(losses, columns=["library", "loss"]).to_csv(temporary, index=False)


if __name__ == "__main__":
    main()
