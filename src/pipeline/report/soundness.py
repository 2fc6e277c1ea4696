"""The page of doubts: what is claimed, why it fails, what is done instead."""

from collections.abc import Iterator, Mapping

from pipeline.settings.doubt import GENERAL, Doubt, Doubts

HEAD = """# Soundness: where a guarantee, or the evidence for it, does not hold

<!-- Written by `make docs` from config/doubts.yaml: edit that. -->

The five papers are reproduced as they are, *and* accounted for as they were run. The two disagree in the places
below. Each says what is claimed, why it fails or is open, and what is done here; then the claims
(`results/scorecard.md`) and figures (`results/figures`) that it touches. `results/report.html` links them.
[Which epsilon do I have?](accounting.md) says what the two epsilons of every result are.
"""


def page(doubts: Doubts, titles: Mapping[str, str]) -> str:
    """All doubts as Markdown, by paper.

    Args:
        doubts: The doubts, in the order in which they are shown.
        titles: The title of each paper by its name.
    """
    return "\n".join([HEAD, *_sections(doubts, titles)])


def heading(paper: str, titles: Mapping[str, str]) -> str:
    """What the doubts about a paper stand under."""
    return "All five papers" if paper == GENERAL else titles[paper]


def _sections(doubts: Doubts, titles: Mapping[str, str]) -> Iterator[str]:
    last = None
    for doubt in doubts.doubts:
        if doubt.paper != last:
            yield f"## {heading(doubt.paper, titles)}\n"
        last = doubt.paper
        yield from _section(doubt)


def _section(doubt: Doubt) -> Iterator[str]:
    yield f"### {doubt.id}: {doubt.title}\n"
    yield f"- **Claimed.** {doubt.claimed}"
    yield f"- **Why it fails.** {doubt.why}"
    yield f"- **Here.** {doubt.instead}"
    for kind, names in (("Claims", doubt.claims), ("Figures", doubt.figures)):
        if names:
            yield f"- **{kind}.** {', '.join(f'`{name}`' for name in names)}"
    yield ""
