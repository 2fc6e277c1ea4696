"""What `clipped_grad` promises, however it is called."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from clipping.programs import LAYERS, examples, program
from dpinfer import clipped_grad, explain
from dpinfer.clipping import Clipped, sensitivity, sums
from dpinfer.errors import InputError

MADE = program(3, ["dense", "scaled", "attended", "tied"], looks_up=True, penalised=True)
BATCH = examples(4, 8)


@pytest.fixture(autouse=True)
def _by_plan(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Any:
    """However few parameters there are; and no loss may be clipped the slow way without a test saying so."""
    monkeypatch.setattr(sums, "FEW", 0)
    yield
    # Of the test itself: in its teardown, `caplog.text` would be empty.
    said = " ".join(record.getMessage() for record in caplog.get_records("call"))
    assert "could not be taken apart" not in said or "fallback" in said


def same(one: Any, other: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), one, other)


def test_without_a_clip_that_bites_it_is_the_gradient_of_the_sum() -> None:
    total = jax.grad(lambda own: jax.vmap(MADE.loss, in_axes=(None, 0))(own, BATCH).sum())(MADE.parameters)
    found = clipped_grad(MADE.loss, 1e6)(MADE.parameters, BATCH)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3), found, total)


def test_it_can_be_compiled_mapped_scanned_and_split_into_micro_batches() -> None:
    clipped = clipped_grad(MADE.loss, 0.5)
    expected = clipped(MADE.parameters, BATCH)
    same(jax.jit(clipped)(MADE.parameters, BATCH), expected)
    same(clipped_grad(MADE.loss, 0.5, micro_batch=3)(MADE.parameters, BATCH), expected)
    several = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), MADE.parameters)
    mapped = jax.vmap(clipped, in_axes=(0, None))(several, BATCH)
    same(jax.tree.map(lambda leaf: leaf[0], mapped), expected)
    same(
        jax.tree.map(lambda leaf: leaf[1], mapped),
        clipped(jax.tree.map(lambda leaf: 2 * leaf, MADE.parameters), BATCH),
    )
    scanned = jax.lax.scan(lambda at, _: (at, clipped(at, BATCH)), MADE.parameters, length=2)[1]
    same(jax.tree.map(lambda leaf: leaf[1], scanned), expected)


def test_numbers_of_64_bits_keep_their_digits() -> None:
    with jax.enable_x64(True):
        parameters, batch = jax.tree.map(
            lambda leaf: jnp.asarray(leaf, jnp.float64), (MADE.parameters, dict(BATCH))
        )
        batch |= {"i": BATCH["i"]}
        found = clipped_grad(MADE.loss, 0.5)(parameters, batch)
        assert {leaf.dtype for leaf in jax.tree.leaves(found)} == {np.dtype("float64")}
        theirs = sums.by_gradients(MADE.loss, parameters, 0.5)(batch, jnp.ones(8, bool)).total
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11), found, theirs)


def test_losses_and_norms_come_with_it_where_asked_for() -> None:
    found = clipped_grad(MADE.loss, 0.5, has_aux=True)(MADE.parameters, BATCH)
    assert isinstance(found, Clipped)
    gradients = jax.vmap(jax.grad(MADE.loss), in_axes=(None, 0))(MADE.parameters, BATCH)
    np.testing.assert_allclose(found.norms, jax.vmap(optax.tree.norm)(gradients), rtol=1e-3)
    np.testing.assert_allclose(
        found.losses, jax.vmap(MADE.loss, in_axes=(None, 0))(MADE.parameters, BATCH), rtol=1e-4
    )


def test_a_clip_for_each_block_bounds_each_block() -> None:
    parameters = {"first": MADE.parameters, "second": {"w": jnp.ones((4, 4)), "b": jnp.zeros(4)}}

    def loss(own: Any, example: Any) -> jax.Array:
        head = jnp.square(example["x"] @ own["second"]["w"] + own["second"]["b"]).sum()
        return (
            MADE.loss(own["first"], example) + head + 0.1 * sum(jnp.square(x).sum() for x in jax.tree.leaves(own))
        )

    clip = {"first": 0.5, "second": {"w": 0.2, "b": 2.0}}
    assert sensitivity(clip) == pytest.approx(math.hypot(0.5, 0.2, 2.0))
    found = clipped_grad(loss, clip, has_aux=True)(parameters, BATCH)
    theirs = sums.by_gradients(loss, parameters, clip)(BATCH, jnp.ones(8, bool))
    same(found.total, theirs.total)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3), found.norms, theirs.norms)


@pytest.mark.parametrize("layer", LAYERS)
def test_one_example_moves_the_sum_by_no_more_than_the_clip(layer: str) -> None:
    """Examples far beyond the clip, and a thousand times larger than others."""
    made = program(5, [layer, "dense"], looks_up=True, penalised=False)
    batch = examples(6, 4) | {"scale": jnp.full(4, 1e6)}
    clipped = jax.jit(clipped_grad(made.loss, 0.3))
    everyone = clipped(made.parameters, batch, jnp.ones(4, bool))
    for place in range(4):
        without = clipped(made.parameters, batch, jnp.arange(4) != place)
        moved = optax.tree.norm(jax.tree.map(jnp.subtract, everyone, without))
        assert 0.29 <= moved <= 0.3 * (1 + 1e-5)


def test_examples_that_are_masked_out_or_not_finite_count_nothing() -> None:
    mask = jnp.arange(8) != 3
    expected = clipped_grad(MADE.loss, 0.5)(MADE.parameters, BATCH, mask)
    everyone = jnp.ones(8, bool)
    for value, counted in ((jnp.nan, mask), (jnp.inf, mask), (3e38, mask), (jnp.nan, everyone)):
        spoilt = BATCH | {"x": BATCH["x"].at[3].set(value)}
        found = clipped_grad(MADE.loss, 0.5)(MADE.parameters, spoilt, counted)
        jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_an_operation_that_nobody_knows_becomes_a_copy() -> None:
    """As JAX may have one tomorrow."""
    twice = Primitive("twice_or_so")
    twice.def_impl(lambda x, y: 2 * x * y)
    twice.def_abstract_eval(lambda x, _: x)
    ad.primitive_jvps[twice] = lambda at, by: (twice.bind(*at), 2 * (at[0] * by[1] + at[1] * by[0]))

    def batched(args: Any, axes: Any) -> tuple[jax.Array, int]:
        along = [
            jnp.broadcast_to(own, (5, 4)) if axis is None else jnp.moveaxis(own, axis, 0)
            for own, axis in zip(args, axes, strict=True)
        ]
        return twice.bind(*along), 0

    batching.primitive_batchers[twice] = batched
    mlir.register_lowering(twice, mlir.lower_fun(lambda x, y: 2 * x * y, multiple_results=False))

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        return jnp.square(twice.bind(x @ parameters["w"], parameters["b"])).sum()

    parameters, xs = {"w": jnp.eye(4), "b": jnp.arange(1.0, 5.0)}, BATCH["x"][:5, 0]
    assert "copy" in explain(loss, parameters, xs[0])
    theirs = sums.by_gradients(loss, parameters, 1.0)(xs, jnp.ones(5, bool)).total
    same(clipped_grad(loss, 1.0)(parameters, xs), theirs)


def test_a_loss_that_cannot_be_taken_apart_is_clipped_one_by_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = clipped_grad(MADE.loss, 0.5)(MADE.parameters, BATCH)

    def changed(*_: Any) -> Any:
        raise KeyError("fallback: JAX writes programs down in another way")

    monkeypatch.setattr(sums, "planned", changed)
    same(clipped_grad(MADE.loss, 0.5)(MADE.parameters, BATCH), expected)
    assert "gradients are clipped one by one, as the loss could not be taken apart" in caplog.text


def test_examples_without_a_common_leading_axis_are_refused() -> None:
    with pytest.raises(
        InputError, match="the leaves of examples should share a leading axis, but theirs are 5, 8"
    ):
        clipped_grad(MADE.loss, 0.5)(MADE.parameters, BATCH | {"x": BATCH["x"][:5]})


@pytest.mark.parametrize("clip", [0.0, -1.0, math.inf, math.nan, 1e-20])
def test_clips_that_cannot_be_enforced_are_refused(clip: float) -> None:
    with pytest.raises(InputError, match="the clip is"):
        clipped_grad(MADE.loss, clip)


@pytest.mark.parametrize("kind", [jnp.bfloat16, jnp.float16])
def test_a_loss_in_fewer_digits_is_clipped_in_all_of_them(kind: Any) -> None:
    """Parameters are 32-bit numbers, and the network computes with 16, as for speed on GPUs."""

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        low = jax.tree.map(lambda leaf: leaf.astype(kind), parameters)
        h = jnp.tanh(x.astype(kind) @ low["w"].T + low["b"])
        return jnp.square((h @ low["w"]).astype(jnp.float32)).sum()

    parameters = {"w": jax.random.normal(jax.random.key(0), (40, 40)), "b": jnp.ones(40)}
    xs = 30 * jax.random.normal(jax.random.key(1), (64, 40))
    clipped = clipped_grad(loss, 1.0)
    for place in range(3):
        one = clipped(parameters, xs[place : place + 1])
        assert 1 - 1e-2 <= optax.tree.norm(one) <= 1 + 1e-5
    apart = jax.tree.map(jnp.subtract, clipped(parameters, xs), clipped(parameters, xs, jnp.arange(64) != 5))
    # What is left is the rounding of a sum of 64 in 32 bits, not in 16.
    assert optax.tree.norm(apart) <= 1 + 1e-4


def test_parameters_of_16_bits_are_refused() -> None:
    low = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), MADE.parameters)
    with pytest.raises(InputError, match="the parameters hold bfloat16"):
        clipped_grad(MADE.loss, 0.5)(low, BATCH)


def test_a_derivative_of_ones_own_that_mixes_numbers_is_not_taken_for_one_number_by_number() -> None:
    @jax.custom_jvp
    def plain(w: jax.Array) -> jax.Array:
        return 1.0 * w

    @plain.defjvp
    def _(at: Any, by: Any) -> Any:
        return 1.0 * at[0], jnp.full_like(by[0], 3.0) * by[0].sum()

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        return jnp.square(x @ plain(parameters)).sum()

    parameters, xs = jnp.ones((4, 4)), BATCH["x"][:, 0]
    theirs = sums.by_gradients(loss, parameters, 1.0)(xs, jnp.ones(8, bool)).total
    same(clipped_grad(loss, 1.0)(parameters, xs), theirs)


def test_penalties_one_by_one_need_no_copies() -> None:
    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        found = jnp.square(jnp.tanh(x @ parameters["a"]) @ parameters["b"]).sum()
        for own in parameters.values():
            found = found + 0.1 * jnp.square(own).sum()
        return found

    parameters = {name: jax.random.normal(jax.random.key(ord(name)), (40, 40)) for name in "ab"}
    xs = jax.random.normal(jax.random.key(0), (8, 40))
    assert "copy" not in explain(loss, parameters, xs[0])
    for clip in (1.0, 1e6):
        theirs = sums.by_gradients(loss, parameters, clip)(xs, jnp.ones(8, bool)).total
        same(clipped_grad(loss, clip)(parameters, xs), theirs)
