"""Audits find the bugs that mechanisms are known to have, and let those pass that have none."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import Adjacency, Gaussian
from dpinfer.accounting.sound import pld
from dpinfer.accounting.sound.gaussian import epsilon_of
from dpinfer.audit.bound import by_delta, lower
from dpinfer.audit.case import CLIP, DELTA, FAR, Case, audit, by_steps, claimed, of_steps, pulling
from dpinfer.audit.descent import POISSON, RECORDS, releases, steps_of_sgd, watched
from dpinfer.audit.profile import by_account
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import keys_for
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.unsafe.mechanisms import aggregate

CONFIDENCE = 0.999
KEY = jax.random.key(20)


def full_batch(noise_factor: float) -> Case:
    """A step on all records, accounted for with noise 1 and run with that times a factor."""
    stated, quiet = (steps_of_sgd(1, gaussian(CLIP, factor), batch=RECORDS) for factor in (1.0, noise_factor))
    nobody = (0.0,) * (RECORDS - 1)
    return of_steps(
        stated.event(1),
        "add-remove",
        claimed(pld, stated.event(1), "add-remove"),
        POISSON,
        (pulling(*nobody, FAR), pulling(*nobody, 0.0)),
        watched(quiet, 1, lambda state: state.parameters[0], "poisson", RECORDS),
    )


@pytest.mark.parametrize(("noise_factor", "is_refuted"), [(1.0, False), (1 / math.sqrt(2), True), (0.5, True)])
def test_too_little_noise(noise_factor: float, is_refuted: bool) -> None:
    assert audit(full_batch(noise_factor), KEY, 10_000, CONFIDENCE).is_refuted == is_refuted


def with_noise_of_its_start(algorithm: Algorithm) -> Algorithm:
    """Draws the noise of every step by one and the same key."""

    def init(key: Any, records: Any) -> Any:
        return algorithm.init(key, records), key

    def random(key: Any, state: Any) -> Any:
        inner, first = state
        return algorithm.random(key, inner)._replace(noise=algorithm.random(first, inner).noise)

    def update(drawn: Any, state: Any, records: Any) -> Any:
        inner, info = algorithm.update(drawn, state[0], records)
        return (inner, state[1]), info

    return algorithm._replace(init=init, random=random, update=update)


@pytest.mark.parametrize("is_reused", [False, True])
def test_a_reused_key(is_reused: bool) -> None:
    nobody = (0.0,) * (RECORDS - 1)
    pair = pulling(*nobody, FAR), pulling(*nobody, 0.0)
    right = steps_of_sgd(4)
    algorithm = with_noise_of_its_start(right) if is_reused else right

    def spread(weights: np.ndarray) -> np.ndarray:
        return np.asarray(np.ptp(releases(weights), axis=1))

    def weight(state: Any) -> Any:
        return (state[0] if is_reused else state).parameters[0]

    scores = by_steps(algorithm, 4, weight, spread)(keys_for(KEY, 8000), pair)
    sound = pld.epsilon(right.event(4), DELTA, "add-remove").upper
    assert (lower(scores, CONFIDENCE, by_delta(DELTA)).epsilon > sound) == is_reused


def released(mechanism: Mechanism, then: Callable[[Any, Any], Any], *pulls: float) -> Any:
    """The scores of one release on those records that pull, of as many as there could be."""
    records = pulling(*pulls)
    mask = records["y"] != 0

    def one(key: Any) -> Any:
        weight = jnp.zeros(1)
        total = mechanism.release(mechanism.random(key, weight), _loss, weight, records, mask)
        return then(total[0], mask.sum())

    keys = jax.random.split(jax.random.fold_in(KEY, int(mask.sum())), 20_000)
    return np.asarray(jax.jit(jax.vmap(one))(keys), np.float64)


def _loss(weight: Any, record: Any) -> Any:
    return 0.5 * (record["y"] - record["x"] @ weight) ** 2


@pytest.mark.parametrize("by_realised", [False, True])
def test_division_by_the_realised_batch(by_realised: bool) -> None:
    """The scale of the noise tells how many there were."""
    nearly_nothing = 1e-6

    def mean(total: Any, size: Any) -> Any:
        return jnp.abs(total) / (size if by_realised else 2)

    pair = [released(gaussian(CLIP, 1.0), mean, nearly_nothing, pull) for pull in (nearly_nothing, 0.0)]
    found = lower((pair[0], pair[1]), CONFIDENCE, by_delta(DELTA))
    assert (found.epsilon > epsilon_of(DELTA, 1.0)) == by_realised


@pytest.mark.parametrize(("forgotten", "is_refuted"), [(False, False), (True, True)])
def test_two_clips_for_a_replaced_record(forgotten: bool, is_refuted: bool) -> None:
    pair = [released(gaussian(CLIP, 1.0), lambda total, size: total, pull) for pull in (FAR, -FAR)]  # noqa: ARG005
    event = Gaussian(noise_multiplier=1.0)
    adjacency: Adjacency = "add-remove" if forgotten else "replace-one"
    found = lower((pair[0], pair[1]), CONFIDENCE, by_account(event, adjacency, DELTA))
    assert (found.epsilon > epsilon_of(DELTA, 1.0 if forgotten else 2.0)) == is_refuted


@pytest.mark.parametrize("others", [0, 5, 31])
def test_without_noise_a_record_moves_the_sum_by_a_clip_at_most_however_large_it_is(others: int) -> None:
    def moved(mechanism: Mechanism) -> float:
        """By how much the sum changes when one record joins others that pull the other way."""
        pulls = (-2 * CLIP,) * others
        records, weight = pulling(*pulls, 1e6 * CLIP), jnp.zeros(1)
        present = jnp.arange(others + 1) < others
        masks = (present, jnp.ones_like(present))
        sums = [mechanism.release(jnp.zeros(1), _loss, weight, records, mask)[0] for mask in masks]
        return float(jnp.abs(sums[1] - sums[0]))

    assert moved(gaussian(CLIP, 1.0)) == pytest.approx(CLIP, rel=1e-4)
    if others:
        batch = others + 1
        assert moved(aggregate(CLIP, 1.0, batch, "code")) == pytest.approx(2 * CLIP * batch, rel=0.1)
