"""What release mode costs: steps with noise on a grid by ChaCha20, over those of experiments, measured in turns.

python benchmarks/release.py
"""

import time
from collections.abc import Callable

import jax
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

from dpinfer.inference.run import start
from dpinfer.random.chacha import system_key
from dpinfer.svi import DPSVI

ROUNDS = 15


def regression(x: jax.Array, y: jax.Array) -> None:
    """Logistic regression."""
    w = numpyro.sample("w", dist.Normal(0, 4).expand([x.shape[1]]).to_event(1))
    with numpyro.plate("records", len(x)):
        numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)


def steps(inputs: int, release: bool, count: int) -> Callable[[], None]:
    """Take so many steps of a calibrated fit of 20 000 records, in batches of 100, in one program."""
    x = jax.random.normal(jax.random.key(0), (20_000, inputs))
    y = (x[:, 0] > 0).astype(int)
    svi = DPSVI(
        regression, AutoNormal(regression), optax.adam(0.01), Trace_ELBO(), 1.0, 1.0,
        expected_batch=100, num_records=20_000, release=release,
    )  # fmt: skip
    key = system_key() if release else jax.random.key(1)
    state = svi.init(key, x, y)
    begun = start(svi.algorithm(state, count, x, y), state.rng_key[None], {"args": (x, y)})  # type: ignore[dict-item]

    def run() -> None:
        jax.block_until_ready(begun.advance(begun.states, 0, count))

    run()
    return run


def seconds(run: Callable[[], None]) -> float:
    """Of one call."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def main() -> None:
    """Print the ratio of the quickest of several rounds, for a few numbers of inputs."""
    for inputs, count in ((5, 2000), (100, 1000), (5000, 50)):
        plain, released = (steps(inputs, release, count) for release in (False, True))
        times = [(seconds(plain), seconds(released)) for _ in range(ROUNDS)]
        quickest = [min(column) / count for column in zip(*times, strict=True)]
        print(
            f"{inputs} inputs: {1e3 * quickest[0]:.3g} ms a step, in release mode {1e3 * quickest[1]:.3g}, "
            f"{quickest[1] / quickest[0]:.2f} times"
        )


if __name__ == "__main__":
    main()
