"""Networks that tell classes of images apart (PyVacy, 2019, Appendix A): categorical with softmax(logits(x))."""

import math

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model
from dpinfer.models.layers import Apply, Dense, Network
from dpinfer.settings.model import Classifier
from dpinfer.types import Key, Records, Tree


def build(settings: Classifier) -> Model:
    """Build the model for records with `x`, bytes of an image, and `y`, its class."""
    network = network_of(settings)

    def init(key: Key, records: Records) -> Tree:
        del records
        keys = dict(zip(network.layers, jax.random.split(key, len(network.layers)), strict=True))
        return {name: _start(keys[name], layer.shapes()) for name, layer in network.layers.items()}

    def log_likelihood(parameters: Tree, record: Records) -> jax.Array:
        return -network(parameters, record)

    def log_prior(parameters: Tree) -> jax.Array:
        del parameters
        return jnp.zeros(())

    def predict(key: Key, parameters: Tree, records: Records) -> jax.Array:
        """(n, classes) probabilities."""
        del key
        return jax.nn.softmax(_logits(network.apply(parameters), records["x"]))

    return Model(init, log_prior, log_likelihood, predict, network=network)


def network_of(settings: Classifier) -> Network:
    """The layers, and the cross entropy of every record of a batch."""
    pixels = math.prod(settings.image)
    layers = {"hidden": Dense(pixels, settings.hidden), "logits": Dense(settings.hidden, settings.classes)}

    def losses(apply: Apply, examples: Records) -> jax.Array:
        logits = _logits(apply, examples["x"])
        own = jnp.take_along_axis(logits, examples["y"][:, None].astype(int), axis=1)[:, 0]
        return jax.nn.logsumexp(logits, axis=1) - own

    return Network(layers, losses)


def _start(key: Key, shapes: dict[str, tuple[int, ...]]) -> dict[str, jax.Array]:
    """Uniform in +-1 / sqrt(fan_in), as PyTorch starts such layers."""
    most = shapes["w"][0] ** -0.5
    keys = dict(zip(shapes, jax.random.split(key, len(shapes)), strict=True))
    return {part: jax.random.uniform(keys[part], shapes[part], minval=-most, maxval=most) for part in shapes}


def _logits(apply: Apply, images: jax.Array) -> jax.Array:
    # Bytes become numbers from -1 to 1.
    x = images.reshape(images.shape[0], -1).astype(jnp.float32) / 127.5 - 1
    return apply("logits", jax.nn.relu(apply("hidden", x)))
