"""Metrics of fits: one file a topic, which ends with its metrics by the names used in settings."""
