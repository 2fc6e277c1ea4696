"""A classifier of images, trained without privacy, by which generated ones are judged."""

import jax
import jax.numpy as jnp
import optax

from dpinfer.models import classifier
from dpinfer.models.layers import Network
from dpinfer.settings.model import Classifier
from dpinfer.types import Records, Tree

HIDDEN, EPOCHS, BATCH, LEARNING_RATE = 128, 5, 256, 1e-3


def train(records: Records) -> Tree:
    """Parameters of a dense classifier after some epochs of Adam; the same for the same records."""
    model = classifier.build(Classifier(image=records["x"].shape[1:], hidden=HIDDEN))
    assert isinstance(model.network, Network)
    losses, layers = model.network.losses, model.network
    key_start, key_batches = jax.random.split(jax.random.key(0))
    parameters = model.init(key_start, records)
    optimiser = optax.adam(LEARNING_RATE)
    batch = min(BATCH, records["x"].shape[0])
    steps = max(1, EPOCHS * records["x"].shape[0] // batch)

    @jax.jit
    def run(parameters: Tree, records: Records) -> Tree:
        def one(carried: tuple[Tree, optax.OptState], key: jax.Array) -> tuple[tuple[Tree, optax.OptState], None]:
            at, memory = carried
            rows = jax.random.randint(key, (batch,), 0, records["x"].shape[0])
            examples = {name: values[rows] for name, values in records.items()}
            gradient = jax.grad(lambda own: losses(layers.apply(own), examples).mean())(at)
            change, memory = optimiser.update(gradient, memory)
            return (optax.apply_updates(at, change), memory), None

        keys = jax.random.split(key_batches, steps)
        return jax.lax.scan(one, (parameters, optimiser.init(parameters)), keys)[0][0]

    return run(parameters, {name: jnp.asarray(values) for name, values in records.items()})


def look(parameters: Tree, images: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Probabilities of the classes, and the hidden features, of images scaled to [-1, 1]."""
    layers, logits = classifier.parts_of(Classifier(image=images.shape[1:], hidden=HIDDEN))

    def apply(name: str, x: jax.Array) -> jax.Array:
        return layers[name](parameters[name], x)

    return jax.nn.softmax(logits(apply, images)), classifier.features(apply, images)
