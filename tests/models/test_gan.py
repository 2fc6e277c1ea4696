"""The adversarial network: its size, what its layers compute, and that its generator sees no record."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.inference import gan as game
from dpinfer.inference.gan import State
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import gan
from dpinfer.models.gan import generator_of
from dpinfer.tree import size

IMAGE, LATENT, HIDDEN = (3, 3), 4, (5, 6)
SMALL = gan.build(image=IMAGE, latent=LATENT, generator=HIDDEN, discriminator=(7,))


def records(seed: int) -> dict[str, jax.Array]:
    return {"x": jax.random.randint(jax.random.key(seed), (40, 3, 3), 0, 256, jnp.uint8)}


def algorithm(noise_multiplier: float | None) -> Any:
    mechanism = gaussian(0.75, noise_multiplier) if noise_multiplier else exact()
    return game.build(
        SMALL, mechanism, 40, image=IMAGE, latent=LATENT, generator=HIDDEN, expected_batch=10, num_steps=5
    )


def test_the_numbers_of_parameters_are_those_of_the_paper() -> None:
    generator, _ = generator_of((28, 28), 100, (128, 256, 512, 1024)).init(jax.random.key(0))
    assert size(generator) == 1_510_032
    assert size(gan.build().init(jax.random.key(0), {})) == 533_505


def test_a_batch_is_normalised_by_its_own_moments_which_are_kept() -> None:
    """Against the layers written out."""
    generator = generator_of(IMAGE, LATENT, HIDDEN)
    parameters, moments = generator.init(jax.random.key(0))
    codes = jax.random.normal(jax.random.key(1), (8, 4))
    layers = parameters["layers"]
    first = jax.nn.leaky_relu(codes @ layers["layer0"]["w"] + layers["layer0"]["b"], 0.2)
    second = first @ layers["layer1"]["w"] + layers["layer1"]["b"]
    unit = (second - second.mean(0)) / np.sqrt(second.var(0) + 0.8)
    expected = jnp.tanh(jax.nn.leaky_relu(unit, 0.2) @ layers["layer2"]["w"] + layers["layer2"]["b"])
    images, kept = generator.train(parameters, moments, codes)
    np.testing.assert_allclose(images, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(kept.means["layer1"], 0.1 * second.mean(0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(kept.variances["layer1"], 0.9 + 0.1 * np.var(second, 0, ddof=1), rtol=1e-4)


def test_generated_images_depend_on_their_own_codes_alone() -> None:
    generator = generator_of(IMAGE, LATENT, HIDDEN)
    parameters, moments = generator.init(jax.random.key(0))
    codes = jax.random.normal(jax.random.key(1), (8, 4))
    whole = generator.generate(parameters, moments, codes)
    np.testing.assert_allclose(generator.generate(parameters, moments, codes[:2]), whole[:2], rtol=1e-5)
    assert not np.allclose(generator.train(parameters, moments, codes[:2])[0], whole[:2])


def test_the_discriminators_loss_is_the_mean_of_both_cross_entropies() -> None:
    parameters = SMALL.init(jax.random.key(0), {})
    real = records(1)["x"][:5]
    fake = jax.random.uniform(jax.random.key(2), (5, 9), minval=-1)

    def chance(images: jax.Array) -> jax.Array:
        hidden = jax.nn.leaky_relu(images @ parameters["layer0"]["w"] + parameters["layer0"]["b"], 0.2)
        return jax.nn.sigmoid(hidden @ parameters["layer1"]["w"] + parameters["layer1"]["b"])[:, 0]

    expected = -(jnp.log(chance(real.reshape(5, 9) / 127.5 - 1)) + jnp.log(1 - chance(fake))) / 2
    found = -jax.vmap(SMALL.log_likelihood, in_axes=(None, 0))(parameters, {"x": real, "fake": fake})
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("noise_multiplier", [None, 1.0], ids=["exact", "private"])
def test_the_generator_and_its_moments_see_no_record(noise_multiplier: float | None) -> None:
    """Within a step they are the same whatever the records are; the discriminator is not."""
    play = algorithm(noise_multiplier)
    start = play.init(jax.random.key(0), records(1))
    states: list[State] = [play.step(jax.random.key(3), start, records(seed))[0] for seed in (1, 2)]
    for name in ("generator", "moments"):
        jax.tree.map(np.testing.assert_array_equal, *(getattr(state, name) for state in states))
    assert not np.array_equal(*(state.discriminator.parameters["layer0"]["w"] for state in states))
    assert not np.array_equal(
        *(state.generator.parameters["layers"]["layer0"]["w"] for state in (states[0], start))
    )


def test_as_many_images_are_generated_as_there_are_records() -> None:
    play = algorithm(None)
    state = play.init(jax.random.key(0), records(1))
    images = SMALL.predict(jax.random.key(1), play.draw(jax.random.key(2), state), records(1))
    assert images.shape == (40, 3, 3)
    assert np.abs(images).max() <= 1


def test_moments_start_at_those_of_a_standard_normal() -> None:
    _, moments = generator_of(IMAGE, LATENT, HIDDEN).init(jax.random.key(0))
    np.testing.assert_array_equal(moments.means["layer1"], np.zeros(6))
    np.testing.assert_array_equal(moments.variances["layer1"], np.ones(6))
