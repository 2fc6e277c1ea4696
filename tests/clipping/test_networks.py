"""Clipped sums of networks of other libraries, as they are: no layer of theirs needs to know of it."""

from typing import Any

import jax
import jax.numpy as jnp
import networks
import numpy as np
import optax
import pytest
from numpyro import handlers

from dpinfer import clipped_grad, explain
from dpinfer.clipping.sums import by_gradients, by_plan, planned
from dpinfer.tree import size

WIDTH, BATCH = 16, 6
MASK = jnp.arange(BATCH) != 2


@pytest.mark.parametrize("name", networks.CASES)
def test_sums_are_those_of_gradients_taken_one_by_one(name: str) -> None:
    case = networks.CASES[name](WIDTH, BATCH)
    plan = planned(case.loss, case.parameters, case.examples)

    @jax.jit
    def both(parameters: Any, examples: Any, clip: jax.Array) -> Any:
        return [
            own(examples, MASK)
            for own in (by_plan(plan, parameters, clip), by_gradients(case.loss, parameters, clip))
        ]

    for clip in (1e-2, 1.0, 1e3):
        ours, theirs = both(case.parameters, case.examples, clip)
        np.testing.assert_allclose(ours.losses, theirs.losses, rtol=1e-5)
        assert (ours.norms >= theirs.norms * (1 - 1e-6)).all()
        assert (ours.norms <= theirs.norms * (1 + 1e-3)).all()
        apart = optax.tree.norm(jax.tree.map(jnp.subtract, ours.total, theirs.total))
        assert apart <= 1e-3 * optax.tree.norm(theirs.total)


@pytest.mark.parametrize("name", networks.CASES)
def test_no_parameter_of_a_matrix_is_opened(name: str) -> None:
    """Every weight has a rule: nothing falls back to copies of whole parameters."""
    case = networks.CASES[name](WIDTH, BATCH)
    told = explain(case.loss, case.parameters, jax.tree.map(lambda leaf: leaf[0], case.examples))
    assert "itself" not in told
    assert len(told.splitlines()) == 1 + len(jax.tree.leaves(case.parameters))


def test_memory_does_not_grow_by_a_gradient_for_each_example() -> None:
    case = networks.linen_mlp(256, 64)

    def widest(clipped: Any) -> int:
        jaxpr = jax.make_jaxpr(clipped)(case.parameters, case.examples)
        return max(out.aval.size for equation in jaxpr.eqns for out in equation.outvars)

    assert widest(clipped_grad(case.loss, 1.0)) <= 2 * max(size(case.parameters), 64 * 784)
    assert widest(jax.vmap(jax.grad(case.loss), in_axes=(None, 0))) >= 64 * 784 * 256


def test_a_network_inside_of_a_numpyro_model() -> None:
    """`flax_module` with weights to be learnt, and `random_flax_module` with weights that are drawn."""
    import numpyro
    from numpyro.contrib.module import flax_module, random_flax_module
    from numpyro.distributions import Normal

    xs = jax.random.normal(jax.random.key(1), (BATCH, 28))

    def model(x: jax.Array) -> None:
        mean = flax_module("net", networks.Mlp(WIDTH), input_shape=(1, 28))
        prior = random_flax_module("drawn", networks.Mlp(WIDTH), Normal(0.0, 0.1), input_shape=(1, 28))
        numpyro.sample("y", Normal(mean(x[None])[0] + prior(x[None])[0], 1.0).to_event(1), obs=jnp.ones(10))

    seeded = handlers.seed(model, jax.random.key(0))
    sites = handlers.trace(seeded).get_trace(xs[0])
    parameters = {"net": sites["net$params"]["value"]} | {
        name: site["value"] for name, site in sites.items() if name.startswith("drawn/")
    }

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        drawn = {name: own for name, own in parameters.items() if name.startswith("drawn/")}
        held = handlers.substitute(handlers.condition(seeded, drawn), {"net$params": parameters["net"]})
        traced = handlers.trace(held).get_trace(x)
        return -sum(
            site["fn"].log_prob(site["value"]).sum() for site in traced.values() if site["type"] == "sample"
        )

    ours = by_plan(planned(loss, parameters, xs), parameters, 1.0)(xs, MASK)
    theirs = by_gradients(loss, parameters, 1.0)(xs, MASK)
    apart = optax.tree.norm(jax.tree.map(jnp.subtract, ours.total, theirs.total))
    assert apart <= 1e-3 * optax.tree.norm(theirs.total)
