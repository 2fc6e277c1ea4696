import numpy as np

from dpinfer.data import load
from dpinfer.data.base import Files
from dpinfer.settings.data import BooleanLogistic


def test_all_vectors_equally_often(no_files: Files) -> None:
    train, test, _ = load(BooleanLogistic(), no_files)
    assert train["x"].shape == (800, 3)
    vectors, counts = np.unique(train["x"], axis=0, return_counts=True)
    assert (counts == 100).all()
    assert len(vectors) == 8
    assert np.array_equal(np.unique(test["x"], axis=0), vectors)


def test_label_is_the_majority(no_files: Files) -> None:
    _, test, _ = load(BooleanLogistic(), no_files)
    labels = {tuple(x): y for x, y in zip(test["x"].tolist(), test["y"].tolist(), strict=True)}
    assert labels[1, 1, 0] == labels[0, 1, 1] == labels[1, 0, 1] == labels[1, 1, 1] == 1
    assert labels[0, 0, 0] == labels[1, 0, 0] == labels[0, 1, 0] == labels[0, 0, 1] == 0
