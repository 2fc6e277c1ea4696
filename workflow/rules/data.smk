# Fetch or generate a data set. Downloads show their progress, and the log keeps what was tried.


rule data:
    """Fetch or generate a data set."""
    output:
        arrays=f"{PLAN.results}/data/{{data}}.npz",
        facts=f"{PLAN.results}/data/{{data}}.json",
    log:
        f"{PLAN.results}/logs/data/{{data}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/data/{{data}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=30,
    params:
        settings=lambda wildcards: PLAN.data_job(wildcards.data),
        code=lambda wildcards: PLAN.data_code(wildcards.data),
        sources=str(ROOT / "config/datasets.yaml"),
    message:
        "Preparing the data set {wildcards.data}"
    shell:
        "python -m pipeline data {params.settings:q} --sources {params.sources:q}"
        " --code {params.code} --output {output.arrays:q} 2>&1 | tee {log:q} >&2"
