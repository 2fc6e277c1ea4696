"""A whole private run by book-keeping and by gradients taken one by one: the same, but for rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer import models
from dpinfer.inference import dpsgd
from dpinfer.inference.run import Run, run
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models.base import Model, nothing_local
from dpinfer.settings.cell import Dpsgd
from dpinfer.settings.data import Mnist
from dpinfer.settings.model import Vae

STEPS, RECORDS = 120, 96
DENSE = Vae(image=(8, 8), latent=3, hidden=16)
CONVOLUTIONS = Vae(layers="convolutions", image=(8, 8, 1), latent=3, channels=(4,))


def trained(settings: Vae, model: Model, noise_multiplier: float = 0.5) -> Run:
    cell = Dpsgd(
        data=Mnist(), model=settings, num_steps=STEPS, noise_multiplier=noise_multiplier, delta=1e-5,
        expected_batch=16, clip=5.0, learning_rate=1e-2,
    )  # fmt: skip
    images = jnp.tile(jnp.array([0, 255], jnp.uint8), RECORDS * 32).reshape(RECORDS, *settings.image)
    algorithm = dpsgd.build(cell, model, gaussian(cell.clip, noise_multiplier), RECORDS)
    test = {"x": images, **model.local(jax.random.key(5), RECORDS)}

    def loss(state: dpsgd.State, info: object) -> jax.Array:
        del info
        return -jax.vmap(lambda record: model.log_likelihood(state.parameters, record))(test).mean()

    return run(algorithm, jax.random.key(1), {"x": images}, STEPS, record=loss, record_every=10)


@pytest.mark.parametrize("settings", [DENSE, CONVOLUTIONS], ids=lambda settings: settings.layers)
def test_loss_curves_agree(settings: Vae) -> None:
    model = models.build(settings)
    ours = trained(settings, model)
    theirs = trained(settings, model._replace(network=None))
    assert ours.trace[-1] < 0.8 * ours.trace[0]
    np.testing.assert_allclose(ours.trace, theirs.trace, rtol=2e-3)


def test_the_noise_has_a_say_in_the_curve() -> None:
    model = models.build(DENSE)
    curves = [trained(DENSE, model, noise_multiplier).trace for noise_multiplier in (0.5, 1.0)]
    assert np.abs(curves[1] / curves[0] - 1).max() > 2e-2


def test_weights_decay_by_what_is_set_and_without_noise() -> None:
    """With no gradient to follow, a step shrinks the parameters by learning rate times decay."""
    cell = Dpsgd(
        data=Mnist(), model=DENSE, num_steps=1, epsilon=float("inf"), expected_batch=4, clip=1.0, optimiser="sgd",
        learning_rate=0.5, weight_decay=0.1,
    )  # fmt: skip
    still = models.build(DENSE)._replace(
        network=None, local=nothing_local, log_likelihood=lambda *_: jnp.zeros(())
    )
    algorithm = dpsgd.build(cell, still, exact(), RECORDS)
    start = algorithm.init(jax.random.key(0), {})
    after, _ = algorithm.step(jax.random.key(1), start, {"x": jnp.zeros((RECORDS, 8, 8), jnp.uint8)})
    jax.tree.map(
        lambda new, old: np.testing.assert_allclose(new, 0.95 * old, rtol=1e-6), after.parameters, start.parameters
    )
