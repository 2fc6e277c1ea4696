"""Renyi accounting: against dp-accounting over a wide grid, and its own laws."""

import math

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

from dpinfer.accounting.events import (
    Compose,
    Gaussian,
    NonPrivate,
    Nothing,
    PoissonGaussian,
    Repeat,
    SubsetGaussian,
)
from dpinfer.accounting.sound import gaussian, rdp, renyi
from dpinfer.errors import InputError

WHOLE = (2.0, 3.0, 5.0, 8.0, 13.0, 32.0, 64.0, 256.0)


def test_whole_orders_agree_with_dp_accounting_over_a_random_grid() -> None:
    rng = np.random.default_rng(3)
    for _ in range(240):
        sigma, rate = float(10 ** rng.uniform(-0.5, 2)), float(10 ** rng.uniform(-5, 0))
        times, delta = int(10 ** rng.uniform(0, 6)), float(10 ** rng.uniform(-10, -1))
        step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma))
        theirs = RdpAccountant(WHOLE).compose(step, times).get_epsilon(delta)
        ours = rdp.epsilon(Repeat(PoissonGaussian(sigma, rate), times), delta, "add-remove", orders=WHOLE)
        # Theirs is 0 where the total variation is below delta, which ours does not look at.
        assert ours.upper >= theirs * (1 - 1e-6) - 1e-9
        if theirs > 0.0:
            assert ours.upper == pytest.approx(theirs, rel=1e-6, abs=1e-9)


def test_fractional_orders_do_not_exceed_dp_accounting_and_grow_between_whole_ones() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        mu, rate = float(10 ** rng.uniform(-1.5, 0.3)), float(10 ** rng.uniform(-4, -0.1))
        order = float(rng.uniform(1.1, 20.0))
        step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(1 / mu))
        theirs = RdpAccountant([order]).compose(step)._rdp[0]
        ours = renyi.poisson(order, mu, rate)
        assert ours <= theirs * (1 + 1e-6) + 1e-15
        below, above = max(math.floor(order), 2), math.floor(order) + 1
        if order > 2:
            assert renyi.poisson(below, mu, rate) <= ours * (1 + 1e-9)
        assert ours <= renyi.poisson(above, mu, rate) * (1 + 1e-9)


@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.01), (1.0, 0.2), (0.02, 1e-3), (2.0, 1e-4)])
def test_divergences_match_plain_integration(mu: float, rate: float) -> None:
    z = np.linspace(-15.0, 15.0 + 6 * mu, 200_001)
    plain = -(z**2) / 2.0 - math.log(2 * math.pi) / 2
    above = plain + np.log1p(rate * np.expm1(mu * z - mu * mu / 2))
    below = plain + np.log1p(rate * np.expm1(-mu * z - mu * mu / 2))
    width = z[1] - z[0]
    for order in (1.5, 2.0, 3.7):
        for found, first, second in (
            (renyi.poisson(order, mu, rate), above, plain),
            (renyi.poisson_reverse(order, mu, rate), plain, above),
            (renyi.poisson_replace(order, mu, rate), above, below),
        ):
            moment = float(np.sum(np.exp(order * first + (1 - order) * second))) * width
            assert found == pytest.approx(math.log(moment) / (order - 1), rel=1e-5, abs=1e-11)


def exact_divergence(order: float, mu: float, rate: float, first: int, second: int) -> float:
    """Divergence of (1-q) N(0,1) + q N(first mu, 1) from the same with `second`, over all that can matter."""
    a, m, q = mpmath.mpf(order), mpmath.mpf(mu), mpmath.mpf(rate)

    def over_plain(z: mpmath.mpf, side: int) -> mpmath.mpf:
        return 1 - q + q * mpmath.exp(side * m * z - abs(side) * m * m / 2)

    def integrand(z: mpmath.mpf) -> mpmath.mpf:
        return over_plain(z, first) ** a * over_plain(z, second) ** (1 - a) * mpmath.npdf(z)

    reach = 2 * order * mu + 20
    moment = mpmath.quad(integrand, mpmath.linspace(-reach, reach, 2 + int(reach / 2)))
    return float(mpmath.log(moment) / (a - 1))


@pytest.mark.parametrize(
    ("order", "mu", "rate"),
    [(512.0, 0.05, 0.99), (512.0, 0.1, 0.999), (256.0, 0.2, 0.9999), (2048.0, 0.02, 0.9), (40.5, 1.0, 1 - 1e-9)],
)
def test_divergences_hold_where_nearly_all_records_are_sampled(order: float, mu: float, rate: float) -> None:
    replace, forward, reverse = (exact_divergence(order, mu, rate, *sides) for sides in ((1, -1), (1, 0), (0, 1)))
    assert renyi.poisson_replace(order, mu, rate) == pytest.approx(replace, rel=1e-9)
    assert renyi.poisson(order, mu, rate) == pytest.approx(forward, rel=1e-9)
    assert renyi.poisson_reverse(order, mu, rate) == pytest.approx(reverse, rel=1e-9)


@pytest.mark.parametrize(("order", "mu"), [(8.0, 0.5), (512.0, 0.05), (511.5, 0.1), (4096.0, 0.01)])
def test_divergences_approach_those_without_sampling(order: float, mu: float) -> None:
    rate = math.nextafter(1.0, 0.0)
    assert renyi.poisson_replace(order, mu, rate) == pytest.approx(renyi.gaussian(order, 2 * mu), rel=1e-9)
    assert renyi.poisson(order, mu, rate) == pytest.approx(renyi.gaussian(order, mu), rel=1e-9)
    assert renyi.poisson_reverse(order, mu, rate) == pytest.approx(renyi.gaussian(order, mu), rel=1e-9)


def test_adding_costs_no_more_than_removing() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        mu, rate = float(10 ** rng.uniform(-1, 0.5)), float(10 ** rng.uniform(-3, -0.1))
        for order in (2, 5, 17):
            forward = renyi.poisson(order, mu, rate)
            assert renyi.poisson_reverse(order, mu, rate) <= forward * (1 + 1e-9)


def test_replacing_lies_between_removing_and_the_doubled_sensitivity() -> None:
    rng = np.random.default_rng(6)
    for _ in range(30):
        mu, rate = float(10 ** rng.uniform(-1, 0.3)), float(10 ** rng.uniform(-3, -0.1))
        for order in (1.5, 3.0, 8.0):
            replace = renyi.poisson_replace(order, mu, rate)
            subset = renyi.subset_replace(order, 2 * mu, rate)
            assert renyi.poisson(order, mu, rate) <= replace * (1 + 1e-9)
            assert replace <= subset * (1 + 1e-6)
            assert renyi.poisson(order, 2 * mu, rate) <= subset * (1 + 1e-6)
            assert subset <= renyi.gaussian(order, 2 * mu) * (1 + 1e-6)


def test_conversions() -> None:
    event = Repeat(Gaussian(10.0), 50)
    exact = gaussian.epsilon(event, 1e-5, "add-remove").upper
    improved = rdp.epsilon(event, 1e-5, "add-remove").upper
    classic = rdp.epsilon(event, 1e-5, "add-remove", conversion="classic").upper
    assert exact < improved < classic < 1.5 * exact
    assert rdp.delta(event, improved, "add-remove").upper == pytest.approx(1e-5, rel=0.05)


def test_ternary_search_beats_the_grid() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        event = Repeat(
            PoissonGaussian(float(rng.uniform(0.8, 4)), float(10 ** rng.uniform(-3, -1))),
            int(10 ** rng.uniform(1, 4)),
        )
        grid = rdp.epsilon(event, 1e-5, "add-remove", orders="grid", conversion="classic").upper
        ternary = rdp.epsilon(event, 1e-5, "add-remove", orders="ternary", conversion="classic").upper
        assert ternary <= grid * (1 + 1e-6)


def test_replacing_a_record_doubles_the_sensitivity() -> None:
    for order in (2.0, 7.0):
        twice = rdp.divergence(Gaussian(2.0), order, "replace-one")
        assert twice == pytest.approx(4 * rdp.divergence(Gaussian(2.0), order, "add-remove"))
        subset = rdp.divergence(SubsetGaussian(2.0, 0.1), order, "add-remove")
        assert subset == pytest.approx(rdp.divergence(PoissonGaussian(1.0, 0.1), order, "add-remove"))


def test_input() -> None:
    with pytest.raises(InputError, match="above 1"):
        rdp.epsilon(Gaussian(1.0), 1e-5, "add-remove", orders=(1.0,))
    with pytest.raises(InputError, match="orders"):
        rdp.epsilon(Gaussian(1.0), 1e-5, "add-remove", orders="fine")  # type: ignore[arg-type]
    assert rdp.epsilon(Nothing(), 1e-5, "add-remove").upper == 0.0
    assert rdp.delta(Nothing(), 1.0, "add-remove").upper == 0.0
    both = Compose((Gaussian(1.0), NonPrivate("no clip")))
    assert rdp.epsilon(both, 1e-5, "add-remove").upper == math.inf
    assert rdp.delta(both, 1.0, "add-remove").upper == 1.0
