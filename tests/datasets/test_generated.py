import math

import numpy as np
import pytest

from pipeline.datasets import load
from pipeline.datasets.base import Files
from pipeline.settings.data import BooleanLogistic, FiveClusters, HierarchicalData, LinearShards, TwoModesData


def test_hierarchical_shapes_and_ranges(no_files: Files) -> None:
    train, test, facts = load(HierarchicalData(records=500), no_files)
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


def test_hierarchical_truth_does_not_depend_on_the_number_of_records(no_files: Files) -> None:
    few, many = (load(HierarchicalData(records=n, seed=3), no_files).facts for n in (10, 1000))
    assert few == many


def test_hierarchical_labels_follow_the_weights(no_files: Files) -> None:
    train, _, facts = load(HierarchicalData(records=20_000), no_files)
    logits = (np.array(facts["weights"])[train["group"]] * train["x"]).sum(axis=1)
    for low, high in ((-3, -2), (-1, 0), (0, 1), (2, 3)):
        inside = (logits > low) & (logits < high)
        wanted = (1 / (1 + np.exp(-logits[inside]))).mean()
        error = np.sqrt(wanted * (1 - wanted) / inside.sum())
        assert abs(train["y"][inside].mean() - wanted) < 4 * error


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_scale_of_the_hierarchical_matrix(no_files: Files, scale: float) -> None:
    draws = [load(HierarchicalData(records=1, prior_scale=scale, seed=s), no_files).facts for s in range(300)]
    matrices = np.array([facts["matrix"] for facts in draws])
    # 4500 draws: the relative error of the deviation is about 1 %.
    assert matrices.std() == pytest.approx(scale, rel=0.05)
    residuals = [np.array(f["weights"]) - np.array(f["group_features"]) @ np.array(f["matrix"]).T for f in draws]
    assert np.std(residuals) == pytest.approx(1, rel=0.05)


def test_published_records_of_five_clusters(no_files: Files) -> None:
    train, test, _ = load(FiveClusters(), no_files)
    assert (train["x"].shape, test["x"].shape) == ((2000, 2), (100, 2))
    assert np.bincount(train["y"]).tolist() == [384, 424, 383, 408, 401]
    assert np.allclose(train["x"][0], [-2.2474, 0.9872], atol=5e-5)
    assert np.allclose(test["x"][0], [-2.4109, -2.4458], atol=5e-5)


def test_log_density_of_five_clusters_under_the_truth(no_files: Files) -> None:
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


def test_seed_changes_five_clusters(no_files: Files) -> None:
    assert not np.allclose(load(FiveClusters(seed=1), no_files).train["x"][0], [-2.2474, 0.9872], atol=1e-3)


def test_published_records_of_two_modes(no_files: Files) -> None:
    x = load(TwoModesData(records=3), no_files).train["x"]
    assert np.allclose(x, [-1.346469, -1.054213, 0.455527], atol=5e-7)


def test_two_modes_equal_one_draw_after_the_other_bit_for_bit(no_files: Files) -> None:
    rng = np.random.RandomState(123)
    wanted = [
        rng.normal(0, math.sqrt(2)) if rng.uniform() > 0.5 else rng.normal(1, math.sqrt(2)) for _ in range(5000)
    ]
    assert load(TwoModesData(records=5000), no_files).train["x"].tolist() == wanted


def test_fewer_records_of_two_modes_are_a_prefix(no_files: Files) -> None:
    longer, shorter = (load(TwoModesData(records=n), no_files).train["x"] for n in (200, 50))
    assert np.array_equal(longer[:50], shorter)


def test_moments_of_two_modes(no_files: Files) -> None:
    x = load(TwoModesData(records=100_000), no_files).train["x"]
    # Mean 1/2 and variance 2 + 1/4, within four standard errors.
    assert abs(x.mean() - 0.5) < 0.02
    assert abs(x.var() - 2.25) < 0.04


def test_regression_recovers_theta_of_linear_shards(no_files: Files) -> None:
    settings = LinearShards(clients=5, records_per_client=4000, theta=(-1.0, 2.0), noise_std=3.0)
    train, test, _ = load(settings, no_files)
    assert test == {}
    assert (train["x"][:, 0] == 1).all()
    theta, squares, *_ = np.linalg.lstsq(train["x"], train["y"])
    # 20 000 records: standard errors are 0.021 for theta and 0.5 % for the noise.
    assert np.allclose(theta, [-1, 2], atol=0.09)
    assert np.sqrt(squares[0] / 20_000) == pytest.approx(3, rel=0.02)


def test_without_noise_the_line_is_exact(no_files: Files) -> None:
    settings = LinearShards(clients=1, records_per_client=10, theta=(5.0, -2.0), noise_std=0.0)
    train, _, _ = load(settings, no_files)
    assert np.allclose(train["y"], 5 - 2 * train["x"][:, 1])


def test_shards_alike(no_files: Files) -> None:
    settings = LinearShards(clients=3, records_per_client=4, theta=(-1.0, 2.0), noise_std=1.0)
    train, _, facts = load(settings, no_files)
    assert train["group"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert facts["sizes"] == [4, 4, 4]


def test_shards_unlike_in_size_and_inputs(no_files: Files) -> None:
    settings = LinearShards(
        clients=2,
        records_per_client=(1000, 3000),
        theta=(-1.0, 2.0),
        noise_std=1.0,
        input_shift=(-2.0, 3.0),
    )
    train, _, facts = load(settings, no_files)
    assert facts["sizes"] == [1000, 3000]
    for client, (size, shift) in enumerate(((1000, -2), (3000, 3))):
        x = train["x"][train["group"] == client, 1]
        assert x.size == size
        assert abs(x.mean() - shift) < 4 / np.sqrt(size)
        assert abs(x.std() - 1) < 4 / np.sqrt(2 * size)


def test_boolean_vectors_occur_equally_often(no_files: Files) -> None:
    train, test, _ = load(BooleanLogistic(), no_files)
    assert train["x"].shape == (800, 3)
    vectors, counts = np.unique(train["x"], axis=0, return_counts=True)
    assert (counts == 100).all()
    assert len(vectors) == 8
    assert np.array_equal(np.unique(test["x"], axis=0), vectors)


def test_boolean_label_is_the_majority(no_files: Files) -> None:
    _, test, _ = load(BooleanLogistic(), no_files)
    labels = {tuple(x): y for x, y in zip(test["x"].tolist(), test["y"].tolist(), strict=True)}
    assert labels[1, 1, 0] == labels[0, 1, 1] == labels[1, 0, 1] == labels[1, 1, 1] == 1
    assert labels[0, 0, 0] == labels[1, 0, 0] == labels[0, 1, 0] == labels[0, 0, 1] == 0
