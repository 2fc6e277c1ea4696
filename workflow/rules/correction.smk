# Fit the correction of the logistic noise that Barker tests need, once for all cells that share it.


rule correction:
    """Fit the correction that turns normal noise into logistic noise, for the tests of DP-MCMC."""
    output:
        f"{PLAN.results}/corrections/{{correction}}.json",
    log:
        f"{PLAN.results}/logs/correction/{{correction}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/correction/{{correction}}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=10,
        gpu=PLAN.gpus,
    params:
        settings=lambda wildcards: PLAN.correction_job(wildcards.correction),
        code=PLAN.code("correction"),
    message:
        "Fitting the correction to logistic noise {wildcards.correction}"
    shell:
        "python -m pipeline correction {params.settings:q} --code {params.code} --output {output:q} 2> {log:q}"
