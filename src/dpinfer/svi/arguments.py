"""What the methods of `DPSVI` accept, and what they refuse because it cannot be private."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.infer import Trace_ELBO, TraceEnum_ELBO, TraceGraph_ELBO, TraceMeanField_ELBO
from numpyro.optim import Minimize

from dpinfer.errors import InputError
from dpinfer.types import Key, Tree

Args = tuple[Tree, ...]


def typed(key: Any) -> Key:
    """A typed key; raw ones, as `jax.random.PRNGKey` gives, are wrapped."""
    if not isinstance(key, jax.Array):
        raise InputError(f"the random key is {key!r}, but should be one that jax.random.key gives")
    return key if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else jax.random.wrap_key_data(key)


def length(args: Args) -> int:
    """The number of records in positional arguments."""
    if not jax.tree.leaves(args):
        raise InputError("there are no records: pass them by position, in front of the constants")
    lengths = {jnp.shape(leaf)[0] if jnp.ndim(leaf) else None for leaf in jax.tree.leaves(args)}
    if len(lengths) != 1 or None in lengths:
        raise InputError(
            "the positional arguments should be records, arrays of one and the same length: "
            "pass constants by keyword"
        )
    count = lengths.pop()
    if not count:
        raise InputError("there are no records: the positional arguments have a length of 0")
    return count


def mask_of(mask: Any, count: int) -> jax.Array:
    """(count,) which entries of a batch count; by a mask of other numbers, a record could count otherwise."""
    if mask is None:
        return jnp.ones(count, bool)
    if not hasattr(mask, "dtype") or mask.dtype.kind != "b" or mask.shape != (count,):
        raise InputError(f"the mask should be an array of {count} truth values, one for each entry of the batch")
    return jnp.asarray(mask)


def divide(kwargs: dict[str, Any]) -> tuple[dict[str, Any], tuple[tuple[str, Any], ...]]:
    """Keyword arguments that are arrays, and the others, by which a program is compiled."""
    arrays = {name: value for name, value in kwargs.items() if isinstance(value, jax.Array | np.ndarray)}
    return arrays, tuple((name, value) for name, value in kwargs.items() if name not in arrays)


def agreed(known: dict[str, int | None]) -> int:
    """The number of all records, about which all sources that state it must agree."""
    stated = {source: number for source, number in known.items() if number is not None}
    if not stated:
        raise InputError(
            "the model's plate has the size of the batch: state the number of all records by num_records"
        )
    if len(set(stated.values())) > 1:
        listed = ", ".join(f"{number} by the {source}" for source, number in stated.items())
        raise InputError(f"the number of records is {listed}, but should be the same")
    return next(iter(stated.values()))


def of_masked(expected_batch: float | None) -> float:
    """What a sum over a masked batch is divided by."""
    if expected_batch is None:
        raise InputError(
            "a masked batch has no public size of its own: state expected_batch, by which its sum is divided"
        )
    return expected_batch


def refuse_records(kwargs: dict[str, Any], *sizes: int | None) -> None:
    """Stop where records seem to come by keyword: all of them would then enter every single gradient."""
    for name, value in kwargs.items():
        if any(jnp.ndim(leaf) and jnp.shape(leaf)[0] in sizes for leaf in jax.tree.leaves(value)):
            raise InputError(
                f"the keyword argument {name} has as many entries as there are records: pass records by position, "
                "so that each is clipped, and public constants to the constructor"
            )


def refuse_optimiser(optim: Any, state: Any) -> None:
    """Stop where an optimiser uses more of the records than the perturbed gradient, as the value of the loss."""
    nothing = jax.tree.map(jnp.zeros_like, optim.get_params(state))
    after = [jax.tree.leaves(optim.update(nothing, state, value=jnp.asarray(value))) for value in (0.0, 1e3)]
    same = all(np.array_equal(one, other, equal_nan=True) for one, other in zip(*after, strict=True))
    if isinstance(optim, Minimize) or not same:
        raise InputError("the optimiser looks at the loss, which no noise protects: choose another")


def refuse_informed_start(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Stop where parameters start otherwise on other records."""
    for name, value in other.items():
        pairs = zip(jax.tree.leaves(value), jax.tree.leaves(one[name]), strict=True)
        if not all(np.array_equal(here, there, equal_nan=True) for here, there in pairs):
            raise InputError(
                f"the parameter {name} starts from the values of the records, which no noise protects: "
                "start it from a constant"
            )


def refuse_elbo(loss: Any) -> None:
    """Stop where an objective is no sum over records."""
    if not isinstance(loss, Trace_ELBO | TraceMeanField_ELBO | TraceGraph_ELBO | TraceEnum_ELBO):
        raise InputError(
            f"{type(loss).__name__} is no sum over records, so that their gradients cannot be clipped one by one: "
            "choose Trace_ELBO, TraceMeanField_ELBO, TraceGraph_ELBO or TraceEnum_ELBO"
        )


def refuse_forward_mode(is_asked_for: bool) -> None:
    """Stop where gradients should be taken in another way than one by one."""
    if is_asked_for:
        raise InputError("forward_mode_differentiation is not available: records' gradients are in reverse mode")


def refuse_non_finite(parameters: dict[str, Any], num_steps: int) -> None:
    """Raise for the first parameter that has got lost. It is private, and so is whether it is finite."""
    for name, value in parameters.items():
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(value)):
            raise FloatingPointError(
                f"the parameter {name} is not finite after {num_steps} steps: try a smaller learning rate"
            )
