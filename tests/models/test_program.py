"""The auto-encoders as NumPyro programs: the same loss as ours, and trainable with and without privacy."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from numpyro.infer import SVI, Trace_ELBO

from dpinfer.models import vae
from dpinfer.models.program import program
from dpinfer.svi import DPSVI

DENSE = vae.Shape(image=(4, 4), latent=3, hidden=8)
CONVOLUTIONS = vae.Shape(layers="convolutions", image=(8, 8, 1), latent=3, channels=(4,))
NUM_RECORDS = 64
IMAGES = (jax.random.uniform(jax.random.key(0), (NUM_RECORDS, 8, 8, 1)) < 0.8).astype(jnp.float32)
each_kind = pytest.mark.parametrize("shape", [DENSE, CONVOLUTIONS], ids=lambda shape: shape.layers)


def images(shape: vae.Shape) -> jax.Array:
    return IMAGES.reshape(-1)[: NUM_RECORDS * np.prod(shape.image)].reshape(NUM_RECORDS, *shape.image)


@each_kind
def test_the_loss_is_that_of_our_model(shape: vae.Shape) -> None:
    own = program(shape, NUM_RECORDS, jax.random.key(1))
    svi = SVI(own.model, own.guide, optax.adam(1e-3), Trace_ELBO(num_particles=2000))
    state = svi.init(jax.random.key(2), images(shape))
    theirs = svi.evaluate(state, images(shape)) / NUM_RECORDS
    model = vae.build(**shape._asdict())
    parameters = model.init(jax.random.key(1), {})
    bytes_of = (255 * images(shape)).astype(jnp.uint8)

    def ours(key: jax.Array) -> jax.Array:
        batch = {"x": bytes_of, **model.local(key, NUM_RECORDS)}
        return -jax.vmap(lambda record: model.log_likelihood(parameters, record))(batch).mean()

    losses = jax.lax.map(ours, jax.random.split(jax.random.key(3), 2000))
    np.testing.assert_allclose(theirs, losses.mean(), rtol=1e-3)


@each_kind
def test_it_learns_under_privacy(shape: vae.Shape) -> None:
    own = program(shape, NUM_RECORDS, jax.random.key(1))
    svi = DPSVI(
        own.model, own.guide, optax.adam(1e-2), Trace_ELBO(),
        clipping_threshold=10.0, dp_scale=0.1, expected_batch=16,
    )  # fmt: skip
    stripes = jnp.tile(jnp.array([0.0, 1.0]), NUM_RECORDS * np.prod(shape.image) // 2)
    stripes = stripes.reshape(NUM_RECORDS, *shape.image)
    start = svi.init(jax.random.key(3), stripes)
    result = svi.run(jax.random.key(4), 100, stripes, progress_bar=False, init_state=start)
    assert set(result.params) == {"encoder", "decoder"}
    assert svi.evaluate(result.state, stripes) < 0.7 * svi.evaluate(start, stripes)
