"""Variational auto-encoders of images (d3p, PoPETs 2022, Section 5): z ~ N(0, I), x ~ Bernoulli(decoder(z)).

Pixels are probabilities: whenever a record is seen, its image is drawn anew, each pixel on with its own
probability. The loss of a record is the negative ELBO by one draw of z from the encoder's N(mean, std^2).
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn import softplus
from jax.scipy.stats import norm

from dpinfer.models.base import Model, no_outcome, no_prior
from dpinfer.models.layers import (
    Shapes,
    convolution,
    convolution_shapes,
    dense,
    dense_shapes,
    normal_start,
    transposed,
    transposed_shapes,
)
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
    parts = parts_of(shape)

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
        """A bound on it, by the record's own draw of its code."""
        image, unit = (record["x"] > record["level"]).astype(jnp.float32), record["code"]
        mean, log_std = parts.encode(parameters, image)
        z = mean + jnp.exp(log_std) * unit
        logits = parts.decode(parameters, z)
        # log Bernoulli(x; sigmoid(l)) = x l - softplus(l).
        reconstruction = (image * logits - softplus(logits)).sum()
        return reconstruction + norm.logpdf(z).sum() - (norm.logpdf(unit) - log_std).sum()

    return Model(init, no_prior, log_likelihood, no_outcome, local)


def start_of(shape: Shape, start: Start, key: Key) -> dict[str, dict[str, jax.Array]]:
    """The parameters that training starts from."""
    parts = parts_of(shape)
    small = normal_start({**parts.encoder, **parts.decoder}, key, START_STD)
    if start == "small":
        return small

    def glorot(leaf: jax.Array) -> jax.Array:
        return leaf if leaf.ndim == 1 else leaf * (math.sqrt(2 / sum(leaf.shape)) / START_STD)

    return jax.tree.map(glorot, small)


class Parts(NamedTuple):
    """What an auto-encoder is made of.

    Attributes:
        encoder: Shapes of the encoder's parameters.
        decoder: Shapes of the decoder's parameters.
        encode: `(parameters, image) -> (mean, log_std)` of its code.
        decode: `(parameters, code) -> logits` of the pixels.
    """

    encoder: dict[str, Shapes]
    decoder: dict[str, Shapes]
    encode: Callable[[Tree, jax.Array], tuple[jax.Array, jax.Array]]
    decode: Callable[[Tree, jax.Array], jax.Array]


def parts_of(shape: Shape) -> Parts:
    """The encoder and the decoder of that shape."""
    return (_dense if shape.layers == "dense" else _convolutional)(shape)


def _dense(shape: Shape) -> Parts:
    pixels, hidden, latent = math.prod(shape.image), shape.hidden, shape.latent
    encoder = {
        "encoder": dense_shapes(pixels, hidden), "mean": dense_shapes(hidden, latent),
        "log_std": dense_shapes(hidden, latent),
    }  # fmt: skip
    decoder = {"decoder": dense_shapes(latent, hidden), "logits": dense_shapes(hidden, pixels)}

    def encode(parameters: Tree, image: jax.Array) -> tuple[jax.Array, jax.Array]:
        features = softplus(dense(parameters["encoder"], image.ravel()))
        return dense(parameters["mean"], features), dense(parameters["log_std"], features)

    def decode(parameters: Tree, z: jax.Array) -> jax.Array:
        logits = dense(parameters["logits"], softplus(dense(parameters["decoder"], z)))
        return logits.reshape(shape.image)

    return Parts(encoder, decoder, encode, decode)


def _convolutional(shape: Shape) -> Parts:
    channels = (shape.image[2], *shape.channels)
    flat, latent = SIDE**2 * channels[-1], shape.latent
    down = {f"down{n}": convolution_shapes(*pair) for n, pair in enumerate(pairwise(channels))}
    up = {f"up{n}": transposed_shapes(*pair) for n, pair in enumerate(pairwise(channels[::-1]))}
    heads = {"mean": dense_shapes(flat, latent), "log_std": dense_shapes(flat, latent)}

    def encode(parameters: Tree, image: jax.Array) -> tuple[jax.Array, jax.Array]:
        features = image
        for name in down:
            features = softplus(convolution(parameters[name], features))
        features = features.ravel()
        return dense(parameters["mean"], features), dense(parameters["log_std"], features)

    def decode(parameters: Tree, z: jax.Array) -> jax.Array:
        features = dense(parameters["decoder"], z).reshape(SIDE, SIDE, channels[-1])
        for name in up:
            features = transposed(parameters[name], softplus(features))
        return features

    return Parts({**down, **heads}, {"decoder": dense_shapes(latent, flat), **up}, encode, decode)
