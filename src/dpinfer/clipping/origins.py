"""Where the numbers of a value come from that is computed of parameters alone.

The gradient of an example is known at values that meet the example, and wanted at parameters. Where every number
of such a value follows from at most one number of each parameter, and none goes to two, the Jacobian J by a
parameter has at most one entry d in each row and column, so that |J^T y|^2 is the sum of d^2 y^2. That holds for
parameters themselves, for reshaped, transposed and cut ones, for functions number by number such as softplus, and
for the draw loc + scale * e of a mean-field guide.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from dpinfer.clipping.program import CALLS, Equation, FlatProgram

MOVES = {
    "broadcast_in_dim", "copy", "copy_p", "convert_element_type", "dynamic_slice", "expand_dims", "pad",
    "reduce_precision", "reshape", "rev", "slice", "split", "squeeze", "transpose",
}  # fmt: skip
"""Operations that move the numbers of their first input, and change none."""
EXACT = {"add", "sub", "neg", "add_any"}
"""Operations number by number whose derivative is 1 or -1."""
BY_NUMBER = EXACT | {
    "abs", "acos", "acosh", "and", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clamp", "cos",
    "cosh", "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt",
    "integer_pow", "is_finite", "le", "lgamma", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne",
    "not", "or", "pow", "rem", "round", "rsqrt", "select_n", "sign", "sin", "sinh", "sqrt", "square", "tan",
    "tanh", "xor",
}  # fmt: skip
CHANGES = BY_NUMBER | {"convert_element_type"}
NOWHERE = -1


@dataclass(frozen=True)
class Move:
    """One step of a trail.

    Attributes:
        equation: What moves numbers.
        given: Which of its inputs they were.
        made: Which of its outputs they became.
        shapes: Of its inputs.
        settings: Its inputs after the first, such as where it cuts, where they are known.
    """

    equation: Equation
    given: int
    made: int
    shapes: tuple[tuple[int, ...], ...] = field(compare=False)
    settings: tuple[Any, ...] = field(compare=False)

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """Move places as the equation moves numbers."""
        name = self.equation.name
        if name in {"convert_element_type", "copy", "copy_p", "reduce_precision"}:
            return places
        if name == "concatenate":
            parts = [np.full(shape, NOWHERE, np.int32) for shape in self.shapes]
            parts[self.given] = places
            return np.concatenate(parts, self.equation.params["dimension"])
        settings = [np.int32(NOWHERE)] if name == "pad" else self.settings
        return np.asarray(self.equation(jnp.asarray(places), *settings)[self.made])


@dataclass(frozen=True)
class Trail:
    """How the numbers of a parameter came to their places in a value.

    Attributes:
        moves: What moved them, in order.
        exact: Whether they have been moved alone, or changed in sign.
    """

    moves: tuple[Move, ...] = ()
    exact: bool = True

    def moved(self, move: Move) -> "Trail":
        """The trail after one more move."""
        return Trail((*self.moves, move), self.exact)

    def changed(self, exact: bool) -> "Trail":
        """The trail after a function number by number."""
        return Trail(self.moves, self.exact and exact)

    @property
    def fills(self) -> bool:
        """Whether all numbers of the value come from the parameter."""
        return not any(move.equation.name in {"concatenate", "pad"} for move in self.moves)

    def layout(self, shape: tuple[int, ...]) -> np.ndarray:
        """For each number of the value its place in the parameter, of that shape; -1 if it is from elsewhere."""
        places = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
        with jax.ensure_compile_time_eval():
            for move in self.moves:
                places = move(places)
        return places

    def ends_as(self, other: "Trail", shape: tuple[int, ...]) -> bool:
        """Whether both trails end in the same layout."""
        return self.moves == other.moves or np.array_equal(self.layout(shape), other.layout(shape))


Origins = dict[int, Trail | None]
"""By parameter, the trail to a value; None where its numbers are mixed."""


def origins_of(equation: Equation, program: FlatProgram, known: dict[int, Origins]) -> list[Origins]:
    """Origins of what an equation makes of values whose origins are known."""
    given = [known[value] for value in equation.inputs]
    mixed: Origins = dict.fromkeys(leaf for origins in given for leaf in origins)
    made = [mixed for _ in equation.outputs]
    if mixed and equation.name in MOVES and _only_moves(equation, program, given):
        made = [_moved(_move(equation, program, 0, place), given[0]) for place in range(len(equation.outputs))]
    elif mixed and equation.name == "concatenate":
        made = [_joined(equation, program, given)]
    elif mixed and _is_by_number(equation, program):
        made = [_by_number(equation, program, given, value) for value in equation.outputs]
    # Whole numbers and truth values have no derivatives.
    return [own if program.is_real(value) else {} for value, own in zip(equation.outputs, made, strict=True)]


def _only_moves(equation: Equation, program: FlatProgram, given: list[Origins]) -> bool:
    value, *settings = equation.inputs
    if equation.name == "convert_element_type" and narrows(equation, program):
        return False
    if any(given[1:]) or (equation.name == "dynamic_slice" and not all(map(program.is_known, settings))):
        return False
    return equation.name != "broadcast_in_dim" or program.size(equation.outputs[0]) == program.size(value)


def narrows(equation: Equation, program: FlatProgram) -> bool:
    """Whether numbers lose digits: a sum of gradients that came back through it would lose them, too."""
    before, after = (program.avals[value].dtype.itemsize for value in (equation.inputs[0], equation.outputs[0]))
    return bool(after < before)


def _move(equation: Equation, program: FlatProgram, given: int, made: int) -> Move:
    shapes = tuple(program.avals[value].shape for value in equation.inputs)
    settings = tuple(program.constants.get(value) for value in equation.inputs[1:])
    return Move(equation, given, made, shapes, settings)


def _moved(move: Move, origins: Origins) -> Origins:
    return {leaf: trail and trail.moved(move) for leaf, trail in origins.items()}


def _joined(equation: Equation, program: FlatProgram, given: list[Origins]) -> Origins:
    made: Origins = {}
    for place, origins in enumerate(given):
        for leaf, trail in _moved(_move(equation, program, place, 0), origins).items():
            made[leaf] = None if leaf in made else trail
    return made


def _by_number(equation: Equation, program: FlatProgram, given: list[Origins], made: int) -> Origins:
    shape = program.avals[made].shape
    found: Origins = {}
    for value, origins in zip(equation.inputs, given, strict=True):
        for leaf, trail in origins.items():
            if trail is None or program.avals[value].shape != shape:
                found[leaf] = None
            elif leaf not in found:
                found[leaf] = trail.changed(equation.name in EXACT)
            else:
                # The same parameter twice, as in x * sigmoid(x): number by number, if both have the same layout.
                other = found[leaf]
                alike = other is not None and other.ends_as(trail, program.avals[leaf].shape)
                found[leaf] = trail.changed(exact=False) if alike else None
    return found


def _is_by_number(equation: Equation, program: FlatProgram) -> bool:
    if equation.name != "custom_jvp_call":
        return equation.name in BY_NUMBER
    if not all(map(program.is_real, (*equation.inputs, *equation.outputs))):
        return False
    # A derivative of somebody's own need not be one number by number, even if the function is.
    given = [jax.ShapeDtypeStruct(program.avals[v].shape, program.avals[v].dtype) for v in equation.inputs]
    return _all_by_number(jax.make_jaxpr(lambda at, by: jax.jvp(equation, at, by))(given, given))


def _fills(equation: JaxprEqn) -> bool:
    """Whether an equation repeats one number."""
    given: Any = equation.invars[0].aval
    return equation.primitive.name == "broadcast_in_dim" and given.shape == ()


def _all_by_number(inner: Any) -> bool:
    """Whether a jaxpr, closed or not, works number by number throughout."""
    jaxpr = getattr(inner, "jaxpr", inner)
    shapes = {variable.aval.shape for variable in jaxpr.outvars}
    for equation in jaxpr.eqns:
        deeper = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        is_call = equation.primitive.name in (*CALLS, "custom_jvp_call") and deeper is not None
        if not (_all_by_number(deeper) if is_call else equation.primitive.name in CHANGES or _fills(equation)):
            return False
        shapes |= {variable.aval.shape for variable in equation.outvars}
    return len(shapes - {()}) <= 1
