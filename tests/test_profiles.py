"""The profiles: every key is explained, and jobs ask for what they need."""

import re

import pytest

from checkout import ROOT, Checkout
from pipeline.digest import closure, path_of
from pipeline.plan import Plan

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


def test_the_profile_for_a_gpu_chooses_it(checkout: Checkout) -> None:
    planned = "    PLAN = Plan(config, ROOT)\n"
    checkout.edit("workflow/rules/common.smk", planned, f"{planned}    print('GPUs:', PLAN.gpus)\n")
    assert "GPUs: 1" in checkout.snakemake("--dry-run", "--profile", "profiles/gpu").stdout


def rules() -> dict[str, str]:
    """The text of every rule that calls a stage, by the stage."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")]
    parts = [part for text in texts for part in re.split(r"^(?= *rule \w+:$)", text, flags=re.MULTILINE)]
    return {stage: part for part in parts for stage in re.findall(r"python -m pipeline (\w+)", part)}


@pytest.mark.parametrize(("stage", "rule"), rules().items(), ids=list(rules()))
def test_a_stage_that_computes_with_jax_asks_for_a_gpu(stage: str, rule: str) -> None:
    names = closure(frozenset({f"pipeline.stages.{stage}"}))
    sources = [path.read_text(encoding="utf-8") for name in names if (path := path_of(name))]
    computes = any(re.search(r"^(import|from) jax\b", source, re.MULTILINE) for source in sources)
    assert ("gpu=PLAN.gpus" in rule) == (computes or stage == "study")


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_no_gpu_is_asked_for_elsewhere(device: str) -> None:
    assert Plan({"scale": "smoke", "device": device}, ROOT).gpus == 0


def test_cells_that_start_from_a_fit_are_sent_apart_from_it() -> None:
    plan = Plan({"scale": "smoke"}, ROOT)
    assert plan.group("dpmcmc_init") == "shard"
    assert plan.group("dpmcmc_fig2") == "started"
