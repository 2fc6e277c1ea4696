"""The loss of one example as a flat list of equations, in which parameters and examples can be told apart.

JAX traces any function to a jaxpr. Here its calls are opened, what does not change from round to round is taken
out of loops, and small constants are folded, so that every equation is a single operation on numbered values.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive, Var

from dpinfer.types import Loss, Tree

CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint")
"""Primitives that run another program as it is. Those with a derivative of their own stay closed."""
SMALL = 64
"""Constants of at most so many numbers are folded."""


@dataclass(frozen=True, eq=False)
class Equation:
    """One operation.

    Attributes:
        primitive: The operation.
        params: Its settings.
        inputs: Numbers of the values that go in.
        outputs: Numbers of the values that come out.
        body: What a scan repeats; None elsewhere. Its inputs are those of the scan, in their order: constants,
            then what is carried along, then what is scanned.
    """

    primitive: Primitive
    params: dict[str, Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    body: "FlatProgram | None" = None

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.primitive.name

    def __call__(self, *values: Any) -> list[Any]:
        """Run it."""
        how: Any = self.primitive.get_bind_params(self.params)
        # JAX before 0.9 hands out functions apart from settings.
        functions, params = how if isinstance(how, tuple) else ((), how)
        made = self.primitive.bind(*functions, *values, **params)
        return list(made) if self.primitive.multiple_results else [made]


@dataclass
class FlatProgram:
    """Equations in the order in which they are run.

    Attributes:
        inputs: Numbers of the values that are given.
        outputs: Numbers of the values that are wanted.
        equations: The equations.
        constants: Values that are known, by number.
        avals: Shape and type of every value.
    """

    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    constants: dict[int, Any] = field(default_factory=dict)
    avals: list[Any] = field(default_factory=list)

    def size(self, value: int) -> int:
        """How many numbers a value has."""
        return math.prod(self.avals[value].shape)

    def is_real(self, value: int) -> bool:
        """Whether a value has derivatives."""
        return bool(jax.numpy.issubdtype(self.avals[value].dtype, np.floating))

    def is_known(self, value: int) -> bool:
        """Whether a value is there while a program is looked at."""
        known = self.constants.get(value)
        return known is not None and not isinstance(known, jax.core.Tracer)

    def new(self, aval: Any) -> int:
        """The number of a further value."""
        self.avals.append(aval)
        return len(self.avals) - 1

    def constant(self, value: Any, aval: Any) -> int:
        """The number of a further value that is known."""
        number = self.new(aval)
        self.constants[number] = value
        return number


def traced(loss: Loss, parameters: Tree, example: Tree) -> FlatProgram:
    """The loss of one example as a program; its inputs are the leaves of parameters, then those of the example."""
    closed = jax.make_jaxpr(loss)(parameters, example)
    return flattened(closed)


def flattened(closed: ClosedJaxpr) -> FlatProgram:
    """A jaxpr with its calls opened."""
    program = FlatProgram()
    program.inputs = [program.new(variable.aval) for variable in closed.jaxpr.invars]
    program.outputs = _inlined(program, closed.jaxpr, closed.consts, program.inputs)
    return program


def _inlined(program: FlatProgram, jaxpr: Jaxpr, consts: Iterable[Any], inputs: Sequence[int]) -> list[int]:
    """Add the equations of a jaxpr to a program; returns the numbers of what comes out."""
    known = {
        variable: program.constant(value, variable.aval)
        for variable, value in zip(jaxpr.constvars, consts, strict=True)
    }
    known |= dict(zip(jaxpr.invars, inputs, strict=True))

    def number(atom: Var | Literal) -> int:
        return program.constant(atom.val, atom.aval) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        given = [number(atom) for atom in equation.invars]
        known |= dict(zip(equation.outvars, _added(program, equation, given), strict=True))
    return [number(atom) for atom in jaxpr.outvars]


def _added(program: FlatProgram, equation: JaxprEqn, given: list[int]) -> Sequence[int]:
    """Add one equation to a program, or the equations that it stands for."""
    if equation.primitive.name in CALLS:
        inner: Any = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        jaxpr, consts = (inner.jaxpr, inner.consts) if isinstance(inner, ClosedJaxpr) else (inner, ())
        return _inlined(program, jaxpr, consts, given)
    if equation.primitive.name == "scan":
        return _scan(program, equation, given)
    return _kept(program, equation, given, None)


def _kept(program: FlatProgram, equation: JaxprEqn, given: list[int], body: FlatProgram | None) -> Sequence[int]:
    outputs = tuple(program.new(variable.aval) for variable in equation.outvars)
    made = Equation(equation.primitive, equation.params, tuple(given), outputs, body)
    if not _folded(program, made):
        program.equations.append(made)
    return outputs


def _folded(program: FlatProgram, equation: Equation) -> bool:
    """Compute what follows from small known values, such as the place at which something is cut."""
    involved = [*equation.inputs, *equation.outputs]
    if equation.body is not None or any(program.size(value) > SMALL for value in involved):
        return False
    if not all(program.is_known(value) for value in equation.inputs):
        return False
    if any(jax.numpy.issubdtype(program.avals[value].dtype, jax.dtypes.extended) for value in involved):
        return False
    values = [program.constants[value] for value in equation.inputs]
    with jax.ensure_compile_time_eval():
        program.constants |= dict(zip(equation.outputs, equation(*values), strict=True))
    return True


def _scan(program: FlatProgram, equation: JaxprEqn, given: list[int]) -> Sequence[int]:
    """Add a loop, and in front of it what is the same in every round."""
    body = flattened(equation.params["jaxpr"])
    count = equation.params["num_consts"]
    outside = dict(zip(body.inputs[:count], given[:count], strict=True))
    outside |= {value: program.constant(known, body.avals[value]) for value, known in body.constants.items()}
    repeated = list[Equation]()
    for inner in body.equations:
        if all(value in outside for value in inner.inputs) and inner.body is None:
            outputs = tuple(program.new(body.avals[value]) for value in inner.outputs)
            moved = Equation(inner.primitive, inner.params, tuple(outside[v] for v in inner.inputs), outputs)
            outside |= dict(zip(inner.outputs, outputs, strict=True))
            program.equations.append(moved)
        else:
            repeated.append(inner)
    asked = {value for inner in repeated for value in inner.inputs} | set(body.outputs)
    constants = [value for value in outside if value in asked]
    loop = FlatProgram([*constants, *body.inputs[count:]], body.outputs, repeated, {}, body.avals)
    return _kept(program, equation, [*(outside[value] for value in constants), *given[count:]], loop)
