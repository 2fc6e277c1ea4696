"""Algorithms: one module for each, which has `build`."""
