"""Metrics: one module for each, which bears the name used in settings and has one of two functions.

`metric(key, model, sample, test)` is a scalar, where `sample(key)` draws parameters from one seed's approximate
posterior. `curve(key, model, trace, train, test)` has a number for each recording of a run, or several by name.
"""
