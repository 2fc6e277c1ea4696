"""The names of all cases, and how they are audited by default; importing them imports nothing else."""

from typing import Literal, get_args

Mechanism = Literal[
    "dpsgd", "dpsgd_steps", "dpsgd_subset", "dpsgd_subset_steps",
    "dpvi", "dpvi_steps", "dpvi_subset", "dpvi_subset_steps",
    "barker", "pvi_records", "pvi_clients", "pvi_shared", "pvi_server",
    "quantile", "percentile", "mean_printed", "mean_code",
    "dpsvi_run", "dpsvi_update", "dpsvi_x64", "training", "training_resume", "own", "own_release",
]  # fmt: skip
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)

TRIALS = 100_000
MOST_OF_USERS = 4000
"""Trials of the calls that users make, which take longer."""
CONFIDENCE = 0.999
