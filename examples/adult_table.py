"""Write the Adult data as a table for `dpinfer fit`.

    python examples/adult_table.py adult.csv

The files are fetched once, and used only if their SHA-256 is right; see config/datasets.yaml. Columns are age,
education (in years), hours (a week), sex, occupation (in five groups) and income (1 above 50K).
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from dpinfer.atomic import replacing
from pipeline.datasets.fetch import Fetcher

CATALOGUE = Path(__file__).parents[1] / "config/datasets.yaml"
COLUMNS = {0: "age", 4: "education", 12: "hours", 9: "sex", 6: "occupation", 14: "income"}
GROUPS = {
    "Office": ("Adm-clerical", "Sales", "Tech-support"),
    "Service": ("Other-service", "Handlers-cleaners", "Priv-house-serv", "Protective-serv"),
    "Trade": ("Craft-repair", "Machine-op-inspct", "Transport-moving", "Farming-fishing"),
    "Professional": ("Exec-managerial", "Prof-specialty"),
    "Other": ("Armed-Forces", "?"),
}
GROUP_OF = {occupation: group for group, members in GROUPS.items() for occupation in members}


def table(files: Mapping[str, Path]) -> pd.DataFrame:
    """Both files of the data set, in their order."""
    # The test file opens with a line that is no record, and ends its labels with a full stop.
    parts = [
        pd.read_csv(files[name], header=None, skiprows=skip, skipinitialspace=True, na_filter=False)
        for name, skip in (("adult.data", 0), ("adult.test", 1))
    ]
    rows = pd.concat(parts, ignore_index=True)[list(COLUMNS)].rename(columns=COLUMNS)
    return rows.assign(
        occupation=rows["occupation"].map(GROUP_OF),
        income=rows["income"].str.rstrip(".").eq(">50K").astype(int),
    )


if __name__ == "__main__":
    paths, _ = Fetcher(CATALOGUE)("adult")
    with replacing(Path(sys.argv[1])) as temporary:
        table(paths).to_csv(temporary, index=False)
