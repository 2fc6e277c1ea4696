"""Ways to turn bytes of images into numbers a model works with."""

import numpy as np


def unit(images: np.ndarray) -> np.ndarray:
    """Map bytes 0..255 to float32 in [0, 1]; the shape is kept."""
    return images.astype(np.float32) / np.float32(255)


def centred(images: np.ndarray) -> np.ndarray:
    """Map bytes 0..255 to float32 in [-1, 1]; the shape is kept."""
    return unit(images) * np.float32(2) - np.float32(1)
