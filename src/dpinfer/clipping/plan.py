"""How the gradients of a loss are clipped: where parameters meet examples, and what is done there.

A value is *alone* if it follows from parameters, not from the example. It is computed once for all examples. Where
it meets the example, its gradient is one for each example, and there are three ways to norms and sums of these:
- product: the equation is a product, whose gradient has two factors (`products`); neither is multiplied out
  for single examples, unless that is the cheapest;
- copy: each example has a copy of the value, and so a gradient of its own in memory: for biases and scales;
- direction: of one number that depends on many parameters, as of a prior's density, the gradients of all examples
  point in the same direction, and only their lengths differ.
What has no better way becomes a copy, of single parameters at worst. That is what `vmap` does for all of them.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dpinfer.clipping.origins import NOWHERE, Origins, Trail, origins_of
from dpinfer.clipping.products import Product, product_of
from dpinfer.clipping.program import Equation, FlatProgram

MANY = 256
"""Copies of more numbers are worth a direction."""
MOST_DIRECTIONS = 32
"""Numbers in all whose gradients are directions: each costs one more forward pass of what it depends on."""


class Tap(NamedTuple):
    """A product of an example with a value that is alone.

    Attributes:
        equation: The equation.
        product: What it is.
        value: Number of the value.
        out: Shape and type of what comes out of it.
        loops: How often each loop around it goes round.
    """

    equation: Equation
    product: Product
    value: int
    out: Any
    loops: tuple[int, ...]

    @property
    def positions(self) -> int:
        """Rows that an example has for each matrix, in all rounds."""
        return self.product.positions * int(np.prod(self.loops))


class Tie(NamedTuple):
    """Taps whose gradients add up, as they share parameters.

    Attributes:
        taps: Numbers of the taps.
        swapped: Whether a tap's rows are the first one's columns.
    """

    taps: tuple[int, ...]
    swapped: tuple[bool, ...]


@dataclass
class ClippingPlan:
    """What is done where parameters meet examples.

    Attributes:
        program: The loss of one example.
        leaves: Numbers of the parameters; all other inputs are the example.
        opened: Parameters of which each example has a copy from the start.
        taps: Products.
        ties: The taps, those together that share parameters.
        copies: Values of which each example has a copy.
        directions: Single numbers whose gradients are directions.
        origins: Of every value that is alone, where it comes from.
        each: Equations that are run for each example.
    """

    program: FlatProgram
    leaves: tuple[int, ...]
    opened: frozenset[int]
    taps: list[Tap] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    directions: list[int] = field(default_factory=list)
    origins: dict[int, Origins] = field(default_factory=dict)
    each: list[Equation] = field(default_factory=list)

    def is_plain(self, value: int, block: frozenset[int] | None = None) -> bool:
        """Whether every number of a value is one of a parameter, of those of a block, but for its sign."""
        trails = {leaf: own for leaf, own in self.origins[value].items() if block is None or leaf in block}
        if not all(trail and trail.exact for trail in trails.values()):
            return False
        if len(trails) == 1 and all(trail and trail.fills for trail in trails.values()):
            return True
        return bool((sum(_layout(self, value, leaf) != NOWHERE for leaf in trails) == 1).all())

    @property
    def parted(self) -> set[int]:
        """Values at which each example's gradient is known, but for opened parameters."""
        return {tap.value for tap in self.taps} | {*self.copies, *self.directions}

    def made_by(self) -> dict[int, Equation]:
        """The equation that makes each value which is alone."""
        return {value: own for own in self.program.equations for value in own.outputs if value in self.origins}


def plan_of(program: FlatProgram, num_leaves: int) -> ClippingPlan:
    """Find the cheapest way for each parameter; parameters whose ways get into each other's are opened."""
    leaves = tuple(program.inputs[:num_leaves])
    opened = frozenset[int]()
    while True:
        plan = _met(program, leaves, opened)
        clash = _tied(plan)
        if clash is None:
            return plan
        opened |= {clash}


def _met(program: FlatProgram, leaves: tuple[int, ...], opened: frozenset[int]) -> ClippingPlan:
    """Meet every equation in turn."""
    plan = ClippingPlan(program, leaves, opened)
    plan.origins = {value: {} for value in program.constants}
    plan.origins |= {leaf: {leaf: Trail()} for leaf in leaves if leaf not in opened}
    makers = dict[int, Equation]()
    for equation in program.equations:
        if equation.outputs and all(value in plan.origins for value in equation.inputs):
            found = origins_of(equation, program, plan.origins)
            plan.origins |= dict(zip(equation.outputs, found, strict=True))
            makers |= dict.fromkeys(equation.outputs, equation)
            continue
        plan.each.append(equation)
        for place, value in enumerate(equation.inputs):
            if plan.origins.get(value):
                _meet(plan, makers, equation, place)
    for value in program.outputs:
        if plan.origins.get(value):
            _part(plan, makers, value)
    return plan


def _meet(plan: ClippingPlan, makers: dict[int, Equation], equation: Equation, place: int) -> None:
    value = _as_it_was(makers, equation.inputs[place])
    taps = None
    if all(plan.origins[value].values()):
        taps = _taps(plan.program, equation, place, value, ())
    if taps is None:
        _part(plan, makers, value)
    else:
        plan.taps += taps


def _as_it_was(makers: dict[int, Equation], value: int) -> int:
    """A value before it was converted to another type: at that, sums of gradients keep all their digits."""
    while value in makers and makers[value].name == "convert_element_type":
        value = makers[value].inputs[0]
    return value


def _taps(
    program: FlatProgram, equation: Equation, place: int, value: int, loops: tuple[int, ...]
) -> list[Tap] | None:
    """The products that an equation makes of one of its inputs; None if it makes anything else of it."""
    body = equation.body
    if body is None:
        found = product_of(equation, program, place)
        return None if found is None else [Tap(equation, found, value, program.avals[equation.outputs[0]], loops)]
    inner = body.inputs[place]
    if place >= constants_of(equation) or inner in body.outputs:
        return None
    taps = list[Tap]()
    for own in body.equations:
        for at, used in enumerate(own.inputs):
            if used == inner:
                more = _taps(body, own, at, value, (*loops, equation.params["length"]))
                if more is None:
                    return None
                taps += more
    return taps


def constants_of(equation: Equation) -> int:
    """How many inputs of a loop are the same in every round."""
    params = equation.params
    assert equation.body is not None
    scanned = len(params["jaxpr"].in_avals) - params["num_consts"] - params["num_carry"]
    return len(equation.inputs) - params["num_carry"] - scanned


def _part(plan: ClippingPlan, makers: dict[int, Equation], value: int) -> None:
    """Give each example a copy of a value, or of those that it follows from; or take it as a direction."""
    cuts = _cuts(plan, makers, value)
    size, copied = plan.program.size(value), sum(map(plan.program.size, cuts))
    taken = sum(map(plan.program.size, plan.directions))
    if value in plan.directions or (
        not all(plan.origins[value].values()) and copied > MANY * size and taken + size <= MOST_DIRECTIONS
    ):
        plan.directions = list(dict.fromkeys([*plan.directions, value]))
    else:
        plan.copies = list(dict.fromkeys([*plan.copies, *cuts]))


def _cuts(plan: ClippingPlan, makers: dict[int, Equation], value: int) -> list[int]:
    """The last values before this one whose numbers are not mixed."""
    if all(plan.origins[value].values()):
        return [value]
    parts = [given for given in makers[value].inputs if plan.origins[given]]
    return list(dict.fromkeys(cut for part in parts for cut in _cuts(plan, makers, part)))


def _tied(plan: ClippingPlan) -> int | None:
    """Find taps that share parameters; returns a parameter that is used in ways that cannot be told together."""
    users = defaultdict[int, list[int]](list)
    for number, value in enumerate([*(tap.value for tap in plan.taps), *plan.copies]):
        for leaf in plan.origins[value]:
            users[leaf].append(number)
    joined = {number: {number} for number in range(len(plan.taps))}
    for leaf, numbers in users.items():
        for one, other in _sharing(plan, leaf, numbers):
            if max(one, other) >= len(plan.taps):
                return leaf
            for number in joined[one] | joined[other]:
                joined[number] = joined[one] | joined[other]
    for together in dict.fromkeys(tuple(sorted(group)) for group in joined.values()):
        tie = _tie(plan, list(together))
        if tie is None:
            return min(plan.origins[plan.taps[together[0]].value])
        plan.ties.append(tie)
    return None


def _sharing(plan: ClippingPlan, leaf: int, numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of taps and copies that have numbers of a parameter in common."""
    if len(numbers) == 1:
        return
    values = [*(tap.value for tap in plan.taps), *plan.copies]
    used = [_used(plan, values[number], leaf) for number in numbers]
    for (one, here), (other, there) in combinations(zip(numbers, used, strict=True), 2):
        if (here & there).any():
            yield one, other


def _used(plan: ClippingPlan, value: int, leaf: int) -> np.ndarray:
    """Which numbers of a parameter a value has."""
    used = np.zeros(plan.program.size(leaf) + 1, bool)
    used[_layout(plan, value, leaf)] = True
    # What comes from elsewhere has the place -1, the last.
    return used[:-1]


def _layout(plan: ClippingPlan, value: int, leaf: int) -> np.ndarray:
    trail = plan.origins[value][leaf]
    assert trail is not None
    return trail.layout(plan.program.avals[leaf].shape)


def _tie(plan: ClippingPlan, numbers: list[int]) -> Tie | None:
    """Taps whose matrices have the same numbers of one parameter, or of one value, in the same places."""
    if len(numbers) == 1:
        return Tie((numbers[0],), (False,))
    taps = [plan.taps[number] for number in numbers]
    grounds = [_ground(plan, tap, shared=len({own.value for own in taps}) == 1) for tap in taps]
    if any(ground is None for ground in grounds):
        return None
    first, *others = grounds
    assert first is not None
    swapped = [False]
    for ground in others:
        if np.array_equal(first, ground):
            swapped.append(False)
        elif np.array_equal(first, ground.swapaxes(1, 2)):
            swapped.append(True)
        else:
            return None
    return Tie(tuple(numbers), tuple(swapped))


def _ground(plan: ClippingPlan, tap: Tap, shared: bool) -> Any:
    """The places of a tap's matrices in what is shared: one value, or one parameter as it is."""
    origins = plan.origins[tap.value]
    if shared:
        size = plan.program.size(tap.value)
        return tap.product.matrices(np.arange(size).reshape(plan.program.avals[tap.value].shape))
    if len(origins) != 1 or not all(trail and trail.exact for trail in origins.values()):
        return None
    return tap.product.matrices(_layout(plan, tap.value, next(iter(origins))))
