import jax
import numpy as np
import pytest
from jax import lax

from dpinfer.models.layers import convolution, convolution_shapes, normal_start, transposed, transposed_shapes

IMAGES = ("NHWC", "HWIO", "NHWC")


@pytest.mark.parametrize(("kernel", "stride"), [(4, 2), (3, 1), (5, 1), (2, 2)])
def test_a_convolution_is_that_of_jax(kernel: int, stride: int) -> None:
    parameters = normal_start({"own": convolution_shapes(3, 4, kernel)}, jax.random.key(0), 1.0)["own"]
    x = jax.random.normal(jax.random.key(1), (2, 8, 8, 3))
    weights = parameters["w"].reshape(kernel, kernel, 3, 4)
    expected = lax.conv_general_dilated(x, weights, (stride, stride), "SAME", dimension_numbers=IMAGES)
    np.testing.assert_allclose(convolution(parameters, x, kernel, stride), expected + parameters["b"], atol=1e-4)


def test_a_transposed_convolution_is_that_of_jax() -> None:
    parameters = normal_start({"own": transposed_shapes(3, 4)}, jax.random.key(0), 1.0)["own"]
    x = jax.random.normal(jax.random.key(1), (2, 5, 5, 3))
    weights = parameters["w"].reshape(3, 4, 4, 4).transpose(1, 2, 0, 3)[::-1, ::-1]
    expected = lax.conv_transpose(x, weights, (2, 2), "SAME", dimension_numbers=IMAGES)
    np.testing.assert_allclose(transposed(parameters, x), expected + parameters["b"], atol=1e-4)
