"""What is done for each parameter of a loss, in a table."""

from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.clipping.plan import ClippingPlan, Tap
from dpinfer.clipping.products import gram_is_smaller
from dpinfer.clipping.sums import FEW, planned
from dpinfer.tree import size
from dpinfer.types import Loss, Tree

HEADER = ("parameter", "shape", "rule", "held for each example")


def explain(loss: Loss, parameters: Tree, example: Tree) -> str:
    """How `clipped_grad` comes to norms and sums of gradients, by parameter: one line each.

    Args:
        loss: Scalar function of parameters and one example.
        parameters: Arrays, or shapes alone.
        example: One example, or its shapes; nothing is computed of it.
    """
    plan = planned(loss, parameters, jax.tree.map(_batch_of_one, example))
    named = jax.tree_util.tree_leaves_with_path(parameters)
    rows = [
        (jax.tree_util.keystr(path) or "the only one", str(tuple(leaf.shape)), *_rule(plan, number))
        for (path, leaf), number in zip(named, plan.leaves, strict=True)
    ]
    widths = [max(len(row[column]) for row in (HEADER, *rows)) for column in range(len(HEADER))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (HEADER, *rows)
    ]
    if size(parameters) <= FEW:
        lines.append(f"With at most {FEW} parameters, gradients are taken one by one, by vmap, all the same.")
    return "\n".join(lines)


def _batch_of_one(leaf: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((1, *jnp.shape(leaf)), jnp.result_type(leaf))


def _rule(plan: ClippingPlan, leaf: int) -> tuple[str, str]:
    """The rules of a parameter, and how many numbers each example holds for it."""
    if leaf in plan.opened:
        return "copy, of the parameter itself", f"{plan.program.size(leaf)} numbers"
    rules, held = list[str](), 0
    for tie in plan.ties:
        own = [plan.taps[number] for number in tie.taps if leaf in plan.origins[plan.taps[number].value]]
        for tap in own:
            kind = tap.equation.name + (f" in a loop of {tap.loops[0]}" if tap.loops else "")
            rules.append(f"product ({kind})")
            if tap.positions > 1 and not _by_gram(tap):
                held += tap.product.groups * tap.product.fan_in * tap.product.fan_out
        if len(own) > 1:
            rules.append("tied")
    for value in plan.copies:
        if leaf in plan.origins[value]:
            rules.append("copy")
            held += plan.program.size(value)
    if any(leaf in plan.origins[value] for value in plan.directions):
        rules.append("direction")
    return ", ".join(dict.fromkeys(rules)) or "not used", f"{held} numbers"


def _by_gram(tap: Tap) -> bool:
    return gram_is_smaller(tap.positions, tap.product.fan_in, tap.product.fan_out, tap.product.looks_up)
