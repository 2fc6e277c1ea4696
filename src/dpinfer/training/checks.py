"""What cannot be trained privately, or not as one would think, is refused before the first step, in a sentence."""

import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from dpinfer.clipping.sums import require_precision
from dpinfer.errors import InputError
from dpinfer.types import Loss, Tree

OURS = re.compile(r"batch_?norm", re.IGNORECASE)
REDUCTIONS = re.compile(r"reduce|arg(max|min)|dot_general|cum|psum|pmean|conv")


def require_parameters(parameters: Tree) -> None:
    """Refuse leaves that cannot be differentiated by."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(parameters):
        where = jax.tree_util.keystr(path) or "the only leaf"
        if not hasattr(leaf, "dtype") and not isinstance(leaf, float | int | complex):
            raise InputError(
                f"the parameters hold a {type(leaf).__name__} at {where}, but should be arrays alone: take them "
                "out of a module first, as by eqx.partition(module, eqx.is_inexact_array)"
            )
        kind = jnp.result_type(leaf)
        if not jnp.issubdtype(kind, jnp.floating):
            raise InputError(
                f"the parameters hold {kind} at {where}, but should be real floating-point numbers, by which "
                "there are gradients: keep other arrays out of them, as in a closure of the loss"
            )
    require_precision(jax.tree.map(jnp.asarray, parameters))


def require_optimiser(optimiser: optax.GradientTransformation, parameters: Tree, memory: Any) -> None:
    """Refuse an optimiser that asks for more than gradients and parameters, such as optax.lbfgs."""
    try:
        jax.eval_shape(optimiser.update, parameters, memory, parameters)
    except TypeError as error:
        raise InputError(
            "the optimiser should need gradients and parameters alone, but it asks for more, such as the loss, "
            f"which no noise covers: {error}"
        ) from error


def program_of(loss: Loss, parameters: Tree, records: Tree) -> ClosedJaxpr:
    """The gradient of the loss of one record as a program, once the loss has been found to be in order.

    Args:
        loss: The loss.
        parameters: Arrays, of which the shapes are used alone.
        records: Arrays with a leading axis, of which the shapes are used alone.
    """
    like = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), parameters)
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), records)
    try:
        forward, shape = jax.make_jaxpr(loss, return_shape=True)(like, one)
    except NameError as error:
        if "unbound axis name" not in str(error):
            raise
        raise InputError(
            f"the loss of one record asks for others ({error}), as batch normalisation does: use group or layer "
            "normalisation"
        ) from error
    if getattr(shape, "shape", None) != ():
        raise InputError(f"the loss of one record should be a single number, but is {shape}")
    refuse_batch_statistics(forward.jaxpr)
    return jax.make_jaxpr(jax.grad(loss))(like, one)


def refuse_batch_statistics(program: Jaxpr) -> None:
    """Refuse batch normalisation that takes its statistics from the one record that the loss sees.

    It would normalise each record by itself, which is not what was meant. With running averages it may stay.
    """
    name = next(_batch_statistics(program, ""), None)
    if name:
        raise InputError(
            f"the loss takes batch statistics ({name}) of a single record, as each record's loss must be its own: "
            "use group or layer normalisation, or batch normalisation with its running averages"
        )


def _batch_statistics(program: Jaxpr, within: str) -> Iterator[str]:
    """Names of the batch normalisations that reduce something."""
    for equation in program.eqns:
        name = within or _batch_norm_of(equation)
        if name and REDUCTIONS.search(equation.primitive.name):
            yield name
        for parameter in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda own: isinstance(own, Jaxpr | ClosedJaxpr)
        ):
            if isinstance(parameter, ClosedJaxpr):
                yield from _batch_statistics(parameter.jaxpr, name)
            elif isinstance(parameter, Jaxpr):
                yield from _batch_statistics(parameter, name)


def _batch_norm_of(equation: JaxprEqn) -> str:
    """The name of the batch normalisation whose code made an equation, or nothing.

    JAX keeps the frames of a function that it traces from the function itself on, not those of its callers.
    """
    traceback = equation.source_info.traceback
    frames: Any = traceback.frames if traceback else ()
    for frame in frames:
        file = re.split(r"[/\\]", frame.file_name)[-1]
        # A function within a test called so is none.
        function: str = frame.function_name.rpartition("<locals>.")[2]
        if OURS.search(function) or OURS.fullmatch(file.removesuffix(".py").strip("_")):
            return function
    return ""
