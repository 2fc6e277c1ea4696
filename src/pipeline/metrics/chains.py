"""Chains on two modes: where they start, what they have drawn, and what their tests have met."""

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.errors import InputError
from dpinfer.inference import running_moments
from dpinfer.inference.running_moments import Sum
from dpinfer.models.base import Model
from dpinfer.types import Records
from pipeline.metrics.base import DRAWS, Fitted, Metric
from pipeline.settings.chain import Chain
from pipeline.settings.method import Method

LOW, HIGH = (-4.0, -5.0), (5.0, 5.0)
"""The box of the two parameters outside of which no mass is looked for."""
POINTS = (361, 401)
BINS = 1000
PUBLISHED = {"mean": (0.432, 0.131), "variance": (0.199, 0.709)}
"""Moments of the long chain without privacy that DP-MCMC compares with, as read from its scatter plot."""


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


def location(fit: Fitted) -> dict[str, jax.Array]:
    """`location_1`, `location_2`, ...: means over draws of all parameters, in the order of their leaves."""
    drawn = jax.vmap(fit.sample)(jax.random.split(fit.key, DRAWS))
    flat = [leaf.reshape(DRAWS, -1).mean(axis=0) for leaf in jax.tree.leaves(drawn)]
    values = [value for leaf in flat for value in leaf]
    return {f"location_{number}": value for number, value in enumerate(values, start=1)}


def draws(fit: Fitted) -> dict[str, jax.Array]:
    """Both parameters at every recording, their means, variances and correlation, and the mass at `theta_2` > 0.

    Before the burn-in is over the parameters are not a number.
    """
    counted = fit.trace.moments.counted > 0
    theta = jnp.where(counted[:, None], fit.trace.parameters, jnp.nan)
    mean = jnp.nanmean(theta, axis=0)
    centred = theta - mean
    product, squares = jnp.nanmean(centred[:, 0] * centred[:, 1]), jnp.nanmean(centred**2, axis=0)
    moments = {f"mean_{k + 1}": mean[k] for k in range(2)} | {f"variance_{k + 1}": squares[k] for k in range(2)}
    return {
        "theta_1": theta[:, 0],
        "theta_2": theta[:, 1],
        **moments,
        "correlation": product / jnp.sqrt(squares.prod()),
        "positive": (counted & (theta[:, 1] > 0)).sum() / counted.sum(),
    }


def exact_moments(settings: Method, model: Model, train: Records) -> dict[str, np.ndarray]:
    """The moments of the tempered posterior of these records, by quadrature."""
    if not isinstance(settings, Chain):
        raise InputError(f"the metric moment_error is of chains, but the method {settings.method} is none")
    return moments(model, train, float(settings.tempered_records or train["x"].shape[0]))


def moment_error(fit: Fitted) -> dict[str, jax.Array]:
    """At every recording `running_mean_1`, its distances to two baselines, and so on.

    `mean_error_1` is the distance to the exact moments, `mean_gap_1` that to the published chain. Before the
    burn-in is over they are not a number.
    """
    moments = fit.trace.moments
    steps = moments.counted[:, None]
    mean = running_moments.mean(moments.first, steps)
    found = {"mean": mean, "variance": running_moments.mean(moments.second, steps) - mean**2}
    values: dict[str, jax.Array] = {}
    for name, running_value in found.items():
        for index in range(2):
            one = running_value[:, index]
            values[f"running_{name}_{index + 1}"] = one
            values[f"{name}_error_{index + 1}"] = jnp.abs(one - fit.reference[name][index])
            values[f"{name}_gap_{index + 1}"] = jnp.abs(one - PUBLISHED[name][index])
    return values


def tests_made(fit: Fitted) -> dict[str, jax.Array]:
    """Shares of accepted moves and clipped ratios, the mean batch, the largest variance of an estimate.

    Only the acceptance follows from what a private chain releases. The others are facts about the records, shown
    because these records are generated; the epsilons beside them are the chain's.
    """
    counts, steps = jax.tree.map(lambda leaf: leaf[-1], (fit.trace.counts, fit.trace.moments.step))
    seen = _value(counts.seen)
    return {
        "acceptance": counts.accepted / steps,
        "clipped": _value(counts.clipped) / seen,
        "batch": seen / steps,
        "largest_variance": counts.largest_variance,
    }


def _value(total: Sum) -> jax.Array:
    return total.high - total.low


METRICS = {
    "location": Metric("end", location),
    "draws": Metric("whole", draws),
    "moment_error": Metric("curve", moment_error, reference=exact_moments),
    "tests_made": Metric("whole", tests_made),
}
