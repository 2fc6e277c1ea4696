import zipfile
from pathlib import Path

import numpy as np
import pytest

from dpinfer.errors import InputError
from pipeline.datasets.base import Arrays, Dataset, head, read, save, standardise


def sample(scale: float = 1.0) -> Dataset:
    rng = np.random.default_rng(0)
    train: Arrays = {"x": scale * rng.standard_normal((5, 2)), "y": np.arange(5, dtype=np.int32)}
    return Dataset(train, {"x": np.zeros((2, 2))}, {"b": [1.5, 2], "a": {"standin": False}})


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "d.npz"
    save(path, sample())
    got, wanted = read(path), sample()
    assert got.facts == wanted.facts
    for part, other in ((got.train, wanted.train), (got.test, wanted.test)):
        assert part.keys() == other.keys()
        for key, value in part.items():
            assert value.dtype == other[key].dtype
            assert np.array_equal(value, other[key])


def test_data_set_without_test_part(tmp_path: Path) -> None:
    save(tmp_path / "d.npz", Dataset({"x": np.ones(3)}, {}, {}))
    assert read(tmp_path / "d.npz").test == {}


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("1.npz", "2.npz", "3.npz"))
    save(first, sample())
    train, test, facts = sample()
    save(second, Dataset(dict(reversed(train.items())), test, dict(reversed(facts.items()))))
    save(other, sample(scale=2))
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes() != other.read_bytes()


def test_no_time_stamp_is_written(tmp_path: Path) -> None:
    save(tmp_path / "d.npz", sample())
    with zipfile.ZipFile(tmp_path / "d.npz") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert sorted(archive.namelist()) == ["facts.npy", "test/x.npy", "train/x.npy", "train/y.npy"]


def test_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "d.npz"
    save(path, sample())
    before = path.read_bytes()
    with pytest.raises(ValueError, match="allow_pickle"):
        save(path, Dataset({"x": np.array([object()])}, {}, {}))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [None, b"", b"no zip", b"PK\x03\x04 broken"])
def test_unreadable_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "d.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"d\.npz is not a data set"):
        read(path)


def test_foreign_npz_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", x=np.ones(2))
    with pytest.raises(InputError, match=r"d\.npz is not a data set"):
        read(tmp_path / "d.npz")


def test_standardise_divides_by_n() -> None:
    columns = np.array([[1.0, 10.0], [3.0, 10.5], [5.0, 14.0]])
    scaled = standardise(columns)
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose((scaled**2).mean(axis=0), 1)
    assert np.isclose(scaled[2, 0], np.sqrt(1.5))


def test_head_keeps_order_and_rounds_down() -> None:
    first, rest = head({"x": np.arange(11), "y": -np.arange(11)}, 0.8)
    assert first["x"].tolist() == list(range(8))
    assert rest["y"].tolist() == [-8, -9, -10]
