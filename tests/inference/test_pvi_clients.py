"""Partitioned variational inference: its fixed point, and what protects whole clients."""

from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from dpinfer.accounting.events import Gaussian, NonPrivate, PoissonGaussian, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import pvi_clients
from dpinfer.inference.federation import State, Turns, reporters, turns
from dpinfer.inference.names import NoiseAt, Schedule
from dpinfer.inference.natural import divergence, exact_posterior, expected, prior_of, read, together
from dpinfer.inference.pvi_clients import clipped
from dpinfer.inference.run import run, run_seeds
from dpinfer.mechanism.exact import exact
from dpinfer.models import linear
from dpinfer.models.base import Quadratic
from inference.shards import DATA, MODEL, SIZES, clients, mechanism_of, of_records, records
from pipeline import experiment
from pipeline.experiment import sizes_of
from pipeline.settings.data import Abalone, AdultShards, LinearShards
from pipeline.settings.model import Linear
from pipeline.settings.pvi import PviClients

PRIOR = prior_of(MODEL, 2)


def fitted(num_steps: int = 40, noise: float | None = None, **changes: Any) -> State:
    algorithm = clients(mechanism_of(noise), num_steps=num_steps, **changes)
    state: State = run(algorithm, jax.random.key(0), records(), num_steps).state
    return state


def shard(client: int) -> Quadratic:
    first = sum(SIZES[:client])
    own = {key: value[first : first + SIZES[client]] for key, value in records().items()}
    return together(MODEL, own, jnp.ones(SIZES[client], bool))


def test_the_prior_is_read_off_the_model() -> None:
    np.testing.assert_allclose(
        prior_of(linear.build(noise_std=1.0, prior_std=2.0), 3), np.array([[0.0] * 3, [0.25] * 3])
    )


def test_one_sweep_of_eq_4_12_is_the_pooled_posterior() -> None:
    pooled = exact_posterior(MODEL, records(), PRIOR)
    wanted = np.stack([pooled.shift, np.diag(pooled.curvature)])
    for schedule, rounds in (("sequential", 3), ("synchronous", 1)):
        state = fitted(rounds, optimum="natural", schedule=schedule)
        np.testing.assert_allclose(state.posterior, wanted, rtol=1e-5)


def test_many_records_add_up_without_loss() -> None:
    """Against double precision; one by one, ten thousand of them lose three digits."""
    x = jax.random.normal(jax.random.key(0), (9_999, 2))
    found = together(MODEL, {"x": x, "y": x[:, 0]}, jnp.arange(9_999) > 0)
    double = np.asarray(x[1:], np.float64)
    scale = float(MODEL.quadratic({"x": jnp.ones(1), "y": jnp.ones(())}).curvature[0, 0])  # type: ignore[misc]
    np.testing.assert_allclose(found.curvature / scale, double.T @ double, rtol=2e-6, atol=1e-3)


def global_optimum() -> np.ndarray:
    """The mean-field optimum: the exact mean, and the diagonal of the exact precision."""
    pooled = exact_posterior(MODEL, records(), PRIOR)
    precision = np.diag(pooled.curvature)
    return np.stack([precision * np.linalg.solve(pooled.curvature, pooled.shift), precision])


@pytest.mark.parametrize(
    "changes",
    [
        {"optimum": "mean_field", "schedule": "synchronous", "damping": 0.5, "num_steps": 200},
        {"optimum": "mean_field", "schedule": "sequential", "num_steps": 300},
        {"optimum": "mean_field", "schedule": "asynchronous", "delay": 2.0, "damping": 0.5, "num_steps": 400},
        {"optimum": "gradient", "schedule": "sequential", "local_steps": 300, "num_steps": 90},
    ],
    ids=lambda changes: f"{changes['schedule']} {changes['optimum']}",
)
def test_every_schedule_and_optimum_ends_at_the_same_fixed_point(changes: dict[str, Any]) -> None:
    tolerance = 1e-2 if changes["optimum"] == "gradient" else 1e-4
    np.testing.assert_allclose(fitted(**changes).posterior, global_optimum(), rtol=tolerance)


def test_at_convergence_local_free_energies_add_up_and_are_all_at_their_best() -> None:
    """Theorem 2.1.1, with normalisers: the factors are those that make prior and factors a density."""
    state = fitted(300, optimum="mean_field", schedule="sequential")
    mean, variance = read(state.posterior, PRIOR)

    def log_partition(natural: jax.Array) -> jax.Array:
        return (natural[0] ** 2 / natural[1] - jnp.log(natural[1])).sum() / 2

    def average(natural: jax.Array) -> jax.Array:
        return natural[0] @ mean - natural[1] @ (variance + mean**2) / 2

    entropy = 1.0 + jnp.log(variance).sum() / 2
    # log t_m is the change of log q when the factor is multiplied in, up to shares of the normaliser that add up.
    share = (log_partition(state.posterior) - log_partition(PRIOR)) / 3
    local = sum(
        # E log q - E log t_m + E log p(D_m) + H[q], where E log q + H[q] = 0.
        expected(shard(m), mean, variance) - (average(state.factors[m]) - share)
        for m in range(3)
    )
    likelihood = sum(expected(shard(m), mean, variance) for m in range(3))
    whole = likelihood + average(PRIOR) - log_partition(PRIOR) + entropy
    np.testing.assert_allclose(local, whole, rtol=1e-4)

    def of_client(natural: jax.Array, m: int) -> jax.Array:
        own_mean, own_variance = natural[0] / natural[1], 1 / natural[1]
        cavity = state.posterior - state.factors[m]
        return (
            expected(shard(m), own_mean, own_variance)
            + cavity[0] @ own_mean
            - cavity[1] @ (own_variance + own_mean**2) / 2
            + jnp.log(own_variance).sum() / 2
        )

    def of_all(natural: jax.Array) -> jax.Array:
        pooled = exact_posterior(MODEL, records(), PRIOR)
        return -divergence(read(natural, PRIOR), pooled)

    for slope in [*(jax.grad(of_client)(state.posterior, m) for m in range(3)), jax.grad(of_all)(state.posterior)]:
        np.testing.assert_allclose(slope, 0, atol=1e-3)
    moved = jax.grad(of_all)(state.posterior * jnp.array([[1.1], [1.0]]))
    assert np.abs(moved).max() > 0.05


def test_padding_a_shard_changes_nothing_for_a_hundred_clients() -> None:
    sizes = tuple(1 + number % 7 for number in range(100))
    data = LinearShards(clients=100, records_per_client=sizes, theta=(1.0, 1.0), noise_std=1.0)
    algorithm = clients(exact(), sizes=sizes, num_steps=1)
    state = run(algorithm, jax.random.key(0), records(data), 1).state
    first = np.cumsum((0, *sizes))
    x, y = (np.asarray(records(data)[key]) for key in ("x", "y"))
    for m in (0, 3, 99):
        own = slice(first[m], first[m + 1])
        np.testing.assert_allclose(state.factors[m, 0], x[own].T @ y[own], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(state.factors[m, 1], (x[own] ** 2).sum(0), rtol=1e-4)


@pytest.mark.parametrize(("noise_at", "noise"), [("shared", 2.0 / 3**0.5), ("client", 2.0), ("server", 2.0)])
def test_a_client_pays_for_the_noise_that_hides_its_own_message(noise_at: NoiseAt, noise: float) -> None:
    assert clients(mechanism_of(2.0), noise_at=noise_at).event(7) == Repeat(Gaussian(noise_multiplier=noise), 7)
    settings = PviClients(
        data=DATA, model=Linear(noise_std=1.0), num_steps=40, noise_multiplier=2.0, delta=1e-4, clip=50.0,
        noise_at=noise_at,
    )  # fmt: skip
    assert experiment.claimed(settings, 100, 2.0)(7) == Repeat(Gaussian(noise_multiplier=2.0), 7)
    plain = clients(exact(), noise_at=noise_at).event(7)
    assert isinstance(plain, Repeat)
    assert isinstance(plain.event, NonPrivate)


@pytest.mark.parametrize(
    ("noise_at", "of_sum", "of_factor"), [("shared", 100.0, 100 / 3**0.5), ("client", 100 * 3**0.5, 100.0)]
)
def test_messages_have_the_noise_that_is_booked(noise_at: str, of_sum: float, of_factor: float) -> None:
    algorithm = clients(mechanism_of(2.0), num_steps=1, noise_at=noise_at)
    keys = jax.random.split(jax.random.key(4), 4000)
    after = run_seeds(algorithm, keys, records(), 1).state
    quiet = run(clients(mechanism_of(1e-9), num_steps=1, noise_at=noise_at), keys[0], records(), 1).state
    for found, still, scale in (
        (after.posterior, quiet.posterior, of_sum), (after.factors[:, 0], quiet.factors[0], of_factor)
    ):  # fmt: skip
        moved = np.asarray(found - still).ravel()
        assert kstest(moved, norm(scale=scale).cdf).pvalue > 1e-3
        assert kstest(moved, norm(scale=1.1 * scale).cdf).pvalue < 1e-3


def test_a_clients_message_is_clipped_as_a_whole() -> None:
    change = jnp.array([[3.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(clipped(change, 2.5), change / 2)
    np.testing.assert_array_equal(clipped(change, 6.0), change)
    np.testing.assert_array_equal(clipped(jnp.zeros((2, 2)), 1.0), jnp.zeros((2, 2)))
    far = fitted(1, noise=1e-9, clip=1.0)
    np.testing.assert_allclose(np.linalg.norm(far.factors.reshape(3, -1), axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("optimum", ["natural", "mean_field", "gradient"])
@pytest.mark.parametrize("noise_at", ["shared", "client", "server"])
def test_a_client_without_records_says_nothing_whatever_its_factor(optimum: str, noise_at: str) -> None:
    """So that a client's message and that of its absence differ by one clip, not by two."""
    algorithm = clients(
        mechanism_of(2.0), sizes=(1, 1, 1, 0), num_steps=1, clip=1.0, optimum=optimum, noise_at=noise_at
    )
    of_three = {key: value[:3] for key, value in records().items()}
    state = algorithm.init(jax.random.key(0), of_three)
    # As if noise had made a factor of several clips.
    noisy = jnp.full_like(state.factors, 3.0)
    state = state._replace(factors=noisy, posterior=state.prior + noisy.sum(0))
    drawn = algorithm.random(jax.random.key(1), state)
    clean = drawn._replace(clients=jnp.zeros_like(drawn.clients), server=jnp.zeros_like(drawn.server))
    sent = np.asarray(algorithm.update(clean, state, of_three)[0].factors - noisy)
    np.testing.assert_array_equal(sent[3], 0.0)
    np.testing.assert_allclose(np.linalg.norm(sent[:3].reshape(3, -1), axis=1), 1.0, rtol=1e-4)
    after = algorithm.update(drawn, state, of_three)[0]
    scale = {"shared": 1.0, "client": 2.0, "server": 0.0}[noise_at]
    np.testing.assert_allclose(after.factors[3] - noisy[3], scale * drawn.clients[3], atol=1e-5)
    assert np.isfinite(after.posterior).all()


@pytest.mark.parametrize("build", [clients, of_records])
def test_no_release_is_stated_whose_noise_no_client_adds(build: Any) -> None:
    other = exact()._replace(event=PoissonGaussian(1.0, 0.1))
    with pytest.raises(InputError, match="but clients add Gaussian noise or none"):
        build(other)


def test_only_the_servers_noise_opens_a_gap_and_resetting_closes_it() -> None:
    def gap(**changes: Any) -> float:
        state = fitted(20, noise=1.0, **changes)
        return float(jnp.linalg.norm(state.posterior - PRIOR - state.factors.sum(0)))

    assert gap(noise_at="client") < 1e-2
    assert gap(noise_at="server", reset_every=10) < 1e-2
    assert gap(noise_at="server", reset_every=15) > 20


def test_turns_are_the_same_however_many_are_asked_for() -> None:
    for schedule in get_args(Schedule):
        how = Turns(schedule, delay=2.0)
        np.testing.assert_array_equal(turns(how, 5, 30)[:10], turns(how, 5, 10))
    often = turns(Turns("asynchronous", delay=2.0), 4, 3000).mean()
    assert often == pytest.approx(1 / 3, abs=0.03)
    who = np.asarray(reporters(np.array([[True, False, True], [False, False, False]])))
    np.testing.assert_array_equal(who, [[0, 2], [3, 3]])


def test_sizes_are_known_before_the_data() -> None:
    assert sizes_of(DATA, 100) == SIZES
    assert sizes_of(AdultShards(clients=3), 10) == (4, 3, 3)
    assert sizes_of(Abalone(), 10) == (10,)
    with pytest.raises(ValueError, match="the clients have 100 records, but there are 99"):
        pvi_clients.build(MODEL, exact(), 99, sizes=SIZES, num_steps=1, clip=1.0)
