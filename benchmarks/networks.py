"""Networks as their libraries' users write them, with the loss of one example: to try clipping on.

Each builder takes a width and a number of examples, and returns a `Case`. Nothing here knows of privacy.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import optax
from flax import linen, nnx

CLASSES = 10


class Case(NamedTuple):
    """A loss of one example, its parameters, and examples with a leading axis."""

    loss: Callable[[Any, Any], jax.Array]
    parameters: Any
    examples: Any


def cross_entropy(logits: jax.Array, label: jax.Array) -> jax.Array:
    """Of a class by its logits."""
    return optax.softmax_cross_entropy_with_integer_labels(logits, label)


def images(size: int, *shape: int) -> tuple[jax.Array, jax.Array]:
    """Random images with labels."""
    key_image, key_label = jax.random.split(jax.random.key(1))
    return jax.random.normal(key_image, (size, *shape)), jax.random.randint(key_label, (size,), 0, CLASSES)


def tokens(size: int, length: int, vocabulary: int) -> tuple[jax.Array, jax.Array]:
    """Random sequences with labels."""
    key_token, key_label = jax.random.split(jax.random.key(1))
    drawn = jax.random.randint(key_token, (size, length), 0, vocabulary)
    return drawn, jax.random.randint(key_label, (size,), 0, CLASSES)


def of_linen(module: linen.Module, examples: Any) -> Case:
    """A module of Flax that takes a batch, as they do."""
    parameters = module.init(jax.random.key(0), examples[0][:1])

    def loss(parameters: Any, example: Any) -> jax.Array:
        x, label = example
        return cross_entropy(module.apply(parameters, x[None])[0], label)

    return Case(loss, parameters, examples)


class Mlp(linen.Module):
    """Dense layers."""

    width: int

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = x.reshape(x.shape[0], -1)
        for _ in range(2):
            x = linen.relu(linen.Dense(self.width)(x))
        return linen.Dense(CLASSES)(x)


class Cnn(linen.Module):
    """Convolutions and pooling, as in Flax's example on MNIST."""

    width: int

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for channels in (self.width, 2 * self.width):
            x = linen.relu(linen.Conv(channels, (3, 3))(x))
            x = linen.avg_pool(x, (2, 2), (2, 2))
        x = linen.relu(linen.Dense(8 * self.width)(x.reshape(x.shape[0], -1)))
        return linen.Dense(CLASSES)(x)


class ResNet(linen.Module):
    """Residual blocks with group normalisation."""

    width: int

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = linen.Conv(self.width, (3, 3))(x)
        for channels, stride in ((self.width, 1), (2 * self.width, 2), (4 * self.width, 2)):
            y = linen.relu(linen.GroupNorm(4)(linen.Conv(channels, (3, 3), (stride, stride))(x)))
            y = linen.GroupNorm(4)(linen.Conv(channels, (3, 3))(y))
            x = linen.relu(y + linen.Conv(channels, (1, 1), (stride, stride))(x))
        return linen.Dense(CLASSES)(x.mean((1, 2)))


class Transformer(linen.Module):
    """A token embedding, two blocks of attention with layer normalisation, and a mean over positions."""

    width: int

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        place = self.param("place", linen.initializers.normal(0.02), (x.shape[1], self.width))
        h = linen.Embed(1000, self.width)(x) + place
        for _ in range(2):
            own = linen.LayerNorm()(h)
            h = h + linen.MultiHeadDotProductAttention(num_heads=4)(own, own)
            own = linen.gelu(linen.Dense(4 * self.width)(linen.LayerNorm()(h)))
            h = h + linen.Dense(self.width)(own)
        return linen.Dense(CLASSES)(linen.LayerNorm()(h).mean(1))


class Lstm(linen.Module):
    """A recurrent network over embedded tokens."""

    width: int

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        h = linen.Embed(1000, self.width)(x)
        return linen.Dense(CLASSES)(linen.RNN(linen.OptimizedLSTMCell(self.width))(h)[:, -1])


class Bag(linen.Module):
    """An average of embedded tokens."""

    width: int

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        return linen.Dense(CLASSES)(linen.relu(linen.Embed(1000, self.width)(x)).mean(1))


def linen_mlp(width: int, size: int) -> Case:
    """See `Mlp`."""
    return of_linen(Mlp(width), images(size, 28, 28))


def linen_cnn(width: int, size: int) -> Case:
    """See `Cnn`."""
    return of_linen(Cnn(width), images(size, 28, 28, 1))


def linen_resnet(width: int, size: int) -> Case:
    """See `ResNet`."""
    return of_linen(ResNet(width), images(size, 16, 16, 3))


def linen_transformer(width: int, size: int) -> Case:
    """See `Transformer`."""
    return of_linen(Transformer(width), tokens(size, 32, 1000))


def linen_lstm(width: int, size: int) -> Case:
    """See `Lstm`."""
    return of_linen(Lstm(width), tokens(size, 12, 1000))


def linen_bag(width: int, size: int) -> Case:
    """See `Bag`."""
    return of_linen(Bag(width), tokens(size, 12, 1000))


def nnx_mlp(width: int, size: int) -> Case:
    """Flax's newer modules, split into their structure and their parameters."""

    class Network(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.first, self.last = nnx.Linear(784, width, rngs=rngs), nnx.Linear(width, CLASSES, rngs=rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.last(nnx.relu(self.first(x)))

    structure, parameters = nnx.split(Network(nnx.Rngs(0)))

    def loss(parameters: Any, example: Any) -> jax.Array:
        x, label = example
        return cross_entropy(nnx.merge(structure, parameters)(x.ravel()), label)

    return Case(loss, parameters, images(size, 28, 28))


def equinox_mlp(width: int, size: int) -> Case:
    """A module of Equinox, parted into its parameters and the rest."""
    network = eqx.nn.MLP(784, CLASSES, width, 2, key=jax.random.key(0))
    parameters, rest = eqx.partition(network, eqx.is_inexact_array)

    def loss(parameters: Any, example: Any) -> jax.Array:
        x, label = example
        return cross_entropy(eqx.combine(parameters, rest)(x.ravel()), label)

    return Case(loss, parameters, images(size, 28, 28))


def haiku_mlp(width: int, size: int) -> Case:
    """A transformed function of Haiku."""

    def forward(x: jax.Array) -> jax.Array:
        return hk.nets.MLP([width, width, CLASSES])(x)

    network = hk.without_apply_rng(hk.transform(forward))
    parameters = network.init(jax.random.key(0), jnp.zeros(784))

    def loss(parameters: Any, example: Any) -> jax.Array:
        x, label = example
        return cross_entropy(network.apply(parameters, x.ravel()), label)

    return Case(loss, parameters, images(size, 28, 28))


def mean_field_mlp(width: int, size: int) -> Case:
    """A Bayesian network whose weights are one draw of a mean-field guide, shared by the batch; with its prior."""
    shapes = {"first": (784, width), "last": (width, CLASSES)}
    unit = {name: jax.random.normal(jax.random.key(n), shape) for n, (name, shape) in enumerate(shapes.items())}
    parameters = {
        name: {"loc": 0.05 * own, "scale": jnp.full(own.shape, -3.0)} for name, own in unit.items()
    }  # fmt: skip

    def loss(parameters: Any, example: Any) -> jax.Array:
        x, label = example
        scales = {name: jax.nn.softplus(own["scale"]) for name, own in parameters.items()}
        drawn = {name: own["loc"] + scales[name] * unit[name] for name, own in parameters.items()}
        prior = sum(jnp.square(own).sum() / 2 for own in drawn.values())
        entropy = sum(jnp.log(own).sum() for own in scales.values())
        logits = jax.nn.relu(x.ravel() @ drawn["first"]) @ drawn["last"]
        return cross_entropy(logits, label) + (prior - entropy) / 60_000

    return Case(loss, parameters, images(size, 28, 28))


CASES = {
    "flax MLP": linen_mlp,
    "flax nnx MLP": nnx_mlp,
    "equinox MLP": equinox_mlp,
    "haiku MLP": haiku_mlp,
    "flax CNN": linen_cnn,
    "flax ResNet, group norm": linen_resnet,
    "flax transformer": linen_transformer,
    "flax LSTM": linen_lstm,
    "flax embedding bag": linen_bag,
    "mean-field MLP, shared draw": mean_field_mlp,
}
