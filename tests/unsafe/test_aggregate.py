"""The update of PyVacy: what it computes, and that it owns up to hiding nobody."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import NonPrivate
from dpinfer.unsafe.mechanisms import Form, aggregate

BATCH, CLIP, SIGMA = 16, 0.5, 1.1


def loss(parameters: jax.Array, example: jax.Array) -> jax.Array:
    return example @ parameters


@pytest.mark.parametrize(("form", "noise_std"), [("printed", SIGMA * CLIP * 4), ("code", SIGMA * CLIP)])
@pytest.mark.parametrize("size", [0.01, 10.0])
def test_the_mean_is_clipped_and_the_noise_is_added_once(form: Form, noise_std: float, size: float) -> None:
    """A mechanism releases sums: the mean's clip and noise come times B."""
    mechanism = aggregate(CLIP, SIGMA, BATCH, form)
    examples = size * jax.random.normal(jax.random.key(0), (BATCH, 3)) + size
    noise = mechanism.random(jax.random.key(1), jnp.zeros(3))
    released = mechanism.release(noise, loss, jnp.zeros(3), examples, jnp.ones(BATCH, bool))
    mean = np.asarray(examples).mean(0)
    expected = mean * min(1, CLIP / np.linalg.norm(mean)) * BATCH + noise_std * np.asarray(noise)
    np.testing.assert_allclose(released, expected, rtol=1e-5)
    np.testing.assert_allclose(mechanism.noise_std, noise_std, rtol=1e-6)


def test_one_record_may_turn_the_sum_around() -> None:
    """Beyond the clip times the batch, that is: by far more than one clip, which the paper's account assumes."""
    mechanism = aggregate(CLIP, SIGMA, BATCH, "code")
    examples = jnp.zeros((BATCH, 1)).at[0].set(1e4)
    mask = jnp.ones(BATCH, bool)
    both = [mechanism.release(jnp.zeros(1), loss, jnp.zeros(1), sign * examples, mask) for sign in (1, -1)]
    assert float(jnp.abs(both[0] - both[1])[0]) == pytest.approx(2 * CLIP * BATCH)


def test_it_says_that_it_hides_nobody_and_why() -> None:
    event = aggregate(1.0, 1.1, 256, "printed").event
    assert isinstance(event, NonPrivate)
    assert "not what each record adds" in event.reason
    assert "0.034" in event.reason
