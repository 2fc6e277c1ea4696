import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from dpinfer.models import classifier
from dpinfer.models.names import Layers
from dpinfer.tree import size

SIDES: dict[Layers, tuple[int, int]] = {"dense": (3, 3), "convolutions": (28, 28)}


@pytest.mark.parametrize(("layers", "expected"), [("dense", 795_010), ("convolutions", 12_154)])
def test_the_number_of_parameters_is_that_of_the_paper(layers: Layers, expected: int) -> None:
    assert size(classifier.build(layers=layers).init(jax.random.key(0), {})) == expected


@pytest.mark.parametrize("layers", SIDES)
def test_the_loss_is_the_cross_entropy_of_what_it_predicts(layers: Layers) -> None:
    model = classifier.build(layers=layers, image=SIDES[layers], hidden=4)
    x = jax.random.randint(jax.random.key(1), (20, *SIDES[layers]), 0, 256, jnp.uint8)
    records = {"x": x, "y": jnp.arange(20) % 10}
    parameters = model.init(jax.random.key(0), records)
    chances = model.predict(jax.random.key(2), parameters, records)
    losses = -jax.vmap(lambda record: model.log_likelihood(parameters, record))(records)
    np.testing.assert_allclose(losses, -np.log(chances[np.arange(20), records["y"]]), rtol=1e-5)


def test_layers_start_uniformly_by_their_fan_in() -> None:
    start = classifier.build().init(jax.random.key(0), {})
    for leaf in (start["hidden"]["w"], start["hidden"]["b"]):
        assert 0.95 / 28 < np.abs(leaf).max() <= 1 / 28
    np.testing.assert_allclose(np.std(start["logits"]["w"]), 1000**-0.5 / 3**0.5, rtol=0.03)


def test_the_convolutions_are_those_of_the_tutorial() -> None:
    """Against JAX's own convolutions and windows."""
    model = classifier.build(layers="convolutions")
    images = jax.random.randint(jax.random.key(1), (3, 28, 28), 0, 256, jnp.uint8)
    parameters = model.init(jax.random.key(0), {})
    x = images[..., None] / 127.5 - 1
    for name, kernel, channels in (("first", 8, (1, 16)), ("second", 4, (16, 32))):
        weights = parameters[name]["w"].reshape(kernel, kernel, *channels)
        x = lax.conv_general_dilated(x, weights, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + parameters[name]["b"])
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")
    flat = x.reshape(3, 288) @ parameters["logits"]["w"] + parameters["logits"]["b"]
    found = model.predict(jax.random.key(2), parameters, {"x": images})
    np.testing.assert_allclose(found, jax.nn.softmax(flat), rtol=1e-4)
