"""Sums of many small numbers in single precision."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.inference import running_moments


def test_a_million_steps_lose_nothing() -> None:
    @jax.jit
    def total() -> tuple[running_moments.RunningMoments, jax.Array]:
        def step(carried: tuple[running_moments.RunningMoments, jax.Array], number: jax.Array) -> tuple[Any, None]:
            moments, plain = carried
            value = 1.0 + 0.1 * jnp.sin(number.astype(jnp.float32))
            return (running_moments.add(moments, value, 1000), plain + jnp.where(number >= 1000, value, 0.0)), None

        start = (running_moments.zero(jnp.zeros(())), jnp.zeros(()))
        return jax.lax.scan(step, start, jnp.arange(3_000_000))[0]

    moments, plain = total()
    values = 1.0 + np.float32(0.1) * np.sin(np.arange(1000, 3_000_000, dtype=np.float32)).astype(np.float64)
    assert int(moments.counted) == 2_999_000
    exact = float(values.sum())
    found = float(moments.first.high) - float(moments.first.low)
    assert found == pytest.approx(exact, rel=1e-7)
    assert abs(float(plain) - exact) > 10 * abs(found - exact)
    mean = float(running_moments.mean(moments.first, moments.counted))
    second = float(running_moments.mean(moments.second, moments.counted))
    assert second - mean**2 == pytest.approx(values.var(), abs=1e-6)
