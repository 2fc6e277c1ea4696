"""Audits: lower bounds on the epsilon of mechanisms as they are run, to be held against what is claimed of them.

A case runs an algorithm of the library many times on each of two neighbouring data sets that are as telling as
neighbours can be, and sums up every run in one score. From how often the score passes a threshold on either
follows a bound on epsilon, which is wrong with a stated probability at most. A bound above an account refutes it;
one below proves nothing.
"""
