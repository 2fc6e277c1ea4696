"""A client's best posterior for all its records, given the rest of the posterior as its prior."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.clipping.sums import plain_sum
from dpinfer.inference.free_energy import gaussian_of, guide_of, loss_of, units
from dpinfer.inference.names import Optimum
from dpinfer.inference.natural import Gaussian, natural, read, together
from dpinfer.models.base import Model
from dpinfer.sampling.base import take
from dpinfer.sampling.shards import whole_shard
from dpinfer.types import Key, Records

Best = Callable[[jax.Array, jax.Array, jax.Array, jax.Array, Any, Records], jax.Array]


class Local(NamedTuple):
    """How clients find their best posterior.

    Attributes:
        random: `(key, reports, dimension) -> draws`.
        best: `(client, fetched posterior, own factor, prior, draws, records) -> natural parameters`.
    """

    random: Callable[[Key, int, int], Any]
    best: Best


def build(
    model: Model, sizes: tuple[int, ...], *, optimum: Optimum, local_steps: int, learning_rate: float
) -> Local:
    """Choose the way.

    Args:
        model: Conjugate, unless the optimum is found by its gradient.
        sizes: Records of each client.
        optimum: The way.
        local_steps: Steps of the gradient ascent.
        learning_rate: Its step size, by Adam.
    """
    if optimum == "gradient":
        return _by_gradient(model, sizes, local_steps, learning_rate)
    shard = whole_shard(sizes)

    def best(
        client: jax.Array, fetched: jax.Array, factor: jax.Array, prior: jax.Array, unit: Any, records: Records
    ) -> jax.Array:
        del prior, unit
        cavity = fetched - factor
        likelihood = together(model, take(records, batch := shard(client)), batch.mask)
        if optimum == "natural":
            # Eq. 4.12. Its mean is that of no free energy's optimum where inputs are correlated.
            return cavity + jnp.stack([likelihood.shift, jnp.diag(likelihood.curvature)])
        precision = jnp.diag(cavity[1]) + likelihood.curvature
        mean = jnp.linalg.solve(precision, cavity[0] + likelihood.shift)
        return natural(Gaussian(mean, 1 / jnp.diag(precision)))

    return Local(lambda *_: (), best)


def _by_gradient(model: Model, sizes: tuple[int, ...], local_steps: int, learning_rate: float) -> Local:
    """Ascend the free energy by Adam on all of the client's records."""
    shard, optimiser = whole_shard(sizes), optax.adam(learning_rate)
    counts = jnp.asarray(sizes, jnp.float32)

    def random(key: Key, reports: int, dimension: int) -> Any:
        return units(key, model, (reports, local_steps, max(sizes), dimension))

    def best(
        client: jax.Array, fetched: jax.Array, factor: jax.Array, prior: jax.Array, unit: Any, records: Records
    ) -> jax.Array:
        batch = shard(client)
        examples = take(records, batch)
        loss = loss_of(model, fetched - factor, counts[client])

        def ascend(carried: Any, own: Any) -> tuple[Any, None]:
            guide, memory = carried
            total = plain_sum(loss, guide, (examples, own), batch.mask)
            mean = jax.tree.map(lambda leaf: leaf / counts[client], total)
            change, memory = optimiser.update(mean, memory, guide)
            return (optax.apply_updates(guide, change), memory), None

        guide = guide_of(read(fetched, prior))
        start = (guide, optimiser.init(guide))
        (guide, _), _ = jax.lax.scan(ascend, start, unit, length=local_steps)
        return natural(gaussian_of(guide))

    return Local(random, best)
