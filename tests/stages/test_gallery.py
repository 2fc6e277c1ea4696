"""The gallery: small pictures beside claims, and never of a run whose numbers mean nothing."""

import json
import re
from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pipeline.plan import Plan
from pipeline.report.contents import gallery_folder
from pipeline.report.webpage import about, claims_by_figure
from pipeline.scorecard.card import unexplained
from pipeline.stages import gallery
from pipeline.stages.gallery import page

ROOT = Path(__file__).parents[2]
SHOWN = ROOT / "docs/gallery"
FIGURES = [{"name": "p_fig1a", "caption": "Left."}, {"name": "p_fig1b", "caption": "Right | left."}]
EXPERIMENT = {"name": "one", "title": "Accuracy", "where": "Fig. 1", "figures": FIGURES}
PAPERS = [{"name": "p", "title": "A & B", "experiments": [EXPERIMENT]}]
ROW = {
    "paper": "p", "where": "Fig. 1", "published": "0.5", "ours": "0.4", "reason": "", "experiments": "one",
    "scale": "laptop", "kind": "computed", "standard_error": "0.02", "verdict": "reproduced",
}  # fmt: skip
CARD = pd.DataFrame(
    [
        {**ROW, "id": "p_fig1b_high", "statement": "It is high."},
        {**ROW, "id": "p_claim", "statement": "It is low.", "where": "Fig. 1b, Section 2"},
        {**ROW, "id": "p_other", "statement": "It is.", "where": "Section 3"},
    ]
)


def test_claims_go_to_the_figure_that_they_name() -> None:
    shown = claims_by_figure(["p_fig1a", "p_fig1b"], CARD)
    assert shown.figures["p_fig1a"].empty
    assert shown.figures["p_fig1b"]["id"].tolist() == ["p_fig1b_high", "p_claim"]
    assert shown.others["id"].tolist() == ["p_other"]
    assert len(claims_by_figure(["p_fig9"], CARD).figures["p_fig9"]) == 3


def test_a_claim_that_names_a_figure_is_about_it_whatever_it_is_computed_from() -> None:
    elsewhere = CARD.assign(experiments="other")
    assert about("one", ["p_fig1a", "p_fig1b"], elsewhere)["id"].tolist() == ["p_fig1b_high"]
    assert len(about("one", [], CARD)) == 3
    assert about("on", [], CARD).empty


def test_pictures_are_small_and_stand_beside_what_is_claimed_and_found(tmp_path: Path) -> None:
    drawn = tmp_path / "figures"
    drawn.mkdir()
    plot = np.full((1000, 1300, 3), 255, np.uint8)
    plot[:, 100:110] = (0, 114, 178)
    for figure, columns in zip(FIGURES, (650, 1300), strict=True):
        Image.fromarray(plot[:, :columns]).save(drawn / f"{figure['name']}.png")
    CARD.to_csv(tmp_path / "card.csv", index=False)
    out = tmp_path / "gallery"
    out.mkdir()
    (out / "gone.png").write_bytes(b"")
    figures = sorted(drawn.glob("*.png"))
    gallery.main(
        Namespace(
            papers=json.dumps(PAPERS), scorecard=tmp_path / "card.csv", figures=figures, code="c0de",
            output=out / "README.md",
        )
    )  # fmt: skip
    assert {path.name for path in out.iterdir()} == {"README.md", "scorecard.csv", "p_fig1a.png", "p_fig1b.png"}
    for name, size, line in (("p_fig1a", (640, 985), 103), ("p_fig1b", (1000, 769), 80)):
        with Image.open(out / f"{name}.png") as small:
            assert small.size == size
            assert np.abs(np.asarray(small.convert("RGB"))[200, line].astype(int) - [0, 114, 178]).max() < 8
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "at laptop scale by dpinfer " in text
    assert "code c0de" in text
    row = next(line for line in text.splitlines() if "p_fig1b.png" in line)
    assert "It is high. (0.5)<br>We: 0.4 ± 0.02, **reproduced**" in row
    assert row.count("|") == 3
    more = CARD.assign(id="p_fig1b_more", where="Fig. 1b")
    many = pd.concat([CARD, more, more.assign(verdict=["reproduced", "reproduced", "differs"])])
    told = page(PAPERS, many, "v")
    assert "And 3 more: 3 reproduced" in told
    assert told.index("**differs**") < told.index("**reproduced**", told.index("p_fig1b.png"))
    # What no claim names alone stands beside those of its experiment.
    assert "It is." in next(line for line in text.splitlines() if "p_fig1a.png" in line)


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ({}, "docs/gallery"),
        ({"scale": "paper"}, "docs/gallery"),
        ({"scale": "smoke"}, "results/smoke/gallery"),
        ({"experiments": ["abalone_descent"]}, "results/gallery"),
    ],
)
def test_only_whole_runs_that_mean_something_are_shown(config: dict[str, object], folder: str) -> None:
    made = gallery_folder(Plan(config, ROOT))
    assert Path(made).resolve() == (ROOT / folder if folder.startswith("docs") else Path(folder)).resolve()


def test_the_gallery_that_is_shown_is_whole_and_every_difference_explained() -> None:
    card = pd.read_csv(SHOWN / "scorecard.csv", dtype=str)
    assert unexplained(card) == []
    assert not card["scale"].fillna("").str.contains("smoke").any()
    text = (SHOWN / "README.md").read_text(encoding="utf-8")
    pictures = {path.stem for path in SHOWN.glob("*.png")}
    assert pictures == {path.stem for path in ROOT.glob("workflow/figures/*/*.py")}
    assert all(f'src="{picture}.png"' in text for picture in pictures)
    shown = re.findall(r'src="docs/gallery/(\w+)\.png"', (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert set(shown) <= pictures
