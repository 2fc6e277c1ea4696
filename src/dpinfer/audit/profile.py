"""The yardstick of an account: what its whole privacy profile allows, not its epsilon at one delta alone.

An account bounds P(event) for every P'(event), by its trade-off curve. What is observed may refute the account;
and with it all accounts of the same steps with more noise than some c times the noise that they claim. The bound
that is told is the epsilon of the steps with that noise: above the account's own just where c < 1.

So the bound is one for mechanisms of the claimed form with an unknown amount of noise. For full-batch Gaussian
releases it is that of Gaussian differential privacy (Dong, Roth & Su, arXiv:1905.02383v3).
"""

import dataclasses

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from dpinfer.accounting import attacker
from dpinfer.accounting.attacker import Profile
from dpinfer.accounting.events import (
    Adjacency,
    Compose,
    Event,
    Gaussian,
    Leaf,
    PoissonGaussian,
    Repeat,
    SubsetGaussian,
    tally,
)
from dpinfer.accounting.sound import pld
from dpinfer.audit.bound import Array, Yardstick
from dpinfer.errors import InputError

LAST_DELTA = 1e-6
"""The profile is followed down to this delta: what is counted has probabilities above it."""
QUIETEST, LOUDEST = 1 / 16, 16.0
"""The amounts of noise, relative to the claimed one, between which the bound is sought."""


def by_account(event: Event, adjacency: Adjacency, delta: float) -> Yardstick:
    """Test the account of an event whose parts have noise multipliers; the bound is one at `delta`."""
    claimed = curve(event, adjacency)

    def rank(p: Array, q: Array) -> Array:
        allowed = [attacker.true_positive_rate(claimed, rate) for rate in q]
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(ndtri(p) - ndtri(allowed), nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def excess(log_factor: float, p: float, q: float) -> float:
        points = curve(louder(event, np.exp(log_factor)), adjacency)
        return p - attacker.true_positive_rate(points, q)

    def epsilon(p: float, q: float) -> float:
        low, high = np.log(QUIETEST), np.log(LOUDEST)
        if excess(high, p, q) <= 0:
            return 0.0
        if excess(low, p, q) < 0:
            # More noise is the safe side.
            low = brentq(excess, low, high, args=(p, q), xtol=1e-3) + 1e-3
        return pld.epsilon(louder(event, np.exp(low)), delta, adjacency).upper

    return Yardstick(rank, epsilon)


def curve(event: Event, adjacency: Adjacency) -> Profile:
    """Points of the profile of an event, for its trade-off curve."""
    most = pld.epsilon(event, LAST_DELTA, adjacency).upper
    return attacker.profile(lambda epsilon: pld.delta(event, epsilon, adjacency).upper, most)


def louder(event: Event, factor: float) -> Event:
    """The same releases with `factor` times the noise."""

    def one(leaf: Leaf) -> Leaf:
        if not isinstance(leaf, Gaussian | PoissonGaussian | SubsetGaussian):
            raise InputError(f"{leaf} has no noise multiplier that an audit could scale")
        return dataclasses.replace(leaf, noise_multiplier=factor * leaf.noise_multiplier)

    return Compose(tuple(Repeat(one(leaf), count) for leaf, count in tally(event)))
