import numpy as np
import pytest

from dpinfer.data import load
from dpinfer.data.base import Files
from dpinfer.settings.data import LinearShards


def test_regression_recovers_theta(no_files: Files) -> None:
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
