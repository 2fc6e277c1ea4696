"""Cases of what users call: `DPSVI`, `dpinfer fit`, and training loops as docs/training.md has them.

They are many audits in one run: every record pulls at a weight of its own, as hard as clipping lets it.

Half of the records pull, the others count nothing. Where each record is drawn by its own coin and each weight has
its own noise, the weights are independent, and those of either half are releases on one of two neighbouring data
sets. So a run of a few seconds, by the very calls that users make, is worth as many runs as there are records.

An honest call draws coins and noise independently, so that a bound from its weights holds as often as it says.
"""

import inspect
import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
import pandas as pd
from numpyro.infer import Trace_ELBO

from dpinfer import cli
from dpinfer.accounting import ledger
from dpinfer.accounting.events import PoissonGaussian, tally
from dpinfer.accounting.ledger import Ledger
from dpinfer.audit.bound import Array
from dpinfer.audit.case import CLIP, DELTA, FAR, INPUT, Case, Seen, sampled_ratio
from dpinfer.audit.names import MOST_OF_USERS
from dpinfer.cli import fit
from dpinfer.errors import InputError
from dpinfer.svi import DPSVI, poisson_batchify_data
from dpinfer.training import Loader, Optimiser, private
from dpinfer.training.state import State
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
UNSEEN_STEPS = 16
"""Of a run whose last weights alone are seen: of many steps they tell nearly as much as all weights together."""
WIDE = 1e6
"""Of a prior that adds nothing to a gradient."""
VERB = fit.__name__.rpartition(".")[2]
TABLE_STEPS = 64
"""Adam's momentum weighs the first and the last steps differently: of many that matters less."""
TABLE_CLIP = 1e-11
"""So small that Adam divides gradients by its constant, 1e-8, instead of by their size, which would hide it."""
TABLE_MODEL = """
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist


    def model(i, x, y=None):
        weights = numpyro.sample("weights", dist.Normal(0, 1e6).expand([{count}]).to_event(1))
        with numpyro.plate("records", {count}, len(i)):
            numpyro.sample("y", dist.Normal(x * weights[i], 1), obs=y)


    def guide(i, x, y=None):
        numpyro.sample("weights", dist.Delta(numpyro.param("w", jnp.zeros({count})), event_dim=1))
"""


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


class UserRun(NamedTuple):
    """What is seen of one run, in units in which a record that is drawn adds one.

    Attributes:
        sums: (weights, looks) what moved every weight from look to look: of one step each, or all of one look.
        ledger: What the call says that it cost.
    """

    sums: Array
    ledger: Ledger


Call = Callable[[Key, Canaries], UserRun]
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


def case(call: Call) -> Case:
    """A case of users' calls."""

    def run(key: Key, trials: int) -> Seen:
        side = min(trials, SIDE)
        own = canaries(side)
        runs = [call(one, own) for one in jax.random.split(key, -(-trials // side))]
        ledger = runs[0].ledger
        scores = np.concatenate([_scores(one) for one in runs])
        there = np.tile(own.x != 0, len(runs))
        return Seen((scores[there][:trials], scores[~there][:trials]), ledger)

    return Case(NEIGHBOURS, run, MOST_OF_USERS)


def moves(looks: list[Any]) -> Array:
    """(weights, looks) by how much weights have moved from 0, from look to look."""
    return np.diff(np.stack([np.asarray(look, np.float64) for look in looks], axis=1), axis=1, prepend=0.0)


def _scores(run: UserRun) -> Array:
    """(weights, statistics) the ratio of likelihoods, and what noise that comes up again would leave bare."""
    if run.sums.shape[1] == 1:
        return run.sums
    ((leaf, _),) = tally(run.ledger.event)
    assert isinstance(leaf, PoissonGaussian)
    ratio = sampled_ratio(run.sums, 1.0, leaf.sampling_rate, leaf.noise_multiplier)
    return np.stack([ratio, np.ptp(run.sums[:, :STEPS], axis=1)], axis=1)


def dpsvi_run(key: Key, records: Canaries) -> UserRun:
    """All steps in one call; the last weights are seen."""
    with warnings.catch_warnings(action="ignore"):
        svi = _calibrated(records, UNSEEN_STEPS)
        done = svi.run(key, UNSEEN_STEPS, *records, progress_bar=False)
    assert svi.budget is not None
    return UserRun(moves([done.params["w"]]), svi.budget.ledger)


def dpsvi_update(key: Key, records: Canaries) -> UserRun:
    """A compiled loop, whose weights are seen after every step.

    It goes on after the last step that is paid for: those that follow should leave the weights as they are.
    """
    key_state, key_batches = jax.random.split(key)
    init, get_batch = poisson_batchify_data(records, RATE)
    _, batches = init(key_batches)
    with warnings.catch_warnings(action="ignore"):
        svi = _calibrated(records, STEPS)
        state = svi.init(key_state, *records)
    step = jax.jit(svi.update)
    looks = []
    for number in range(TRIED):
        batch, mask = get_batch(number, batches)
        state, _ = step(state, *batch, mask=mask)
        looks.append(svi.get_params(state)["w"])
    assert svi.budget is not None
    return UserRun(moves(looks), svi.budget.ledger)


def dpsvi_update_x64(key: Key, records: Canaries) -> UserRun:
    """The same with numbers of 64 bits, as by JAX_ENABLE_X64=1, for these steps alone."""
    with jax.enable_x64(True):
        return dpsvi_update(key, records)


def model_of(count: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A regression with so many weights, one for each record, and a guide that is a point."""

    def model(i: Any, x: Any, y: Any = None) -> None:
        weights = numpyro.sample("weights", dist.Normal(0, WIDE).expand([count]).to_event(1))
        with numpyro.plate("records", count, len(i)):
            numpyro.sample("y", dist.Normal(x * weights[i], 1), obs=y)

    def guide(i: Any, x: Any, y: Any = None) -> None:
        del i, x, y
        numpyro.sample("weights", dist.Delta(numpyro.param("w", jnp.zeros(count)), event_dim=1))

    return model, guide


def _calibrated(records: Canaries, num_steps: int) -> DPSVI:
    """With steps of a size at which a record that is drawn moves its weight by one."""
    return DPSVI.calibrated(
        *model_of(records.size), optax.sgd(RATE / CLIP), Trace_ELBO(), CLIP, epsilon=EPSILON, delta=DELTA,
        num_records=records.size, num_steps=num_steps, expected_batch=records.expected_batch,
    )  # fmt: skip


def table_seeded(key: Key, records: Canaries) -> UserRun:
    """A trial: with a seed, so that it can be had again."""
    return _fitted(records, "--seed", str(int(jax.random.randint(key, (), 0, 2**31 - 1))))


def table_released(key: Key, records: Canaries) -> UserRun:
    """A release: the key is out of the system's entropy, whatever seed there is, and the noise on a grid."""
    del key
    return _fitted(records)


def _fitted(records: Canaries, *options: str) -> UserRun:
    with TemporaryDirectory() as name:
        folder = Path(name)
        model, table, output = folder / "model.py", folder / "table.csv", folder / "posterior"
        model.write_text(inspect.cleandoc(TABLE_MODEL).format(count=records.size), encoding="utf-8")
        pd.DataFrame(records._asdict()).to_csv(table, index=False)
        _call(
            VERB, str(model), str(table), "--epsilon", str(EPSILON), "--delta", str(DELTA),
            "--steps", str(TABLE_STEPS), "--batch", str(records.expected_batch), "--clip", str(TABLE_CLIP),
            "--learning-rate", "1", "--draws", "2", "--output", str(output), "--ledgers", str(folder / "ledgers"),
            *options,
        )  # fmt: skip
        weights = pd.read_csv(output / "parameters.csv")["value"].to_numpy(np.float64)
        return UserRun(weights[:, None], ledger.read(output / "ledger.json"))


def _call(*line: str) -> None:
    """Call the command; what it says is shown only where it fails."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = cli.main(line)
    if code:
        raise InputError(f"dpinfer fit, which is audited, ended with {code}: {said.getvalue().strip()}")


def training(key: Key, records: Canaries) -> UserRun:
    """A compiled loop, whose weights are seen after every step, also beyond what is paid for."""
    optimiser = _private(records)
    _, looks = _taken(optimiser, _started(optimiser, key, records), records, TRIED)
    return _seen(looks, optimiser)


def training_resumed(key: Key, records: Canaries) -> UserRun:
    """The same, saved halfway and gone on with by another optimiser, as after a new start of the program."""
    first, second = _private(records), _private(records)
    state, early = _taken(first, _started(first, key, records), records, STEPS // 2)
    with TemporaryDirectory() as folder:
        first.save(Path(folder) / "run.npz", state)
        loaded = second.load(Path(folder) / "run.npz", jnp.zeros(records.size))
    _, late = _taken(second, loaded, records, TRIED - STEPS // 2)
    return _seen([*early, *late], second)


def _private(records: Canaries) -> Optimiser:
    """With steps of a size at which a record that is drawn moves its weight by one."""
    return private(
        optax.sgd(records.expected_batch / CLIP), loss, num_records=records.size,
        expected_batch=records.expected_batch, clip=CLIP, epsilon=EPSILON, num_steps=STEPS, delta=DELTA,
    )  # fmt: skip


def _started(optimiser: Optimiser, key: Key, records: Canaries) -> State:
    return optimiser.init(jnp.zeros(records.size), key)


def _taken(optimiser: Optimiser, state: State, records: Canaries, count: int) -> tuple[State, list[Any]]:
    """The state after so many steps, and the weights after each."""
    step: Callable[[State, Loader], State] = jax.jit(
        lambda state, loader: optimiser.step(state, loader.batch(state))
    )
    loader = Loader(optimiser, tuple(records))
    looks = []
    for _ in range(count):
        state = step(state, loader)
        looks.append(state.parameters)
    return state, looks


def _seen(looks: list[Any], optimiser: Optimiser) -> UserRun:
    assert optimiser.budget is not None
    return UserRun(moves(looks), optimiser.budget.ledger)
