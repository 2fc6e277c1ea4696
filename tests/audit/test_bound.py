"""The bound itself, against closed forms: it holds as often as it says, and what is no bound does not."""

import math

import numpy as np
import pytest
from scipy import stats

from dpinfer.accounting.events import Gaussian, PoissonGaussian, Repeat
from dpinfer.accounting.sound.gaussian import epsilon_of
from dpinfer.audit.bound import Lower, Yardstick, at_least, at_most, by_delta, lower
from dpinfer.audit.profile import by_account
from dpinfer.errors import InputError

DELTA, CONFIDENCE = 0.01, 0.9


def normal(mu: float, trials: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a Gaussian release of that separation."""
    rng = np.random.default_rng([seed, trials])
    return mu + rng.normal(size=trials), rng.normal(size=trials)


def plugged_in(scores: tuple[np.ndarray, np.ndarray], yardstick: Yardstick) -> float:
    """What is no bound: the best event is chosen by the runs that are counted, without an interval."""
    thresholds = np.sort(scores[0])[5:-5]
    p, q = ((part[:, None] > thresholds).mean(axis=0) for part in scores)
    return max(yardstick.epsilon(*pair) for pair in zip(p, np.maximum(q, 1 / len(thresholds)), strict=True))


@pytest.mark.parametrize("mu", [0.5, 1.0])
def test_a_bound_holds_as_often_as_it_says_and_a_plug_in_does_not(mu: float) -> None:
    repeats, truth = 300, epsilon_of(DELTA, mu)
    drawn = [normal(mu, 400, seed) for seed in range(repeats)]
    found = [lower(scores, CONFIDENCE, by_delta(DELTA)).epsilon for scores in drawn]
    # So many failures, or fewer, are expected but with probability 1e-4.
    most = stats.binom.isf(1e-4, repeats, 1 - CONFIDENCE)
    assert sum(value > truth for value in found) <= most
    assert sum(plugged_in(scores, by_delta(DELTA)) > truth for scores in drawn) > 2 * most


def test_the_bound_through_the_account_holds_as_often_as_it_says() -> None:
    repeats, truth = 60, epsilon_of(DELTA, 1.0)
    yardstick = by_account(Gaussian(noise_multiplier=1.0), "add-remove", DELTA)
    found = [lower(normal(1.0, 1000, seed), CONFIDENCE, yardstick).epsilon for seed in range(repeats)]
    assert sum(value > truth for value in found) <= stats.binom.isf(1e-4, repeats, 1 - CONFIDENCE)
    assert np.median(found) > 0.6 * truth
    # A release with less noise than is claimed is found out.
    wrong = [lower(normal(math.sqrt(2), 2000, seed), CONFIDENCE, yardstick).epsilon for seed in range(10)]
    assert sum(value > truth for value in wrong) >= 8


def test_the_account_is_sharper_than_its_epsilon_and_both_grow_with_trials() -> None:
    event = Repeat(PoissonGaussian(noise_multiplier=1.0, sampling_rate=1.0), 1)
    sharp = by_account(event, "add-remove", DELTA)
    found = {
        (trials, name): lower(normal(1.0, trials, 1), 0.99, yardstick).epsilon
        for trials in (2000, 50_000)
        for name, yardstick in (("delta", by_delta(DELTA)), ("account", sharp))
    }
    assert found[2000, "delta"] < found[2000, "account"] < found[50_000, "account"] < epsilon_of(DELTA, 1.0)
    assert found[2000, "delta"] < found[50_000, "delta"] < found[50_000, "account"]


def test_any_direction_of_the_score_will_do_and_none_finds_nothing() -> None:
    one, other = normal(3.0, 2000, 0)
    found = [lower(pair, 0.99, by_delta(DELTA)).epsilon for pair in ((one, other), (other, one), (-one, -other))]
    assert min(found) > 1
    assert lower((other, other[::-1]), 0.99, by_delta(DELTA)).epsilon == 0
    scores = (np.ones(100), np.ones(100))
    assert lower(scores, 0.99, by_delta(DELTA)) == Lower(0.0, 0, 0, 50)


@pytest.mark.parametrize("hits", [0, 1, 17, 50])
def test_the_intervals_are_clopper_and_pearsons(hits: int) -> None:
    counts = np.array([hits])
    exact = stats.binomtest(hits, 50).proportion_ci(0.98, method="exact")
    assert at_least(counts, 50, 0.01)[0] == pytest.approx(exact.low)
    assert at_most(counts, 50, 0.01)[0] == pytest.approx(exact.high)


@pytest.mark.parametrize(
    ("scores", "confidence", "sentence"),
    [
        (np.zeros(19), 0.9, "the number of trials is 19, but should be at least 20"),
        (np.zeros(50), 1.0, "the confidence is 1.0, but should lie strictly between 0 and 1"),
        (np.full(50, np.nan), 0.9, "a score is not finite"),
    ],
)
def test_what_is_refused(scores: np.ndarray, confidence: float, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        lower((scores, scores), confidence, by_delta(DELTA))
