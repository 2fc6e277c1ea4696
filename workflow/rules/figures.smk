# Draw a figure from metrics by its own script in workflow/figures/<paper>.


rule figure:
    """Draw a figure from metrics."""
    input:
        metrics=lambda wildcards: PLAN.metrics(wildcards.figure),
        published=lambda wildcards: PLAN.published(wildcards.figure),
    output:
        pdf=report(f"{PLAN.results}/figures/{{figure}}.pdf", category="Figures"),
        png=f"{PLAN.results}/figures/{{figure}}.png",
        stamp=f"{PLAN.results}/figures/{{figure}}.json",
    log:
        f"{PLAN.results}/logs/figure/{{figure}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/figure/{{figure}}.tsv"
    group:
        "result"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=10,
    params:
        script=lambda wildcards: str(PLAN.script(wildcards.figure)),
        code=lambda wildcards: PLAN.figure_code(wildcards.figure),
    message:
        "Drawing the figure {wildcards.figure}"
    shell:
        "python -m pipeline figure {params.script:q} --metrics {input.metrics:q} --published {input.published:q}"
        " --code {params.code} --output {output.pdf:q} 2> {log:q}"
