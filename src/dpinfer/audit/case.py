"""A case: one mechanism on one pair of neighbours, and what comes of auditing it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer import experiment
from dpinfer.accounting.events import Adjacency, Barker, Event, NonPrivate, tally
from dpinfer.accounting.ledger import Ledger
from dpinfer.audit.account import by_account
from dpinfer.audit.bound import Array, Lower, Yardstick, by_delta, lower
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import keys_for, run_seeds
from dpinfer.settings.method import Method
from dpinfer.types import Key, Records

Pair = tuple[Records, Records]
Scores = Callable[[Key, Pair], tuple[Array, Array]]
"""`(keys, pair) -> scores` on either data set: what runs let an adversary see, each as one number."""


class Case(NamedTuple):
    """A mechanism, two neighbouring data sets, and how an adversary would tell them apart.

    Attributes:
        settings: What is run, and how its paper accounts for it.
        neighbours: How the two data sets differ, in words.
        pair: The two, with the same number of records.
        scores: The runs.
    """

    settings: Method
    neighbours: str
    pair: Pair
    scores: Scores

    @property
    def num_records(self) -> int:
        """Of each of the two data sets."""
        return len(self.pair[0]["y"])


class Audited(NamedTuple):
    """A lower bound beside the two epsilons that it is held against.

    Attributes:
        lower: The bound.
        eps_paper: What the paper says.
        eps_sound: What is sound for what is run; infinite where nothing is.
    """

    lower: Lower
    eps_paper: float
    eps_sound: float

    @property
    def is_refuted(self) -> bool:
        """Whether the bound exceeds the account that is said to be sound."""
        return self.lower.epsilon > self.eps_sound

    @property
    def verdict(self) -> str:
        """In words."""
        if self.is_refuted:
            return "exceeds eps_sound"
        return "exceeds eps_paper" if self.lower.epsilon > self.eps_paper else "within"


def audit(case: Case, key: Key, trials: int, confidence: float) -> Audited:
    """Run a case about `trials` times on each of its data sets."""
    settings = case.settings
    noise = settings.given_noise
    assert settings.delta is not None
    assert noise is not None
    event = experiment.build(settings, case.num_records, noise).event(settings.num_steps)
    sound = Ledger(adjacency=settings.adjacency, delta=settings.delta).spend(event, "the audited steps").sound()
    scores = case.scores(keys_for(key, 2 * trials), case.pair)
    found = lower(scores, confidence, yardstick(event, settings.adjacency, settings.delta))
    return Audited(found, experiment.claim(settings, case.num_records, noise).epsilon(), sound.upper)


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
