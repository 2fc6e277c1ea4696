"""Amplification and advanced composition, as DPVI accounts (Theorem 3, arXiv:1610.08749).

Each step spends delta_iter = (delta - delta') / T. Then
    on the sample  e_subs = sqrt(2 log(1.25 q / delta_iter)) / sigma,
    amplified      e_iter = log(1 + q (exp(e_subs) - 1)),
    in all         epsilon = sqrt(2 T log(1/delta')) e_iter + T e_iter (exp(e_iter) - 1).
The released code has log(1.25/delta') under the first root: form "code". The
formula for e_subs is proved for e_subs <= 1 only; beyond that the value is the paper's and no guarantee, and
`detail` says so.
"""

from __future__ import annotations

import math
from typing import Literal

from dpinfer.accounting.base import Bound, check_delta, refusal_of_repeats, require, trivial
from dpinfer.accounting.events import Adjacency, Event, PoissonGaussian, tally
from dpinfer.errors import InputError

NAME = "advanced"
Form = Literal["paper", "code"]


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for repetitions of one Poisson-sampled Gaussian step under add-remove adjacency."""
    return refusal_of_repeats(event, adjacency, "add-remove", NAME)


def epsilon(
    event: Event, delta: float, adjacency: Adjacency, delta_prime: float | None = None, form: Form = "paper"
) -> Bound:
    """Return epsilon by Theorem 3, with `delta_prime` (default delta / 10) spent on the composition."""
    require(supports(event, adjacency))
    delta = check_delta(delta)
    slack = delta / 10.0 if delta_prime is None else delta_prime
    if not 0.0 < slack < delta:
        raise InputError(f"delta_prime is {slack!r}, but must lie between 0 and delta, which is {delta!r}.")
    if form not in ("paper", "code"):
        raise InputError(f"form is {form!r}, but must be paper or code.")
    known = trivial(event, NAME)
    if known is not None:
        return known
    ((leaf, times),) = tally(event)
    assert isinstance(leaf, PoissonGaussian)
    rate = leaf.sampling_rate
    per_sample = (delta - slack) / (times * rate)
    if per_sample >= 1.0:
        raise InputError(f"delta {delta:g} over {times} steps at rate {rate:g} leaves no delta below 1 per step.")
    subset = math.sqrt(2.0 * math.log(1.25 / per_sample)) / leaf.noise_multiplier
    step = math.log1p(rate * math.expm1(subset)) if subset < 30.0 else subset + math.log(rate)
    root = math.sqrt(2.0 * times * math.log((1.25 if form == "code" else 1.0) / slack))
    value = root * step + (times * step * math.expm1(step) if step < 700.0 else math.inf)
    detail = f"{form} form, epsilon on the sample {subset:.3g}"
    return Bound(value, None, NAME, detail + ("" if subset <= 1.0 else " is above 1: not proved"))
