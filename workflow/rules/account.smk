# Account for what fits have released, from what they recorded of it; a better accountant reruns no fit.


rule account:
    """Account for what the fits of an experiment's cells have released."""
    input:
        fits=f"{PLAN.results}/index/fit/{{experiment}}/{{shard}}.json",
        starts=lambda wildcards: PLAN.starts_of(**wildcards),
    output:
        f"{PLAN.results}/index/account/{{experiment}}/{{shard}}.json",
    log:
        f"{PLAN.results}/logs/account/{{experiment}}/{{shard}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/account/{{experiment}}/{{shard}}.tsv"
    group:
        lambda wildcards: PLAN.group(wildcards.experiment)
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=60,
    params:
        tasks=lambda wildcards: str(PLAN.artifacts.tasks(wildcards.experiment)),
        digest=lambda wildcards: PLAN.tasks_digest("account", wildcards.experiment, wildcards.shard),
    message:
        "Accounting for {wildcards.experiment}, shard {wildcards.shard}"
    shell:
        "python -m pipeline account {params.tasks:q} --shard {wildcards.shard} --digest {params.digest}"
        " --output {output:q} 2> {log:q}"
