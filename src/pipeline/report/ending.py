"""What the end of a run says: where the results are, and how the papers' claims fare."""

from pathlib import Path


def ending(results: str) -> str:
    """The last lines of a run; claims are counted if there is a scorecard.

    Args:
        results: The folder of the results.
    """
    folder = Path(results)
    page = folder / "report.html"
    lines = [f"Results are in {folder}" + (f"; start with {page}" if page.is_file() else "")]
    scorecard = folder / "scorecard.csv"
    if scorecard.is_file():
        # Only here, so that reading the rules does not wait for pandas.
        import pandas as pd

        from pipeline.scorecard.card import told

        lines.append(told(pd.read_csv(scorecard, dtype=str)))
    return "\n".join(lines)
