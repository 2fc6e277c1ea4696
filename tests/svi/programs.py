"""NumPyro models and guides of several shapes, and records for them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from jax.nn import sigmoid
from numpyro import deterministic, param, plate, sample
from numpyro.distributions import Bernoulli, Normal

N, D, L, K = 120, 3, 4, 2
XS = jax.random.normal(jax.random.key(0), (N, D))
YS = (XS @ jnp.array([1.0, -2.0, 0.5]) > 0).astype(jnp.int32)
GROUP = jnp.arange(N) % L
GS = jax.random.normal(jax.random.key(1), (L, K))


def simple(xs: Any, ys: Any, N: int) -> None:
    """Logistic regression as d3p's users write it: the plate knows all records and the batch."""
    size, dimension = xs.shape
    w = sample("w", Normal(0, 4), sample_shape=(dimension,))
    with plate("batch", N, size):
        sample("ys", Bernoulli(sigmoid(xs.dot(w))), obs=ys)


def simple_guide(xs: Any, ys: Any, N: int) -> None:
    dimension = jnp.shape(xs)[1]
    loc = param("w_loc", jnp.zeros((dimension,)))
    scale = jnp.exp(param("w_scale_log", jnp.zeros((dimension,))))
    sample("w", Normal(loc, scale))


def hierarchical(xs: Any, ys: Any, ls: Any, gs: Any, N: int) -> None:
    """Groups with weights of their own, which the guide leaves to the prior."""
    size, dimension = xs.shape
    groups, features = gs.shape
    m = sample("M", Normal(0, 4), sample_shape=(dimension, features))
    with plate("group", groups, groups):
        ws = sample("ws", Normal(gs @ m.T, 1).to_event(1))
    with plate("batch", N, size):
        sample("ys", Bernoulli(sigmoid(jnp.einsum("nd,nd->n", xs, ws[ls]))), obs=ys)


def hierarchical_guide(xs: Any, ys: Any, ls: Any, gs: Any, N: int) -> None:
    shape = (xs.shape[1], gs.shape[1])
    loc = param("M_loc", jnp.zeros(shape))
    scale = jnp.exp(param("M_scale_log", jnp.zeros(shape)))
    sample("M", Normal(loc, scale))


def nested(xs: Any) -> None:
    """Each feature has a mean and a spread; the plate over records has the size of the batch."""
    with plate("feature", xs.shape[1], dim=-1):
        mean = sample("mean", Normal(0, 1))
        spread = sample("spread", dist.LogNormal(0, 1))
        with plate("record", len(xs), dim=-2):
            sample("xs", Normal(mean, spread), obs=xs)


def subsampling(xs: Any, ys: Any) -> None:
    """NumPyro's own idiom: all records are passed, and the plate chooses."""
    w = sample("w", Normal(0, 4).expand([xs.shape[1]]).to_event(1))
    with plate("record", N, subsample_size=7) as chosen:
        sample("ys", Bernoulli(logits=xs[chosen] @ w), obs=ys[chosen])


def amortised(xs: Any, N: int) -> None:
    """A linear auto-encoder: one latent number for each record, which the guide computes from the record."""
    direction = param("direction", jnp.ones(D))
    with plate("batch", N, len(xs)):
        z = sample("z", Normal(0, 1))
        sample("xs", Normal(z[:, None] * direction, 0.5).to_event(1), obs=xs)


def amortised_guide(xs: Any, N: int) -> None:
    encoder = param("encoder", 0.1 * jnp.ones(D))
    with plate("batch", N, len(xs)):
        deterministic("code", xs @ encoder)
        sample("z", Normal(xs @ encoder, 0.5))


def local(xs: Any, N: int) -> None:
    """A latent number for each record that no guide computes from it."""
    mean = sample("mean", Normal(0, 1))
    with plate("batch", N, len(xs)):
        z = sample("z", Normal(mean, 1))
        sample("xs", Normal(z[:, None], 1).to_event(1), obs=xs)
