"""A generative adversarial network, whose discriminator learns privately (PyVacy, 2019, Section 5.2).

In every step the generator moves first, by what the discriminator says of its images; then the discriminator, by
the released gradient on pairs of records and those images. Records reach the generator through the discriminator's
parameters alone, so that what it makes of them costs nothing more.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.inference.names import OptimiserName
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.models.gan import Moments, generator_of, score
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.by_name import sampler_of
from dpinfer.sampling.names import SamplerName
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree


class Player(NamedTuple):
    """Parameters of a network, and its optimiser's memory."""

    parameters: Tree
    optimiser: Any


class State(NamedTuple):
    """Both players, and the moments of the generator's layers."""

    generator: Player
    discriminator: Player
    moments: Moments


class Randomness(NamedTuple):
    """All that is random about a step: its batch, the codes of the generated images, the noise."""

    batch: Batch
    codes: jax.Array
    noise: Tree


def build(
    model: Model,
    mechanism: Mechanism,
    num_records: int,
    *,
    image: tuple[int, ...],
    latent: int,
    generator: tuple[int, ...],
    expected_batch: int,
    num_steps: int,
    sampler: SamplerName = "poisson",
    optimiser: OptimiserName = "adam",
    learning_rate: float = 1e-3,
) -> Algorithm:
    """Build the game, with the same optimiser for both players.

    Args:
        model: The discriminator, of `dpinfer.models.gan`.
        mechanism: Releases sums of gradients.
        num_records: Number of all records, which is public.
        image: Height and width of an image, as in the model.
        latent: Numbers in the code of an image, as in the model.
        generator: Widths of the generator's hidden layers, as in the model.
        expected_batch: Expected number of records in a batch.
        num_steps: Steps of a run.
        sampler: How batches are drawn.
        optimiser: One of `OPTIMISERS`.
        learning_rate: Its step size.
    """
    generating = generator_of(image, latent, generator)
    batches = sampler_of(sampler, num_records, expected_batch, num_steps)
    descent = OPTIMISERS[optimiser](learning_rate)

    def init(key: Key, records: Records) -> State:
        key_generator, key_critic = jax.random.split(key)
        parameters, moments = generating.init(key_generator)
        judging = model.init(key_critic, records)
        player = Player(parameters, descent.init(parameters))
        return State(player, Player(judging, descent.init(judging)), moments)

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_codes, key_noise = jax.random.split(key, 3)
        batch = batches.draw(key_batch)
        codes = normal_like(key_codes, jax.ShapeDtypeStruct((expected_batch, latent), jnp.float32))
        return Randomness(batch, codes, mechanism.random(key_noise, state.discriminator.parameters))

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        # As many images as a batch has records on average, not as this one has: that number is not public.
        def fooled(parameters: Tree) -> tuple[jax.Array, tuple[jax.Array, Moments]]:
            images, moments = generating.train(parameters, state.moments, drawn.codes)
            logits = score(state.discriminator.parameters, images)
            return jax.nn.softplus(-logits).mean(), (images, moments)

        gradient, (images, moments) = jax.grad(fooled, has_aux=True)(state.generator.parameters)
        # A larger batch has several records beside the same image.
        beside = jnp.arange(drawn.batch.mask.shape[0]) % expected_batch
        examples = {**take(records, drawn.batch), "fake": jax.lax.stop_gradient(images)[beside]}
        released = mechanism.release(
            drawn.noise, judged, state.discriminator.parameters, examples, drawn.batch.mask
        )
        mean = jax.tree.map(lambda leaf: leaf / batches.expected, released)
        return State(moved(state.generator, gradient), moved(state.discriminator, mean), moments), ()

    def judged(parameters: Tree, pair: Records) -> jax.Array:
        return -model.log_likelihood(parameters, pair)

    def moved(player: Player, gradient: Tree) -> Player:
        change, memory = descent.update(gradient, player.optimiser, player.parameters)
        return Player(optax.apply_updates(player.parameters, change), memory)

    def draw(key: Key, state: State) -> Tree:
        del key  # there is but one value
        return {"generator": state.generator.parameters, "moments": state.moments}

    def event(num_steps: int) -> Event:
        return Repeat(event=batches.event(mechanism.event), count=num_steps)

    return Algorithm(init, random, update, draw, event)
