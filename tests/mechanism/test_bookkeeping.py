"""Book-keeping against gradients taken one by one."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.mechanism import bookkeeping, per_example
from dpinfer.models.layers import Apply, Convolution, Dense, Network, Transposed

BATCH, CASES = 6, 400


def dense_losses(apply: Apply, examples: Any) -> jax.Array:
    features = jnp.tanh(apply("first", examples["x"]))
    return examples["scale"] * jnp.square(apply("second", features) - 1).sum(1)


def image_losses(apply: Apply, examples: Any) -> jax.Array:
    x = examples["x"].reshape(-1, 8, 8, 2)
    features = jax.nn.softplus(apply("down", x))
    features = jax.nn.softplus(apply("deeper", features)).reshape(x.shape[0], -1)
    image = apply("dense", features).reshape(-1, 2, 2, 3)
    y = apply("up", jnp.tanh(apply("wider", image)))
    return examples["scale"] * jnp.square(y - x).sum((1, 2, 3))


NETWORKS = {
    "dense": (Network({"first": Dense(5, 7), "second": Dense(7, 3)}, dense_losses), 5),
    "images": (
        Network(
            {
                "down": Convolution(2, 3), "deeper": Convolution(3, 9), "dense": Dense(36, 12),
                "wider": Transposed(3, 6), "up": Transposed(6, 2),
            },
            image_losses,
        ),
        128,
    ),
    # An example is three vectors, which go through the same layers.
    "several": (
        Network({"first": Dense(5, 7), "second": Dense(7, 1)},
                lambda apply, examples: examples["scale"] * jnp.square(apply(
                    "second", jnp.tanh(apply("first", examples["x"].reshape(-1, 3, 5)))) - 1).sum((1, 2))),
        15,
    ),
    "valid": (
        Network({"first": Convolution(1, 2, kernel=3, padded=False), "second": Dense(8, 3)},
                lambda apply, examples: dense_losses(
                    lambda name, x: apply(name, x.reshape(-1, 5, 5, 1)).reshape(-1, 8)
                    if name == "first" else apply(name, x), examples)),
        25,
    ),
    "three by three": (
        Network({"first": Convolution(1, 2, kernel=3, stride=1), "second": Dense(18, 3)},
                lambda apply, examples: dense_losses(
                    lambda name, x: apply(name, x.reshape(-1, 3, 3, 1)).reshape(-1, 18)
                    if name == "first" else apply(name, x), examples)),
        9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_sums_are_those_of_gradients_taken_one_by_one(name: str) -> None:
    """Masks, zero gradients and gradients far beyond the clip among them."""
    network, width = NETWORKS[name]

    @jax.jit
    def error(key: Any) -> jax.Array:
        keys = jax.random.split(key, 5)
        parameters = network.init(keys[0], 0.5)
        scales = jnp.array([0.0, 1e-6, 1.0, 1.0, 1e3, 1e6])
        examples = {
            "x": jax.random.normal(keys[1], (BATCH, width)),
            "scale": jax.random.permutation(keys[2], scales),
        }
        mask = jax.random.bernoulli(keys[3], 0.7, (BATCH,))
        clip = jnp.exp(3 * jax.random.normal(keys[4]))
        ours = bookkeeping.clipped_sum(network, parameters, examples, mask, clip)
        theirs = per_example.by_vmap(network, parameters, examples, mask, clip)
        largest = jnp.stack([jnp.abs(leaf).max() for leaf in jax.tree.leaves(theirs)]).max()
        errors = jax.tree.map(lambda a, b: jnp.abs(a - b).max() / (largest + 1e-30), ours, theirs)
        return jnp.stack(jax.tree.leaves(errors)).max()

    errors = jax.lax.map(error, jax.random.split(jax.random.key(4), CASES))
    assert float(errors.max()) < 1e-5


def test_a_record_moves_the_sum_by_one_clip_at_most() -> None:
    network, width = NETWORKS["images"]
    parameters = network.init(jax.random.key(0), 0.5)
    examples = {"x": jax.random.normal(jax.random.key(1), (BATCH, width)), "scale": jnp.full(BATCH, 1e4)}
    everyone = jnp.ones(BATCH, bool)
    with_it = bookkeeping.clipped_sum(network, parameters, examples, everyone, 0.3)
    without = bookkeeping.clipped_sum(network, parameters, examples, everyone.at[2].set(False), 0.3)
    moved = jnp.concatenate(
        [leaf.ravel() for leaf in jax.tree.leaves(jax.tree.map(jnp.subtract, with_it, without))]
    )
    np.testing.assert_allclose(jnp.linalg.norm(moved), 0.3, rtol=1e-4)


def test_an_example_that_is_masked_out_may_be_anything() -> None:
    network, width = NETWORKS["dense"]
    parameters = network.init(jax.random.key(0), 0.5)
    x = jax.random.normal(jax.random.key(1), (BATCH, width))
    mask = jnp.arange(BATCH) != 3
    for clipped_sum in (bookkeeping.clipped_sum, per_example.by_vmap):
        sums = [
            clipped_sum(network, parameters, {"x": x.at[3].set(value), "scale": jnp.ones(BATCH)}, mask, 1.0)
            for value in (0.0, jnp.nan, jnp.inf)
        ]
        for other in sums[1:]:
            jax.tree.map(np.testing.assert_array_equal, other, sums[0])


def test_a_network_is_taken_by_book_keeping_and_anything_else_by_vmap(caplog: pytest.LogCaptureFixture) -> None:
    network, width = NETWORKS["dense"]
    parameters = network.init(jax.random.key(0), 0.5)
    examples = {"x": jnp.ones((BATCH, width)), "scale": jnp.ones(BATCH)}
    everyone = jnp.ones(BATCH, bool)

    def widest(loss: Any) -> int:
        """The largest array that a clipped sum makes."""
        jaxpr = jax.make_jaxpr(lambda: per_example.clipped_sum(loss, parameters, examples, everyone, 1.0))()
        return max(out.aval.size for equation in jaxpr.eqns for out in equation.outvars)

    with caplog.at_level("INFO"):
        widest(network)
    assert "clipping gradients by book-keeping" in caplog.text
    assert per_example.method(network) == "book-keeping"
    assert per_example.method(lambda parameters, example: network(parameters, example)) == "vmap"
    assert widest(network) < widest(lambda parameters, example: network(parameters, example))


@pytest.mark.parametrize(("parameters", "expected"), [(10, 100), (1 << 20, 4), (1 << 24, 1)])
def test_micro_batches_fit_into_the_memory_set_aside(parameters: int, expected: int) -> None:
    like = {"w": jax.ShapeDtypeStruct((parameters,), jnp.float32)}
    found = per_example._fitting(like, 100)
    assert found == expected
    assert found == 1 or found * parameters * 4 <= per_example.GRADIENTS["cpu"]
