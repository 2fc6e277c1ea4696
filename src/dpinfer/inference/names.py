"""Words that tell variants of algorithms apart, and plain values that they take; importing them imports no JAX."""

import math
from dataclasses import dataclass
from typing import Literal

OptimiserName = Literal["adam", "adam_half", "adagrad", "adagrad_window", "adagrad_reset", "rmsprop", "sgd"]
GradientOf = Literal["record", "batch", "data"]
"""Whose gradient an optimiser gets: a mean record's, the batch's, or the data's."""
Regulariser = Literal["shared", "apart"]
"""Whether records share prior and entropy, clip and noise included, or they stay apart."""
StepSizes = Literal["constant", "harmonic"]
"""harmonic: 1, 1/2, 1/3, ... until the step size is reached, then that."""
ProposalName = Literal["gaussian", "ball"]
"""How a chain moves numbers: by a normal draw, or by one from a ball, which bounds the move."""
ExactTest = Literal["barker", "metropolis"]
Schedule = Literal["synchronous", "sequential", "asynchronous"]
"""Who reports in a round: all clients; one after the other; or whoever is ready."""
ClipRule = Literal["fixed", "percentile", "quantile"]
"""The clip stays; is a percentile of the batch's own norms; or follows a quantile of them by noisy counts."""
NoiseAt = Literal["shared", "client", "server"]
"""Who adds noise: every client its share of one clip's worth; every client a clip's worth; or the server."""
Optimum = Literal["natural", "mean_field", "gradient"]
"""A client's optimum: by Eq. 4.12; the one that maximises its free energy; or the same by gradient ascent."""

THEOREM_2_VARIANCE = 2.0
"""The noise variance C for which Theorem 2 of DP-MCMC is stated."""
LOGISTIC_VARIANCE = math.pi**2 / 3


@dataclass(frozen=True, kw_only=True)
class ClientOptions:
    """What one client does otherwise than the others.

    Attributes:
        noise_factor: Its noise multiplier is that of all times this.
        clip: Its clip; by default that of all.
        expected_batch: Its batch; by default that of all.
    """

    noise_factor: float = 1.0
    clip: float | None = None
    expected_batch: int | None = None


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """How the correction of a normal variable to a logistic one is fitted.

    Attributes:
        variance: Variance C of the normal part.
        components: Components of the mixture, each of which has a mirror image.
        num_steps: Steps of Adam.
        learning_rate: Its step size.
        reach: Densities are compared on [-reach, reach].
        points: Evenly spaced points at which they are.
        patience: Stop after so many steps without a smaller loss; by default never.
    """

    variance: float = 2.0
    components: int = 50
    num_steps: int = 10_000
    learning_rate: float = 1e-2
    reach: float = 10.0
    points: int = 1000
    patience: int | None = None
