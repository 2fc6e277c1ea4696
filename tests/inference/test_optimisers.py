"""AdaGrad that forgets, against sums written out."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from dpinfer.inference import optimisers

GRADIENTS = np.random.default_rng(0).normal(size=(25, 3))


def changes(optimiser: optax.GradientTransformation) -> np.ndarray:
    memory, result = optimiser.init(jnp.zeros(3)), []
    for gradient in GRADIENTS:
        change, memory = optimiser.update(jnp.asarray(gradient), memory)
        result.append(np.asarray(change))
    return np.array(result)


def test_the_window_sums_the_last_ten_squares() -> None:
    expected = [
        -0.5 * g / np.sqrt((GRADIENTS[max(0, t - 9) : t + 1] ** 2).sum(axis=0) + 0.1)
        for t, g in enumerate(GRADIENTS)
    ]
    np.testing.assert_allclose(changes(optimisers.adagrad_window(0.5)), expected, rtol=1e-5)


def test_the_reset_sums_squares_since_the_last_multiple_of_ten() -> None:
    expected = [
        -0.5 * g / np.sqrt(0.1 + (GRADIENTS[t - t % 10 : t + 1] ** 2).sum(axis=0) + 1e-3)
        for t, g in enumerate(GRADIENTS)
    ]
    np.testing.assert_allclose(changes(optimisers.adagrad_reset(0.5)), expected, rtol=1e-5)


@pytest.mark.parametrize("optimiser", [optimisers.adagrad_window(0.5), optimisers.adagrad_reset(0.5)])
def test_neither_is_plain_adagrad(optimiser: optax.GradientTransformation) -> None:
    assert not np.allclose(changes(optimiser), changes(optax.adagrad(0.5)), rtol=0.05)
