"""Layers whose per-example gradients need not be stored.

Every layer here is, at its heart, a product with its weights: `signal = inputs @ w + b`, where inputs have the
shape (batch, positions, fan_in). A dense layer has one position, or one for each vector of an example that is
several; a convolution one for each place of its kernel.
The gradient of example i is then inputs_i^T g_i, g being the loss's gradient by the signal: its norm, and sums of
such gradients with weights, follow from inputs and g alone (see `dpinfer.mechanism.bookkeeping`).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from dpinfer.tree import normal_like
from dpinfer.types import Key, Tree

Apply = Callable[[str, jax.Array], jax.Array]
"""Applies the layer of a name to a batch."""


class Layer(Protocol):
    """What book-keeping asks of a layer."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of its parameters, `w` (fan_in, fan_out) and `b` (channels,)."""

    def __call__(self, parameters: Tree, x: jax.Array) -> jax.Array:
        """Apply it to a batch."""

    def factors(self, x: jax.Array, signal: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Arrays a (batch, positions, fan_in) and g (batch, positions, fan_out): the gradient by w is a_i^T g_i.

        Args:
            x: What it was applied to.
            signal: The gradient of the loss by what came out.
        """


class Dense(NamedTuple):
    """An affine map of the last axis."""

    inputs: int
    outputs: int

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """See `Layer`."""
        return {"w": (self.inputs, self.outputs), "b": (self.outputs,)}

    def __call__(self, parameters: Tree, x: jax.Array) -> jax.Array:
        """(batch, ..., inputs) -> (batch, ..., outputs)."""
        return x @ parameters["w"] + parameters["b"]

    def factors(self, x: jax.Array, signal: jax.Array) -> tuple[jax.Array, jax.Array]:
        """See `Layer`."""
        return _positions(x), _positions(signal)


class Convolution(NamedTuple):
    """A convolution, by patches and one product.

    Padded ("same"), it divides height and width by its stride; else ("valid") its kernel stays within the image.
    XLA's own gradients of strided convolutions are several times slower on CPUs.
    """

    inputs: int
    outputs: int
    kernel: int = 4
    stride: int = 2
    padded: bool = True

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """See `Layer`."""
        return {"w": (self.kernel**2 * self.inputs, self.outputs), "b": (self.outputs,)}

    def __call__(self, parameters: Tree, x: jax.Array) -> jax.Array:
        """(batch, height, width, inputs) -> (batch, new height, new width, outputs)."""
        return self._patches(x) @ parameters["w"] + parameters["b"]

    def factors(self, x: jax.Array, signal: jax.Array) -> tuple[jax.Array, jax.Array]:
        """See `Layer`."""
        return _positions(self._patches(x)), _positions(signal)

    def _patches(self, x: jax.Array) -> jax.Array:
        return patches(x, self.kernel, self.stride, self.padded)


class Transposed(NamedTuple):
    """The transpose of such a convolution: it multiplies height and width by its stride."""

    inputs: int
    outputs: int
    kernel: int = 4
    stride: int = 2

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """See `Layer`."""
        return {"w": (self.inputs, self.kernel**2 * self.outputs), "b": (self.outputs,)}

    def __call__(self, parameters: Tree, x: jax.Array) -> jax.Array:
        """(batch, height, width, inputs) -> (batch, height * stride, width * stride, outputs)."""
        batch, height, width, _ = x.shape
        shape = (batch, height * self.stride, width * self.stride, self.outputs)
        # Taking patches is linear; its transpose adds them up where they overlap.
        spread = jax.linear_transpose(
            lambda image: patches(image, self.kernel, self.stride), jax.ShapeDtypeStruct(shape, x.dtype)
        )
        return spread(x @ parameters["w"])[0] + parameters["b"]

    def factors(self, x: jax.Array, signal: jax.Array) -> tuple[jax.Array, jax.Array]:
        """See `Layer`."""
        return _positions(x), _positions(patches(signal, self.kernel, self.stride))


@dataclass(frozen=True)
class Network:
    """A loss for each example of a batch, computed by named layers; each layer is applied once.

    Attributes:
        layers: The layers by name.
        losses: `(apply, examples) -> (batch,)`; everything but `apply(name, x)` is free of parameters.
    """

    layers: Mapping[str, Any]
    losses: Callable[[Apply, Tree], jax.Array]

    def init(self, key: Key, scale: float) -> dict[str, dict[str, jax.Array]]:
        """Parameters drawn from N(0, scale^2)."""
        shapes = {
            name: {part: jax.ShapeDtypeStruct(shape, jnp.float32) for part, shape in layer.shapes().items()}
            for name, layer in self.layers.items()
        }
        drawn: dict[str, dict[str, jax.Array]] = jax.tree.map(lambda z: scale * z, normal_like(key, shapes))
        return drawn

    def apply(self, parameters: Tree) -> Apply:
        """Apply layers with these parameters."""
        return lambda name, x: self.layers[name](parameters[name], x)

    def __call__(self, parameters: Tree, example: Tree) -> jax.Array:
        """The loss of one example."""
        batch = jax.tree.map(lambda leaf: leaf[None], example)
        return self.losses(self.apply(parameters), batch)[0]

    @property
    def size(self) -> int:
        """The number of parameters."""
        return size_of(self.layers)


def size_of(layers: Mapping[str, Layer]) -> int:
    """The number of parameters of some layers."""
    return sum(math.prod(shape) for layer in layers.values() for shape in layer.shapes().values())


def torch_init(layers: Mapping[str, Layer], key: Key) -> dict[str, dict[str, jax.Array]]:
    """Parameters uniform in +-1 / sqrt(fan_in), as PyTorch starts such layers."""

    def one(key: Key, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, jax.Array]:
        most = shapes["w"][0] ** -0.5
        keys = dict(zip(shapes, jax.random.split(key, len(shapes)), strict=True))
        return {part: jax.random.uniform(keys[part], shapes[part], minval=-most, maxval=most) for part in shapes}

    keys = jax.random.split(key, len(layers))
    return {name: one(own, layer.shapes()) for own, (name, layer) in zip(keys, layers.items(), strict=True)}


def patches(x: jax.Array, kernel: int, stride: int, padded: bool = True) -> jax.Array:
    """(batch, height, width, channels) -> (batch, new height, new width, kernel^2 channels).

    With padding the new height is height / stride, else that of the places at which a kernel fits.
    """
    before = (kernel - stride) // 2 if padded else 0
    after = kernel - stride - before if padded else 0
    whole = jnp.pad(x, ((0, 0), (before, after), (before, after), (0, 0)))
    height, width = (side - kernel + 1 for side in whole.shape[1:3])
    shifted = [
        whole[:, i : i + height : stride, j : j + width : stride] for i in range(kernel) for j in range(kernel)
    ]
    return jnp.concatenate(shifted, axis=-1)


def largest(x: jax.Array, window: int) -> jax.Array:
    """The largest value of every window of an image (max-pooling with stride 1): it has no parameters.

    First down the columns, then along the rows, by pairs: the gradient of one maximum over a stack takes sixty
    times as long on a CPU.
    """
    for axis in (1, 2):
        length = x.shape[axis] - window + 1
        shifted = [jax.lax.slice_in_dim(x, start, start + length, axis=axis) for start in range(window)]
        x = reduce(jnp.maximum, shifted)
    return x


def _positions(x: jax.Array) -> jax.Array:
    """(batch, ..., channels) -> (batch, positions, channels)."""
    return x.reshape(x.shape[0], -1, x.shape[-1])
