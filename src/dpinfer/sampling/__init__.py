"""Minibatch samplers: which records a step sees, at a cost that does not depend on how many there are."""
