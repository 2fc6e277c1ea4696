"""The closed form of the full-batch Gaussian."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting.gaussian_mechanism import get_epsilon_gaussian

from dpinfer.accounting.events import (
    Compose,
    FullBarker,
    Gaussian,
    NonPrivate,
    Nothing,
    PoissonGaussian,
    Repeat,
)
from dpinfer.accounting.sound import gaussian, pld
from dpinfer.errors import InputError


def exact_delta(epsilon: float, mu: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        eps, sep = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(sep / 2 - eps / sep) - mpmath.exp(eps) * mpmath.ncdf(-sep / 2 - eps / sep)


@pytest.mark.parametrize("exponent", range(-2, 9))
def test_bounds_enclose_the_profile_in_high_precision(exponent: int) -> None:
    sigma = 10.0**exponent
    for delta in (1e-100, 1e-12, 1e-6, 1e-3, 0.1, 0.5):
        bound = gaussian.epsilon(Gaussian(sigma), delta, "add-remove")
        if bound.upper > 0.0:
            assert exact_delta(bound.upper, 1 / sigma) <= delta
        if bound.lower:
            assert exact_delta(bound.lower, 1 / sigma) >= delta
        assert bound.upper == pytest.approx(bound.lower, rel=1e-4, abs=1e-300)


def test_agrees_with_dp_accounting() -> None:
    rng = np.random.default_rng(0)
    for sigma, delta in zip(10 ** rng.uniform(-1, 3, 60), 10 ** rng.uniform(-10, -1, 60), strict=True):
        ours = gaussian.epsilon(Gaussian(sigma), delta, "add-remove").upper
        assert ours == pytest.approx(get_epsilon_gaussian(sigma, delta), rel=1e-6, abs=1e-9)


def test_composition_adds_squares_and_delta_inverts_epsilon() -> None:
    many = Compose((Repeat(Gaussian(3.0), 5), Gaussian(1.0)))
    one = Gaussian((5 / 9 + 1) ** -0.5)
    epsilon = gaussian.epsilon(many, 1e-5, "add-remove").upper
    assert epsilon == pytest.approx(gaussian.epsilon(one, 1e-5, "add-remove").upper, rel=1e-9)
    assert gaussian.delta(many, epsilon, "add-remove").upper == pytest.approx(1e-5, rel=1e-6)


def test_replacing_a_record_doubles_the_sensitivity() -> None:
    twice = gaussian.epsilon(Gaussian(4.0), 1e-5, "replace-one")
    assert twice.upper == pytest.approx(gaussian.epsilon(Gaussian(2.0), 1e-5, "add-remove").upper, rel=1e-12)


def test_the_barker_test_on_all_data_is_a_gaussian_release() -> None:
    ours = gaussian.epsilon(FullBarker(bound=0.5, variance=2.0), 1e-5, "replace-one").upper
    assert ours == pytest.approx(gaussian.epsilon(Gaussian(math.sqrt(2.0)), 1e-5, "add-remove").upper, rel=1e-9)


def test_pld_delegates_to_the_closed_form() -> None:
    event = Repeat(Gaussian(20.0), 100)
    assert pld.epsilon(event, 1e-5, "add-remove").upper == gaussian.epsilon(event, 1e-5, "add-remove").upper


def test_nothing_costs_nothing_and_non_private_everything() -> None:
    assert gaussian.epsilon(Nothing(), 1e-5, "add-remove").upper == 0.0
    bound = gaussian.epsilon(Compose((Gaussian(1.0), NonPrivate("why not"))), 1e-5, "add-remove")
    assert (bound.upper, bound.detail) == (math.inf, "why not")
    assert gaussian.delta(NonPrivate("why not"), 1.0, "add-remove").upper == 1.0


def test_refusals() -> None:
    with pytest.raises(InputError, match="cannot take"):
        gaussian.epsilon(PoissonGaussian(1.0, 0.1), 1e-5, "add-remove")
    with pytest.raises(InputError, match="delta"):
        gaussian.epsilon(Gaussian(1.0), 0.0, "add-remove")
    with pytest.raises(InputError, match="adjacency"):
        gaussian.epsilon(Gaussian(1.0), 1e-5, "swap")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="epsilon"):
        gaussian.delta(Gaussian(1.0), -1.0, "add-remove")
