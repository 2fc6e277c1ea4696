"""Words that tell variants of models apart; importing them imports nothing else."""

from typing import Literal

Layers = Literal["dense", "convolutions"]
"""What a network of images is made of."""
Start = Literal["small", "glorot"]
"""Standard deviation of an auto-encoder's first weights: 0.01, or sqrt(2 / (fan-in + fan-out))."""
Pixels = Literal["centred", "unit"]
"""Whether bytes become numbers from -1 to 1, or from 0 to 1."""
PriorOn = Literal["deviation", "variance"]
"""What of a mixture's component has the inverse gamma prior."""
Jacobian = Literal["exact", "logarithm"]
"""Log-determinant of the map to weights, or by mistake the logarithm of its size."""
Normaliser = Literal["dimension", "components"]
"""Power of a density's normaliser: the dimension, or by mistake the components."""
