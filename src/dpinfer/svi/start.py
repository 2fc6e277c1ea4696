"""How inference starts: on made-up records, of which nothing may follow. The records are not looked at."""

import inspect
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer import SVI
from numpyro.infer.autoguide import (
    AutoDAIS,
    AutoGuide,
    AutoLaplaceApproximation,
    AutoSemiDAIS,
    AutoSurrogateLikelihoodDAIS,
)
from numpyro.infer.svi import SVIState

from dpinfer.errors import InputError
from dpinfer.inference.one_record import View, first, look, refuse_coupled, refuse_parameter
from dpinfer.random import dummy_arrays
from dpinfer.svi.arguments import refuse_informed_start, refuse_optimiser
from dpinfer.svi.charge import is_traced
from dpinfer.types import Key, Tree

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


class StartedOnDummies(SVI):
    """NumPyro's SVI, whose model, guide and first state know nothing of the records but their shapes."""

    def started(
        self, key: Key, args: Any, init_params: Any, kwargs: dict[str, Any], dummies: tuple[Tree, ...] | None
    ) -> tuple[View, SVIState]:
        """What is known of the model, and the first state.

        Args:
            key: For the state.
            args: Records, or their shapes.
            init_params: Values to start from instead of those of the guide.
            kwargs: Constants of model and guide.
            dummies: Made-up records, where numbers of ours will not do.
        """
        # Outside of a program that is being compiled, what is computed here is compiled for the state as well.
        at_once = jax.ensure_compile_time_eval if is_traced(key) else nullcontext
        with at_once():
            sets = two_sets(args, dummies)
        with looking():
            self._refuse_growing(sets[0], init_params, kwargs)
            with at_once():
                view = self._looked_at(sets, init_params, kwargs)
        if not is_traced(key):
            # Else the guide keeps what it was set up with: values that are being compiled for must not stay.
            forget(self.guide)
        return view, super().init(key, *first(sets[0], 2), init_params=init_params, **kwargs)

    def _looked_at(self, sets: list[Any], init_params: Any, kwargs: dict[str, Any]) -> View:
        """What is known of the model, by two sets of made-up records, which must not make a difference."""
        views, starts = [], []
        constants = {**kwargs, **self.static_kwargs}
        for records in sets:
            forget(self.guide)
            state = super().init(jax.random.key(0), *first(records, 2), init_params=init_params, **kwargs)
            if state.mutable_state is not None:
                raise InputError("the model keeps mutable state, which would carry records past the noise")
            starts.append(self.get_params(state))
            views.append(look(self.model, self.guide, starts[-1], records, constants))
            moved = self.constrain_fn(jitter(self.optim.get_params(state.optim_state)))
            refuse_coupled(self.model, self.guide, moved, records, constants, views[-1].plates)
        refuse_optimiser(self.optim, state.optim_state)
        refuse_informed_start(*starts)
        here, there = views
        return here if here.observations == there.observations else here._replace(observations=1.0)

    def _refuse_growing(self, records: Any, init_params: Any, kwargs: dict[str, Any]) -> None:
        """Stop where parameters are more for more records."""
        begin = super().init

        def start(*dummies: Any) -> Any:
            forget(self.guide)
            return self.optim.get_params(
                begin(jax.random.key(0), *dummies, init_params=init_params, **kwargs).optim_state
            )

        shapes = [jax.eval_shape(start, *first(records, count)) for count in (2, 3)]
        for name, value in shapes[1].items():
            if jax.tree.map(jnp.shape, value) != jax.tree.map(jnp.shape, shapes[0][name]):
                refuse_parameter(name)


def jitter(parameters: Tree) -> Tree:
    """Parameters near by: at a start of zeros, much that depends on records would not show."""
    source = np.random.default_rng(0)
    return jax.tree.map(lambda leaf: leaf + 0.1 * source.normal(size=leaf.shape).astype(leaf.dtype), parameters)
