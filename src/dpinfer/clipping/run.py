"""Run a loss by its plan: one forward and one backward pass for all examples."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.clipping.plan import ClippingPlan, Tap, constants_of
from dpinfer.clipping.products import Factors, Multiplied, best_form
from dpinfer.clipping.program import Equation, FlatProgram

Values = dict[int, Any]
"""By the number that they have in a program."""


class Gradients(NamedTuple):
    """Every example's gradient, as far as it needs to be known.

    Attributes:
        losses: (batch,) the losses.
        factors: Of each tap, its factors, or their product where that is cheaper.
        copies: (batch, ...) gradients by copies, by directions and by opened parameters.
    """

    losses: jax.Array
    factors: list[Factors | Multiplied]
    copies: Values

    def of_counted(self, counted: jax.Array) -> "Gradients":
        """Zero what is of examples that do not count."""
        factors, copies = jax.tree.map(lambda leaf: of_counted(leaf, counted), (self.factors, self.copies))
        return Gradients(self.losses, factors, copies)


def of_counted(leaf: jax.Array, counted: jax.Array) -> jax.Array:
    """Zero what is of examples that do not count: where it is not finite, a weight of zero would not do."""
    return jnp.where(counted.reshape(-1, *(1,) * (leaf.ndim - 1)), leaf, jnp.zeros((), leaf.dtype))


def held(plan: ClippingPlan) -> list[Any]:
    """Shapes of the gradients that are held for each example."""
    return [plan.program.avals[value] for value in (*plan.copies, *plan.opened)]


def alone(plan: ClippingPlan, leaves: Mapping[int, Any], wanted: Iterable[int]) -> Values:
    """Compute values that follow from parameters alone, and nothing else."""
    made, values = plan.made_by(), {**plan.program.constants, **leaves}

    def compute(value: int) -> Any:
        if value not in values:
            equation = made[value]
            given = [compute(own) for own in equation.inputs]
            values.update(zip(equation.outputs, run_equation(equation, given), strict=True))
        return values[value]

    return {value: compute(value) for value in wanted}


def run_equation(equation: Equation, given: list[Any]) -> list[Any]:
    """Run an equation; a loop by its own body."""
    if equation.body is None:
        return equation(*given)
    return _loop(equation, given, [], lambda body, values, _: (_run(body, values), []))[0]


def _run(program: FlatProgram, values: Values) -> list[Any]:
    for equation in program.equations:
        given = [values[value] for value in equation.inputs]
        values.update(zip(equation.outputs, run_equation(equation, given), strict=True))
    return [values[value] for value in program.outputs]


def _loop(equation: Equation, given: list[Any], taps: Any, once: Any) -> tuple[list[Any], Any]:
    """Run a scan, each round by `once` with taps of its own; returns what comes out, and what went into taps."""
    body, params = equation.body, equation.params
    assert body is not None
    constants, carried = constants_of(equation), params["num_carry"]

    def round_of(carry: Any, scanned: Any) -> tuple[Any, Any]:
        own, tapped = scanned
        values = dict(zip(body.inputs, [*given[:constants], *carry, *own], strict=True))
        made, seen = once(body, values, tapped)
        return tuple(made[:carried]), (tuple(made[carried:]), seen)

    start, scanned = tuple(given[constants : constants + carried]), tuple(given[constants + carried :])
    last, (others, seen) = jax.lax.scan(
        round_of, start, (scanned, taps), params["length"], params["reverse"], params["unroll"]
    )
    return [*last, *others], seen


class Runner:
    """Runs the loss of one example with a zero added to what comes out of each tap, and tells what went in."""

    def __init__(self, plan: ClippingPlan) -> None:
        """Keep the plan."""
        self.plan = plan
        self.numbers = {id(tap.equation): number for number, tap in enumerate(plan.taps)}
        self.made_by = plan.made_by()

    def __call__(self, values: Values, zeros: dict[int, Any]) -> tuple[Any, dict[int, Any]]:
        """The loss, and by tap what went into it.

        Args:
            values: The example, copies, and all values that are alone and needed.
            zeros: By the number of a tap, what is added.
        """
        program = self.plan.program
        known, seen = {**program.constants, **values}, dict[int, Any]()
        for equation in self.plan.each:
            self._step(equation, known, zeros, seen)
        return self._local(known, program.outputs[0]), seen

    def _local(self, known: Values, value: int) -> Any:
        """A value as this example has it: what is alone, but follows from copies, is computed here."""
        if value not in known:
            equation = self.made_by[value]
            given = [self._local(known, own) for own in equation.inputs]
            known.update(zip(equation.outputs, run_equation(equation, given), strict=True))
        return known[value]

    def _step(self, equation: Equation, known: Values, zeros: dict[int, Any], seen: dict[int, Any]) -> None:
        given = [self._local(known, value) for value in equation.inputs]
        inside = self._within(equation)
        number = self.numbers.get(id(equation))
        if inside:
            made, passed = _loop(equation, given, {own: zeros[own] for own in inside}, self._round)
            seen.update(passed)
        else:
            made = run_equation(equation, given)
        if number is not None:
            made[0] = made[0] + zeros[number]
            seen[number] = given[1 - self.plan.taps[number].product.value]
        known.update(zip(equation.outputs, made, strict=True))

    def _round(self, body: FlatProgram, values: Values, zeros: dict[int, Any]) -> tuple[list[Any], dict[int, Any]]:
        seen = dict[int, Any]()
        for equation in body.equations:
            self._step(equation, values, zeros, seen)
        return [values[value] for value in body.outputs], seen

    def _within(self, equation: Equation) -> list[int]:
        """Numbers of the taps inside of a loop."""
        own = [] if equation.body is None else equation.body.equations
        here = [self.numbers[id(inner)] for inner in own if id(inner) in self.numbers]
        return here + [number for inner in own for number in self._within(inner)]


def gradients_of(plan: ClippingPlan, values: Values, leaves: Values, examples: list[Any], size: int) -> Gradients:
    """One forward and one backward pass for all examples.

    Args:
        plan: The plan.
        values: Those of `plan.parted`.
        leaves: Parameters by their numbers.
        examples: Leaves of the examples, (batch, ...).
        size: Of the batch.
    """
    runner, program = Runner(plan), plan.program
    shared = leaves | {tap.value: values[tap.value] for tap in plan.taps}
    copied = {value: values[value] for value in (*plan.copies, *plan.directions)}
    copied |= {leaf: leaves[leaf] for leaf in plan.opened}
    numbers = program.inputs[len(plan.leaves) :]

    def total(copies: Values, zeros: dict[int, Any]) -> tuple[jax.Array, tuple[jax.Array, dict[int, Any]]]:
        def one(own: Values, added: dict[int, Any], example: list[Any]) -> tuple[Any, dict[int, Any]]:
            return runner({**shared, **own, **dict(zip(numbers, example, strict=True))}, added)

        losses, seen = jax.vmap(one)(copies, zeros, examples)
        return losses.sum(), (losses, seen)

    copies = {value: jnp.broadcast_to(own, (size, *own.shape)) for value, own in copied.items()}
    zeros = {
        number: jnp.zeros((size, *tap.loops, *tap.out.shape), tap.out.dtype)
        for number, tap in enumerate(plan.taps)
    }
    (by_copy, by_tap), (losses, seen) = jax.grad(total, (0, 1), has_aux=True)(copies, zeros)
    alone_in_their_ties = {tie.taps[0] for tie in plan.ties if len(tie.taps) == 1}
    factors = list[Factors | Multiplied]()
    for number, tap in enumerate(plan.taps):
        own = _factors(tap, seen[number], by_tap[number])
        if number in alone_in_their_ties:
            factors.append(best_form(own, not plan.is_plain(tap.value), tap.product.fan_in))
        else:
            factors.append(own)
    return Gradients(losses, factors, by_copy)


def _factors(tap: Tap, seen: jax.Array, signal: jax.Array) -> Factors:
    """Factors for all examples, with the rounds of loops among the positions."""
    product = tap.product
    left, right = product.left, product.right
    for _ in range(1 + len(tap.loops)):
        left, right = jax.vmap(left), jax.vmap(right)
    a, g = left(seen), right(signal, seen)
    rounds, size = len(tap.loops), a.shape[0]
    if rounds:
        # (batch, rounds, groups, positions, ...) -> (batch, groups, rounds and positions, ...)
        g = jnp.moveaxis(g, -3, 1).reshape(size, product.groups, tap.positions, product.fan_out)
        a = (
            a.reshape(size, tap.positions)
            if product.looks_up
            else jnp.moveaxis(a, -3, 1).reshape(size, product.groups, tap.positions, product.fan_in)
        )
    wide = jnp.promote_types(g.dtype, jnp.float32)
    return Factors(a if product.looks_up else a.astype(wide), g.astype(wide))
