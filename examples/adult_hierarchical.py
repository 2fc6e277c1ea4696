"""Hierarchical logistic regression of income on Adult, with weights that vary by occupation, for `dpinfer fit`.

dpinfer fit examples/adult_hierarchical.py adult.csv --epsilon 1 --delta 1e-6 --batch 200 --steps 4000
"""

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist

LEVELS = {
    "sex": ["Female", "Male"],
    "occupation": ["Office", "Service", "Trade", "Professional", "Other"],
}


def model(age, education, hours, sex, occupation, income=None):
    """Weights of an occupation are around weights that all share."""
    scaled = [(age - 40) / 15, (education - 10) / 3, (hours - 40) / 12, sex - 0.5, jnp.ones(len(age))]
    features = jnp.stack(scaled, axis=1)
    shared = numpyro.sample("shared", dist.Normal(0, 2).expand([5]).to_event(1))
    scale = numpyro.sample("scale", dist.HalfNormal(1))
    own = numpyro.sample("own", dist.Normal(0, 1).expand([len(LEVELS["occupation"]), 5]).to_event(2))
    weights = shared + scale * own[occupation]
    with numpyro.plate("people", len(age)):
        numpyro.sample("income", dist.Bernoulli(logits=(features * weights).sum(-1)), obs=income)
