"""Metrics of generated images."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import linalg

from dpinfer.models import gan
from dpinfer.models.base import Model, no_prior
from dpinfer.types import Records
from metrics.fits import fitted
from metrics.images import images
from pipeline.metrics.generated_images import digits, frechet, judge, judged, pixels, quality


def drawing(pictures: jax.Array) -> Model:
    """A model that generates these, scaled to [-1, 1]."""

    def predict(key: Any, parameters: Any, records: Records) -> jax.Array:
        del key, parameters
        return (pictures / 127.5 - 1)[: next(iter(records.values())).shape[0]]

    return Model(lambda *_: (), no_prior, lambda *_: jnp.zeros(()), predict)


def test_the_distance_of_samples_is_frechets() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(500, 4)), rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)) + 0.5
    covariances = [np.cov(x, rowvar=False) for x in (one, other)]
    root = np.real(linalg.sqrtm(covariances[0] @ covariances[1]))
    expected = ((one.mean(0) - other.mean(0)) ** 2).sum() + np.trace(sum(covariances) - 2 * root)
    assert float(frechet(jnp.asarray(one), jnp.asarray(other))) == pytest.approx(expected, rel=1e-3)
    assert float(frechet(jnp.asarray(one), jnp.asarray(one))) == pytest.approx(0, abs=1e-3)


def test_quality_tells_real_images_from_noise_and_from_a_single_class() -> None:
    train, test = images(0, 3000), images(1, 500)
    judging = judge(train)
    chances, _ = judged(judging, test["x"] / 127.5 - 1)
    assert (chances.argmax(1) == test["y"]).mean() > 0.95
    noise = np.random.default_rng(2).integers(0, 256, test["x"].shape)
    shown = {"real": images(3, 500)["x"], "noise": jnp.asarray(noise), "one class": images(4, 500, classes=1)["x"]}
    found = {
        name: quality(fitted(drawing(pictures), test=test, reference=judging)) for name, pictures in shown.items()
    }
    assert found["real"]["classes"] == 10
    assert found["one class"]["classes"] == 1
    assert found["real"]["label_entropy"] == pytest.approx(np.log(10), abs=0.05)
    assert found["one class"]["label_entropy"] < 0.1
    seen, _ = judged(judging, shown["real"] / 127.5 - 1)
    assert found["real"]["confidence"] == pytest.approx(float(seen.max(1).mean()))
    assert 10 * found["real"]["frechet"] < min(found[name]["frechet"] for name in ("noise", "one class"))


def test_pixels_of_generated_images_stand_at_their_places() -> None:
    model = gan.build(image=(2, 3), latent=2, generator=(3,), discriminator=(3,))
    pictures = np.arange(25 * 6).reshape(25, 2, 3)

    fixed = model._replace(predict=drawing(jnp.asarray(pictures)).predict)
    values = np.asarray(digits(fitted(fixed)))
    places = pixels(fixed, lambda _: ())
    for value, *at in zip(values, places["image"], places["row"], places["column"], strict=True):
        assert value == pictures[tuple(at)]
