"""Generative adversarial networks of images (PyVacy, 2019, Appendix B): a generator of images, and its critic.

The discriminator's loss of a record is that of the pair which it forms with a generated image; its gradient is
what is clipped. The generator never sees a record: neither its layers nor its batch normalisation.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.errors import InputError
from dpinfer.models.base import Model, no_prior
from dpinfer.models.classifier import centred
from dpinfer.models.layers import Apply, Dense, Network, size_of, torch_init
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
        layers: The layers by name, in their order.
        normalised: Names and widths of the layers that are followed by batch normalisation.
    """

    layers: dict[str, Dense]
    normalised: dict[str, int]

    def init(self, key: Key) -> tuple[Tree, Moments]:
        """First parameters, as PyTorch starts them, and moments."""
        layers = torch_init(self.layers, key)
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
            x = self.layers[name](parameters["layers"][name], x)
            if name in self.normalised:
                own = parameters["scales"][name]
                x = own["scale"] * normalise(name, x) + own["shift"]
            x = jax.nn.leaky_relu(x, SLOPE)
        return jnp.tanh(self.layers[last](parameters["layers"][last], x))

    @property
    def size(self) -> int:
        """The number of parameters."""
        return size_of(self.layers) + 2 * sum(self.normalised.values())


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
    network, generating = discriminator_of(image, discriminator), generator_of(image, latent, generator)

    def init(key: Key, records: Records) -> Tree:
        del records
        return torch_init(network.layers, key)

    def log_likelihood(parameters: Tree, record: Records) -> jax.Array:
        del parameters, record
        raise InputError("a generative adversarial network has no likelihood")

    def predict(key: Key, parameters: Tree, records: Records) -> jax.Array:
        """(n, height, width) generated images from -1 to 1, as many as there are records."""
        count = next(iter(records.values())).shape[0]
        codes = normal_like(key, jax.ShapeDtypeStruct((count, latent), jnp.float32))
        images = generating.generate(parameters["generator"], parameters["moments"], codes)
        return images.reshape(count, *image)

    return Model(init, no_prior, log_likelihood, predict, network=network)


def generator_of(image: tuple[int, ...], latent: int, hidden: tuple[int, ...]) -> Generator:
    """The generator of images from codes of `latent` numbers, with hidden layers of these widths."""
    widths = (latent, *hidden, math.prod(image))
    layers = {f"layer{n}": Dense(*pair) for n, pair in enumerate(pairwise(widths))}
    # All hidden layers but the first.
    normalised = {f"layer{n}": width for n, width in enumerate(hidden) if n > 0}
    return Generator(layers, normalised)


def discriminator_of(image: tuple[int, ...], hidden: tuple[int, ...]) -> Network:
    """The discriminator, and the loss of every pair of a record's image `x` and a generated one, `fake`."""
    widths = (math.prod(image), *hidden, 1)
    layers = {f"layer{n}": Dense(*pair) for n, pair in enumerate(pairwise(widths))}

    def losses(apply: Apply, examples: Records) -> jax.Array:
        real = centred(examples["x"]).reshape(examples["x"].shape[0], -1)
        both = score(apply, list(layers), jnp.stack([real, examples["fake"]], axis=1))
        # Cross entropy of calling the first real and the second not, by logits.
        return (jax.nn.softplus(-both[:, 0]) + jax.nn.softplus(both[:, 1])) / 2

    return Network(layers, losses)


def score(apply: Apply, names: list[str], images: jax.Array) -> jax.Array:
    """(..., pixels) -> (...) logits of being real."""
    x = images
    for name in names[:-1]:
        x = jax.nn.leaky_relu(apply(name, x), SLOPE)
    return apply(names[-1], x)[..., 0]
