"""Share of test records whose outcome is predicted right."""

import jax

from dpinfer.models.base import Model
from dpinfer.types import Records, Tree


def metric(model: Model, draws: Tree, test: Records) -> jax.Array:
    """Accuracy of the more probable outcome, for each of the draws.

    Args:
        model: Its `predict` gives the probability that `y` is 1.
        draws: Parameters, every leaf with a leading axis of seeds.
        test: Records with `y` in {0, 1}.
    """
    predicted = jax.vmap(lambda parameters: model.predict(parameters, test))(draws) >= 0.5
    return (predicted == (test["y"] == 1)).mean(axis=1)
