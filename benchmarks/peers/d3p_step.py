"""d3p's DPSVI with its default generator, compiled as in its example of an auto-encoder."""

import d3p.random
import jax
import jax.numpy as jnp
import numpyro
import protocol
from d3p.svi import DPSVI
from jax.example_libraries import stax
from numpyro.distributions import Bernoulli, Normal
from numpyro.infer import Trace_ELBO
from numpyro.optim import Adam

encoder = stax.serial(
    stax.Dense(protocol.HIDDEN, W_init=stax.randn()),
    stax.Softplus,
    stax.FanOut(2),
    stax.parallel(
        stax.Dense(protocol.LATENT, W_init=stax.randn()),
        stax.serial(stax.Dense(protocol.LATENT, W_init=stax.randn()), stax.Exp),
    ),
)
decoder = stax.serial(
    stax.Dense(protocol.HIDDEN, W_init=stax.randn()),
    stax.Softplus,
    stax.Dense(protocol.PIXELS, W_init=stax.randn()),
    stax.Sigmoid,
)


def model(images):
    """Codes are normal, pixels are coins."""
    decode = numpyro.module("decoder", decoder, (protocol.LATENT,))
    with numpyro.plate("batch", protocol.RECORDS, images.shape[0]):
        z = numpyro.sample("z", Normal(jnp.zeros((protocol.LATENT,)), 1.0).to_event(1))
        numpyro.sample("image", Bernoulli(decode(z)).to_event(1), obs=images)


def guide(images):
    """The encoder says where codes lie."""
    encode = numpyro.module("encoder", encoder, (protocol.PIXELS,))
    mean, std = encode(images)
    with numpyro.plate("batch", protocol.RECORDS, images.shape[0]):
        numpyro.sample("z", Normal(mean, std).to_event(1))


svi = DPSVI(
    model,
    guide,
    Adam(protocol.LEARNING_RATE),
    Trace_ELBO(),
    clipping_threshold=protocol.CLIP,
    dp_scale=protocol.NOISE_MULTIPLIER,
)
images = jax.random.bernoulli(jax.random.PRNGKey(0), 0.3, (protocol.BATCH, protocol.PIXELS)).astype(jnp.float32)
state = svi.init(d3p.random.PRNGKey(0), images)
update = jax.jit(svi.update)


def run(steps):
    """Take steps one call after the other."""
    global state
    for _ in range(steps):
        state, _ = update(state, images)
    jax.block_until_ready(state.optim_state)


protocol.serve(run, sum(leaf.size for leaf in jax.tree_util.tree_leaves(svi.get_params(state))))
