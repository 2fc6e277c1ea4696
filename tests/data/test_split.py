import numpy as np

from dpinfer.data.split import head, standardise


def test_standardise_divides_by_n() -> None:
    columns = np.array([[1.0, 10.0], [3.0, 10.5], [5.0, 14.0]])
    scaled = standardise(columns)
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose((scaled**2).mean(axis=0), 1)
    assert np.isclose(scaled[2, 0], np.sqrt(1.5))


def test_head_keeps_order_and_rounds_down() -> None:
    first, rest = head({"x": np.arange(11), "y": -np.arange(11)}, 0.8)
    assert first["x"].tolist() == list(range(8))
    assert rest["y"].tolist() == [-8, -9, -10]
