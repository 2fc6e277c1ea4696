"""Every figure, table and numerical statement of the five papers has a row in the scorecard."""

from pathlib import Path

import pytest

from pipeline.settings.claim import Claims
from pipeline.settings.yaml import parse, read

CONFIG = Path(__file__).parents[1] / "config"
CATALOGUE: dict[str, list[str]] = read(CONFIG / "catalogue.yaml")


@pytest.mark.parametrize("paper", CATALOGUE)
def test_everything_in_a_paper_has_a_claim(paper: str) -> None:
    stated: Claims = parse(Claims, read(CONFIG / f"claims/{paper}.yaml"), paper)
    ids = [claim.id for claim in stated.claims]
    missing = [entry for entry in CATALOGUE[paper] if not any(f"{own}_".startswith(f"{entry}_") for own in ids)]
    assert not missing


def test_the_five_papers_are_all_there() -> None:
    assert sorted(CATALOGUE) == ["d3p", "dpmcmc", "dppvi", "dpvi", "pyvacy"]
    assert sum(len(entries) for entries in CATALOGUE.values()) == 107
