"""What a guarantee means for an attacker who wants to know whether, or with which value, a record is in.

If delta(epsilon) bounds the privacy profile of both orders of every adjacent pair, then no test with false
positive rate a has a true positive rate above
    min over epsilon >= 0 of  e^epsilon a + delta(epsilon)  and  1 - e^-epsilon (1 - delta(epsilon) - a)
(Dong, Roth & Su, Proposition 2.12, arXiv:1905.02383v3, the trade-off function of a profile). Every epsilon
gives a valid bound, so a coarse mesh is loose, never wrong. By Bayes' rule the odds of an attacker who
accuses with such a test grow by at most the true over the false positive rate.
"""

import math
from collections.abc import Callable, Sequence

FALSE_POSITIVE_RATES = (0.001, 0.01, 0.1)
# Beyond this epsilon even the smallest rate above is blown up to one.
MOST_EPSILON = -math.log(min(FALSE_POSITIVE_RATES))
_POINTS = 24

Profile = Sequence[tuple[float, float]]


def profile(delta_at: Callable[[float], float], most: float) -> Profile:
    """Return (epsilon, delta) on a mesh from 0 to `most`, or to where larger epsilons tell nothing."""
    end = min(most, MOST_EPSILON)
    mesh = [end * k / (_POINTS - 1) for k in range(_POINTS)]
    return [(epsilon, delta_at(epsilon)) for epsilon in mesh]


def true_positive_rate(points: Profile, false_positive_rate: float) -> float:
    """Return the best true positive rate that a profile leaves to a test with a given false positive rate."""
    best = 1.0
    for epsilon, delta in points:
        accuse = math.exp(epsilon) * false_positive_rate + delta
        acquit = 1.0 - math.exp(-epsilon) * (1.0 - delta - false_positive_rate)
        best = min(best, accuse, acquit)
    return best


def posterior_odds(prior: float, true_positive_rate: float, false_positive_rate: float) -> float:
    """Return the largest odds after an accusation, from the odds before it."""
    return prior * true_positive_rate / false_positive_rate
