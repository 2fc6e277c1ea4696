"""Values of the papers' own accountants, and of sound ones at the papers' settings, to the digits known."""

import math

import numpy as np
import pytest

from dpinfer.accounting.events import Barker, Event, Gaussian, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.published import advanced
from dpinfer.accounting.sound import barker, gaussian, moments, pld, rdp, wang


def poisson(noise_multiplier: float, sampling_rate: float, num_steps: int) -> Event:
    return Repeat(PoissonGaussian(noise_multiplier, sampling_rate), num_steps)


def subset(noise_multiplier: float, sampling_rate: float, num_steps: int) -> Event:
    return Repeat(SubsetGaussian(noise_multiplier, sampling_rate), num_steps)


def test_pyvacy_figure_3() -> None:
    event = poisson(1.1, 0.005, 2500)
    grid = rdp.epsilon(event, 1e-5, "add-remove", orders="grid", conversion="classic")
    ternary = rdp.epsilon(event, 1e-5, "add-remove", orders="ternary", conversion="classic")
    assert len(rdp.GRID) == 72
    assert grid.upper == pytest.approx(1.62024, abs=1e-5)
    assert "order 12" in grid.detail
    assert ternary.upper == pytest.approx(1.60901, abs=1e-5)
    assert "order 11.7" in ternary.detail
    assert pld.epsilon(event, 1e-5, "add-remove").upper == pytest.approx(1.1302, abs=5e-4)


@pytest.mark.parametrize(
    ("order", "value"),
    [(2, 11.59), (4, 4.00), (8, 1.985), (12, 1.620), (14, 266.8), (16, 2403), (64, 5.3e4), (512, 5.2e5)],
)
def test_pyvacy_figure_3_by_order(order: float, value: float) -> None:
    event = poisson(1.1, 0.005, 2500)
    found = rdp.epsilon(event, 1e-5, "add-remove", orders=(order,), conversion="classic").upper
    assert found == pytest.approx(value, rel=1e-2 if value > 5e3 else 1e-3)


@pytest.mark.parametrize(("num_steps", "classic", "tight"), [(14062, 3.009, 2.382), (14000, 3.002, 2.376)])
def test_pyvacy_mnist(num_steps: int, classic: float, tight: float) -> None:
    event = poisson(1.1, 256 / 60000, num_steps)
    found = rdp.epsilon(event, 1e-5, "add-remove", orders="grid", conversion="classic")
    assert found.upper == pytest.approx(classic, abs=5e-4)
    assert "order 9" in found.detail
    assert pld.epsilon(event, 1e-5, "add-remove").upper == pytest.approx(tight, abs=1e-3)


def test_pyvacy_ternary_gains_at_mnist() -> None:
    event = poisson(1.1, 256 / 60000, 14062)
    found = rdp.epsilon(event, 1e-5, "add-remove", orders="ternary", conversion="classic").upper
    assert found == pytest.approx(3.0083, abs=1e-4)


def test_pyvacy_analytical_accountant_is_not_tighter() -> None:
    event = subset(1.1, 0.005, 2500)
    assert wang.epsilon(event, 1e-5, "replace-one", clips=1.0).upper == pytest.approx(2.808, abs=1e-3)
    assert wang.epsilon(event, 1e-5, "replace-one").upper == pytest.approx(14.92, abs=2e-2)


@pytest.mark.parametrize(
    ("records", "num_steps", "values"),
    [(60000, 9360, (0.535, 0.761, 1.012, 1.983, 2.502)), (50000, 7800, (0.584, 0.823, 1.105, 2.179, 2.740))],
)
def test_d3p_autoencoder(records: int, num_steps: int, values: tuple[float, ...]) -> None:
    rate, delta = 128 / records, 1 / records
    found = (
        pld.epsilon(poisson(1.5, rate, num_steps), delta, "add-remove").upper,
        rdp.epsilon(poisson(1.5, rate, num_steps), delta, "add-remove", orders="grid", conversion="classic").upper,
        pld.epsilon(poisson(1.5, rate, num_steps), delta, "replace-one").upper,
        pld.epsilon(subset(1.5, rate, num_steps), delta, "add-remove").upper,
        pld.epsilon(subset(1.5, rate, num_steps), delta, "replace-one").upper,
    )
    assert found == pytest.approx(values, abs=1.1e-3)


def test_d3p_hierarchical_noise() -> None:
    for sigma, epsilon in zip((15.04, 8.58, 4.98, 2.99), (1, 2, 4, 8), strict=True):
        found = pld.epsilon(poisson(sigma, 0.02, 100_000), 1 / 500, "add-remove").upper
        assert found == pytest.approx(epsilon, rel=2e-3)
    for sigma, epsilon in zip((30.04, 17.09, 9.85, 5.81), (1, 2, 4, 8), strict=True):
        found = pld.epsilon(poisson(sigma, 0.02, 100_000), 1 / 500, "replace-one").upper
        assert found == pytest.approx(epsilon, rel=2e-3)


@pytest.mark.parametrize(
    ("rate", "sigmas", "values"),
    [
        (0.001, (0.4, 0.8, 1.2, 1.6, 2.0), (7.9415, 1.0222, 0.4037, 0.2256, 0.1459)),
        (0.01, (2.0, 4.0, 6.0, 8.0, 10.0), (0.9358, 0.4331, 0.2837, 0.2113, 0.1683)),
        (0.002, (0.4, 0.8, 1.2, 1.6, 2.0), (11.04, 1.279, 0.5048, 0.2928, 0.2026)),
        (0.003, (0.4, 0.8, 1.2, 1.6, 2.0), (16.19, 1.595, 0.6245, 0.3818, 0.2770)),
        (0.004, (0.4, 0.8, 1.2, 1.6, 2.0), (23.38, 1.850, 0.7623, 0.4852, 0.3676)),
        (0.005, (0.4, 0.8, 1.2, 1.6, 2.0), (32.59, 2.225, 0.9190, 0.6062, 0.4609)),
    ],
)
def test_dpvi_stored_epsilons(rate: float, sigmas: tuple[float, ...], values: tuple[float, ...]) -> None:
    for sigma, value in zip(sigmas, values, strict=True):
        found = moments.epsilon(poisson(sigma, rate, 2000), 1e-3, "add-remove", max_lambda=99).upper
        assert found == pytest.approx(value, rel=6e-4)


ABALONE = tuple(np.exp(np.linspace(0.2, 5.0, 10)))
ADULT = tuple(np.exp(-np.linspace(-3.0, 0.3, 10)))


@pytest.mark.parametrize(
    ("sigmas", "rate", "num_steps", "values"),
    [
        (ABALONE, 0.05, 1000, (252.4, 53.5, 18.5, 8.24, 4.15, 2.24, 1.25, 0.712, 0.411, 0.239)),
        (ADULT, 0.005, 2000, (0.244, 0.362, 0.544, 0.833, 1.316, 2.176, 3.874, 7.81, 19.8, 77.5)),
    ],
)
def test_dpvi_advanced_composition(
    sigmas: tuple[float, ...], rate: float, num_steps: int, values: tuple[float, ...]
) -> None:
    for sigma, value in zip(sigmas, values, strict=True):
        bound = advanced.epsilon(
            poisson(2 * sigma, rate, num_steps), 5e-4, "add-remove", delta_prime=4e-5, form="code"
        )
        assert 2 * bound.upper == pytest.approx(value, rel=4e-3)
        paper = advanced.epsilon(poisson(2 * sigma, rate, num_steps), 5e-4, "add-remove", delta_prime=4e-5)
        assert paper.upper < bound.upper


def test_dpvi_advanced_composition_says_where_it_is_unproved() -> None:
    proved = advanced.epsilon(poisson(10.0, 0.05, 1000), 5e-4, "add-remove", delta_prime=4e-5)
    unproved = advanced.epsilon(poisson(2.0, 0.05, 1000), 5e-4, "add-remove", delta_prime=4e-5)
    assert "not proved" not in proved.detail
    assert "not proved" in unproved.detail


@pytest.mark.parametrize(
    ("sigmas", "rate", "num_steps", "code", "tight"),
    [
        (
            ABALONE,
            0.05,
            1000,
            (7.59, 3.58, 1.91, 1.07, 0.615, 0.356, 0.208, 0.121, 0.074, 0.057),
            (4.32, 2.24, 1.18, 0.624, 0.331, 0.174, 0.090, 0.045, 0.022, 0.010),
        ),
        (
            ADULT,
            0.005,
            2000,
            (0.058, 0.069, 0.091, 0.133, 0.193, 0.285, 0.427, 0.667, 1.20, 2.90),
            (0.011, 0.019, 0.031, 0.050, 0.080, 0.127, 0.199, 0.309, 0.481, 0.755),
        ),
    ],
)
def test_dpvi_figure_1(
    sigmas: tuple[float, ...], rate: float, num_steps: int, code: tuple[float, ...], tight: tuple[float, ...]
) -> None:
    for sigma, capped, sound in zip(sigmas, code, tight, strict=True):
        found = moments.epsilon(poisson(sigma, rate, num_steps), 5e-4, "add-remove", max_lambda=159).upper
        assert found == pytest.approx(capped, rel=3e-3, abs=6e-4)
        # The noise is 2 c sigma on gradients clipped to c.
        found = pld.epsilon(poisson(2 * sigma, rate, num_steps), 1e-3, "replace-one").upper
        assert found == pytest.approx(sound, rel=3e-3, abs=1.1e-3)


def test_dpvi_mixture_noise() -> None:
    for sigma, claimed, sound in zip(
        (0.27, 0.34, 0.48, 1.05, 2.0),
        (9.20, 4.62, 1.91, 0.43, 0.19),
        (2.49, 1.07, 0.50, 0.18, 0.08),
        strict=True,
    ):
        event = poisson(2 * sigma, 0.003, 1000)
        found = 2 * moments.epsilon(event, 5e-4, "add-remove", max_lambda=199).upper
        assert found == pytest.approx(claimed, abs=5.1e-3)
        assert pld.epsilon(event, 1e-3, "replace-one").upper == pytest.approx(sound, abs=5.1e-3)
    for sigma, epsilon in zip((18.72, 6.63, 2.736, 1.406, 0.889), np.geomspace(0.1, 10, 5), strict=True):
        bound = advanced.epsilon(
            poisson(2 * sigma, 0.003, 1000), 5e-4, "add-remove", delta_prime=1e-4, form="code"
        )
        assert 2 * bound.upper == pytest.approx(epsilon, rel=2e-3)


@pytest.mark.parametrize(
    ("num_steps", "value"), [(1000, 0.2306), (5000, 0.4994), (10000, 0.7059), (20000, 1.0004)]
)
def test_dp_mcmc_chain(num_steps: int, value: float) -> None:
    bound = barker.epsilon(Repeat(Barker(1000, 10**6), num_steps), 1e-6, "replace-one", max_order=100)
    assert bound.upper == pytest.approx(value, abs=5e-5)
    assert num_steps != 20000 or "order 29" in bound.detail


def test_dp_mcmc_start_is_the_order_cap() -> None:
    found = moments.epsilon(poisson(10.0, 1e-4, 1000), 1e-6, "add-remove", max_lambda=64).upper
    assert found == pytest.approx(0.21587, abs=1e-5)
    assert rdp.epsilon(poisson(10.0, 1e-4, 1000), 1e-6, "add-remove").upper < 0.015
    assert rdp.epsilon(poisson(10.0, 1e-4, 1000), 1e-6, "replace-one").upper < 0.035


def test_dp_mcmc_langevin_baseline() -> None:
    values = {10**5: 0.5595, 10**6: 0.6739, 2 * 10**6: 0.8011, 3 * 10**6: 0.9283, 6 * 10**6: 1.2958}
    orders = tuple(float(order) for order in range(2, 500))
    for num_steps, value in values.items():
        event = poisson(1.19523, 1e-4, num_steps)
        found = rdp.epsilon(event, 2e-6, "add-remove", orders=orders, conversion="classic").upper
        assert found == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("records", "values"),
    [
        (10**5, (0.786, 0.992, 2.411, 4.942)),
        (10**6, (0.499, 0.998, 2.542, 5.292)),
        (10**7, (0.531, 1.068, 2.731, 5.665)),
    ],
)
def test_dp_mcmc_figure_1a(records: int, values: tuple[float, ...]) -> None:
    for rate, value in zip((0.001, 0.002, 0.005, 0.01), values, strict=True):
        event = Repeat(Barker(int(rate * records), records), 5000)
        found = barker.epsilon(event, 1 / records, "replace-one", max_order=200).upper
        assert found == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize(
    ("records", "values"),
    [
        (10**5, (0.699, 1.111, 1.725, 2.473)),
        (10**6, (0.226, 1.000, 1.594, 2.277)),
        (10**7, (0.240, 1.061, 1.688, 2.408)),
    ],
)
def test_dp_mcmc_figure_1b(records: int, values: tuple[float, ...]) -> None:
    for num_steps, value in zip((1000, 20000, 50000, 99990), values, strict=True):
        event = Repeat(Barker(records // 1000, records), num_steps)
        found = barker.epsilon(event, 1 / records, "replace-one", max_order=200).upper
        assert found == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize(
    ("rate", "num_steps", "capped", "tight"),
    [
        (0.1, 5000, 94.39, 70.2),
        (0.1, 25000, 435.1, 257.2),
        (0.03, 50000, 86.47, 68.4),
        (0.01, 50000, 17.80, 14.6),
    ],
)
def test_dp_pvi(rate: float, num_steps: int, capped: float, tight: float) -> None:
    event = poisson(1.0, rate, num_steps)
    found = moments.epsilon(event, 1e-4, "add-remove", max_lambda=32, direction="both").upper
    assert found == pytest.approx(capped, rel=1.5e-4)
    assert pld.epsilon(event, 1e-4, "add-remove").upper == pytest.approx(tight, abs=0.1)


@pytest.mark.parametrize(
    ("clients", "capped", "exact"),
    [
        (1, (4.80, 12.1, 19.2, 59.2, 109), (3.80, 10.2, 16.1, 50.5, 86.3)),
        (2, (7.07, 19.2, 29.2, 109, 209), None),
        (5, (12.1, 34.2, 59.2, 259, 509), None),
        (10, (19.2, 59.2, 109, 509, 1009), (16.1, 50.5, 86.3, 332, 617)),
    ],
)
def test_dp_pvi_figure_3_3(clients: int, capped: tuple[float, ...], exact: tuple[float, ...] | None) -> None:
    for index, num_steps in enumerate((1, 5, 10, 50, 100)):
        event = Repeat(Gaussian(1 / math.sqrt(clients)), num_steps)
        found = moments.epsilon(event, 1e-4, "add-remove", max_lambda=32).upper
        assert found == pytest.approx(capped[index], rel=3e-3)
        if exact is not None:
            assert gaussian.epsilon(event, 1e-4, "add-remove").upper == pytest.approx(exact[index], rel=4e-3)


def test_gaussian_ninety_one_steps() -> None:
    event = Repeat(Gaussian(1.0), 91)
    assert moments.epsilon(event, 1e-4, "add-remove").upper == pytest.approx(100.2, abs=0.05)
    assert gaussian.epsilon(event, 1e-4, "add-remove").upper == pytest.approx(80.1, abs=0.05)


def test_noise_after_aggregation_protects_nothing() -> None:
    effective = Gaussian(1.1 / (2 * 16))
    assert gaussian.epsilon(effective, 1e-5, "add-remove").upper == pytest.approx(546, abs=1)
