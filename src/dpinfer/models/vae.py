"""Variational auto-encoders of images (d3p, PoPETs 2022, Section 5): z ~ N(0, I), x ~ Bernoulli(decoder(z)).

Pixels are probabilities: whenever a record is seen, its image is drawn anew, each pixel on with its own
probability. The loss of a record is the negative ELBO by one draw of z from the encoder's N(mean, std^2).
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.nn import softplus
from jax.scipy.stats import norm

from dpinfer.models.base import Model, no_outcome, no_prior
from dpinfer.models.layers import Apply, Convolution, Dense, Network, Transposed
from dpinfer.models.names import Layers, Start
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree

START_STD = 0.01
SIDE = 4
"""Height and width of what the convolutions leave of a 32 x 32 image."""


class Shape(NamedTuple):
    """The sizes of an auto-encoder.

    Attributes:
        layers: What it is made of.
        image: Height, width and, for convolutions, channels of an image.
        latent: Numbers in the code of an image.
        hidden: Width of the hidden layers, where they are dense.
        channels: Channels after each convolution.
    """

    layers: Layers = "dense"
    image: tuple[int, ...] = (28, 28)
    latent: int = 50
    hidden: int = 400
    channels: tuple[int, ...] = (32, 64, 128)


def build(
    *,
    layers: Layers = "dense",
    image: tuple[int, ...] = (28, 28),
    latent: int = 50,
    hidden: int = 400,
    channels: tuple[int, ...] = (32, 64, 128),
    start: Start = "small",
) -> Model:
    """Build the model for records with `x`, bytes of shape (height, width) or (height, width, channels).

    All but `start`, the size of the first weights, are explained in `Shape`.
    """
    shape = Shape(layers, image, latent, hidden, channels)
    network = network_of(shape)

    def init(key: Key, records: Records) -> Tree:
        del records
        return start_of(shape, start, key)

    def local(key: Key, count: int) -> dict[str, jax.Array]:
        key_code, key_pixel = jax.random.split(key)
        code = normal_like(key_code, jax.ShapeDtypeStruct((count, latent), jnp.float32))
        # Bytes compare with bytes: a pixel of value v is on with probability v / 255.
        level = jax.random.randint(key_pixel, (count, *image), 0, 255, jnp.uint8)
        return {"code": code, "level": level}

    def log_likelihood(parameters: Tree, record: Records) -> jax.Array:
        return -network(parameters, record)

    return Model(init, no_prior, log_likelihood, no_outcome, local, network)


def start_of(shape: Shape, start: Start, key: Key) -> dict[str, dict[str, jax.Array]]:
    """The parameters that training starts from."""
    small = network_of(shape).init(key, START_STD)
    if start == "small":
        return small

    def glorot(leaf: jax.Array) -> jax.Array:
        return leaf if leaf.ndim == 1 else leaf * (math.sqrt(2 / sum(leaf.shape)) / START_STD)

    return jax.tree.map(glorot, small)


class Parts(NamedTuple):
    """What an auto-encoder is made of.

    Attributes:
        encoder: Layers of the encoder by name.
        decoder: Layers of the decoder by name.
        encode: `(apply, images) -> (mean, log_std)` of their codes.
        decode: `(apply, codes) -> logits` of the pixels.
    """

    encoder: dict[str, Any]
    decoder: dict[str, Any]
    encode: Callable[[Apply, jax.Array], tuple[jax.Array, jax.Array]]
    decode: Callable[[Apply, jax.Array], jax.Array]


def parts_of(shape: Shape) -> Parts:
    """The encoder and the decoder of that shape."""
    return (_dense if shape.layers == "dense" else _convolutional)(shape)


def network_of(shape: Shape) -> Network:
    """The layers, and the loss of every record of a batch with `x`, `code` and `level`."""
    encoder, decoder, encode, decode = parts_of(shape)

    def losses(apply: Apply, examples: Records) -> jax.Array:
        image = (examples["x"] > examples["level"]).astype(jnp.float32)
        mean, log_std = encode(apply, image)
        unit = examples["code"]
        z = mean + jnp.exp(log_std) * unit
        logits = decode(apply, z)
        # -log Bernoulli(x; sigmoid(l)) = softplus(l) - x l.
        reconstruction = _total(softplus(logits) - image * logits)
        log_q = _total(norm.logpdf(unit) - log_std)
        return reconstruction + log_q - _total(norm.logpdf(z))

    return Network({**encoder, **decoder}, losses)


def _dense(shape: Shape) -> Parts:
    pixels, hidden, latent = math.prod(shape.image), shape.hidden, shape.latent
    encoder = {
        "encoder": Dense(pixels, hidden), "mean": Dense(hidden, latent), "log_std": Dense(hidden, latent),
    }  # fmt: skip
    decoder = {"decoder": Dense(latent, hidden), "logits": Dense(hidden, pixels)}

    def encode(apply: Apply, image: jax.Array) -> tuple[jax.Array, jax.Array]:
        features = softplus(apply("encoder", image.reshape(image.shape[0], -1)))
        return apply("mean", features), apply("log_std", features)

    def decode(apply: Apply, z: jax.Array) -> jax.Array:
        logits = apply("logits", softplus(apply("decoder", z)))
        return logits.reshape(-1, *shape.image)

    return Parts(encoder, decoder, encode, decode)


def _convolutional(shape: Shape) -> Parts:
    channels = (shape.image[2], *shape.channels)
    flat, latent = SIDE**2 * channels[-1], shape.latent
    down = {f"down{n}": Convolution(*pair) for n, pair in enumerate(pairwise(channels))}
    up = {f"up{n}": Transposed(*pair) for n, pair in enumerate(pairwise(channels[::-1]))}
    heads = {"mean": Dense(flat, latent), "log_std": Dense(flat, latent)}

    def encode(apply: Apply, image: jax.Array) -> tuple[jax.Array, jax.Array]:
        features = image
        for name in down:
            features = softplus(apply(name, features))
        features = features.reshape(image.shape[0], -1)
        return apply("mean", features), apply("log_std", features)

    def decode(apply: Apply, z: jax.Array) -> jax.Array:
        features = apply("decoder", z).reshape(-1, SIDE, SIDE, channels[-1])
        for name in up:
            features = apply(name, softplus(features))
        return features

    return Parts({**down, **heads}, {"decoder": Dense(latent, flat), **up}, encode, decode)


def _total(values: jax.Array) -> jax.Array:
    """Sum over everything but the batch."""
    return values.reshape(values.shape[0], -1).sum(1)
