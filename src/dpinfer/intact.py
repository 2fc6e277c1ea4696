"""Artifacts that were cut short: by a full disk, a failing one or by hand, since stages write each as a whole."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("data", "corrections", "calibration", "fits", "metrics", "figures", "tables")
"""Below the results, where artifacts are kept; environments, logs and benchmarks are none."""
PAGES = ("scorecard", "report")
LAST_BYTES = {
    ".json": b"}\n",
    ".csv": b"\n",
    ".md": b"\n",
    ".pdf": b"%%EOF\n",
    ".png": b"IEND\xaeB`\x82",
    ".html": b"</html>",
}
"""What a whole file ends with."""


def damaged(results: Path) -> Iterator[Path]:
    """Artifacts whose end is missing.

    Only the end of each file is read. A table that was cut after a whole line is taken for whole.
    """
    files = [path for name in PAGES for path in results.glob(f"{name}.*")]
    files += [path for name in FOLDERS for path in sorted((results / name).rglob("*.*"))]
    for path in files:
        if path.is_file() and not path.name.startswith(".") and not _ends(path):
            yield path


def set_aside(path: Path) -> Path:
    """Rename a file, so that it is made again; nothing is removed, since somebody else may have put it there."""
    return path.replace(path.with_name(f"{path.name}.damaged"))


def _ends(path: Path) -> bool:
    if path.suffix == ".npz":
        # The list of a zip file's members is at its end.
        return zipfile.is_zipfile(path)
    end = LAST_BYTES.get(path.suffix, b"")
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - len(end)))
        return file.read() == end
