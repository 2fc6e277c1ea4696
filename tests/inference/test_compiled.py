from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.inference.compiled import hoisted


def scaled(factor: float) -> Any:
    captured = jnp.asarray(factor)
    return lambda tree: {"sum": captured * tree["x"].sum(), "x": tree["x"]}


def test_what_a_function_captures_becomes_an_argument() -> None:
    arguments = {"x": jnp.arange(3.0)}
    programs = [hoisted(scaled(factor), arguments) for factor in (2.0, 5.0)]
    for program, factor in zip(programs, (2.0, 5.0), strict=True):
        result = program(arguments)
        np.testing.assert_array_equal(result["sum"], factor * 3)
        np.testing.assert_array_equal(result["x"], arguments["x"])


def test_functions_that_differ_in_captured_numbers_have_one_program() -> None:
    def text(factor: float) -> str:
        closed = jax.make_jaxpr(scaled(factor))({"x": jnp.arange(3.0)})
        return str(closed.jaxpr)

    assert text(2.0) == text(5.0)
