"""Made-up records, on which models are looked at and started: of the records themselves only shapes are used."""

import inspect
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpyro
from numpyro.infer.autoguide import (
    AutoDAIS,
    AutoGuide,
    AutoLaplaceApproximation,
    AutoSemiDAIS,
    AutoSurrogateLikelihoodDAIS,
)

from dpinfer.errors import InputError
from dpinfer.random import dummy_arrays
from dpinfer.types import Tree

COUNT = 3
BINDS_DATA = (AutoDAIS, AutoSemiDAIS, AutoSurrogateLikelihoodDAIS, AutoLaplaceApproximation)


def two_sets(args: tuple[Tree, ...], given: tuple[Tree, ...] | None) -> list[Any]:
    """Two different sets of three made-up records in the shapes of the records.

    Args:
        args: Records, or their shapes.
        given: Records that the user has made up, where numbers of ours will not do.
    """
    if given is None:
        one = jax.eval_shape(lambda: jax.tree.map(lambda leaf: jnp.asarray(leaf)[0], args))
        return [jax.tree.map(jnp.asarray, dummy_arrays.like(one, seed, COUNT)) for seed in (0, 1)]
    alike = str(jax.tree.structure(given)) == str(jax.tree.structure(args))
    if not alike or any(len(leaf) < COUNT for leaf in jax.tree.leaves(given)):
        raise InputError(f"dummies should be {COUNT} made-up records or more, in the form of the records")
    own = jax.tree.map(lambda leaf: jnp.asarray(leaf)[:COUNT], given)
    return [own, jax.tree.map(lambda leaf: leaf[::-1], own)]


def forget(guide: Any) -> None:
    """Have automatic guides set up anew when they are called next, so that nothing they have seen before remains.

    They are looked for in what a guide is made of: handlers, lists, partial functions, methods, closures and the
    globals that a function names.
    """
    found, waiting = dict[int, Any](), [guide]
    while waiting:
        part = waiting.pop()
        if id(part) not in found:
            found[id(part)] = part
            waiting.extend(own for own in _made_of(part) if callable(own))
    for part in found.values():
        _forget(part)


def _made_of(guide: Any) -> Iterator[Any]:
    """What a guide may call."""
    yield from getattr(guide, "_guides", ())
    yield from (getattr(guide, name, None) for name in ("fn", "func", "__self__", "__wrapped__"))
    yield from (own for own in getattr(guide, "__dict__", {}).values() if isinstance(own, AutoGuide))
    function = inspect.unwrap(guide) if inspect.isfunction(guide) else None
    if function is not None:
        cells = function.__closure__ or ()
        yield from (cell.cell_contents for cell in cells if cell != types.CellType())
        named = (function.__globals__.get(name) for name in function.__code__.co_names)
        yield from (own for own in named if isinstance(own, AutoGuide))


def _forget(guide: Any) -> None:
    if isinstance(guide, BINDS_DATA):
        raise InputError(
            f"{type(guide).__name__} keeps the records that it is set up with, past all noise: choose another, "
            "such as AutoNormal or AutoMultivariateNormal"
        )
    if isinstance(guide, AutoGuide):
        guide.prototype_trace = None


@contextmanager
def looking() -> Iterator[None]:
    """Call models on made-up records, which need not be plausible."""
    with warnings.catch_warnings(), numpyro.validation_enabled(False):
        warnings.simplefilter("ignore")
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            problem = str(error).partition("\n")[0]
            raise InputError(
                f"the model cannot be run on made-up records ({type(error).__name__}: {problem}): its plate over "
                "records should follow their number, as plate(name, len(x)) or plate(name, N, len(x)); or pass "
                "dummies=, records made up by you that it can be run on"
            ) from error
