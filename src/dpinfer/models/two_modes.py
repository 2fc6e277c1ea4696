"""An even mixture of two Gaussians with tied means (Welling & Teh, 2011; DP-MCMC, Sect. 4).

theta_j ~ N(0, v_j), x ~ 1/2 N(theta_1, v) + 1/2 N(theta_1 + theta_2, v). Exchanging the two Gaussians maps theta
to (theta_1 + theta_2, -theta_2) and leaves the likelihood as it is, so that the posterior has two modes.
"""

import math

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model, no_outcome
from dpinfer.types import Key, Records, Tree


def build(
    *,
    prior_variances: tuple[float, float] = (10.0, 1.0),
    variance: float = 2.0,
    start: tuple[float, float] | None = None,
) -> Model:
    """Build the model for records with a scalar `x`; the parameters are the vector theta.

    Args:
        prior_variances: Variances v_j of the normal priors.
        variance: Variance v of both Gaussians.
        start: Where algorithms start; by default at a standard normal draw.
    """
    prior = jnp.asarray(prior_variances)
    log_half, log_scale = math.log(0.5), -0.5 * math.log(2 * math.pi * variance)

    def init(key: Key, records: Records) -> Tree:
        del records
        return jax.random.normal(key, (2,)) if start is None else jnp.asarray(start)

    def log_prior(theta: Tree) -> jax.Array:
        return -0.5 * (theta**2 / prior + jnp.log(2 * math.pi * prior)).sum()

    def log_likelihood(theta: Tree, record: Records) -> jax.Array:
        distance = record["x"] - theta[0]
        first, second = (-0.5 * d**2 / variance for d in (distance, distance - theta[1]))
        # log(e^first + e^second), several times quicker than logaddexp, which allows for what is not finite.
        both = jnp.maximum(first, second) + jnp.log1p(jnp.exp(-jnp.abs(first - second)))
        return log_half + log_scale + both

    return Model(init, log_prior, log_likelihood, no_outcome)
