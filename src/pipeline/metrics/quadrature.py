"""Moments of a posterior with two parameters, by quadrature: what chains are held against."""

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.models.base import Model
from dpinfer.types import Records

LOW, HIGH = (-4.0, -5.0), (5.0, 5.0)
"""The box of the two parameters outside of which no mass is looked for."""
POINTS = (361, 401)
BINS = 1000


def moments(model: Model, records: Records, tempered_records: float) -> dict[str, np.ndarray]:
    """Mean and variance of both parameters, and the share of the mass with the second above 0.

    The density is prior times likelihood to the power N0 / N, where N0 is the tempered number of N records.
    Records are scalars `x`, of which `BINS` bins are looked at through their means: the error falls with the
    square of the width of a bin.
    """
    at, weights = _binned(np.asarray(records["x"], np.float64))
    axes = [np.linspace(low, high, count) for low, high, count in zip(LOW, HIGH, POINTS, strict=True)]
    shares, places = jnp.asarray(tempered_records * weights), {"x": jnp.asarray(at)}

    def log_posterior(theta: jax.Array) -> jax.Array:
        each = jax.vmap(lambda record: model.log_likelihood(theta, record))(places)
        return model.log_prior(theta) + shares @ each

    def of_row(first: jax.Array) -> jax.Array:
        return jax.vmap(lambda second: log_posterior(jnp.stack([first, second])))(jnp.asarray(axes[1]))

    log_mass = np.asarray(jax.lax.map(of_row, jnp.asarray(axes[0])), np.float64)
    mass = np.exp(log_mass - log_mass.max())
    mass /= mass.sum()
    edges = (mass.sum(1), mass.sum(0))
    mean = np.array([axis @ edge for axis, edge in zip(axes, edges, strict=True)])
    second = np.array([axis**2 @ edge for axis, edge in zip(axes, edges, strict=True)])
    return {"mean": mean, "variance": second - mean**2, "positive": np.asarray(edges[1] @ (axes[1] > 0))}


def _binned(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the records in evenly spaced bins, and the shares of the records there."""
    counts, ends = np.histogram(x, BINS)
    totals, _ = np.histogram(x, ends, weights=x)
    filled = counts > 0
    return totals[filled] / counts[filled], counts[filled] / len(x)
