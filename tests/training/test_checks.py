"""What cannot be trained privately is refused in a sentence: coupled records, and what JAX or optax fail at."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from dpinfer.errors import InputError
from dpinfer.training import Loader, State, dpsgd, private
from dpinfer.types import Tree
from loops import PARAMETERS, RECORDS, SETTINGS, X, loss, step

LABELS = np.arange(RECORDS) % 2


class BatchNorm:
    """As layers of Flax and others are called, in the least form."""

    def __init__(self, is_training: bool) -> None:
        self.is_training = is_training

    def __call__(self, x: jax.Array) -> jax.Array:
        mean, variance = self.compute_stats(x) if self.is_training else (jnp.zeros(3), jnp.ones(3))
        return (x - mean) / jnp.sqrt(variance + 1e-5)

    def compute_stats(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return x.mean(0), x.var(0)


class GroupNorm(BatchNorm):
    def __call__(self, x: jax.Array) -> jax.Array:
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def normalised(layer: Callable[[jax.Array], jax.Array]) -> Callable[[Tree, Tree], jax.Array]:
    return lambda parameters, record: (layer(parameters["w"] * record[0][None]) * parameters["b"]).sum()


def started(loss: Any, parameters: Tree = PARAMETERS, records: Tree = (X,)) -> State:
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    return step(optimiser, optimiser.init(parameters, jax.random.key(0)), Loader(optimiser, records))


def scanned(loss: Any) -> Any:
    def own(parameters: Tree, record: Tree) -> jax.Array:
        start = jnp.zeros(())
        return jax.lax.scan(lambda total, _: (total + loss(parameters, record), None), start, length=2)[0]

    return own


@pytest.mark.parametrize("around", [lambda own: own, jax.jit, jax.checkpoint, scanned])
def test_statistics_of_a_batch_that_is_one_record_are_refused_by_name(around: Any) -> None:
    with pytest.raises(InputError, match=r"batch statistics \(BatchNorm.*\) of a single record.*group or layer"):
        started(around(normalised(BatchNorm(is_training=True))))
    assert int(started(around(normalised(BatchNorm(is_training=False)))).step) == 1
    assert int(started(around(normalised(GroupNorm(is_training=True)))).step) == 1


def test_a_test_that_speaks_of_batchnorm_is_none() -> None:
    """The name of what is around a loss does not matter."""

    def train_with_batch_norm() -> State:
        def own(parameters: Tree, record: Tree) -> jax.Array:
            return (parameters["w"] * record[0]).mean() + parameters["b"]

        return started(own)

    assert int(train_with_batch_norm().step) == 1


def test_a_loss_that_asks_for_the_axis_of_records_is_refused() -> None:
    def coupled(parameters: Tree, record: Tree) -> jax.Array:
        return jax.lax.pmean(loss(parameters, record), "batch")

    with pytest.raises(InputError, match=r"the loss of one record asks for others .*batch normalisation"):
        started(coupled)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"w": jnp.ones(3), "n": jnp.arange(2)}, r"the parameters hold int32 at \['n'\]"),
        ({"w": jnp.ones(3), "n": 2}, r"the parameters hold int32 at \['n'\]"),
        ({"w": jnp.ones(3), "f": jax.nn.relu}, r"the parameters hold a .* at \['f'\], but should be arrays alone"),
        ({"w": jnp.ones(3), "s": "name"}, r"the parameters hold a str at \['s'\].*eqx.partition"),
        (jnp.ones(3, jnp.complex64), "the parameters hold complex64 at the only leaf"),
    ],
)
def test_parameters_without_gradients_are_refused(parameters: Tree, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dpsgd(loss, 0.1, **SETTINGS).init(parameters, jax.random.key(0))


@pytest.mark.parametrize("plain", [optax.lbfgs(), optax.polyak_sgd()])
def test_optimisers_that_need_the_loss_are_refused(plain: Any) -> None:
    with pytest.raises(InputError, match=r"the optimiser should need gradients and parameters alone.*value"):
        private(plain, loss, **SETTINGS).init(PARAMETERS, jax.random.key(0))


def test_losses_and_records_of_other_shapes_are_refused() -> None:
    with pytest.raises(InputError, match=r"the loss of one record should be a single number, but is .*\(3,\)"):
        started(lambda parameters, record: parameters["w"] * record[0])
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    with pytest.raises(InputError, match="the data have 7 records, but the optimiser was made for 200"):
        Loader(optimiser, (X[:7],))
    with pytest.raises(InputError, match="the data have 7, 200 records"):
        Loader(optimiser, (X[:7], X))
    with pytest.raises(InputError, match="the data have no records"):
        Loader(optimiser, ())
    with pytest.raises(InputError, match="a leaf has no axis"):
        Loader(optimiser, (X, 3.0))
