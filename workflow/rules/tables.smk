# Summarise an experiment's metrics over seeds.


rule table:
    """Summarise an experiment's metrics over seeds."""
    input:
        lambda wildcards: PLAN.metrics_of(wildcards.experiment),
    output:
        csv=f"{PLAN.results}/tables/{{experiment}}.csv",
        markdown=report(f"{PLAN.results}/tables/{{experiment}}.md", category="Tables"),
        stamp=f"{PLAN.results}/tables/{{experiment}}.json",
    log:
        f"{PLAN.results}/logs/table/{{experiment}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/table/{{experiment}}.tsv"
    group:
        "result"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=10,
    params:
        title=lambda wildcards: PLAN.experiments[wildcards.experiment].settings.title,
        code=PLAN.code("table"),
    message:
        "Writing the table of {wildcards.experiment}"
    shell:
        "python -m pipeline table {input:q} --title {params.title:q} --code {params.code} --output {output.csv:q} 2> {log:q}"
