"""Logistic regression of income on other attributes of Adult: a model for `dpinfer fit`.

    dpinfer fit examples/adult_logistic.py adult.csv --epsilon 1 --delta 1e-6 --batch 200 --steps 2000

The table has numeric columns age, education and hours, a column sex of text, and income, 0 or 1.
"""

import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist

LEVELS = {"sex": ["Female", "Male"]}


def model(age, education, hours, sex, income=None):
    """Features are scaled by public constants, not by what the records show."""
    scaled = [(age - 40) / 15, (education - 10) / 3, (hours - 40) / 12, sex - 0.5, jnp.ones(len(age))]
    features = jnp.stack(scaled, axis=1)
    weights = numpyro.sample("weights", dist.Normal(0, 2).expand([5]).to_event(1))
    with numpyro.plate("people", len(age)):
        numpyro.sample("income", dist.Bernoulli(logits=features @ weights), obs=income)
