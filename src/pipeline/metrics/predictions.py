"""How well a fit predicts test records: their outcomes, or how probable they are."""

from math import log

import jax
import jax.numpy as jnp
from jax.scipy.stats import rankdata

from dpinfer.types import Key, Records, Tree
from pipeline.metrics.base import DRAWS, Fitted, Metric, count

MEANT_DRAWS = 10
"""So many draws DPVI's released code means to average over."""
AT_ONCE = 128
"""So many records are looked at together where all would not fit into memory."""
TRAIN_RECORDS = 10_000
"""So many of the training records a learning curve looks at."""


def accuracy(fit: Fitted) -> jax.Array:
    """Share of records whose more probable outcome, under the posterior predictive, is theirs; `y` is 0 or 1."""
    return ((predictive_mean(fit) >= 0.5) == (fit.test["y"] == 1)).mean()


def auc(fit: Fitted) -> jax.Array:
    """Chance that a record with `y` = 1 has a higher predictive mean than one with `y` = 0 (ties count half)."""
    return area(predictive_mean(fit), fit.test["y"] == 1)


def area(score: jax.Array, positive: jax.Array) -> jax.Array:
    """Area under the receiver operating characteristic, by the rank-sum statistic of Mann and Whitney."""
    ones = positive.sum()
    ranks = (rankdata(score) * positive).sum() - ones * (ones + 1) / 2
    return ranks / (ones * (positive.size - ones))


def predictive_mean(fit: Fitted) -> jax.Array:
    """Mean outcome of each test record over `DRAWS` draws of the parameters, (n,); one is in memory at a time."""

    def add(total: jax.Array, own: Key) -> tuple[jax.Array, None]:
        key_sample, key_predict = jax.random.split(own)
        return total + fit.model.predict(key_predict, fit.sample(key_sample), fit.test), None

    start = jnp.zeros(count(fit.test))
    return jax.lax.scan(add, start, jax.random.split(fit.key, DRAWS))[0] / DRAWS


def log_likelihood(fit: Fitted) -> jax.Array:
    """Mean over records of log((1/S) sum_s p(x | theta_s)), theta_s being S = `DRAWS` draws of the posterior.

    What the model integrates out for each record is drawn anew with every theta_s. One draw
    is in memory at a time.
    """

    def add(total: jax.Array, own: Key) -> tuple[jax.Array, None]:
        return jnp.logaddexp(total, _log_likelihoods(own, fit)), None

    total = jax.lax.scan(add, jnp.full(count(fit.test), -jnp.inf), jax.random.split(fit.key, DRAWS))[0]
    return (total - jnp.log(DRAWS)).mean()


def log_likelihood_one_draw(fit: Fitted) -> jax.Array:
    """(sum over records of log p(x | theta) - log 10) / records, theta being one draw.

    DPVI's released code computes this. It means to average over ten draws of the posterior, but starts its list
    anew with each, so that the last is left, and takes off log 10 once for all test records.
    """
    return (_log_likelihoods(fit.key, fit).sum() - log(MEANT_DRAWS)) / count(fit.test)


def _log_likelihoods(key: Key, fit: Fitted) -> jax.Array:
    """Log p(x | theta) of every test record x, by one draw of theta and of what the model integrates out."""
    parameters, records = _drawn(key, fit)
    return jax.vmap(lambda record: fit.model.log_likelihood(parameters, record))(records)


def _drawn(key: Key, fit: Fitted) -> tuple[Tree, Records]:
    """Parameters, and the test records with what the model draws for each."""
    key_sample, key_local = jax.random.split(key)
    return fit.sample(key_sample), {**fit.test, **fit.model.local(key_local, count(fit.test))}


def loss(fit: Fitted) -> jax.Array:
    """Mean negative log-likelihood, or the bound that the model has instead of it, by one draw."""
    parameters, records = _drawn(fit.key, fit)
    return -jax.lax.map(
        lambda record: fit.model.log_likelihood(parameters, record), records, batch_size=AT_ONCE
    ).mean()


def learning(fit: Fitted) -> dict[str, jax.Array]:
    """Share of test and of training records whose class a classifier predicts right, at every recording."""
    seen = {
        "test_accuracy": fit.test,
        "train_accuracy": {name: x[:TRAIN_RECORDS] for name, x in fit.train.items()},
    }

    def share(parameters: Tree, records: Records) -> jax.Array:
        return (fit.model.predict(fit.key, parameters, records).argmax(1) == records["y"]).mean()

    return jax.lax.map(
        lambda parameters: {name: share(parameters, records) for name, records in seen.items()}, fit.trace
    )


METRICS = {
    "accuracy": Metric("end", accuracy),
    "auc": Metric("end", auc),
    "log_likelihood": Metric("end", log_likelihood),
    "log_likelihood_one_draw": Metric("end", log_likelihood_one_draw),
    "loss": Metric("end", loss),
    "learning": Metric("curve", learning),
}
