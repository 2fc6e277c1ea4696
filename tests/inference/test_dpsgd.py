"""A whole private run by the plan of its loss and by gradients taken one by one: the same, but for rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.clipping import sums
from dpinfer.inference import dpsgd
from dpinfer.inference.run import Run, run
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import vae
from dpinfer.models.base import Model, nothing_local

STEPS, RECORDS = 120, 96
DENSE = vae.Shape(image=(8, 8), latent=3, hidden=16)
CONVOLUTIONS = vae.Shape(layers="convolutions", image=(8, 8, 1), latent=3, channels=(4,))


def trained(shape: vae.Shape, model: Model, noise_multiplier: float = 0.5) -> Run:
    images = jnp.tile(jnp.array([0, 255], jnp.uint8), RECORDS * 32).reshape(RECORDS, *shape.image)
    algorithm = dpsgd.build(
        model, gaussian(5.0, noise_multiplier), RECORDS, expected_batch=16, num_steps=STEPS, learning_rate=1e-2
    )
    test = {"x": images, **model.local(jax.random.key(5), RECORDS)}

    def loss(state: dpsgd.State, info: object) -> jax.Array:
        del info
        return -jax.vmap(lambda record: model.log_likelihood(state.parameters, record))(test).mean()

    return run(algorithm, jax.random.key(1), {"x": images}, STEPS, record=loss, record_every=10)


@pytest.mark.parametrize("shape", [DENSE, CONVOLUTIONS], ids=lambda shape: shape.layers)
def test_loss_curves_agree(shape: vae.Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    model = vae.build(**shape._asdict())
    monkeypatch.setattr(sums, "FEW", 0)
    ours = trained(shape, model)
    monkeypatch.setattr(sums, "FEW", 1 << 30)
    theirs = trained(shape, model)
    assert ours.trace[-1] < 0.8 * ours.trace[0]
    np.testing.assert_allclose(ours.trace, theirs.trace, rtol=2e-3)


def test_the_noise_has_a_say_in_the_curve() -> None:
    model = vae.build(**DENSE._asdict())
    curves = [trained(DENSE, model, noise_multiplier).trace for noise_multiplier in (0.5, 1.0)]
    assert np.abs(curves[1] / curves[0] - 1).max() > 2e-2


def test_weights_decay_by_what_is_set_and_without_noise() -> None:
    """With no gradient to follow, a step shrinks the parameters by learning rate times decay."""
    still = vae.build(**DENSE._asdict())._replace(local=nothing_local, log_likelihood=lambda *_: jnp.zeros(()))
    algorithm = dpsgd.build(
        still,
        exact(),
        RECORDS,
        expected_batch=4,
        num_steps=1,
        optimiser="sgd",
        learning_rate=0.5,
        weight_decay=0.1,
    )
    start = algorithm.init(jax.random.key(0), {})
    after, _ = algorithm.step(jax.random.key(1), start, {"x": jnp.zeros((RECORDS, 8, 8), jnp.uint8)})
    jax.tree.map(
        lambda new, old: np.testing.assert_allclose(new, 0.95 * old, rtol=1e-6), after.parameters, start.parameters
    )
