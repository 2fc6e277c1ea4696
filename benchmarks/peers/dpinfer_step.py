"""This project: DP-SGD by book-keeping, or without privacy; drawing and binarising a batch is part of the step."""

import sys

from dpinfer import machine

machine.prepare("cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import protocol  # noqa: E402

from dpinfer.inference import dpsgd  # noqa: E402
from dpinfer.inference.run import keys_for, start  # noqa: E402
from dpinfer.mechanism.exact import exact  # noqa: E402
from dpinfer.mechanism.gaussian import gaussian  # noqa: E402
from dpinfer.models import vae  # noqa: E402
from dpinfer.tree import size  # noqa: E402

model = vae.build(hidden=protocol.HIDDEN, latent=protocol.LATENT)
mechanism = gaussian(protocol.CLIP, protocol.NOISE_MULTIPLIER) if sys.argv[1] == "private" else exact()
images = np.random.default_rng(0).integers(0, 256, (protocol.RECORDS, 28, 28), np.uint8)
records = {"x": jnp.asarray(images)}
algorithm = dpsgd.build(
    model, mechanism, protocol.RECORDS, sampler="subset", expected_batch=protocol.BATCH, num_steps=1,
    learning_rate=protocol.LEARNING_RATE,
)  # fmt: skip
started = start(algorithm, keys_for(jax.random.key(1), 1), records)


def run(steps):
    """Take steps in one compiled program; its first call for a number of steps compiles."""
    jax.block_until_ready(started.advance(started.states, 0, steps))


protocol.serve(run, size(model.init(jax.random.key(0), records)))
