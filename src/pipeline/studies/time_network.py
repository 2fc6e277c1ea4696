"""What a step of DP-SGD costs on a network, by book-keeping and by other ways, over a step without privacy."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import optax
from numpyro.infer import SVI, Trace_ELBO

from dpinfer.clipping.sums import by_gradients, in_parts
from dpinfer.inference import dpsgd
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.inference.run import keys_for, start
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian, noisy
from dpinfer.models.program import program
from dpinfer.models.vae import Shape
from dpinfer.sampling.fixed_size import subset
from dpinfer.tree import normal_like
from dpinfer.types import Key, Loss, Records, Tree
from dpinfer.unsafe.mechanisms import aggregate, clipped_and_noisy
from pipeline import registry
from pipeline.settings.model import Vae
from pipeline.settings.study import Stepping, TimeNetwork
from pipeline.studies import Row, timing

CLIP, NOISE_MULTIPLIER, LEARNING_RATE = 1.0, 1.5, 1e-3
SLOW = ("vmap", "single")
UPDATES = ("update", "mean_update")
MICRO_BATCH = 128
"""At most so many gradients are in memory at once: 350 MB for the larger network."""


def rows(settings: TimeNetwork) -> Iterator[Row]:
    """Milliseconds for a step in a compiled loop, relative to the step without privacy."""
    records = _records(settings)
    steps: dict[str, int] = {
        name: settings.slow_steps if name in SLOW else settings.steps for name in settings.programs
    }
    programs: dict[str, timing.Program] = {
        name: _program(name, settings, records, steps[name]) for name in settings.programs
    }
    times = timing.seconds(programs, settings.rounds)
    per_step = {name: values / steps[name] * 1e3 for name, values in times.items()}
    return timing.summary(per_step, "exact", "milliseconds")


def _records(settings: TimeNetwork) -> Records:
    """Random images: what is on them costs nothing."""
    key_image, key_class = jax.random.split(jax.random.key(0))
    shape = (settings.records, *settings.network.image)
    return {
        "x": jax.random.randint(key_image, shape, 0, 256, jnp.uint8),
        "y": jax.random.randint(key_class, shape[:1], 0, 10),
    }


def _program(name: Stepping, settings: TimeNetwork, records: Records, length: int) -> timing.Program:
    if name == "numpyro":
        return _numpyro(settings, records, length)
    if name in UPDATES:
        return _update(name, settings, records, length)
    model = registry.model(settings.network)
    algorithm = dpsgd.build(
        model, _mechanism(name, settings), settings.records, num_steps=length, expected_batch=settings.batch,
        sampler="choice" if name == "choice" else "subset", optimiser=settings.optimiser,
        learning_rate=LEARNING_RATE,
    )  # fmt: skip
    started = start(algorithm, keys_for(jax.random.key(1), 1), records)
    return lambda: started.advance(started.states, 0, length)


def _mechanism(name: Stepping, settings: TimeNetwork) -> Mechanism:
    if name == "exact":
        return exact()
    if name == "clipped":
        return clip_only(CLIP)
    if name == "mean":
        return aggregate(CLIP, NOISE_MULTIPLIER, settings.batch, "printed")
    if name in SLOW:
        return _one_by_one(1 if name == "single" else min(MICRO_BATCH, settings.batch))
    return gaussian(CLIP, NOISE_MULTIPLIER)


def _one_by_one(micro_batch: int) -> Mechanism:
    """The Gaussian mechanism on gradients that are held one by one."""
    quick = gaussian(CLIP, NOISE_MULTIPLIER)

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        total = in_parts(by_gradients(loss, parameters, CLIP), examples, mask, micro_batch).total
        return noisy(total, noise, jnp.asarray(quick.noise_std))

    return quick._replace(release=release)


def _update(name: Stepping, settings: TimeNetwork, records: Records, length: int) -> timing.Program:
    """The optimiser's part of a step alone, given a mean gradient."""
    optimiser = OPTIMISERS[settings.optimiser](LEARNING_RATE)
    key = jax.random.key(1)
    parameters = registry.model(settings.network).init(key, records)
    given = normal_like(key, parameters)

    @jax.jit
    def loop(parameters: Tree, given: Tree) -> Tree:
        def one(carried: tuple[Tree, optax.OptState], step: jax.Array) -> tuple[tuple[Tree, optax.OptState], None]:
            at, memory = carried
            gradient = given
            if name == "mean_update":
                noise = normal_like(jax.random.fold_in(key, step), given)
                gradient = clipped_and_noisy(given, noise, CLIP, NOISE_MULTIPLIER * CLIP / settings.batch**0.5)
            change, memory = optimiser.update(gradient, memory, at)
            return (optax.apply_updates(at, change), memory), None

        return jax.lax.scan(one, (parameters, optimiser.init(parameters)), jnp.arange(length))[0][0]

    return lambda: loop(parameters, given)


def _numpyro(settings: TimeNetwork, records: Records, length: int) -> timing.Program:
    """NumPyro's own inference in a compiled loop, with our batches."""
    assert isinstance(settings.network, Vae)
    key = jax.random.key(1)
    network = settings.network
    shape = Shape(network.layers, network.image, network.latent, network.hidden, network.channels)
    model, guide = program(shape, settings.records, key, network.start)
    svi = SVI(model, guide, optax.adam(LEARNING_RATE), Trace_ELBO())
    sampler = subset(settings.records, settings.batch)

    def images(own: Key) -> jax.Array:
        key_batch, key_pixel = jax.random.split(own)
        drawn = records["x"][sampler.draw(key_batch).rows]
        return drawn > jax.random.randint(key_pixel, drawn.shape, 0, 255, jnp.uint8)

    first = svi.init(key, images(key))

    @jax.jit
    def loop() -> object:
        def one(state: object, step: jax.Array) -> tuple[object, None]:
            return svi.update(state, images(jax.random.fold_in(key, step)))[0], None

        return jax.lax.scan(one, first, jnp.arange(length))[0]

    return loop


ROWS = {"time_network": rows}
