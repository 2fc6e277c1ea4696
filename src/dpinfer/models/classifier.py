"""Networks that tell classes of images apart (PyVacy, 2019): categorical with softmax(logits(x)).

Dense, with one hidden layer, as in the paper's Appendix A; or the convolutions of its tutorial.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model, no_prior
from dpinfer.models.layers import Apply, Convolution, Dense, Network, largest, torch_init
from dpinfer.models.names import Layers, Pixels
from dpinfer.types import Key, Records, Tree

CHANNELS = (16, 32)
Logits = Callable[[Apply, jax.Array], jax.Array]


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
    by_name, logits = parts_of(layers, image, hidden, classes)
    scaled = SCALES[pixels]

    def losses(apply: Apply, examples: Records) -> jax.Array:
        """The cross entropy of every record."""
        found = logits(apply, scaled(examples["x"]))
        own = jnp.take_along_axis(found, examples["y"][:, None].astype(int), axis=1)[:, 0]
        return jax.nn.logsumexp(found, axis=1) - own

    network = Network(by_name, losses)

    def init(key: Key, records: Records) -> Tree:
        del records
        return torch_init(by_name, key)

    def log_likelihood(parameters: Tree, record: Records) -> jax.Array:
        return -network(parameters, record)

    def predict(key: Key, parameters: Tree, records: Records) -> jax.Array:
        """(n, classes) probabilities."""
        del key
        return jax.nn.softmax(logits(network.apply(parameters), scaled(records["x"])))

    return Model(init, no_prior, log_likelihood, predict, network=network)


def parts_of(layers: Layers, image: tuple[int, ...], hidden: int, classes: int) -> tuple[dict[str, Any], Logits]:
    """The layers by name, and the logits of classes of a batch of scaled images."""
    return _dense(image, hidden, classes) if layers == "dense" else _convolutional(image, classes)


def centred(images: jax.Array) -> jax.Array:
    """Bytes become numbers from -1 to 1."""
    return images.astype(jnp.float32) / 127.5 - 1


def unit(images: jax.Array) -> jax.Array:
    """Bytes become numbers from 0 to 1."""
    return images.astype(jnp.float32) / 255


SCALES = {"centred": centred, "unit": unit}


def features(apply: Apply, images: jax.Array) -> jax.Array:
    """What the hidden layer of the dense network makes of scaled images."""
    return jax.nn.relu(apply("hidden", images.reshape(images.shape[0], -1)))


def _dense(image: tuple[int, ...], hidden: int, classes: int) -> tuple[dict[str, Any], Logits]:
    pixels = math.prod(image)
    layers = {"hidden": Dense(pixels, hidden), "logits": Dense(hidden, classes)}
    return layers, lambda apply, images: apply("logits", features(apply, images))


def _convolutional(image: tuple[int, ...], classes: int) -> tuple[dict[str, Any], Logits]:
    flat = CHANNELS[1] * math.prod(_remaining(side) for side in image)
    layers = {
        "first": Convolution(1, CHANNELS[0], kernel=8, padded=False),
        "second": Convolution(*CHANNELS, kernel=4, padded=False),
        "logits": Dense(flat, classes),
    }

    def logits(apply: Apply, images: jax.Array) -> jax.Array:
        once = largest(jax.nn.relu(apply("first", images[..., None])), 2)
        twice = largest(jax.nn.relu(apply("second", once)), 2)
        return apply("logits", twice.reshape(images.shape[0], -1))

    return layers, logits


def _remaining(side: int) -> int:
    """What two unpadded convolutions of stride 2, each with the largest of windows of 2, leave of a side."""
    for kernel in (8, 4):
        side = (side - kernel) // 2
    return side
