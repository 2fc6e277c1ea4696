"""What a guarantee leaves to an attacker who wants to tell a data set from its neighbour.

If delta(epsilon) bounds the privacy profile of both orders of every adjacent pair, then no test with false
positive rate a has a true positive rate above
    min over epsilon >= 0 of  e^epsilon a + delta(epsilon)  and  1 - e^-epsilon (1 - delta(epsilon) - a)
(one minus the trade-off function of a guarantee; Dong, Roth & Su, Section 2, arXiv:1905.02383v3). Every
epsilon gives a valid bound, so a coarse mesh is loose, never wrong. By Bayes' rule an accusation by such a
test multiplies the odds by at most its true over its false positive rate.
"""

import math
from collections.abc import Callable

FALSE_POSITIVE_RATES = (0.001, 0.01, 0.1)
# Beyond this epsilon even the smallest of the rates is blown up to one.
_MOST_EPSILON = -math.log(min(FALSE_POSITIVE_RATES))
_POINTS = 13

Profile = list[tuple[float, float]]


def profile(delta_at: Callable[[float], float], most: float) -> Profile:
    """Return (epsilon, delta) on a mesh from 0 to `most`, or to where larger epsilons tell no more."""
    end = min(most, _MOST_EPSILON)
    return [(epsilon, delta_at(epsilon)) for epsilon in (end * k / (_POINTS - 1) for k in range(_POINTS))]


def true_positive_rate(points: Profile, false_positive_rate: float) -> float:
    """Return the largest true positive rate that a profile leaves to a test of that false positive rate."""
    best = 1.0
    for epsilon, delta in points:
        accuse = math.exp(epsilon) * false_positive_rate + delta
        acquit = 1.0 - math.exp(-epsilon) * (1.0 - delta - false_positive_rate)
        best = min(best, accuse, acquit)
    return best
