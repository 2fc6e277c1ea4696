"""Train a classifier of one's own in a loop of one's own, until epsilon is 3.

The loop is that of PyVacy (2019, Figure 2). Run it with `python examples/private_loop.py`; the records are drawn
here, so that nothing is downloaded.
"""

import jax
import jax.numpy as jnp

from dpinfer.training import Loader, dpsgd

THRESHOLD = 3.0


def blobs(key: jax.Array, count: int) -> tuple[jax.Array, jax.Array]:
    """Points in the plane around three centres, and which one."""
    key_label, key_point = jax.random.split(key)
    label = jax.random.randint(key_label, (count,), 0, 3)
    centre = jnp.array([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])[label]
    return centre + jax.random.normal(key_point, (count, 2)), label


def model(parameters: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Logits of the three classes."""
    return jnp.tanh(x @ parameters["hidden"]) @ parameters["out"]


def loss(parameters: dict[str, jax.Array], record: tuple[jax.Array, jax.Array]) -> jax.Array:
    """The cross entropy of one record."""
    x, y = record
    return -jax.nn.log_softmax(model(parameters, x))[y]


def main(records: int = 5000, epochs: int = 20) -> tuple[float, float]:
    """Train, and return the accuracy on fresh records and the epsilon that was spent."""
    key_data, key_test, key_hidden, key_out, key = jax.random.split(jax.random.key(0), 5)
    parameters = {
        "hidden": jax.random.normal(key_hidden, (2, 16)),
        "out": 0.1 * jax.random.normal(key_out, (16, 3)),
    }
    optimiser = dpsgd(
        loss, 0.5, num_records=records, expected_batch=100, clip=1.0, noise_multiplier=1.1, delta=1e-5
    )
    state = optimiser.init(parameters, key)
    loader = Loader(optimiser, blobs(key_data, records))
    for _ in range(epochs * len(loader)):
        if optimiser.epsilon(state, ahead=1) > THRESHOLD:
            break
        state = optimiser.step(state, loader.batch(state))
    x, y = blobs(key_test, 2000)
    accuracy = float((model(state.parameters, x).argmax(1) == y).mean())
    return accuracy, optimiser.epsilon(state)


if __name__ == "__main__":
    accuracy, epsilon = main()
    print(f"accuracy {accuracy:.3f} at epsilon {epsilon:.3f}")
