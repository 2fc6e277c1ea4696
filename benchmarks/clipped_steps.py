"""What a private step costs over a plain one, for networks as users of several libraries write them.

python benchmarks/clipped_steps.py --output clipping.csv

Each network takes steps of Adam on the same batch: plain; with every example's gradient clipped, by
`clipped_grad`; that with noise, which is the private step; and with gradients held one by one, by vmap in the
micro-batches that fit into the caches, and by optax, all at once. All ways of a network are measured in turns,
five steps at a time, and compared by the median of rounds. Memory is what XLA sets aside for the program, with
what goes in and comes out; compiling is measured as CPU time.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
import networks
import numpyro
import optax
from networks import Case
from numpyro.distributions import Bernoulli, Normal
from numpyro.infer import SVI, Trace_ELBO
from tqdm import tqdm

from dpinfer import DPSVI, clipped_grad
from dpinfer.clipping.sums import by_gradients, fitting, in_parts, plain_sum
from dpinfer.tree import normal_like, size
from dpinfer.types import Tree

CLIP, NOISE_MULTIPLIER, LEARNING_RATE = 1.0, 1.5, 1e-3
ROUNDS, STEPS = 11, 5
SIZES = {
    "flax MLP": (512, 128), "flax nnx MLP": (512, 128), "equinox MLP": (512, 128), "haiku MLP": (512, 128),
    "flax CNN": (16, 64), "flax ResNet, group norm": (16, 32), "flax transformer": (128, 16),
    "flax LSTM": (128, 32), "flax embedding bag": (64, 64), "mean-field MLP, shared draw": (400, 128),
}  # fmt: skip
"""Width and batch."""
PARTS = ("argument", "output", "temp")
HELD = 1 << 31
"""Gradients of more bytes are not held all at once."""

Sum = Callable[[Tree, Any, jax.Array], Tree]
Step = Callable[[Any], Any]


def ways(case: Case) -> Iterator[tuple[str, Sum]]:
    """Sums of gradients of a batch, by name."""
    loss, examples = case.loss, case.examples
    batch = jax.tree.leaves(examples)[0].shape[0]
    everyone = jnp.ones(batch, bool)

    def noisy(total: Tree, key: jax.Array) -> Tree:
        scale = NOISE_MULTIPLIER * CLIP
        return jax.tree.map(lambda leaf, unit: leaf + scale * unit, total, normal_like(key, total))

    clipped = clipped_grad(loss, CLIP)
    yield "plain", lambda at, own, _: plain_sum(loss, at, own, everyone)
    yield "clipped", lambda at, own, _: clipped(at, own)
    yield "private", lambda at, own, key: noisy(clipped(at, own), key)
    part = fitting(case.parameters, batch)
    yield "vmap, not noisy", lambda at, own, _: in_parts(by_gradients(loss, at, CLIP), own, everyone, part).total
    if batch * size(case.parameters) * 4 < HELD:
        yield "optax, private", lambda at, own, key: _by_optax(loss, at, own, key)


def _by_optax(loss: Any, at: Tree, own: Any, key: jax.Array) -> Tree:
    """Optax's own aggregation of gradients that are held all at once; it takes its key as a number."""
    gradients = jax.vmap(jax.grad(loss), in_axes=(None, 0))(at, own)
    aggregate = optax.contrib.differentially_private_aggregate(CLIP, NOISE_MULTIPLIER, key)
    return aggregate.update(gradients, aggregate.init(at))[0]


def step_of(way: Sum, examples: Any) -> Step:
    """A step of Adam by such a sum; its state is parameters, memory and a key."""
    adam = optax.adam(LEARNING_RATE)

    def step(state: Any) -> Any:
        at, memory, key = state
        own, after = jax.random.split(key)
        change, memory = adam.update(way(at, examples, own), memory, at)
        return optax.apply_updates(at, change), memory, after

    return step


def start_of(parameters: Tree) -> Any:
    """The first state."""
    return parameters, optax.adam(LEARNING_RATE).init(parameters), jax.random.key(0)


def numpyro_vae() -> dict[str, tuple[Step, Any]]:
    """An auto-encoder that a user of NumPyro has written, 652 824 parameters, by SVI and by DPSVI."""
    count, batch, pixels, hidden, latent = 60_000, 128, 784, 400, 20

    def weights(seed: int, inputs: int, outputs: int) -> dict[str, jax.Array]:
        scale = (2 / (inputs + outputs)) ** 0.5
        drawn = scale * jax.random.normal(jax.random.key(seed), (inputs, outputs))
        return {"w": drawn, "b": jnp.zeros(outputs)}

    def dense(own: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return x @ own["w"] + own["b"]

    def model(x: jax.Array) -> None:
        layers = numpyro.param("decoder", [weights(0, latent, hidden), weights(1, hidden, pixels)])
        with numpyro.plate("records", count, x.shape[0]):
            z = numpyro.sample("z", Normal(jnp.zeros((1, latent)), 1.0).to_event(1))
            logits = dense(layers[1], jax.nn.softplus(dense(layers[0], z)))
            numpyro.sample("x", Bernoulli(logits=logits).to_event(1), obs=x)

    def guide(x: jax.Array) -> None:
        shapes = ((pixels, hidden), (hidden, latent), (hidden, latent))
        layers = numpyro.param("encoder", [weights(2 + n, *shape) for n, shape in enumerate(shapes)])
        h = jax.nn.softplus(dense(layers[0], x))
        with numpyro.plate("records", count, x.shape[0]):
            numpyro.sample("z", Normal(dense(layers[1], h), jnp.exp(dense(layers[2], h))).to_event(1))

    x = jax.random.bernoulli(jax.random.key(9), 0.3, (batch, pixels)).astype(jnp.float32)
    programs: dict[str, Any] = {"plain": SVI(model, guide, optax.adam(LEARNING_RATE), Trace_ELBO())}
    for name, noise in (("clipped", 0.0), ("private", NOISE_MULTIPLIER)):
        programs[name] = DPSVI(
            model, guide, optax.adam(LEARNING_RATE), Trace_ELBO(), CLIP, noise, num_records=count
        )
    return {
        name: (lambda state, svi=svi: svi.update(state, x)[0], svi.init(jax.random.key(0), x))  # type: ignore[misc]
        for name, svi in programs.items()
    }


def measured(name: str, steps: dict[str, tuple[Step, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each way: milliseconds for a step, seconds to compile, megabytes; times over the plain one."""
    programs, rows = {}, dict[str, dict[str, Any]]()
    for way, (step, state) in steps.items():
        begin = time.process_time()
        program = jax.jit(step).lower(state).compile()
        rows[way] = {"network": name, "way": way, "compile_seconds": time.process_time() - begin}
        memory: Any = program.memory_analysis()
        rows[way]["megabytes"] = sum(getattr(memory, f"{part}_size_in_bytes") for part in PARTS) / 2**20
        programs[way] = (program, state)
    times: dict[str, list[float]] = {way: [] for way in programs}
    for _ in range(ROUNDS + 1):
        for way, (program, state) in programs.items():
            begin = time.perf_counter()
            for _ in range(STEPS):
                state = program(state)
            jax.block_until_ready(jax.tree.leaves(state))
            times[way].append(1e3 * (time.perf_counter() - begin) / STEPS)
    for way, row in rows.items():
        # The first round warms the caches.
        ratios = sorted(own / plain for own, plain in zip(times[way][1:], times["plain"][1:], strict=True))
        row["milliseconds"] = median(times[way][1:])
        row["relative"], row["lower"], row["upper"] = (
            ratios[len(ratios) // 2], ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4],
        )  # fmt: skip
        row["compile_relative"] = row["compile_seconds"] / rows["plain"]["compile_seconds"]
        yield row


def cases(chosen: list[str]) -> Iterator[tuple[str, dict[str, tuple[Step, Any]]]]:
    """The ways of each network, ready to be compiled."""
    if "NumPyro VAE through DPSVI" in chosen:
        yield "NumPyro VAE through DPSVI", numpyro_vae()
    for name, (width, batch) in SIZES.items():
        if name in chosen:
            case = networks.CASES[name](width, batch)
            start = start_of(case.parameters)
            yield name, {way: (step_of(own, case.examples), start) for way, own in ways(case)}


def main() -> None:
    """Measure, and write one table."""
    names = ["NumPyro VAE through DPSVI", *SIZES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--networks", nargs="*", default=names, choices=names, metavar="NETWORK", help="which of them"
    )
    parser.add_argument("--output", type=Path, help="the .csv to write; printed otherwise")
    arguments = parser.parse_args()
    rows = list[dict[str, Any]]()
    for name, steps in tqdm(cases(arguments.networks), total=len(arguments.networks), unit="network"):
        rows += measured(name, steps)
    with arguments.output.open("w", newline="") if arguments.output else sys.stdout as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(
            {key: f"{own:.3g}" if isinstance(own, float) else own for key, own in row.items()} for row in rows
        )


if __name__ == "__main__":
    main()
