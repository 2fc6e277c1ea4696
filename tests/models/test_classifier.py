import jax
import jax.numpy as jnp
import numpy as np

from dpinfer import models
from dpinfer.models.classifier import network_of
from dpinfer.settings.model import Classifier


def test_the_number_of_parameters_is_that_of_the_paper() -> None:
    assert network_of(Classifier()).size == 795_010


def test_the_loss_is_the_cross_entropy_of_what_it_predicts() -> None:
    model = models.build(Classifier(image=(3, 3), hidden=4))
    records = {"x": jax.random.randint(jax.random.key(1), (20, 3, 3), 0, 256, jnp.uint8), "y": jnp.arange(20) % 10}
    parameters = model.init(jax.random.key(0), records)
    chances = model.predict(jax.random.key(2), parameters, records)
    losses = -jax.vmap(lambda record: model.log_likelihood(parameters, record))(records)
    np.testing.assert_allclose(losses, -np.log(chances[np.arange(20), records["y"]]), rtol=1e-5)


def test_layers_start_uniformly_by_their_fan_in() -> None:
    start = models.build(Classifier()).init(jax.random.key(0), {})
    for leaf in (start["hidden"]["w"], start["hidden"]["b"]):
        assert 0.95 / 28 < np.abs(leaf).max() <= 1 / 28
    np.testing.assert_allclose(np.std(start["logits"]["w"]), 1000**-0.5 / 3**0.5, rtol=0.03)
