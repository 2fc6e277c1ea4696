"""Metrics of classifiers of images and of generated images."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import linalg

from dpinfer import models
from dpinfer.evaluate import digits, learning, quality
from dpinfer.models.base import Model, no_prior
from dpinfer.posterior import judge
from dpinfer.settings.model import Classifier, Gan
from dpinfer.types import Records

SIDE = 6


def images(seed: int, count: int, classes: int = 10) -> Records:
    """A class is where a bright square is."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, count)
    x = rng.integers(0, 30, (count, SIDE, SIDE), np.uint8)
    for record, own in zip(x, y, strict=True):
        record[own // 3 : own // 3 + 2, own % 3 : own % 3 + 2] += 200
    return {"x": jnp.asarray(x), "y": jnp.asarray(y)}


def drawing(pictures: jax.Array) -> Model:
    """A model that generates these, scaled to [-1, 1]."""

    def predict(key: Any, parameters: Any, records: Records) -> jax.Array:
        del key, parameters
        return (pictures / 127.5 - 1)[: next(iter(records.values())).shape[0]]

    return Model(lambda *_: (), no_prior, lambda *_: jnp.zeros(()), predict)


def test_the_learning_curve_is_right_at_every_recording() -> None:
    model = models.build(Classifier(image=(SIDE, SIDE), hidden=5))
    train, test = images(0, 300), images(1, 200)
    states = [model.init(jax.random.key(seed), train) for seed in range(3)]
    trace = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
    found = learning.curve(jax.random.key(0), model, trace, train, test)
    for name, records in (("test_accuracy", test), ("train_accuracy", train)):
        expected = [
            np.mean(model.predict(jax.random.key(0), state, records).argmax(1) == records["y"]) for state in states
        ]
        np.testing.assert_allclose(found[name], expected, rtol=1e-6)


def test_the_distance_of_samples_is_frechets() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(500, 4)), rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)) + 0.5
    covariances = [np.cov(x, rowvar=False) for x in (one, other)]
    root = np.real(linalg.sqrtm(covariances[0] @ covariances[1]))
    expected = ((one.mean(0) - other.mean(0)) ** 2).sum() + np.trace(sum(covariances) - 2 * root)
    assert float(quality.frechet(jnp.asarray(one), jnp.asarray(other))) == pytest.approx(expected, rel=1e-3)
    assert float(quality.frechet(jnp.asarray(one), jnp.asarray(one))) == pytest.approx(0, abs=1e-3)


def test_quality_tells_real_images_from_noise_and_from_a_single_class() -> None:
    train, test = images(0, 3000), images(1, 500)
    judging = quality.reference(None, drawing(test["x"]), train)
    chances, _ = judge.look(judging, test["x"] / 127.5 - 1)
    assert (chances.argmax(1) == test["y"]).mean() > 0.95
    noise = np.random.default_rng(2).integers(0, 256, test["x"].shape)
    shown = {"real": images(3, 500)["x"], "noise": jnp.asarray(noise), "one class": images(4, 500, classes=1)["x"]}
    found = {
        name: quality.metric(jax.random.key(0), drawing(pictures), lambda _: (), test, judging)
        for name, pictures in shown.items()
    }
    assert found["real"]["classes"] == 10
    assert found["one class"]["classes"] == 1
    assert found["real"]["label_entropy"] == pytest.approx(np.log(10), abs=0.05)
    assert found["one class"]["label_entropy"] < 0.1
    seen, _ = judge.look(judging, shown["real"] / 127.5 - 1)
    assert found["real"]["confidence"] == pytest.approx(float(seen.max(1).mean()))
    assert 10 * found["real"]["frechet"] < min(found[name]["frechet"] for name in ("noise", "one class"))


def test_pixels_of_generated_images_stand_at_their_places() -> None:
    model = models.build(Gan(image=(2, 3), latent=2, generator=(3,), discriminator=(3,)))
    pictures = np.arange(25 * 6).reshape(25, 2, 3)

    fixed = model._replace(predict=drawing(jnp.asarray(pictures)).predict)
    values = np.asarray(digits.spread(jax.random.key(0), fixed, lambda _: (), {}))
    places = digits.places(fixed, lambda _: ())
    for value, *at in zip(values, places["image"], places["row"], places["column"], strict=True):
        assert value == pictures[tuple(at)]
