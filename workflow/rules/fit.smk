# Run the algorithms of cells for all their seeds. One process for all cells of a shard; each has its own artifacts.


rule fit:
    """Run the algorithms of an experiment's cells for all their seeds."""
    input:
        data=lambda wildcards: [
            str(PLAN.artifacts.data(name)) for name in PLAN.data_of(wildcards.experiment, wildcards.shard)
        ],
        calibration=lambda wildcards: PLAN.index("calibrate", wildcards.experiment, wildcards.shard),
        corrections=lambda wildcards: PLAN.corrections_of(**wildcards),
        starts=lambda wildcards: PLAN.starts_of(**wildcards),
    output:
        f"{PLAN.results}/index/fit/{{experiment}}/{{shard}}.json",
    log:
        f"{PLAN.results}/logs/fit/{{experiment}}/{{shard}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/fit/{{experiment}}/{{shard}}.tsv"
    group:
        lambda wildcards: PLAN.group(wildcards.experiment)
    conda:
        ENVIRONMENT
    # Two at a time: XLA uses every core, but importing, tracing and compiling, most of a small fit, take one. At smoke
    # scale a fit hardly does more than that.
    threads: lambda wildcards: 1 if PLAN.project.scale == "smoke" else max(1, workflow.cores // 2)
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        # A job that ran out of time goes on with the first cell that is not there, from its checkpoint.
        runtime=240,
        gpu=PLAN.gpus,
    params:
        tasks=lambda wildcards: str(PLAN.artifacts.tasks(wildcards.experiment)),
        digest=lambda wildcards: PLAN.tasks_digest("fit", wildcards.experiment, wildcards.shard),
    message:
        "Fitting {wildcards.experiment}, shard {wildcards.shard}"
    shell:
        "python -m pipeline fit {params.tasks:q} --shard {wildcards.shard} --digest {params.digest}"
        " --output {output:q} 2> {log:q}"
