"""Optimisers by the names used in settings: what they see of the data is the released gradient alone."""

import optax

OPTIMISERS = {"adam": optax.adam, "adagrad": optax.adagrad, "sgd": optax.sgd}
