"""A case: one mechanism on one pair of neighbours, and what comes of auditing it.

Most have records that pull a weight as hard as clipping lets them: the worst neighbours of clipped sums.

They are of a linear regression on one input. Inputs are small and outcomes large, so that the gradient of a
record by the weight is its pull, wherever the weight has got to, and by anything else is next to nothing.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.base import accounted_as
from dpinfer.accounting.events import Adjacency, Barker, Event, NonPrivate, Relation, tally
from dpinfer.accounting.ledger import Ledger, StatedAccount
from dpinfer.audit.bound import Array, Lower, Yardstick, by_delta, lower
from dpinfer.audit.profile import by_account
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import keys_for, run_seeds
from dpinfer.models import linear
from dpinfer.types import Key, Records

CLIP = 2.0
"""Not 1, so that a factor of the clip that is missing shows."""
DELTA = 1e-3
FAR = 1e6
"""A pull that is far beyond the clip."""
INPUT = 1e-3
MODEL = linear.build(noise_std=1.0)
LEARNING_RATE = 1e-3
Pair = tuple[Records, Records]
Scores = Callable[[Key, Pair], tuple[Array, Array]]
"""`(keys, pair) -> scores` on either data set: what runs let an adversary see, each as one number."""


def pulling(*pulls: float) -> Records:
    """Records whose gradients move the weight that far in a step of size 1; 0 is nobody."""
    y = np.asarray(pulls) / INPUT
    return {"x": jnp.asarray(np.where(y == 0, 0.0, INPUT)[:, None], jnp.float32), "y": jnp.asarray(y, jnp.float32)}


def sampled_ratio(releases: Array, shift: float, rate: float, noise: float) -> Array:
    """Log-likelihood ratio of releases that a record shifts when it is sampled, against those of nobody.

    Args:
        releases: (trials, steps) less what they are without that record.
        shift: What the record adds.
        rate: Probability that it is sampled.
        noise: Standard deviation.
    """
    ratio = (releases * shift - shift**2 / 2) / noise**2
    steps = ratio if rate == 1 else np.logaddexp(np.log1p(-rate), np.log(rate) + ratio)
    return np.asarray(steps.sum(axis=1))


class Seen(NamedTuple):
    """What came of runs.

    Attributes:
        scores: On either data set: (trials,), or (trials, statistics) where an adversary may choose among several.
        ledger: What is said that a run costs: by a sound accountant and, where there is one, by its paper.
    """

    scores: tuple[Array, Array]
    ledger: Ledger


class Case(NamedTuple):
    """A mechanism, two neighbouring data sets, and how an adversary would tell them apart.

    Attributes:
        neighbours: How the two data sets differ, in words.
        run: `(key, trials) -> seen`, about so many times on each of the two.
        most_trials: Never more than that, whatever is asked for; None where there is no limit.
    """

    neighbours: str
    run: Callable[[Key, int], Seen]
    most_trials: int | None = None


class Audited(NamedTuple):
    """A lower bound beside the epsilons that it is held against.

    Attributes:
        lower: The bound.
        eps_paper: What the paper says; None where there is no paper.
        eps_sound: What is sound for what is run; infinite where nothing is.
        adjacency: Which data sets count as neighbours.
        delta: Of all three.
    """

    lower: Lower
    eps_paper: float | None
    eps_sound: float
    adjacency: Relation
    delta: float

    @property
    def is_refuted(self) -> bool:
        """Whether the bound exceeds the account that is said to be sound."""
        return self.lower.epsilon > self.eps_sound

    @property
    def verdict(self) -> str:
        """In words."""
        if self.is_refuted:
            return "exceeds eps_sound"
        is_above = self.eps_paper is not None and self.lower.epsilon > self.eps_paper
        return "exceeds eps_paper" if is_above else "within"


def audit(case: Case, key: Key, trials: int, confidence: float) -> Audited:
    """Run a case about `trials` times on each of its data sets, or as often as it allows."""
    scores, ledger = case.run(key, trials if case.most_trials is None else min(trials, case.most_trials))
    found = lower(scores, confidence, yardstick(ledger.event, accounted_as(ledger.adjacency), ledger.delta))
    return Audited(found, ledger.paper(), ledger.sound().upper, ledger.adjacency, ledger.delta)


def of_steps(
    event: Event, adjacency: Adjacency, paper: StatedAccount, neighbours: str, pair: Pair, scores: Scores
) -> Case:
    """A case of steps of an algorithm, with the account of its paper.

    Args:
        event: What a run releases.
        adjacency: Which data sets count as neighbours.
        paper: What the paper says that a run costs.
        neighbours: How the two data sets differ, in words.
        pair: The two, with the same number of records.
        scores: The runs.
    """

    def run(key: Key, trials: int) -> Seen:
        ledger = Ledger(adjacency=adjacency, delta=DELTA).spend(event, "the audited steps", paper)
        return Seen(scores(keys_for(key, 2 * trials), pair), ledger)

    return Case(neighbours, run)


def claimed(accountant: ModuleType, event: Event, adjacency: Adjacency, **options: Any) -> StatedAccount:
    """What a paper says that an event costs, by an accountant, one of the modules of `dpinfer.accounting`."""
    name = accountant.__name__.rpartition(".")[2]
    return StatedAccount(event, name, DELTA, adjacency, options=options)


def yardstick(event: Event, adjacency: Adjacency, delta: float) -> Yardstick:
    """The sharpest that an event allows: that of its account, if the account has a noise multiplier."""
    if any(isinstance(leaf, Barker | NonPrivate) for leaf, _ in tally(event)):
        return by_delta(delta)
    return by_account(event, adjacency, delta)


def by_steps(
    algorithm: Algorithm, num_steps: int, see: Callable[[Any], Any], score: Callable[[Any], Array]
) -> Scores:
    """Scores of runs by the loop that runs every algorithm, all in one program.

    Args:
        algorithm: What is run.
        num_steps: Of a run.
        see: `state -> tree`, what an adversary sees of the state after each step.
        score: `tree -> (trials,)`, where every leaf has the shape (trials, steps, ...).
    """

    def scores(keys: Key, pair: Pair) -> tuple[Array, Array]:
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *pair)
        done = run_seeds(
            on_either(algorithm), keys, stacked, num_steps,
            record=lambda state, info: see(state[0]), record_every=1,  # noqa: ARG005
        )  # fmt: skip
        found = score(jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), done.trace))
        side = np.asarray(done.state[1])
        return found[side == 0], found[side == 1]

    return scores


def on_either(algorithm: Algorithm) -> Algorithm:
    """The algorithm on one of two data sets, by the toss of a coin that its state remembers."""

    def of(pair: Any, side: jax.Array) -> Any:
        return jax.tree.map(lambda leaf: leaf[side], pair)

    def init(key: Key, pair: Any) -> Any:
        key_side, key_init = jax.random.split(key)
        side = jax.random.bernoulli(key_side).astype(int)
        return algorithm.init(key_init, of(pair, side)), side

    def update(drawn: Any, state: Any, pair: Any) -> tuple[Any, Any]:
        inner, side = state
        after, info = algorithm.update(drawn, inner, of(pair, side))
        return (after, side), info

    return algorithm._replace(init=init, random=lambda key, state: algorithm.random(key, state[0]), update=update)
