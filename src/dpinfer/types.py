"""Names for the few types that every layer speaks of."""

from collections.abc import Callable, Mapping
from typing import Any

import jax

Key = jax.Array
"""A typed JAX random key. Never defaulted, never used twice."""

Tree = Any
"""Parameters or gradients: any nesting of arrays that JAX knows as a pytree."""

Records = Mapping[str, jax.Array]
"""Arrays by name, whose leading axis counts records; or one record, without that axis."""

Loss = Callable[[Tree, Tree], jax.Array]
"""A scalar function of parameters and one example."""
