"""The functions that the papers' networks are made of, in plain JAX, and what their parameters start from.

The parameters of each are `{"w": ..., "b": ...}`. Images are (..., height, width, channels).
"""

from collections.abc import Mapping
from functools import partial, reduce

import jax
import jax.numpy as jnp

from dpinfer.tree import normal_like
from dpinfer.types import Key, Tree

Shapes = dict[str, tuple[int, ...]]
"""Of the parameters of a layer, `w` (fan_in, fan_out) and `b` (channels,)."""


def dense_shapes(inputs: int, outputs: int) -> Shapes:
    """Of the parameters of `dense`."""
    return {"w": (inputs, outputs), "b": (outputs,)}


def dense(parameters: Tree, x: jax.Array) -> jax.Array:
    """An affine map of the last axis."""
    return x @ parameters["w"] + parameters["b"]


def convolution_shapes(inputs: int, outputs: int, kernel: int = 4) -> Shapes:
    """Of the parameters of `convolution`."""
    return {"w": (kernel**2 * inputs, outputs), "b": (outputs,)}


def convolution(
    parameters: Tree, x: jax.Array, kernel: int = 4, stride: int = 2, padded: bool = True
) -> jax.Array:
    """A convolution, by patches and one product.

    Padded ("same"), it divides height and width by its stride; else ("valid") its kernel stays within the image.
    XLA's own gradients of strided convolutions are several times slower on CPUs.
    """
    return dense(parameters, patches(x, kernel, stride, padded))


def transposed_shapes(inputs: int, outputs: int, kernel: int = 4) -> Shapes:
    """Of the parameters of `transposed`."""
    return {"w": (inputs, kernel**2 * outputs), "b": (outputs,)}


def transposed(parameters: Tree, x: jax.Array, kernel: int = 4, stride: int = 2) -> jax.Array:
    """The transpose of a padded convolution: it multiplies height and width by its stride."""
    *before, height, width, _ = x.shape
    shape = (*before, height * stride, width * stride, *parameters["b"].shape)
    # Taking patches is linear; its transpose adds them up where they overlap.
    take = partial(patches, kernel=kernel, stride=stride)
    spread = jax.linear_transpose(take, jax.ShapeDtypeStruct(shape, x.dtype))
    return spread(x @ parameters["w"])[0] + parameters["b"]


def patches(x: jax.Array, kernel: int, stride: int, padded: bool = True) -> jax.Array:
    """(..., height, width, channels) -> (..., new height, new width, kernel^2 channels).

    With padding the new height is height / stride, else that of the places at which a kernel fits.
    """
    before = (kernel - stride) // 2 if padded else 0
    after = kernel - stride - before if padded else 0
    around = [(0, 0)] * (x.ndim - 3)
    whole = jnp.pad(x, (*around, (before, after), (before, after), (0, 0)))
    height, width = (side - kernel + 1 for side in whole.shape[-3:-1])
    shifted = [
        whole[..., i : i + height : stride, j : j + width : stride, :]
        for i in range(kernel)
        for j in range(kernel)
    ]
    return jnp.concatenate(shifted, axis=-1)


def largest(x: jax.Array, window: int) -> jax.Array:
    """The largest value of every window of an image (max-pooling with stride 1).

    First down the columns, then along the rows, by pairs: the gradient of one maximum over a stack takes sixty
    times as long on a CPU.
    """
    for axis in (-3, -2):
        length = x.shape[axis] - window + 1
        shifted = [jax.lax.slice_in_dim(x, start, start + length, axis=axis) for start in range(window)]
        x = reduce(jnp.maximum, shifted)
    return x


def normal_start(shapes: Mapping[str, Shapes], key: Key, scale: float) -> dict[str, dict[str, jax.Array]]:
    """Parameters drawn from N(0, scale^2)."""
    like = {
        name: {part: jax.ShapeDtypeStruct(shape, jnp.float32) for part, shape in own.items()}
        for name, own in shapes.items()
    }
    drawn: dict[str, dict[str, jax.Array]] = jax.tree.map(lambda z: scale * z, normal_like(key, like))
    return drawn


def torch_start(shapes: Mapping[str, Shapes], key: Key) -> dict[str, dict[str, jax.Array]]:
    """Parameters uniform in +-1 / sqrt(fan_in), as PyTorch starts such layers."""

    def one(key: Key, own: Shapes) -> dict[str, jax.Array]:
        most = own["w"][0] ** -0.5
        keys = dict(zip(own, jax.random.split(key, len(own)), strict=True))
        return {part: jax.random.uniform(keys[part], own[part], minval=-most, maxval=most) for part in own}

    keys = jax.random.split(key, len(shapes))
    return {name: one(own, shape) for own, (name, shape) in zip(keys, shapes.items(), strict=True)}
