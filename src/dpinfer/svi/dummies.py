"""Made-up records, on which models are looked at and started: of the records themselves only shapes are used."""

import functools
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
    """Have an automatic guide set up anew when it is called next, so that nothing it has seen before remains."""
    if isinstance(guide, BINDS_DATA):
        raise InputError(
            f"{type(guide).__name__} keeps the records that it is set up with, past all noise: choose another, "
            "such as AutoNormal or AutoMultivariateNormal"
        )
    if isinstance(guide, AutoGuide):
        guide.prototype_trace = None
    for part in (*getattr(guide, "_guides", ()), getattr(guide, "fn", None)):
        if part is not None:
            forget(part)
    if isinstance(guide, functools.partial):
        forget(guide.func)


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
