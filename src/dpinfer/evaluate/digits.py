"""Images that a generator makes, pixel by pixel, for figures."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree

IMAGES = 25


def places(model: Model, sample: Callable[[Key], Tree]) -> dict[str, list[Any]]:
    """Every pixel of every image."""
    shape = jax.eval_shape(lambda key: _drawn(key, model, sample), jax.random.key(0)).shape
    return dict(zip(("image", "row", "column"), np.indices(shape).reshape(3, -1).tolist(), strict=True))


def spread(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """Values from 0 to 255, as in the records."""
    del test
    return _drawn(key, model, sample).ravel()


def _drawn(key: Key, model: Model, sample: Callable[[Key], Tree]) -> jax.Array:
    images = model.predict(key, sample(key), {"x": jnp.zeros(IMAGES)})
    return jnp.round((images + 1) * 127.5)
