import numpy as np

from dpinfer.data import load
from dpinfer.data.base import Fetched
from dpinfer.settings.data import Adult, AdultShards


def no_files(name: str) -> Fetched:
    raise AssertionError(name)


def test_shards_hold_every_record_once_and_are_of_equal_size() -> None:
    whole = load(Adult(standin=True), no_files)
    for dealt in ("alike", "by_education"):
        train, test, facts = load(AdultShards(standin=True, clients=7, dealt=dealt), no_files)
        assert max(facts["sizes"]) - min(facts["sizes"]) <= 1
        np.testing.assert_array_equal(np.bincount(train["group"]), facts["sizes"])
        assert (np.diff(train["group"]) >= 0).all()
        rows = {(*x, y) for x, y in zip(train["x"].tolist(), train["y"].tolist(), strict=True)}
        assert rows == {(*x, y) for x, y in zip(whole.train["x"].tolist(), whole.train["y"].tolist(), strict=True)}
        np.testing.assert_array_equal(test["x"], whole.test["x"])


def test_by_education_clients_differ_and_alike_they_do_not() -> None:
    def spread(dealt: str) -> float:
        train = load(AdultShards(standin=True, clients=4, dealt=dealt), no_files).train  # type: ignore[arg-type]
        means = [train["x"][train["group"] == client, 4].mean() for client in range(4)]
        return float(np.ptp(means))

    assert spread("by_education") > 2.0
    assert spread("alike") < 0.6
