"""Many audits in one run: every record pulls at a weight of its own, as hard as clipping lets it.

Half of the records pull, the others count nothing. Where each record is drawn by its own coin and each weight has
its own noise, the weights are independent, and those of either half are releases on one of two neighbouring data
sets. So a run of a few seconds, by the very calls that users make, is worth as many runs as there are records.

An honest call draws coins and noise independently, so that a bound from its weights holds as often as it says.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from dpinfer.accounting.events import PoissonGaussian, tally
from dpinfer.accounting.ledger import Ledger
from dpinfer.audit.bound import Array
from dpinfer.audit.case import Case, Seen
from dpinfer.audit.names import MOST_OF_USERS
from dpinfer.audit.worst_records import FAR, INPUT, sampled_ratio
from dpinfer.types import Key

RATE = 0.5
STEPS = 4
"""Of loops whose weights are seen after every step: so many are paid for."""
TRIED = 4 * STEPS
"""And so many are tried: those beyond what is paid for should leave the weights as they are."""
EPSILON = 8.0
"""Large enough that few scores tell the neighbours apart."""
SIDE = 2000
"""Records of either kind in one run."""
NEIGHBOURS = "a record that pulls far beyond the clip at a weight of its own, and one that counts nothing"


class Canaries(NamedTuple):
    """Records of a regression with a weight for each: every other one pulls, the rest count nothing.

    Attributes:
        i: Which weight.
        x: Its input.
        y: Its outcome.
    """

    i: np.ndarray
    x: np.ndarray
    y: np.ndarray

    @property
    def size(self) -> int:
        """How many records, and weights."""
        return len(self.i)

    @property
    def expected_batch(self) -> float:
        """Expected records in a batch."""
        return RATE * self.size


class Run(NamedTuple):
    """What is seen of one run, in units in which a record that is drawn adds one.

    Attributes:
        sums: (weights, looks) what moved every weight from look to look: of one step each, or all of one look.
        ledger: What the call says that it cost.
    """

    sums: Array
    ledger: Ledger


Path = Callable[[Key, Canaries], Run]
"""A way in which users have their records fitted."""


def canaries(side: int) -> Canaries:
    """Records of which so many pull, and as many do not."""
    there = np.arange(2 * side) % 2 == 0
    x = np.where(there, INPUT, 0.0).astype(np.float32)
    return Canaries(np.arange(2 * side, dtype=np.int32), x, np.where(there, FAR / INPUT, 0.0).astype(np.float32))


def loss(weights: Any, record: Any) -> Any:
    """Of one record, given as `(i, x, y)`."""
    i, x, y = record
    return 0.5 * (y - x * weights[i]) ** 2


def case(path: Path) -> Case:
    """A case of users' calls."""

    def run(key: Key, trials: int) -> Seen:
        side = min(trials, SIDE)
        own = canaries(side)
        runs = [path(one, own) for one in jax.random.split(key, -(-trials // side))]
        ledger = runs[0].ledger
        scores = np.concatenate([_scores(one) for one in runs])
        there = np.tile(own.x != 0, len(runs))
        return Seen((scores[there][:trials], scores[~there][:trials]), ledger)

    return Case(NEIGHBOURS, run, MOST_OF_USERS)


def moves(looks: list[Any]) -> Array:
    """(weights, looks) by how much weights have moved from 0, from look to look."""
    return np.diff(np.stack([np.asarray(look, np.float64) for look in looks], axis=1), axis=1, prepend=0.0)


def _scores(run: Run) -> Array:
    """(weights, statistics) the ratio of likelihoods, and what noise that comes up again would leave bare."""
    if run.sums.shape[1] == 1:
        return run.sums
    ((leaf, _),) = tally(run.ledger.event)
    assert isinstance(leaf, PoissonGaussian)
    ratio = sampled_ratio(run.sums, 1.0, leaf.sampling_rate, leaf.noise_multiplier)
    return np.stack([ratio, np.ptp(run.sums[:, :STEPS], axis=1)], axis=1)
