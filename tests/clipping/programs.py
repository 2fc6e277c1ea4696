"""Random losses of one example, made of all that the rules of clipping know, and of some that they do not."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

T, D = 3, 4
"""An example is T vectors of D numbers, and T whole numbers below D."""
CONVOLUTION = ("NWC", "WIO", "NWC")
Layer = Callable[["Maker", Any, jax.Array], jax.Array]


class Program(NamedTuple):
    """A loss, parameters for it, and a name that tells what it is made of."""

    loss: Callable[[Any, Any], jax.Array]
    parameters: dict[str, jax.Array]
    name: str


class Maker:
    """Hands parameters to layers: new ones while shapes are looked for, and the given ones afterwards."""

    def __init__(self, seed: int, parameters: dict[str, jax.Array] | None = None) -> None:
        self.seed, self.given, self.made = seed, parameters, dict[str, jax.Array]()

    def __call__(self, *shape: int) -> jax.Array:
        name = f"p{len(self.made):02d}"
        drawn = 0.5 * np.random.default_rng((self.seed, len(self.made))).normal(size=shape).astype(np.float32)
        self.made[name] = jnp.asarray(drawn) if self.given is None else self.given[name]
        return self.made[name]

    def again(self) -> jax.Array | None:
        """A square matrix that has been used before."""
        return next((own for own in self.made.values() if own.shape == (D, D)), None)


def constant(seed: int, *shape: int) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), jnp.float32)


@jax.custom_jvp
def halved(x: jax.Array, y: jax.Array) -> jax.Array:
    return x * y


@halved.defjvp
def _(primals: Any, tangents: Any) -> Any:
    """A derivative of its own, half of the true one: only who keeps it gets the right sum."""
    (x, y), (dx, dy) = primals, tangents
    return x * y, 0.5 * (x * dy + y * dx)


def scanned(make: Maker, h: jax.Array) -> jax.Array:
    recurrent, inputs, bias = make(D, D), make(D, D), make(D)

    def one(state: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        new = jnp.tanh(state @ recurrent + x @ jnp.exp(0.3 * inputs) + bias)
        return new, new

    return jax.lax.scan(one, jnp.zeros(D), h, unroll=1)[1]


def nested(make: Maker, h: jax.Array) -> jax.Array:
    w = make(D, D)

    def outer(total: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        inner = jax.lax.scan(lambda s, _: (jnp.sin(s @ w), None), x, length=2)[0]
        return total + inner, inner

    last, rows = jax.lax.scan(outer, jnp.zeros(D), h)
    return rows + last


def layers_scanned(make: Maker, h: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), h, make(2, D, D))[0]


def normalised(make: Maker, h: jax.Array) -> jax.Array:
    unit = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-3)
    return unit * make(D) + make(D)


def convolved(make: Maker, h: jax.Array) -> jax.Array:
    made = jax.lax.conv_general_dilated(
        h[None], make(2, D // 2, D), (1,), [(1, 1)], rhs_dilation=(2,), feature_group_count=2,
        dimension_numbers=CONVOLUTION,
    )  # fmt: skip
    return made[0]


def strided(make: Maker, h: jax.Array) -> jax.Array:
    made = jax.lax.conv_general_dilated(
        h[None], make(3, D, 2), (2,), [(1, 1)], lhs_dilation=(2,), dimension_numbers=CONVOLUTION
    )
    return jnp.tile(made[0], (1, 2))[:T]


def attended(make: Maker, h: jax.Array) -> jax.Array:
    queries, keys, values = (jnp.einsum("td,dhk->thk", h, make(D, 2, 2)) for _ in range(3))
    weights = jax.nn.softmax(jnp.einsum("thk,shk->hts", queries, keys))
    return jnp.einsum("hts,shk,hkd->td", weights, values, make(2, 2, D))


def drawn(make: Maker, h: jax.Array) -> jax.Array:
    weights = make(D, D) + jax.nn.softplus(make(D, D)) * constant(7, D, D)
    return h @ weights + make(D) * constant(8, D)


def packed(make: Maker, h: jax.Array) -> jax.Array:
    flat = make(D * D + D + 3)
    return h @ flat[: D * D].reshape(D, D).T + flat[D * D : D * D + D]


def joined(make: Maker, h: jax.Array) -> jax.Array:
    return h @ jnp.concatenate([make(D, 1), -make(D, D - 1)], axis=1)


def tied(make: Maker, h: jax.Array) -> jax.Array:
    again = make.again()
    return h if again is None else jnp.tanh(h @ again.T)


def used_otherwise(make: Maker, h: jax.Array) -> jax.Array:
    again = make.again()
    return h if again is None else h * again[:T] + again.sum()


def branched(make: Maker, h: jax.Array) -> jax.Array:
    scale = make(D)
    return jax.lax.cond(h.sum() > 0, lambda: h * scale, lambda: jnp.sin(h - scale))


def chosen(make: Maker, h: jax.Array) -> jax.Array:
    return jnp.where(h > 0, make(D), h * make(1))


LAYERS: dict[str, Callable[[Maker, jax.Array], jax.Array]] = {
    "dense": lambda make, h: jnp.tanh(h @ make(D, D) + make(D)),
    "from the left": lambda make, h: make(T, T) @ h,
    "by position": lambda make, h: jnp.einsum("td,tdk->tk", h, make(T, D, D)),
    "both sides": lambda make, h: jnp.einsum("td,dts->sd", h, make(D, T, T)),
    "scaled": lambda make, h: h * make(D) + make(T, 1),
    "one number": lambda make, h: h * make() + make(),
    "positive": lambda make, h: h @ jax.nn.softplus(make(D, D)) / jnp.exp(make(D)),
    "normalised": normalised,
    "convolved": convolved,
    "strided": strided,
    "attended": attended,
    "drawn": drawn,
    "packed": packed,
    "joined": joined,
    "tied": tied,
    "used otherwise": used_otherwise,
    "scanned": scanned,
    "nested": nested,
    "layers scanned": layers_scanned,
    "branched": branched,
    "chosen": chosen,
    "own derivative": lambda make, h: halved(h, make(T, D)),
    "mixed first": lambda make, h: h @ (make(D, 2) @ make(2, D)) + jnp.sort(make(D)),
    "unit length": lambda make, h: h @ (lambda w: w / jnp.linalg.norm(w, axis=0))(make(D, D)),
    "compiled": lambda make, h: jax.jit(lambda x, w: jnp.sin(x @ w))(h, make(D, D)),
    "remembered": lambda make, h: jax.checkpoint(lambda x, w: jnp.cos(x @ w) * x)(h, make(D, D)),
    "without parameters": lambda _, h: jax.nn.gelu(h) + jnp.roll(h, 1, 0),
}  # fmt: skip


def program(seed: int, names: list[str], looks_up: bool, penalised: bool) -> Program:
    """The loss that applies these layers to an example `{"x": (T, D), "i": (T,), "scale": ()}`."""

    def applied(make: Maker, example: Any) -> jax.Array:
        h = example["x"]
        if looks_up:
            h = (
                h
                + make(D, D)[example["i"]]
                + jnp.take(make(D + 2, D), example["i"] - 2, axis=0, mode="fill", fill_value=0)
            )
        for name in names:
            h = LAYERS[name](make, h)
        return h

    def loss(parameters: dict[str, jax.Array], example: Any) -> jax.Array:
        found = example["scale"] * jnp.square(applied(Maker(seed, parameters), example) - 1).sum()
        if penalised:
            found = found + 0.1 * sum(jnp.square(own).sum() for own in parameters.values())
        return found

    making = Maker(seed)
    applied(making, {"x": jnp.ones((T, D)), "i": jnp.zeros(T, int)})
    return Program(loss, making.made, " > ".join(names))


def examples(seed: int, size: int) -> dict[str, jax.Array]:
    """Some whose gradients are zero, tiny or huge among them."""
    random = np.random.default_rng(seed)
    scales = random.permutation(np.resize([1.0, 0.0, 1.0, 1e-3, 1e3], size))
    return {
        "x": jnp.asarray(random.normal(size=(size, T, D)), jnp.float32),
        "i": jnp.asarray(random.integers(0, D, (size, T))),
        "scale": jnp.asarray(scales, jnp.float32),
    }
