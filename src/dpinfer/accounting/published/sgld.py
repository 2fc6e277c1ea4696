"""Epsilon that Wang, Fienberg and Smola (arXiv:1502.07645v2, Theorem 9) state for their Langevin dynamics.

They scale the sum over a batch up to all records and add noise of variance K,
    K = (128 T L^2 / epsilon^2) log(5 T / (2 delta)) log(2 / delta),
T being the steps and L the bound on a record's gradient. On the batch's own sum that is a noise multiplier of
q sqrt(K) / L, so that epsilon = (q / noise multiplier) sqrt(128 T log(5 T / (2 delta)) log(2 / delta)).
"""

from __future__ import annotations

import math

from dpinfer.accounting.base import Bound, check_delta, refusal_of_repeats, require, trivial
from dpinfer.accounting.events import Adjacency, Event, PoissonGaussian, tally

NAME = "sgld"


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for repetitions of one Poisson-sampled Gaussian step under replace-one adjacency."""
    return refusal_of_repeats(event, adjacency, "replace-one", NAME)


def epsilon(event: Event, delta: float, adjacency: Adjacency) -> Bound:
    """Return the epsilon of the formula above, which the papers that use it state."""
    require(supports(event, adjacency))
    delta = check_delta(delta)
    known = trivial(event, NAME)
    if known is not None:
        return known
    ((leaf, times),) = tally(event)
    assert isinstance(leaf, PoissonGaussian)
    square = 128.0 * times * math.log(2.5 * times / delta) * math.log(2.0 / delta)
    value = leaf.sampling_rate / leaf.noise_multiplier * math.sqrt(square)
    return Bound(value, None, NAME, "as stated for Langevin dynamics")
