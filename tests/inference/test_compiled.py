import subprocess
import sys
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

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


COMPILED = """
import jax, jax.numpy as jnp, sys
sys.path.insert(0, sys.argv[1])
from test_compiled import scaled
from dpinfer.inference.compiled import hoisted
jax.config.update("jax_compilation_cache_dir", sys.argv[2])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
arguments = {"x": jnp.arange(3.0)}
make = hoisted if sys.argv[3] == "hoisted" else lambda function, like: jax.jit(function)
for factor in (2.0, 5.0):
    make(scaled(factor), arguments)(arguments)
"""


@pytest.mark.parametrize(("how", "programs"), [("hoisted", 1), ("plain", 2)])
def test_functions_that_differ_in_captured_numbers_are_compiled_once(
    how: str, programs: int, tmp_path: Path
) -> None:
    folder = str(Path(__file__).parent)
    subprocess.run([sys.executable, "-c", COMPILED, folder, str(tmp_path), how], check=True)
    names = [path.name for path in tmp_path.iterdir() if path.name.endswith("-cache")]
    # JAX calls a program by its function: `hoisted` names its own, a plain one is a lambda.
    assert len([name for name in names if "program" in name or "lambda" in name]) == programs
