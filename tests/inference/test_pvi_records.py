"""Partitioned variational inference whose clients protect each of their records."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.base import parts
from dpinfer.accounting.events import Disjoint, Gaussian, NonPrivate, PoissonGaussian, Repeat
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.inference.free_energy import loss_of
from dpinfer.inference.names import ClientOptions
from dpinfer.inference.natural import exact_posterior, natural, prior_of, read
from dpinfer.inference.run import run
from dpinfer.mechanism.clients import together
from dpinfer.mechanism.exact import exact
from dpinfer.models import linear, logistic
from inference.shards import DATA, MODEL, mechanism_of, of_records, records, settings_of_records
from pipeline import experiment
from pipeline.settings.base import Claimed
from pipeline.settings.data import Abalone
from pipeline.settings.model import Mixture
from pipeline.settings.pvi import Client as Budgeted
from pipeline.stages import calibrate

ALIKE = (20, 20, 20)


def state_of(algorithm: Algorithm, num_steps: int = 5) -> Any:
    return run(algorithm, jax.random.key(1), records(), num_steps).state


def test_the_gradient_of_a_record_is_the_thesis() -> None:
    """Eq. 4.21, and Eq. 4.22 by the logarithm of the variance."""
    x, y, size = jnp.array([1.0, 0.7]), jnp.asarray(0.3), 50.0
    mean, log_variance = jnp.array([0.4, -0.2]), jnp.array([-1.0, 0.5])
    cavity = jnp.array([[0.3, -0.8], [2.0, 5.0]])
    found = jax.grad(loss_of(linear.build(noise_std=2.0), cavity, jnp.asarray(size)))(
        {"mean": mean, "log_variance": log_variance}, ({"x": x, "y": y}, ())
    )
    of_mean = x * (x @ mean - y) / 4 + (cavity[1] * mean - cavity[0]) / size
    variance = jnp.exp(log_variance)
    of_variance = variance * x**2 / 8 + (variance * cavity[1] - 1) / (2 * size)
    np.testing.assert_allclose(found["mean"], of_mean, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found["log_variance"], of_variance, rtol=1e-5, atol=1e-7)


def test_a_sampled_expectation_has_the_gradient_of_the_closed_form() -> None:
    cavity = jnp.array([[0.3, -0.8], [2.0, 5.0]])
    guide = {"mean": jnp.array([0.4, -0.2]), "log_variance": jnp.array([-1.0, 0.5])}
    record = {"x": jnp.array([1.0, 0.7]), "y": jnp.asarray(0.3)}
    sampled = loss_of(MODEL._replace(quadratic=None), cavity, jnp.asarray(50.0))
    units = jax.random.normal(jax.random.key(0), (40_000, 2))
    each = jax.vmap(lambda unit: jax.grad(sampled)(guide, (record, unit)))(units)
    closed = jax.grad(loss_of(MODEL, cavity, jnp.asarray(50.0)))(guide, (record, ()))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a.mean(0), b, atol=0.03), each, closed)


def test_without_privacy_it_ends_where_the_exact_optimum_does() -> None:
    algorithm = of_records(
        exact(), sizes=ALIKE, expected_batch=20, local_steps=40, learning_rate=0.1, damping=0.4, num_steps=400,
        sampler="subset",
    )  # fmt: skip
    data = records(dataclasses.replace(DATA, records_per_client=20, input_shift=()))
    state = run(algorithm, jax.random.key(1), data, 400).state
    pooled = exact_posterior(MODEL, data, prior_of(MODEL, 2))
    mean, variance = read(state.posterior, state.prior)
    np.testing.assert_allclose(mean, np.linalg.solve(pooled.curvature, pooled.shift), atol=0.02)
    np.testing.assert_allclose(1 / variance, np.diag(pooled.curvature), rtol=0.05)


def test_a_huge_clip_and_hardly_any_noise_give_the_plain_algorithm() -> None:
    plain = state_of(of_records(exact()))
    private = state_of(of_records(mechanism_of(1e-12), clip=1e6, clipping="quantile"))
    np.testing.assert_allclose(private.posterior, plain.posterior, rtol=1e-3, atol=1e-3)


def test_a_client_that_never_fetches_fits_its_records_to_the_prior() -> None:
    whole: dict[str, Any] = {
        "expected_batch": 20,
        "own": (ClientOptions(), ClientOptions(expected_batch=50), ClientOptions(expected_batch=30))
    }  # fmt: skip
    three = state_of(of_records(exact(), fetches=False, **whole))
    first = {key: value[:20] for key, value in records().items()}
    one = run(of_records(exact(), sizes=(20,), expected_batch=20), jax.random.key(1), first, 5)
    np.testing.assert_allclose(three.factors[0], one.state.factors[0], rtol=1e-4)
    fetching = state_of(of_records(exact(), **whole))
    assert np.abs(fetching.factors[0] - three.factors[0]).max() > 0.1


OWN = (ClientOptions(noise_factor=2.0), ClientOptions(expected_batch=25, clip=1.0), ClientOptions())


def test_every_client_is_booked_for_itself() -> None:
    event = of_records(mechanism_of(1.5), own=OWN).event(4)
    wanted = [(3.0, 0.5), (1.5, 0.5), (1.5, 1 / 3)]
    assert event == Disjoint(tuple(Repeat(PoissonGaussian(noise, rate), 12) for noise, rate in wanted))
    assert of_records(mechanism_of(1.5), sizes=ALIKE).event(4) == Repeat(PoissonGaussian(1.5, 0.5), 12)


def test_clients_have_clips_and_turns_of_their_own() -> None:
    algorithm = of_records(mechanism_of(1.5), own=OWN, last_rounds=(2, 0, 40))
    done = run(
        algorithm, jax.random.key(1), records(), 10,
        record=lambda state, info: state.factors, record_every=1,  # noqa: ARG005
    )  # fmt: skip
    np.testing.assert_array_equal(done.state.clips, [5.0, 1.0, 5.0])
    of_first, of_second, of_third = (np.abs(np.diff(done.trace[:, m], axis=0)).sum((1, 2)) > 0 for m in range(3))
    assert of_first.tolist() == [True] + [False] * 8
    assert not of_second.any()
    assert of_third.all()
    counts = [part.count for part in parts(algorithm.event(10)) if isinstance(part, Repeat)]
    assert counts == [6, 0, 30]


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous", "sequential"])
def test_a_client_stops_just_before_its_budget_is_exceeded(schedule: Any) -> None:
    settings = settings_of_records(
        schedule=schedule,
        own=(Budgeted(budget=3.0), Budgeted(budget=4.0), Budgeted()),
        num_steps=200,
        noise_multiplier=2.0,
    )
    last = calibrate.last_rounds(settings, 100, 2.0)
    assert last[2] == 200

    def spent(rounds: int, client: int, **changes: Any) -> float:
        event = experiment.build(dataclasses.replace(settings, **changes), 100, 2.0).event(rounds)
        return pld.epsilon(parts(event)[client], 1e-4, "add-remove").upper

    for client, budget in ((0, 3.0), (1, 4.0)):
        assert 0 < last[client] < 200
        assert spent(200, client, last_rounds=tuple(last)) <= budget < spent(last[client] + 1, client)


def test_the_papers_budget_may_stop_a_client_instead() -> None:
    settings = settings_of_records(
        own=(Budgeted(budget=3.0), Budgeted(), Budgeted()), sampler="subset", accountant="moments", num_steps=60
    )
    seen = dataclasses.replace(settings, target="paper", claimed=Claimed(sampler="poisson"))
    assert calibrate.last_rounds(seen, 100, 2.0)[0] > calibrate.last_rounds(settings, 100, 2.0)[0]


def test_percentile_clipping_has_no_epsilon_whatever_the_thesis_says() -> None:
    settings = settings_of_records(clipping="percentile", data=dataclasses.replace(DATA, records_per_client=20))
    event = experiment.build(settings, 60, 1.0).event(2)
    assert isinstance(event, Repeat)
    assert isinstance(event.event, NonPrivate)
    claimed = experiment.claimed(settings, 60, 1.0)(2)
    assert claimed == Repeat(PoissonGaussian(1.0, 0.5), 6)


def test_the_private_quantile_is_paid_for_by_both_accounts() -> None:
    settings = settings_of_records(clipping="quantile", data=dataclasses.replace(DATA, records_per_client=20))
    noise = together(1.0, 0.05 * 10)
    for event in (experiment.build(settings, 60, 1.0).event(2), experiment.claimed(settings, 60, 1.0)(2)):
        assert event == Repeat(PoissonGaussian(noise, 0.5), 6)


def test_any_model_with_a_gaussian_prior_can_be_shared_out() -> None:
    x = jax.random.normal(jax.random.key(5), (100, 2))
    data = {"x": x, "y": (x[:, 0] > 0).astype(int), "group": records()["group"]}
    algorithm = of_records(
        exact(), model=logistic.build(), optimiser="adam", learning_rate=0.05, local_steps=10, damping=0.5
    )
    state = run(algorithm, jax.random.key(1), data, 40).state
    mean, _ = read(state.posterior, state.prior)
    assert mean[0] > 1.0
    assert abs(mean[1]) < 0.5


def test_full_batches_are_gaussian_releases() -> None:
    algorithm = of_records(mechanism_of(1.0), sizes=ALIKE, expected_batch=20)
    assert algorithm.event(1) == Repeat(Gaussian(1.0), 3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"own": (ClientOptions(),)}, "own has 1 entries, but there are 3 clients"),
        ({"last_rounds": (1, 2)}, "last_rounds has 2 entries, but there are 3 clients"),
        ({"expected_batch": 40}, "expected_batch is 40, but should be from 1 to 20, the records of client 0"),
    ],
)
def test_what_does_not_fit_the_clients_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        of_records(mechanism_of(1.0), **changes)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="sampler is choice"):
        settings_of_records(sampler="choice")
    with pytest.raises(ValueError, match="should be linear or logistic"):
        settings_of_records(model=Mixture(), data=Abalone())


def test_natural_parameters_go_there_and_back() -> None:
    start = jnp.array([[1.0, -2.0], [4.0, 0.5]])
    prior = jnp.array([[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(natural(read(start, prior)), start, rtol=1e-6)
    assert float(read(start.at[1, 1].set(-3.0), prior).variance[1]) == pytest.approx(10.0)
