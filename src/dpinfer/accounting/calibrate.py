"""Calibration: the least noise, most steps or largest sampling rate within a budget.

Guarantee: what is returned was itself evaluated by the accountant asked for and found within the target, so a
calibrated setting never overspends, whatever the search did; an accountant's refusal counts as overspending.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpinfer.accounting import accountant as load
from dpinfer.accounting.base import accounted_as, check_delta, check_relation, parts, require, worst
from dpinfer.accounting.events import Event, Relation
from dpinfer.errors import InputError

EventOf = Callable[[float], Event]

_LEAST_NOISE, _MOST_NOISE = 1e-2, 1e9
_MOST_STEPS = 10**9
_LEAST_RATE = 1e-12
_MOST_EVALUATIONS = 100
# A few orders bracket the answer; the accountant asked for finds it.
_ROUGH_ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0, 256.0, 1024.0)


def noise_multiplier(
    target_epsilon: float,
    delta: float,
    event_of: EventOf,
    adjacency: Relation,
    accountant: str = "pld",
    tolerance: float = 1e-3,
    **options: Any,
) -> float:
    """Return the smallest noise multiplier found whose event is within the target.

    Args:
        target_epsilon: Budget, positive and finite.
        delta: The delta of the budget.
        event_of: What a run releases, as a function of the noise multiplier.
        adjacency: The adjacency relation of the guarantee.
        accountant: Name of the accountant.
        tolerance: Share of the target that may be left unspent.
        **options: Passed on to the accountant.

    Returns:
        A noise multiplier whose epsilon lies in [target (1 - tolerance), target], unless an end of the
        range [1e-2, 1e9] or the resolution of the accountant stops the search on the safe side.
    """
    spent = _spending(delta, adjacency, accountant, options)
    start = 1.0
    if accountant == "pld" and _is_known("rdp", event_of(start), adjacency):
        rough = _spending(delta, adjacency, "rdp", {"orders": _ROUGH_ORDERS})
        start = _largest(
            lambda u: rough(event_of(1.0 / u)),
            target_epsilon,
            1.0,
            1.0 / _MOST_NOISE,
            1.0 / _LEAST_NOISE,
            0.05,
        )
    inverse = _largest(
        lambda u: spent(event_of(1.0 / u)),
        target_epsilon,
        start,
        1.0 / _MOST_NOISE,
        1.0 / _LEAST_NOISE,
        tolerance,
    )
    return 1.0 / inverse


def num_steps(
    target_epsilon: float,
    delta: float,
    event_of: Callable[[int], Event],
    adjacency: Relation,
    accountant: str = "pld",
    **options: Any,
) -> int:
    """Return the largest number of steps within the target (at most 1e9), for `event_of` steps."""
    spent = _spending(delta, adjacency, accountant, options)
    return int(_largest(lambda n: spent(event_of(int(n))), target_epsilon, 1.0, 1.0, _MOST_STEPS, 0.0, True))


def sampling_rate(
    target_epsilon: float,
    delta: float,
    event_of: EventOf,
    adjacency: Relation,
    accountant: str = "pld",
    tolerance: float = 1e-3,
    **options: Any,
) -> float:
    """Return the largest sampling rate found within the target, for `event_of` sampling rates in (0, 1]."""
    spent = _spending(delta, adjacency, accountant, options)
    return _largest(lambda q: spent(event_of(q)), target_epsilon, 0.01, _LEAST_RATE, 1.0, tolerance)


def _spending(delta: float, adjacency: Relation, name: str, options: dict[str, Any]) -> Callable[[Event], float]:
    """Return the epsilon of an event, infinite where the accountant refuses."""
    check_delta(delta)
    check_relation(adjacency)
    module: Any = load(name)

    def spent(event: Event) -> float:
        for part in parts(event):
            require(module.supports(part, accounted_as(adjacency)))
        try:
            return float(worst(module, event, delta, adjacency, **options).upper)
        except InputError:
            return math.inf

    return spent


def _is_known(name: str, event: Event, adjacency: Relation) -> bool:
    """Whether an accountant can take an event."""
    module = load(name)
    return all(module.supports(part, accounted_as(adjacency)) is None for part in parts(event))


def _largest(
    value: Callable[[float], float],
    target: float,
    start: float,
    least: float,
    most: float,
    tolerance: float,
    whole: bool = False,
) -> float:
    """Return the largest u in [least, most] found with value(u) <= target, for a value that grows with u.

    A bracket (safe, unsafe) is narrowed by interpolating log value over log u, with bisection whenever that
    stalls. Only evaluated points are returned.
    """
    if not 0.0 < target < math.inf:
        raise InputError(f"The target epsilon is {target!r}, but must be positive and finite.")
    safe: tuple[float, float] | None = None
    unsafe: tuple[float, float] | None = None
    u = min(max(start, least), most)
    for turn in range(_MOST_EVALUATIONS):
        found = value(u)
        if found <= target:
            safe = (u, found)
        else:
            unsafe = (u, found)
        if safe is not None and _is_done(safe, unsafe, target, most, tolerance, whole):
            return safe[0]
        if safe is None and u <= least:
            raise InputError(f"The target epsilon {target:g} cannot be reached: {found:g} is the least found.")
        u = _next(safe, unsafe, target * (1.0 - tolerance / 2.0), turn)
        u = min(max(round(u) if whole else u, least), most)
        if whole and safe is not None and unsafe is not None:
            u = min(max(u, safe[0] + 1), unsafe[0] - 1)
    if safe is None:
        raise InputError(f"The target epsilon {target:g} cannot be reached within {_MOST_EVALUATIONS} trials.")
    return safe[0]


def _is_done(
    safe: tuple[float, float],
    unsafe: tuple[float, float] | None,
    target: float,
    most: float,
    tolerance: float,
    whole: bool,
) -> bool:
    if safe[0] >= most:
        return True
    if whole:
        return unsafe is not None and unsafe[0] - safe[0] <= 1
    close = safe[1] >= target * (1.0 - tolerance)
    return close or (unsafe is not None and unsafe[0] <= safe[0] * (1.0 + 1e-6))


def _next(safe: tuple[float, float] | None, unsafe: tuple[float, float] | None, aim: float, turn: int) -> float:
    """Return where to look next: outside the only known side, or inside the bracket."""
    if safe is None or unsafe is None:
        known, found = safe or unsafe or (1.0, aim)
        # Epsilon grows at most about as fast as u squared and at least as fast as its root, so do not leap.
        factor = aim / found if 0.0 < found < math.inf else (16.0 if found == 0.0 else 0.25)
        factor = min(max(factor, 1.0 / 64.0), 64.0)
        return known * (max(factor, 1.0) * 1.02 if safe else min(factor, 1.0) * 0.98)
    low, high = math.log(safe[0]), math.log(unsafe[0])
    share = 0.5
    if turn % 6 != 5 and safe[1] > 0.0 and unsafe[1] < math.inf:
        share = math.log(aim / safe[1]) / math.log(unsafe[1] / safe[1])
        share = min(max(share, 0.01), 0.99)
    return math.exp(low + share * (high - low))
