# Compute the metrics of fitted cells and join them; compute experiments that need no fit.


rule evaluate:
    input:
        data=lambda wildcards: f"{PLAN.results}/data/{PLAN.data_of(wildcards.experiment, wildcards.cell)}.npz",
        calibration=f"{PLAN.results}/calibration/{{experiment}}/{{cell}}.json",
        fit=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/fit.npz",
        ledger=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/ledger.json",
    output:
        metrics=f"{PLAN.results}/metrics/{{experiment}}/{{cell}}.csv",
        stamp=f"{PLAN.results}/metrics/{{experiment}}/{{cell}}.json",
    log:
        f"{PLAN.results}/logs/evaluate/{{experiment}}/{{cell}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/evaluate/{{experiment}}/{{cell}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        metrics=lambda wildcards: PLAN.experiments[wildcards.experiment].settings.metrics,
        code=lambda wildcards: PLAN.cell_code("evaluate", wildcards.experiment, wildcards.cell),
    shell:
        "python -m dpinfer evaluate --data {input.data:q} --calibration {input.calibration:q} --fit {input.fit:q}"
        " --metrics {params.metrics} --code {params.code} --output {output.metrics:q} 2> {log:q}"


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
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        jobs=lambda wildcards: PLAN.jobs(wildcards.experiment),
        code=lambda wildcards: PLAN.study_code(wildcards.experiment),
    shell:
        "python -m dpinfer study {params.jobs:q} --code {params.code} --output {output.metrics:q} 2> {log:q}"


rule collect:
    input:
        lambda wildcards: PLAN.cell_metrics(wildcards.experiment),
    output:
        metrics=f"{PLAN.results}/metrics/{{experiment}}.csv",
        stamp=f"{PLAN.results}/metrics/{{experiment}}.json",
    log:
        f"{PLAN.results}/logs/collect/{{experiment}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/collect/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=any_of(PLAN.fits),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=PLAN.code("collect"),
    shell:
        "python -m dpinfer collect {input:q} --code {params.code} --output {output.metrics:q} 2> {log:q}"
