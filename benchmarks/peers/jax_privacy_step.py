"""jax-privacy: clipped gradients in micro-batches of the size given, its Gaussian noise, Adam of optax."""

import sys

import jax
import jax.numpy as jnp
import jax_privacy
import optax
import protocol
from jax_privacy import noise_addition

micro_batch = int(sys.argv[1]) or None


def affine(key, inputs, outputs):
    """Start of a dense layer."""
    return {"w": 0.01 * jax.random.normal(key, (inputs, outputs)), "b": jnp.zeros(outputs)}


keys = jax.random.split(jax.random.key(0), 5)
parameters = {
    "encoder": affine(keys[0], protocol.PIXELS, protocol.HIDDEN),
    "mean": affine(keys[1], protocol.HIDDEN, protocol.LATENT),
    "log_std": affine(keys[2], protocol.HIDDEN, protocol.LATENT),
    "decoder": affine(keys[3], protocol.LATENT, protocol.HIDDEN),
    "logits": affine(keys[4], protocol.HIDDEN, protocol.PIXELS),
}


def loss(parameters, image, unit):
    """Negative ELBO of one image."""

    def dense(name, x):
        return x @ parameters[name]["w"] + parameters[name]["b"]

    features = jax.nn.softplus(dense("encoder", image))
    mean, log_std = dense("mean", features), dense("log_std", features)
    z = mean + jnp.exp(log_std) * unit
    logits = dense("logits", jax.nn.softplus(dense("decoder", z)))
    reconstruction = (jax.nn.softplus(logits) - image * logits).sum()
    return reconstruction + 0.5 * (jnp.square(z) - jnp.square(unit)).sum() - log_std.sum()


gradient = jax_privacy.clipped_grad(
    loss,
    l2_clip_norm=protocol.CLIP,
    normalize_by=protocol.BATCH,
    batch_argnums=(1, 2),
    keep_batch_dim=False,
    microbatch_size=micro_batch,
)
stddev = protocol.NOISE_MULTIPLIER * gradient.sensitivity()
privatizer = noise_addition.gaussian_privatizer(stddev=stddev, prng_key=jax.random.key(1))
optimiser = optax.adam(protocol.LEARNING_RATE)
images = jax.random.bernoulli(jax.random.key(2), 0.3, (protocol.BATCH, protocol.PIXELS)).astype(jnp.float32)


@jax.jit
def step(state, key):
    """One private step."""
    parameters, memory, noise_state = state
    units = jax.random.normal(key, (protocol.BATCH, protocol.LATENT))
    clipped = gradient(parameters, images, units)
    noisy, noise_state = privatizer.update(clipped, noise_state)
    change, memory = optimiser.update(noisy, memory, parameters)
    return optax.apply_updates(parameters, change), memory, noise_state


state = (parameters, optimiser.init(parameters), privatizer.init(parameters))
count = 0


def run(steps):
    """Take steps one call after the other."""
    global state, count
    for _ in range(steps):
        count += 1
        state = step(state, jax.random.fold_in(jax.random.key(3), count))
    jax.block_until_ready(state)


protocol.serve(run, sum(leaf.size for leaf in jax.tree.leaves(parameters)))
