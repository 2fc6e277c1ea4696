# Find a cell's noise. Its artifact carries the cell's complete settings, and what earlier stages give it, to the
# stages after it.


rule calibrate:
    input:
        facts=lambda wildcards: f"{PLAN.results}/data/{PLAN.data_of(wildcards.experiment, wildcards.cell)}.json",
        correction=lambda wildcards: PLAN.correction_of(wildcards.experiment, wildcards.cell),
        start=lambda wildcards: PLAN.start_of(wildcards.experiment, wildcards.cell),
    output:
        f"{PLAN.results}/calibration/{{experiment}}/{{cell}}.json",
    log:
        f"{PLAN.results}/logs/calibrate/{{experiment}}/{{cell}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/calibrate/{{experiment}}/{{cell}}.tsv"
    group:
        lambda wildcards: cluster.group(PLAN, wildcards.experiment, wildcards.cell)
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=10,
        gpu=cluster.gpus(PLAN),
    params:
        correction=lambda wildcards, input: ["--correction", *input.correction] if input.correction else [],
        start=lambda wildcards, input: ["--start", *input.start] if input.start else [],
        job=lambda wildcards: PLAN.job(wildcards.experiment, wildcards.cell),
        code=lambda wildcards: PLAN.cell_code("calibrate", wildcards.experiment, wildcards.cell),
    shell:
        "python -m dpinfer calibrate {params.job:q} --facts {input.facts:q}"
        " {params.correction:q} {params.start:q}"
        " --code {params.code} --output {output:q} 2> {log:q}"
