"""A client's free energy, which its local optimisation maximises (Eq. 4.15), as a sum over its records.

With q = N(mean, exp(log_variance)) and the cavity, the posterior without the client's own factor, one record's
share of the negative free energy is
    l_n = -E_q log p(y_n | x_n, z) - (H[q] + E_q log cavity) / N,
N being the client's records. Where the log-likelihood is quadratic the expectation has a closed form; for any
other model it is estimated by one draw of z for each record.

Its optimum is a client's best posterior for all its records, given the rest of the posterior as its prior.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.clipping.sums import plain_sum
from dpinfer.inference.names import Optimum
from dpinfer.inference.natural import MeanField, expected, natural, read, together
from dpinfer.models.base import Model
from dpinfer.sampling.base import take
from dpinfer.sampling.shards import whole_shard
from dpinfer.tree import normal_like
from dpinfer.types import Key, Loss, Records

Guide = dict[str, jax.Array]
Best = Callable[[jax.Array, jax.Array, jax.Array, jax.Array, Any, Records], jax.Array]


def guide_of(gaussian: MeanField) -> Guide:
    """The coordinates in which gradients are followed: no step makes a variance negative."""
    return {"mean": gaussian.mean, "log_variance": jnp.log(gaussian.variance)}


def gaussian_of(guide: Guide) -> MeanField:
    """Back to mean and variance."""
    return MeanField(guide["mean"], jnp.exp(guide["log_variance"]))


def units(key: Key, model: Model, shape: tuple[int, ...]) -> Any:
    """Standard normal draws for the likelihood of records, where it has no closed form."""
    return () if model.quadratic is not None else normal_like(key, jax.ShapeDtypeStruct(shape, jnp.float32))


def loss_of(model: Model, cavity: jax.Array, num_records: jax.Array) -> Loss:
    """`(guide, (record, unit)) -> l_n`."""

    def likelihood(mean: jax.Array, variance: jax.Array, record: Records, unit: Any) -> jax.Array:
        if model.quadratic is not None:
            return expected(model.quadratic(record), mean, variance)
        return model.log_likelihood(mean + jnp.sqrt(variance) * unit, record)

    def loss(guide: Guide, example: tuple[Records, Any]) -> jax.Array:
        record, unit = example
        mean, variance = gaussian_of(guide)
        entropy = guide["log_variance"].sum() / 2
        rest = cavity[0] @ mean - cavity[1] @ (variance + mean**2) / 2
        return -likelihood(mean, variance, record, unit) - (entropy + rest) / num_records

    return loss


class Local(NamedTuple):
    """How clients find their best posterior.

    Attributes:
        random: `(key, reports, dimension) -> draws`.
        best: `(client, fetched posterior, own factor, prior, draws, records) -> natural parameters`.
    """

    random: Callable[[Key, int, int], Any]
    best: Best


def optimum_of(
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
        return natural(MeanField(mean, 1 / jnp.diag(precision)))

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
