import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpinfer.data import load
from dpinfer.data.base import Dataset, Fetched
from dpinfer.settings.data import Adult, Data

ROW = "{age}, {work}, 7{age}, {school}, 1{age}, {p}, {q}, {p}, {q}, {p}, {age}, 0, 4{age}, {p}, {label}\n"


@pytest.fixture
def fetched(tmp_path: Path) -> Fetched:
    def row(i: int, label: str) -> str:
        work = ["State-gov", "?", "Private"][i % 3]
        words = {"work": work, "school": ["b", "a"][i % 2], "p": ["u", "v"][i % 2], "q": ["w", "?"][i % 2]}
        return ROW.format(age=20 + i, label=label, **words).replace(", 0, 4", f", {i % 4}, 4")

    train = "".join(row(i, ">50K" if i % 2 else "<=50K") for i in range(4))
    (tmp_path / "adult.data").write_text(train + "\n")
    test = "".join(row(i, ">50K." if i == 9 else "<=50K.") for i in range(4, 10))
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + test + "\n")
    return Fetched({file: tmp_path / file for file in ("adult.data", "adult.test")}, {"licence": "none"})


def test_files_are_joined_and_labels_cleaned(fetched: Fetched) -> None:
    train, test, _ = load(Adult(), lambda _: fetched)
    assert train["y"].tolist() == [0, 1, 0, 1, 0, 0, 0, 0]
    assert test["y"].tolist() == [0, 1]


def test_sorted_codes_count_the_missing_as_a_category(fetched: Fetched) -> None:
    train, test, _ = load(Adult(), lambda _: fetched)
    work = np.append(train["x"][:, 1], test["x"][:, 1])
    codes = np.array([2.0, 0, 1] * 3 + [2])
    assert np.allclose(work, (codes - codes.mean()) / codes.std())


def test_codes_by_frequency_count_from_the_most_frequent(fetched: Fetched) -> None:
    train, test, _ = load(Adult(encoding="frequency"), lambda _: fetched)
    work = np.append(train["x"][:, 1], test["x"][:, 1])
    # State-gov is there four times; "?" and Private are there three times each, and keep their order.
    codes = np.array([0.0, 1, 2] * 3 + [0])
    assert np.allclose(work, (codes - codes.mean()) / codes.std())


def test_one_hot_has_one_column_per_category(fetched: Fetched) -> None:
    train, _, _ = load(Adult(encoding="one_hot"), lambda _: fetched)
    assert train["x"].shape == (8, 6 + 3 + 7 * 2)
    assert np.allclose(train["x"][:, 6:].sum(axis=1), 8)


@pytest.mark.data
def test_real(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(Adult())
    assert (train["x"].shape, test["x"].shape) == ((39073, 14), (9769, 14))
    x, y = np.vstack([train["x"], test["x"]]), np.append(train["y"], test["y"])
    assert (y[:32561] == 0).sum() == 24720
    assert (y[32561:] == 0).sum() == 12435
    assert np.allclose(x.mean(axis=0), 0)
    assert np.allclose(x.std(axis=0), 1)
    assert 1 - test["y"].mean() == pytest.approx(0.7636, abs=5e-5)
    assert facts["licence"] == "CC BY 4.0"


@pytest.mark.data
def test_real_one_hot(real: Callable[[Data], Dataset]) -> None:
    train, test, _ = real(Adult(encoding="one_hot"))
    assert (train["x"].shape, test["x"].shape) == ((39073, 108), (9769, 108))
    assert (train["x"][:, 6:].sum(axis=1) == 8).all()


@pytest.mark.data
def test_accuracy_without_privacy(real: Callable[[Data], Dataset]) -> None:
    train, test, _ = real(Adult())
    fit = LogisticRegression(C=1.0, fit_intercept=False).fit(train["x"], train["y"])
    assert fit.score(test["x"], test["y"]) == pytest.approx(0.8098, abs=5e-4)


def test_the_table_for_a_model_of_ones_own(fetched: Fetched) -> None:
    made = runpy.run_path(str(Path(__file__).parents[2] / "examples/adult_table.py"))["table"](fetched.paths)
    assert list(made) == ["age", "education", "hours", "sex", "occupation", "income"]
    assert made["income"].tolist() == [0, 1, 0, 1, 0, 0, 0, 0, 0, 1]
    assert made["age"].tolist() == list(range(20, 30))
    assert (made["education"] == 100 + made["age"]).all()
