"""The studies, against values known from elsewhere."""

import math
from typing import Any

import pytest

from pipeline import registry
from pipeline.settings.study import Curve, Dominance, Noise, Orders, Search, Span
from pipeline.studies import Row
from pipeline.studies.epsilon import spread

PYVACY: dict[str, Any] = {"sampling_rate": 0.005, "noise_multiplier": 1.1, "num_steps": 2500, "delta": 1e-5}


def values(settings: Any, metric: str) -> list[float]:
    return [row["value"] for row in registry.study_rows(settings) if row["metric"] == metric]


def test_spans() -> None:
    assert spread((1.0, 5.0)) == [1.0, 5.0]
    assert spread(Span(start=0, stop=1, count=3)) == [0.0, 0.5, 1.0]
    assert spread(Span(start=1, stop=100, count=3, spacing="log")) == pytest.approx([1.0, 10.0, 100.0])
    assert spread(Span(start=1, stop=4, count=7, spacing="whole")) == [1.0, 2.0, 3.0, 4.0]


def test_a_curve_of_the_thesis() -> None:
    curve = Curve(
        sampler="full", over="num_steps", values=(1, 5, 10, 50, 100), delta=1e-4, accountant="moments",
        options={"max_lambda": 32, "direction": "both"},
    )  # fmt: skip
    assert values(curve, "epsilon") == pytest.approx([4.80, 12.1, 19.2, 59.2, 109], rel=5e-3)


def test_a_curve_of_the_barker_test() -> None:
    curve = Curve(
        sampler="barker", over="sampling_rate", values=(0.001, 0.002, 0.005, 0.01), num_steps=5000, records=10**6,
        delta=1e-6, adjacency="replace-one", accountant="barker", options={"method": "theorem", "max_order": 200},
    )  # fmt: skip
    assert values(curve, "epsilon") == pytest.approx([0.499, 0.998, 2.542, 5.292], abs=1e-3)


def test_factors_follow_the_papers_convention() -> None:
    curve = Curve(
        over="noise_multiplier", values=(1.2214, 29.964), sampling_rate=0.05, num_steps=1000, delta=5e-4,
        accountant="advanced", options={"form": "code", "delta_prime": 4e-5}, noise_factor=2, epsilon_factor=2,
    )  # fmt: skip
    assert values(curve, "epsilon") == pytest.approx([252.4, 1.25], rel=5e-3)


def test_a_refusal_is_a_row_with_its_reason() -> None:
    curve = Curve(
        over="num_steps", values=(10,), noise_multiplier=0.3, sampling_rate=0.5, delta=1e-5, accountant="fourier"
    )
    rows: list[Row] = list(registry.study_rows(curve))
    assert [row["metric"] for row in rows] == ["refused"]
    assert math.isnan(rows[0]["value"])
    assert "fourier accountant" in rows[0]["reason"]


def test_slopes_and_lower_bounds() -> None:
    curve = Curve(
        over="num_steps", values=(1000, 4000), sampling_rate=0.01, noise_multiplier=10, delta=1e-3, lower=True
    )
    (slope,) = values(curve, "log_slope")
    low, high = values(curve, "epsilon")
    assert slope == pytest.approx(math.log(high / low) / math.log(4))
    assert all(a < b for a, b in zip(values(curve, "epsilon_lower"), (low, high), strict=True))


def test_orders_and_searches_of_pyvacy() -> None:
    orders = Orders(**PYVACY, values=(2, 4, 8, 12, 14))
    assert values(orders, "epsilon") == pytest.approx([11.59, 4.00, 1.985, 1.620, 266.8], rel=1e-3)
    assert values(orders, "turns") == [1]
    assert values(orders, "grid") == pytest.approx([1.62024], abs=1e-5)
    assert values(orders, "ternary") == pytest.approx([1.60901], abs=1e-5)
    subset = Orders(**PYVACY, curve="wang", clips=1, values=Span(start=2, stop=64, count=63, spacing="whole"))
    assert values(subset, "least") == pytest.approx([2.808], abs=1e-3)


def test_a_search_lists_every_combination() -> None:
    search = Search(sampling_rates=(0.005, 0.01), noise_multipliers=(1.1,), num_steps=(2500,), delta=1e-5)
    assert len(values(search, "gain")) == 2
    assert values(search, "gain")[0] == pytest.approx(1 - 1.60901 / 1.62024, abs=1e-5)


def test_theorem_2_dominates_its_assumptions() -> None:
    dominance = Dominance(batch=1000, orders=(2, 3, 5, 10))
    assert values(dominance, "theorem") == pytest.approx([0.358, 0.186, 0.103, 0.065], abs=1e-3)
    assert values(dominance, "worst_case") == pytest.approx([0.004, 0.006, 0.010, 0.021], abs=1e-3)
    assert min(values(dominance, "slack_theorem")) > 0
    assert max(map(abs, values(dominance, "theorem_1_error"))) < 1e-12


def test_noise_is_proportional_to_the_sampling_rate() -> None:
    noise = Noise(sampling_rates=(0.01, 0.1), num_steps=2000, epsilon=0.5, delta=1e-3)
    ratios = values(noise, "noise_over_rate")
    assert ratios[1] == 1
    assert ratios[0] == pytest.approx(1, abs=0.15)


def test_impossible_studies_are_refused() -> None:
    with pytest.raises(ValueError, match="records should be given for the sampler barker"):
        Curve(sampler="barker", over="num_steps", values=(1,), delta=1e-5)
    with pytest.raises(ValueError, match="lower is for the accountant pld alone"):
        Curve(over="num_steps", values=(1,), delta=1e-5, accountant="rdp", lower=True)
