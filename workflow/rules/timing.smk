# Measure time. A job asks for more cores than most machines have, so that nothing runs beside it.


rule timing:
    """Measure times, with nothing else running."""
    output:
        metrics=f"{PLAN.results}/metrics/{{experiment}}.csv",
        stamp=f"{PLAN.results}/metrics/{{experiment}}.json",
    log:
        f"{PLAN.results}/logs/timing/{{experiment}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/timing/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=any_of(PLAN.timings),
    conda:
        ENVIRONMENT
    threads: 64
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=60,
        gpu=PLAN.gpus,
    params:
        jobs=lambda wildcards: PLAN.jobs(wildcards.experiment),
        code=lambda wildcards: PLAN.study_code(wildcards.experiment),
    message:
        "Measuring the times of {wildcards.experiment}, with nothing else running"
    shell:
        "python -m pipeline study {params.jobs:q} --code {params.code} --output {output.metrics:q} 2> {log:q}"
