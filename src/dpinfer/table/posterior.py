"""The private fit of one's own model, its draws, and what may be asked about it."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import optax
from numpyro import handlers
from numpyro.distributions import constraints
from numpyro.infer import Predictive, Trace_ELBO
from numpyro.infer.svi import SVIRunResult

from dpinfer import tree
from dpinfer.accounting.budget import Budget
from dpinfer.accounting.events import Adjacency, Event, Relation, Repeat
from dpinfer.accounting.ledger import Ledger
from dpinfer.errors import InputError
from dpinfer.random.chacha import is_system_key, jax_key
from dpinfer.random.keys import stream
from dpinfer.random.threefry import generator
from dpinfer.svi import DPSVI
from dpinfer.svi.mechanism_and_sampler import sampler_of
from dpinfer.table.program import COUNT, ModelFile, Records, bind
from dpinfer.types import Key

KNOWN_SUPPORTS = (
    constraints.boolean,
    constraints.nonnegative,
    constraints.nonnegative_integer,
    constraints.positive,
    constraints.positive_integer,
    constraints.unit_interval,
)
"""Supports that do not depend on what is drawn."""
LOOKED_AT = 1000
"""So many records' gradients are looked at for diagnostics."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asks for.

    Attributes:
        epsilon: Largest epsilon.
        delta: Its delta.
        adjacency: Which tables count as neighbours.
        num_records: The public number of records, or None where the table's own is: then tables that differ by a
            record are no neighbours, and add-remove is called zero-out.
        num_steps: Steps of the optimiser.
        expected_batch: Expected number of records in a batch.
        clip: Largest norm of one record's gradient.
        learning_rate: Step size of Adam.
        key: For everything that is random. Whoever knows it can take the noise off again.
        draws: From the posterior.
    """

    epsilon: float
    delta: float
    adjacency: Adjacency = "add-remove"
    num_records: int | None = None
    num_steps: int = 2000
    expected_batch: float = 100
    clip: float = 3.0
    learning_rate: float = 1e-2
    draws: int = 1000
    key: Key

    @property
    def relation(self) -> Relation:
        """What the guarantee is for."""
        return "zero-out" if self.adjacency == "add-remove" and self.num_records is None else self.adjacency

    @property
    def is_release(self) -> bool:
        """Whether the key is one that nobody knows."""
        return is_system_key(self.key)


class PlannedFit(NamedTuple):
    """A calibrated fit that has not begun.

    Attributes:
        svi: The inference, whose noise is calibrated.
        ledger: What it will cost.
        num_records: The public number of records.
    """

    svi: DPSVI
    ledger: Ledger
    num_records: int

    @property
    def expected_batch(self) -> float:
        """Expected number of records in a batch."""
        assert self.svi.expected_batch is not None
        return self.svi.expected_batch


class FittedTable(NamedTuple):
    """The end of a fit; of it, parameters and draws are private.

    Attributes:
        result: Parameters and losses.
        draws: From the posterior, by the names of the sites.
        diagnostics: Numbers by name, which no epsilon covers.
    """

    result: SVIRunResult
    draws: dict[str, np.ndarray]
    diagnostics: dict[str, float]


def plan(program: ModelFile, records: Records, request: Request, budget: Budget) -> PlannedFit:
    """Find the noise, and see that the budget of the table allows what the fit will cost."""
    size = request.num_records or len(records.values[0])
    batch = min(request.expected_batch, size)
    bound = bind(program, records)
    _refuse_impossible(bound.model, records)
    svi = DPSVI.calibrated(
        bound.model, bound.guide, optax.adam(request.learning_rate), Trace_ELBO(), request.clip,
        epsilon=request.epsilon, budget=budget, num_records=size, num_steps=request.num_steps,
        expected_batch=batch, release=request.is_release,
    )  # fmt: skip
    sampler = sampler_of("poisson", size, batch, request.num_steps)
    event: Event = Repeat(event=sampler.event(svi.mechanism.event), count=request.num_steps)
    drawn_by = f"{generator(request.key)}, {svi.mechanism.numbers}"
    ledger = Ledger(
        adjacency=request.relation, delta=request.delta, budget=request.epsilon, generator=drawn_by
    ).spend(event, "private posterior")
    budget.ledger.spend(event, "this fit")
    return PlannedFit(svi, ledger, size)


def _refuse_impossible(model: Callable[..., Any], records: Records) -> None:
    """Stop where an outcome is one that its distribution cannot give, as a 7 where there are coins."""
    seeded = handlers.seed(model, jax.random.key(0))
    with warnings.catch_warnings(), numpyro.validation_enabled(False):
        warnings.simplefilter("ignore")
        sites = handlers.trace(seeded).get_trace(*records.values)
    for name, site in sites.items():
        if site["type"] != "sample" or not site["is_observed"] or site["fn"].support not in KNOWN_SUPPORTS:
            continue
        fine = np.asarray(site["fn"].support(site["value"]))
        if not fine.all():
            place = int(np.argmin(fine.reshape(len(fine), -1).all(axis=1)))
            value = np.asarray(site["value"])[place]
            raise InputError(
                f"the outcome {name} is {value} in record {place + 1}, which its distribution cannot give"
            )


def fit(planned: PlannedFit, records: Records, request: Request) -> FittedTable:
    """Run the inference and draw from the posterior."""
    svi = planned.svi
    result = svi.run(stream(request.key, "run"), request.num_steps, *records.values)
    # The guide is called for what it draws, not for a record: none may enter here, where there is no noise.
    nobody = [np.zeros_like(value[:1]) for value in records.values]
    # Parameters are released beside the draws, so that chance hides nothing here; NumPyro takes JAX's keys alone.
    predictive = Predictive(svi.guide, params=result.params, num_samples=request.draws)
    draws = predictive(jax_key(stream(request.key, "draws")), *nobody)
    # A guide's own auxiliary site, which holds all others in one vector.
    kept = {name: np.asarray(value) for name, value in draws.items() if not name.startswith("_auto")}
    return FittedTable(result, kept, _diagnosed(planned, records, result, request))


def check(program: ModelFile, records: Records, fitted: FittedTable, key: jax.Array) -> list[dict[str, Any]]:
    """Means and spreads of the outcomes in the records, and of those that the posterior predicts for them.

    For your own eyes: what is said of the records here is not private.
    """
    rows = []
    drawn = _predicted(program, records, fitted, key, keep=records.outcomes)
    for name, value in zip(records.names, records.values, strict=True):
        if name not in drawn:
            continue
        replicas = np.asarray(drawn[name], np.float64)
        for statistic in (np.mean, np.std):
            each = statistic(replicas.reshape(replicas.shape[0], -1), axis=1)
            low, high = np.quantile(each, (0.05, 0.95))
            rows.append(
                {"outcome": name, "statistic": statistic.__name__, "records": float(statistic(value)),
                 "predicted": float(each.mean()), "low": float(low), "high": float(high)}
            )  # fmt: skip
    return rows


def twin(
    program: ModelFile, records: Records, fitted: FittedTable, key: jax.Array, size: int
) -> dict[str, np.ndarray]:
    """A table of `size` records, drawn from the posterior predictive: it costs nothing more.

    Only models of all columns have one, whose parameters may all be left out.
    """
    refuse_without_twin(records)
    once = {name: value[:1] for name, value in fitted.draws.items()}
    drawn = _predicted(program, records, fitted._replace(draws=once), key, keep=records.names, size=size)
    missing = [name for name in records.names if name not in drawn]
    if missing:
        raise InputError(f"the model has no site {missing[0]}: a site should bear the name of its column")
    return {name: np.asarray(drawn[name][0]) for name in records.names}


def refuse_without_twin(records: Records) -> None:
    """Stop where the model cannot draw a table of its own."""
    if records.outcomes != records.names or not records.counted:
        raise InputError(
            "a synthetic twin needs a model of all its columns: each parameter None by default, and a parameter "
            f"{COUNT} for their number"
        )


def _predicted(
    program: ModelFile,
    records: Records,
    fitted: FittedTable,
    key: jax.Array,
    keep: tuple[str, ...],
    size: int | None = None,
) -> dict[str, Any]:
    inputs = {
        name: value
        for name, value in zip(records.names, records.values, strict=True)
        if name not in records.outcomes
    }
    predictive = Predictive(program.model, posterior_samples=fitted.draws, return_sites=list(keep))
    count = {COUNT: size or len(records.values[0])} if records.counted and not inputs else {}
    # A record that no parameter makes sense of must not stop what the others are asked for.
    with numpyro.validation_enabled(False):
        return dict(predictive(jax_key(key), **inputs, **count))


def _diagnosed(planned: PlannedFit, records: Records, result: SVIRunResult, request: Request) -> dict[str, float]:
    """How much is clipped, and how the clipped gradient of a batch compares with its noise, at the end."""
    looked_at = min(LOOKED_AT, len(records.values[0]))
    key = stream(request.key, "diagnostics")
    norms = planned.svi.gradient_norms(key, result.state, *(value[:looked_at] for value in records.values))
    noise = planned.svi.dp_scale * request.clip * math.sqrt(tree.size(result.params))
    kept = float(jnp.minimum(norms, request.clip).mean()) * planned.expected_batch
    return {
        "clipped_share": float((norms > request.clip).mean()),
        "median_norm": float(jnp.median(norms)),
        # If all records of a batch pulled the same way.
        "signal_to_noise_at_most": kept / noise,
        "first_loss": float(result.losses[0]),
        "last_loss": float(result.losses[-len(result.losses) // 10 :].mean()),
    }
