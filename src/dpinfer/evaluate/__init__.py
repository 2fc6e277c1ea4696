"""Metrics: one module for each, which bears the name used in settings and has `metric(key, model, sample, test)`.

`sample(key)` draws parameters from one seed's approximate posterior; the result is a scalar. Others have `curve`,
for numbers along a run, or `spread` and `places`, for numbers at several places (see `dpinfer.stages.evaluate`).
"""
