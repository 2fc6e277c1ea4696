"""Privacy-loss distributions: the default accountant for sound figures.

The exact privacy profile of each step (`profiles`) is discretised so that it dominates, and composed by FFT
(`composition`). All Gaussian releases on the full data are first merged exactly into one. The grid follows
the spread of the loss and is refined until the answer is stable; every grid gives an upper bound, and the
smallest is returned. What is accounted for what:

| sampler | add-remove | replace-one |
|---|---|---|
| full batch | exact | exact, two clips |
| Poisson | exact pair, both orders | exact pair |
| subset | exact: Poisson pair with two clips | amplified, symmetrised |
| with replacement | not accounted | amplified, symmetrised, two clips each time a record is drawn |
| Barker | no meaning | certified profile of one test, amplified, symmetrised |

(On a subset the place of a missing record is taken by another, which may sit at the opposite clip.)
Where no grid fits, the Renyi bound is returned instead and `detail` says so.
"""

from __future__ import annotations

import functools
import math

from dpinfer.accounting.base import Bound, Tally, check_delta, check_epsilon, refusal, require, trivial
from dpinfer.accounting.events import (
    Adjacency,
    Barker,
    Compose,
    Event,
    FullBarker,
    Gaussian,
    Leaf,
    PoissonGaussian,
    Repeat,
    ReplacementGaussian,
    SubsetGaussian,
    tally,
)
from dpinfer.accounting.sound import barker, gaussian, lower, profiles, rdp
from dpinfer.accounting.sound.composition import CompositionRanges, Parts

NAME = "pld"
_KINDS = (Gaussian, PoissonGaussian, SubsetGaussian, ReplacementGaussian, Barker, FullBarker)
# Where the loss of one step spreads over more than this, epsilon means nothing and the grid overflows.
_WIDEST = 100.0
_LEAST_DELTA = 1e-12


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for every composition of known mechanisms, else the reason of refusal."""
    reason = refusal(event, adjacency, _KINDS, NAME)
    if reason is None:
        for leaf, _ in tally(event):
            if isinstance(leaf, Barker) and leaf.batch < barker.LEAST_BATCH:
                return f"{leaf}: batch is {leaf.batch}, but must be at least {barker.LEAST_BATCH}."
    return reason


def _merged(counts: Tally, adjacency: Adjacency) -> Tally:
    """Return the tally with every step on all records written as a Gaussian release.

    A subset of fixed size stays that size when a record is added: another record leaves, so two clips count.
    """
    result: list[tuple[Leaf, int]] = []
    for leaf, times in counts:
        if isinstance(leaf, PoissonGaussian) and leaf.sampling_rate == 1.0:
            result.append((Gaussian(leaf.noise_multiplier), times))
        elif isinstance(leaf, SubsetGaussian) and leaf.sampling_rate == 1.0:
            clips = 2.0 / gaussian.sensitivity(adjacency)
            result.append((Gaussian(leaf.noise_multiplier / clips), times))
        else:
            result.append((leaf, times))
    return tuple(result)


def _is_gaussian(counts: Tally) -> bool:
    return all(isinstance(leaf, Gaussian | FullBarker) for leaf, _ in counts)


def steps(counts: Tally, adjacency: Adjacency) -> Parts:
    """Return the profiles of a composition whose full-batch steps are merged, and how often each occurs."""
    mu = gaussian.separation(counts, adjacency)
    result: Parts = [(profiles.gaussian(mu), 1)] if mu > 0.0 else []
    for leaf, times in counts:
        if isinstance(leaf, PoissonGaussian):
            pair = profiles.poisson if adjacency == "add-remove" else profiles.poisson_replace
            result.append((pair(1.0 / leaf.noise_multiplier, leaf.sampling_rate), times))
        elif isinstance(leaf, SubsetGaussian) and adjacency == "add-remove":
            result.append((profiles.poisson(2.0 / leaf.noise_multiplier, leaf.sampling_rate), times))
        elif isinstance(leaf, SubsetGaussian):
            mu = 2.0 / leaf.noise_multiplier
            base = profiles.gaussian(mu).remove
            result.append((profiles.subset_replace(base, mu, leaf.sampling_rate), times))
        elif isinstance(leaf, ReplacementGaussian):
            result.append((profiles.replacement(2.0 / leaf.noise_multiplier, leaf.batch, leaf.records), times))
        elif isinstance(leaf, Barker):
            base = functools.partial(barker.profile, batch=leaf.batch)
            mu = 2.0 / math.sqrt(leaf.batch)
            rest = barker.floor(leaf.batch)
            result.append((profiles.subset_replace(base, mu, leaf.sampling_rate, rest), times))
    return result


def _plan(counts: Tally, delta: float, adjacency: Adjacency) -> CompositionRanges | None:
    """Return the plan of an evaluation near `delta`, or None if no grid fits."""
    if delta < _LEAST_DELTA:
        return None
    parts = steps(counts, adjacency)
    return None if any(step.spread > _WIDEST for step, _ in parts) else CompositionRanges(parts, delta)


@functools.lru_cache(maxsize=256)
def _refined(counts: Tally, delta: float, adjacency: Adjacency) -> tuple[float, float] | None:
    """Return the smallest epsilon over the grids and the last interval, or None if no grid fits."""
    plan = _plan(counts, delta, adjacency)
    if plan is None:
        return None
    found = plan.least(lambda composed: composed.epsilon(delta))
    return found if math.isfinite(found[0]) else None


def epsilon(event: Event, delta: float, adjacency: Adjacency, with_lower: bool = False) -> Bound:
    """Return an upper bound on epsilon, within a fraction of a percent of the truth for the pairs above.

    With `with_lower` the lower bound is computed too (see `lower`); the two together bracket the truth.
    """
    require(supports(event, adjacency))
    delta = check_delta(delta)
    known = trivial(event, NAME)
    if known is not None:
        return known
    counts = _merged(tally(event), adjacency)
    if _is_gaussian(counts):
        return gaussian.bound_of(delta, gaussian.separation(counts, adjacency))._replace(accountant=NAME)
    below = lower.epsilon(counts, delta, adjacency) if with_lower else None
    found = _refined(counts, delta, adjacency)
    if found is None:
        other = rdp.epsilon(event, delta, adjacency)
        return Bound(other.upper, below, NAME, f"Renyi bound, no grid fits: {other.detail}")
    return Bound(found[0], below, NAME, f"connect-the-dots, interval {found[1]:.3g}")


def delta(event: Event, epsilon: float, adjacency: Adjacency) -> Bound:
    """Return an upper bound on delta at a given epsilon."""
    require(supports(event, adjacency))
    epsilon = check_epsilon(epsilon)
    known = trivial(event, NAME, infinite=1.0)
    if known is not None:
        return known
    counts = _merged(tally(event), adjacency)
    if _is_gaussian(counts):
        whole = Compose(tuple(Repeat(leaf, times) for leaf, times in counts))
        return gaussian.delta(whole, epsilon, adjacency)._replace(accountant=NAME)
    rough = rdp.delta(event, epsilon, adjacency)
    best, before = rough.upper, math.inf
    # The tails are cut off for the delta that is expected: again, if it is much smaller.
    while best < before / 30.0:
        plan = _plan(counts, max(best, _LEAST_DELTA), adjacency)
        if plan is None:
            return rough._replace(accountant=NAME, detail=f"Renyi bound, no grid fits: {rough.detail}")
        found, interval = plan.least(lambda composed: composed.delta(epsilon))
        best, before = min(best, found), max(best, _LEAST_DELTA)
    return Bound(best, None, NAME, f"connect-the-dots, interval {interval:.3g}")
