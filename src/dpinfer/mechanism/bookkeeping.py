"""Clipped sums of gradients without a single example's gradient in memory.

For layers that are products with their weights (`dpinfer.models.layers`), the gradient of example i by them is
a_i^T g_i. A zero is added to what comes out of every layer; differentiating the summed loss by these zeros gives
all g_i in one backward pass through activations alone. From them come the norms, the factors
f_i = min(1, clip / norm_i), and the clipped sum, again one product for each layer: sum_i f_i a_i^T g_i. So
the cost is that of the plain gradient (Book-Keeping: Bu, Wang, Zha and Karypis, arXiv:2210.00038).
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.models.layers import Network
from dpinfer.types import Tree


def clipped_sum(
    network: Network, parameters: Tree, examples: Tree, mask: jax.Array, clip: float | jax.Array
) -> Tree:
    """Sum the gradients of a network's losses, each scaled down to joint L2 norm `clip` over all parameters.

    Guarantee: that of `per_example.clipped_sum`, to which it is equal up to rounding.
    """
    tapped = _tapped(network, parameters, examples)
    squared = _squared_norms(network, *jax.tree.map(partial(of_counted, counted=mask), tapped))
    counted = mask & jnp.isfinite(squared)
    inputs, signals = jax.tree.map(partial(of_counted, counted=counted), tapped)
    # Dividing by the larger of both keeps a zero gradient zero.
    weights = jnp.where(counted, clip / jnp.maximum(jnp.sqrt(squared), clip), 0.0)
    factors = _factors(network, inputs, signals)
    return {
        name: {"w": _weighted_sum(a, g, weights), "b": _weighted_bias(signals[name], weights)}
        for name, (a, g) in factors.items()
    }


def _factors(network: Network, inputs: dict[str, Any], signals: dict[str, Any]) -> dict[str, Any]:
    return {name: layer.factors(inputs[name], signals[name]) for name, layer in network.layers.items()}


def _squared_norms(network: Network, inputs: dict[str, Any], signals: dict[str, Any]) -> jax.Array:
    """(batch,) squared norms of gradients over all layers, none of them too small."""
    factors = _factors(network, inputs, signals)
    return sum(
        (_squared_norm(a, g) + _bias_norm(signals[name]) for name, (a, g) in factors.items()), jnp.zeros(())
    )


def of_counted(leaf: jax.Array, counted: jax.Array) -> jax.Array:
    """Zero what belongs to examples that do not count: where it is not finite, a weight of zero would not do."""
    return jnp.where(counted.reshape(-1, *(1,) * (leaf.ndim - 1)), leaf, 0)


def _tapped(network: Network, parameters: Tree, examples: Tree) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes into every layer, and the gradient of the summed loss by what comes out of it."""

    def outputs(parameters: Tree, examples: Tree) -> dict[str, jax.Array]:
        seen: dict[str, jax.Array] = {}

        def apply(name: str, x: jax.Array) -> jax.Array:
            seen[name] = network.layers[name](parameters[name], x)
            return seen[name]

        network.losses(apply, examples)
        return seen

    shapes = jax.eval_shape(outputs, parameters, examples)

    def total(taps: dict[str, jax.Array]) -> tuple[jax.Array, dict[str, jax.Array]]:
        seen: dict[str, jax.Array] = {}

        def apply(name: str, x: jax.Array) -> jax.Array:
            seen[name] = x
            return network.layers[name](parameters[name], x) + taps[name]

        return network.losses(apply, examples).sum(), seen

    zeros = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)
    signals, inputs = jax.grad(total, has_aux=True)(zeros)
    return inputs, signals


def _squared_norm(a: jax.Array, g: jax.Array) -> jax.Array:
    """(batch,) squared norms of a_i^T g_i, by Gram matrices of positions or by the products: what is smaller.

    What positions contribute may cancel, of which rounding leaves a rest. With S = sum_p |a_p| |g_p|, half an
    ulp u and any order of summation, the Gram form errs by at most (fan_in + fan_out + 2 positions + 2) u S^2, and
    a norm by the products by positions u S: that is added, so that no norm is too small.
    """
    _, positions, fan_in = a.shape
    if positions == 1:
        return jnp.square(a).sum((1, 2)) * jnp.square(g).sum((1, 2))
    half_ulp = float(np.finfo(a.dtype).eps) / 2
    contributed = (jnp.linalg.norm(a, axis=2) * jnp.linalg.norm(g, axis=2)).sum(1)
    if positions**2 <= fan_in * g.shape[2]:
        grams = jnp.einsum("ipk,iqk->ipq", a, a), jnp.einsum("ipc,iqc->ipq", g, g)
        # In two rounds, whose rounding adds up to less than that of one.
        total = jnp.einsum("ipq,ipq->ip", *grams).sum(1)
        error = (fan_in + g.shape[2] + 2 * positions + 2) * half_ulp * jnp.square(contributed)
        return jnp.maximum(total, 0) + error
    norms = jnp.sqrt(jnp.square(jnp.einsum("ipk,ipc->ikc", a, g)).sum((1, 2)))
    return jnp.square(norms + positions * half_ulp * contributed)


def _bias_norm(signal: jax.Array) -> jax.Array:
    return jnp.square(_per_channel(signal)).sum(1)


def _weighted_sum(a: jax.Array, g: jax.Array, weights: jax.Array) -> jax.Array:
    """sum_i weights_i a_i^T g_i, by one product."""
    weighed = (g * weights[:, None, None]).reshape(-1, g.shape[2])
    return a.reshape(-1, a.shape[2]).T @ weighed


def _weighted_bias(signal: jax.Array, weights: jax.Array) -> jax.Array:
    return weights @ _per_channel(signal)


def _per_channel(signal: jax.Array) -> jax.Array:
    return signal.reshape(signal.shape[0], -1, signal.shape[-1]).sum(1)
