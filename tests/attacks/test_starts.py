"""Attacks on starts: of records, nothing may be released before there is noise."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
import pytest
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import (
    AutoBNAFNormal,
    AutoDAIS,
    AutoDelta,
    AutoDiagonalNormal,
    AutoGuideList,
    AutoIAFNormal,
    AutoLaplaceApproximation,
    AutoLowRankMultivariateNormal,
    AutoMultivariateNormal,
    AutoNormal,
)
from numpyro.infer.initialization import init_to_mean
from numpyro.optim import SGD

from dpinfer.errors import InputError
from dpinfer.svi import DPSVI

KEY = jax.random.key(0)
X = 5.0 + jax.random.normal(jax.random.key(1), (60, 2))
NEIGHBOUR = X.at[0].set(-100.0)


def mean_of(x: Any) -> None:
    mu = numpyro.sample("mu", dist.Normal(0.0, 10.0).expand([2]).to_event(1))
    with numpyro.plate("records", len(x)):
        numpyro.sample("x", dist.Normal(mu, 1.0).to_event(1), obs=x)


def private(model: Any, guide: Any, loss: Any = None, **options: Any) -> DPSVI:
    return DPSVI(model, guide, SGD(0.0), loss or Trace_ELBO(), 1.0, 1.0, **options)


@pytest.mark.parametrize("of", [lambda x: x[0], lambda x: x[-1], lambda x: x.mean(0), lambda x: 1e-3 * x.sum(0)])
def test_a_parameter_that_starts_at_a_record(of: Any) -> None:
    def guide(x: Any) -> None:
        loc = numpyro.param("loc", of(x))
        numpyro.sample("mu", dist.Normal(loc, 1.0).to_event(1))

    with pytest.raises(InputError, match="the parameter loc starts from the values of the records"):
        private(mean_of, guide).run(KEY, 1, X, progress_bar=False)


@pytest.mark.parametrize(
    "make",
    [
        AutoNormal, AutoDelta, AutoDiagonalNormal, AutoMultivariateNormal, AutoLowRankMultivariateNormal,
        AutoIAFNormal, lambda model: AutoBNAFNormal(model, num_flows=1),
    ],
)  # fmt: skip
def test_automatic_guides_start_alike_on_other_records(make: Any) -> None:
    starts = [private(mean_of, make(mean_of)).init(KEY, records) for records in (X, NEIGHBOUR, X[:7])]
    for other in starts[1:]:
        jax.tree.map(np.testing.assert_array_equal, starts[0].optim_state, other.optim_state)


def test_a_guide_that_has_seen_the_records_starts_anew() -> None:
    guide = AutoNormal(mean_of, init_loc_fn=init_to_mean)
    SVI(mean_of, guide, SGD(0.0), Trace_ELBO()).init(KEY, NEIGHBOUR)
    seen = private(mean_of, guide)
    fresh = private(mean_of, AutoNormal(mean_of, init_loc_fn=init_to_mean))
    states = [svi.init(KEY, X) for svi in (seen, fresh)]
    jax.tree.map(np.testing.assert_array_equal, states[0].optim_state, states[1].optim_state)
    in_parts = AutoGuideList(mean_of)
    in_parts.append(guide)
    private(mean_of, in_parts).init(KEY, X)
    assert not np.isin(np.asarray(guide.prototype_trace["x"]["value"]), np.asarray(NEIGHBOUR)).any()


def test_a_prior_at_the_mean_of_the_records() -> None:
    def informed(x: Any) -> None:
        mu = numpyro.sample("mu", dist.Normal(x.mean(0), 10.0).to_event(1))
        with numpyro.plate("records", len(x)):
            numpyro.sample("x", dist.Normal(mu, 1.0).to_event(1), obs=x)

    with pytest.raises(InputError, match=r"mu.*(moves with the records|starts from the values)"):
        private(informed, AutoNormal(informed, init_loc_fn=init_to_mean)).init(KEY, X)


def daises() -> list[Any]:
    inside = AutoGuideList(mean_of)
    inside._guides.append(AutoDAIS(mean_of))
    return [AutoDAIS(mean_of), AutoLaplaceApproximation(mean_of), inside]


@pytest.mark.parametrize("guide", daises())
def test_guides_that_keep_records(guide: Any) -> None:
    with pytest.raises(InputError, match="keeps the records that it is set up with, past all noise"):
        private(mean_of, guide).init(KEY, X)


def hidden(guide: Any) -> list[Any]:
    """Guides that call another one."""

    class Holder:
        def __init__(self) -> None:
            self.inner = guide

        def __call__(self, x: Any) -> Any:
            return self.inner(x)

    return [lambda x: guide(x), guide.__call__, functools.partial(guide.__call__), Holder()]


@pytest.mark.parametrize("place", range(4), ids=["closure", "method", "partial", "object"])
def test_guides_that_keep_records_inside_of_others(place: int) -> None:
    with pytest.raises(InputError, match="AutoDAIS keeps the records"):
        private(mean_of, hidden(AutoDAIS(mean_of))[place]).init(KEY, X)
    seen = AutoNormal(mean_of, init_loc_fn=init_to_mean)
    SVI(mean_of, seen, SGD(0.0), Trace_ELBO()).init(KEY, NEIGHBOUR)
    private(mean_of, hidden(seen)[place]).init(KEY, X)
    assert not np.isin(np.asarray(seen.prototype_trace["x"]["value"]), np.asarray(NEIGHBOUR)).any()


def test_draws_of_a_guide_are_the_same_whatever_stands_in_a_record() -> None:
    """Deterministic sites are computed by what a guide was set up with."""

    def model(x: Any) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 10.0).expand([2]).to_event(1))
        numpyro.deterministic("first", x[0] + 0 * mu)
        with numpyro.plate("records", len(x)):
            numpyro.sample("x", dist.Normal(mu, 1.0).to_event(1), obs=x)

    drawn = []
    for records in (X, NEIGHBOUR):
        guide = AutoDiagonalNormal(model)
        svi = private(model, guide)
        params = svi.get_params(svi.init(KEY, records))
        drawn.append(guide.sample_posterior(KEY, params, sample_shape=(3,)))
    jax.tree.map(np.testing.assert_array_equal, drawn[0], drawn[1])


def test_the_weight_of_the_observations_is_not_read_off_a_record() -> None:
    def weighed(x: Any, w: Any) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 10.0).expand([2]).to_event(1))
        with numpyro.handlers.scale(scale=w.mean()), numpyro.plate("records", len(x)):
            numpyro.sample("x", dist.Normal(mu, 1.0).to_event(1), obs=x)

    with pytest.raises(InputError, match="the site x of one record moves with another record"):
        private(weighed, AutoNormal(weighed)).init(KEY, X, jnp.linspace(1.0, 9.0, 60))


def test_each_record_may_have_a_weight_of_its_own() -> None:
    def weighed(x: Any, w: Any) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 10.0).expand([2]).to_event(1))
        with numpyro.plate("records", len(x)), numpyro.handlers.scale(scale=w):
            numpyro.sample("x", dist.Normal(mu, 1.0).to_event(1), obs=x)

    weights = jnp.where(jnp.arange(60) < 30, 0.0, 2.0)
    svi = DPSVI(weighed, AutoDelta(weighed), optax.adam(0.05), Trace_ELBO(), 1e3, 1e-4)
    found = svi.run(KEY, 600, X, weights, progress_bar=False).params["mu_auto_loc"]
    np.testing.assert_allclose(found, X[30:].mean(0), atol=0.05)
