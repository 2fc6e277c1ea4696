"""Programs over seeds: one for all repetitions, spread over devices, shared by cells that differ in numbers."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as Spec

from dpinfer.types import Key

SIDE_BY_SIDE = 1 << 20
"""Bytes of one seed's state up to which the seeds of a device run side by side."""


def spread(keys: Key) -> tuple[Mesh, Key]:
    """Place the seeds on all devices, padded to equal shares by repeating the first."""
    devices = jax.devices()
    seeds = keys.shape[0]
    mesh = Mesh(np.array(devices[:seeds]), ("seed",))
    padded = jnp.concatenate([keys, jnp.repeat(keys[:1], -seeds % mesh.size, axis=0)])
    return mesh, jax.device_put(padded, NamedSharding(mesh, Spec("seed")))


def over_seeds(mesh: Mesh, function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Compile a function of (per seed, shared, ...) for all seeds: a loop of its own on every device.

    The seeds of a device run side by side, or, where they are large, one after the other: products of matrices
    that fill the cores alone are slower in batches.

    Args:
        mesh: The devices.
        function: Of one seed.
        arguments: What it will be called with, or the like; the first has a leading axis of seeds.
    """
    shared = len(arguments) - 1

    def mapped(own: Any, *others: Any) -> Any:
        if _bytes(arguments[0]) > SIDE_BY_SIDE:
            return jax.lax.map(lambda seed: function(seed, *others), own)
        return jax.vmap(function, in_axes=(0, *(None,) * shared))(own, *others)

    specs = (Spec("seed"), *(Spec(),) * shared)
    return hoisted(
        jax.shard_map(mapped, mesh=mesh, in_specs=specs, out_specs=Spec("seed"), check_vma=False), *arguments
    )


def _bytes(per_seed: Any) -> int:
    """The size of one seed's part of a tree."""
    return sum(math.prod(leaf.shape[1:]) * leaf.dtype.itemsize for leaf in jax.tree.leaves(per_seed))


def hoisted(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Compile a function with the arrays that it captures as arguments.

    JAX writes captured arrays into a program as constants. Here the noise, for one, is such an array: as an
    argument, it leaves the program the same for all cells of a grid, so that JAX's cache has it compiled once.
    """
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
    structure = jax.tree.structure(shapes)

    @jax.jit
    def program(captured: list[jax.Array], *arguments: Any) -> Any:
        results = jaxpr_as_fun(ClosedJaxpr(closed.jaxpr, captured))(*jax.tree.leaves(arguments))
        return jax.tree.unflatten(structure, results)

    return lambda *arguments: program(closed.consts, *arguments)
