"""Hierarchical logistic regression (d3p, PoPETs 2022, Section 3.2): groups share how their features act.

M ~ N(0, prior_std^2) entrywise, w_l ~ N(M g_l, I) for group l, y ~ Bernoulli(sigmoid(w_l.x)).

The guide knows M alone. As in the paper, w_l is drawn from its conditional prior inside each sample of the ELBO,
so that its own prior contributes no gradient and deviations of single groups are not learned.
"""

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

from dpinfer.models.base import Model
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree


def build(*, prior_std: float = 4.0, features: int = 5) -> Model:
    """Build the model for records with `x` (D,), `group_features` (K,) and `y` in {0, 1}.

    Args:
        prior_std: Standard deviation of the Gaussian prior on each effect.
        features: Number of features of a record, D.
    """

    def init(key: Key, records: Records) -> Tree:
        del key  # every run starts from the mean of the prior
        return jnp.zeros((records["x"].shape[-1], records["group_features"].shape[-1]))

    def log_prior(effects: Tree) -> jax.Array:
        return norm.logpdf(effects, scale=prior_std).sum()

    def local(key: Key, count: int) -> dict[str, jax.Array]:
        return {"deviation": normal_like(key, jnp.empty((count, features)))}

    def log_likelihood(effects: Tree, record: Records) -> jax.Array:
        weights = effects @ record["group_features"] + record["deviation"]
        return jax.nn.log_sigmoid((2 * record["y"] - 1) * (record["x"] @ weights))

    def predict(key: Key, effects: Tree, records: Records) -> jax.Array:
        # w.x given M is normal with mean x.Mg and standard deviation |x|.
        mean = jnp.einsum("nd,dk,nk->n", records["x"], effects, records["group_features"])
        spread = jnp.linalg.norm(records["x"], axis=1)
        return jax.nn.sigmoid(mean + spread * jax.random.normal(key, mean.shape))

    return Model(init, log_prior, log_likelihood, predict, local)
