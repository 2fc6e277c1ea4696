import struct
from pathlib import Path

import numpy as np
import pytest

from dpinfer.data.idx import read
from dpinfer.errors import InputError


def test_reads_shape_and_values(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(struct.pack(">BBBB3I", 0, 0, 8, 3, 2, 2, 3) + bytes(range(12)))
    assert np.array_equal(read(tmp_path / "a"), np.arange(12).reshape(2, 2, 3))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is not an idx file"),
        (b"\x1f\x8b\x08\x00 gzip", "is not an idx file"),
        (struct.pack(">BBBBI", 0, 0, 8, 1, 5) + b"\0" * 4, "holds 4 values, but its header says 5"),
    ],
)
def test_refuses_what_is_none(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read(tmp_path / "a")
