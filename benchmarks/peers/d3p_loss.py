"""Train a small private auto-encoder of MNIST with d3p, and print its test loss: is ours the same?"""

import sys

import d3p.random
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from d3p.svi import DPSVI
from jax.example_libraries import stax
from numpyro.distributions import Bernoulli, Normal
from numpyro.infer import Trace_ELBO
from numpyro.optim import Adam

PIXELS, HIDDEN, LATENT, BATCH, STEPS, SEED = 784, 20, 5, 128, 2000, 0
with np.load(sys.argv[1]) as stored:
    train, test = (stored[f"{part}/x"].reshape(-1, PIXELS) for part in ("train", "test"))
generator = np.random.default_rng(SEED)
encoder = stax.serial(
    stax.Dense(HIDDEN, W_init=stax.randn()),
    stax.Softplus,
    stax.FanOut(2),
    stax.parallel(
        stax.Dense(LATENT, W_init=stax.randn()),
        stax.serial(stax.Dense(LATENT, W_init=stax.randn()), stax.Exp),
    ),
)
decoder = stax.serial(
    stax.Dense(HIDDEN, W_init=stax.randn()), stax.Softplus, stax.Dense(PIXELS, W_init=stax.randn()), stax.Sigmoid
)


def model(images):
    """Codes are normal, pixels are coins."""
    decode = numpyro.module("decoder", decoder, (LATENT,))
    with numpyro.plate("batch", len(train), images.shape[0]):
        z = numpyro.sample("z", Normal(jnp.zeros((LATENT,)), 1.0).to_event(1))
        numpyro.sample("image", Bernoulli(decode(z)).to_event(1), obs=images)


def guide(images):
    """The encoder says where codes lie."""
    mean, std = numpyro.module("encoder", encoder, (PIXELS,))(images)
    with numpyro.plate("batch", len(train), images.shape[0]):
        numpyro.sample("z", Normal(mean, std).to_event(1))


def drawn(images):
    """Pixels are on with their own probability, anew each time."""
    return jnp.asarray((generator.random(images.shape) * 255 < images).astype(np.float32))


svi = DPSVI(model, guide, Adam(1e-3), Trace_ELBO(), clipping_threshold=10.0, dp_scale=1.5)
state = svi.init(d3p.random.PRNGKey(SEED), drawn(train[:BATCH]))
update = jax.jit(svi.update)
for _ in range(STEPS):
    state, _ = update(state, drawn(train[generator.choice(len(train), BATCH, replace=False)]))
print(float(svi.evaluate(state, drawn(test)) / len(train)))
