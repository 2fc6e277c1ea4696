"""Whether a NumPyro model lets each record be seen alone: of made-up records, none may move what is of another.

A record is shown to the model by itself, so that its gradient can be clipped. A model that looks at a whole batch,
as by centring its inputs, normalising a layer or observing a sum, would silently become another model then.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.errors import InputError
from dpinfer.inference.one_record import Program, Shown, Trace, listed, plates_of, trace
from dpinfer.types import Tree

NEAR = 1e-4
"""Relative difference that rounding may make."""


def refuse_coupled(
    model: Program,
    guide: Program,
    parameters: Tree,
    records: tuple[Tree, ...],
    constants: Any,
    plates: frozenset[str],
) -> None:
    """Stop where a record's part of the density moves with another record, or any other part with a record.

    Args:
        model: The model.
        guide: The guide.
        parameters: Of both, by name.
        records: Three, which are made up.
        constants: Keyword arguments of both.
        plates: Names of the plates over records.
    """
    shown_model, shown_guide = (Shown(program, plates, 1, count=2) for program in (model, guide))

    def shown(*rows: int) -> Trace:
        pair = jax.tree.map(lambda leaf: leaf[np.array(rows)], records)
        return trace(shown_model, shown_guide, parameters, pair, constants)

    here, second_differs, first_differs = shown(0, 1), shown(0, 2), shown(2, 1)
    for name, site in here.items():
        if site["type"] != "sample":
            continue
        _refuse_shared(name, site, plates)
        inside = plates & plates_of(site)
        others = (second_differs,) if inside else (second_differs, first_differs)
        if all(_is_same(_of_first(site, plates), _of_first(other[name], plates)) for other in others):
            continue
        raise InputError(
            f"the site {name} of one record moves with another record, but each is shown to the model alone: "
            "scale inputs by constants, and take no statistics of the batch, as batch normalisation does"
            if inside
            else f"the site {name} moves with the records outside of a plate over records ({listed(plates)}): "
            "move it inside, as one term for each record"
        )


def _refuse_shared(name: str, site: Mapping[str, Any], plates: frozenset[str]) -> None:
    """Stop where records share one draw of a latent that the model has for each."""
    if site["is_observed"]:
        return
    events = len(site["fn"].event_shape)
    for frame in site["cond_indep_stack"]:
        shape = jnp.shape(site["value"])
        axis = frame.dim - events
        if frame.name in plates and (len(shape) < -axis or shape[axis] != 2):
            raise InputError(
                f"the latent {name} is one for each record, but the guide draws one for all: "
                "let the guide compute it from the record, inside of the plate"
            )


def _of_first(site: Mapping[str, Any], plates: frozenset[str]) -> jax.Array:
    """The weighted log-density of the first record, or all of it at a site outside of their plates."""
    scale = 1.0 if site["scale"] is None else site["scale"]
    density = scale * site["fn"].log_prob(site["value"])
    for frame in site["cond_indep_stack"]:
        if frame.name in plates and density.ndim >= -frame.dim:
            density = jnp.take(density, jnp.array([0]), axis=frame.dim)
    return density


def _is_same(one: jax.Array, other: jax.Array) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=NEAR, atol=NEAR**2, equal_nan=True))
