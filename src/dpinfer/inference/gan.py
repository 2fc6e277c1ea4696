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
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.models.gan import Moments, generator_of, score
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.named import sampler_of
from dpinfer.settings.cell import Gan
from dpinfer.settings.model import Gan as GanModel
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


def build(settings: Gan, model: Model, mechanism: Mechanism, num_records: int) -> Algorithm:
    """Build the game with the sampler and the optimiser of the settings, the same for both players."""
    assert isinstance(settings.model, GanModel)
    assert model.network is not None
    latent, critic, generator = settings.model.latent, model.network, generator_of(settings.model)
    sampler = sampler_of(settings.sampler, num_records, settings.expected_batch, settings.num_steps)
    optimiser = OPTIMISERS[settings.optimiser](settings.learning_rate)

    def init(key: Key, records: Records) -> State:
        key_generator, key_critic = jax.random.split(key)
        parameters, moments = generator.init(key_generator)
        judging = model.init(key_critic, records)
        generating = Player(parameters, optimiser.init(parameters))
        return State(generating, Player(judging, optimiser.init(judging)), moments)

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_codes, key_noise = jax.random.split(key, 3)
        batch = sampler.draw(key_batch)
        codes = normal_like(key_codes, jax.ShapeDtypeStruct((settings.expected_batch, latent), jnp.float32))
        return Randomness(batch, codes, mechanism.random(key_noise, state.discriminator.parameters))

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        # As many images as a batch has records on average, not as this one has: that number is not public.
        def fooled(parameters: Tree) -> tuple[jax.Array, tuple[jax.Array, Moments]]:
            images, moments = generator.train(parameters, state.moments, drawn.codes)
            logits = score(critic.apply(state.discriminator.parameters), list(critic.layers), images)
            return jax.nn.softplus(-logits).mean(), (images, moments)

        gradient, (images, moments) = jax.grad(fooled, has_aux=True)(state.generator.parameters)
        # A larger batch has several records beside the same image.
        beside = jnp.arange(drawn.batch.mask.shape[0]) % settings.expected_batch
        examples = {**take(records, drawn.batch), "fake": jax.lax.stop_gradient(images)[beside]}
        released = mechanism.release(
            drawn.noise, critic, state.discriminator.parameters, examples, drawn.batch.mask
        )
        mean = jax.tree.map(lambda leaf: leaf / sampler.expected, released)
        return State(moved(state.generator, gradient), moved(state.discriminator, mean), moments), ()

    def moved(player: Player, gradient: Tree) -> Player:
        change, memory = optimiser.update(gradient, player.optimiser, player.parameters)
        return Player(optax.apply_updates(player.parameters, change), memory)

    def draw(key: Key, state: State) -> Tree:
        del key  # there is but one value
        return {"generator": state.generator.parameters, "moments": state.moments}

    def event(num_steps: int) -> Event:
        return Repeat(event=sampler.event(mechanism.event), count=num_steps)

    return Algorithm(init, random, update, draw, event)
