"""Users' calls of `DPSVI`: `run`, and loops of their own around `update`."""

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import Trace_ELBO

from dpinfer.audit.canaries import EPSILON, RATE, STEPS, TRIED, Canaries, Run, moves
from dpinfer.audit.worst_records import CLIP, DELTA
from dpinfer.svi import DPSVI, poisson_batchify_data
from dpinfer.types import Key

UNSEEN_STEPS = 16
"""Of a run whose last weights alone are seen: of many steps they tell nearly as much as all weights together."""
WIDE = 1e6
"""Of a prior that adds nothing to a gradient."""


def run(key: Key, records: Canaries) -> Run:
    """All steps in one call; the last weights are seen."""
    with warnings.catch_warnings(action="ignore"):
        svi = _calibrated(records, UNSEEN_STEPS)
        done = svi.run(key, UNSEEN_STEPS, *records, progress_bar=False)
    assert svi.budget is not None
    return Run(moves([done.params["w"]]), svi.budget.ledger)


def update(key: Key, records: Canaries) -> Run:
    """A compiled loop, whose weights are seen after every step.

    It goes on after the last step that is paid for: those that follow should leave the weights as they are.
    """
    key_state, key_batches = jax.random.split(key)
    init, get_batch = poisson_batchify_data(records, RATE)
    _, batches = init(key_batches)
    with warnings.catch_warnings(action="ignore"):
        svi = _calibrated(records, STEPS)
        state = svi.init(key_state, *records)
    step = jax.jit(svi.update)
    looks = []
    for number in range(TRIED):
        batch, mask = get_batch(number, batches)
        state, _ = step(state, *batch, mask=mask)
        looks.append(svi.get_params(state)["w"])
    assert svi.budget is not None
    return Run(moves(looks), svi.budget.ledger)


def update_x64(key: Key, records: Canaries) -> Run:
    """The same with numbers of 64 bits, as by JAX_ENABLE_X64=1, for these steps alone."""
    with jax.enable_x64(True):
        return update(key, records)


def model_of(count: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A regression with so many weights, one for each record, and a guide that is a point."""

    def model(i: Any, x: Any, y: Any = None) -> None:
        weights = numpyro.sample("weights", dist.Normal(0, WIDE).expand([count]).to_event(1))
        with numpyro.plate("records", count, len(i)):
            numpyro.sample("y", dist.Normal(x * weights[i], 1), obs=y)

    def guide(i: Any, x: Any, y: Any = None) -> None:
        del i, x, y
        numpyro.sample("weights", dist.Delta(numpyro.param("w", jnp.zeros(count)), event_dim=1))

    return model, guide


def _calibrated(records: Canaries, num_steps: int) -> DPSVI:
    """With steps of a size at which a record that is drawn moves its weight by one."""
    return DPSVI.calibrated(
        *model_of(records.size), optax.sgd(RATE / CLIP), Trace_ELBO(), CLIP, epsilon=EPSILON, delta=DELTA,
        num_records=records.size, num_steps=num_steps, expected_batch=records.expected_batch,
    )  # fmt: skip
