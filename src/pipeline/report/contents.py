"""The contents of the report, papers with their experiments and figures; and what the end of a run says."""

import ast
from pathlib import Path
from typing import Any

from dpinfer.atomic import to_json
from pipeline.plan import Plan
from pipeline.settings.project import PlannedExperiment

OURS = "dpinfer"
"""Comes after the papers of others."""


def contents(plan: Plan) -> str:
    """All papers of which something is run or claimed, as JSON for the stages report and gallery."""
    papers = sorted({*plan.papers, *plan.claims}, key=lambda paper: (paper == OURS, paper))
    return to_json([_paper(plan, paper) for paper in papers])


def gallery_folder(plan: Plan) -> str:
    """Where small pictures go: into the documentation, if all is computed at a scale that means something."""
    is_shown = plan.project.experiments == "all" and plan.project.scale != "smoke"
    return str(plan.root / "docs/gallery") if is_shown else f"{plan.results}/gallery"


def _paper(plan: Plan, paper: str) -> dict[str, Any]:
    own = [planned for name in plan.asked if (planned := plan.experiments[name]).paper == paper]
    title = plan.claims[paper].title if paper in plan.claims else paper
    return {"name": paper, "title": title, "experiments": [_experiment(plan, planned) for planned in own]}


def _experiment(plan: Plan, planned: PlannedExperiment) -> dict[str, Any]:
    settings = planned.settings
    figures = [{"name": figure, "caption": _caption(plan, figure)} for figure in settings.figures]
    return {"name": planned.name, "title": settings.title, "where": settings.where, "figures": figures}


def _caption(plan: Plan, figure: str) -> str:
    """What the script says of itself."""
    return ast.get_docstring(ast.parse(plan.script(figure).read_text(encoding="utf-8"))) or figure


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
