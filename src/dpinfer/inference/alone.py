"""NumPyro models seen one record at a time, as clipping needs them.

A model is called with one record. Its plate over the records then weighs that record's likelihood by the number N
of all records, and the prior stands beside it once. Divided by the weight s of the observations, the gradient is
that of -log p(x_i | z) + (log q(z) - log p(z)) / N where s = N: one record's share of the negative ELBO.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from numpyro import handlers
from numpyro.primitives import Messenger

from dpinfer.errors import InputError
from dpinfer.types import Key, Tree

Program = Callable[..., Any]
Trace = Mapping[str, Any]


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


class Alone(Messenger):
    """Show a program one record: the indices of its plates over records are 0, and it stands for `weight`.

    Args:
        fn: A model or a guide.
        plates: Names of its plates over records.
        weight: How many records the one stands for, where the plate does not say so itself; else 1.
    """

    def __init__(self, fn: Program, plates: frozenset[str], weight: float) -> None:
        super().__init__(fn)
        self.plates = plates
        self.weight = weight

    def process_message(self, msg: dict[str, Any]) -> None:
        """Weigh what is inside of a plate over records."""
        if self.weight != 1 and msg["type"] == "sample" and self.plates & _plates_of(msg):
            msg["scale"] = self.weight * (1.0 if msg["scale"] is None else msg["scale"])

    def postprocess_message(self, msg: dict[str, Any]) -> None:
        """Let a model that draws a subsample of its own see the record that is there."""
        # After the message has taken its random key: later sites then have the same keys as without this handler.
        if msg["type"] == "plate" and msg["name"] in self.plates:
            msg["value"] = jnp.zeros(1, int)
            msg["args"] = (msg["args"][0], 1)


def look(model: Program, guide: Program, parameters: Tree, records: tuple[Tree, ...], constants: Any) -> View:
    """Find the plates over records, by calling the model with one record and with two.

    Raises:
        InputError: Where the model does not let a record be seen alone.
    """
    one, two = (_trace(model, guide, parameters, _repeat(records, count), constants) for count in (1, 2))
    observed = {name: site for name, site in two.items() if site["type"] == "sample" and site["is_observed"]}
    around = {name: _sizes(two[name]) for site in observed.values() for name in _plates_of(site)}
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
        raise InputError(f"the plates over records {_listed(plates)} differ in size: {_listed(stated)}")
    num_records = stated.pop() if stated else None
    lone = _trace(Alone(model, plates, 1), Alone(guide, plates, 1), parameters, _repeat(records, 1), constants)
    weights = [lone[name]["scale"] or 1.0 for name, site in observed.items() if plates & _plates_of(site)]
    # With one record, a plate of N has multiplied the weight by N.
    return View(plates, num_records, float(max(weights)) / (num_records or 1))


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
    lone_model, lone_guide = (Alone(program, view.plates, weight) for program in (model, guide))

    def loss(key: Key, parameters: Tree, record: tuple[Tree, ...]) -> jax.Array:
        batch = jax.tree.map(lambda leaf: leaf[None], record)
        whole = elbo.loss(key, parameters, lone_model, lone_guide, *batch, **constants)
        return jnp.asarray(whole / (num_records * view.observations))

    return loss


def _trace(model: Program, guide: Program, parameters: Tree, records: tuple[Tree, ...], constants: Any) -> Trace:
    """The sites of guide and model; parameters and latents of both by their names."""
    # Only names, plates and shapes are used of the traces, so one fixed key does.
    seeded = [handlers.seed(program, jax.random.key(0)) for program in (guide, model)]
    guide_trace = handlers.trace(handlers.substitute(seeded[0], parameters)).get_trace(*records, **constants)
    replayed = handlers.substitute(handlers.replay(seeded[1], guide_trace), parameters)
    model_trace = handlers.trace(replayed).get_trace(*records, **constants)
    parameters_of_guide = {name: site for name, site in guide_trace.items() if site["type"] == "param"}
    return {**parameters_of_guide, **model_trace}


def _repeat(records: tuple[Tree, ...], count: int) -> Any:
    return jax.tree.map(lambda leaf: jnp.repeat(jnp.asarray(leaf)[:1], count, axis=0), records)


def _plates_of(site: Mapping[str, Any]) -> set[str]:
    return {frame.name for frame in site["cond_indep_stack"]}


def _sizes(plate: Mapping[str, Any]) -> tuple[int, int]:
    """Size of a plate, and how much of it is taken."""
    size, taken = plate["args"]
    return size, size if taken is None else taken


def _refuse_outside(one: Trace, observed: Trace, plates: frozenset[str]) -> None:
    for name, site in observed.items():
        follows = jnp.shape(site["value"]) != jnp.shape(one[name]["value"])
        if follows and not plates & _plates_of(site):
            raise InputError(
                f"the site {name} observes records outside of a plate over records ({_listed(plates)}): "
                "move it inside"
            )


def _refuse_parameters(sites: Trace, plates: frozenset[str]) -> None:
    for name, site in sites.items():
        if site["type"] == "param" and plates & _plates_of(site):
            raise InputError(
                f"the parameter {name} has a value for each record, which a release of parameters would tell: "
                "let the guide compute it from the record instead"
            )


def _listed(names: Any) -> str:
    return ", ".join(map(str, sorted(names)))
