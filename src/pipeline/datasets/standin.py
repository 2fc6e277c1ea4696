"""Small generated records in the place of real ones, with something in them to learn."""

import numpy as np

from pipeline.datasets.base import Arrays, Dataset, head, standardise

CLASSES = 10
IMAGES_TRAIN, IMAGES_TEST, ROWS = 512, 128, 400


def images(seed: int, shape: tuple[int, ...]) -> Dataset:
    """Noisy copies of one coarse picture per class.

    Args:
        seed: fixes every byte.
        shape: of one image; the first two lengths must be multiples of 4.

    Returns:
        `x` (n, *shape) uint8 and `y` (n,) int32 in 0..9, with 512 train and 128 test records.
    """
    rng = np.random.default_rng(seed)
    height, width, *channels = shape
    coarse = rng.integers(0, 256, size=(CLASSES, height // 4, width // 4, *channels))
    pictures = coarse.repeat(4, axis=1).repeat(4, axis=2)
    return Dataset(_copies(rng, pictures, IMAGES_TRAIN), _copies(rng, pictures, IMAGES_TEST), _facts())


def table(seed: int, columns: int) -> Dataset:
    """Standardised Gaussian columns whose label follows a logistic regression.

    Returns:
        `x` (n, columns) float64 and `y` (n,) int32 in {0, 1}, with 320 train and 80 test records.
    """
    rng = np.random.default_rng(seed)
    x = standardise(rng.standard_normal((ROWS, columns)))
    logits = x @ rng.normal(scale=3 / np.sqrt(columns), size=columns)
    y = (rng.random(ROWS) < 1 / (1 + np.exp(-logits))).astype(np.int32)
    train, test = head({"x": x, "y": y}, 0.8)
    return Dataset(train, test, _facts())


def _copies(rng: np.random.Generator, pictures: np.ndarray, count: int) -> Arrays:
    y = rng.integers(CLASSES, size=count, dtype=np.int32)
    noisy = pictures[y] + rng.normal(scale=48, size=(count, *pictures.shape[1:]))
    return {"x": noisy.clip(0, 255).astype(np.uint8), "y": y}


def _facts() -> dict[str, object]:
    return {"files": {}, "licence": "generated: none applies", "standin": True}
