"""The contents of the report: papers with their titles, experiments and figures, each figure with its caption."""

import ast
from typing import Any

from dpinfer.atomic import to_json
from pipeline.plan import Plan
from pipeline.settings.chosen import Planned

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


def _experiment(plan: Plan, planned: Planned) -> dict[str, Any]:
    settings = planned.settings
    figures = [{"name": figure, "caption": _caption(plan, figure)} for figure in settings.figures]
    return {"name": planned.name, "title": settings.title, "where": settings.where, "figures": figures}


def _caption(plan: Plan, figure: str) -> str:
    """What the script says of itself."""
    return ast.get_docstring(ast.parse(plan.script(figure).read_text(encoding="utf-8"))) or figure
