"""The scorecard as a stage: a row for everything in the catalogue, whatever was run."""

from argparse import Namespace
from pathlib import Path

import pandas as pd
import pytest

from pipeline.settings.yaml import read
from pipeline.stages import scorecard

CONFIG = Path(__file__).parents[2] / "config"
METRICS = pd.DataFrame(
    {
        "arm": "exact",
        "metric": "accuracy",
        "value": [0.5, 0.6],
        "seed": [0, 1],
        "scale": "laptop",
        "standin": False,
    }
)


def test_everything_in_the_catalogue_has_a_row(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    METRICS.to_csv(tmp_path / "abalone_descent.csv", index=False)
    scorecard.main(
        Namespace(
            claims=sorted((CONFIG / "claims").glob("*.yaml")),
            tables=sorted((CONFIG / "published").glob("*/*.csv")),
            metrics=[tmp_path / "abalone_descent.csv"], output=tmp_path / "scorecard.csv", code="none",
        )
    )  # fmt: skip
    card = pd.read_csv(tmp_path / "scorecard.csv", dtype=str).fillna("").set_index("id")
    text = (tmp_path / "scorecard.md").read_text(encoding="utf-8")
    for paper, entries in read(CONFIG / "catalogue.yaml").items():
        for entry in entries:
            own = [claim for claim in card.index if f"{claim}_".startswith(f"{entry}_")]
            assert own, entry
            assert all(card.loc[claim, "paper"] == paper for claim in own)
    assert all(f"| {claim} |" in text for claim in card.index)
    assert (card.loc[card["verdict"] == "not testable here", "reason"] != "").all()
    only = card.loc["abalone_exact", ["ours", "standard_error", "verdict", "scale"]]
    assert list(only) == ["0.55", "0.05", "differs", "laptop"]
    # Its entry gives no reason, as it holds in earnest.
    assert "abalone_exact differs, and its entry gives no reason" in caplog.text
