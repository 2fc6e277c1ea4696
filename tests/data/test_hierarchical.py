import numpy as np
import pytest

from dpinfer.data import load
from dpinfer.data.base import Files
from dpinfer.settings.data import Hierarchical


def test_shapes_and_ranges(no_files: Files) -> None:
    train, test, facts = load(Hierarchical(records=500), no_files)
    for part in (train, test):
        assert {key: value.shape for key, value in part.items()} == {
            "x": (500, 5),
            "y": (500,),
            "group": (500,),
            "group_features": (500, 3),
        }
        assert set(part["group"]) == {0, 1, 2}
        assert set(part["y"]) == {0, 1}
    assert not np.array_equal(train["x"], test["x"])
    assert np.array_equal(train["group_features"], np.array(facts["group_features"])[train["group"]])


def test_truth_does_not_depend_on_the_number_of_records(no_files: Files) -> None:
    few, many = (load(Hierarchical(records=n, seed=3), no_files).facts for n in (10, 1000))
    assert few == many


def test_labels_follow_the_weights(no_files: Files) -> None:
    train, _, facts = load(Hierarchical(records=20_000), no_files)
    logits = (np.array(facts["weights"])[train["group"]] * train["x"]).sum(axis=1)
    for low, high in ((-3, -2), (-1, 0), (0, 1), (2, 3)):
        inside = (logits > low) & (logits < high)
        wanted = (1 / (1 + np.exp(-logits[inside]))).mean()
        error = np.sqrt(wanted * (1 - wanted) / inside.sum())
        assert abs(train["y"][inside].mean() - wanted) < 4 * error


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_scale_of_the_matrix(no_files: Files, scale: float) -> None:
    draws = [load(Hierarchical(records=1, prior_scale=scale, seed=s), no_files).facts for s in range(300)]
    matrices = np.array([facts["matrix"] for facts in draws])
    # 4500 draws: the relative error of the deviation is about 1 %.
    assert matrices.std() == pytest.approx(scale, rel=0.05)
    residuals = [np.array(f["weights"]) - np.array(f["group_features"]) @ np.array(f["matrix"]).T for f in draws]
    assert np.std(residuals) == pytest.approx(1, rel=0.05)
