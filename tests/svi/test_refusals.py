"""Bad use is told in one sentence."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import optax
import pytest
from numpyro.distributions import Normal
from numpyro.infer import Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam, Minimize

from dpinfer.errors import InputError
from dpinfer.svi import DPSVI
from svi import programs as p

KEY = jax.random.key(0)
BATCH = p.XS[:8], p.YS[:8]


def make(model: Any = p.simple, guide: Any = p.simple_guide, optim: Any = None, **options: Any) -> DPSVI:
    chosen = {"clipping_threshold": 1.0, "dp_scale": 1.0, **options}
    return DPSVI(model, guide, optim or Adam(0.01), Trace_ELBO(), **chosen)


def without_plate(xs: Any, ys: Any, N: int) -> None:
    del N
    w = numpyro.sample("w", Normal(0, 4), sample_shape=(3,))
    numpyro.sample("ys", numpyro.distributions.Bernoulli(logits=xs @ w), obs=ys)


def beside_the_plate(xs: Any, ys: Any, N: int) -> None:
    p.simple(xs, ys, N)
    numpyro.sample("more", Normal(0, 1).expand([len(xs)]).to_event(1), obs=xs[:, 0])


def informed_guide(xs: Any, ys: Any, N: int) -> None:
    del ys, N
    loc = numpyro.param("w_loc", xs.mean(0))
    numpyro.sample("w", Normal(loc, 1.0))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"clipping_threshold": -1.0}, "clipping_threshold is -1.0, but should be positive"),
        ({"clipping_threshold": math.nan}, "clipping_threshold is nan, but should be positive"),
        ({"dp_scale": -0.1}, "dp_scale is -0.1, but should be finite and not negative"),
        ({"clipping_threshold": math.inf}, "clipping_threshold is inf, but noise is in units of it"),
    ],
)
def test_numbers(options: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make(N=p.N, **options)


@pytest.mark.parametrize(
    ("model", "guide", "sentence"),
    [
        (without_plate, p.simple_guide, "the model has no plate over the records"),
        (beside_the_plate, p.simple_guide, "the site more observes records outside of a plate over records"),
        (p.simple, informed_guide, "the parameter w_loc starts from the values of the records"),
    ],
)
def test_models(model: Any, guide: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make(model, guide, N=p.N).init(KEY, *BATCH)


def test_a_parameter_for_each_record() -> None:
    with pytest.raises(InputError, match="the parameter z_auto_loc has a value for each record"):
        make(p.local, AutoNormal(p.local), N=p.N).init(KEY, p.XS)


@pytest.mark.parametrize("key", [None, 3])
def test_a_missing_key(key: Any) -> None:
    with pytest.raises(InputError, match=f"the random key is {key}"):
        make(N=p.N).init(key, *BATCH)


def test_numbers_of_records_that_do_not_agree() -> None:
    with pytest.raises(InputError, match="the batch has 8 records, but the model's plate only 5"):
        make(N=5).init(KEY, *BATCH)
    with pytest.raises(InputError, match="the number of records is 120 by the model's plate, 60 by the data"):
        make(N=p.N).run(KEY, 5, p.XS[:60], p.YS[:60], progress_bar=False)
    with pytest.raises(InputError, match="arrays of one and the same length"):
        make(N=p.N).init(KEY, p.XS, p.YS[:5])


def test_a_batch_larger_than_the_data() -> None:
    with pytest.raises(InputError, match="expected_batch is 121, but should be positive and at most the number"):
        make(N=p.N, expected_batch=121).run(KEY, 5, p.XS, p.YS, progress_bar=False)


def test_a_plate_of_the_batch_needs_the_number_of_records() -> None:
    svi = make(p.nested, AutoNormal(p.nested))
    state = svi.init(KEY, p.XS)
    with pytest.raises(InputError, match="state the number of all records by num_records"):
        svi.update(state, p.XS[:8])


def test_a_masked_batch_needs_its_expected_size() -> None:
    svi = make(N=p.N)
    state = svi.init(KEY, *BATCH)
    with pytest.raises(InputError, match="state expected_batch"):
        svi.update(state, *BATCH, mask=jnp.arange(8) < 3)


def test_records_by_keyword() -> None:
    with pytest.raises(InputError, match="the keyword argument ys has as many entries as there are records"):
        make(N=p.N).init(KEY, p.XS, ys=p.YS)


def test_parameters_that_get_lost_are_named() -> None:
    svi = make(N=p.N, optim=Adam(math.inf), expected_batch=40)
    with pytest.raises(FloatingPointError, match=r"the parameter \w+ is not finite after 3 steps"):
        svi.run(KEY, 3, p.XS, p.YS, progress_bar=False)


@pytest.mark.parametrize("optim", [Minimize(), optax.chain(optax.sgd(0.1), optax.contrib.reduce_on_plateau())])
def test_optimisers_that_look_at_the_loss(optim: Any) -> None:
    with pytest.raises(InputError, match="the optimiser looks at the loss"):
        make(optim=optim, N=p.N).init(KEY, *BATCH)


def test_what_cannot_be_private() -> None:
    svi = make(N=p.N)
    state = svi.init(KEY, *BATCH)
    with pytest.raises(InputError, match="stable_update drops steps by the records"):
        svi.run(KEY, 3, p.XS, p.YS, stable_update=True)
    with pytest.raises(InputError, match="forward_mode_differentiation is not available"):
        svi.update(state, *BATCH, forward_mode_differentiation=True)
    with pytest.raises(InputError, match="call init first"):
        make(N=p.N).gradient_norms(KEY, state, *BATCH)


def test_arguments_of_get_epsilon() -> None:
    svi = make(N=p.N)
    with pytest.raises(InputError, match="exactly one of num_epochs and num_iter"):
        svi.get_epsilon(1e-5, 0.1)
    with pytest.raises(InputError, match=r"q is 1.5, but should lie in \(0, 1\]"):
        svi.get_epsilon(1e-5, 1.5, num_iter=3)
    with pytest.raises(InputError, match="the sampler is lottery, but should be poisson or subset"):
        svi.get_epsilon(1e-5, 0.5, num_iter=3, sampler="lottery")  # type: ignore[arg-type]
