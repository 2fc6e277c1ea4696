"""Privacy-loss distributions where a record is hardly ever drawn, but loses much when it is."""

import time

import numpy as np
import pytest
from scipy.special import binom, log_ndtr

from dpinfer.accounting.events import Adjacency, PoissonGaussian, Repeat
from dpinfer.accounting.sound import pld, profiles
from dpinfer.accounting.sound.composition import CompositionRanges, _discretise, power

SETTINGS = [
    (0.374, 1e-7, 14093, 1.2e-11),
    (0.3, 1e-6, 1000, 1e-12),
    (0.3, 1e-8, 100_000, 1e-12),
    (0.4, 1e-7, 100_000, 1e-11),
    (0.5, 1e-6, 14093, 1e-10),
    (0.5, 1e-8, 1000, 1e-10),
    (0.4, 1e-5, 14093, 1e-12),
]


def attacked(sigma: float, rate: float, times: int, delta: float) -> float:
    """Bound epsilon from below by whether any of the outputs exceeds a threshold, for the best threshold."""
    z = np.linspace(0.0, 40.0, 400_001)
    without, shifted = np.exp(log_ndtr(-z)), np.exp(log_ndtr(1.0 / sigma - z))
    first = -np.expm1(times * np.log1p(-(1.0 - rate) * without - rate * shifted))
    second = -np.expm1(times * np.log1p(-without))
    is_proof = (first > delta) & (second > 0.0)
    return float(np.max(np.log((first[is_proof] - delta) / second[is_proof])))


@pytest.mark.parametrize(("sigma", "rate", "times", "delta"), SETTINGS)
def test_rare_and_large_losses_are_bounded_tightly_and_soon(
    sigma: float, rate: float, times: int, delta: float
) -> None:
    started = time.process_time()
    bound = pld.epsilon(Repeat(PoissonGaussian(sigma, rate), times), delta, "add-remove")
    assert time.process_time() - started < 5.0
    below = attacked(sigma, rate, times, delta)
    assert below <= bound.upper <= 1.005 * below


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_delta_inverts_epsilon_of_rare_and_large_losses(adjacency: Adjacency) -> None:
    event = Repeat(PoissonGaussian(0.374, 1e-7), 14093)
    epsilon = pld.epsilon(event, 1.2e-11, adjacency).upper
    assert pld.delta(event, epsilon, adjacency).upper == pytest.approx(1.2e-11, rel=3e-2)


def test_powers_of_an_idle_step_are_the_sum_over_how_often_it_is_not() -> None:
    delta, times = 1e-12, 14093
    plan = CompositionRanges([(profiles.poisson(1.0 / 0.374, 1e-7), times)], delta)
    interval = plan.width / 256
    one = _discretise(plan.parts[0][0].remove, -plan.ranges[0][1], plan.ranges[0][0], interval).to_dense_pmf()
    at = int(np.argmax(one._probs))
    busy = one._probs.copy()
    busy[at] = 0.0
    total = one._infinity_mass + busy.sum()
    # Sums of positive terms alone, so that rounding is relative: the step is busy zero to `most` times.
    most = 10
    expected, convolved = np.zeros((most + 1) * len(busy)), np.ones(1)
    for count in range(most + 1):
        weight = binom(times, count) * np.exp((times - count) * np.log1p(-total))
        start = at * (most - count)
        expected[start : start + len(convolved)] += weight * convolved
        convolved = np.convolve(convolved, busy)
    found = power(one, times, plan.tail).to_dense_pmf()
    zero = (at + one._lower_loss) * times - found._lower_loss
    for index in (0, 1, 2, 5, 20, 100, 200, 300):
        above = expected[at * most + index :].sum()
        assert found._probs[zero + index :].sum() == pytest.approx(above, rel=1e-9, abs=1e-14)
