# Every figure, table and claim: `snakemake --cores all`, or one paper: `snakemake --cores all dpvi`.
# The rules go by verb, not by paper; what there is to do is read from config/ by dpinfer.plan.

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"


rule all:
    default_target: True
    input:
        PLAN.targets(),
        f"{PLAN.results}/report.html",


onsuccess:
    print(ending(PLAN.results))


include: "workflow/rules/data.smk"
include: "workflow/rules/correction.smk"
include: "workflow/rules/calibrate.smk"
include: "workflow/rules/fit.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/timing.smk"
include: "workflow/rules/peers.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/report.smk"
