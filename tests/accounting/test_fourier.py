"""The guarded Fourier accountant: it agrees where it can be trusted and refuses elsewhere."""

import numpy as np
import pytest
from fourier_accountant import get_epsilon_R, get_epsilon_S

from dpinfer.accounting.events import Adjacency, Compose, Gaussian, NonPrivate, Nothing, PoissonGaussian, Repeat
from dpinfer.accounting.published import fourier
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_agrees_with_the_package_and_the_sound_bound(adjacency: Adjacency) -> None:
    theirs = get_epsilon_R if adjacency == "add-remove" else get_epsilon_S
    rng = np.random.default_rng(8)
    for _ in range(2):
        sigma, rate = float(rng.uniform(1.5, 3.0)), float(rng.uniform(0.01, 0.1))
        times = int(rng.integers(10, 1000))
        event = Repeat(PoissonGaussian(sigma, rate), times)
        bound = fourier.epsilon(event, 1e-5, adjacency)
        assert bound.upper == pytest.approx(float(theirs(1e-5, sigma, rate, times)), rel=1e-4)
        assert bound.upper == pytest.approx(pld.epsilon(event, 1e-5, adjacency).upper, rel=5e-3)


@pytest.mark.parametrize(("records", "num_steps", "value"), [(60000, 9360, 0.535), (50000, 7800, 0.584)])
def test_d3p_autoencoder(records: int, num_steps: int, value: float) -> None:
    event = Repeat(PoissonGaussian(1.5, 128 / records), num_steps)
    assert fourier.epsilon(event, 1 / records, "add-remove").upper == pytest.approx(value, abs=6e-4)


def test_different_steps_compose() -> None:
    event = Compose((Repeat(PoissonGaussian(2.0, 0.05), 100), Repeat(PoissonGaussian(3.0, 0.02), 50)))
    assert fourier.epsilon(event, 1e-5, "add-remove").upper == pytest.approx(
        pld.epsilon(event, 1e-5, "add-remove").upper, rel=5e-3
    )


@pytest.mark.parametrize(
    ("sigma", "rate", "times"), [(0.5, 0.01, 1000), (0.5, 0.001, 1000), (0.1, 0.5, 10), (0.3, 0.01, 100)]
)
def test_silent_failures_of_the_package_are_refused(sigma: float, rate: float, times: int) -> None:
    with pytest.raises(InputError):
        fourier.epsilon(Repeat(PoissonGaussian(sigma, rate), times), 1e-5, "add-remove")


def test_refusals() -> None:
    step = PoissonGaussian(2.0, 0.1)
    with pytest.raises(InputError, match="1e-10"):
        fourier.epsilon(step, 1e-10, "add-remove")
    with pytest.raises(InputError, match="below 1"):
        fourier.epsilon(PoissonGaussian(2.0, 1.0), 1e-5, "add-remove")
    with pytest.raises(InputError, match="cannot take"):
        fourier.epsilon(Gaussian(2.0), 1e-5, "add-remove")
    assert fourier.epsilon(Nothing(), 1e-5, "add-remove").upper == 0.0
    assert fourier.epsilon(NonPrivate("no noise"), 1e-5, "add-remove").detail == "no noise"
