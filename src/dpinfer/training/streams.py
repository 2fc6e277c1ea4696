"""Keys of batches and noise: functions of all that they may depend on, so that no key serves two releases.

As with the synthetic initialisation vectors of cryptography (RFC 5297), what is hidden goes into the key that
hides it. The noise of a step is drawn by

    fold(key, purpose, loss and settings, step, digest(parameters), digest(batch)),

all that the clipped sum is a function of. So whoever goes back to an earlier state and goes on in another way,
with another learning rate, another loss or other records, gets other noise; and whoever goes on in the same way
gets the same release again, which tells nothing new. Batches are drawn by

    fold(key, purpose, settings, step, digest(parameters)).
"""

import hashlib
import re
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from dpinfer.random.keys import digest, mix

# One key serves them all; their streams must differ.
BATCH, TAG, NOISE, RUN = (zlib.crc32(name) for name in (b"batch", b"tag", b"noise", b"run"))
ADDRESS = re.compile(r"0x[0-9a-f]+")


def fingerprint(text: str) -> tuple[int, int]:
    """Two words of a cryptographic hash of a text."""
    first, second = np.frombuffer(hashlib.sha256(text.encode()).digest()[:8], "<u4")
    return int(first), int(second)


def of_program(program: ClosedJaxpr) -> jax.Array:
    """(4,) words that tell a program from others: of its text, and of arrays that it takes from around it."""
    # Where a function is in memory differs from process to process.
    text = jnp.asarray(fingerprint(ADDRESS.sub("", str(program.jaxpr))), jnp.uint32)
    known = [value for value in program.consts if not isinstance(value, jax.core.Tracer)]
    traced = [value for value in program.consts if isinstance(value, jax.core.Tracer)]
    with jax.ensure_compile_time_eval():
        constants = digest(known)
    return jnp.concatenate([text, mix(constants) + digest(traced)])
