"""The profiles: every key is explained, and jobs ask for what they need."""

import re

import pytest

from checkout import ROOT, Checkout
from dpinfer import cluster
from dpinfer.plan import Plan

PROFILES = sorted(path.parent.name for path in (ROOT / "profiles").glob("*/config.yaml"))
KEY = re.compile(r"^[a-z][a-z-]*:")


def unexplained(text: str) -> list[str]:
    """Keys of a profile that follow neither a comment nor another key: a comment may speak of two keys."""
    lines = text.splitlines()
    return [
        line
        for before, line in zip(["", *lines], lines, strict=False)
        if KEY.match(line) and not (before.startswith("#") or KEY.match(before))
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_key_of_a_profile_is_explained(profile: str) -> None:
    assert not unexplained((ROOT / "profiles" / profile / "config.yaml").read_text(encoding="utf-8"))


def test_a_key_without_a_word_is_found() -> None:
    assert unexplained("# Why.\njobs: 1\nretries: 2\n\ncores: 3\n") == ["cores: 3"]


def test_what_computes_with_jax_asks_for_a_gpu_where_one_is_wanted(checkout: Checkout) -> None:
    said = checkout.snakemake("--dry-run", "--quiet", "host", "--profile", "profiles/gpu").stdout
    _, *parts = re.split(r"^ *rule (\w+):$", said, flags=re.MULTILINE)
    asked = {rule: re.findall(r" gpu=(\d)", text) for rule, text in zip(parts[::2], parts[1::2], strict=True)}
    assert {rule for rule, gpus in asked.items() if gpus} == {"calibrate", "fit", "evaluate"}
    assert all(set(gpus) <= {"1"} for gpus in asked.values())


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_no_gpu_is_asked_for_elsewhere(device: str) -> None:
    assert cluster.gpus(Plan({"scale": "smoke", "device": device}, ROOT)) == 0


def test_cells_that_start_from_a_fit_are_sent_apart_from_it() -> None:
    plan = Plan({"scale": "smoke"}, ROOT)
    assert cluster.group(plan, "dpmcmc_init", "main") == "cell"
    started = [cell for cell in plan.experiments["dpmcmc_fig2"].cells if plan.start_of("dpmcmc_fig2", cell)]
    assert started
    assert {cluster.group(plan, "dpmcmc_fig2", cell) for cell in started} == {"started"}
