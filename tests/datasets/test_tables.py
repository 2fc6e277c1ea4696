import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pipeline.datasets import load
from pipeline.datasets.base import Dataset, Fetched, Files
from pipeline.settings.data import Abalone, Adult, AdultShards, Data

ADULT_ROW = "{age}, {work}, 7{age}, {school}, 1{age}, {p}, {q}, {p}, {q}, {p}, {age}, 0, 4{age}, {p}, {label}\n"
ABALONE_ROWS = """I,0.1,0.2,0.3,0.4,0.5,0.6,0.7,9
F,0.2,0.3,0.4,0.5,0.6,0.7,0.1,10
M,0.3,0.4,0.5,0.6,0.7,0.1,0.2,11
M,0.4,0.5,0.6,0.7,0.1,0.2,0.3,3
F,0.5,0.6,0.7,0.1,0.2,0.3,0.4,29
"""


@pytest.fixture
def adult_files(tmp_path: Path) -> Fetched:
    def row(i: int, label: str) -> str:
        work = ["State-gov", "?", "Private"][i % 3]
        words = {"work": work, "school": ["b", "a"][i % 2], "p": ["u", "v"][i % 2], "q": ["w", "?"][i % 2]}
        return ADULT_ROW.format(age=20 + i, label=label, **words).replace(", 0, 4", f", {i % 4}, 4")

    train = "".join(row(i, ">50K" if i % 2 else "<=50K") for i in range(4))
    (tmp_path / "adult.data").write_text(train + "\n")
    test = "".join(row(i, ">50K." if i == 9 else "<=50K.") for i in range(4, 10))
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + test + "\n")
    return Fetched({file: tmp_path / file for file in ("adult.data", "adult.test")}, {"licence": "none"})


def test_the_files_of_adult_are_joined_and_labels_cleaned(adult_files: Fetched) -> None:
    train, test, _ = load(Adult(), lambda _: adult_files)
    assert train["y"].tolist() == [0, 1, 0, 1, 0, 0, 0, 0]
    assert test["y"].tolist() == [0, 1]


def test_sorted_codes_count_the_missing_as_a_category(adult_files: Fetched) -> None:
    train, test, _ = load(Adult(), lambda _: adult_files)
    work = np.append(train["x"][:, 1], test["x"][:, 1])
    codes = np.array([2.0, 0, 1] * 3 + [2])
    assert np.allclose(work, (codes - codes.mean()) / codes.std())


def test_codes_by_frequency_count_from_the_most_frequent(adult_files: Fetched) -> None:
    train, test, _ = load(Adult(encoding="frequency"), lambda _: adult_files)
    work = np.append(train["x"][:, 1], test["x"][:, 1])
    # State-gov is there four times; "?" and Private are there three times each, and keep their order.
    codes = np.array([0.0, 1, 2] * 3 + [0])
    assert np.allclose(work, (codes - codes.mean()) / codes.std())


def test_one_hot_has_one_column_per_category(adult_files: Fetched) -> None:
    train, _, _ = load(Adult(encoding="one_hot"), lambda _: adult_files)
    assert train["x"].shape == (8, 6 + 3 + 7 * 2)
    assert np.allclose(train["x"][:, 6:].sum(axis=1), 8)


@pytest.mark.data
def test_real_adult(real: Callable[[Data], Dataset]) -> None:
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
def test_real_adult_one_hot(real: Callable[[Data], Dataset]) -> None:
    train, test, _ = real(Adult(encoding="one_hot"))
    assert (train["x"].shape, test["x"].shape) == ((39073, 108), (9769, 108))
    assert (train["x"][:, 6:].sum(axis=1) == 8).all()


@pytest.mark.data
def test_accuracy_on_adult_without_privacy(real: Callable[[Data], Dataset]) -> None:
    train, test, _ = real(Adult())
    fit = LogisticRegression(C=1.0, fit_intercept=False).fit(train["x"], train["y"])
    assert fit.score(test["x"], test["y"]) == pytest.approx(0.8098, abs=5e-4)


def test_the_table_for_a_model_of_ones_own(adult_files: Fetched) -> None:
    made = runpy.run_path(str(Path(__file__).parents[2] / "examples/adult_table.py"))["table"](adult_files.paths)
    assert list(made) == ["age", "education", "hours", "sex", "occupation", "income"]
    assert made["income"].tolist() == [0, 1, 0, 1, 0, 0, 0, 0, 0, 1]
    assert made["age"].tolist() == list(range(20, 30))
    assert (made["education"] == 100 + made["age"]).all()


def test_codes_labels_and_split_of_abalone(tmp_path: Path) -> None:
    (tmp_path / "abalone.data").write_text(ABALONE_ROWS)
    fetched = Fetched({"abalone.data": tmp_path / "abalone.data"}, {"licence": "none"})
    train, test, facts = load(Abalone(), lambda _: fetched)
    assert train["y"].tolist() == [0, 1, 1, 0]
    assert test["y"].tolist() == [1]
    assert facts == {"licence": "none", "standin": False}
    sex = np.append(train["x"][:, 0], test["x"][:, 0])
    codes = np.array([0.0, 1, 2, 2, 1])
    assert np.allclose(sex, (codes - codes.mean()) / codes.std())


@pytest.mark.data
def test_real_abalone(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(Abalone())
    assert (train["x"].shape, test["x"].shape) == ((3341, 8), (836, 8))
    x, y = np.vstack([train["x"], test["x"]]), np.append(train["y"], test["y"])
    assert y.mean() == pytest.approx(0.4982, abs=5e-5)
    assert 1 - test["y"].mean() == pytest.approx(0.531, abs=5e-4)
    assert np.allclose(x.mean(axis=0), 0)
    assert np.allclose(x.std(axis=0), 1)
    _, counts = np.unique(x[:, 0], return_counts=True)
    assert counts.tolist() == [1342, 1307, 1528]
    assert np.linalg.norm(x, axis=1).max() == pytest.approx(23.7, abs=0.05)
    assert facts["licence"] == "CC BY 4.0"


@pytest.mark.data
def test_accuracy_on_abalone_without_privacy(real: Callable[[Data], Dataset]) -> None:
    train, test, _ = real(Abalone())
    x, y = train["x"], train["y"]
    weights = np.zeros(8)
    # Newton's method for the mode under a standard normal prior.
    for _ in range(20):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (p * (1 - p))[:, None]).T @ x + np.eye(8)
        weights -= np.linalg.solve(curvature, x.T @ (p - y) + weights)
    assert ((test["x"] @ weights > 0) == test["y"]).mean() == pytest.approx(0.7727, abs=5e-5)


def test_shards_hold_every_record_once_and_are_of_equal_size(no_files: Files) -> None:
    whole = load(Adult(standin=True), no_files)
    for dealt in ("alike", "by_education"):
        train, test, facts = load(AdultShards(standin=True, clients=7, dealt=dealt), no_files)
        assert max(facts["sizes"]) - min(facts["sizes"]) <= 1
        np.testing.assert_array_equal(np.bincount(train["group"]), facts["sizes"])
        assert (np.diff(train["group"]) >= 0).all()
        rows = {(*x, y) for x, y in zip(train["x"].tolist(), train["y"].tolist(), strict=True)}
        assert rows == {(*x, y) for x, y in zip(whole.train["x"].tolist(), whole.train["y"].tolist(), strict=True)}
        np.testing.assert_array_equal(test["x"], whole.test["x"])


def test_by_education_clients_differ_and_alike_they_do_not(no_files: Files) -> None:
    def spread(dealt: str) -> float:
        train = load(AdultShards(standin=True, clients=4, dealt=dealt), no_files).train  # type: ignore[arg-type]
        means = [train["x"][train["group"] == client, 4].mean() for client in range(4)]
        return float(np.ptp(means))

    assert spread("by_education") > 2.0
    assert spread("alike") < 0.6
