"""The case of DP-MCMC's acceptance test: audited is what it holds against the threshold, not the bit after."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.sound import barker as accountant
from dpinfer.audit.bound import Array
from dpinfer.audit.case import MODEL, Case, Pair, claimed, of_steps
from dpinfer.inference import chain, dpmcmc
from dpinfer.inference.base import Algorithm
from dpinfer.inference.correction import Correction
from dpinfer.models.base import Model
from dpinfer.types import Key, Records

BATCH = 26
RECORDS = BATCH + 1
REACH = 20.0
"""The statistic lies within: at most sqrt(batch) plus many deviations of its noise."""
HALVINGS = 24
NOTHING = Correction(np.zeros(1), np.zeros(1), np.ones(1))
"""Without the rest of the logistic noise, which no record touches, a test tells as much as it can."""


def acceptance() -> Case:
    """One test, on all records but one."""
    # Half of the ratios at either end of what clipping allows: the test's own noise is least then.
    others = (1.0, -1.0) * (BATCH // 2)
    event = _algorithm(MODEL).event(1)
    return of_steps(
        event,
        "replace-one",
        claimed(accountant, event, "replace-one", method="theorem", max_order=100),
        "a record whose ratio is clipped from above, and one whose is from below",
        (_telling(*others, 1.0), _telling(*others, -1.0)),
        _scores,
    )


def _algorithm(model: Model) -> Algorithm:
    return dpmcmc.minibatch(model, math.sqrt(BATCH), NOTHING, RECORDS, batch=BATCH, proposal_variance=1.0)


def _telling(*signs: float) -> Records:
    """Records whose ratios are far beyond the clip, for or against the move of a weight from 0 to 1."""
    y = 100 * jnp.asarray(signs, jnp.float32)
    return {"x": jnp.ones((len(signs), 1)), "y": y}


def _scores(keys: Key, pair: Pair) -> tuple[Array, Array]:
    """What tests hold against their threshold, on either data set.

    A test says only on which side of the threshold it lies. But the prior moves the threshold, and with the same
    randomness the statistic is the same: halving finds it.
    """

    def is_accepted(key: Key, shift: jax.Array, records: Records) -> jax.Array:
        algorithm = _algorithm(MODEL._replace(log_prior=lambda weight: shift * weight.sum()))
        state = algorithm.init(key, records)
        drawn = algorithm.random(key, state)._replace(move=jnp.ones(1))
        after: chain.State = algorithm.update(drawn, state, records)[0]
        return after.counts.accepted > 0

    def one(key: Key, records: Records) -> jax.Array:
        def halve(between: tuple[jax.Array, jax.Array], _: None) -> tuple[tuple[jax.Array, jax.Array], None]:
            low, high = between
            middle = (low + high) / 2
            above = is_accepted(key, -middle, records)
            return (jnp.where(above, middle, low), jnp.where(above, high, middle)), None

        ends = (jnp.asarray(-REACH), jnp.asarray(REACH))
        return jax.lax.scan(halve, ends, None, length=HALVINGS)[0][0]

    tests = jax.jit(jax.vmap(one, in_axes=(0, None)))
    first, second = (
        np.asarray(tests(own, records), np.float64) for own, records in zip(jnp.split(keys, 2), pair, strict=True)
    )
    return first, second
