"""Metrics: one module for each, which bears the name used in settings and has `metric(model, draws, test)`."""
