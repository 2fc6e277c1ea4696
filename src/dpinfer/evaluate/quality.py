"""How good generated images of digits are, in the eyes of a classifier that has learnt from the real ones.

The classifier is not private and judges only; it is the same for all runs on the same records.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model
from dpinfer.models.classifier import centred
from dpinfer.posterior import judge
from dpinfer.types import Key, Records, Tree

LEAST_SHARE = 0.01
"""Of the images, from which on a class counts as covered."""


def reference(settings: Any, model: Model, train: Records) -> Tree:
    """The parameters of the classifier."""
    del settings, model
    return judge.train(train)


def metric(
    key: Key, model: Model, sample: Callable[[Key], Tree], test: Records, reference: Tree
) -> dict[str, jax.Array]:
    """As many images as there are test records, against these.

    `frechet` is the Fréchet distance of normal distributions fitted to the classifier's features; `classes` the
    number of classes that have at least 1 % of the images; `label_entropy` that of the shares of the classes, in
    nats; `confidence` the classifier's mean probability of the class that it chooses.
    """
    images = model.predict(key, sample(key), test)
    chances, made = judge.look(reference, images)
    _, real = judge.look(reference, centred(test["x"]))
    shares = jnp.bincount(chances.argmax(1), length=chances.shape[1]) / images.shape[0]
    return {
        "frechet": frechet(made, real),
        "classes": (shares >= LEAST_SHARE).sum(),
        "label_entropy": -jnp.where(shares > 0, shares * jnp.log(jnp.maximum(shares, 1e-30)), 0.0).sum(),
        "confidence": chances.max(1).mean(),
    }


def frechet(one: jax.Array, other: jax.Array) -> jax.Array:
    """|m - m'|^2 + tr(S + S' - 2 (S S')^(1/2)) of the means and covariances of two samples (n, features)."""
    (mean, spread), (other_mean, other_spread) = ((x.mean(0), jnp.cov(x, rowvar=False)) for x in (one, other))
    values, vectors = jnp.linalg.eigh(spread)
    root = (vectors * jnp.sqrt(jnp.maximum(values, 0))) @ vectors.T
    # The eigenvalues of S S' are those of the symmetric S^(1/2) S' S^(1/2).
    shared = jnp.linalg.eigvalsh(root @ other_spread @ root)
    distance = jnp.square(mean - other_mean).sum() + jnp.trace(spread) + jnp.trace(other_spread)
    return distance - 2 * jnp.sqrt(jnp.maximum(shared, 0)).sum()
