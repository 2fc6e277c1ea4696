"""Batches for training loops, each a function of the state that it is for."""

from typing import Self

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.errors import InputError
from dpinfer.training.optimiser import Optimiser
from dpinfer.training.state import Batch, State, is_traced
from dpinfer.types import Tree


@jax.tree_util.register_pytree_node_class
class Loader:
    """Draws batches as an optimiser's account takes them to be drawn.

    A batch is a function of the state's key, step and parameters: no loader can draw one again for another step,
    and any loader, of any process, draws the same one for the same state.

    It can be an argument of a compiled function. There it should be one: records that a function takes from around
    it become a part of its program.
    """

    def __init__(self, optimiser: Optimiser, records: Tree) -> None:
        """Keep the records where they are.

        Args:
            optimiser: Whose batches are drawn.
            records: Arrays in any nesting, whose leading axis counts records. Those of NumPy stay on the host:
                batches alone are moved to the device, unless their steps are compiled.
        """
        sizes = {leaf.shape[0] if getattr(leaf, "shape", ()) else None for leaf in jax.tree.leaves(records)}
        expected = optimiser.settings.num_records
        if None in sizes:
            raise InputError(
                "the records should be arrays whose leading axis counts records, but a leaf has no axis"
            )
        if sizes != {expected}:
            found = ", ".join(str(size) for size in sorted(filter(None, sizes))) or "no"
            raise InputError(f"the data have {found} records, but the optimiser was made for {expected}")
        self._records, self._optimiser = records, optimiser

    def tree_flatten(self) -> tuple[tuple[Tree], Optimiser]:
        """The records, and what is none, for JAX."""
        return (self._records,), self._optimiser

    @classmethod
    def tree_unflatten(cls, optimiser: Optimiser, children: tuple[Tree]) -> Self:
        """The loader of some records, which JAX may have put placeholders for."""
        own = cls.__new__(cls)
        own._records, own._optimiser = children[0], optimiser
        return own

    def __len__(self) -> int:
        """Batches of an epoch: as many as hold, in expectation, all records once."""
        settings = self._optimiser.settings
        return max(1, round(settings.num_records / settings.expected_batch))

    def batch(self, state: State) -> Batch:
        """The batch of a state's next step."""
        places, tag = self._optimiser.places(state)

        def take(leaf: jax.Array | np.ndarray) -> jax.Array:
            if isinstance(leaf, np.ndarray) and not is_traced(places.rows):
                return jnp.asarray(leaf[np.asarray(places.rows)])
            return _rows(leaf, places.rows)

        return Batch(jax.tree.map(take, self._records), places.mask, state.step, tag)


@jax.jit
def _rows(leaf: jax.Array, rows: jax.Array) -> jax.Array:
    return leaf[rows]
