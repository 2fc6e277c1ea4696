"""Users' calls of `dpinfer fit`, from a model's file and a table to the released parameters.csv."""

import inspect
import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import jax
import numpy as np
import pandas as pd

from dpinfer import cli
from dpinfer.accounting import ledger
from dpinfer.audit.canaries import EPSILON, Canaries, Run
from dpinfer.audit.worst_records import DELTA
from dpinfer.cli import fit
from dpinfer.errors import InputError
from dpinfer.types import Key

VERB = fit.__name__.rpartition(".")[2]
STEPS = 64
"""Adam's momentum weighs the first and the last steps differently: of many that matters less."""
CLIP = 1e-11
"""So small that Adam divides gradients by its constant, 1e-8, instead of by their size, which would hide it."""
MODEL = """
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


def seeded(key: Key, records: Canaries) -> Run:
    """A trial: with a seed, so that it can be had again."""
    return _fitted(records, "--seed", str(int(jax.random.randint(key, (), 0, 2**31 - 1))))


def released(key: Key, records: Canaries) -> Run:
    """A release: the key is out of the system's entropy, whatever seed there is, and the noise on a grid."""
    del key
    return _fitted(records)


def _fitted(records: Canaries, *options: str) -> Run:
    with TemporaryDirectory() as name:
        folder = Path(name)
        model, table, output = folder / "model.py", folder / "table.csv", folder / "posterior"
        model.write_text(inspect.cleandoc(MODEL).format(count=records.size), encoding="utf-8")
        pd.DataFrame(records._asdict()).to_csv(table, index=False)
        _call(
            VERB, str(model), str(table), "--epsilon", str(EPSILON), "--delta", str(DELTA), "--steps", str(STEPS),
            "--batch", str(records.expected_batch), "--clip", str(CLIP), "--learning-rate", "1", "--draws", "2",
            "--output", str(output), "--ledgers", str(folder / "ledgers"), *options,
        )  # fmt: skip
        weights = pd.read_csv(output / "parameters.csv")["value"].to_numpy(np.float64)
        return Run(weights[:, None], ledger.read(output / "ledger.json"))


def _call(*line: str) -> None:
    """Call the command; what it says is shown only where it fails."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = cli.main(line)
    if code:
        raise InputError(f"dpinfer fit, which is audited, ended with {code}: {said.getvalue().strip()}")
