# Find the noise of cells. One process for all cells of a shard; each has its artifact, and is left alone if it is right.


rule calibrate:
    """Find the noise for the privacy targets of an experiment's cells."""
    input:
        facts=lambda wildcards: [
            str(PLAN.artifacts.facts(name)) for name in PLAN.data_of(wildcards.experiment, wildcards.shard)
        ],
    output:
        f"{PLAN.results}/index/calibrate/{{experiment}}/{{shard}}.json",
    log:
        f"{PLAN.results}/logs/calibrate/{{experiment}}/{{shard}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/calibrate/{{experiment}}/{{shard}}.tsv"
    group:
        lambda wildcards: PLAN.group(wildcards.experiment)
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=60,
        gpu=PLAN.gpus,
    params:
        tasks=lambda wildcards: str(PLAN.artifacts.tasks(wildcards.experiment)),
        digest=lambda wildcards: PLAN.tasks_digest("calibrate", wildcards.experiment, wildcards.shard),
    message:
        "Calibrating the noise of {wildcards.experiment}, shard {wildcards.shard}"
    shell:
        "python -m pipeline calibrate {params.tasks:q} --shard {wildcards.shard} --digest {params.digest}"
        " --output {output:q} 2> {log:q}"
