"""What a figure says of its own making."""

import math

import pandas as pd

from pipeline.stages.figure import note

ROW = {"experiment": "one", "cell": "a", "scale": "laptop", "standin": False}


def of(*seeds: tuple[str, float]) -> str:
    return note(pd.DataFrame([{**ROW, "cell": cell, "seed": seed} for cell, seed in seeds]))


def test_the_seeds_of_cells_are_told_from_the_fewest_to_the_most() -> None:
    assert of(("a", 0)) == "laptop scale · 1 seed"
    assert of(("a", 0), ("a", 0), ("a", 1)) == "laptop scale · 2 seeds"
    assert of(("a", 0), ("b", 0), ("b", 1), ("b", 2)) == "laptop scale · 1 to 3 seeds"


def test_cells_without_seeds_do_not_count() -> None:
    assert of(("a", 0), ("a", 1), ("study", math.nan)) == "laptop scale · 2 seeds"
    assert note(pd.DataFrame([{"scale": "smoke"}])) == "smoke scale"
