"""This project: DP-SGD by book-keeping, or without privacy; drawing and binarising a batch is part of the step."""

import sys

from dpinfer import machine

machine.prepare("cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import protocol  # noqa: E402

from dpinfer import models  # noqa: E402
from dpinfer.inference import dpsgd  # noqa: E402
from dpinfer.inference.run import keys_for, start  # noqa: E402
from dpinfer.mechanism.exact import exact  # noqa: E402
from dpinfer.mechanism.gaussian import gaussian  # noqa: E402
from dpinfer.settings.cell import Dpsgd  # noqa: E402
from dpinfer.settings.data import Mnist  # noqa: E402
from dpinfer.settings.model import Vae  # noqa: E402

settings = Vae(hidden=protocol.HIDDEN, latent=protocol.LATENT)
model = models.build(settings)
cell = Dpsgd(
    data=Mnist(), model=settings, num_steps=1, noise_multiplier=protocol.NOISE_MULTIPLIER, delta=1e-5,
    sampler="subset", expected_batch=protocol.BATCH, clip=protocol.CLIP, learning_rate=protocol.LEARNING_RATE,
)  # fmt: skip
mechanism = gaussian(protocol.CLIP, protocol.NOISE_MULTIPLIER) if sys.argv[1] == "private" else exact()
images = np.random.default_rng(0).integers(0, 256, (protocol.RECORDS, 28, 28), np.uint8)
records = {"x": jnp.asarray(images)}
algorithm = dpsgd.build(cell, model, mechanism, protocol.RECORDS)
started = start(algorithm, keys_for(jax.random.key(1), 1), records)


def run(steps):
    """Take steps in one compiled program; its first call for a number of steps compiles."""
    jax.block_until_ready(started.advance(started.states, 0, steps))


protocol.serve(run, model.network.size)
