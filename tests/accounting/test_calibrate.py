"""Calibration never overspends and wastes little."""

import numpy as np
import pytest

from dpinfer.accounting import accountant, calibrate
from dpinfer.accounting.events import (
    Adjacency,
    Barker,
    Event,
    Gaussian,
    PoissonGaussian,
    Repeat,
    ReplacementGaussian,
    SubsetGaussian,
)
from dpinfer.accounting.sound import gaussian, moments, pld
from dpinfer.errors import InputError


def test_never_overspends_over_a_wide_random_grid() -> None:
    rng = np.random.default_rng(9)
    relations: tuple[Adjacency, ...] = ("add-remove", "replace-one")
    for turn in range(12):
        target, delta = float(10 ** rng.uniform(-1.5, 1.3)), float(10 ** rng.uniform(-9, -2))
        rate, times = float(10 ** rng.uniform(-4, 0)), int(10 ** rng.uniform(0, 4.5))
        kind = (PoissonGaussian, SubsetGaussian)[turn % 2]
        adjacency = relations[turn // 2 % 2]

        def event_of(sigma: float, kind: type = kind, rate: float = rate, times: int = times) -> Event:
            return Repeat(kind(sigma, rate), times)

        sigma = calibrate.noise_multiplier(target, delta, event_of, adjacency)
        spent = pld.epsilon(event_of(sigma), delta, adjacency).upper
        assert spent <= target
        assert spent >= 0.98 * target or pld.epsilon(event_of(0.99 * sigma), delta, adjacency).upper > target


def test_full_batch_matches_the_closed_form() -> None:
    sigma = calibrate.noise_multiplier(1.0, 1e-5, lambda s: Repeat(Gaussian(s), 100), "add-remove", tolerance=1e-6)
    assert gaussian.epsilon(Repeat(Gaussian(sigma), 100), 1e-5, "add-remove").upper == pytest.approx(1.0, rel=2e-6)
    assert sigma == pytest.approx(37.3, rel=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "add_remove", "replace_one"),
    [(1, 15.04, 30.04), (2, 8.58, 17.09), (4, 4.98, 9.85), (8, 2.99, 5.81)],
)
def test_d3p_hierarchical_noise(epsilon: float, add_remove: float, replace_one: float) -> None:
    def event_of(sigma: float) -> Event:
        return Repeat(PoissonGaussian(sigma, 0.02), 100_000)

    assert calibrate.noise_multiplier(epsilon, 1 / 500, event_of, "add-remove") == pytest.approx(
        add_remove, rel=2e-3
    )
    found = calibrate.noise_multiplier(epsilon, 1 / 500, event_of, "replace-one")
    assert found == pytest.approx(replace_one, rel=2e-3)


def test_other_accountants() -> None:
    def event_of(sigma: float) -> Event:
        return Repeat(PoissonGaussian(sigma, 0.01), 1000)

    found = calibrate.noise_multiplier(0.5, 1e-3, event_of, "add-remove", accountant="moments", max_lambda=99)
    spent = moments.epsilon(event_of(found), 1e-3, "add-remove", max_lambda=99).upper
    assert 0.499 <= spent <= 0.5
    loose = calibrate.noise_multiplier(0.5, 1e-3, event_of, "add-remove", accountant="rdp")
    assert loose > calibrate.noise_multiplier(0.5, 1e-3, event_of, "add-remove")


def test_most_steps_within_a_budget() -> None:
    def event_of(num_steps: int) -> Event:
        return Repeat(PoissonGaussian(1.1, 0.005), num_steps)

    steps = calibrate.num_steps(1.0, 1e-5, event_of, "add-remove")
    assert pld.epsilon(event_of(steps), 1e-5, "add-remove").upper <= 1.0
    assert pld.epsilon(event_of(steps + 1), 1e-5, "add-remove").upper > 1.0
    chain = calibrate.num_steps(0.02, 1e-6, lambda n: Repeat(Barker(1000, 10**6), n), "replace-one")
    assert 5_000 < chain < 20_000


def test_largest_sampling_rate_within_a_budget() -> None:
    def event_of(rate: float) -> Event:
        return Repeat(PoissonGaussian(1.1, rate), 2500)

    rate = calibrate.sampling_rate(1.0, 1e-5, event_of, "add-remove")
    assert 0.999 <= pld.epsilon(event_of(rate), 1e-5, "add-remove").upper <= 1.0
    assert calibrate.sampling_rate(1e4, 1e-5, event_of, "add-remove") == 1.0


def test_unreachable_and_wrong_targets() -> None:
    def fixed(sigma: float) -> Event:
        return Gaussian(1.0 + 0.0 * sigma)

    with pytest.raises(InputError, match="cannot be reached"):
        calibrate.noise_multiplier(0.1, 1e-5, fixed, "add-remove", accountant="gaussian")
    with pytest.raises(InputError, match="cannot be reached"):
        calibrate.num_steps(0.1, 1e-5, lambda n: Repeat(Gaussian(1.0), n), "add-remove")
    for target in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InputError, match="target"):
            calibrate.noise_multiplier(target, 1e-5, Gaussian, "add-remove")
    with pytest.raises(InputError, match="delta"):
        calibrate.noise_multiplier(1.0, 1.0, Gaussian, "add-remove")
    with pytest.raises(InputError, match="accountant"):
        calibrate.noise_multiplier(1.0, 1e-5, Gaussian, "add-remove", accountant="guess")
    with pytest.raises(InputError, match="replace-one"):
        calibrate.noise_multiplier(1.0, 1e-5, Gaussian, "add-remove", accountant="barker")


def test_accountants_load_by_name() -> None:
    assert accountant("pld").epsilon(Gaussian(1.0), 1e-5, "add-remove").accountant == "pld"
    with pytest.raises(InputError, match="must be one of"):
        accountant("os")


def test_noise_is_found_for_samplers_that_one_accountant_alone_knows() -> None:
    def event_of(sigma: float) -> Event:
        return Repeat(ReplacementGaussian(sigma, 20, 200), 50)

    sigma = calibrate.noise_multiplier(1.0, 1e-5, event_of, "replace-one")
    assert 0.99 <= pld.epsilon(event_of(sigma), 1e-5, "replace-one").upper <= 1.0
