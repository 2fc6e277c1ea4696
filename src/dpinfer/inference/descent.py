"""Gradient descent on all records to the mode of the posterior, private through its mechanism."""

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree


def build(model: Model, mechanism: Mechanism, num_records: int, *, learning_rate: float) -> Algorithm:
    """Ascend w <- w + learning_rate (released sum of gradients + gradient of the log prior) / num_records.

    The sum over records goes through the mechanism; the prior's gradient does not touch the data. The number of
    records is treated as public.
    """
    everyone = jnp.ones(num_records, bool)
    rate = learning_rate / num_records

    def update(noise: Tree, parameters: Tree, records: Records) -> tuple[Tree, tuple[()]]:
        likelihood = mechanism.release(noise, model.log_likelihood, parameters, records, everyone)
        prior = jax.grad(model.log_prior)(parameters)
        return jax.tree.map(lambda w, a, b: w + rate * (a + b), parameters, likelihood, prior), ()

    def draw(key: Key, parameters: Tree) -> Tree:
        del key  # the approximate posterior is the mode alone
        return parameters

    def event(num_steps: int) -> Event:
        return Repeat(event=mechanism.event, count=num_steps)

    return Algorithm(model.init, mechanism.random, update, draw, event)
