"""What an algorithm needs to know of a model."""

from collections.abc import Callable
from typing import NamedTuple

import jax

from dpinfer.types import Key, Records, Tree


class Model(NamedTuple):
    """A Bayesian model of independent records.

    Attributes:
        init: `(key, records) -> parameters`; of the records it may use the shapes alone, which are public.
        log_prior: `(parameters) -> ()`.
        log_likelihood: `(parameters, one record) -> ()`.
        predict: `(parameters, records) -> (n,)` mean of the outcome.
    """

    init: Callable[[Key, Records], Tree]
    log_prior: Callable[[Tree], jax.Array]
    log_likelihood: Callable[[Tree, Records], jax.Array]
    predict: Callable[[Tree, Records], jax.Array]
