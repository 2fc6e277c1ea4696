"""Tails of the binomial law against scipy's, and against sums of exact fractions."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binom

from dpinfer.binomial import at_most, lower_quantile, more_than, upper_quantile


@pytest.mark.parametrize(("trials", "rate"), [(1, 0.3), (50, 0.5), (500, 0.02), (60_000, 128 / 60_000)])
def test_tails_are_scipys(trials: int, rate: float) -> None:
    k = np.arange(min(trials, 400) + 1)
    np.testing.assert_allclose(at_most(k, trials, rate), binom.cdf(k, trials, rate), rtol=1e-11)
    np.testing.assert_allclose(more_than(k, trials, rate), binom.sf(k, trials, rate), rtol=1e-11)


def test_the_lower_tail_is_precise_among_a_hundred_million() -> None:
    trials, rate, k = 10**8, 2.0**-20, 5
    ratio = Fraction(1, 2**20 - 1)
    relative = sum(comb(trials, i) * ratio**i for i in range(k + 1))
    exact = float(relative) * np.exp(trials * np.log1p(-rate))
    assert float(at_most(k, trials, rate)) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("trials", "rate"), [(1, 0.3), (50, 0.5), (500, 0.02), (10_000, 1e-4)])
@pytest.mark.parametrize("tail", [1e-12, 1e-3, 0.2])
def test_quantiles_are_scipys(trials: int, rate: float, tail: float) -> None:
    assert upper_quantile(tail, trials, rate) == binom.isf(tail, trials, rate)
    assert lower_quantile(tail, trials, rate) == binom.ppf(tail, trials, rate)
