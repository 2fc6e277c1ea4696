"""Renyi divergences of single steps, as functions of the order.

All curves bound both orders of an adjacent pair: for the Poisson-sampled Gaussian the order (mixture, plain)
is the larger one (Mironov, Talwar & Zhang, arXiv:1908.10530).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import simpson
from scipy.special import expit, gammaln, logit, logsumexp

from dpinfer.accounting.sound.gaussian import log_profile

Array = NDArray[np.float64]
# Beyond this many nodes the step without sampling, whose divergence is larger, stands in.
_MOST_NODES = 200_000


def log_binomial(order: int) -> Array:
    """Return log C(order, i) for i = 0 .. order."""
    i = np.arange(order + 1)
    result: Array = gammaln(order + 1) - gammaln(i + 1) - gammaln(order - i + 1)
    return result


def gaussian(order: float, mu: float) -> float:
    """Return the divergence of N(mu, 1) from N(0, 1): order mu^2 / 2."""
    return order * mu * mu / 2.0


def poisson(order: float, mu: float, rate: float) -> float:
    """Return the divergence of (1-q) N(0,1) + q N(mu,1) from N(0,1).

    Whole orders by the binomial sum, minus its value 1 without shift so that tiny divergences keep their
    digits: A - 1 = sum over i >= 2 of C(a, i) q^i (1-q)^(a-i) (e^((i^2-i) mu^2/2) - 1). Other orders by
    quadrature.
    """
    if rate == 1.0:
        return gaussian(order, mu)
    if order == int(order):
        i = np.arange(2, int(order) + 1)
        exponent = (i * i - i) * (mu * mu / 2.0)
        terms = log_binomial(int(order))[2:] + i * math.log(rate) + (order - i) * math.log1p(-rate)
        terms += exponent + np.log(-np.expm1(-exponent))
        return float(np.logaddexp(0.0, logsumexp(terms))) / (order - 1.0)
    z = _nodes(0.0, order * mu, mu)
    if z is None:
        return gaussian(order, mu)
    ratio = log_mixture(mu * z - mu * mu / 2.0, rate)
    return _from_ratio(order, ratio, -z * z / 2.0)


def poisson_replace(order: float, mu: float, rate: float) -> float:
    """Return the divergence of (1-q) N(0,1) + q N(mu,1) from (1-q) N(0,1) + q N(-mu,1), by quadrature.

    With a the order, and w(z) the share of the shifted part in the second density, which falls with z, the
    integrand falls from z = a mu + (a-1) mu w(z) on: no later than there with w(a mu) for w(z). Near q = 1 that
    is close to 2 a mu.
    """
    if rate == 1.0:
        return gaussian(order, 2.0 * mu)
    share = float(expit(logit(rate) - mu * mu * (order + 0.5)))
    z = _nodes(-mu, order * mu * (1.0 + share), mu)
    if z is None:
        return gaussian(order, 2.0 * mu)
    below = log_mixture(-mu * z - mu * mu / 2.0, rate)
    ratio = log_mixture(mu * z - mu * mu / 2.0, rate) - below
    return _from_ratio(order, ratio, below - z * z / 2.0)


def poisson_reverse(order: float, mu: float, rate: float) -> float:
    """Return the divergence of N(0,1) from (1-q) N(0,1) + q N(mu,1), by quadrature.

    With a the order, and w(z) the share of the shifted part in the mixture, which grows with z, the integrand
    peaks where -z = (a-1) mu w(z): not below -a mu, nor, if that is below -1, where a mu w(z) is less than 1.
    """
    if rate == 1.0:
        return gaussian(order, mu)
    faint = (mu * mu / 2.0 - logit(rate) - math.log(order * mu)) / mu
    first = max(-order * mu, min(-1.0, float(faint)))
    z = _nodes(first, mu, mu, narrowest=1.0 + order * mu * mu / 4.0)
    if z is None:
        return gaussian(order, mu)
    below = log_mixture(mu * z - mu * mu / 2.0, rate)
    return _from_ratio(order, -below, below - z * z / 2.0)


def subset_replace(order: float, mu: float, rate: float) -> float:
    """Bound the divergence of a Gaussian step on a subset drawn without replacement, replace-one.

    The divergence is an integral over the privacy profile H in both orders, e^((a-1) D) = 1 + a (a-1)
    int_0^inf (e^((a-1)x) + e^(-ax)) H(x) dx (the integral form of f-divergences for f(t) = t^a; Sason &
    Verdu, arXiv:1508.00335), with the amplified and symmetrised profile in the place of H.
    """
    high = mu * mu * (order + 0.5) + 14.0 * mu
    count = int(60.0 * (order * mu + 14.0)) + 3
    if rate == 1.0 or count > _MOST_NODES:
        return gaussian(order, mu)
    y = np.linspace(0.0, high, count | 1)
    x = log_mixture(y, rate)
    density = math.log(rate) + y - x + math.log(rate) + log_profile(y, mu)
    logs = density + np.logaddexp((order - 1.0) * x, -order * x)
    top = float(np.max(logs))
    total = top + math.log(simpson(np.exp(logs - top), x=y)) + math.log(order * (order - 1.0))
    return float(np.logaddexp(0.0, total)) / (order - 1.0)


def _nodes(first: float, last: float, mu: float, narrowest: float = 1.0) -> Array | None:
    """Return nodes on which the trapezoid rule is exact to rounding, or None if they are too many.

    The integrands are analytic up to a distance pi / mu from the real line and fall off like a Gaussian.

    Args:
        first: No peak lies below.
        last: No peak lies above.
        mu: Shift of the mixture.
        narrowest: Most that the logarithm of the integrand curves down.
    """
    step = min(0.1, 0.4 / mu, 0.5 / math.sqrt(narrowest))
    low, high = first - 12.0, last + 12.0
    if (high - low) / step > _MOST_NODES:
        return None
    return np.arange(low, high, step)


def log_mixture(exponent: Array, rate: float) -> Array:
    """Return log(1 - q + q e^exponent), accurate for small q, for q near 1 and for large exponents."""
    if rate == 1.0:
        return exponent
    with np.errstate(over="ignore"):
        small = np.log1p(rate * np.expm1(exponent))
    is_far = (exponent > 30.0) | ((exponent < -1.0) & (rate > 0.5))
    return np.where(is_far, np.logaddexp(math.log1p(-rate), math.log(rate) + exponent), small)


def _from_ratio(order: float, ratio: Array, log_weight: Array) -> float:
    """Return the divergence from the log ratio of the densities and the log density of the second."""
    log_weight = log_weight - logsumexp(log_weight)
    value = float(logsumexp(order * ratio + log_weight))
    if value < 1e-2:
        # The mean of e^ratio - 1 is zero; taking it out keeps the digits of a divergence near zero.
        weight = np.exp(log_weight)
        power = np.where(
            order * ratio < 1.0,
            weight * np.expm1(np.minimum(order * ratio, 1.0)),
            np.exp(order * ratio + log_weight) - weight,
        )
        value = math.log1p(max(float(np.sum(power - order * (np.exp(ratio + log_weight) - weight))), 0.0))
    return value / (order - 1.0)
