"""Mixture of spherical Gaussians (d3p, PoPETs 2022, Appendix A; DPVI, arXiv:1610.08749), components summed out.

pi ~ Dirichlet(1), mu_k ~ N(0, I), s_k ~ InverseGamma(shape, rate), p(x) = sum_k pi_k N(x; mu_k, v_k I), where s_k
is the deviation sqrt(v_k), as in d3p, or the variance v_k, as in DPVI.

Parameters are unconstrained: `sticks` (K - 1,), `means` (K, D) and `log_spread` (K,) with s_k = exp(log_spread_k).
Weights break a stick of length one, piece k taking the share sigmoid(sticks_k - log(K - k)) of what is left, so
that zeros are equal weights. The prior is the density of these parameters, with the Jacobians of both maps.
Parameters start at narrow draws: equal components would all have the same expected gradient, and only the draws
of a guide could tell them apart.

Two arguments repeat slips of DPVI's released code: `jacobian="logarithm"` and `normaliser="components"`.
"""

import math

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln, logsumexp
from jax.scipy.stats import norm

from dpinfer.models.base import Model, no_outcome
from dpinfer.models.names import Jacobian, Normaliser, PriorOn
from dpinfer.types import Key, Records, Tree

MOST_EXPONENT = 30.0
"""Its exponential, squared in the norm of a gradient, still fits single precision."""


def build(
    *,
    components: int = 5,
    prior_on: PriorOn = "deviation",
    shape: float = 1.0,
    rate: float = 1.0,
    start_std: float = 0.1,
    jacobian: Jacobian = "exact",
    normaliser: Normaliser = "dimension",
) -> Model:
    """Build the model for records with `x` of shape (D,).

    Args:
        components: Number of components, K.
        prior_on: What the inverse gamma prior is on.
        shape: Its shape.
        rate: Its scale, the rate of 1/s.
        start_std: Parameters start at draws of this width.
        jacobian: Of the map from sticks to weights; see `Jacobian`.
        normaliser: Of each density; see `Normaliser`.
    """
    count = components

    def init(key: Key, records: Records) -> Tree:
        shapes = {"sticks": (count - 1,), "means": (count, records["x"].shape[-1]), "log_spread": (count,)}
        keys = jax.random.split(key, len(shapes))
        return {
            name: start_std * jax.random.normal(own, size)
            for own, (name, size) in zip(keys, shapes.items(), strict=True)
        }

    def log_prior(parameters: Tree) -> jax.Array:
        log_spread = parameters["log_spread"]
        # The density of log s: that of s, times s.
        log_gamma = shape * jnp.log(rate) - gammaln(shape) - shape * log_spread - rate * _exp(-log_spread)
        # Dirichlet(1) is uniform with density (K - 1)!.
        log_jacobian = _log_jacobian(parameters["sticks"])
        if jacobian == "logarithm":
            log_jacobian = jnp.log(jnp.abs(log_jacobian))
        log_dirichlet = gammaln(count) + log_jacobian
        return log_dirichlet + norm.logpdf(parameters["means"]).sum() + log_gamma.sum()

    power = 2.0 if prior_on == "deviation" else 1.0

    def log_likelihood(parameters: Tree, record: Records) -> jax.Array:
        log_variance = power * parameters["log_spread"]
        distance = ((record["x"] - parameters["means"]) ** 2).sum(axis=1)
        size = record["x"].shape[0] if normaliser == "dimension" else count
        log_scale = size * (math.log(2 * math.pi) + log_variance)
        each = -(log_scale + distance * _exp(-log_variance)) / 2
        return logsumexp(log_weights(parameters["sticks"]) + each)

    def describe(parameters: Tree) -> dict[str, jax.Array]:
        x, y, *_ = parameters["means"].T
        weight = jnp.exp(log_weights(parameters["sticks"]))
        return {"weight": weight, "x": x, "y": y, "variance": _exp(power * parameters["log_spread"])}

    return Model(init, log_prior, log_likelihood, no_outcome, describe=describe)


def log_weights(sticks: jax.Array) -> jax.Array:
    """Logarithms of the weights, (K,); they stay finite where a weight itself would vanish in single precision."""
    logits = _logits(sticks)
    left = jnp.concatenate([jnp.zeros(1), jnp.cumsum(jax.nn.log_sigmoid(-logits))])
    return left + jnp.concatenate([jax.nn.log_sigmoid(logits), jnp.zeros(1)])


def _log_jacobian(sticks: jax.Array) -> jax.Array:
    """Log-determinant of the map from sticks to the first K - 1 weights, whose matrix is triangular."""
    return (log_weights(sticks)[:-1] + jax.nn.log_sigmoid(-_logits(sticks))).sum()


def _exp(x: jax.Array) -> jax.Array:
    """exp(x), and beyond `MOST_EXPONENT` its tangent there.

    A wide guide draws spreads so narrow that a gradient would overflow, and clipping cannot bound what is not
    finite. On the tangent it keeps its direction; the density changes only where it is zero in single precision.
    """
    return jnp.exp(jnp.minimum(x, MOST_EXPONENT)) * (1 + jnp.maximum(x - MOST_EXPONENT, 0))


def _logits(sticks: jax.Array) -> jax.Array:
    return sticks - jnp.log(jnp.arange(sticks.shape[0], 0, -1))
