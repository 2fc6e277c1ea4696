"""Generative adversarial networks of images (PyVacy, 2019, Appendix B): a generator of images, and its critic.

The discriminator's loss of a record is that of the pair which it forms with a generated image; its gradient is
what is clipped. The generator never sees a record: neither its layers nor its batch normalisation.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model, no_prior
from dpinfer.models.classifier import centred
from dpinfer.models.layers import Shapes, dense, dense_shapes, torch_start
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree

SLOPE = 0.2
"""Of what is negative, in every layer."""
STABILISER = 0.8
"""Added to a variance before normalising, which the authors chose so large."""
MOMENTUM = 0.1
"""Weight of a batch in the moments that are kept."""


class Moments(NamedTuple):
    """Running means and variances of what each normalised layer has put out, by the layer's name."""

    means: dict[str, jax.Array]
    variances: dict[str, jax.Array]


class Generator(NamedTuple):
    """Layers that turn codes into images.

    Attributes:
        layers: Shapes of the layers' parameters by name, in their order.
        normalised: Names and widths of the layers that are followed by batch normalisation.
    """

    layers: dict[str, Shapes]
    normalised: dict[str, int]

    def init(self, key: Key) -> tuple[Tree, Moments]:
        """First parameters, as PyTorch starts them, and moments."""
        layers = torch_start(self.layers, key)
        scales = {name: {"scale": jnp.ones(n), "shift": jnp.zeros(n)} for name, n in self.normalised.items()}
        moments = Moments(
            {name: jnp.zeros(n) for name, n in self.normalised.items()},
            {name: jnp.ones(n) for name, n in self.normalised.items()},
        )
        return {"layers": layers, "scales": scales}, moments

    def train(self, parameters: Tree, moments: Moments, codes: jax.Array) -> tuple[jax.Array, Moments]:
        """Images normalised by the moments of this batch, and the moments kept with these added."""
        means, variances = dict(moments.means), dict(moments.variances)
        count = codes.shape[0]

        def normalise(name: str, x: jax.Array) -> jax.Array:
            mean, variance = x.mean(0), x.var(0)
            means[name] = (1 - MOMENTUM) * means[name] + MOMENTUM * mean
            # What is kept is the unbiased variance, as in PyTorch.
            unbiased = variance * count / max(count - 1, 1)
            variances[name] = (1 - MOMENTUM) * variances[name] + MOMENTUM * unbiased
            return (x - mean) / jnp.sqrt(variance + STABILISER)

        images = self._images(parameters, codes, normalise)
        return images, jax.lax.stop_gradient(Moments(means, variances))

    def generate(self, parameters: Tree, moments: Moments, codes: jax.Array) -> jax.Array:
        """Images normalised by the moments kept: each depends on its own code alone."""

        def normalise(name: str, x: jax.Array) -> jax.Array:
            return (x - moments.means[name]) / jnp.sqrt(moments.variances[name] + STABILISER)

        return self._images(parameters, codes, normalise)

    def _images(self, parameters: Tree, codes: jax.Array, normalise: Any) -> jax.Array:
        x = codes
        *hidden, last = self.layers
        for name in hidden:
            x = dense(parameters["layers"][name], x)
            if name in self.normalised:
                own = parameters["scales"][name]
                x = own["scale"] * normalise(name, x) + own["shift"]
            x = jax.nn.leaky_relu(x, SLOPE)
        return jnp.tanh(dense(parameters["layers"][last], x))


def build(
    *,
    image: tuple[int, ...] = (28, 28),
    latent: int = 100,
    generator: tuple[int, ...] = (128, 256, 512, 1024),
    discriminator: tuple[int, ...] = (512, 256),
) -> Model:
    """Build the model for records with `x`, bytes of an image; what is private of it is the discriminator.

    Args:
        image: Height and width of an image.
        latent: Numbers in the code of an image.
        generator: Widths of the generator's hidden layers; all but the first are normalised by batches.
        discriminator: Widths of the discriminator's hidden layers.
    """
    generating = generator_of(image, latent, generator)
    shapes = layers_of((math.prod(image), *discriminator, 1))

    def init(key: Key, records: Records) -> Tree:
        del records
        return torch_start(shapes, key)

    def log_likelihood(parameters: Tree, record: Records) -> jax.Array:
        """Of calling the image `x` of a record real, and `fake`, the generated one beside it, not."""
        real, fake = score(parameters, jnp.stack([centred(record["x"]).ravel(), record["fake"]]))
        return -(jax.nn.softplus(-real) + jax.nn.softplus(fake)) / 2

    def predict(key: Key, parameters: Tree, records: Records) -> jax.Array:
        """(n, height, width) generated images from -1 to 1, as many as there are records."""
        count = next(iter(records.values())).shape[0]
        codes = normal_like(key, jax.ShapeDtypeStruct((count, latent), jnp.float32))
        images = generating.generate(parameters["generator"], parameters["moments"], codes)
        return images.reshape(count, *image)

    return Model(init, no_prior, log_likelihood, predict)


def generator_of(image: tuple[int, ...], latent: int, hidden: tuple[int, ...]) -> Generator:
    """The generator of images from codes of `latent` numbers, with hidden layers of these widths."""
    # All hidden layers but the first.
    normalised = {f"layer{n}": width for n, width in enumerate(hidden) if n > 0}
    return Generator(layers_of((latent, *hidden, math.prod(image))), normalised)


def layers_of(widths: tuple[int, ...]) -> dict[str, Shapes]:
    """Shapes of the parameters of dense layers between these widths."""
    return {f"layer{n}": dense_shapes(*pair) for n, pair in enumerate(pairwise(widths))}


def score(parameters: Tree, images: jax.Array) -> jax.Array:
    """(..., pixels) -> (...) the discriminator's logits of being real."""
    x, last = images, len(parameters) - 1
    for n in range(last):
        x = jax.nn.leaky_relu(dense(parameters[f"layer{n}"], x), SLOPE)
    return dense(parameters[f"layer{last}"], x)[..., 0]
