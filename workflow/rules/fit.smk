# Run a cell's algorithm for all its seeds, with as many cores as there are.


rule fit:
    input:
        data=lambda wildcards: f"{PLAN.results}/data/{PLAN.data_of(wildcards.experiment, wildcards.cell)}.npz",
        calibration=f"{PLAN.results}/calibration/{{experiment}}/{{cell}}.json",
    output:
        fit=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/fit.npz",
        ledger=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/ledger.json",
        stamp=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/stamp.json",
    log:
        f"{PLAN.results}/logs/fit/{{experiment}}/{{cell}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/fit/{{experiment}}/{{cell}}.tsv"
    group:
        lambda wildcards: cluster.group(PLAN, wildcards.experiment, wildcards.cell)
    conda:
        ENVIRONMENT
    # Two at a time: XLA uses every core, but importing, tracing and compiling, most of a small fit, take one. At smoke
    # scale a fit hardly does more than that.
    threads: lambda wildcards: 1 if PLAN.project.scale == "smoke" else max(1, workflow.cores // 2)
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        # A fit that ran out of time goes on from its checkpoint when it is sent again.
        runtime=240,
        gpu=cluster.gpus(PLAN),
    params:
        code=lambda wildcards: PLAN.cell_code("fit", wildcards.experiment, wildcards.cell),
    shell:
        "python -m dpinfer fit --data {input.data:q} --calibration {input.calibration:q}"
        " --code {params.code} --output {output.fit:q} 2> {log:q}"
