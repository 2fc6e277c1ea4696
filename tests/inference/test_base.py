import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import Nothing
from dpinfer.inference.base import Algorithm, run, run_seeds

WALK = Algorithm(
    init=lambda key, records: jax.random.normal(key) + records["x"].sum(),
    step=lambda key, state, records: (state + jax.random.normal(key), ()),  # noqa: ARG005
    draw=lambda key, state: state,  # noqa: ARG005
    event=lambda num_steps: Nothing(),  # noqa: ARG005
)
RECORDS = {"x": jnp.ones(3)}


def test_steps_have_keys_of_their_own() -> None:
    key = jax.random.key(3)
    expected = 3.0 + sum(float(jax.random.normal(jax.random.fold_in(key, step))) for step in range(6))
    assert np.isclose(float(run(WALK, key, RECORDS, 5)), expected, atol=1e-5)


def test_seeds_run_together_are_the_seeds_run_alone() -> None:
    key = jax.random.key(4)
    together = run_seeds(WALK, key, RECORDS, 10, seeds=3)
    alone = [float(run(WALK, jax.random.fold_in(key, seed), RECORDS, 10)) for seed in range(3)]
    np.testing.assert_allclose(together, alone, rtol=1e-5)
    assert len(set(alone)) == 3
