"""A private posterior of one's own model and table, as a user asks for it; and what is refused."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpinfer import cli

EXAMPLES = Path(__file__).parents[2] / "examples"
OCCUPATIONS = ["Office", "Service", "Trade", "Professional", "Other"]
TARGET = ["--epsilon", "4", "--delta", "1e-5"]
JOINT = """
import numpyro, numpyro.distributions as dist
def model(height=None, weight=None, records=None):
    mean = numpyro.sample("mean", dist.Normal(0, 10))
    slope = numpyro.sample("slope", dist.Normal(0, 10))
    with numpyro.plate("people", records if height is None else len(height)):
        height = numpyro.sample("height", dist.Normal(mean, 1), obs=height)
        numpyro.sample("weight", dist.Normal(slope * height, 1), obs=weight)
"""
SIMPLE = """
import numpyro, numpyro.distributions as dist
def model(x, y=None):
    w = numpyro.sample("w", dist.Normal(0, 3).expand([x.shape[1]]).to_event(1))
    with numpyro.plate("records", len(x)):
        numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)
"""
Refuse = Callable[..., str]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with the columns of the examples, drawn here."""
    rng, count = np.random.default_rng(0), 3000
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 80, count),
            "education": rng.integers(1, 17, count),
            "hours": rng.integers(10, 70, count),
            "sex": rng.choice(["Female", "Male"], count),
            "occupation": rng.choice(OCCUPATIONS, count),
        }
    )
    logit = (frame["education"] - 10) / 2 + 2.0 * (frame["sex"] == "Male") - 1.0
    frame["income"] = (rng.random(count) < 1 / (1 + np.exp(-logit))).astype(int)
    path = tmp_path_factory.mktemp("table") / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refuse:
    """Ask for a fit that must be refused with one sentence and nothing written."""

    def run(model: str, table: str | bytes, *options: str) -> str:
        (tmp_path / "model.py").write_text(model)
        raw = table if isinstance(table, bytes) else table.encode()
        (tmp_path / "table.csv").write_bytes(raw)
        paths = [str(tmp_path / name) for name in ("model.py", "table.csv")]
        assert cli.main(["fit", *paths, *TARGET, "--output", str(tmp_path / "out"), *options]) == 2
        assert not (tmp_path / "out").exists()
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return said

    return run


@pytest.mark.parametrize("example", ["adult_logistic", "adult_hierarchical"])
def test_the_examples_learn_what_is_in_the_table(example: str, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # A clip that most gradients do not reach: clipping more of them would make weights larger.
    options = [*TARGET, "--steps", "1500", "--batch", "300", "--clip", "4", "--seed", "1"]
    assert cli.main(["fit", str(EXAMPLES / f"{example}.py"), str(people), *options, "--output", str(out)]) == 0
    site = "weights" if example == "adult_logistic" else "shared"
    with np.load(out / "posterior.npz") as draws:
        weights = draws[site]
    assert weights.shape == (1, 1000, 5)
    education, sex = weights[0, :, 1].mean(), weights[0, :, 3].mean()
    assert education == pytest.approx(1.5, abs=0.5)
    assert sex == pytest.approx(2.0, abs=0.9)
    ledger = json.loads((out / "ledger.json").read_text())
    assert 0.99 * 4 < ledger["eps_sound"] <= 4
    assert ledger["generator"]
    summary = pd.read_csv(out / "summary.csv", dtype={"index": str})
    own = summary[(summary["site"] == site) & (summary["index"] == "1")].iloc[0]
    assert own["mean"] == pytest.approx(education, rel=1e-4)
    assert own["low"] < own["mean"] < own["high"]
    assert {"parameter", "index", "value"} == set(pd.read_csv(out / "parameters.csv"))
    check = pd.read_csv(out / "unprotected/predictive_check.csv")
    assert set(check["statistic"]) == {"mean", "std"}
    assert (check["predicted"] - check["records"]).abs().max() < 0.05
    assert len(pd.read_csv(out / "unprotected/loss.csv")) == 1500
    assert 0 <= json.loads((out / "unprotected/diagnostics.json").read_text())["clipped_share"] <= 1


def test_a_dry_run_tells_the_cost_and_writes_nothing(
    people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    line = ["fit", str(EXAMPLES / "adult_logistic.py"), str(people), *TARGET, "--output", str(out), "--dry-run"]
    assert cli.main(line) == 0
    said = capsys.readouterr().out
    assert "3000 records; outcomes income; given age, education, hours, sex" in said
    assert "at delta 1e-05 (zero-out), sound for this sampler" in said
    assert cli.main([*line, "--records", "2990"]) == 0
    said = capsys.readouterr().out
    assert "3000 records, stated as 2990; outcomes income" in said
    assert "at delta 1e-05 (add-remove), sound for this sampler" in said
    assert not out.exists()


def test_without_a_seed_two_fits_have_different_noise_and_their_keys_stand_nowhere(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    drawn, entropy = list[bytes](), os.urandom

    def overheard(size: int) -> bytes:
        drawn.append(entropy(size))
        return drawn[-1]

    monkeypatch.setattr(os, "urandom", overheard)
    line = ["fit", str(EXAMPLES / "adult_logistic.py"), str(people), *TARGET, "--steps", "5"]
    for name in ("one", "other"):
        assert cli.main([*line, "--output", str(tmp_path / name)]) == 0
    one, other = (pd.read_csv(tmp_path / name / "parameters.csv")["value"] for name in ("one", "other"))
    assert not np.isclose(one, other).any()
    drawn_by = json.loads((tmp_path / "one/ledger.json").read_text())["generator"]
    assert drawn_by == "ChaCha20, Box-Muller, whole multiples of 2^-19"
    keys = [raw for raw in drawn if len(raw) == 32]
    assert len(keys) >= 2  # others may ask for as much entropy
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    said = "".join(capfd.readouterr())
    assert "may be released" in said
    for word in np.frombuffer(b"".join(keys), np.uint32):
        for form in (str(word).encode(), f"{word:08x}".encode(), word.tobytes()):
            assert form not in written
            assert form not in said.encode()


def test_a_twin_has_the_columns_and_the_law_of_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    height = 2 + rng.normal(size=2000)
    frame = pd.DataFrame({"height": height, "weight": 1.5 * height + rng.normal(size=2000)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "model.py").write_text(JOINT)
    line = ["fit", str(tmp_path / "model.py"), str(tmp_path / "table.csv"), *TARGET, "--synthetic", "--seed", "1"]
    options = ["--clip", "5", "--steps", "1000", "--learning-rate", "0.02", "--output", str(tmp_path / "out")]
    assert cli.main([*line, *options]) == 0
    twin = pd.read_csv(tmp_path / "out/synthetic.csv")
    assert list(twin) == ["height", "weight"]
    assert len(twin) == 2000
    assert twin["height"].mean() == pytest.approx(frame["height"].mean(), abs=0.3)
    assert twin.corr().iloc[0, 1] == pytest.approx(frame.corr().iloc[0, 1], abs=0.1)
    assert not np.isin(twin["height"], frame["height"]).any()


GOOD = "a,b,y\n1,2,0\n3,4,1\n5,6,1\n"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("a,b,y\n1,,0\n3,4,1\n", "the column b has no value in record 1"),
        ("a,b,y\n1,2,0\n3,inf,1\n", "the column b is not finite in record 2"),
        ("a,b,y\n1,red,0\n3,4,1\n", "the column b holds text: list its values in the model's file"),
        ("a,b,b,y\n1,2,2,0\n3,4,4,1\n", "there are two columns with the name b"),
        ("a,,y\n1,2,0\n3,4,1\n", "column 2 has no name"),
        ("a,b,y\n1,2,0\n", "the table has 1 records, but should have at least 2"),
        ("", "the file is no table of comma-separated values"),
        (b"a,b,y\n\xff\xfe,2,0\n3,4,1\n", "the file is not text in UTF-8"),
        ("y\n1\n0\n", "the model's parameter x stands for all other columns, but there are none"),
    ],
)
def test_tables_that_cannot_be_are_refused(refuse: Refuse, table: str | bytes, sentence: str) -> None:
    assert sentence in refuse(SIMPLE, table)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("modell = 1", "the file defines no function model"),
        ("def model(:", "the file cannot be run: SyntaxError"),
        ("def model(a, c): pass", "the model's parameter c is no column; these are a, b, y"),
        ("def model(): pass", "no parameter of the model is a column of the table; these are a, b, y"),
        ("LEVELS = {'colour': ['red']}\ndef model(a): pass", "LEVELS names the column colour"),
        ("LEVELS = {'a': ['1', '3']}\ndef model(a): pass", "the column a has the value 5, which LEVELS lacks"),
    ],
)
def test_models_that_cannot_be_are_refused(refuse: Refuse, model: str, sentence: str) -> None:
    assert sentence in refuse(model, GOOD)


def test_wishes_that_cannot_be_are_refused(refuse: Refuse) -> None:
    assert "--steps is 0, but should be positive" in refuse(SIMPLE, GOOD, "--steps", "0")
    assert "a synthetic twin needs a model of all its columns" in refuse(SIMPLE, GOOD, "--synthetic")
    assert "epsilon" in refuse(SIMPLE, GOOD, "--epsilon", "-1")


def test_draws_of_a_guide_that_looks_at_records_tell_none_of_them(tmp_path: Path) -> None:
    """A guide that shifts its draws by the records it is shown is shown zeros once training is over."""
    (tmp_path / "model.py").write_text(
        SIMPLE
        + "import jax.numpy as jnp\n"
        + "def guide(x, y=None):\n"
        + "    at = numpyro.param('at', jnp.zeros(x.shape[1]))\n"
        + "    numpyro.sample('w', dist.Normal(at + 1e-9 * x[0], 1e-6).to_event(1))\n"
    )
    (tmp_path / "table.csv").write_text("a,b,y\n" + "1e9,2e9,0\n" * 50 + "3e9,4e9,1\n" * 50)
    files = [str(tmp_path / name) for name in ("model.py", "table.csv")]
    options = ["--steps", "1", "--clip", "1e-3", "--learning-rate", "1e-6", "--output", str(tmp_path / "out")]
    assert cli.main(["fit", *files, *TARGET, *options]) == 0
    with np.load(tmp_path / "out/posterior.npz") as draws:
        assert np.abs(draws["w"]).max() < 0.01
