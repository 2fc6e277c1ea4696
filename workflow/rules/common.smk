# The plan that all rules look things up in, the environment of their jobs, and one target for each paper.

import os
import sys
from pathlib import Path

# Relative, so that a checkout that was moved or copied still knows what it has made.
ROOT = Path(os.path.relpath(workflow.basedir))
sys.path.insert(0, str(ROOT.resolve() / "src"))

from dpinfer import cluster, intact, lock
from dpinfer.errors import InputError
from dpinfer.names import any_of
from dpinfer.pages.contents import contents, gallery_folder
from dpinfer.pages.ending import ending
from dpinfer.plan import Plan

try:
    PLAN = Plan(config, ROOT)
except InputError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process and not workflow.dryrun:
    # For as long as this process lives.
    AT_WORK = lock.share()
    for damaged in intact.damaged(Path(PLAN.results)):
        logger.warning(f"{damaged} was cut short: it is made again, and kept as {intact.set_aside(damaged).name}.")

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
    experiment="[a-z0-9_]+",
    cell="[^/]+",
    figure="[a-z0-9_]+",


for paper in PLAN.papers:

    rule:
        name:
            paper
        input:
            PLAN.targets(paper),


rule figures:
    input:
        [f"{PLAN.results}/figures/{figure}.pdf" for figure in PLAN.figures()],
