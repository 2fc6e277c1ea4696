"""Networks that tell classes of images apart (PyVacy, 2019): categorical with softmax(logits(x)).

Dense, with one hidden layer, as in the paper's Appendix A; or the convolutions of its tutorial.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model, no_prior
from dpinfer.models.layers import (
    Shapes,
    convolution,
    convolution_shapes,
    dense,
    dense_shapes,
    largest,
    torch_start,
)
from dpinfer.models.names import Layers, Pixels
from dpinfer.types import Key, Records, Tree

CHANNELS = (16, 32)
Logits = Callable[[Tree, jax.Array], jax.Array]


def build(
    *,
    layers: Layers = "dense",
    image: tuple[int, ...] = (28, 28),
    pixels: Pixels = "centred",
    hidden: int = 1000,
    classes: int = 10,
) -> Model:
    """Build the model for records with `x`, bytes of an image, and `y`, its class.

    Args:
        layers: What it is made of.
        image: Height and width of an image.
        pixels: What bytes become; see `Pixels`.
        hidden: Width of the hidden layer, where it is dense.
        classes: Number of classes.
    """
    shapes, logits = parts_of(layers, image, hidden, classes)
    scaled = SCALES[pixels]

    def init(key: Key, records: Records) -> Tree:
        del records
        return torch_start(shapes, key)

    def log_likelihood(parameters: Tree, record: Records) -> jax.Array:
        """The negative cross entropy."""
        found = logits(parameters, scaled(record["x"]))
        return found[record["y"].astype(int)] - jax.nn.logsumexp(found)

    def predict(key: Key, parameters: Tree, records: Records) -> jax.Array:
        """(n, classes) probabilities."""
        del key
        return jax.nn.softmax(jax.vmap(partial(logits, parameters))(scaled(records["x"])))

    return Model(init, no_prior, log_likelihood, predict)


def parts_of(
    layers: Layers, image: tuple[int, ...], hidden: int, classes: int
) -> tuple[dict[str, Shapes], Logits]:
    """Shapes of the parameters, and the logits of the classes of a scaled image."""
    return _dense(image, hidden, classes) if layers == "dense" else _convolutional(image, classes)


def centred(images: jax.Array) -> jax.Array:
    """Bytes become numbers from -1 to 1."""
    return images.astype(jnp.float32) / 127.5 - 1


def unit(images: jax.Array) -> jax.Array:
    """Bytes become numbers from 0 to 1."""
    return images.astype(jnp.float32) / 255


SCALES = {"centred": centred, "unit": unit}


def features(parameters: Tree, image: jax.Array) -> jax.Array:
    """What the hidden layer of the dense network makes of a scaled image."""
    return jax.nn.relu(dense(parameters["hidden"], image.ravel()))


def _dense(image: tuple[int, ...], hidden: int, classes: int) -> tuple[dict[str, Shapes], Logits]:
    pixels = math.prod(image)
    shapes = {"hidden": dense_shapes(pixels, hidden), "logits": dense_shapes(hidden, classes)}
    return shapes, lambda parameters, own: dense(parameters["logits"], features(parameters, own))


def _convolutional(image: tuple[int, ...], classes: int) -> tuple[dict[str, Shapes], Logits]:
    flat = CHANNELS[1] * math.prod(_remaining(side) for side in image)
    shapes = {
        "first": convolution_shapes(1, CHANNELS[0], kernel=8),
        "second": convolution_shapes(*CHANNELS, kernel=4),
        "logits": dense_shapes(flat, classes),
    }

    def logits(parameters: Tree, own: jax.Array) -> jax.Array:
        once = convolution(parameters["first"], own[..., None], kernel=8, padded=False)
        twice = convolution(parameters["second"], largest(jax.nn.relu(once), 2), kernel=4, padded=False)
        return dense(parameters["logits"], largest(jax.nn.relu(twice), 2).ravel())

    return shapes, logits


def _remaining(side: int) -> int:
    """What two unpadded convolutions of stride 2, each with the largest of windows of 2, leave of a side."""
    for kernel in (8, 4):
        side = (side - kernel) // 2
    return side
