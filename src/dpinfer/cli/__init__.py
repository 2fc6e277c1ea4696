"""The command line: `dpinfer <verb> ...`, one small module here for each verb.

A verb's module has `add_arguments(parser)` and `main(arguments)`, and prints its answer. `program` finds and runs
it; `values`, `options` and `show` are what verbs share; `tradeoff` is the picture of `advise`.
"""

from collections.abc import Sequence

from dpinfer.cli.program import CommandLine, launch

COMMANDS = {
    "epsilon": "bound the epsilon of a run",
    "noise": "find the least noise for a budget",
    "steps": "find the most steps for a budget",
    "rate": "find the largest sampling rate or batch for a budget",
    "accountants": "compare all accountants on one run",
    "barker": "bound the epsilon of a chain of Barker tests (DP-MCMC)",
    "fit": "fit your own NumPyro model to your own table, privately",
    "audit": "run the mechanisms on worst-case neighbours, and bound epsilon from below",
    "advise": "weigh privacy against noise for a data set, and see what an attacker gains",
}
ALIASES = {"own": "fit", "sigma": "noise"}
"""What verbs were called before."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command."""
    return launch(
        CommandLine(
            "dpinfer", "Differentially private Bayesian inference: noise, accounts, audits and fits.", COMMANDS,
            "dpinfer.cli", ALIASES,
        ),
        arguments,
    )  # fmt: skip
