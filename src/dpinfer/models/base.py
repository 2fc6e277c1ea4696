"""What an algorithm needs to know of a model."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.errors import InputError
from dpinfer.types import Key, Records, Tree


def nothing_local(key: Key, count: int) -> dict[str, jax.Array]:
    """For models whose likelihood of a record is a function of the parameters alone."""
    del key, count
    return {}


def no_outcome(key: Key, parameters: Tree, records: Records) -> jax.Array:
    """For models of the records as a whole, of which nothing is set apart to be predicted."""
    del key, parameters, records
    raise InputError("this model predicts no outcome, so only the metric log_likelihood can be evaluated of it")


def no_prior(parameters: Tree) -> jax.Array:
    """For models whose parameters are learnt without a prior."""
    del parameters
    return jnp.zeros(())


def nothing_described(parameters: Tree) -> dict[str, jax.Array]:
    """For models of whose parameters nothing is drawn."""
    del parameters
    return {}


class Quadratic(NamedTuple):
    """A log-likelihood that is -z A z / 2 + b z + constant in the parameters z.

    Attributes:
        curvature: A, of shape (D, D).
        shift: b, of shape (D,).
    """

    curvature: jax.Array
    shift: jax.Array


class Model(NamedTuple):
    """A Bayesian model of independent records.

    Attributes:
        init: `(key, records) -> parameters`; of the records it may use the shapes alone, which are public.
        log_prior: `(parameters) -> ()`.
        log_likelihood: `(parameters, one record) -> ()`.
        predict: `(key, parameters, records) -> (n,)` mean of the outcome, or a draw whose mean it is, or (n, ...)
            generated records; `no_outcome` where there is none.
        local: `(key, n) -> entries` that join n records: draws of what the model integrates out for each.
        describe: `(parameters) -> quantities` by name, in the units of the data, for figures.
        quadratic: `(one record) -> Quadratic`, where the log-likelihood is one: the model is conjugate then.
    """

    init: Callable[[Key, Records], Tree]
    log_prior: Callable[[Tree], jax.Array]
    log_likelihood: Callable[[Tree, Records], jax.Array]
    predict: Callable[[Key, Tree, Records], jax.Array]
    local: Callable[[Key, int], dict[str, jax.Array]] = nothing_local
    describe: Callable[[Tree], dict[str, jax.Array]] = nothing_described
    quadratic: Callable[[Records], Quadratic] | None = None
