"""The Barker test: the paper's theorems, and the certified bounds against brute force."""

import functools
import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpinfer.accounting.events import Barker, Compose, FullBarker, Gaussian, NonPrivate, Repeat
from dpinfer.accounting.sound import barker, pld, profiles, rdp, wang
from dpinfer.errors import InputError


def divergence(order: float, gap: float, first: float, second: float) -> float:
    """Renyi divergence of N(gap, first) from N(0, second)."""
    mixed = (1 - order) * first + order * second
    if mixed <= 0:
        return math.inf
    logs = math.log(mixed) - (1 - order) * math.log(first) - order * math.log(second)
    return order * gap**2 / (2 * mixed) + logs / (2 * (1 - order))


def neighbours(rng: np.random.Generator, batch: int, count: int) -> list[tuple[float, float, float]]:
    """Mean gap and the two variances of tests on batches that differ in one record."""
    result = []
    for _ in range(count):
        kind = rng.integers(4)
        rest = rng.uniform(-1, 1, batch - 1)
        if kind > 0:
            rest = rng.choice([-1.0, 1.0], batch - 1, p=[0.5, 0.5] if kind == 1 else [0.95, 0.05])
        if kind == 3:
            rest = np.full(batch - 1, rng.uniform(-1, 1))
        ends = rng.choice([-1.0, 1.0]) * np.array([1.0, -1.0]) if rng.random() < 0.7 else rng.uniform(-1, 1, 2)
        one, two = np.append(rest, ends[0]), np.append(rest, ends[1])
        gap = math.sqrt(batch) * (one.mean() - two.mean())
        result.append((gap, 2 - one.var(), 2 - two.var()))
    return result


def test_theorem_1_is_the_divergence_of_the_worst_pair() -> None:
    for order in (2.0, 5.0, 17.0):
        exact = divergence(order, 2 * 0.3, 2.0, 2.0)
        assert barker.theorem_1(order, 0.3, 2.0) == pytest.approx(exact)
        assert rdp.divergence(FullBarker(0.3, 2.0), order, "replace-one") == pytest.approx(exact)


@pytest.mark.parametrize(("order", "value"), [(2, 0.358), (3, 0.186), (5, 0.103), (10, 0.065)])
def test_theorem_2_values(order: float, value: float) -> None:
    assert barker.theorem_2(np.array([order]), 1000)[0] == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize("batch", [5, 8, 20, 100, 1000])
def test_bounds_dominate_real_neighbours(batch: int) -> None:
    rng = np.random.default_rng(batch)
    orders = np.array([order for order in (1.5, 2.0, 3.0, 6.0, 20.0, 100.0, 400.0) if order < batch / 2 - 1])
    certified = barker.certified(orders, batch)
    x = np.linspace(0.0, 12.0 / math.sqrt(batch), 25)
    profile = barker.profile(x, batch)
    for gap, first, second in neighbours(rng, batch, 150):
        exact = np.array([divergence(order, gap, first, second) for order in orders])
        assert np.all(exact <= certified * (1 + 1e-12))
        assert np.all(hockey_stick(x, gap, first, second) <= profile + 1e-9)


def hockey_stick(x: NDArray[np.float64], gap: float, first: float, second: float) -> NDArray[np.float64]:
    z = np.linspace(-14.0, 14.0, 10_001)
    one = np.exp(-((z - gap) ** 2) / (2 * first)) / math.sqrt(2 * math.pi * first)
    two = np.exp(-(z**2) / (2 * second)) / math.sqrt(2 * math.pi * second)
    excess = np.maximum(one[:, None] - np.exp(x)[None, :] * two[:, None], 0.0)
    result: NDArray[np.float64] = excess.sum(axis=0) * (z[1] - z[0])
    return result


@pytest.mark.parametrize("batch", [10, 40, 100])
def test_change_of_variance_reaches_its_bound_and_passes_it_nowhere(batch: int) -> None:
    largest = 0.0
    for positive in range(batch):
        rest = np.repeat([1.0, -1.0], [positive, batch - 1 - positive])
        for end in np.linspace(-1.0, 1.0, 21):
            one, two = 2 - np.append(rest, 1.0).var(), 2 - np.append(rest, end).var()
            largest = max(largest, abs(two - one) / min(one, two))
    most = (1 + (1 + 1 / batch) ** 2) / batch
    assert 0.99 * most < largest <= most * (1 + 1e-12)


def amplified(batch: int, records: int) -> profiles.Step:
    base = functools.partial(barker.profile, batch=batch)
    return profiles.subset_replace(base, 2 / math.sqrt(batch), batch / records, barker.floor(batch))


@pytest.mark.parametrize("batch", [5, 6, 7, 8, 9, 12, 20, 100, 1000])
@pytest.mark.parametrize("surplus", [0.0, 0.2, 20.0])
def test_amplified_profile_is_convex(batch: int, surplus: float) -> None:
    # A corner that bends the other way at 1 would mean negative probabilities of the loss 0.
    size = np.geomspace(1e-4, 4.0, 200)
    ratio = np.exp(np.concatenate([-size[::-1], [0.0], size]))
    value = amplified(batch, batch + int(surplus * batch)).remove(np.log(ratio))
    slopes = np.diff(value) / np.diff(ratio)
    assert np.all(np.diff(slopes) > -1e-9)


@pytest.mark.parametrize(("batch", "records"), [(5, 5), (5, 8), (8, 9), (20, 21)])
def test_amplified_profile_dominates_real_subsets(batch: int, records: int) -> None:
    rng = np.random.default_rng(records)
    z = np.linspace(-14.0, 14.0, 4001)
    subsets = np.array(list(itertools.combinations(range(records), batch)))
    x = np.array([-2.0, -0.6, -0.2, -0.05, 0.0, 0.05, 0.2, 0.6, 2.0])
    bound = amplified(batch, records).remove(x)

    def density(values: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = values[subsets]
        mean, variance = math.sqrt(batch) * drawn.mean(axis=1), 2 - drawn.var(axis=1)
        each = np.exp(-((z[:, None] - mean) ** 2) / (2 * variance)) / np.sqrt(2 * math.pi * variance)
        result: NDArray[np.float64] = each.mean(axis=1)
        return result

    for chance in (0.0, 0.2, 0.5, 0.8, 1.0):
        rest = rng.choice([1.0, -1.0], records - 1, p=[chance, 1 - chance])
        one, two = density(np.append(rest, 1.0)), density(np.append(rest, -1.0))
        for first, second in ((one, two), (two, one)):
            excess = np.maximum(first[:, None] - np.exp(x) * second[:, None], 0.0)
            assert np.all(excess.sum(axis=0) * (z[1] - z[0]) <= bound + 1e-9)


@pytest.mark.parametrize("batch", [20, 100, 1000])
def test_bounds_dominate_the_relaxed_region_and_are_nearly_reached(batch: int) -> None:
    orders = np.array([2.0, 5.0, batch / 4])
    worst = np.zeros(3)
    for m in np.linspace(0.0, 1.0, 21):
        for size in np.linspace(0.2, 2.0, 10):
            for sign, turn in itertools.product((-1.0, 1.0), repeat=2):
                # The smallest variances that the two means and the change of variance allow.
                other = m + turn * size / batch
                change = sign * size * (2 - size + abs(m + other)) / batch
                first = max(1 + m * m, 1 + other**2 - change)
                second = first + change
                gap = size / math.sqrt(batch)
                worst = np.maximum(worst, [divergence(order, gap, first, second) for order in orders])
    certified = barker.certified(orders, batch)
    assert np.all(worst <= certified)
    assert np.all(certified <= np.array([1.3, 1.3, 1.6]) * worst)
    theorem = barker.theorem_2(orders[:1], batch)
    assert certified[0] < 0.4 * theorem[0]


def test_certified_ends_where_its_argument_ends() -> None:
    assert np.isinf(barker.certified(np.array([60.0]), 100)[0])
    assert math.isinf(barker.divergence(Barker(100, 1000), 80.0))
    assert barker.divergence(Barker(1000, 10**6), 7.3) == barker.divergence(Barker(1000, 10**6), 8.0)


def test_chain_costs() -> None:
    chain = Repeat(Barker(1000, 10**6), 20_000)
    theorem = barker.epsilon(chain, 1e-6, "replace-one").upper
    certified = barker.epsilon(chain, 1e-6, "replace-one", method="certified").upper
    tight = pld.epsilon(chain, 1e-6, "replace-one").upper
    assert theorem == pytest.approx(1.0004, abs=5e-5)
    assert certified == pytest.approx(0.2231, abs=2e-4)
    assert tight == pytest.approx(0.0310, abs=2e-4)
    assert rdp.epsilon(chain, 1e-6, "replace-one").upper < certified


@pytest.mark.parametrize(("batch", "most"), [(100, 0.2), (20, math.inf)])
def test_small_batches_end_in_a_bound(batch: int, most: float) -> None:
    bound = pld.epsilon(Repeat(Barker(batch, 10**5), 20_000), 1e-6, "replace-one")
    assert 0.03 < bound.upper <= most


def test_amplification_in_log_space_matches_the_plain_sum() -> None:
    def curve(order: NDArray[np.float64]) -> NDArray[np.float64]:
        return order * 0.02

    found = wang.amplify(curve, 0.01, 12)
    for order in (2, 3, 7, 12):
        total = 1 + 0.01**2 * math.comb(order, 2) * min(4 * math.expm1(0.04), 2 * math.exp(0.04))
        for j in range(3, order + 1):
            total += 2 * 0.01**j * math.comb(order, j) * math.exp((j - 1) * 0.02 * j)
        assert found[order - 2] == pytest.approx(math.log(total) / (order - 1), rel=1e-9)


def test_composition_and_refusals() -> None:
    mixed = Compose((FullBarker(0.01, 2.0), Repeat(Barker(1000, 10**6), 100)))
    one = barker.epsilon(Repeat(Barker(1000, 10**6), 100), 1e-6, "replace-one").upper
    assert barker.epsilon(mixed, 1e-6, "replace-one").upper > one
    for event in (Gaussian(1.0), NonPrivate("x")):
        with pytest.raises(InputError):
            barker.epsilon(event, 1e-6, "add-remove")
    with pytest.raises(InputError, match="too small"):
        barker.epsilon(Barker(10, 1000), 1e-6, "replace-one")
    with pytest.raises(InputError, match="method"):
        barker.epsilon(Barker(100, 1000), 1e-6, "replace-one", method="guess")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="replace-one"):
        wang.epsilon(Gaussian(1.0), 1e-6, "add-remove")
