"""Clipped sums by the plan of a loss against gradients taken one by one, on random losses."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clipping.programs import LAYERS, Program, examples, program
from dpinfer.clipping.sums import by_gradients, by_plan, planned

BATCH = 5
MASK = jnp.array([True, True, False, True, True])
CLIPPED = {"none": 1e6, "some": 1.0, "all": 1e-2}


def require_same(made: Program, seed: int, clip: float) -> None:
    batch = examples(seed, BATCH)
    plan = planned(made.loss, made.parameters, batch)
    # Operation by operation: their programs are compiled once for all losses.
    with jax.disable_jit():
        ours = by_plan(plan, made.parameters, clip)(batch, MASK)
        theirs = by_gradients(made.loss, made.parameters, clip)(batch, MASK)
    np.testing.assert_allclose(ours.losses, theirs.losses, rtol=1e-4)
    # None is too small, and none much too large.
    assert (ours.norms >= theirs.norms * (1 - 1e-4) - 1e-6).all(), made.name
    assert (ours.norms <= theirs.norms * (1 + 2e-3) + 1e-4).all(), made.name
    largest = jnp.minimum(theirs.norms, clip).sum() + 1e-6
    apart = optax.tree.norm(jax.tree.map(jnp.subtract, ours.total, theirs.total))
    assert apart <= 1e-3 * largest, made.name


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("clip", CLIPPED.values(), ids=CLIPPED)
def test_every_layer_by_itself(layer: str, clip: float) -> None:
    for penalised in (False, True):
        require_same(program(1, ["dense", layer, "dense"], looks_up=True, penalised=penalised), 2, clip)


@settings(max_examples=1000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    names=st.lists(st.sampled_from(sorted(LAYERS)), min_size=1, max_size=3),
    looks_up=st.booleans(),
    penalised=st.booleans(),
    clip=st.sampled_from(sorted(CLIPPED.values())),
)
def test_random_losses(seed: int, names: list[str], looks_up: bool, penalised: bool, clip: float) -> None:
    made = program(seed, names, looks_up, penalised)
    if made.parameters:
        require_same(made, seed, clip)
