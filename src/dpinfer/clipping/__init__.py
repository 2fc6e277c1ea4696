"""Sums of gradients of any loss, each example's scaled down to a norm before it is added."""

from dpinfer.clipping.explain import explain
from dpinfer.clipping.sums import Clipped, clipped_grad, sensitivity

__all__ = ["Clipped", "clipped_grad", "explain", "sensitivity"]
