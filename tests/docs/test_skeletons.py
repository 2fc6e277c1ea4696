"""The contributor's path, followed as CONTRIBUTING.md prints it: an experiment with a new model and algorithm."""

import re
import shutil
from pathlib import Path

import pandas as pd

from checkout import ROOT, Checkout

NAMES = {
    "<paper>": "dpvi", "<experiment>": "my_experiment", "<figure>": "my_figure", "<model>": "probit",
    "<Model>": "Probit", "<method>": "momentum", "<Method>": "Momentum", "&#124;": "|",
}  # fmt: skip


def rows(columns: int) -> list[list[str]]:
    """The rows of the table in CONTRIBUTING.md that has so many columns, with names in place of <...>."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for word, name in NAMES.items():
        text = text.replace(word, name)
    found = [re.findall("`([^`]+)`", line) for line in text.splitlines() if line.startswith("| `")]
    return [row for row in found if len(row) == columns]


def put_below(path: Path, beginning: str, line: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (place,) = [number for number, text in enumerate(lines) if text.startswith(beginning)]
    lines.insert(place + 1, f"{line}\n")
    path.write_text("".join(lines), encoding="utf-8")


def test_what_is_made_from_the_skeletons_runs(checkout: Checkout) -> None:
    copies, entries = rows(2), rows(3)
    assert len(copies) == len(entries) == 6
    for source, target in copies:
        shutil.copy(ROOT / source, checkout.root / target)
    for file, beginning, line in entries:
        put_below(checkout.root / file, beginning, line)
    with (checkout.root / "config/claims/dpvi.yaml").open("a", encoding="utf-8") as claims:
        claims.write((ROOT / "docs/skeletons/claim.yaml").read_text(encoding="utf-8"))
    checkout.snakemake(config=("experiments=[my_experiment]",))
    results = checkout.root / "results/smoke"
    metrics = pd.read_csv(results / "metrics/my_experiment.csv")
    assert set(metrics["arm"]) == {"private", "exact"}
    assert metrics.loc[metrics["arm"] == "exact", "value"].mean() > 0.6, "it has learnt nothing"
    assert (results / "figures/my_figure.pdf").stat().st_size > 1000
    assert "my_claim" in set(pd.read_csv(results / "scorecard.csv")["id"])
