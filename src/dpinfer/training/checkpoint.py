"""States of training in a file, from which a run goes on bit for bit."""

import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.atomic import UNREADABLE, from_json, replacing, to_json
from dpinfer.errors import InputError
from dpinfer.random.chacha import CHACHA20, NAME
from dpinfer.training.state import State, is_traced
from dpinfer.types import Key, Tree

FORMAT = "dpinfer.training 1"


def write(path: Path, state: State, settings: dict[str, Any]) -> None:
    """Write a state with the settings that it belongs to; nobody else may read the file."""
    if is_traced(state):
        raise InputError("a state can be saved outside of jit, vmap and scan alone")
    about = {"format": FORMAT, "settings": settings, "generator": str(jax.random.key_impl(state.key))}
    numbers = {name: np.asarray(getattr(state, name)) for name in ("step", "granted", "owner")}
    leaves = {
        f"{name}{place}": _bits(leaf)
        for name in ("parameters", "memory")
        for place, leaf in enumerate(jax.tree.leaves(getattr(state, name)))
    }
    with replacing(path) as temporary:
        # Made so that nobody else could ever open it.
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            np.savez(file, allow_pickle=False, about=to_json(about), key=_bits(state.key), **numbers, **leaves)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o600)


def read(path: Path, parameters: Tree, memory: Any, settings: dict[str, Any]) -> State:
    """Read a state, refusing what is no state of these settings, or of parameters of other shapes.

    Args:
        path: The file.
        parameters: Shapes of the parameters of one run.
        memory: Shapes of the optimiser's memory.
        settings: Those of the optimiser that goes on.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
        about = from_json(str(stored["about"]))
        kind, written, implementation = about["format"], about["settings"], about["generator"]
        numbers = {name: jnp.asarray(stored[name]) for name in ("step", "granted", "owner")}
        key = _key(stored["key"], implementation)
    except UNREADABLE as error:
        raise InputError(f"{path} cannot be read as a checkpoint of training: {error}") from error
    if kind != FORMAT:
        raise InputError(f"{path} is a checkpoint of the kind {kind!r}, but should be of {FORMAT!r}")
    _require_settings(path, written, settings)
    runs = numbers["step"].shape
    trees = {
        name: _tree(path, name, like, runs, stored)
        for name, like in (("parameters", parameters), ("memory", memory))
    }
    return State(**trees, key=key, **numbers)


def _require_settings(path: Path, found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if found.get(name) != value:
            raise InputError(
                f"{path} is of an optimiser with other settings: {name} is {found.get(name)} there, {value} here"
            )


def _tree(path: Path, name: str, like: Tree, runs: tuple[int, ...], stored: dict[str, np.ndarray]) -> Tree:
    """The stored leaves in the structure of `like`, each with the axes of several runs in front."""
    leaves, structure = jax.tree.flatten(like)
    count = sum(own.removeprefix(name).isdigit() for own in stored)
    if count != len(leaves):
        raise InputError(f"{path} holds {count} arrays of {name}, but {len(leaves)} are expected")
    return jax.tree.unflatten(
        structure,
        [_leaf(f"{path}: {name}", leaf, runs, stored[f"{name}{place}"]) for place, leaf in enumerate(leaves)],
    )


def _leaf(what: str, like: jax.ShapeDtypeStruct, runs: tuple[int, ...], bits: np.ndarray) -> jax.Array:
    if jnp.issubdtype(like.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(
            jnp.asarray(bits), impl=jax.random.key_impl(jnp.empty(like.shape, like.dtype))
        )
    width = np.dtype(like.dtype).itemsize
    if bits.dtype.itemsize != width or bits.shape != (*runs, *like.shape):
        raise InputError(
            f"{what} holds an array of shape {bits.shape} with {8 * bits.dtype.itemsize} bits a number, but "
            f"{(*runs, *like.shape)} with {8 * width} bits is expected"
        )
    return jnp.asarray(bits.view(like.dtype) if bits.dtype != like.dtype else bits)


def _bits(leaf: jax.Array) -> np.ndarray:
    """An array as NumPy's files can hold it: types that are not NumPy's own as bare bits."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return np.asarray(jax.random.key_data(leaf))
    value = np.asarray(leaf)
    return value if value.dtype.isbuiltin else value.view(f"u{value.dtype.itemsize}")


def _key(words: np.ndarray, implementation: str) -> Key:
    kind: Any = CHACHA20 if implementation == NAME else implementation
    return jax.random.wrap_key_data(jnp.asarray(words), impl=kind)
