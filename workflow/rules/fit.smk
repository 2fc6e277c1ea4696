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
    # XLA uses every core, so two fits at once each take twice as long: one at a time costs nothing and halves memory.
    # At smoke scale a fit hardly does more than compile, which takes one core.
    threads: 1 if PLAN.project.scale == "smoke" else 8
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
