"""Accountants against each other and against the packages behind them, over random settings."""

import math
from typing import Any

import fourier_accountant
import numpy as np
import pytest

from dpinfer.accounting import accountant
from dpinfer.accounting.events import Adjacency, Event, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.published import fourier
from dpinfer.accounting.sound import moments, pld, wang

SETTINGS = 30


def event(sigma: float, rate: float, steps: int) -> Event:
    return Repeat(event=PoissonGaussian(noise_multiplier=sigma, sampling_rate=rate), count=steps)


def settings() -> list[tuple[float, float, int, float]]:
    """Where the package's default grid is known to be fine: moderate noise and a moderate loss."""
    rng = np.random.default_rng(11)
    drawn: list[tuple[float, float, int, float]] = []
    while len(drawn) < SETTINGS:
        sigma, rate = float(rng.uniform(1.0, 4.0)), float(10 ** rng.uniform(-3, -1))
        steps, delta = int(10 ** rng.uniform(1, 3)), float(10 ** rng.uniform(-6, -3))
        if rate * math.sqrt(steps) / sigma < 1.0:
            drawn.append((sigma, rate, steps, delta))
    return drawn


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_pld_agrees_with_the_fourier_accountant_at_thirty_settings(adjacency: Adjacency) -> None:
    theirs = fourier_accountant.get_delta_R if adjacency == "add-remove" else fourier_accountant.get_delta_S
    for sigma, rate, steps, delta in settings():
        bound = pld.epsilon(event(sigma, rate, steps), delta, adjacency).upper
        found = theirs(target_eps=bound, sigma=sigma, q=rate, ncomp=steps, nx=int(1e6), L=20.0)
        # An upper bound on epsilon leaves a smaller delta, and a tight one hardly smaller.
        assert found <= delta * 1.01, (sigma, rate, steps, delta)
        assert found >= delta * 0.9, (sigma, rate, steps, delta)


CHAIN = event(1.1, 0.005, 2500)
SUBSETS = Repeat(event=SubsetGaussian(noise_multiplier=3.0, sampling_rate=0.01), count=500)
CASES: list[tuple[str, Event, Adjacency, dict[str, Any]]] = [
    ("pld", CHAIN, "add-remove", {}),
    ("fourier", CHAIN, "add-remove", {}),
    ("fourier", CHAIN, "replace-one", {}),
    ("moments", CHAIN, "add-remove", {"max_lambda": 20}),
    ("wang", SUBSETS, "replace-one", {}),
]


@pytest.mark.parametrize(("name", "what", "adjacency", "options"), CASES)
def test_delta_undoes_epsilon(name: str, what: Event, adjacency: Adjacency, options: dict[str, Any]) -> None:
    module: Any = accountant(name)
    for delta in (1e-4, 1e-6):
        epsilon = module.epsilon(what, delta, adjacency, **options).upper
        assert module.delta(what, epsilon, adjacency, **options).upper == pytest.approx(delta, rel=0.02)


@pytest.mark.parametrize("module", [fourier, moments, wang])
def test_delta_falls_with_epsilon(module: Any) -> None:
    what, adjacency = (SUBSETS, "replace-one") if module is wang else (CHAIN, "add-remove")
    found = [module.delta(what, epsilon, adjacency).upper for epsilon in (0.5, 1.0, 1.5)]
    assert 1 >= found[0] > found[1] > found[2] > 0
