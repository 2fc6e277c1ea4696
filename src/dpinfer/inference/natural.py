"""Gaussians of independent coordinates by their natural parameters, in which factors multiply by adding up.

An array of shape (2, D) holds precision times mean, then the precision. A product of Gaussians has the sum of
these, a quotient the difference; a factor that is no density by itself may have a precision that is not positive.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model, Quadratic
from dpinfer.types import Records

LEAST_SHARE = 0.1
"""Of the prior's precision: below that no posterior is read off, whatever noise has done to it."""


class MeanField(NamedTuple):
    """Mean and variance of each coordinate, (D,) each."""

    mean: jax.Array
    variance: jax.Array


def natural(gaussian: MeanField) -> jax.Array:
    """The natural parameters of a Gaussian."""
    return jnp.stack([gaussian.mean / gaussian.variance, 1 / gaussian.variance])


def prior_of(model: Model, dimension: int) -> jax.Array:
    """The natural parameters of a model's prior, which is a Gaussian of independent coordinates."""
    origin = jnp.zeros(dimension)
    return jnp.stack([jax.grad(model.log_prior)(origin), -jnp.diag(jax.hessian(model.log_prior)(origin))])


def read(parameters: jax.Array, prior: jax.Array) -> MeanField:
    """The Gaussian of natural parameters, whose precision noise may have made too small to be one.

    Keeping the precision at a share of the prior's is post-processing: it looks at public values alone.
    """
    variance = 1 / jnp.maximum(parameters[1], LEAST_SHARE * prior[1])
    return MeanField(parameters[0] * variance, variance)


def expected(likelihood: Quadratic, mean: jax.Array, variance: jax.Array) -> jax.Array:
    """Mean of a quadratic log-likelihood under a Gaussian, up to a constant."""
    curvature, shift = likelihood
    return shift @ mean - (mean @ curvature @ mean + jnp.diag(curvature) @ variance) / 2


def exact_posterior(model: Model, records: Records, prior: jax.Array) -> Quadratic:
    """Precision and precision times mean of a conjugate model's posterior, given all records."""
    curvature, shift = together(model, records, jnp.ones(next(iter(records.values())).shape[0], bool))
    return Quadratic(jnp.diag(prior[1]) + curvature, prior[0] + shift)


def together(model: Model, records: Records, mask: jax.Array) -> Quadratic:
    """The log-likelihood of those records that count, as one quadratic."""
    assert model.quadratic is not None
    each = jax.vmap(model.quadratic)(records)
    return Quadratic(*(_pairwise(jnp.where(mask.reshape(-1, *(1,) * (x.ndim - 1)), x, 0.0)) for x in each))


def _pairwise(terms: jax.Array) -> jax.Array:
    """Sum over the first axis by halves: rounding grows with the logarithm of its length, not with the length."""
    while terms.shape[0] > 1:
        terms = jnp.concatenate([terms, jnp.zeros_like(terms[: terms.shape[0] % 2])])
        terms = terms[0::2] + terms[1::2]
    return terms[0]


def divergence(gaussian: MeanField, posterior: Quadratic) -> jax.Array:
    """KL(gaussian || posterior), the latter with a full precision matrix."""
    off = gaussian.mean - jnp.linalg.solve(posterior.curvature, posterior.shift)
    trace = jnp.diag(posterior.curvature) @ gaussian.variance
    _, log_determinant = jnp.linalg.slogdet(posterior.curvature)
    volumes = jnp.log(gaussian.variance).sum() + log_determinant
    return (trace + off @ posterior.curvature @ off - off.size - volumes) / 2
