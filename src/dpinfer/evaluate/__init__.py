"""Metrics: one module for each, which bears the name used in settings and has `metric(key, model, sample, test)`.

`sample(key)` draws parameters from one seed's approximate posterior; the result is a scalar.
"""
