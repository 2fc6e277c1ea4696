"""Batches with replacement: the bound holds for pairs that can occur, and is above that of subsets."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpinfer.accounting.events import Repeat, ReplacementGaussian, SubsetGaussian, from_dict, to_dict
from dpinfer.accounting.sound import pld, profiles
from dpinfer.errors import InputError


def run_of(noise: float, batch: int, records: int, steps: int) -> Repeat:
    return Repeat(ReplacementGaussian(noise_multiplier=noise, batch=batch, records=records), steps)


@pytest.mark.parametrize(("noise", "batch", "records"), [(2.0, 5, 20), (0.8, 20, 100), (6.0, 50, 60)])
def test_the_profile_lies_above_that_of_the_worst_known_pair(noise: float, batch: int, records: int) -> None:
    """All other records sit at one end of the clip, the changed one at the other end or with them."""
    z = np.linspace(-12, 2 * batch / noise + 12, 400_001)
    k = np.arange(batch + 1)
    mixture = binom.pmf(k, batch, 1 / records) @ norm.pdf(z[None] - 2 * k[:, None] / noise)
    plain = norm.pdf(z)
    step = profiles.replacement(2 / noise, batch, records)
    width = z[1] - z[0]
    for x in (-0.5, 0.0, 0.1, 0.5, 1.0, 3.0):
        for p, q in ((mixture, plain), (plain, mixture)):
            truth = np.maximum(p - np.exp(x) * q, 0).sum() * width
            assert step.remove(np.array([x]))[0] >= truth - 1e-6


def test_in_the_order_of_theorem_10_it_is_attained() -> None:
    """For x >= 0 the pair above has the profile of the bound where one component alone counts."""
    noise, records = 1.5, 30
    z = np.linspace(-12, 14, 400_001)
    mixture = (1 - 1 / records) * norm.pdf(z) + norm.pdf(z - 2 / noise) / records
    x = 0.05
    truth = np.maximum(mixture - np.exp(x) * norm.pdf(z), 0).sum() * (z[1] - z[0])
    bound = profiles.replacement(2 / noise, 1, records).remove(np.array([x]))[0]
    assert bound == pytest.approx(truth, rel=1e-4)


def test_one_draw_is_a_subset_of_one() -> None:
    single = pld.epsilon(run_of(1.0, 1, 100, 50), 1e-4, "replace-one").upper
    subset = Repeat(SubsetGaussian(noise_multiplier=1.0, sampling_rate=0.01), 50)
    assert single == pytest.approx(pld.epsilon(subset, 1e-4, "replace-one").upper, rel=1e-3)


def test_it_costs_more_than_without_replacement() -> None:
    subset = Repeat(SubsetGaussian(noise_multiplier=2.4428, sampling_rate=167 / 3341), 1000)
    without = pld.epsilon(subset, 1e-3, "replace-one").upper
    assert without < pld.epsilon(run_of(2.4428, 167, 3341, 1000), 1e-3, "replace-one").upper < 2 * without


def test_it_is_for_replaced_records_alone_and_survives_writing() -> None:
    event = run_of(2.0, 5, 20, 3)
    assert from_dict(to_dict(event)) == event
    with pytest.raises(InputError, match="has no meaning under add-remove"):
        pld.epsilon(event, 1e-5, "add-remove")
