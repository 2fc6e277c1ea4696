"""Accountants that papers state, or that estimate: kept to compare with, and no guarantee.

A module belongs here if a value of it may be smaller than what a run reveals: a formula used beyond its proof, or
an estimate without an error bound. No module of `sound` imports one of these.
"""
