# Summarise an experiment's metrics over seeds.


rule table:
    input:
        f"{PLAN.results}/metrics/{{experiment}}.csv",
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
    shell:
        "python -m dpinfer table {input:q} --title {params.title:q} --code {params.code} --output {output.csv:q} 2> {log:q}"
