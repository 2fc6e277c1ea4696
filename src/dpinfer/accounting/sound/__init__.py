"""Accountants whose epsilon may be called a guarantee, and what they are computed from.

A module belongs here if every value that it returns by its defaults is a proved bound, for the sampler and the
adjacency that it takes; what it cannot bound it refuses. What an option repeats of a paper without a proof is
said to be so where the option is described.
"""
