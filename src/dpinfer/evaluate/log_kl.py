"""How far an approximate posterior is from the exact one of a conjugate model, along a run."""

import jax
import jax.numpy as jnp

from dpinfer.inference.natural import divergence, exact_posterior, prior_of, read
from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree

TAIL = 10
"""The tail is the last of so many parts of the recordings."""


def curve(key: Key, model: Model, trace: Tree, train: Records, test: Records) -> dict[str, jax.Array]:
    """Natural logarithm of KL(q || exact posterior of all train records), the latter with all its correlations.

    At every recording it is given with the mean and the standard deviation over the recordings up to it, as many
    as there are in the last tenth of the run: how good, and how steady, the posterior is.
    """
    del key, test
    prior = prior_of(model, train["x"].shape[-1])
    exact = exact_posterior(model, train, prior)
    each = jnp.log(jax.vmap(lambda own: divergence(read(own, prior), exact))(trace["posterior"]))
    window = max(2, each.size // TAIL)
    before = jnp.arange(each.size)[:, None] - jnp.arange(window)
    known = before >= 0
    mean, spread = each[before].mean(1, where=known), each[before].std(1, where=known)
    return {"log_kl": each, "log_kl_tail": mean, "log_kl_tail_sd": spread}
