"""Generated images: their pixels for figures, and how good they are in the eyes of a judge.

The judge is a classifier that has learnt from the real images. It is not private and judges only; it is the same
for all runs on the same records.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dpinfer.models import classifier
from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree
from pipeline.metrics.base import Fitted, Metric, Sample

IMAGES = 25
"""So many images are shown in figures."""
LEAST_SHARE = 0.01
"""Of the images, from which on a class counts as covered."""
HIDDEN, CLASSES = 128, 10
EPOCHS, BATCH, LEARNING_RATE = 5, 256, 1e-3
"""Of the judge."""


def digits(fit: Fitted) -> jax.Array:
    """Every pixel of every image: values from 0 to 255, as in the records."""
    return _shown(fit.key, fit.model, fit.sample).ravel()


def pixels(model: Model, sample: Sample) -> dict[str, list[Any]]:
    """Image, row and column of every pixel."""
    shape = jax.eval_shape(lambda key: _shown(key, model, sample), jax.random.key(0)).shape
    return dict(zip(("image", "row", "column"), np.indices(shape).reshape(3, -1).tolist(), strict=True))


def _shown(key: Key, model: Model, sample: Sample) -> jax.Array:
    images = model.predict(key, sample(key), {"x": jnp.zeros(IMAGES)})
    return jnp.round((images + 1) * 127.5)


def quality(fit: Fitted) -> dict[str, jax.Array]:
    """As many images as there are test records, against these.

    `frechet` is the Fréchet distance of normal distributions fitted to the judge's features; `classes` the
    number of classes that have at least 1 % of the images; `label_entropy` that of the shares of the classes, in
    nats; `confidence` the judge's mean probability of the class that it chooses.
    """
    images = fit.model.predict(fit.key, fit.sample(fit.key), fit.test)
    chances, made = judged(fit.reference, images)
    _, real = judged(fit.reference, classifier.centred(fit.test["x"]))
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


def judge(train: Records) -> Tree:
    """Parameters of a dense classifier after some epochs of Adam; the same for the same records."""
    judging = classifier.build(image=train["x"].shape[1:], hidden=HIDDEN, classes=CLASSES)
    log_likelihoods = jax.vmap(judging.log_likelihood, in_axes=(None, 0))
    key_start, key_batches = jax.random.split(jax.random.key(0))
    parameters = judging.init(key_start, train)
    optimiser = optax.adam(LEARNING_RATE)
    batch = min(BATCH, train["x"].shape[0])
    steps = max(1, EPOCHS * train["x"].shape[0] // batch)

    @jax.jit
    def run(parameters: Tree, records: Records) -> Tree:
        def one(carried: tuple[Tree, optax.OptState], key: jax.Array) -> tuple[tuple[Tree, optax.OptState], None]:
            at, memory = carried
            rows = jax.random.randint(key, (batch,), 0, records["x"].shape[0])
            examples = {name: values[rows] for name, values in records.items()}
            gradient = jax.grad(lambda own: -log_likelihoods(own, examples).mean())(at)
            change, memory = optimiser.update(gradient, memory)
            return (optax.apply_updates(at, change), memory), None

        keys = jax.random.split(key_batches, steps)
        return jax.lax.scan(one, (parameters, optimiser.init(parameters)), keys)[0][0]

    return run(parameters, {name: jnp.asarray(values) for name, values in train.items()})


def judged(parameters: Tree, images: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The judge's probabilities of the classes, and its features, of images scaled to [-1, 1]."""
    _, logits = classifier.parts_of("dense", images.shape[1:], HIDDEN, CLASSES)
    found, features = (jax.vmap(partial(own, parameters))(images) for own in (logits, classifier.features))
    return jax.nn.softmax(found), features


METRICS = {
    "digits": Metric("end", digits, places=pixels),
    "quality": Metric("end", quality, reference=lambda _settings, _model, train: judge(train)),
}
