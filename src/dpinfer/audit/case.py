"""A case: one mechanism on one pair of neighbours, and what comes of auditing it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
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

Scores = Callable[[Key, Records], Array]
"""`(keys, records) -> (trials,)`: what a run by each of the keys lets an adversary see, as one number."""


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
    pair: tuple[Records, Records]
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
    """Run a case `trials` times on each of its data sets."""
    settings = case.settings
    noise = settings.given_noise
    assert settings.delta is not None
    assert noise is not None
    event = experiment.build(settings, case.num_records, noise).event(settings.num_steps)
    sound = Ledger(adjacency=settings.adjacency, delta=settings.delta).spend(event, "the audited steps").sound()
    one, other = (
        case.scores(keys_for(own, trials), records)
        for own, records in zip(jax.random.split(key), case.pair, strict=True)
    )
    found = lower((one, other), confidence, yardstick(event, settings.adjacency, settings.delta))
    return Audited(found, experiment.claim(settings, case.num_records, noise).epsilon(), sound.upper)


def yardstick(event: Event, adjacency: Adjacency, delta: float) -> Yardstick:
    """The sharpest that an event allows: that of its account, if the account has a noise multiplier."""
    if any(isinstance(leaf, Barker | NonPrivate) for leaf, _ in tally(event)):
        return by_delta(delta)
    return by_account(event, adjacency, delta)


def by_steps(
    algorithm: Algorithm, num_steps: int, see: Callable[[Any], Any], score: Callable[[Any], Array]
) -> Scores:
    """Scores of runs by the loop that runs every algorithm.

    Args:
        algorithm: What is run.
        num_steps: Of a run.
        see: `state -> tree`, what an adversary sees of the state after each step.
        score: `tree -> (trials,)`, where every leaf has the shape (trials, steps, ...).
    """

    def scores(keys: Key, records: Records) -> Array:
        seen = run_seeds(
            algorithm, keys, records, num_steps,
            record=lambda state, info: see(state), record_every=1,  # noqa: ARG005
        ).trace  # fmt: skip
        return score(jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), seen))

    return scores
