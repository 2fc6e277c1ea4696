import numpy as np

from dpinfer.data.pixels import centred, unit

IMAGES = np.array([[[0, 51], [102, 255]]], dtype=np.uint8)


def test_unit() -> None:
    assert unit(IMAGES).dtype == np.float32
    assert np.allclose(unit(IMAGES), [[[0, 0.2], [0.4, 1]]])


def test_centred() -> None:
    assert centred(IMAGES).dtype == np.float32
    assert np.allclose(centred(IMAGES), [[[-1, -0.6], [-0.2, 1]]])
