"""At the ends of the range every accountant gives a sound number or refuses; nothing else."""

import itertools
import math

import pytest

from dpinfer.accounting import ACCOUNTANTS, accountant
from dpinfer.accounting.events import Adjacency, Barker, Event, Gaussian, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.sound import pld, rdp
from dpinfer.errors import InputError

ENDS = list(itertools.product((0.1, 1e4), (1e-7, 0.3), (1, 10**7), (1e-12, 0.1)))


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_pld_and_rdp_at_the_ends(adjacency: Adjacency) -> None:
    for index, (sigma, rate, times, delta) in enumerate(ENDS):
        kind = (PoissonGaussian, SubsetGaussian)[(index + (adjacency == "replace-one")) % 2]
        event = Repeat(kind(sigma, rate), times)
        loose = rdp.epsilon(event, delta, adjacency).upper
        tight = pld.epsilon(event, delta, adjacency).upper
        assert math.isfinite(loose)
        assert 0.0 <= tight <= loose * (1 + 1e-6) + 1e-9
        whole = pld.epsilon(Repeat(kind(sigma, 1.0), times), delta, adjacency).upper
        assert tight <= whole * 1.01


@pytest.mark.parametrize("name", [name for name in ACCOUNTANTS if name != "fourier"])
def test_every_accountant_answers_or_refuses(name: str) -> None:
    module = accountant(name)
    steps: tuple[Event, ...] = (
        *(
            Repeat(PoissonGaussian(sigma, rate), n)
            for sigma in (0.1, 1e4)
            for rate in (1e-7, 1.0)
            for n in (1, 10**7)
        ),
        Repeat(SubsetGaussian(0.1, 1e-7), 10**7),
        Repeat(Gaussian(1e4), 10**7),
        Repeat(Barker(10**5, 10**7), 10**7),
        Barker(5, 5),
    )
    relations: tuple[Adjacency, ...] = ("add-remove", "replace-one")
    for event in steps:
        for delta in (1e-12, 0.1):
            for adjacency in relations:
                if module.supports(event, adjacency) is not None:
                    with pytest.raises(InputError, match=r"^[^\n]*\.$"):
                        module.epsilon(event, delta, adjacency)
                    continue
                try:
                    bound = module.epsilon(event, delta, adjacency)
                except InputError:
                    continue
                assert bound.upper >= 0.0
                assert bound.accountant == name


def test_deltas_beyond_the_grid_fall_back_to_a_looser_bound() -> None:
    event = Repeat(PoissonGaussian(2.0, 0.01), 100)
    bound = pld.epsilon(event, 1e-14, "add-remove")
    assert "Renyi" in bound.detail
    assert bound.upper > pld.epsilon(event, 1e-12, "add-remove").upper


def test_huge_losses_fall_back_to_a_looser_bound() -> None:
    bound = pld.epsilon(Repeat(PoissonGaussian(0.01, 0.5), 10), 1e-5, "add-remove")
    assert "Renyi" in bound.detail
    assert math.isfinite(bound.upper)
