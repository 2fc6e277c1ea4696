"""Training loops of one's own: any optimiser of optax made private, for any loss, with batches and their epsilon.

    optimiser = dpsgd(
        loss, 0.15, num_records=60_000, expected_batch=256, clip=1.0, noise_multiplier=1.1, delta=1e-5
    )
    state = optimiser.init(parameters, key)
    for batch, epsilon in Loader(optimiser, (images, labels), key):
        if epsilon <= 3:
            state = optimiser.step(state, batch)

is the loop of PyVacy (2019, Figure 2) in JAX; but here each record's gradient is clipped before any are added.
"""

from dpinfer.training.accountant import Accountant
from dpinfer.training.loader import Loader
from dpinfer.training.optimiser import Batch, Optimiser, State, dpadagrad, dpadam, dprmsprop, dpsgd, private

__all__ = [
    "Accountant",
    "Batch",
    "Loader",
    "Optimiser",
    "State",
    "dpadagrad",
    "dpadam",
    "dprmsprop",
    "dpsgd",
    "private",
]
