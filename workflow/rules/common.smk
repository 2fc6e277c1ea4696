# The plan that all rules look things up in, the environment of their jobs, and one target for each paper.

import os
import sys
from pathlib import Path

# Relative, so that a checkout that was moved or copied still knows what it has made.
ROOT = Path(os.path.relpath(Path(workflow.current_basedir).parent.parent))
sys.path.insert(0, str(ROOT.resolve() / "src"))

from pipeline import recovery
from dpinfer.errors import InputError
from pipeline.plan import Plan
from pipeline.report.contents import contents, ending, gallery_folder
from pipeline.tasks import any_of

try:
    PLAN = Plan(config, ROOT)
except InputError as error:
    raise WorkflowError(str(error)) from None

# A dry run is known as such by Snakemake only when all is read.
if workflow.is_main_process and not recovery.is_dry_run(sys.argv):
    # For as long as this process lives.
    AT_WORK = recovery.share()
    for sentence in recovery.recover(PLAN.artifacts):
        logger.warning(sentence)

os.environ.update(PLAN.environment)
ENVIRONMENT = str(ROOT.resolve() / "environment.yml")


# Downloads are for the machine that a cluster is used from, which alone may reach the network; the rest is done at once.
localrules:
    all,
    data,
    scorecard,
    report,
    gallery,
    figures,


wildcard_constraints:
    data="[^/]+",
    correction="[^/]+",
    # Tables and the figure of the comparison with other libraries are of no experiment.
    experiment="(?!(agreement|clipping|peers)[.])[a-z0-9_]+",
    shard="[0-9]+of[0-9]+",
    figure="(?!peers[.])[a-z0-9_]+",


for paper in PLAN.papers:

    rule:
        """Every figure and table of this paper."""
        name:
            paper
        input:
            PLAN.targets(paper),


rule figures:
    """Every figure."""
    input:
        [f"{PLAN.results}/figures/{figure}.pdf" for figure in PLAN.figures()],
