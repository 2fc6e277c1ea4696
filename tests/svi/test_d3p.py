"""The listings of the d3p paper run with another import line: the same calls, in the same order."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.infer import Trace_ELBO
from numpyro.optim import Adam

from dpinfer.accounting.events import PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError
from dpinfer.svi import (
    DPSVI,
    approximate_sigma,
    approximate_sigma_remove_relation,
    poisson_batchify_data,
    split_batchify_data,
    subsample_batchify_data,
)
from svi import programs as p

KEY = jax.random.PRNGKey(6)  # as users of d3p have them


def infer(
    records: Any, model: Any, guide: Any, batch_size: int, num_iter: int, epsilon: float, delta: float,
    rng_key: Any, **constants: Any,
) -> dict[str, Any]:  # fmt: skip
    """Listing 3, for the models of Listings 2 and 4."""
    batchifier_init, get_batch = subsample_batchify_data(records, batch_size)
    _, batchifier_state = batchifier_init(rng_key)
    q = batch_size / len(records[0])
    dp_scale, _, _ = approximate_sigma(epsilon, delta, q, num_iter)
    loss = Trace_ELBO()
    optimiser = Adam(1e-3)
    clipping_threshold = 1.0
    dpsvi = DPSVI(model, guide, optimiser, loss, clipping_threshold, dp_scale, N=len(records[0]), **constants)
    svi_state = dpsvi.init(rng_key, *get_batch(0, batchifier_state))
    for i in range(num_iter):
        svi_state, loss = dpsvi.update(svi_state, *get_batch(i, batchifier_state))
    return dpsvi.get_params(svi_state)


def test_simple_logistic_regression() -> None:
    params = infer((p.XS, p.YS), p.simple, p.simple_guide, 20, 30, 4.0, 1 / p.N, KEY)
    assert {name: value.shape for name, value in params.items()} == {"w_loc": (3,), "w_scale_log": (3,)}
    # Thirty steps of at most about 1e-3 each have moved every parameter, and none by more than that.
    moved = np.abs(np.concatenate([np.asarray(value) for value in params.values()]))
    assert (moved > 0).all()
    assert (moved < 0.04).all()


def test_hierarchical_logistic_regression() -> None:
    params = infer((p.XS, p.YS, p.GROUP), p.hierarchical, p.hierarchical_guide, 20, 10, 4.0, 1 / p.N, KEY, gs=p.GS)
    assert params["M_loc"].shape == (p.D, p.K)
    assert all(np.isfinite(value).all() for value in params.values())


@pytest.mark.parametrize(
    ("search", "adjacency"),
    [(approximate_sigma, "replace-one"), (approximate_sigma_remove_relation, "add-remove")],
)
@pytest.mark.parametrize(("sampler", "kind"), [("subset", SubsetGaussian), ("poisson", PoissonGaussian)])
def test_sigma_meets_its_target_and_wastes_little(search: Any, adjacency: Any, sampler: Any, kind: Any) -> None:
    sigma, epsilon, accounts = search(2.0, 1e-3, 0.05, 200, sampler=sampler)
    event = Repeat(event=kind(noise_multiplier=sigma, sampling_rate=0.05), count=200)
    assert epsilon == pld.epsilon(event, 1e-3, adjacency).upper
    assert 1.98 < epsilon <= 2.0
    assert accounts > 1


def test_the_default_is_sound_for_batches_of_fixed_size() -> None:
    assert (
        approximate_sigma(2.0, 1e-3, 0.05, 200)[0] == approximate_sigma(2.0, 1e-3, 0.05, 200, sampler="subset")[0]
    )
    assert (
        approximate_sigma(2.0, 1e-3, 0.05, 200)[0] > approximate_sigma(2.0, 1e-3, 0.05, 200, sampler="poisson")[0]
    )


def test_subsamples_have_distinct_records_and_differ_by_step() -> None:
    init, get_batch = subsample_batchify_data((jnp.arange(50), 2 * jnp.arange(50)), q=0.2)
    number, state = init(KEY)
    assert number == 5
    batches = [get_batch(step, state) for step in range(4)]
    for first, second in batches:
        assert len(set(first.tolist())) == 10
        np.testing.assert_array_equal(second, 2 * first)
    assert len({tuple(sorted(first.tolist())) for first, _ in batches}) == 4


def test_a_split_goes_through_every_record_once() -> None:
    init, get_batch = split_batchify_data((jnp.arange(47),), batch_size=10)
    number, state = init(KEY)
    assert number == 4
    seen = np.concatenate([get_batch(step, state)[0] for step in range(number)])
    assert len(set(seen.tolist())) == 40
    np.testing.assert_array_equal(get_batch(4, state)[0], get_batch(0, state)[0])


def test_poisson_batches_have_the_expected_size_on_average() -> None:
    init, get_batch = poisson_batchify_data((jnp.arange(300),), q=0.1)
    _, state = init(KEY)
    sizes, seen = [], np.zeros(300)
    for step in range(400):
        (rows,), mask = get_batch(step, state)
        chosen = np.asarray(rows)[np.asarray(mask)]
        assert len(set(chosen.tolist())) == len(chosen)
        sizes.append(len(chosen))
        seen[chosen] += 1
    assert abs(np.mean(sizes) - 30) < 4 * np.sqrt(27 / 400)
    assert 0.5 < np.var(sizes) / 27 < 1.6
    assert np.abs(seen - 40).max() < 5 * np.sqrt(36)


def test_masked_batches_train() -> None:
    init, get_batch = poisson_batchify_data((p.XS, p.YS), q=0.1)
    _, state = init(KEY)
    dpsvi = DPSVI(p.simple, p.simple_guide, Adam(0.05), Trace_ELBO(), 1.0, 0.3, expected_batch=0.1 * p.N, N=p.N)
    svi_state = dpsvi.init(KEY, *get_batch(0, state)[0])
    for step in range(150):
        batch, mask = get_batch(step, state)
        svi_state, _ = dpsvi.update(svi_state, *batch, mask=mask)
    weights = dpsvi.get_params(svi_state)["w_loc"]
    assert weights[1] < -0.5 < 0.3 < weights[0]


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="with_replacement is true"):
        subsample_batchify_data((p.XS,), 10, with_replacement=True)
    with pytest.raises(InputError, match="exactly one of batch_size and q"):
        split_batchify_data((p.XS,))
    with pytest.raises(InputError, match="the batch is 121"):
        subsample_batchify_data((p.XS,), 121)
    with pytest.raises(InputError, match="arrays of one and the same length"):
        subsample_batchify_data((p.XS, p.YS[:3]), 10)
    with pytest.raises(InputError, match=r"q is 0, but should lie in \(0, 1\]"):
        poisson_batchify_data((p.XS,), q=0)
    init, _ = subsample_batchify_data((p.XS,), 10)
    with pytest.raises(InputError, match="the random key is None"):
        init(None)  # type: ignore[arg-type]
