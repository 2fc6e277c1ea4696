"""Models in which records are not alone: each would be another model once records are shown to it one by one."""

from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro import handlers
from numpyro.infer import RenyiELBO, Trace_ELBO, TraceEnum_ELBO, TraceGraph_ELBO, TraceMeanField_ELBO
from numpyro.infer.autoguide import AutoDelta, AutoDiagonalNormal, AutoMultivariateNormal, AutoNormal
from numpyro.optim import Adam

from dpinfer.errors import InputError
from dpinfer.svi import DPSVI

KEY = jax.random.key(0)
X = jax.random.normal(jax.random.key(1), (40, 3))
Y = X @ jnp.array([1.0, -1.0, 0.5])
Model = Any


def private(model: Model, guide: Any = None, loss: Any = None) -> DPSVI:
    return DPSVI(model, guide or AutoNormal(model), Adam(0.01), loss or Trace_ELBO(), 1.0, 0.1, num_records=40)


def regression(inside: Any = None, outside: Any = None, prepare: Any = None) -> Model:
    """A regression to which something is added."""

    def model(x: Any, y: Any) -> None:
        w = numpyro.sample("w", dist.Normal(0.0, 3.0).expand([3]).to_event(1))
        if outside is not None:
            outside(x, y, w)
        prepared = x if prepare is None else prepare(x)
        with numpyro.plate("records", len(x)):
            numpyro.sample("y", dist.Normal(prepared @ w, 1.0), obs=y)
            if inside is not None:
                inside(x, y, w)

    return model


def zero_started_network(x: jax.Array) -> jax.Array:
    """Batch normalisation before a layer that starts at zero, so that at the start it does not show."""
    scale = numpyro.param("scale", jnp.zeros(3))
    return x + scale * (x - x.mean(0)) / (x.std(0) + 1e-3)


@pytest.mark.parametrize(
    "model",
    [
        regression(prepare=lambda x: x - x.mean(0)),
        regression(prepare=lambda x: x / (1e-3 + x.std(0))),
        regression(prepare=zero_started_network),
        regression(prepare=lambda x: jnp.cumsum(x[::-1], axis=0)[::-1]),
        regression(inside=lambda x, y, w: numpyro.factor("p", -jnp.square(x @ w).sum())),
    ],
    ids=["centred", "scaled", "batch normalisation", "running sum", "factor of all"],
)
def test_a_record_that_moves_with_another(model: Model) -> None:
    with pytest.raises(InputError, match="of one record moves with another record, but each is shown"):
        private(model).init(KEY, X, Y)


@pytest.mark.parametrize(
    "outside",
    [
        lambda x, y, w: numpyro.factor("p", -jnp.square(x @ w).sum()),
        lambda x, y, w: numpyro.sample("m", dist.Normal(w.sum(), 1.0), obs=y.mean()),
        lambda x, y, w: numpyro.sample("first", dist.Normal(w.sum(), 1.0), obs=y[0]),
    ],
    ids=["factor", "mean", "first"],
)
def test_an_aggregate_outside_of_the_plate(outside: Any) -> None:
    with pytest.raises(InputError, match="moves with the records outside of a plate over records"):
        private(regression(outside=outside)).init(KEY, X, Y)


def test_what_each_record_adds_by_itself_is_welcome() -> None:
    inside = regression(inside=lambda x, y, w: numpyro.factor("p", -1e-3 * jnp.square(x @ w)))
    private(inside).init(KEY, X, Y)
    public = regression(outside=lambda x, y, w: numpyro.factor("ridge", -jnp.square(w).sum()))
    private(public).init(KEY, X, Y)
    masked = regression()
    private(handlers.mask(masked, mask=jnp.array(True))).init(KEY, X, Y)


def pooled(y: Any) -> None:
    mean = numpyro.sample("mean", dist.Normal(0.0, 5.0))
    with numpyro.plate("records", len(y)):
        t = numpyro.sample("t", dist.Normal(mean, 1.0))
        numpyro.sample("y", dist.Normal(t, 1.0), obs=y)


@pytest.mark.parametrize("make", [AutoDiagonalNormal, AutoMultivariateNormal, AutoNormal, AutoDelta])
def test_latents_of_records_that_a_guide_would_share_or_release(make: Any) -> None:
    with pytest.raises(InputError, match="has a value for each record"):
        private(pooled, make(pooled)).init(KEY, Y)


def test_a_latent_of_a_record_that_a_guide_draws_once_for_all() -> None:
    def guide(y: Any) -> None:
        del y
        numpyro.sample("mean", dist.Delta(numpyro.param("m", 0.0)))
        numpyro.sample("t", dist.Normal(numpyro.param("at", 0.0), 1.0))

    with pytest.raises(InputError, match="the latent t is one for each record, but the guide draws one for all"):
        private(pooled, guide).init(KEY, Y)


def test_objectives_that_are_no_sums_over_records() -> None:
    with pytest.raises(InputError, match="RenyiELBO is no sum over records"):
        private(regression(), loss=RenyiELBO(alpha=0.5))
    for loss in (Trace_ELBO(2), TraceMeanField_ELBO(), TraceGraph_ELBO(), TraceEnum_ELBO()):
        private(regression(), loss=loss)


def test_a_plate_that_does_not_follow_the_batch_gets_a_sentence() -> None:
    def model(x: Any, y: Any) -> None:
        w = numpyro.sample("w", dist.Normal(0.0, 3.0).expand([3]).to_event(1))
        with numpyro.plate("records", 40):
            numpyro.sample("y", dist.Normal(x @ w, 1.0), obs=y)

    with pytest.raises(InputError, match="its plate over records should follow their number"):
        private(model).init(KEY, X, Y)


def test_records_that_numbers_of_ours_cannot_stand_for() -> None:
    def model(x: Any) -> None:
        rate = numpyro.sample("rate", dist.Gamma(2.0, 2.0))
        with numpyro.plate("records", len(x)):
            numpyro.sample("x", dist.Pareto(1.0, rate), obs=x)

    counts = 1.0 + jnp.abs(Y)
    svi = DPSVI(
        model, AutoNormal(model), Adam(0.01), Trace_ELBO(), 1.0, 0.1, dummies=(jnp.array([2.0, 3.0, 4.0]),)
    )
    assert svi.run(KEY, 5, counts, progress_bar=False).losses.shape == (5,)
    with pytest.raises(InputError, match="dummies should be 3 made-up records or more"):
        DPSVI(model, AutoNormal(model), Adam(0.01), Trace_ELBO(), 1.0, 0.1, dummies=(jnp.ones(2),)).init(
            KEY, counts
        )
