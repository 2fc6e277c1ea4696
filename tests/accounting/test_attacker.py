import math

import pytest
from scipy.stats import norm

from dpinfer.accounting import attacker
from dpinfer.accounting.sound import gaussian


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 2.0, 5.0])
def test_a_gaussian_release_has_a_closed_form(mu: float) -> None:
    """No test of N(mu, 1) against N(0, 1) beats Phi(Phi^-1(FPR) + mu), and one reaches it."""
    points = attacker.profile(lambda epsilon: gaussian.delta_of(epsilon, mu), gaussian.epsilon_of(1e-4, mu))
    for rate in attacker.FALSE_POSITIVE_RATES:
        exact = float(norm.cdf(norm.ppf(rate) + mu))
        found = attacker.true_positive_rate(points, rate)
        assert exact * (1.0 - 1e-9) <= found <= exact * 1.05


def test_several_epsilons_are_better_than_one() -> None:
    points = attacker.profile(lambda epsilon: gaussian.delta_of(epsilon, 1.0), gaussian.epsilon_of(1e-4, 1.0))
    best = attacker.true_positive_rate(points, 0.01)
    assert all(attacker.true_positive_rate([point], 0.01) > 1.5 * best for point in (points[0], points[-1]))


def test_the_ends() -> None:
    assert attacker.true_positive_rate([(0.0, 0.0)], 0.1) == pytest.approx(0.1)
    assert attacker.true_positive_rate([(0.0, 1.0)], 0.1) == 1.0
    pure = attacker.true_positive_rate([(math.log(2.0), 0.0)], 0.1)
    assert pure == pytest.approx(0.2)
    assert attacker.true_positive_rate([(math.log(2.0), 0.0)], 0.8) == pytest.approx(0.9)
