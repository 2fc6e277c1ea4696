"""Privacy-loss distributions: against other libraries, against closed forms, and as functions."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation
from numpy.typing import NDArray

from dpinfer.accounting.events import (
    Adjacency,
    Barker,
    Compose,
    Event,
    Gaussian,
    NonPrivate,
    Nothing,
    PoissonGaussian,
    Repeat,
    SubsetGaussian,
    tally,
)
from dpinfer.accounting.sound import gaussian, lower, pld, profiles, rdp
from dpinfer.accounting.sound.composition import CompositionRanges
from dpinfer.errors import InputError

RELATIONS: dict[Adjacency, NeighboringRelation] = {
    "add-remove": NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": NeighboringRelation.REPLACE_ONE,
}


def oracle(sigma: float, rate: float, times: int, delta: float, adjacency: Adjacency) -> float:
    accountant = PLDAccountant(RELATIONS[adjacency], value_discretization_interval=1e-4)
    step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma))
    return float(accountant.compose(step, times).get_epsilon(delta))


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_agrees_with_dp_accounting(adjacency: Adjacency) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        sigma, rate = float(rng.uniform(0.6, 3.0)), float(10 ** rng.uniform(-2.5, -0.3))
        times, delta = int(10 ** rng.uniform(0, 3)), float(10 ** rng.uniform(-8, -2))
        ours = pld.epsilon(Repeat(PoissonGaussian(sigma, rate), times), delta, adjacency).upper
        assert ours == pytest.approx(oracle(sigma, rate, times, delta, adjacency), rel=5e-3, abs=2e-4)


def numerical_profile(
    first: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    second: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    x: float,
) -> float:
    z = np.linspace(-30.0, 30.0, 600_001)
    return float(np.sum(np.maximum(first(z) - math.exp(x) * second(z), 0.0)) * (z[1] - z[0]))


def normal(mean: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    return lambda z: np.exp(-((z - mean) ** 2) / 2.0) / math.sqrt(2.0 * math.pi)


@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.1), (2.0, 0.01), (1.0, 0.7)])
def test_profiles_are_the_integrals_they_name(mu: float, rate: float) -> None:
    def mixture(mean: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        return lambda z: (1 - rate) * normal(0.0)(z) + rate * normal(mean)(z)

    poisson, replace = profiles.poisson(mu, rate), profiles.poisson_replace(mu, rate)
    for x in (-2.0, -0.3, -0.01, 0.0, 0.02, 0.4, 1.5):
        at = np.array([x])
        remove = numerical_profile(mixture(mu), normal(0.0), x)
        assert poisson.remove(at)[0] == pytest.approx(remove, abs=1e-7)
        assert poisson.add(at)[0] == pytest.approx(numerical_profile(normal(0.0), mixture(mu), x), abs=1e-7)
        assert replace.remove(at)[0] == pytest.approx(numerical_profile(mixture(mu), mixture(-mu), x), abs=1e-7)
        base = profiles.gaussian(mu).remove
        symmetric = profiles.subset_replace(base, mu, rate).remove(at)[0]
        assert symmetric >= max(poisson.remove(at)[0], poisson.add(at)[0]) - 1e-12


@pytest.mark.parametrize(
    ("times", "delta"), [(100, 1e-5), (1999, 1e-9), (2001, 1e-9), (10**6, 1e-6), (10**6, 1e-12)]
)
def test_grid_composition_bounds_the_closed_form(times: int, delta: float) -> None:
    mu = 1.0 / math.sqrt(times)
    plan = CompositionRanges([(profiles.gaussian(mu), times)], delta)
    interval = next(plan.intervals())
    value = plan.compose(interval).epsilon(delta)
    exact = gaussian.epsilon_of(delta, 1.0)
    assert exact <= value <= 1.004 * exact


def test_a_rate_near_one_approaches_the_full_batch() -> None:
    for adjacency in RELATIONS:
        whole = pld.epsilon(Repeat(Gaussian(20.0), 100), 1e-5, adjacency).upper
        for kind in (PoissonGaussian, SubsetGaussian):
            near = pld.epsilon(Repeat(kind(20.0, 1 - 1e-9), 100), 1e-5, adjacency).upper
            full = pld.epsilon(Repeat(kind(20.0, 1.0), 100), 1e-5, adjacency).upper
            assert near == pytest.approx(full, rel=5e-3)
            if kind is PoissonGaussian or adjacency == "replace-one":
                assert full == pytest.approx(whole, rel=1e-9)
            else:
                # A subset keeps its size: where one record comes another goes.
                assert full == pytest.approx(
                    pld.epsilon(Repeat(Gaussian(10.0), 100), 1e-5, adjacency).upper, rel=1e-9
                )


def test_lower_and_upper_bounds_bracket() -> None:
    rng = np.random.default_rng(2)
    for kind in (PoissonGaussian, SubsetGaussian):
        for adjacency in RELATIONS:
            sigma, rate = float(rng.uniform(1.0, 3.0)), float(10 ** rng.uniform(-2.0, -0.5))
            event = Repeat(kind(sigma, rate), int(rng.integers(10, 500)))
            bound = pld.epsilon(event, 1e-5, adjacency, with_lower=True)
            assert bound.lower is not None
            assert 0.0 < bound.lower <= bound.upper
            if kind is PoissonGaussian or adjacency == "add-remove":
                assert bound.upper <= 1.01 * bound.lower
    exact = gaussian.epsilon_of(1e-5, 1.0)
    below = lower.epsilon(tally(Repeat(PoissonGaussian(10.0, 1.0), 100)), 1e-5, "add-remove")
    assert below is not None
    assert 0.99 * exact <= below <= exact


def test_replacing_a_record_doubles_the_sensitivity() -> None:
    # With everybody sampled the pair is N(1), N(-1); sampled rarely, replacing costs more than removing.
    twice = pld.epsilon(Repeat(PoissonGaussian(40.0, 1.0), 50), 1e-5, "replace-one").upper
    assert twice == pytest.approx(
        pld.epsilon(Repeat(PoissonGaussian(20.0, 1.0), 50), 1e-5, "add-remove").upper, rel=1e-9
    )
    subset = Repeat(SubsetGaussian(2.0, 0.01), 500)
    poisson = Repeat(PoissonGaussian(1.0, 0.01), 500)
    assert pld.epsilon(subset, 1e-5, "add-remove").upper == pld.epsilon(poisson, 1e-5, "add-remove").upper
    assert pld.epsilon(subset, 1e-5, "replace-one").upper > pld.epsilon(poisson, 1e-5, "add-remove").upper


@pytest.mark.parametrize("kind", [PoissonGaussian, SubsetGaussian])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_epsilon_moves_the_right_way(kind: type, adjacency: Adjacency) -> None:
    def at(sigma: float = 1.5, rate: float = 0.02, times: int = 300, delta: float = 1e-5) -> float:
        return pld.epsilon(Repeat(kind(sigma, rate), times), delta, adjacency).upper

    assert at(sigma=1.4) > at() > at(sigma=1.6)
    assert at(rate=0.03) > at() > at(rate=0.01)
    assert at(times=400) > at() > at(times=200)
    assert at(delta=1e-6) > at() > at(delta=1e-4)


def test_composition_is_free_of_order_and_additive_at_most() -> None:
    parts: tuple[Event, ...] = (
        Repeat(PoissonGaussian(1.5, 0.02), 200),
        Gaussian(5.0),
        Repeat(SubsetGaussian(4.0, 0.05), 50),
    )
    forward = pld.epsilon(Compose(parts), 1e-5, "add-remove").upper
    backward = pld.epsilon(Compose((Nothing(), *parts[::-1])), 1e-5, "add-remove").upper
    assert forward == backward
    single = [pld.epsilon(part, 1e-5 / 3, "add-remove").upper for part in parts]
    assert max(single) * 0.9 < forward < sum(single)
    assert forward < rdp.epsilon(Compose(parts), 1e-5, "add-remove").upper
    mixed = Compose((parts[0], Repeat(Barker(100, 10_000), 10)))
    assert math.isfinite(pld.epsilon(mixed, 1e-5, "replace-one").upper)


def test_delta_inverts_epsilon() -> None:
    event = Repeat(PoissonGaussian(1.2, 0.01), 1000)
    epsilon = pld.epsilon(event, 1e-5, "add-remove").upper
    assert pld.delta(event, epsilon, "add-remove").upper == pytest.approx(1e-5, rel=2e-2)
    assert pld.delta(Gaussian(1.0), 1.0, "add-remove").upper == pytest.approx(
        gaussian.delta(Gaussian(1.0), 1.0, "add-remove").upper
    )


def test_tiny_epsilons_are_resolved() -> None:
    bound = pld.epsilon(Repeat(PoissonGaussian(10.0, 1e-4), 1000), 1e-5, "add-remove", with_lower=True)
    assert bound.lower is not None
    assert 4.5e-4 < bound.lower <= bound.upper < 4.7e-4


def test_refusals_and_the_non_private() -> None:
    with pytest.raises(InputError, match="no meaning"):
        pld.epsilon(Barker(100, 1000), 1e-5, "add-remove")
    with pytest.raises(InputError, match="at least 5"):
        pld.epsilon(Barker(4, 1000), 1e-5, "replace-one")
    bound = pld.epsilon(Compose((Gaussian(1.0), NonPrivate("percentile clipping"))), 1e-5, "add-remove")
    assert (bound.upper, bound.detail) == (math.inf, "percentile clipping")
    assert pld.epsilon(Nothing(), 1e-5, "add-remove").upper == 0.0
