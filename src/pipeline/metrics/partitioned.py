"""Partitioned variational inference, along a run: its posterior, and the factors that should make it up."""

import jax
import jax.numpy as jnp

from dpinfer.inference.natural import divergence, exact_posterior, prior_of, read
from pipeline.metrics.base import Fitted, Metric

TAIL = 10
"""The tail is the last of so many parts of the recordings."""
LEAST_GAP = 1e-30


def natural(fit: Fitted) -> dict[str, jax.Array]:
    """The posterior's natural parameters: precision times mean, and precision, of every coordinate."""
    posterior = fit.trace["posterior"]
    return {
        f"{name}_{coordinate}": posterior[:, row, coordinate]
        for row, name in enumerate(("natural_mean", "precision"))
        for coordinate in range(posterior.shape[-1])
    }


def log_kl(fit: Fitted) -> dict[str, jax.Array]:
    """Natural logarithm of KL(q || exact posterior of all train records), the latter with all its correlations.

    At every recording it is given with the mean and the standard deviation over the recordings up to it, as many
    as there are in the last tenth of the run: how good, and how steady, the posterior is.
    """
    prior = prior_of(fit.model, fit.train["x"].shape[-1])
    exact = exact_posterior(fit.model, fit.train, prior)
    each = jnp.log(jax.vmap(lambda own: divergence(read(own, prior), exact))(fit.trace["posterior"]))
    window = max(2, each.size // TAIL)
    before = jnp.arange(each.size)[:, None] - jnp.arange(window)
    known = before >= 0
    mean, spread = each[before].mean(1, where=known), each[before].std(1, where=known)
    return {"log_kl": each, "log_kl_tail": mean, "log_kl_tail_sd": spread}


def gap(fit: Fitted) -> dict[str, jax.Array]:
    """By how much prior and factors miss the posterior: the norm in natural parameters, and how it grows.

    The exponent of the growth up to each recording is the slope of log gap over log rounds by least squares; that
    of a random walk is 1/2.
    """
    norm = fit.trace["gap"]
    step = jnp.log(jnp.arange(1, norm.size + 1))
    # Where there is no gap there is no growth.
    height = jnp.log(jnp.maximum(norm, LEAST_GAP))

    def slope(last: jax.Array) -> jax.Array:
        counted = jnp.arange(norm.size) <= last
        x = step - step.mean(where=counted)
        total = jnp.where(counted, x * x, 0.0).sum()
        return jnp.where(counted, x * height, 0.0).sum() / jnp.where(total > 0, total, 1.0)

    return {"gap": norm, "gap_exponent": jax.vmap(slope)(jnp.arange(norm.size))}


METRICS = {
    "natural": Metric("curve", natural),
    "log_kl": Metric("curve", log_kl),
    "gap": Metric("curve", gap),
}
