"""The setting that most commands share: declared once, checked once, turned into an event and a bound."""

import argparse
import dataclasses
from dataclasses import dataclass
from typing import Any

from dpinfer.accounting import accountant
from dpinfer.accounting.base import Bound
from dpinfer.accounting.events import (
    ADJACENCIES,
    Adjacency,
    Event,
    Gaussian,
    PoissonGaussian,
    Repeat,
    SubsetGaussian,
)
from dpinfer.cli import values
from dpinfer.errors import InputError

SAMPLERS = ("full", "poisson", "subset")
ACCOUNTANTS = ("pld", "fourier", "rdp", "moments", "advanced", "wang", "gaussian")
WITH_ORDERS = ("rdp", "moments", "wang")
# Share of a budget that calibration may leave unspent: an answer of five digits deserves no more.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Setting:
    """Repeated noisy sums of clipped records, the budget's delta, and who accounts for them."""

    sampler: str
    adjacency: Adjacency
    accountant: str
    delta: float
    noise_multiplier: float
    num_steps: int
    sampling_rate: float | None = None
    max_order: int | None = None

    def event(self, **changes: Any) -> Event:
        """What the steps release, after changing some fields."""
        setting = dataclasses.replace(self, **changes)
        return Repeat(_one(setting), setting.num_steps)

    def options(self) -> dict[str, Any]:
        """What the accountant takes besides event, delta and adjacency."""
        return {} if self.max_order is None else capped(self.accountant, self.max_order)

    def bound(self, with_lower: bool = True, **changes: Any) -> Bound:
        """The accountant's answer after changing some fields, with a lower bound where it can give one."""
        options = self.options()
        if self.accountant == "pld":
            options["with_lower"] = with_lower
        module: Any = accountant(self.accountant)
        found: Bound = module.epsilon(self.event(**changes), self.delta, self.adjacency, **options)
        return found

    def describe(self, bound: Bound) -> dict[str, Any]:
        """The answer as plain data."""
        return {
            "epsilon": bound.upper,
            "epsilon_lower": bound.lower,
            "accountant": bound.accountant,
            "delta": self.delta,
            "adjacency": self.adjacency,
            "sampler": self.sampler,
            "detail": bound.detail,
        }


def add_setting(parser: argparse.ArgumentParser, sought: str = "", samplers: tuple[str, ...] = SAMPLERS) -> None:
    """Declare what describes a run, without the quantity that the command is to find."""
    add_neighbours(parser, samplers)
    if sought != "sampling_rate":
        parser.add_argument(
            "--sampling-rate",
            type=values.rate,
            metavar="Q",
            help="share of the records in a batch, for the samplers poisson and subset",
        )
    if sought != "noise_multiplier":
        parser.add_argument(
            "--noise-multiplier",
            type=values.noise,
            required=True,
            metavar="S",
            help="standard deviation of the noise over the clip of one record",
        )
    if sought != "num_steps":
        parser.add_argument("--steps", type=values.count, required=True, metavar="T", help="number of steps")
    parser.add_argument("--delta", type=values.delta, required=True, metavar="D", help="delta of the guarantee")


def add_neighbours(parser: argparse.ArgumentParser, samplers: tuple[str, ...] = SAMPLERS) -> None:
    """Declare how batches are drawn and what a neighbouring data set is."""
    parser.add_argument(
        "--sampler",
        choices=samplers,
        default="poisson",
        help="poisson: every record by its own coin; subset: a fixed number without replacement; "
        "full: all records (default: poisson)",
    )
    parser.add_argument(
        "--adjacency",
        choices=ADJACENCIES,
        default="add-remove",
        help="neighbouring data sets differ by one record more, or in one record's value (default: add-remove)",
    )


def add_target(parser: argparse.ArgumentParser) -> None:
    """Declare the budget of a command that looks for the setting that keeps it."""
    parser.add_argument("--epsilon", type=values.positive, required=True, metavar="E", help="the budget")


def add_accountant(parser: argparse.ArgumentParser) -> None:
    """Declare the accountant and its orders."""
    parser.add_argument("--accountant", choices=ACCOUNTANTS, default="pld", help="who computes (default: pld)")
    add_max_order(parser, "largest order, for the accountants " + ", ".join(WITH_ORDERS))


def add_max_order(parser: argparse.ArgumentParser, explanation: str) -> None:
    """Declare the cap on orders."""
    parser.add_argument("--max-order", type=values.order, metavar="A", help=explanation)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare the output for programs."""
    parser.add_argument("--json", action="store_true", help="print JSON, in full precision")


def read(arguments: argparse.Namespace, **assumed: Any) -> Setting:
    """Check the arguments together and return them as a setting, before anything is computed.

    Args:
        arguments: What was given.
        **assumed: A stand-in for the quantity sought, and other fields that are not arguments.
    """
    given = vars(arguments) | assumed
    setting = Setting(
        sampler=given["sampler"],
        adjacency=given["adjacency"],
        accountant=given["accountant"],
        delta=given["delta"],
        noise_multiplier=given["noise_multiplier"],
        num_steps=given["num_steps"] if "num_steps" in given else given["steps"],
        sampling_rate=given["sampling_rate"],
        max_order=given["max_order"],
    )
    event = setting.event()
    setting.options()
    reason = accountant(setting.accountant).supports(event, setting.adjacency)
    if reason is not None:
        raise InputError(reason)
    return setting


def capped(name: str, max_order: int) -> dict[str, Any]:
    """Return the option by which an accountant's orders end at `max_order`."""
    match name:
        case "moments":
            # The moment lambda belongs to the Renyi divergence of order lambda + 1.
            return {"max_lambda": max_order - 1}
        case "wang":
            return {"max_order": max_order}
        case "rdp":
            wide: Any = accountant("rdp")
            return {"orders": (*(order for order in wide.WIDE if order < max_order), float(max_order))}
        case _:
            raise InputError(
                f"--max-order is {max_order}, but the {name} accountant has no orders; "
                f"{', '.join(WITH_ORDERS)} have."
            )


def _one(setting: Setting) -> Event:
    rate = setting.sampling_rate
    if setting.sampler == "full":
        if rate is not None:
            raise InputError(f"--sampling-rate is {rate:g}, but the sampler full takes all records.")
        return Gaussian(setting.noise_multiplier)
    if rate is None:
        raise InputError(f"--sampling-rate is missing, but the sampler {setting.sampler} needs it.")
    kind = PoissonGaussian if setting.sampler == "poisson" else SubsetGaussian
    return kind(setting.noise_multiplier, rate)
