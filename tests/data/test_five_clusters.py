import numpy as np

from dpinfer.data import load
from dpinfer.data.base import Files
from dpinfer.settings.data import FiveClusters


def test_published_records(no_files: Files) -> None:
    train, test, _ = load(FiveClusters(), no_files)
    assert (train["x"].shape, test["x"].shape) == ((2000, 2), (100, 2))
    assert np.bincount(train["y"]).tolist() == [384, 424, 383, 408, 401]
    assert np.allclose(train["x"][0], [-2.2474, 0.9872], atol=5e-5)
    assert np.allclose(test["x"][0], [-2.4109, -2.4458], atol=5e-5)


def test_log_density_of_the_test_records_under_the_truth(no_files: Files) -> None:
    _, test, facts = load(FiveClusters(), no_files)
    means, variance = np.array(facts["means"]), facts["variance"]
    squares = ((test["x"][:, None] - means) ** 2).sum(axis=2)
    density = np.exp(-squares / (2 * variance)).mean(axis=1) / (2 * np.pi * variance)
    assert abs(np.log(density).mean() + 3.676) < 5e-4


def test_labels_name_the_clusters(no_files: Files) -> None:
    train, _, facts = load(FiveClusters(), no_files)
    residuals = train["x"] - np.array(facts["means"])[train["y"]]
    assert np.allclose(residuals.mean(axis=0), 0, atol=0.06)
    assert np.allclose(residuals.var(axis=0), 0.5, atol=0.06)


def test_seed_changes_the_records(no_files: Files) -> None:
    assert not np.allclose(load(FiveClusters(seed=1), no_files).train["x"][0], [-2.2474, 0.9872], atol=1e-3)
