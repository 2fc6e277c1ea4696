"""NumPyro models seen one record at a time, as clipping needs them.

A model is called with one record. Its plate over the records then weighs that record's likelihood by the number N
of all records, and the prior stands beside it once. Divided by the weight s of the observations, the gradient is
that of -log p(x_i | z) + (log q(z) - log p(z)) / N where s = N: one record's share of the negative ELBO.

A model must let each record be seen by itself: of made-up records, none may move what is of another.

A record is shown to the model by itself, so that its gradient can be clipped. A model that looks at a whole batch,
as by centring its inputs, normalising a layer or observing a sum, would silently become another model then.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from numpyro.primitives import Messenger

from dpinfer.errors import InputError
from dpinfer.types import Key, Tree

Program = Callable[..., Any]
Trace = Mapping[str, Any]
NEAR = 1e-4
"""Relative difference that rounding may make."""


class View(NamedTuple):
    """What was found out about a model and its guide.

    Attributes:
        plates: Names of the plates over records.
        num_records: How many records there are in all, by those plates; None where they follow the batch.
        observations: The weight of the observed sites of one record as the model states it, its plates' apart.
    """

    plates: frozenset[str]
    num_records: int | None
    observations: float


class Shown(Messenger):
    """Show a program the first records alone: the indices of its plates over records are 0, 1, ...

    Args:
        fn: A model or a guide.
        plates: Names of its plates over records.
        weight: How many records one stands for, where the plate does not say so itself; else 1.
        count: How many records it is shown.
    """

    def __init__(self, fn: Program, plates: frozenset[str], weight: float, count: int = 1) -> None:
        super().__init__(fn)
        self.plates = plates
        self.weight = weight
        self.count = count

    def process_message(self, msg: dict[str, Any]) -> None:
        """Weigh what is inside of a plate over records."""
        if self.weight != 1 and msg["type"] == "sample" and self.plates & plates_of(msg):
            msg["scale"] = self.weight * (1.0 if msg["scale"] is None else msg["scale"])

    def postprocess_message(self, msg: dict[str, Any]) -> None:
        """Let a model that draws a subsample of its own see the records that are there."""
        # After the message has taken its random key: later sites then have the same keys as without this handler.
        if msg["type"] == "plate" and msg["name"] in self.plates:
            msg["value"] = jnp.arange(self.count)
            msg["args"] = (msg["args"][0], self.count)


def look(model: Program, guide: Program, parameters: Tree, records: tuple[Tree, ...], constants: Any) -> View:
    """Find the plates over records, by calling the model with one record and with two.

    Args:
        model: The model.
        guide: The guide.
        parameters: Of both, by name.
        records: Two or more, which are made up: nothing may follow from records without noise.
        constants: Keyword arguments of both.

    Raises:
        InputError: Where the model does not let a record be seen alone.
    """
    one, two = (trace(model, guide, parameters, first(records, count), constants) for count in (1, 2))
    observed = {name: site for name, site in two.items() if site["type"] == "sample" and site["is_observed"]}
    around = {name: _sizes(two[name]) for site in observed.values() for name in plates_of(site)}
    plates = frozenset(
        name for name, (size, taken) in around.items() if size != taken or (size, taken) != _sizes(one[name])
    )
    if not plates:
        raise InputError(
            "the model has no plate over the records: put its observed sites into "
            "numpyro.plate(name, number of records, size of the batch)"
        )
    _refuse_outside(one, observed, plates)
    _refuse_parameters(two, plates)
    stated = {around[name][0] for name in plates if around[name][0] == _sizes(one[name])[0]}
    if len(stated) > 1:
        raise InputError(f"the plates over records {listed(plates)} differ in size: {listed(stated)}")
    num_records = stated.pop() if stated else None
    lone = trace(Shown(model, plates, 1), Shown(guide, plates, 1), parameters, first(records, 1), constants)
    weights = [lone[name]["scale"] for name, site in observed.items() if plates & plates_of(site)]
    # With one record, a plate of N has multiplied the weight by N.
    return View(plates, num_records, _common(weights) / (num_records or 1))


def _common(weights: list[Any]) -> float:
    """The weight of a record's observations; one that is the record's own is no unit for those of others."""
    if any(jnp.ndim(weight) for weight in weights if weight is not None):
        return 1.0
    return float(max(1.0 if weight is None else weight for weight in weights))


def loss_of(elbo: Any, model: Program, guide: Program, view: View, constants: Any, num_records: int) -> Any:
    """One record's share of the loss, `(key, parameters, record) -> ()`, in units of that record's likelihood.

    Args:
        elbo: An ELBO of NumPyro.
        model: The model.
        guide: The guide.
        view: What `look` has found.
        constants: Keyword arguments of both, which are public.
        num_records: How many records there are in all.
    """
    weight = 1.0 if view.num_records is not None else float(num_records)
    lone_model, lone_guide = (Shown(program, view.plates, weight) for program in (model, guide))

    def loss(key: Key, parameters: Tree, record: tuple[Tree, ...]) -> jax.Array:
        batch = jax.tree.map(lambda leaf: leaf[None], record)
        whole = elbo.loss(key, parameters, lone_model, lone_guide, *batch, **constants)
        return jnp.asarray(whole / (num_records * view.observations))

    return loss


def trace(model: Program, guide: Program, parameters: Tree, records: tuple[Tree, ...], constants: Any) -> Trace:
    """The sites of guide and model; parameters and latents of both by their names."""
    # Only names, plates and shapes are used of the traces, so one fixed key does.
    seeded = [handlers.seed(program, jax.random.key(0)) for program in (guide, model)]
    guide_trace = handlers.trace(handlers.substitute(seeded[0], parameters)).get_trace(*records, **constants)
    replayed = handlers.substitute(handlers.replay(seeded[1], guide_trace), parameters)
    model_trace = handlers.trace(replayed).get_trace(*records, **constants)
    parameters_of_guide = {name: site for name, site in guide_trace.items() if site["type"] == "param"}
    return {**parameters_of_guide, **model_trace}


def first(records: tuple[Tree, ...], count: int) -> Any:
    """The first of some records."""
    return jax.tree.map(lambda leaf: leaf[:count], records)


def plates_of(site: Mapping[str, Any]) -> set[str]:
    """Names of the plates that a site is in."""
    return {frame.name for frame in site["cond_indep_stack"]}


def _sizes(plate: Mapping[str, Any]) -> tuple[int, int]:
    """Size of a plate, and how much of it is taken."""
    size, taken = plate["args"]
    return size, size if taken is None else taken


def _refuse_outside(one: Trace, observed: Trace, plates: frozenset[str]) -> None:
    for name, site in observed.items():
        follows = jnp.shape(site["value"]) != jnp.shape(one[name]["value"])
        if follows and not plates & plates_of(site):
            raise InputError(
                f"the site {name} observes records outside of a plate over records ({listed(plates)}): "
                "move it inside"
            )


def _refuse_parameters(sites: Trace, plates: frozenset[str]) -> None:
    for name, site in sites.items():
        if site["type"] == "param" and plates & plates_of(site):
            refuse_parameter(name)


def refuse_parameter(name: str) -> None:
    """Stop where a guide has values for single records."""
    raise InputError(
        f"the parameter {name} has a value for each record, which a release of parameters would tell: "
        "let the guide compute it from the record instead"
    )


def listed(names: Any) -> str:
    """Names in a sentence."""
    return ", ".join(map(str, sorted(names)))


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
