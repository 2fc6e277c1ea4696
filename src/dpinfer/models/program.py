"""An auto-encoder as a NumPyro model and guide, for `numpyro.infer.SVI` and `dpinfer.svi.DPSVI`."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpyro
from numpyro.distributions import Bernoulli, Normal

from dpinfer.models.names import Start
from dpinfer.models.vae import Shape, parts_of, start_of
from dpinfer.types import Key


class Program(NamedTuple):
    """A NumPyro model and its guide; both are called with a batch of images of zeros and ones, (batch, ...)."""

    model: Callable[..., Any]
    guide: Callable[..., Any]


def program(shape: Shape, num_records: int, key: Key, start: Start = "small") -> Program:
    """The auto-encoder of that shape, with parameters drawn from the key to start from.

    Args:
        shape: Its layers.
        num_records: Number of all records, the size of the plate.
        key: Key of the start.
        start: Size of the first weights.
    """
    parts = parts_of(shape)
    first = start_of(shape, start, key)

    def site(name: str, layers: Iterable[str]) -> Any:
        """The parameters of some layers as one site of the program."""
        return numpyro.param(name, {layer: first[layer] for layer in layers})

    def model(images: jax.Array) -> None:
        decode = partial(parts.decode, site("decoder", parts.decoder))
        with numpyro.plate("records", num_records, images.shape[0]):
            z = numpyro.sample("z", Normal(jnp.zeros((1, shape.latent)), 1.0).to_event(1))
            logits = jax.vmap(decode)(z)
            pixels = Bernoulli(logits=logits).to_event(len(shape.image))
            numpyro.sample("image", pixels, obs=images)

    def guide(images: jax.Array) -> None:
        encode = partial(parts.encode, site("encoder", parts.encoder))
        mean, log_std = jax.vmap(encode)(images.astype(jnp.float32))
        with numpyro.plate("records", num_records, images.shape[0]):
            numpyro.sample("z", Normal(mean, jnp.exp(log_std)).to_event(1))

    return Program(model, guide)
