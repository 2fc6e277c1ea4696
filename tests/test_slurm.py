"""The cluster profiles, on a real SLURM of one node: what comes out is what a local run gives."""

from collections.abc import Iterator

import pytest

import slurm
from checkout import Checkout, copy_project

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(bool(slurm.missing()), reason=f"SLURM is not installed: no {', '.join(slurm.missing())}"),
]
# Two papers; fits and a study, a correction, and a cell that starts from another fit.
EXPERIMENTS = ("experiments=[dpmcmc_init,dpmcmc_fig2,pyvacy_amplification]",)
TARGETS = ("--", "results/smoke/figures/dpmcmc_fig2a.pdf", "results/smoke/metrics/pyvacy_amplification.csv")
STUDY = ("experiments=[pyvacy_amplification]",)
SMALL = ("--cores", str(slurm.CPUS), "--max-threads", "2", "--default-resources", "mem_mb=1000", "runtime=10")
# This SLURM keeps no accounts, and its jobs are short.
QUICK = ("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "3")
CORRECTION = "rule_correction_wildcards_correction-num_steps=300"
FOLDERS = ("data", "fits", "metrics", "figures", "tables")


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, str]]:
    with slurm.cluster() as environment:
        yield environment


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = copy_project(tmp_path_factory.mktemp("local"))
    made.snakemake(*TARGETS, config=EXPERIMENTS)
    return made


def test_a_run_on_slurm_gives_the_same_results_and_gets_more_memory_where_it_lacked_it(
    local: Checkout, checkout: Checkout, cluster: dict[str, str]
) -> None:
    # Too little for JAX: SLURM kills the job, and Snakemake sends it again.
    checkout.edit("workflow/rules/correction.smk", "2000 * attempt", "400 * attempt")
    arguments = ("--profile", "profiles/slurm", *SMALL, *QUICK)
    checkout.snakemake(*arguments, *TARGETS, config=EXPERIMENTS, environment=cluster)
    for folder in FOLDERS:
        assert checkout.contents(folder) == local.contents(folder)
    sent = [job.get("Comment") for job in slurm.jobs(cluster)]
    assert sent.count("rule_shard_account_fit") == 1
    assert sent.count("rule_started_account_fit") == 2, "the cells of an experiment are cut into shards"
    corrections = [job for job in slurm.jobs(cluster) if job.get("Comment") == CORRECTION]
    asked = [int(job["MinMemoryNode"].removesuffix("M")) for job in corrections]
    assert asked == [400 * attempt for attempt in range(1, len(asked) + 1)]
    assert [job["JobState"] for job in corrections] == ["FAILED"] * (len(asked) - 1) + ["COMPLETED"]
    assert len(asked) > 1
    (said,) = (checkout.root / ".snakemake/slurm_logs").rglob(f"{corrections[0]['JobId']}.log")
    assert "Exceeded job memory limit" in said.read_text(encoding="utf-8")


def test_any_scheduler_will_do_that_has_three_commands(
    local: Checkout, checkout: Checkout, cluster: dict[str, str]
) -> None:
    before = len(slurm.jobs(cluster))
    arguments = ("--profile", "profiles/cluster-generic", *SMALL, "gpu=0", "--", TARGETS[-1])
    checkout.snakemake(*arguments, config=STUDY, environment=cluster)
    sent = slurm.jobs(cluster)[before:]
    assert [job["JobState"] for job in sent] == ["COMPLETED"]
    mine = checkout.contents("metrics")
    assert mine.items() <= local.contents("metrics").items()
    assert mine
