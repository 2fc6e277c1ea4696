# Compute the metrics of fitted experiments, and experiments that need no fit.


rule evaluate:
    input:
        made=lambda wildcards: sorted({path for made in PLAN.made(wildcards.experiment) for path in made}),
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
        gpu=cluster.gpus(PLAN),
    params:
        cells=lambda wildcards: [word for made in PLAN.made(wildcards.experiment) for word in ("--cell", *made)],
        metrics=lambda wildcards: PLAN.experiments[wildcards.experiment].settings.metrics,
        code=lambda wildcards: PLAN.metrics_code(wildcards.experiment),
    shell:
        "python -m dpinfer evaluate {params.cells:q} --metrics {params.metrics} --code {params.code}"
        " --output {output.metrics:q} 2> {log:q}"


rule study:
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
        gpu=cluster.gpus(PLAN),
    params:
        jobs=lambda wildcards: PLAN.jobs(wildcards.experiment),
        code=lambda wildcards: PLAN.study_code(wildcards.experiment),
    shell:
        "python -m dpinfer study {params.jobs:q} --code {params.code} --output {output.metrics:q} 2> {log:q}"
