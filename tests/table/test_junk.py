"""Whatever stands in one's own table: it is read, or refused with one sentence, and nothing is written."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpinfer import cli
from dpinfer.table.csv_table import read_table
from junk import QUICK, refusal, spoilt

MODEL = """
import numpyro, numpyro.distributions as dist
def model(x, y=None):
    w = numpyro.sample("w", dist.Normal(0, 3).expand([x.shape[1]]).to_event(1))
    with numpyro.plate("records", len(x)):
        numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)
"""
WORDS = st.sampled_from(
    [
        "1",
        "-2.5",
        "1e300",
        "99999999999999999999999",
        "inf",
        "nan",
        "",
        "NA",
        "word",
        "1+2j",
        "True",
        '"',
        "a",
        "b",
        "y",
    ]
)
ROWS = st.lists(WORDS, min_size=1, max_size=4).map(",".join)
GOOD = "a,b,y\n1,2,0\n3,4,1\n5,6,1\n"


def check(path: Path) -> None:
    """Read the table as far as a fit does."""

    def columns() -> list[np.ndarray]:
        table = read_table(path, {})
        return [table.column(name) for name in table.names]

    said = refusal(columns)
    assert said is None or said.startswith(f"{path}: ")


@QUICK
@given(rows=st.lists(ROWS, max_size=4))
def test_no_table_ends_in_anything_but_a_sentence(rows: list[str], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    check(path)


@QUICK
@given(content=spoilt(GOOD.encode()))
def test_no_bytes_end_in_anything_but_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    check(path)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("a,b,y\n1,2,0\na,b,y\n3,4,1\n", "table.csv: record 2 is the header once more"),
        (
            "a,b,y\n1e300,2,0\n3,4,1\n",
            "table.csv: the column a is too large for 32 bits in record 1",
        ),
        ("a,b,y\n0,1,2,0\n1,3,4,1\n", "table.csv: a record has more values than the header has names"),
        ("1,2,0\n3,4,1\n5,6,1\n", "the model's outcome y is no column; these are 1, 2, 0"),
        ("a,b,y\n1,2,7\n3,4,1\n", "the outcome y is 7 in record 1, which its distribution cannot give"),
    ],
)
def test_a_wrong_table_gets_its_sentence(
    table: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "model.py", tmp_path / "table.csv"]
    for path, text in zip(paths, (MODEL, table), strict=True):
        path.write_text(text, encoding="utf-8")
    line = ["fit", *map(str, paths), "--epsilon", "4", "--delta", "1e-5", "--steps", "2", "--batch", "1"]
    assert cli.main([*line, "--output", str(tmp_path / "out")]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
