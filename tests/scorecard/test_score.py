import math

import pandas as pd
import pytest

from dpinfer.errors import InputError
from pipeline.scorecard.score import DIFFERS, NOT_TESTABLE, REPRODUCED, score
from pipeline.settings.claim import Claim, Selection

METRICS = pd.DataFrame(
    {
        "arm": ["a", "a", "b", "b"],
        "epsilon": [1.0, 1.0, math.inf, math.inf],
        "metric": "accuracy",
        "seed": [0, 1, 0, 1],
        "value": [0.70, 0.72, 0.80, 0.80],
        "eps_paper": [1.0, 1.0, math.inf, math.inf],
        "eps_sound": [1.5, 1.5, math.inf, math.inf],
        "scale": "laptop",
        "standin": False,
    }
)


def select(reduce: str = "mean", **where: str | float) -> Selection:
    return Selection(experiment="e", metric="accuracy", where=where, reduce=reduce)  # type: ignore[arg-type]


def claim(*values: Selection, **others: object) -> Claim:
    return Claim(id="c", where="w", statement="s", values=values, **others)  # type: ignore[arg-type]


def verdict(stated: Claim, metrics: pd.DataFrame = METRICS) -> str:
    return str(score(stated, {"e": metrics})["verdict"])


def test_a_value_within_the_tolerance_is_reproduced_and_else_differs() -> None:
    assert verdict(claim(select(arm="a"), published=0.705, tolerance=0.006)) == REPRODUCED
    assert verdict(claim(select(arm="a"), published=0.705, tolerance=0.004)) == DIFFERS


def test_an_order_holds_up_to_the_tolerance() -> None:
    assert verdict(claim(select(arm="a"), select(epsilon=math.inf))) == REPRODUCED
    assert verdict(claim(select(arm="b"), select(arm="a"))) == DIFFERS
    assert verdict(claim(select(arm="b"), select(arm="a"), tolerance=0.1)) == REPRODUCED


def test_differences_and_ratios() -> None:
    other = select(arm="b")
    less = Selection(experiment="e", metric="accuracy", where={"arm": "a"}, minus=other)
    share = Selection(experiment="e", metric="accuracy", where={"arm": "a"}, over=other)
    assert verdict(claim(less, published=-0.09, tolerance=1e-9)) == REPRODUCED
    assert verdict(claim(share, published=0.8875, tolerance=1e-9)) == REPRODUCED
    assert verdict(claim(less, select(arm="a"))) == REPRODUCED
    missing = Selection(experiment="e", metric="accuracy", where={"arm": "a"}, over=select(arm="c"))
    assert verdict(claim(missing, published=1.0)) == NOT_TESTABLE


def test_places_that_one_curve_lacks_say_nothing() -> None:
    curves = METRICS.assign(steps=[1, 2, 1, 3], value=[0.7, 0.9, 0.8, 0.1])
    row = score(claim(select(arm="a"), select(arm="b"), along="steps"), {"e": curves})
    assert (row["verdict"], row["ours"]) == (REPRODUCED, "holds at 1 of 1 values of steps, least margin 0.1")


@pytest.mark.parametrize(("reduce", "value"), [("mean", 0.71), ("min", 0.7), ("max", 0.72), ("sd", 0.01414)])
def test_reductions(reduce: str, value: float) -> None:
    assert verdict(claim(select(reduce, arm="a"), published=value, tolerance=1e-4)) == REPRODUCED


def test_the_row_shows_both_epsilons_and_the_uncertainty() -> None:
    row = score(claim(select(arm="a"), published=0.7), {"e": METRICS})
    assert (row["eps_paper"], row["eps_sound"], row["ours"], row["standard_error"]) == ("1", "1.5", "0.71", "0.01")


def test_what_was_not_run_or_run_on_a_stand_in_is_not_testable() -> None:
    for metrics, reason in (
        ({}, "e was not run for arm a at this scale"),
        ({"e": METRICS[METRICS["arm"] == "b"]}, "e was not run for arm a at this scale"),
        ({"e": METRICS.assign(standin=True)}, "e was run on stand-in data at this scale"),
    ):
        row = score(claim(select(arm="a"), published=0.7), metrics)
        assert (row["verdict"], row["reason"]) == (NOT_TESTABLE, reason)
        assert row["scale"] == ("laptop" if "stand-in" in reason else "")


def test_a_claim_that_cannot_be_tested_says_why() -> None:
    row = score(Claim(id="c", where="w", statement="s", reason="a diagram"), {})
    assert (row["verdict"], row["reason"]) == (NOT_TESTABLE, "a diagram")
    with pytest.raises(ValueError, match="needs a reason"):
        Claim(id="c", where="w", statement="s")


def test_a_misspelt_column_is_an_error() -> None:
    with pytest.raises(InputError, match="asks for the column epsilonn, which e does not have"):
        score(claim(select(epsilonn=1.0), published=0.7), {"e": METRICS})


def test_a_table_is_met_by_enough_of_its_rows() -> None:
    table = pd.DataFrame({"arm": ["a", "b"], "value": [0.705, 0.75]})
    stated = claim(select(), table="t", at_least=0.5, tolerance=0.01)
    row = score(stated, {"e": METRICS}, {"t": table})
    assert row["verdict"] == REPRODUCED
    assert row["ours"] == "1 of 2 values met, largest difference 0.05"
    assert score(claim(select(), table="t", at_least=1, tolerance=0.01), {"e": METRICS}, {"t": table})[
        "verdict"
    ] == DIFFERS  # fmt: skip


def test_a_row_of_a_table_has_a_tolerance_or_errors_of_its_own() -> None:
    stated = claim(select(arm="a"), table="t", at_least=1)
    near = pd.DataFrame({"arm": ["a", "b"], "value": [0.72, 0.0], "tolerance": [0.02, 0.0]})
    assert score(stated, {"e": METRICS}, {"t": near})["verdict"] == REPRODUCED
    assert score(stated, {"e": METRICS}, {"t": near.assign(tolerance=0.001)})["verdict"] == DIFFERS
    # Ours has a standard error of 0.01: three of both are 0.042.
    assert score(stated, {"e": METRICS}, {"t": near.assign(tolerance=0.0, sem=0.01)})["verdict"] == REPRODUCED
    far = near.assign(value=0.76, tolerance=0.0, sem=0.01)
    assert score(stated, {"e": METRICS}, {"t": far})["verdict"] == DIFFERS


def test_a_table_of_cells_that_were_not_run_says_nothing() -> None:
    table = pd.DataFrame({"arm": ["a", "c"], "value": [0.71, 0.7]})
    stated = claim(select(), table="t", at_least=0.5, tolerance=0.01)
    row = score(stated, {"e": METRICS}, {"t": table})
    assert row["verdict"] == NOT_TESTABLE
    assert row["reason"] == "not all values of t were computed at this scale"


def test_a_claim_may_be_about_an_epsilon() -> None:
    of = Selection(experiment="e", metric="accuracy", where={"arm": "a"}, of="eps_sound")
    assert verdict(claim(of, published=1.5)) == REPRODUCED


def error(*values: Selection, **others: object) -> str:
    others = others or ({"published": 0.7} if len(values) == 1 else {})
    return str(score(claim(*values, **others), {"e": METRICS})["standard_error"])


def test_errors_are_those_of_what_is_shown() -> None:
    """The mean of a has an error of 0.01, that of b none: a difference has 0.01, a ratio 0.01 / 0.8."""
    with_b = {"experiment": "e", "metric": "accuracy", "where": {"arm": "a"}}
    assert error(Selection(**with_b, minus=select(arm="b"))) == "0.01"  # type: ignore[arg-type]
    assert error(Selection(**with_b, over=select(arm="b"))) == "0.013"  # type: ignore[arg-type]
    # Of two runs whose standard deviation is s, that deviation has an error of s / sqrt(2).
    assert error(select("sd", arm="a")) == "0.01"
    assert error(select("max", arm="a")) == "an extreme over runs"
    assert error(select(arm="a", seed=0)) == "one run"
    assert error(select(arm="a"), select(arm="b")) == "0.01, 0"
    assert error(select(arm="a"), select(arm="b"), along="seed") == "one run"


def test_what_has_no_seeds_says_so_unless_it_is_a_time() -> None:
    curve = METRICS.drop(columns="seed")
    one = claim(select(arm="a"), published=0.7)
    assert score(one, {"e": curve})["standard_error"] == "no seeds"
    assert score(one, {"e": curve.assign(device="cpu")})["standard_error"] == "a median over rounds"


def test_what_is_asked_for_is_shown_in_words() -> None:
    for stated, shown in (
        (claim(select(arm="a"), published=0.7), "0.7"),
        (claim(select(arm="a"), at_least=0.5, at_most=1.0), "at least 0.5, at most 1"),
        (claim(select(arm="a"), select(arm="b")), "in rising order"),
    ):
        assert score(stated, {"e": METRICS})["published"] == shown


def test_a_diagram_is_listed_as_static() -> None:
    diagram = Claim(id="c", where="w", statement="s", static=True, reason="a diagram")
    assert score(diagram, {})["kind"] == "static"
    with pytest.raises(ValueError, match="a static claim has no values"):
        claim(select(), static=True, published=1.0)
