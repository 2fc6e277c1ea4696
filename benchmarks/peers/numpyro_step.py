"""NumPyro's SVI, without privacy: the step that all others are compared with."""

import jax
import jax.numpy as jnp
import optax
import protocol
from numpyro.infer import SVI, Trace_ELBO

from dpinfer.models.program import program
from dpinfer.models.vae import Shape, start_of
from dpinfer.tree import size

shape = Shape(image=(protocol.PIXELS,), hidden=protocol.HIDDEN, latent=protocol.LATENT)
key = jax.random.key(0)
model, guide = program(shape, protocol.RECORDS, key)
svi = SVI(model, guide, optax.adam(protocol.LEARNING_RATE), Trace_ELBO())
images = jax.random.bernoulli(key, 0.3, (protocol.BATCH, protocol.PIXELS)).astype(jnp.float32)
update = jax.jit(svi.update)
state = svi.init(key, images)


def run(steps):
    """Take steps one call after the other, as in its own examples."""
    global state
    for _ in range(steps):
        state, _ = update(state, images)
    jax.block_until_ready(state)


protocol.serve(run, size(start_of(shape, "small", jax.random.key(0))))
