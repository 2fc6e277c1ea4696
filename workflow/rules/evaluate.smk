# Compute the metrics of fitted experiments, and experiments that need no fit.


rule evaluate:
    """Compute the metrics of a fitted experiment."""
    input:
        data=lambda wildcards: [str(PLAN.artifacts.data(name)) for name in PLAN.data_of(wildcards.experiment)],
        fits=lambda wildcards: PLAN.index("fit", wildcards.experiment),
        accounts=lambda wildcards: PLAN.index("account", wildcards.experiment),
    output:
        metrics=f"{PLAN.results}/metrics/{{experiment}}.csv",
        stamp=f"{PLAN.results}/metrics/{{experiment}}.json",
    log:
        f"{PLAN.results}/logs/evaluate/{{experiment}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/evaluate/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=any_of(PLAN.fits),
    group:
        "result"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
        gpu=PLAN.gpus,
    params:
        tasks=lambda wildcards: str(PLAN.artifacts.tasks(wildcards.experiment)),
        digest=lambda wildcards: PLAN.tasks_digest("evaluate", wildcards.experiment, "1of1"),
    message:
        "Computing the metrics of {wildcards.experiment}"
    shell:
        "python -m pipeline evaluate {params.tasks:q} --digest {params.digest} --output {output.metrics:q} 2> {log:q}"


rule study:
    """Compute an experiment that needs neither data nor a fit."""
    output:
        metrics=f"{PLAN.results}/metrics/{{experiment}}.csv",
        stamp=f"{PLAN.results}/metrics/{{experiment}}.json",
    log:
        f"{PLAN.results}/logs/study/{{experiment}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/study/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=any_of(PLAN.studies),
    group:
        "result"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=60,
        gpu=PLAN.gpus,
    params:
        jobs=lambda wildcards: PLAN.jobs(wildcards.experiment),
        code=lambda wildcards: PLAN.study_code(wildcards.experiment),
    message:
        "Computing {wildcards.experiment}, which needs no data"
    shell:
        "python -m pipeline study {params.jobs:q} --code {params.code} --output {output.metrics:q} 2> {log:q}"
