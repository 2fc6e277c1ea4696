"""Chains with Barker tests: their guarantees, their limits, and that they sample the posterior."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from dpinfer.accounting.events import Barker, FullBarker, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import chain, dpmcmc
from dpinfer.inference.base import Algorithm
from dpinfer.inference.chain import moved, proposal_of
from dpinfer.inference.correction import Correction
from dpinfer.inference.names import LOGISTIC_VARIANCE
from dpinfer.inference.run import keys_for, run_seeds
from dpinfer.models import two_modes, vae
from dpinfer.models.base import Model, no_outcome
from pipeline.settings.chain import MinibatchBarker
from pipeline.settings.data import TwoModesData as Data
from pipeline.settings.model import TwoModes

N = 400
RECORDS = {"x": jnp.asarray(np.random.default_rng(3).normal(0.4, 1.0, N), jnp.float32)}
COMMON: dict[str, Any] = {"data": Data(), "model": TwoModes(), "num_steps": 10, "delta": 1e-6}


def match(variance: float) -> Correction:
    """One Gaussian with the variance that is missing: coarse, and enough where the law is not what is tested."""
    return Correction(np.zeros(1), np.array([math.sqrt(LOGISTIC_VARIANCE - variance)]), np.ones(1))


def normal_mean(std: float = 1.0) -> Model:
    """x ~ N(theta, 1), theta ~ N(0, std^2): the posterior is known."""
    return Model(
        init=lambda key, records: jnp.zeros(1),  # noqa: ARG005
        log_prior=lambda theta: -0.5 * (theta**2).sum() / std**2,
        log_likelihood=lambda theta, record: -0.5 * (record["x"] - theta[0]) ** 2,
        predict=no_outcome,
    )


def private(model: Model, **changes: Any) -> Algorithm:
    """Barker tests with the noise that their batches fix."""
    stated: dict[str, Any] = {"batch": 50, "proposal_variance": 0.04, "tempered_records": 20, **changes}
    return dpmcmc.minibatch(model, math.sqrt(stated["batch"]), match(2.0), N, **stated)


def settings(**changes: Any) -> MinibatchBarker:
    stated = {"batch": 50, "proposal_variance": 0.04, "tempered_records": 20, "adjacency": "replace-one"}
    return MinibatchBarker(**{**COMMON, **stated, **changes})


def after(algorithm: Any, state: Any, steps: int, chains: int, records: Any = RECORDS) -> Any:
    """States of many chains after some steps from one state."""

    def one(key: Any) -> Any:
        keys = jax.random.split(key, steps)
        return jax.lax.scan(lambda now, own: (algorithm.step(own, now, records)[0], None), state, keys)[0]

    return jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(11), chains))


def accepted(algorithm: Any, move: float, records: Any, tests: int = 10_000) -> float:
    """How often a given move is accepted."""
    state = algorithm.init(jax.random.key(0), records)

    def one(key: Any) -> Any:
        drawn = algorithm.random(key, state)._replace(move=jnp.array([move]))
        return algorithm.update(drawn, state, records)[0].counts.accepted

    return float(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(5), tests)).mean())


def test_the_private_test_states_its_event_and_clips_within_the_proof() -> None:
    algorithm = private(normal_mean())
    assert algorithm.event(7) == Repeat(event=Barker(batch=50, records=N), count=7)
    # Whatever the records, the variance of an estimate stays below 1, so that the noise has at least variance 1.
    for absurd in (RECORDS["x"] * 1e6, jnp.full(N, jnp.inf), jnp.full(N, jnp.nan)):
        state = algorithm.init(jax.random.key(0), {"x": absurd})
        state, _ = jax.jit(algorithm.step)(jax.random.key(1), state, {"x": absurd})
        assert float(state.counts.largest_variance) <= dpmcmc.MARGIN**2
        assert jnp.isfinite(state.parameters).all()


def test_one_record_moves_what_the_test_sees_by_no_more_than_the_proof_says() -> None:
    batch, tempered = 50, 20.0
    model = normal_mean()
    bound = dpmcmc.MARGIN * math.sqrt(batch) / tempered
    rng = np.random.default_rng(0)
    for scale in (1.0, 30.0):
        x = jnp.asarray(scale * rng.standard_normal(batch), jnp.float32)
        other = x.at[0].set(-1e5)
        seen = []
        for records in (x, other):
            raw = chain.ratios(model, jnp.zeros(1), jnp.full(1, 0.7), {"x": records})
            clipped = np.clip(np.asarray(raw, float), -bound, bound)
            seen.append((tempered * clipped.mean(), tempered**2 * clipped.var() / batch))
        (mean, variance), (mean_other, variance_other) = seen
        assert abs(mean - mean_other) <= 2 / math.sqrt(batch)
        assert abs(variance - variance_other) <= 4 / batch


def test_ratios_that_are_no_numbers_count_nothing() -> None:
    model = normal_mean()
    found = chain.ratios(model, jnp.zeros(1), jnp.ones(1), {"x": jnp.array([0.5, jnp.nan, jnp.inf])})
    np.testing.assert_array_equal(found[:2], [0.0, 0.0])
    assert not jnp.isnan(found).any()


def test_a_full_test_bounds_every_record_and_states_it() -> None:
    algorithm = dpmcmc.full_batch(normal_mean(), 4.0, match(2.0), N, proposal_variance=0.04)
    bound = math.sqrt(2.0) / 4.0
    assert algorithm.event(3) == Repeat(event=FullBarker(bound=bound, variance=2.0), count=3)
    # With one record whose ratio is absurd, acceptance is what the clipped ratio and the noise make it.
    rate = accepted(algorithm, 1.0, {"x": jnp.array([1e4])})
    expected = stats.norm.cdf((bound - 0.5) / math.sqrt(LOGISTIC_VARIANCE))
    assert rate == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(10_000))


@pytest.mark.parametrize("move", [-0.6, 0.2, 0.5])
def test_without_clipping_and_normal_part_the_private_test_is_barkers(move: float) -> None:
    # As C goes to 0 the correction is the logistic noise itself, here as a mixture fine enough to be it.
    quantiles = stats.logistic.ppf((np.arange(2000) + 0.5) / 2000)
    logistic = Correction(quantiles, np.full(2000, 1e-3), np.full(2000, 1 / 2000))
    algorithm = dpmcmc.full_batch(normal_mean(), 1e-6, logistic, 5, proposal_variance=0.04, noise_variance=1e-6)
    records = {"x": RECORDS["x"][:5]}
    ratio = float(chain.ratios(normal_mean(), jnp.zeros(1), jnp.full(1, move), records).sum()) - move**2 / 2
    assert accepted(algorithm, move, records) == pytest.approx(expit(ratio), abs=0.02)
    exact = dpmcmc.full_batch(normal_mean(), None, logistic, 5, proposal_variance=0.04)
    assert accepted(exact, move, records) == pytest.approx(expit(ratio), abs=0.02)


def test_the_metropolis_test_accepts_with_its_own_probability() -> None:
    algorithm = dpmcmc.full_batch(normal_mean(), None, match(2.0), 5, proposal_variance=0.04, test="metropolis")
    records = {"x": RECORDS["x"][:5]}
    for move in (-0.5, 0.3):
        ratio = float(chain.ratios(normal_mean(), jnp.zeros(1), jnp.full(1, move), records).sum()) - move**2 / 2
        assert accepted(algorithm, move, records) == pytest.approx(min(1, math.exp(ratio)), abs=0.02)


def chains(kind: Any) -> Any:
    """Each kind of chain on N0 = 20 of 400 records, moving fast enough to mix."""
    wide: dict[str, Any] = {"proposal_variance": 0.25, "tempered_records": 20}
    if kind == "private":
        return private(normal_mean(), batch=400, **wide)
    if kind == "growing":
        return dpmcmc.minibatch(
            normal_mean(), None, match(1.0), N, batch=20, growth=30, noise_variance=1.0, **wide
        )
    return dpmcmc.full_batch(normal_mean(), None, match(2.0), N, **wide, test=kind)


@pytest.mark.parametrize("kind", ["barker", "metropolis", "growing", "private"])
def test_chains_sample_the_tempered_posterior(kind: str) -> None:
    # Precision 20 from the records and 1 from the prior.
    mean, variance = 20 * float(RECORDS["x"].mean()) / 21, 1 / 21
    algorithm = chains(kind)
    start = algorithm.init(jax.random.key(0), RECORDS)
    theta = np.asarray(after(algorithm, start, 150, 1000).parameters)[:, 0]
    # The correction by one Gaussian is a percent off the logistic noise.
    assert theta.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / 1000) + 0.005)
    assert theta.var() == pytest.approx(variance, rel=4 * math.sqrt(2 / 1000) + 0.03)


def test_a_growing_batch_is_as_large_as_its_estimate_needs() -> None:
    algorithm = chains("growing")
    start = algorithm.init(jax.random.key(0), RECORDS)
    counts = after(algorithm, start, 50, 20).counts
    assert float(counts.largest_variance.max()) <= 1.0
    sizes = np.asarray(counts.seen.high) / 50
    assert (sizes > 20).all()
    assert (sizes <= N).all()


def test_a_batch_of_all_records_is_exact() -> None:
    algorithm = dpmcmc.minibatch(
        normal_mean(), None, match(1.0), N, batch=N, growth=10, noise_variance=1.0, proposal_variance=0.04
    )
    state = algorithm.init(jax.random.key(0), RECORDS)
    state, _ = algorithm.step(jax.random.key(1), state, RECORDS)
    assert float(state.counts.largest_variance) == 0.0


def test_joined_batches_are_one_batch() -> None:
    values = jax.random.normal(jax.random.key(2), (70,)) + 3.0
    every, none = jnp.ones(70, bool), jnp.zeros(70, bool)
    parts = [dpmcmc._estimate(values[a:b], none[a:b], every[a:b]) for a, b in ((0, 50), (50, 70))]
    joined = dpmcmc._join(*parts)
    np.testing.assert_allclose(joined.mean, values.mean(), rtol=1e-6)
    np.testing.assert_allclose(joined.variance, values.var(), rtol=1e-5)


def coin(prior: jax.Array) -> Model:
    """Which of some coins was tossed: the parameter is a whole number, of which there is no gradient."""
    heads = jnp.array([0.2, 0.5, 0.7])

    def log_likelihood(which: jax.Array, record: Any) -> jax.Array:
        share = heads[jnp.clip(which[0], 0, 2)]
        return jnp.where(record["x"] > 0, jnp.log(share), jnp.log(1 - share))

    def log_prior(which: jax.Array) -> jax.Array:
        allowed = (which[0] >= 0) & (which[0] <= 2)
        return jnp.where(allowed, jnp.log(prior)[jnp.clip(which[0], 0, 2)], -jnp.inf)

    return Model(lambda key, records: jnp.array([1]), log_prior, log_likelihood, no_outcome)  # noqa: ARG005


def test_a_discrete_parameter_is_sampled_privately() -> None:
    prior = jnp.array([0.3, 0.3, 0.4])
    tosses = {"x": (jnp.arange(N) % 5 < 3).astype(jnp.float32)}
    algorithm = private(coin(prior), batch=200, tempered_records=8)
    start = algorithm.init(jax.random.key(0), tosses)
    which = np.asarray(after(algorithm, start, 60, 3000, tosses).parameters)[:, 0]
    weight = np.asarray(prior) * (np.array([0.2, 0.5, 0.7]) ** 4.8) * (np.array([0.8, 0.5, 0.3]) ** 3.2)
    shares = np.bincount(which, minlength=3) / 3000
    np.testing.assert_allclose(shares, weight / weight.sum(), atol=0.035)
    assert which.dtype == np.int32


def test_moves_from_a_ball_stay_in_it_and_fill_it() -> None:
    proposal = proposal_of("ball", None, 0.5)
    assert proposal.reach == 0.5
    like = {"a": jnp.zeros(2), "b": jnp.zeros(())}
    moves = jax.vmap(lambda key: proposal.random(key, like))(jax.random.split(jax.random.key(0), 5000))
    norms = np.sqrt((np.asarray(moves["a"]) ** 2).sum(1) + np.asarray(moves["b"]) ** 2)
    assert norms.max() <= 0.5 * (1 + 1e-6)
    assert stats.kstest(norms / 0.5, stats.powerlaw(3).cdf).pvalue > 1e-3


def test_gaussian_moves_have_their_variance_and_whole_numbers_go_one_step() -> None:
    like = {"whole": jnp.zeros(3, int), "real": jnp.zeros(2)}
    proposal = proposal_of("gaussian", 0.04, None)
    moves = jax.vmap(lambda key: proposal.random(key, like))(jax.random.split(jax.random.key(0), 5000))
    assert float(moves["real"].var()) == pytest.approx(0.04, rel=0.06)
    shares = np.bincount(np.asarray(moves["whole"]).ravel() + 1) / 15_000
    np.testing.assert_allclose(shares, 1 / 3, atol=0.02)
    assert moved(like, jax.tree.map(lambda leaf: leaf[0], moves))["whole"].dtype == like["whole"].dtype


def test_running_moments_leave_the_burn_in_out() -> None:
    algorithm = private(two_modes.build(), burn_in=40)
    done = run_seeds(
        algorithm, keys_for(jax.random.key(2), 2), RECORDS, 100, record=lambda s, _: s, record_every=1
    )
    draws = np.asarray(done.trace.parameters, np.float64)[:, 40:]
    moments = done.state.moments
    assert (moments.counted == 60).all()
    np.testing.assert_allclose(moments.first.high - moments.first.low, draws.sum(1), rtol=1e-5)
    np.testing.assert_allclose(moments.second.high - moments.second.low, (draws**2).sum(1), rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"noise_multiplier": 3.0}, "noise_multiplier is fixed by batch and noise_variance"),
        ({"noise_variance": 1.0}, "a private run on batches needs noise_variance 2"),
        ({"delta": None}, "a private run needs delta"),
        ({"proposal_radius": 1.0}, "proposal_radius should be given for the proposal ball"),
        ({"proposal_variance": None}, "proposal_variance should be given for the proposal gaussian"),
    ],
)
def test_impossible_chains_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        settings(**changes)


def test_a_proposal_needs_its_size() -> None:
    with pytest.raises(InputError, match="proposal_radius should be given for the proposal ball"):
        proposal_of("ball", 0.04, None)


def test_a_model_that_integrates_by_draws_is_refused() -> None:
    with pytest.raises(InputError, match="a chain needs the likelihood itself"):
        private(vae.build())


def test_a_chain_without_its_correction_says_so() -> None:
    bare = dpmcmc.minibatch(two_modes.build(), None, None, N, batch=10, proposal_variance=0.1)
    with pytest.raises(InputError, match="a chain needs the correction"):
        bare.step(jax.random.key(0), bare.init(jax.random.key(1), RECORDS), RECORDS)
