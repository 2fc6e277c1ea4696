import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.models import vae
from dpinfer.models.names import Start
from dpinfer.tree import size

DENSE, CONVOLUTIONS = vae.Shape(), vae.Shape(layers="convolutions", image=(32, 32, 3))


def test_the_numbers_of_parameters_are_those_of_the_paper() -> None:
    for shape, expected in ((DENSE, 688_884), (CONVOLUTIONS, 640_423)):
        assert size(vae.build(**shape._asdict()).init(jax.random.key(0), {})) == expected


@pytest.mark.parametrize("shape", [DENSE, CONVOLUTIONS], ids=lambda shape: shape.layers)
def test_an_untrained_model_pays_a_coin_toss_for_every_pixel(shape: vae.Shape) -> None:
    model = vae.build(**shape._asdict())
    records = {"x": jnp.full((64, *shape.image), 128, jnp.uint8)}
    parameters = model.init(jax.random.key(0), records)
    batch = {**records, **model.local(jax.random.key(1), 64)}
    losses = -jax.vmap(lambda record: model.log_likelihood(parameters, record))(batch)
    np.testing.assert_allclose(losses.mean(), np.prod(shape.image) * np.log(2), rtol=0.01)


def test_pixels_are_on_with_their_own_probability() -> None:
    level = np.asarray(vae.build().local(jax.random.key(2), 300)["level"]).astype(int)
    for value in (0, 1, 100, 254, 255):
        share, expected = (value > level).mean(), value / 255
        assert abs(share - expected) <= 5 * np.sqrt(expected * (1 - expected) / level.size)


def test_the_loss_is_the_elbo_of_its_definition() -> None:
    model = vae.build(image=(3, 3), latent=2, hidden=4)
    parameters = jax.tree.map(lambda leaf: 30 * leaf, model.init(jax.random.key(0), {}))
    record = {
        "x": jnp.full((3, 3), 255, jnp.uint8),
        "level": jnp.zeros((3, 3), jnp.uint8),
        "code": jnp.array([0.3, -1.0]),
    }

    def affine(name: str, x: np.ndarray) -> np.ndarray:
        return x @ np.asarray(parameters[name]["w"], float) + np.asarray(parameters[name]["b"], float)

    def normal(x: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
        return float(np.sum(-0.5 * ((x - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)))

    features = np.log1p(np.exp(affine("encoder", np.ones(9))))
    mean, std = affine("mean", features), np.exp(affine("log_std", features))
    z = mean + std * np.array([0.3, -1.0])
    logits = affine("logits", np.log1p(np.exp(affine("decoder", z))))
    expected = -np.log1p(np.exp(-logits)).sum() + normal(z, np.zeros(2), np.ones(2)) - normal(z, mean, std)
    np.testing.assert_allclose(model.log_likelihood(parameters, record), expected, rtol=1e-4)


@pytest.mark.parametrize(("start", "expected"), [("small", 0.01), ("glorot", (2 / (784 + 400)) ** 0.5)])
def test_weights_start_small_or_by_their_fans(start: Start, expected: float) -> None:
    first = vae.build(start=start).init(jax.random.key(0), {})
    np.testing.assert_allclose(np.std(first["encoder"]["w"]), expected, rtol=0.02)
    np.testing.assert_allclose(np.std(first["encoder"]["b"]), 0.01, rtol=0.2)
