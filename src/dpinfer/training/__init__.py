"""Training loops of one's own: any optimiser of optax made private, for any loss, with batches and their epsilon.

    optimiser = dpsgd(
        loss, 0.15, num_records=60_000, expected_batch=256, clip=1.0, epsilon=3.0, num_steps=14_040, delta=1e-5
    )
    state = optimiser.init(parameters, key)
    loader = Loader(optimiser, (images, labels))
    for _ in range(14_040):
        state = optimiser.step(state, loader.batch(state))

is the loop of PyVacy (2019, Figure 2) in JAX; but here each record's gradient is clipped before any are added.
"""

from dpinfer.training.loader import Loader
from dpinfer.training.making import dpadagrad, dpadam, dprmsprop, dpsgd, private
from dpinfer.training.optimiser import Optimiser
from dpinfer.training.state import Batch, State

__all__ = ["Batch", "Loader", "Optimiser", "State", "dpadagrad", "dpadam", "dprmsprop", "dpsgd", "private"]
