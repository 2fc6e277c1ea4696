import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest

from dpinfer.random.normal import sine
from dpinfer.tree import normal_like

LIKE = {"a": jnp.zeros((400, 5, 3)), "b": jnp.zeros(()), "c": jnp.zeros((7, 0)), "d": jnp.zeros(9000)}
KEY = jax.random.key(11)


def test_draws_have_the_shapes_of_the_tree() -> None:
    drawn = normal_like(KEY, LIKE)
    assert jax.tree.map(jnp.shape, drawn) == jax.tree.map(jnp.shape, LIKE)
    abstract = normal_like(KEY, jax.eval_shape(lambda: LIKE))
    np.testing.assert_array_equal(drawn["d"], abstract["d"])


def test_draws_are_standard_normal_and_the_test_would_notice_another_scale() -> None:
    drawn = np.asarray(normal_like(KEY, jnp.zeros(2_000_000)))
    assert kstest(drawn, "norm").pvalue > 1e-3
    for scale in (0.99, 1.01):
        assert kstest(scale * drawn, "norm").pvalue < 1e-3
    tail = np.abs(drawn) > 4
    assert abs(tail.sum() - 2e6 * 6.334e-5) < 4 * np.sqrt(2e6 * 6.334e-5)


def test_leaves_and_halves_are_independent_of_each_other() -> None:
    drawn = normal_like(KEY, LIKE)
    first, second = np.asarray(drawn["a"]).ravel(), np.asarray(drawn["d"])[:6000]
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(6000)
    assert len(np.unique(np.concatenate([first, second]))) > 11_900


def test_the_two_draws_of_a_pair_are_independent() -> None:
    """Radius and angle of a pair must be: by the law of both, and of what they share."""
    x, y = np.split(np.asarray(normal_like(KEY, jnp.zeros(1_000_000))).astype(float), 2)
    assert kstest((x**2 + y**2) / 2, "expon").pvalue > 1e-3
    assert kstest(np.arctan2(y, x) / (2 * np.pi) + 0.5, "uniform").pvalue > 1e-3
    for first, second in ((x, y), (x**2, y**2), (np.abs(x), y)):
        assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(len(x))


def test_the_sine_is_one() -> None:
    angle = np.linspace(0, 2**32, 100_001)[:-1].astype(np.uint32)
    expected = np.sin(angle.astype(float) * 2 * np.pi / 2**32)
    np.testing.assert_allclose(sine(jnp.asarray(angle)), expected, atol=3e-7)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_draws(count: int) -> None:
    assert normal_like(KEY, jnp.zeros(count)).shape == (count,)


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg"])
def test_other_generators_draw_normals_too(implementation: str) -> None:
    keys = [jax.random.key(seed, impl=implementation) for seed in (0, 1)]
    draws = [np.asarray(normal_like(key, jnp.zeros(5000))) for key in keys]
    assert all(kstest(drawn, "norm").pvalue > 1e-3 for drawn in draws)
    assert not np.array_equal(draws[0], draws[1])
